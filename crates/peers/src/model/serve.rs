//! The model on a loopback port: finds out by the path which API a request speaks. Listens on no other address.

use std::convert::Infallible;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::model::asked::{Answer, Asked, Reply, reply};
use crate::model::frame::Frame;
use crate::model::{anthropic, gemini, ollama, openai, responses};

/// The largest request that is read; agents send their whole history each time.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
/// The name of the only model.
pub const NAME: &str = "fake";

/// Below this path there is nothing of Ollama's, so that whoever looks for it takes OpenAI's way.
pub const ONLY_OPENAI: &str = "/only-openai";

/// A model that runs until it is dropped.
#[derive(Debug)]
pub struct Model {
    /// Where it listens.
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Debug)]
struct Desk {
    count: AtomicU64,
    journal: Option<std::fs::File>,
}

/// An API that a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    OpenAi,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

impl Model {
    /// Listens on a port of this machine, 0 for any; writes each request into the journal if there is one.
    pub async fn start(port: u16, journal: Option<&Path>) -> std::io::Result<Self> {
        let journal = journal.map(|path| std::fs::OpenOptions::new().create(true).append(true).open(path));
        let desk = Arc::new(Desk { count: AtomicU64::new(1), journal: journal.transpose()? });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(desk);
        let task = tokio::spawn(async move {
            // It ends with the task; there is nobody to tell.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, task })
    }

    /// Waits until it ends, which it does not by itself.
    pub async fn run(mut self) {
        let _ = (&mut self.task).await;
    }
}

async fn answer(State(desk): State<Arc<Desk>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let path = uri.path();
    let number = desk.count.fetch_add(1, Ordering::Relaxed);
    let body = serde_json::from_slice::<Value>(&body);
    desk.note(&method, &uri, body.as_ref().unwrap_or(&Value::Null));
    if method == Method::GET || method == Method::HEAD {
        return list(path);
    }
    if let Some(count) = side_question(path) {
        return axum::Json(count).into_response();
    }
    let Some(api) = api(path) else { return fail(404, &format!("nothing answers at {path}")) };
    let Ok(body) = body else { return fail(400, "the request is no JSON") };
    let asked = match api {
        Api::OpenAi => openai::read(&body),
        Api::Responses => responses::read(&body),
        Api::Anthropic => anthropic::read(&body),
        Api::Gemini => gemini::read(&body, path),
        Api::Ollama => ollama::read(&body),
    };
    match reply(&asked) {
        Reply::Answer(answer) => said(api, &answer, &asked, number),
        Reply::Fail { status, text } => fail(status, &text),
        Reply::Hang(time) => {
            tokio::time::sleep(time).await;
            fail(504, "the script let this request hang")
        }
    }
}

fn api(path: &str) -> Option<Api> {
    let ends: &[(&str, Api)] = &[
        ("/chat/completions", Api::OpenAi),
        ("/responses", Api::Responses),
        ("/messages", Api::Anthropic),
        (":generateContent", Api::Gemini),
        (":streamGenerateContent", Api::Gemini),
        ("/api/chat", Api::Ollama),
    ];
    ends.iter().find(|(end, _)| path.ends_with(end)).map(|(_, api)| *api)
}

/// Questions besides those for an answer.
fn side_question(path: &str) -> Option<Value> {
    if path.ends_with("/count_tokens") {
        return Some(json!({"input_tokens": 100}));
    }
    if path.ends_with(":countTokens") {
        return Some(json!({"totalTokens": 100}));
    }
    path.ends_with("/api/show").then(|| json!({"capabilities": ["completion", "tools", "thinking"], "model_info": {}}))
}

/// What models there are, in the shape of whoever is asked.
fn list(path: &str) -> Response {
    if path.ends_with("/api/tags") && !path.starts_with(ONLY_OPENAI) {
        let model = json!({"name": NAME, "model": NAME, "size": 1, "details": {"family": NAME}});
        return axum::Json(json!({"models": [model]})).into_response();
    }
    let model = json!({
        "id": NAME, "object": "model", "type": "model", "display_name": "Fake", "owned_by": NAME, "created": 1,
        "context_length": 128_000,
    });
    if path.ends_with("/models") {
        return axum::Json(json!({"object": "list", "data": [model], "has_more": false})).into_response();
    }
    if path.contains("/models/") {
        return axum::Json(model).into_response();
    }
    match path {
        "/" | "/healthz" => "the model is up\n".into_response(),
        _ => fail(404, &format!("nothing answers at {path}")),
    }
}

fn said(api: Api, answer: &Answer, asked: &Asked, number: u64) -> Response {
    if !asked.streams {
        return axum::Json(match api {
            Api::OpenAi => openai::whole(answer, asked, number),
            Api::Responses => responses::whole(answer, asked, number),
            Api::Anthropic => anthropic::whole(answer, asked, number),
            Api::Gemini => gemini::whole(answer, asked, number),
            Api::Ollama => ollama::whole(answer, asked),
        })
        .into_response();
    }
    let (kind, frames) = match api {
        Api::OpenAi => ("text/event-stream", openai::frames(answer, asked, number)),
        Api::Responses => ("text/event-stream", responses::frames(answer, asked, number)),
        Api::Anthropic => ("text/event-stream", anthropic::frames(answer, asked, number)),
        Api::Gemini => ("text/event-stream", gemini::frames(answer, asked, number)),
        Api::Ollama => ("application/x-ndjson", ollama::frames(answer, asked)),
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], Body::from_stream(paced(frames)))
        .into_response()
}

fn paced(frames: Vec<Frame>) -> impl stream::Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(frames.into_iter(), |mut frames| async move {
        let frame = frames.next()?;
        if !frame.wait.is_zero() {
            tokio::time::sleep(frame.wait).await;
        }
        Some((Ok(Bytes::from(frame.text)), frames))
    })
}

/// An error in the words of all providers at once.
fn fail(status: u16, text: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    let error = json!({"message": text, "type": "scripted_error", "code": status.as_u16(), "status": "SCRIPTED"});
    (status, axum::Json(json!({"type": "error", "error": error}))).into_response()
}

impl Desk {
    fn note(&self, method: &Method, uri: &Uri, body: &Value) {
        if let Some(mut file) = self.journal.as_ref() {
            let line = json!({"method": method.as_str(), "path": uri.to_string(), "body": body});
            // A journal that cannot be written is no reason to fail an answer.
            let _ = writeln!(file, "{line}");
        }
    }
}
