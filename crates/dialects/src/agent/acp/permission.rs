//! An agent's questions to a person: what it wants to do, in our words, and our answer, in its own. Never answers by itself.

use agent_client_protocol_schema::v1::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use serde_json::Value;
use switchboard_types::agent::Answer;
use switchboard_types::{
    Approval, ApprovalId, ApprovalKind, ApprovalOption, OptionKind, Resolution, Severity, ToolCall, ToolContent,
};

use super::sign_in::shell_word;
use super::small::{MAX_LINE_CHARS, cut, fields, first_items, line, name};
use super::{content, diff};

/// Answers that one question may offer.
const MAX_ANSWERS: usize = 64;
/// Characters of a command that a person is shown.
const MAX_COMMAND_CHARS: usize = 16 * 1024;

/// What a call's input says of what would happen. Kept, since a question may leave it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hint {
    command: Option<String>,
    cwd: Option<String>,
    path: Option<String>,
}

impl Hint {
    pub(super) fn learn(&mut self, input: Option<&Value>) {
        let Some(input) = input else { return };
        self.command = command(input).or(self.command.take());
        self.cwd = text(input, &["cwd", "workdir", "directory"]).or(self.cwd.take());
        self.path = text(input, &["path", "file_path", "filePath"]).or(self.path.take());
    }
}

/// What is known of the call that a question is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) call: Option<&'a ToolCall>,
    pub(super) kind: Option<&'a str>,
    pub(super) hint: Option<&'a Hint>,
}

/// The question for a person.
pub(super) fn question(id: ApprovalId, about: About<'_>, title: String, answers_raw: &str) -> Approval {
    let About { call, kind, hint } = about;
    let contents = call.and_then(|call| call.content.as_deref()).unwrap_or_default();
    let command = hint.and_then(|hint| hint.command.clone());
    let sort = sort(kind, contents, command.as_deref());
    let mut approval = Approval::new(id, sort, title, severity(kind, sort));
    approval.diff = diff::unified(contents).or_else(|| written(call).filter(|_| sort == ApprovalKind::Edit));
    approval.path = path(contents, call, hint).filter(|_| sort != ApprovalKind::Command);
    approval.cwd = hint.and_then(|hint| hint.cwd.clone());
    approval.command = command;
    approval.reason = match content::first_text(contents) {
        Some(text) => format!("the agent asks before it goes on: {text}"),
        None => "the agent asks before it goes on".to_owned(),
    };
    approval.call = call.map(|call| call.id.clone());
    approval.options = answers(answers_raw);
    approval
}

/// The call that a question is about, as the JSON text that it was, and the answers that it offers.
pub(super) fn parts(params: &str) -> Option<(Option<&str>, &str)> {
    let found = fields(params, &["toolCall", "options"])?;
    Some((found.raw("toolCall"), found.raw("options").unwrap_or("[]")))
}

/// The answers that the agent offers; kinds may repeat, and one of an unknown kind is offered all the same.
fn answers(raw: &str) -> Vec<ApprovalOption> {
    let offered = |item: &str| {
        let found = fields(item, &["optionId", "name", "kind"])?;
        let id = name(&found, "optionId")?;
        let kind = match line(&found, "kind").as_deref() {
            Some("allow_once") => OptionKind::AllowOnce,
            Some("allow_always") => OptionKind::AllowAlways,
            Some("reject_once") => OptionKind::RejectOnce,
            Some("reject_always") => OptionKind::RejectAlways,
            _ => OptionKind::Other,
        };
        Some(ApprovalOption { name: line(&found, "name").unwrap_or_else(|| id.clone()), id, kind })
    };
    first_items(raw, MAX_ANSWERS).unwrap_or_default().into_iter().filter_map(offered).collect()
}

/// What goes back to the agent, and whether that is what was decided.
pub(super) struct Outcome {
    pub(super) response: RequestPermissionResponse,
    pub(super) meant: Meant,
}

/// Whether the agent's own answers could say what was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    Said,
    /// It was allowed, but the agent offers no answer that allows it.
    NoSuchAnswer,
}

