//! `connect` as a browser starts it: who is let in, the framing, and what is too large for a browser.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::stage::Stage;

const EXTENSION: &str = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";

fn allowing() -> Stage {
    let stage = Stage::new();
    stage.configure(&format!("[server]\nallowed_origins = [\"{EXTENSION}\"]\n"));
    stage
}

/// The program as a browser has it.
struct Browser {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Browser {
    fn start(stage: &Stage) -> Self {
        let origin = format!("{EXTENSION}/");
        let mut command = stage.switchboard(&["connect", &origin, "--parent-window=0"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn says(&mut self, message: &Value) {
        let text = message.to_string();
        self.input.write_all(&u32::try_from(text.len()).unwrap().to_ne_bytes()).unwrap();
        self.input.write_all(text.as_bytes()).unwrap();
    }

    /// The next message, which a browser must be able to take.
    fn hears(&mut self) -> Value {
        let mut length = [0; 4];
        self.output.read_exact(&mut length).unwrap();
        let length = u32::from_ne_bytes(length) as usize;
        assert!(length <= 1024 * 1024, "a browser would end the program over {length} bytes");
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn ends(self) -> i32 {
        let Self { mut child, input, output } = self;
        drop(input);
        let code = child.wait().unwrap().code().unwrap_or(-1);
        drop(output);
        code
    }
}

/// A view that lends a tool which gives so much text, by lines; its process, to be ended.
fn lender(stage: &Stage, name: &str, bytes: usize) -> Child {
    let args = ["connect", "--dialect", "tools", "--framing", "lines"];
    let mut child = stage.switchboard(&args).stdin(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let function = json!({"name": name, "description": "", "parameters": {"type": "object"}});
    let lends =
        json!({"type": "REGISTER_TOOLS", "tools": [{"type": "function", "readOnly": true, "function": function}]});
    writeln!(input, "{lends}").unwrap();
    let mut lines = BufReader::new(output).lines();
    let registered: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(registered, json!({"registered": [name]}));
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let call: Value = serde_json::from_str(&line).unwrap();
            let result =
                json!({"type": "TOOL_RESULT", "callId": call["callId"], "success": true, "data": "x".repeat(bytes)});
            writeln!(input, "{result}").unwrap();
        }
    });
    child
}

fn get(url: &str, headers: &str) -> (u16, String) {
    let (authority, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut socket = TcpStream::connect(authority).unwrap();
    write!(socket, "GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn an_extension_that_is_not_on_the_list_is_refused_before_any_host_starts() {
    let stage = allowing();
    for origin in [
        "chrome-extension://abcdefghijklmnopabcdefghijklmnoq/",
        "chrome-extension://abcdefghijklmnopabcdefghijklmnop.example/",
        "chrome-extension://",
    ] {
        let done = stage.feed(&["connect", origin], b"");
        assert_eq!((done.code, done.out.as_str()), (4, ""), "{done:?}");
        assert!(done.err.contains("allowed_origins") && done.err.contains("config.toml"), "{done:?}");
    }
    assert!(stage.host().is_none());
}

#[test]
fn an_extension_speaks_tools_in_a_browsers_framing() {
    let stage = allowing();
    let mut browser = Browser::start(&stage);
    browser.says(&json!({"type": "GET_TOOLS", "requestId": "g"}));
    let answer = browser.hears();
    assert_eq!(answer["requestId"], "g", "{answer}");
    assert!(answer["tools"].as_array().unwrap().len() >= 6, "{answer}");
    browser.says(&json!({"type": "FLY"}));
    assert_eq!(browser.hears()["error"]["code"], "UNKNOWN_MESSAGE_TYPE");
    assert_eq!(browser.ends(), 0);
}

#[test]
fn what_is_too_large_for_a_browser_is_a_link_that_works_once() {
    let stage = allowing();
    let mut lender = lender(&stage, "large", 3 * 1024 * 1024);
    let mut browser = Browser::start(&stage);
    let call = json!({"toolName": "large"});
    browser.says(&json!({"type": "EXECUTE_TOOL", "requestId": 1, "request": call}));
    let answer = browser.hears();
    let (result, artifact) = (&answer["result"], &answer["result"]["artifact"]);
    assert_eq!((&answer["requestId"], &result["success"]), (&json!(1), &json!(true)), "{answer}");
    assert!(result.get("data").is_none() && result["duration"].is_u64(), "{answer}");
    assert_eq!(artifact["size"], 3 * 1024 * 1024 + 2);
    let url = artifact["url"].as_str().unwrap();
    let token = std::fs::read_to_string(stage.data().join("token")).unwrap();
    let bearer = format!("Authorization: Bearer {}\r\n", token.trim());
    assert_eq!(get(url, "").0, 401, "the link alone opens nothing");
    let (status, body) = get(url, &bearer);
    assert_eq!((status, body.len()), (200, 3 * 1024 * 1024 + 2));
    assert!(body.starts_with("\"xxx"));
    assert_eq!(get(url, &bearer).0, 404, "a second time there is nothing");

    let batch = json!({"type": "BATCH_EXECUTE", "requests": [call, {"toolName": "list_files"}, call]});
    browser.says(&batch);
    let answer = browser.hears();
    let kept: Vec<bool> =
        answer["results"].as_array().unwrap().iter().map(|result| result.get("artifact").is_some()).collect();
    assert_eq!(kept, [true, false, true], "{answer}");
    assert_eq!(browser.ends(), 0);
    lender.kill().unwrap();
    lender.wait().unwrap();
}

#[test]
fn both_framings_carry_the_dialect_tools() {
    let stage = Stage::new();
    let message = r#"{"type":"FLY","requestId":"f"}"#;
    let lines = ["connect", "--dialect", "tools", "--framing", "lines"];
    let done = stage.feed(&lines, format!("{message}\n").as_bytes()).good();
    assert_eq!(done.json()[0]["error"]["code"], "UNKNOWN_MESSAGE_TYPE");
    let framed = format!("Content-Length: {}\r\n\r\n{message}", message.len());
    let done = stage.feed(&["connect", "--dialect", "tools"], framed.as_bytes()).good();
    assert!(done.out.starts_with("Content-Length: ") && done.out.contains("UNKNOWN_MESSAGE_TYPE"), "{done:?}");
}
