//! A person asked before something is written or run, where the client does not ask by itself. Does nothing of it.

use serde_json::{Value, json};
use switchboard_agent::deed::Outcome;

use super::Hands;
use crate::agent::peer::{PeerError, Within};
use crate::agent::session::{Sort, Standing};
use crate::agent::show;

/// The answers that are offered: id, words, and what they are in ACP.
const ANSWERS: [(&str, &str); 4] = [
    ("allow_once", "Allow"),
    ("allow_always", "Allow always in this session"),
    ("reject_once", "Reject"),
    ("reject_always", "Reject always in this session"),
];

/// Whether it may be done.
pub(super) enum Verdict {
    /// It may; perhaps for good.
    Yes(Option<(Sort, Standing)>),
    /// It may not.
    No(Outcome, Option<(Sort, Standing)>),
}

impl Hands {
    /// Asks, unless the client asks by itself or a person has answered for good.
    pub(super) async fn may(&self, sort: Sort, content: Vec<Value>) -> Verdict {
        let rejected = |why: &str| Outcome::Denied { why: why.to_owned(), stop: false };
        match self.consent.of(sort) {
            _ if self.abilities.gate => return Verdict::Yes(None),
            Some(Standing::Allowed) => return Verdict::Yes(None),
            Some(Standing::Rejected) => {
                return Verdict::No(rejected("the person has rejected this sort of call for the whole session"), None);
            }
            None => {}
        }
        let options: Vec<_> =
            ANSWERS.iter().map(|(id, name)| json!({"optionId": id, "name": name, "kind": id})).collect();
        let call = json!({
            "toolCallId": self.id, "title": self.shown.title, "kind": show::kind(self.shown.kind), "status": "pending",
            "rawInput": self.shown.input, "content": content,
        });
        let asked = json!({"toolCall": call, "options": options});
        let answer = match self.peer.ask("session/request_permission", asked, &self.stop, Within::Ever).await {
            Ok(answer) => answer,
            Err(error @ PeerError::Refused { code: -32601, .. }) => {
                let why = format!("the client cannot ask a person, so nothing is changed or run: {}", error.message());
                return Verdict::No(rejected(&why), None);
            }
            Err(error) => return Verdict::No(super::refused(error), None),
        };
        match (answer["outcome"]["outcome"].as_str(), answer["outcome"]["optionId"].as_str()) {
            (Some("selected"), Some("allow_once")) => Verdict::Yes(None),
            (Some("selected"), Some("allow_always")) => Verdict::Yes(Some((sort, Standing::Allowed))),
            (Some("selected"), Some("reject_once")) => Verdict::No(rejected("the person rejected it"), None),
            (Some("selected"), Some("reject_always")) => {
                Verdict::No(rejected("the person rejected it"), Some((sort, Standing::Rejected)))
            }
            (Some("cancelled"), _) => {
                Verdict::No(Outcome::Denied { why: "the person stopped the turn".to_owned(), stop: true }, None)
            }
            // An answer that nobody offered allows nothing.
            _ => Verdict::No(rejected("the client's answer was none of those that were offered"), None),
        }
    }
}
