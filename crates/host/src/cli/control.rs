//! A small HTTP client for the control routes of the running host. Talks to the address that the host wrote down, and
//! to no other.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use switchboard_types::limits::MAX_FRAME_BYTES;
use switchboard_types::{Found, HistoryPlace, Rule, RuleId, SearchQuery, Seq, SessionId, WorkspaceRoot};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::exit::{Exit, Failure};
use crate::agents::shown::shown;
use crate::folder::{Running, Token};
use crate::history::{SessionEntry, SessionsPart, WorkspaceEntry};
use crate::link::Trust;

/// An answer is a page of a log at most, which a single event may make larger than most are.
const MAX_ANSWER_BYTES: usize = 8 * MAX_FRAME_BYTES;
/// A host that takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of an error that are shown.
const MESSAGE_CHARS: usize = 500;

/// The running host, to be asked.
#[derive(Debug)]
pub struct Control {
    authority: String,
    token: Token,
}

/// An answer that is no refusal.
struct Answer {
    status: StatusCode,
    body: Bytes,
}

#[derive(Deserialize)]
struct Login {
    login: String,
}

#[derive(Deserialize)]
struct ConfigurationState {
    errors: Vec<String>,
}

#[derive(Deserialize)]
struct Rules {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Refusal {
    code: String,
    message: String,
}

impl Control {
    /// The host that runs here.
    pub fn of(running: &Running, token: Token) -> Result<Self, Failure> {
        let authority = running.url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
        let authority = authority.filter(|authority| !authority.is_empty() && !authority.contains('/'));
        let strange = || Failure::unreachable(format!("the host's address `{}` is strange", shown(&running.url, 100)));
        Ok(Self { authority: authority.ok_or_else(strange)?.to_owned(), token })
    }

    /// A fresh one-time link to the page.
    pub async fn login(&self) -> Result<String, Failure> {
        let answer = self.post("/control/login", &json!({})).await?;
        let login: Login = serde_json::from_value(answer).map_err(|_| strange_answer())?;
        Ok(login.login)
    }

    /// Trusts a workspace, or no longer.
    pub async fn trust(&self, root: &WorkspaceRoot, trust: Trust) -> Result<(), Failure> {
        let word = match trust {
            Trust::Trusted => "trusted",
            Trust::Untrusted => "untrusted",
        };
        self.post("/control/trust", &json!({ "root": root.as_str(), "trust": word })).await.map(drop)
    }

    /// Adds a folder to the host.
    pub async fn add_workspace(&self, root: &WorkspaceRoot) -> Result<(), Failure> {
        self.post("/control/workspace", &json!({ "root": root.as_str() })).await.map(drop)
    }

    /// Deletes a session for good.
    pub async fn delete(&self, session: SessionId) -> Result<(), Failure> {
        self.post("/control/delete", &json!({ "id": session })).await.map(drop)
    }

    /// Finds what was said.
    pub async fn search(&self, query: &SearchQuery) -> Result<Found, Failure> {
        let query = serde_json::to_string(query).map_err(|error| Failure::failed(error.to_string()))?;
        let body = self.ask(Method::POST, "/control/search", query).await?;
        serde_json::from_slice(&body).map_err(|_| strange_answer())
    }

    /// Gives a session a title that stays.
    pub async fn rename(&self, session: SessionId, title: &str) -> Result<(), Failure> {
        self.post("/control/rename", &json!({ "id": session, "title": title })).await.map(drop)
    }

    /// Turns the record of a session's wire on or off; whether it is on then.
    pub(super) async fn record(&self, session: SessionId, on: bool) -> Result<bool, Failure> {
        let answer = self.post(&format!("/wire/{session}"), &json!({ "record": on })).await?;
        answer.get("recording").and_then(Value::as_bool).ok_or_else(strange_answer)
    }

    /// A part of the list of all sessions.
    pub async fn sessions(&self, before: Option<HistoryPlace>) -> Result<SessionsPart, Failure> {
        let place = before.map(|place| format!("?updated_ms={}&id={}", place.updated, place.session));
        self.get_json(&format!("/control/sessions{}", place.unwrap_or_default())).await
    }

