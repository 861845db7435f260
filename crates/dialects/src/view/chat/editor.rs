//! What only an editor can do: say what is selected in it, and show a change. Asked of whatever view lends the tools for it.

use serde_json::{Value, json};
use switchboard_types::desk::{FileAnswer, FileRequest};
use switchboard_types::{
    ApprovalKind, BatchMode, Command, Reject, RejectCode, RequestNo, SessionId, SessionRequest, ToolCode, ToolFailure,
    ToolName, ToolOutcome, ToolRequest,
};

use super::Chat;
use super::asked::ContextShape;
use super::open::Kind;
use super::said::ToView;

/// Gives what is open and selected: `{path, selection?, content?, line?}`.
const CONTEXT_TOOL: &str = "editor_context";
/// Shows a change: `{path, diff}`.
const DIFF_TOOL: &str = "editor_open_diff";
/// How long an editor may take, in milliseconds.
const PATIENCE_MS: u64 = 5_000;
/// Characters of an editor's text that go with a prompt.
const MAX_CONTEXT_CHARS: usize = 8_000;
/// The same word for a missing editor everywhere.
const NO_EDITOR: &str = "no editor is joined: a view that lends the tool";

impl Chat {
    pub(super) fn add_context(&mut self) -> Result<Command, Reject> {
        self.must_have_current()?;
        Ok(self.call(Kind::Context, CONTEXT_TOOL, json!({})))
    }

    /// At the bench, since it is no part of the conversation.
    fn call(&mut self, kind: Kind, tool: &str, parameters: Value) -> Command {
        let call = ToolRequest {
            call: None,
            tool: ToolName::from(tool),
            parameters,
            session: None,
            workspace: None,
            timeout_ms: Some(PATIENCE_MS),
        };
        self.ask(kind, |request| Command::CallTools { request, calls: vec![call], mode: BatchMode::Parallel })
    }

    /// Shows what a question is about: as it would be while it is open, and what the session has changed afterwards.
    pub(super) fn open_diff(&mut self, name: &str) -> Result<Command, Reject> {
        let (session, approval) = self.question_of(name)?;
        let seat = self.seat.as_ref().filter(|seat| seat.session == session);
        let question = seat.and_then(|seat| seat.fold.questions.get(&approval));
        let Some(question) = question.filter(|question| question.kind == ApprovalKind::Edit) else {
            let message = "no question about a file has this id in the current session";
            return Err(Reject::new(RejectCode::NotFound, message));
        };
        let path = question.path.clone();
        if !question.is_open {
            let what = FileRequest::Diff { path, before: None, after: None };
            let what = SessionRequest::Files { session, what };
            return Ok(self.ask(Kind::Show { session }, |request| Command::Session { request, what }));
        }
        let Some(diff) = question.diff.clone() else {
            return Err(Reject::new(RejectCode::TooLarge, "this change is too long to be shown in an editor"));
        };
        Ok(self.call(Kind::Show { session }, DIFF_TOOL, json!({ "path": path, "diff": diff })))
    }

    /// A change was looked for in the log; an editor may have shown it.
    pub(super) fn shown(&mut self, session: SessionId, answer: &FileAnswer) {
        if !matches!(answer, FileAnswer::Diff { opened: true, .. }) {
            self.say_wrong_in(Some(session), format!("{NO_EDITOR} `{DIFF_TOOL}` would show the change"));
        }
    }

    /// The editor has answered.
    pub(super) fn called(&mut self, request: RequestNo, outcomes: Result<&[ToolOutcome], &ToolFailure>) {
        let Some(kind) = self.requests.close(request) else { return };
        let result = match outcomes {
            Ok([outcome, ..]) => outcome.result.as_ref(),
            Ok([]) => return,
            Err(failure) => Err(failure),
        };
        let (session, tool) = match &kind {
            Kind::Show { session } => (Some(*session), DIFF_TOOL),
            _ => (self.current(), CONTEXT_TOOL),
        };
        match (result, kind) {
            (Ok(value), Kind::Context) => match context_of(value) {
                Some(context) => self.say(&ToView::AddContextItem { context }),
                None => self.say_wrong("nothing is open in the editor"),
            },
            (Ok(_), _) => {}
            (Err(failure), _) if failure.code == ToolCode::ToolNotFound => {
                self.say_wrong_in(session, format!("{NO_EDITOR} `{tool}` is needed"));
            }
            (Err(failure), _) => self.say_wrong_in(session, failure.message.clone()),
        }
    }
}

/// What an editor shows: what is selected, else all of it.
fn context_of(value: &Value) -> Option<ContextShape> {
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| value.get(name).and_then(Value::as_str));
        found.filter(|found| !found.is_empty()).map(str::to_owned)
    };
    let path = text(&["path", "fileName", "activeEditorPath"])?;
    let content = text(&["selection"]).or_else(|| text(&["content", "activeEditorContent"]))?;
    let line = value.get("line").and_then(Value::as_u64).map(|line| format!(":{line}")).unwrap_or_default();
    let content = content.chars().take(MAX_CONTEXT_CHARS).collect();
    Some(ContextShape { file_name: format!("{path}{line}"), content })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_selected_goes_before_the_whole_file_and_is_bounded() {
        let item = |value: Value| context_of(&value).map(|item| (item.file_name, item.content));
        let both = json!({"path": "src/a.rs", "selection": "fn a", "content": "all", "line": 7});
        assert_eq!(item(both), Some(("src/a.rs:7".to_owned(), "fn a".to_owned())));
        assert_eq!(
            item(json!({"path": "a", "selection": "", "content": "all"})),
            Some(("a".to_owned(), "all".to_owned()))
        );
        assert_eq!(item(json!({"path": "a", "content": "é".repeat(9_000)})).unwrap().1.chars().count(), 8_000);
        for empty in [json!(null), json!({}), json!({"path": "a"}), json!({"content": "x"}), json!("text")] {
            assert_eq!(item(empty), None);
        }
    }
}
