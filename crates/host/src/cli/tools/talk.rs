//! The link of a call: the dialect `tools`, spoken as any view does. What this version does not know is passed over.

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_types::{Approval, ApprovalId, ApprovalKind, Decision, Severity};

use crate::cli::control::Control;
use crate::cli::exit::{Exit, Failure};
use crate::cli::wire::{self, Socket};

/// What the host says.
pub(super) enum Heard {
    /// The answer to a request.
    Answer { request: String, answer: Box<Answer> },
    /// A question; for this call, if it says which.
    Question { approval: Box<Approval>, call: Option<String> },
    /// Anything else.
    Nothing,
}

/// The answer to a request, as far as it is needed here.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    #[serde(default)]
    pub(super) tools: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) result: Option<Outcome>,
    #[serde(default)]
    pub(super) error: Option<Wrong>,
}

/// What came of a call.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    pub(super) success: bool,
    #[serde(default)]
    pub(super) data: Value,
    #[serde(default)]
    pub(super) error: Option<Wrong>,
}

/// Why there is no result.
#[derive(Debug, Deserialize)]
pub(super) struct Wrong {
    pub(super) code: String,
    pub(super) message: String,
    #[serde(default)]
    pub(super) details: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    approval_id: ApprovalId,
    #[serde(default)]
    execution_id: Option<String>,
    kind: ApprovalKind,
    title: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    diff: Option<String>,
    severity: Severity,
    reason: String,
    #[serde(default)]
    containment: Option<switchboard_types::Containment>,
}

/// The link.
pub(super) struct Talk {
    socket: Socket,
}

impl Talk {
    /// Opens the link.
    pub(super) async fn open(control: &Control) -> Result<Self, Failure> {
        Ok(Self { socket: wire::open(control, "tools").await? })
    }

    /// Asks for something; its answer bears the name.
    pub(super) async fn ask(&mut self, request: &str, kind: &str, mut message: Value) -> Result<(), Failure> {
        message["type"] = json!(kind);
        message["requestId"] = json!(request);
        wire::say(&mut self.socket, message.to_string()).await
    }

    /// Answers a question.
    pub(super) async fn decide(&mut self, approval: &ApprovalId, decision: Decision) -> Result<(), Failure> {
        let message = json!({ "approvalId": approval, "decision": decision });
        self.ask("decide", "APPROVAL_RESPONSE", message).await
    }

    /// The next thing that the host says.
    pub(super) async fn hear(&mut self) -> Result<Heard, Failure> {
        let text = match wire::hear(&mut self.socket).await {
            wire::Heard::Text(text) => text,
            wire::Heard::Nothing => return Ok(Heard::Nothing),
            wire::Heard::Over(why) => return Err(Failure::new(Exit::Unreachable, why)),
        };
        let strange = |error| Failure::failed(format!("the host's answer is not understood: {error}"));
        let envelope: Envelope = serde_json::from_str(&text).map_err(strange)?;
        if let Some(request) = envelope.request_id {
            return Ok(Heard::Answer { request, answer: serde_json::from_str(&text).map_err(strange)? });
        }
        if envelope.kind.as_deref() != Some("APPROVAL_REQUEST") {
            return Ok(Heard::Nothing);
        }
        let asked: Question = serde_json::from_str(&text).map_err(strange)?;
        let approval = Approval {
            command: asked.command,
            cwd: asked.cwd,
            path: asked.path,
            diff: asked.diff,
            reason: asked.reason,
            containment: asked.containment,
            ..Approval::new(asked.approval_id, asked.kind, asked.title, asked.severity)
        };
        Ok(Heard::Question { approval: Box::new(approval), call: asked.execution_id })
    }

    /// Says goodbye. The host notices a link that is gone, too.
    pub(super) async fn close(mut self) {
        let _ = self.socket.close(None).await;
    }
}

impl Wrong {
    /// Whether the host is just not ready yet.
    pub(super) fn is_early(&self) -> bool {
        self.code == "REGISTRY_NOT_READY"
    }

    /// How the command ends by it.
    pub(super) fn failure(&self) -> Failure {
        let exit = match self.code.as_str() {
            "TOOL_NOT_FOUND" => Exit::NotFound,
            "DENIED" | "WORKSPACE_UNTRUSTED" => Exit::Denied,
            "VALIDATION_ERROR" => Exit::Usage,
            _ => Exit::Failed,
        };
        let mut message = format!("{} ({})", self.message, self.code);
        for finding in self.details.iter().filter_map(Value::as_array).flatten() {
            if let (Some(parameter), Some(why)) = (finding["parameter"].as_str(), finding["message"].as_str()) {
                message.push_str(&format!("\n  {parameter}: {why}"));
            }
        }
        Failure::new(exit, message)
    }
}