    /// One session.
    pub async fn session(&self, session: SessionId) -> Result<SessionEntry, Failure> {
        self.get_json(&format!("/control/session?id={session}")).await
    }

    /// The next events of a log as lines of JSON; empty at the end.
    pub async fn log(&self, session: SessionId, after: Seq) -> Result<Bytes, Failure> {
        self.ask(Method::GET, &format!("/control/log?id={session}&after={after}"), String::new()).await
    }

    /// The workspaces that the host knows of.
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceEntry>, Failure> {
        self.get_json("/control/workspaces").await
    }

    /// All rules, the oldest first.
    pub async fn rules(&self) -> Result<Vec<Rule>, Failure> {
        let rules: Rules = self.get_json("/control/rules").await?;
        Ok(rules.rules)
    }

    /// Takes a rule out; whether there was one.
    pub async fn remove_rule(&self, rule: &RuleId) -> Result<bool, Failure> {
        match self.post("/control/rules/remove", &json!({ "id": rule })).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.exit == Exit::NotFound => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// What is wrong in the configuration that the host last looked at, each for a person.
    pub async fn configuration_errors(&self) -> Result<Vec<String>, Failure> {
        let state: ConfigurationState = self.get_json("/control/configuration").await?;
        Ok(state.errors)
    }

    /// The counters, as text.
    pub async fn metrics(&self) -> Result<String, Failure> {
        let body = self.ask(Method::GET, "/metrics", String::new()).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// Keeps a JSON text that is too large for somebody; the address where it can be fetched once.
    pub(super) async fn keep_artifact(&self, json: String) -> Result<String, Failure> {
        let body = self.ask(Method::POST, "/control/artifact", json).await?;
        let answer: Value = serde_json::from_slice(&body).map_err(|_| strange_answer())?;
        let path = answer.get("path").and_then(Value::as_str).ok_or_else(strange_answer)?;
        Ok(format!("http://{}{path}", self.authority))
    }

    /// Where it listens, without the scheme.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// What opens its doors.
    pub(super) fn token(&self) -> &Token {
        &self.token
    }

    async fn get_json<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let body = self.ask(Method::GET, path, String::new()).await?;
        serde_json::from_slice(&body).map_err(|_| strange_answer())
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let body = self.ask(Method::POST, path, body.to_string()).await?;
        if body.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&body).map_err(|_| strange_answer()) }
    }

    async fn ask(&self, method: Method, path: &str, body: String) -> Result<Bytes, Failure> {
        match timeout(PATIENCE, self.exchange(method, path, body)).await {
            Ok(Ok(Answer { status, body })) if status.is_success() => Ok(body),
            Ok(Ok(Answer { status, body })) => Err(refused(status, &body)),
            Ok(Err(error)) => {
                Err(Failure::unreachable(format!("the host at {} does not answer: {error}", self.authority)))
            }
            Err(_) => Err(Failure::unreachable(format!("the host at {} takes too long to answer", self.authority))),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
        let stream = TcpStream::connect(&self.authority).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.authority)
            .header(AUTHORIZATION, format!("Bearer {}", self.token.reveal()))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?;
        let answered = async {
            let (parts, body) = sender.send_request(request).await?.into_parts();
            let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await?.to_bytes();
            Ok(Answer { status: parts.status, body })
        };
        tokio::pin!(answered, connection);
        tokio::select! {
            answer = &mut answered => answer,
            // The other side may close as soon as the answer is written; the answer still counts.
            _ = &mut connection => answered.await,
        }
    }
}

fn strange_answer() -> Failure {
    Failure::failed("the host's answer is not understood; is it another version of Switchboard?")
}

pub(super) fn refused(status: StatusCode, body: &[u8]) -> Failure {
    let exit = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Exit::Denied,
        StatusCode::NOT_FOUND => Exit::NotFound,
        _ => Exit::Failed,
    };
    match serde_json::from_slice::<Refusal>(body) {
        Ok(refusal) => {
            let (code, message) = (shown(&refusal.code, MESSAGE_CHARS), shown(&refusal.message, MESSAGE_CHARS));
            Failure::new(exit, format!("the host refuses: {message} ({code})"))
        }
        Err(_) => Failure::new(exit, format!("the host refuses: {status}")),
    }
}
