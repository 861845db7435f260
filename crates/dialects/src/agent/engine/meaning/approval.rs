//! An engine's questions to a person, in our words, and our answers, in its own. Never answers by itself.

use serde_json::{Map, Value, json};
use switchboard_types::agent::Answer;
use switchboard_types::{Approval, ApprovalId, ApprovalKind, ApprovalOption, CallId, OptionKind, Resolution, Severity};

use super::super::field::{cut, field, raw, value};

const ALLOW_ONCE: &str = "allow-once";
const ALLOW_ALWAYS: &str = "allow-always";
const DENY_ONCE: &str = "deny-once";
const DENY_ALWAYS: &str = "deny-always";
const DENY_STOP: &str = "deny-stop";
/// Every answer that an engine understands. It takes any other for a denial, so no other is ever sent.
const ANSWERS: [&str; 5] = [ALLOW_ONCE, ALLOW_ALWAYS, DENY_ONCE, DENY_ALWAYS, DENY_STOP];

/// What an answer to a question needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Question {
    /// Whether it may be allowed from now on.
    always: bool,
    /// The rule that would say so.
    rule: Option<Value>,
}

/// The question for a person; none if it has no name.
pub(super) fn asked(payload: &str) -> Option<(Approval, Question)> {
    let id = ApprovalId::new(field(payload, "request_id").filter(|id| !id.is_empty())?);
    let text = |name| field(payload, name).map(|text| cut(&text)).filter(|text| !text.is_empty());
    let kind = match text("kind").as_deref() {
        Some("command" | "shell" | "bash" | "execute") => ApprovalKind::Command,
        Some("edit" | "write" | "patch") => ApprovalKind::Edit,
        _ => ApprovalKind::Tool,
    };
    let tool = text("tool").unwrap_or_else(|| "the engine".to_owned());
    let title = text("summary").or_else(|| text("command")).unwrap_or(tool);
    let severity = match text("severity").as_deref() {
        Some("low") => Severity::Low,
        Some("high") => Severity::High,
        Some("critical") => Severity::Critical,
        _ => Severity::Medium,
    };
    let rule = raw(payload, "rule_suggestion").and_then(value);
    let always = rule.is_some() || raw(payload, "default_scope").is_some();
    let mut approval = Approval::new(id, kind, title, severity);
    (approval.command, approval.cwd) = (text("command"), text("cwd"));
    (approval.path, approval.diff) = (text("path"), text("diff"));
    approval.reason = text("reason").unwrap_or_else(|| "the engine asks before it goes on".to_owned());
    approval.call = text("call_id").map(CallId::new);
    approval.options = offered(always);
    Some((approval, Question { always, rule }))
}

fn offered(always: bool) -> Vec<ApprovalOption> {
    let option = |id: &str, name: &str, kind| ApprovalOption { id: id.to_owned(), name: name.to_owned(), kind };
    let mut options = vec![option(ALLOW_ONCE, "Allow once", OptionKind::AllowOnce)];
    if always {
        options.push(option(ALLOW_ALWAYS, "Allow from now on", OptionKind::AllowAlways));
    }
    options.push(option(DENY_ONCE, "Deny", OptionKind::RejectOnce));
    options
}

/// What goes to the engine; none if there is nothing to be said.
pub(in super::super) fn decision(id: &ApprovalId, question: &Question, answer: &Answer) -> Option<Value> {
    let by_resolution = |resolution| match resolution {
        Resolution::AllowOnce => Some(ALLOW_ONCE),
        Resolution::AllowSession | Resolution::AllowRule if question.always => Some(ALLOW_ALWAYS),
        Resolution::AllowSession | Resolution::AllowRule => Some(ALLOW_ONCE),
        Resolution::Deny => Some(DENY_ONCE),
        Resolution::DenyStop => Some(DENY_STOP),
        Resolution::Expired => None,
    };
    let word = match answer {
        Answer::Decided { resolution, option } => {
            let chosen = option.as_deref().and_then(|option| ANSWERS.into_iter().find(|known| *known == option));
            // To stop says more than the answer that goes with it.
            chosen.filter(|_| *resolution != Resolution::DenyStop).or_else(|| by_resolution(*resolution))?
        }
        Answer::Withdrawn { resolution } => by_resolution(*resolution)?,
    };
    let mut payload = Map::new();
    payload.insert("request_id".to_owned(), json!(id.as_str()));
    payload.insert("decision".to_owned(), json!(word));
    if let Some(rule) = question.rule.as_ref().filter(|_| word == ALLOW_ALWAYS) {
        payload.insert("rule".to_owned(), rule.clone());
    }
    Some(json!({ "command": "permission_decision", "payload": payload }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(question: &Question, resolution: Resolution, option: Option<&str>) -> Value {
        let answer = Answer::Decided { resolution, option: option.map(str::to_owned) };
        decision(&ApprovalId::from("p1"), question, &answer).unwrap()["payload"].clone()
    }

    #[test]
    fn every_answer_is_one_that_the_engine_understands() {
        let payload =
            r#"{"request_id":"p1","tool":"shell","kind":"shell","summary":"run it","rule_suggestion":"rm *"}"#;
        let (approval, question) = asked(payload).unwrap();
        assert_eq!((approval.kind, approval.title.as_str()), (ApprovalKind::Command, "run it"));
        assert_eq!(approval.options.len(), 3);
        for (resolution, word) in [
            (Resolution::AllowOnce, "allow-once"),
            (Resolution::AllowSession, "allow-always"),
            (Resolution::AllowRule, "allow-always"),
            (Resolution::Deny, "deny-once"),
            (Resolution::DenyStop, "deny-stop"),
        ] {
            assert_eq!(decided(&question, resolution, None)["decision"], word);
        }
        assert_eq!(decided(&question, Resolution::AllowRule, None)["rule"], "rm *");
        assert_eq!(decided(&question, Resolution::AllowOnce, Some("deny-once"))["decision"], "deny-once");
        assert_eq!(decided(&question, Resolution::AllowOnce, Some("allow_rule"))["decision"], "allow-once");
    }

    #[test]
    fn what_cannot_be_allowed_for_ever_is_allowed_once() {
        let (approval, question) = asked(r#"{"request_id":"p1","tool":"x","kind":"y"}"#).unwrap();
        assert_eq!((approval.options.len(), approval.severity), (2, Severity::Medium));
        assert_eq!(decided(&question, Resolution::AllowRule, None), json!({"request_id":"p1","decision":"allow-once"}));
        let expired = Answer::Withdrawn { resolution: Resolution::Expired };
        assert_eq!(decision(&approval.id, &question, &expired), None);
    }
}
