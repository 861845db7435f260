//! The program as people call it: what it prints, how it ends, and how it talks to a host that runs.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is to stop")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_host::folder::{Folder, Lease};
use tempfile::TempDir;

fn switchboard(data: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
    command.arg("--data").arg(data).args(args).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    // Nobody's own configuration may decide a test.
    command.env("XDG_CONFIG_HOME", data.join("no-config")).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it exits by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A host that runs, as far as other commands can tell: it holds the folder and answers the control routes.
struct FakeHost {
    data: TempDir,
    token: String,
    url: String,
    asked: Receiver<(String, String, Value)>,
    _lease: Lease,
}

impl FakeHost {
    fn start(status: &'static str, answer: Value) -> Self {
        let data = tempfile::tempdir().unwrap();
        let folder = Folder::open(data.path()).unwrap();
        let (lease, token) = (Lease::take(&folder).unwrap(), folder.token().unwrap().reveal().to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        lease.announce(&url).unwrap();
        let (send, asked) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read_request(&mut BufReader::new(&stream));
                let body = answer.to_string();
                write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
                if send.send(request).is_err() {
                    return;
                }
            }
        });
        Self { data, token, url, asked, _lease: lease }
    }

    fn run(&self, args: &[&str]) -> Output {
        switchboard(self.data.path(), args)
    }

    /// The next request: its first line and its body. The token must be in it.
    fn asked(&self) -> (String, Value) {
        let (line, authorization, body) = self.asked.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(authorization, format!("Bearer {}", self.token));
        (line, body)
    }
}

fn read_request(reader: &mut impl BufRead) -> (String, String, Value) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        let found =
            lines.iter().filter_map(|line| line.split_once(": ")).find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let mut body = vec![0; header("content-length").parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (lines[0].clone(), header("authorization"), serde_json::from_slice(&body).unwrap())
}

#[test]
fn wrong_usage_and_wrong_configuration_end_with_2() {
    let data = tempfile::tempdir().unwrap();
    assert_eq!(code(&switchboard(data.path(), &["frobnicate"])), 2);
    assert_eq!(code(&switchboard(data.path(), &["serve", "--listen", "nowhere"])), 2);
    let config = data.path().join("wrong.toml");
    std::fs::write(&config, "\nport = 3\n").unwrap();
    let output = switchboard(data.path(), &["serve", "--config", config.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    let expected = format!("switchboard: {}, line 2, key `port`: unknown field `port`", config.display());
    assert!(stderr(&output).starts_with(&expected), "{}", stderr(&output));
    // What is named and not there is another matter.
    let output = switchboard(data.path(), &["serve", "--agent", "nobody"]);
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("no agent `nobody`"), "{}", stderr(&output));
}

#[test]
fn a_second_serve_says_who_holds_the_folder_and_ends_with_5() {
    let host = FakeHost::start("200 OK", json!({}));
    let output = host.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code(&output), 5);
    let said = stderr(&output);
    assert!(said.contains(&format!("process {}", std::process::id())) && said.contains(&host.url), "{said}");
}

#[test]
fn open_without_a_host_ends_with_5_and_says_what_to_do() {
    let data = tempfile::tempdir().unwrap();
    let output = switchboard(data.path(), &["open"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (5, ""));
    assert!(stderr(&output).contains("start one with `switchboard`"), "{}", stderr(&output));
}

#[test]
fn open_prints_a_fresh_link() {
    let host = FakeHost::start("200 OK", json!({ "login": "http://127.0.0.1:1/login?code=c" }));
    let output = host.run(&["open"]);
    assert_eq!((code(&output), stdout(&output).contains("http://127.0.0.1:1/login?code=c")), (0, true));
    assert_eq!(host.asked(), ("POST /control/login HTTP/1.1".to_owned(), json!({})));
    for args in [["open", "--json"], ["--json", "open"]] {
        assert_eq!(stdout(&host.run(&args)), "{\"login\":\"http://127.0.0.1:1/login?code=c\"}\n");
    }
}

#[test]
fn trust_asks_the_running_host() {
    let host = FakeHost::start("200 OK", json!({}));
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    for (command, word) in [("trust", "trusted"), ("untrust", "untrusted")] {
        let output = host.run(&["--json", command, root]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(host.asked(), ("POST /control/trust HTTP/1.1".to_owned(), json!({ "root": root, "trust": word })));
        assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap(), json!({ "root": root, "trust": word }));
    }
    assert_eq!(code(&host.run(&["trust", "/nowhere/at/all"])), 3);
}

#[test]
fn the_bare_command_joins_the_running_host() {
    let host = FakeHost::start("200 OK", json!({ "login": "http://x/login?code=c" }));
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let output = host.run(&["--workspace", root.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(host.asked(), ("POST /control/workspace HTTP/1.1".to_owned(), json!({ "root": root })));
    assert_eq!(host.asked().0, "POST /control/login HTTP/1.1");
    assert!(stdout(&output).contains("http://x/login?code=c"));
}

#[test]
fn a_refusal_keeps_its_meaning() {
    let refusal = json!({ "code": "nope", "message": "not \u{1b}[31mtoday" });
    for (status, expected) in [("401 Unauthorized", 4), ("404 Not Found", 3), ("500 Oh", 1)] {
        let host = FakeHost::start(status, refusal.clone());
        let output = host.run(&["open"]);
        assert_eq!(code(&output), expected);
        assert_eq!(stderr(&output), "switchboard: the host refuses: not \\u{1b}[31mtoday (nope)\n");
    }
}

#[test]
fn a_host_that_hangs_up_is_unreachable() {
    let data = tempfile::tempdir().unwrap();
    let folder = Folder::open(data.path()).unwrap();
    let lease = Lease::take(&folder).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    lease.announce(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    assert_eq!(code(&switchboard(data.path(), &["open"])), 5);
}
