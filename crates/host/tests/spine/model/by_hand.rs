//! A server of models whose every answer a test gives by hand, when it likes. Knows no model.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::scripted::{read, whole};

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a server says that still loads.
const LOADING: &str = r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
/// How many tokens every model can read, where that is shown.
pub(crate) const WINDOW: u32 = 16_384;

/// The server.
pub(crate) struct ByHand {
    port: u16,
    requests: Receiver<Request>,
    closing: Arc<AtomicBool>,
    listening: JoinHandle<()>,
}

/// A request that waits for its answer.
pub(crate) struct Request {
    line: String,
    pub(crate) body: Value,
    socket: TcpStream,
}

impl ByHand {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (say, requests) = channel();
        let closing = Arc::new(AtomicBool::new(false));
        let is_closing = Arc::clone(&closing);
        let listening = std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                if is_closing.load(Ordering::SeqCst) {
                    return;
                }
                let say = say.clone();
                std::thread::spawn(move || {
                    let Some((line, _, body)) = read(&socket) else { return };
                    let line = line.rsplit_once(" HTTP").map_or(line.clone(), |(line, _)| line.to_owned());
                    let body = serde_json::from_slice(&body).unwrap_or_default();
                    let _ = say.send(Request { line, body, socket });
                });
            }
        });
        Self { port, requests, closing, listening }
    }

    /// Nobody listens there any more.
    pub(crate) fn close(self) {
        self.closing.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        self.listening.join().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The next request, which must be this one.
    pub(crate) fn next(&self, line: &str) -> Request {
        let request = self.requests.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("not in time: {line}"));
        assert_eq!(request.line, line, "{}", request.body);
        request
    }

    /// A look finds a server that still loads.
    pub(crate) fn loads(&self) {
        self.next("GET /api/tags").answer(503, LOADING);
        self.next("GET /v1/models").answer(503, LOADING);
    }

    /// A look finds an Ollama that has these, and shows so many of them.
    pub(crate) fn has(&self, names: &[&str], shows: usize) {
        self.next("GET /api/tags").answer(200, &tags(names));
        for _ in 0..shows {
            self.next("POST /api/show").shows();
        }
    }
}

impl Request {
    pub(crate) fn answer(mut self, status: u16, body: &str) {
        whole(&mut self.socket, status, "", body);
    }

    /// What Ollama shows of a model.
    pub(crate) fn shows(self) {
        let shown = json!({
            "capabilities": ["completion", "tools"],
            "model_info": {"general.architecture": "x", "x.context_length": WINDOW},
        });
        self.answer(200, &shown.to_string());
    }

    /// A model says this, in Ollama's way.
    pub(crate) fn says(self, text: &str) {
        let word = json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": false});
        let end = json!({
            "model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 100, "eval_count": 7,
        });
        self.answer(200, &format!("{word}\n{end}\n"));
    }

    /// The last words of the question.
    pub(crate) fn question(&self) -> String {
        self.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    }
}

/// A list of models as Ollama has it.
pub(crate) fn tags(names: &[&str]) -> String {
    let models: Vec<Value> = names.iter().map(|name| json!({"name": name, "model": name})).collect();
    json!({ "models": models }).to_string()
}
