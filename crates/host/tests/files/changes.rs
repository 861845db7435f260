//! How a file was last changed, as the log tells it.

use switchboard_types::{
    Approval, ApprovalKind, Body, DiffHunk, DiffLine, Execution, ExecutionEnd, FileAnswer, FileDiff, RejectCode,
    Resolution, Severity, ToolCall, ToolContent, ToolStatus,
};

use crate::stage::{Stage, code};

fn started(id: &str, path: &str, diff: &str) -> Body {
    let execution = Execution {
        id: id.into(),
        approval: None,
        kind: ApprovalKind::Edit,
        title: String::new(),
        command: None,
        cwd: None,
        path: Some(path.to_owned()),
        diff: Some(diff.to_owned()),
        digest: String::new(),
        unasked: None,
        containment: None,
        call: None,
    };
    Body::ExecutionStarted { execution: Box::new(execution) }
}

fn ended(id: &str, end: ExecutionEnd) -> Body {
    Body::ExecutionEnded { execution: id.into(), title: String::new(), end, output: None }
}

fn written(id: &str) -> Body {
    ended(id, ExecutionEnd::Written { bytes: 1 })
}

fn call(id: &str, path: &str, status: ToolStatus, old: Option<&str>, new: &str) -> Body {
    let content = ToolContent::Diff { path: path.to_owned(), old: old.map(str::to_owned), new: new.to_owned() };
    Body::ToolCall { call: ToolCall { content: Some(vec![content]), ..ToolCall::new(id.into(), "edit", status) } }
}

fn told(path: &str, diff: &str) -> FileAnswer {
    FileAnswer::Diff { path: path.to_owned(), change: None, diff: diff.to_owned(), opened: false }
}

#[test]
fn what_the_host_wrote_last_is_the_change() {
    let mut stage = Stage::new();
    stage.log(&[
        started("e1", "a.txt", "first"),
        written("e1"),
        started("e2", "a.txt", "second"),
        written("e2"),
        started("e3", "b.txt", "other"),
        written("e3"),
        started("e4", "a.txt", "failed"),
        ended("e4", ExecutionEnd::Failed { message: String::new() }),
        started("e5", "a.txt", "unknown"),
        ended("e5", ExecutionEnd::Unknown {}),
        started("e6", "a.txt", "still under way"),
    ]);
    assert_eq!(stage.diff("a.txt", None, None), Ok(told("a.txt", "second")));
    assert_eq!(stage.diff("./b.txt", None, None), Ok(told("b.txt", "other")));
    assert_eq!(code(stage.diff("c.txt", None, None)), RejectCode::NotFound);
}

#[test]
fn a_long_log_is_searched_from_its_end() {
    let mut stage = Stage::new();
    stage.log(&[started("e1", "a.txt", "first"), written("e1"), started("e2", "late.txt", "crosses")]);
    let words: Vec<Body> = (0..5000).map(|_| Body::Text { text: "word".into() }).collect();
    stage.log(&words);
    stage.log(&[written("e2")]);
    stage.log(&words);
    assert_eq!(stage.diff("late.txt", None, None), Ok(told("late.txt", "crosses")));
    assert_eq!(stage.diff("a.txt", None, None), Ok(told("a.txt", "first")));
    assert_eq!(code(stage.diff("none.txt", None, None)), RejectCode::NotFound);
}

#[test]
fn what_an_agent_says_that_it_changed_is_shown_line_by_line() {
    let mut stage = Stage::new();
    let absolute = stage.path("src/a.rs").to_str().unwrap().to_owned();
    stage.log(&[started("e1", "src/a.rs", "before it"), written("e1")]);
    stage.log(&[call("c1", &absolute, ToolStatus::Completed, Some("one\n"), "two\n")]);
    stage.log(&[call("c2", "/elsewhere/src/a.rs", ToolStatus::Completed, None, "not ours\n")]);
    let lines = vec![DiffLine::Removed { text: "one".into() }, DiffLine::Added { text: "two".into() }];
    let change =
        FileDiff { hunks: vec![DiffHunk { old_start: 1, new_start: 1, lines }], added: 1, removed: 1, left_out: 0 };
    let diff = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-one\n+two\n".to_owned();
    let wanted = FileAnswer::Diff { path: "src/a.rs".to_owned(), change: Some(change), diff, opened: false };
    assert_eq!(stage.diff("src/a.rs", None, None), Ok(wanted));
}

#[test]
fn a_call_that_failed_has_changed_nothing() {
    let mut stage = Stage::new();
    let failed = |id: &str| Body::ToolCallUpdate { call: ToolCall::new(id.into(), "edit", ToolStatus::Failed) };
    stage.log(&[
        call("c1", "a", ToolStatus::Completed, None, "good\n"),
        call("c2", "a", ToolStatus::Pending, None, "bad\n"),
        call("c2", "a", ToolStatus::Running, None, "worse\n"),
        failed("c2"),
    ]);
    assert_eq!(stage.diff_text("a", None, None), "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+good\n");
    // Also where the end is far away from the beginning.
    stage.log(&[call("c3", "a", ToolStatus::Pending, None, "far\n")]);
    stage.log(&(0..5000).map(|_| Body::Text { text: "word".into() }).collect::<Vec<_>>());
    stage.log(&[failed("c3")]);
    assert_eq!(stage.diff_text("a", None, None), "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+good\n");
}

#[test]
fn what_an_agent_elsewhere_was_allowed_is_told_as_it_said_it() {
    let mut stage = Stage::new();
    let asked = |id: &str, diff: &str| {
        let approval = Approval::new(id.into(), ApprovalKind::Edit, "edit", Severity::Medium);
        Body::ApprovalAsked { approval: Approval { path: Some("a".into()), diff: Some(diff.into()), ..approval } }
    };
    let resolved = |id: &str, resolution: Resolution| Body::ApprovalResolved {
        approval: id.into(),
        resolution,
        option: None,
        command: None,
        rule: None,
    };
    stage.log(&[
        asked("p1", "allowed"),
        resolved("p1", Resolution::AllowOnce),
        asked("p2", "denied"),
        resolved("p2", Resolution::Deny),
        asked("p3", "open"),
    ]);
    assert_eq!(stage.diff("a", None, None), Ok(told("a", "allowed")));
}
