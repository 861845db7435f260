//! A server of models whose answers are written down beforehand, in the ways of Ollama and of OpenAI. Thinks nothing.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whose way it talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Ollama,
    OpenAi,
    /// As OpenAI does; but its list is at Ollama's place too, in both forms at once.
    LlamaCpp,
}

/// One answer of the model.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    /// Words, in these pieces.
    Text(&'static [&'static str]),
    /// Thinking, then words.
    Thought(&'static str, &'static str),
    /// Calls of tools.
    Calls(Vec<(&'static str, Value)>),
    /// A refusal: status, a further header, body.
    Status(u16, &'static str, &'static str),
    /// Nothing after the head, until whoever asked hangs up.
    Nothing,
    /// The same, without a head.
    Silence,
    /// Some words, and then the link breaks.
    BreaksOff(&'static str),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

impl Asked {
    /// The last message that the model was given.
    pub(crate) fn last(&self) -> &Value {
        self.body["messages"].as_array().unwrap().last().unwrap()
    }

    /// The names of the tools that it was offered.
    pub(crate) fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// The server.
pub(crate) struct Scripted {
    pub(crate) port: u16,
    asked: Receiver<Asked>,
    /// Links that were hung up while nothing was said.
    hung_up: Receiver<()>,
    script: Arc<Mutex<VecDeque<Says>>>,
}

struct Stand {
    way: Way,
    token: Option<&'static str>,
    script: Arc<Mutex<VecDeque<Says>>>,
    heard: Sender<Asked>,
    hung_up: Sender<()>,
}

impl Scripted {
    pub(crate) fn new(way: Way, script: impl IntoIterator<Item = Says>) -> Self {
        Self::with_token(way, None, script)
    }

    pub(crate) fn with_token(way: Way, token: Option<&'static str>, script: impl IntoIterator<Item = Says>) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").unwrap(), way, token, script)
    }

    pub(crate) fn at(
        listener: TcpListener,
        way: Way,
        token: Option<&'static str>,
        script: impl IntoIterator<Item = Says>,
    ) -> Self {
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Mutex::new(script.into_iter().collect::<VecDeque<_>>()));
        let ((heard, asked), (gone, hung_up)) = (channel(), channel());
        let stand = Arc::new(Stand { way, token, script: Arc::clone(&script), heard, hung_up: gone });
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let stand = Arc::clone(&stand);
                // A link that breaks is the other side's business.
                std::thread::spawn(move || stand.serve(socket));
            }
        });
        Self { port, asked, hung_up, script }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// More answers.
    pub(crate) fn then(&self, more: impl IntoIterator<Item = Says>) {
        self.script.lock().unwrap().extend(more);
    }

    /// The next question to a model.
    pub(crate) fn asked(&self) -> Asked {
        self.asked.recv_timeout(PATIENCE).expect("the model is asked in time")
    }

    /// All questions that came so far and were not taken.
    pub(crate) fn rest(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }

    /// Waits until somebody has hung up on a model that says nothing.
    pub(crate) fn was_hung_up(&self) {
        self.hung_up.recv_timeout(PATIENCE).expect("it is hung up in time");
    }
}

impl Stand {
    fn serve(&self, mut socket: TcpStream) {
        let Some((line, authorization, body)) = read(&socket) else { return };
        let mut words = line.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let welcome = self.token.is_none_or(|token| authorization.as_deref() == Some(&format!("Bearer {token}")));
        if !welcome {
            let said = authorization.unwrap_or_default();
            let error = json!({"error": {"message": format!("bad credentials: {said}")}});
            return whole(&mut socket, 401, "", &error.to_string());
        }
        match (self.way, method, path) {
            (Way::Ollama, "GET", "/api/tags") => {
                whole(&mut socket, 200, "", r#"{"models":[{"name":"small:latest"},{"name":"other:7b"}]}"#);
            }
            (Way::Ollama, "POST", "/api/show") => whole(
                &mut socket,
                200,
                "",
                r#"{"capabilities":["completion","tools","vision"],"model_info":{"general.architecture":"x","x.context_length":16384}}"#,
            ),
            (Way::OpenAi, "GET", "/v1/models") => {
                whole(&mut socket, 200, "", r#"{"object":"list","data":[{"id":"small"},{"id":"other"}]}"#);
            }
            (Way::LlamaCpp, "GET", "/api/tags" | "/v1/models") => {
                let both = r#"{"models":[{"name":"one.gguf"}],"object":"list","data":[{"id":"one.gguf","meta":{"n_ctx_train":4096}}]}"#;
                whole(&mut socket, 200, "", both);
            }
            (Way::Ollama, "POST", "/api/chat") | (Way::OpenAi | Way::LlamaCpp, "POST", "/v1/chat/completions") => {
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let says = self.script.lock().unwrap().pop_front();
                let _ = self.heard.send(Asked { authorization, body });
                self.answer(&mut socket, says.unwrap_or(Says::Status(500, "", r#"{"error":"the script is over"}"#)));
            }
            _ => whole(&mut socket, 404, "", "not here"),
        }
    }

    fn answer(&self, socket: &mut TcpStream, says: Says) {
        let kind = match self.way {
            Way::Ollama => "application/x-ndjson",
            Way::OpenAi | Way::LlamaCpp => "text/event-stream",
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n");
        match says {
            Says::Status(status, header, body) => whole(socket, status, header, body),
            silent @ (Says::Nothing | Says::Silence) => {
                if matches!(silent, Says::Nothing) {
                    let _ = socket.write_all(head.as_bytes());
                }
                // Ends when the other side closes the link.
                let _ = socket.read(&mut [0]);
                let _ = self.hung_up.send(());
            }
            Says::BreaksOff(text) => {
                let _ = socket.write_all(head.as_bytes());
                chunk(socket, &self.piece(json!({"content": text})));
            }
            Says::Text(pieces) => {
                let _ = socket.write_all(head.as_bytes());
                for text in pieces {
                    chunk(socket, &self.piece(json!({"content": text})));
                }
                self.end(socket, "stop");
            }
            Says::Thought(thought, text) => {
                let _ = socket.write_all(head.as_bytes());
                let name = match self.way {
                    Way::Ollama => "thinking",
                    Way::OpenAi | Way::LlamaCpp => "reasoning_content",
                };
                let mut thinks = json!({"content": ""});
                thinks[name] = thought.into();
                chunk(socket, &self.piece(thinks));
                chunk(socket, &self.piece(json!({"content": text})));
                self.end(socket, "stop");
            }
            Says::Calls(calls) => {
                let _ = socket.write_all(head.as_bytes());
                let all: Vec<Value> = calls.into_iter().enumerate().map(|(at, call)| self.call(at, call)).collect();
                chunk(socket, &self.piece(json!({"content": "", "tool_calls": all})));
                self.end(socket, "tool_calls");
            }
        }
    }

    fn call(&self, at: usize, (name, arguments): (&str, Value)) -> Value {
        match self.way {
            Way::Ollama => json!({"function": {"name": name, "arguments": arguments}}),
            Way::OpenAi | Way::LlamaCpp => json!({
                "index": at, "id": format!("c{at}"), "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()},
            }),
        }
    }

    fn piece(&self, mut message: Value) -> String {
        match self.way {
            Way::Ollama => {
                message["role"] = "assistant".into();
                format!("{}\n", json!({"model": "small", "message": message, "done": false}))
            }
            Way::OpenAi | Way::LlamaCpp => {
                format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": message}]}))
            }
        }
    }

    fn end(&self, socket: &mut TcpStream, reason: &str) {
        match self.way {
            Way::Ollama => {
                let last = json!({
                    "model": "small", "message": {"role": "assistant", "content": ""}, "done": true,
                    "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 7,
                });
                chunk(socket, &format!("{last}\n"));
            }
            Way::OpenAi | Way::LlamaCpp => {
                let usage = json!({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107});
                let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage});
                chunk(socket, &format!("data: {last}\n\ndata: [DONE]\n\n"));
            }
        }
        let _ = socket.write_all(b"0\r\n\r\n");
    }
}

/// Reads a request: its first line, its token and its body.
pub(super) fn read(socket: &TcpStream) -> Option<(String, Option<String>, Vec<u8>)> {
    let mut reader = BufReader::new(socket);
    let (mut first, mut length, mut authorization) = (String::new(), 0, None);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, authorization, body))
}

/// Answers as a whole.
pub(super) fn whole(socket: &mut TcpStream, status: u16, header: &str, body: &str) {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{header}Connection: close\r\n\r\n{body}"
    );
    let _ = socket.write_all(text.as_bytes());
}

fn chunk(socket: &mut TcpStream, text: &str) {
    let _ = socket.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
}