/// The answer in the agent's own words.
pub(super) fn outcome(answer: &Answer, offered: &[ApprovalOption]) -> Outcome {
    let (resolution, wished) = match answer {
        Answer::Decided { resolution, option } => (*resolution, option.as_deref()),
        Answer::Withdrawn { .. } => return cancelled(Meant::Said),
    };
    let by_name = wished.and_then(|wished| offered.iter().find(|option| option.id == wished));
    let first = |kinds: &[OptionKind]| kinds.iter().find_map(|kind| offered.iter().find(|option| option.kind == *kind));
    use OptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let (chosen, meant) = match resolution {
        Resolution::AllowOnce => (first(&[AllowOnce]), Meant::NoSuchAnswer),
        Resolution::AllowSession | Resolution::AllowRule => (first(&[AllowAlways, AllowOnce]), Meant::NoSuchAnswer),
        Resolution::Deny | Resolution::DenyStop => (first(&[RejectOnce, RejectAlways]), Meant::Said),
        Resolution::Expired => (None, Meant::Said),
    };
    match by_name.or(chosen) {
        Some(option) => {
            let selected = SelectedPermissionOutcome::new(option.id.clone());
            let response = RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected));
            Outcome { response, meant: Meant::Said }
        }
        None => cancelled(meant),
    }
}

fn cancelled(meant: Meant) -> Outcome {
    Outcome { response: RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled), meant }
}

fn sort(kind: Option<&str>, contents: &[ToolContent], command: Option<&str>) -> ApprovalKind {
    let changes = contents.iter().any(|content| matches!(content, ToolContent::Diff { .. }));
    match kind {
        Some("execute") => ApprovalKind::Command,
        Some("edit" | "delete" | "move") => ApprovalKind::Edit,
        _ if changes => ApprovalKind::Edit,
        _ if command.is_some() => ApprovalKind::Command,
        _ => ApprovalKind::Tool,
    }
}

fn severity(kind: Option<&str>, sort: ApprovalKind) -> Severity {
    match kind {
        Some("read" | "search" | "think" | "fetch") if sort == ApprovalKind::Tool => Severity::Low,
        Some("delete" | "move") => Severity::High,
        _ => Severity::Medium,
    }
}

/// The command that would run: a line, or words that are joined as a shell takes them.
fn command(input: &Value) -> Option<String> {
    let given = ["command", "cmd"].iter().find_map(|name| input.get(*name))?;
    let text = match given {
        Value::String(line) => line.clone(),
        Value::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(|word| word.as_str().map(shell_word)).collect();
            words?.join(" ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then(|| cut(text, MAX_COMMAND_CHARS))
}

/// The change as the call's own input has it, for an agent that shows it nowhere else in its question.
fn written(call: Option<&ToolCall>) -> Option<String> {
    let input = call?.input.as_ref()?;
    let found = ["diff", "patch", "unified_diff"].iter().find_map(|name| input.get(*name)?.as_str())?;
    let found = found.trim_start_matches('\n');
    (!found.is_empty()).then(|| cut(found, diff::MAX_DIFF_CHARS))
}

fn path(contents: &[ToolContent], call: Option<&ToolCall>, hint: Option<&Hint>) -> Option<String> {
    let changed = contents.iter().find_map(|content| match content {
        ToolContent::Diff { path, .. } => Some(path.clone()),
        ToolContent::Text { .. }
        | ToolContent::Terminal { .. }
        | ToolContent::Image { .. }
        | ToolContent::Link { .. }
        | ToolContent::Other { .. } => None,
    });
    let place = || call?.locations.as_ref()?.first().map(|place| place.path.clone());
    let path = changed.or_else(place).or_else(|| hint?.path.clone());
    path.map(|path| cut(path, MAX_LINE_CHARS))
}

fn text(input: &Value, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|name| input.get(*name)?.as_str())?;
    Some(cut(found, MAX_LINE_CHARS))
}

/// A request of the agent for a person's consent that is not answered yet.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) debt: crate::jsonrpc::Debt,
    pub(super) offered: Vec<ApprovalOption>,
}
