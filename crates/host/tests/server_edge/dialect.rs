//! A stand-in for a view's dialect: just enough words to see what passes. Knows nothing of sockets.

use serde_json::{Value, json};
use switchboard_dialects::view::{ViewDialect, ViewKind};
use switchboard_types::{Command, Prompt, Reject, RejectCode, Seq, TabId, Time, Told, TurnName, WorkspaceRoot};

pub(crate) struct StandIn;

pub(crate) fn stand_in(_: ViewKind) -> Box<dyn ViewDialect> {
    Box::new(StandIn)
}

impl ViewDialect for StandIn {
    fn read(&mut self, _: Time, frame: &[u8]) -> Result<Command, Reject> {
        let message: Value =
            serde_json::from_slice(frame).map_err(|error| Reject::new(RejectCode::BadJson, error.to_string()))?;
        let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
        let tab = TabId::new(text("tabId"));
        match text("type").as_str() {
            "new-tab" => {
                let workspace = message["workspace"].as_str().map(WorkspaceRoot::from);
                Ok(Command::OpenTab { tab, agent: None, workspace, seen: Seq::START.into() })
            }
            "prompt" => {
                let prompt = Prompt { text: text("text"), context: Vec::new() };
                Ok(Command::Prompt { tab, name: TurnName::new(text("messageId")), prompt })
            }
            other => Err(Reject::new(RejectCode::UnknownType, format!("unknown type {other}"))),
        }
    }

    fn write(&mut self, _: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        let mut say = |value: Value| message(value.to_string().as_bytes());
        match told {
            Told::Tabs { .. } => say(json!({"type": "tabs-restored"})),
            Told::Events { tab, page, .. } => {
                for event in page.events() {
                    say(json!({"tabId": tab, "index": event.seq, "body": event.body().unwrap()}));
                }
            }
            Told::Gap { tab, from, to } => say(json!({"type": "gap", "tabId": tab, "from": from, "to": to})),
            Told::Reset { tab } => say(json!({"type": "tab-reset", "tabId": tab})),
            Told::Refused(reject) => {
                say(json!({"type": "error", "tabId": reject.tab, "code": format!("{:?}", reject.code)}));
            }
            Told::Overview { .. }
            | Told::Session(_)
            | Told::SessionGone { .. }
            | Told::Workspace(_)
            | Told::History { .. }
            | Told::Pong { .. }
            | Told::Tools { .. }
            | Told::ToolsCalled { .. }
            | Told::CallCancelled { .. }
            | Told::Calls { .. }
            | Told::Lent { .. }
            | Told::LentCall { .. }
            | Told::ApprovalsWatched { .. }
            | Told::ApprovalOpen { .. }
            | Told::Answered { .. }
            | Told::Answer { .. }
            | Told::Rules { .. }
            | Told::ChoreNews { .. }
            | Told::ChoreDone { .. }
            | Told::Settings(_)
            | Told::Containment(_) => say(json!({"type": "other"})),
        }
    }
}
