//! A view of the dialect `tabs` over a real WebSocket: says prompts, answers questions by a rule, and puts together what it
//! was shown of a turn. Judges nothing.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::host::Host;

/// The only tab.
pub(crate) const TAB: &str = "peer";
/// How long the host may take to let us in.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the view answers when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Allow,
    Deny,
}

/// What was shown of one turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    pub(crate) text: String,
    pub(crate) thought: String,
    pub(crate) plans: Vec<Value>,
    /// The last word on each tool call.
    pub(crate) tools: BTreeMap<String, Value>,
    /// All words on all tool calls, in order.
    pub(crate) calls: Vec<Value>,
    pub(crate) questions: Vec<Value>,
    /// The reason, and what went wrong.
    pub(crate) end: Option<(String, String)>,
}

/// A live link.
pub(crate) struct View {
    socket: WebSocketStream<TcpStream>,
    journal: std::fs::File,
    /// All that was shown, in order.
    pub(crate) shown: Vec<Value>,
    pub(crate) answer: Answer,
    prompts: u32,
}

impl View {
    /// Connects and opens the tab; all that is shown and said goes into the journal.
    pub(crate) async fn open(host: &Host, journal: &Path) -> Result<Self> {
        let mut request = format!("ws://{}/ws/tabs", host.address).into_client_request()?;
        request.headers_mut().insert("Authorization", format!("Bearer {}", host.token).parse()?);
        let stream = TcpStream::connect(&host.address).await.context("the host cannot be reached")?;
        let shaken = tokio::time::timeout(PATIENCE, client_async(request, stream)).await;
        let (socket, _) = shaken.context("the host lets nobody in")??;
        let journal = std::fs::File::create(journal).context("no journal can be written")?;
        Ok(Self { socket, journal, shown: Vec::new(), answer: Answer::Allow, prompts: 0 })
    }

    pub(crate) async fn say(&mut self, words: Value) -> Result<()> {
        self.note("->", &words);
        self.socket.send(Message::text(words.to_string())).await.context("the host is gone")
    }

    fn note(&mut self, direction: &str, words: &Value) {
        // A journal that cannot be written is no reason to stop.
        let _ = writeln!(self.journal, "{}", json!({"dir": direction, "msg": words}));
    }

    /// Says a prompt and gives its name.
    pub(crate) async fn prompt(&mut self, text: &str) -> Result<String> {
        self.prompts += 1;
        let name = format!("m{}", self.prompts);
        self.say(json!({"type": "prompt", "tabId": TAB, "messageId": name, "text": text})).await?;
        Ok(name)
    }

    /// Says a prompt and waits for its end.
    pub(crate) async fn turn(&mut self, text: &str, patience: Duration) -> Result<Turn> {
        let name = self.prompt(text).await?;
        self.until(patience, |view| view.read(&name).end.is_some()).await;
        Ok(self.read(&name))
    }

    /// What was shown of a prompt so far.
    pub(crate) fn read(&self, prompt: &str) -> Turn {
        let mut turn = Turn::default();
        let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
        let mut is_running = false;
        for shown in &self.shown {
            let is_of_it = shown["messageId"] == prompt;
            if is_of_it && shown["type"] == "prompt-started" {
                is_running = true;
            }
            // A question need not name its turn.
            let may_be = is_running && shown["messageId"].is_null() && shown["type"] == "approval-request";
            if !(is_of_it || may_be) {
                continue;
            }
            match shown["type"].as_str() {
                Some("response-chunk") => turn.text += &text(&shown["chunk"]),
                Some("thought-chunk") => turn.thought += &text(&shown["chunk"]),
                Some("plan") => turn.plans.push(shown["entries"].clone()),
                Some("tool-call" | "tool-call-update") => {
                    turn.calls.push(shown["toolCall"].clone());
                    turn.tools.insert(text(&shown["toolCall"]["id"]), shown["toolCall"].clone());
                }
                Some("approval-request") => turn.questions.push(shown.clone()),
                Some("response-complete") => {
                    turn.end = Some((text(&shown["reason"]), text(&shown["detail"]["message"])));
                    is_running = false;
                }
                _ => {}
            }
        }
        turn
    }

    /// Takes what comes until something holds; says whether it did in time.
    pub(crate) async fn until(&mut self, patience: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        let end = Instant::now() + patience;
        loop {
            if holds(self) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            match tokio::time::timeout(left, self.next()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return false,
            }
        }
    }

    async fn next(&mut self) -> Result<()> {
        let text = match self.socket.next().await {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Close(_)) | Err(_)) | None => bail!("the host has hung up"),
            Some(Ok(_)) => return Ok(()),
        };
        let shown: Value = serde_json::from_str(text.as_str()).context("the host says what is no JSON")?;
        self.note("<-", &shown);
        if shown["type"] == "approval-request" {
            let decision = match self.answer {
                Answer::Allow => "allow_once",
                Answer::Deny => "deny",
            };
            let approval = shown["approvalId"].clone();
            self.say(json!({"type": "approval-response", "tabId": TAB, "approvalId": approval, "decision": decision}))
                .await?;
        }
        self.shown.push(shown);
        Ok(())
    }

    /// How many of a type were shown.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.shown.iter().filter(|shown| shown["type"] == kind).count()
    }

    /// The text of the last error that was shown.
    pub(crate) fn last_error(&self) -> Option<String> {
        let error = self.shown.iter().rev().find(|shown| shown["type"] == "error")?;
        error["error"]["message"].as_str().map(str::to_owned)
    }
}
