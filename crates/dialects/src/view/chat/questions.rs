//! Questions of one session and what became of them, until nobody can ask any more. Bounded; never answers one.

use std::collections::BTreeMap;

use switchboard_types::limits::MAX_OPEN_APPROVALS;
use switchboard_types::{
    Approval, ApprovalId, ApprovalKind, DiffHunk, DiffLine, Execution, ExecutionEnd, ExecutionId, FileDiff, Resolution,
    SessionId, Severity, Time,
};

use super::said::ToView;
use super::shape::ApprovalStatus;
use super::text::cut;

/// What was asked or done and may still be looked at or come to an end.
const MAX_KEPT: usize = 2 * MAX_OPEN_APPROVALS;
/// Bytes of one change that are kept to show it in an editor.
const MAX_DIFF_BYTES: usize = 128 * 1024;
/// Bytes of a command's output that are told.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// A question as it is shown.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) id: ApprovalId,
    /// Its name on the wire.
    pub(super) name: String,
    pub(super) kind: ApprovalKind,
    pub(super) title: String,
    command: String,
    cwd: String,
    pub(super) path: String,
    severity: Severity,
    reason: String,
    editable: bool,
    html: String,
    /// The change as text, if it is not too long.
    pub(super) diff: Option<String>,
    pub(super) is_open: bool,
}

/// A question that is decided, or something that needed none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) name: String,
    pub(super) kind: ApprovalKind,
    pub(super) title: String,
    pub(super) status: ApprovalStatus,
    pub(super) output: String,
    command: Option<String>,
    path: String,
    unasked: bool,
    exit_code: Option<i32>,
    /// Whether what was allowed is over.
    pub(super) is_over: bool,
    pub(super) at: Time,
}

/// Something that was allowed and runs.
#[derive(Debug)]
struct Doing {
    decided: Decided,
    action: String,
}

/// Those of one session.
#[derive(Debug, Default)]
pub(super) struct Questions {
    asked: Vec<Question>,
    doing: BTreeMap<ExecutionId, Doing>,
}

/// A question's name on the wire: it says which session it belongs to, since answers do not.
fn name_of(session: u64, id: &str) -> String {
    format!("{session}:{id}")
}

/// The session and the question of a name on the wire.
pub(super) fn named(name: &str) -> Option<(SessionId, ApprovalId)> {
    let (session, approval) = name.split_once(':')?;
    Some((super::read::session_id(session)?, ApprovalId::from(approval)))
}

impl Questions {
    /// Those that wait for an answer.
    pub(super) fn open(&self) -> impl Iterator<Item = &Question> {
        self.asked.iter().filter(|question| question.is_open)
    }

    pub(super) fn get(&self, id: &ApprovalId) -> Option<&Question> {
        self.asked.iter().find(|question| question.id == *id)
    }

    pub(super) fn ask(&mut self, session: u64, approval: Approval) -> Box<Question> {
        let html = match (&approval.change, &approval.diff) {
            (Some(change), _) => change.to_html(),
            (None, Some(diff)) => of_text(diff).to_html(),
            (None, None) => FileDiff::default().to_html(),
        };
        let question = Question {
            name: name_of(session, approval.id.as_str()),
            id: approval.id,
            kind: approval.kind,
            command: approval.command.unwrap_or_else(|| approval.title.clone()),
            title: approval.title,
            cwd: approval.cwd.unwrap_or_default(),
            path: approval.path.unwrap_or_default(),
            severity: approval.severity,
            reason: approval.reason,
            editable: approval.editable,
            html,
            diff: approval.diff.filter(|diff| diff.len() <= MAX_DIFF_BYTES),
            is_open: true,
        };
        self.asked.retain(|known| known.id != question.id);
        if self.asked.len() >= MAX_KEPT {
            let over = self.asked.iter().position(|known| !known.is_open).unwrap_or_default();
            self.asked.remove(over);
        }
        let shown = Box::new(question.clone());
        // What is shown is not shown again unless somebody comes back while it is open.
        self.asked.push(question);
        shown
    }

    pub(super) fn resolve(
        &mut self,
        id: &ApprovalId,
        resolution: Resolution,
        edited: Option<String>,
        at: Time,
    ) -> Option<Decided> {
        let question = self.asked.iter_mut().find(|question| question.id == *id)?;
        question.is_open = false;
        question.html = String::new();
        let (status, output) = match resolution {
            Resolution::AllowOnce | Resolution::AllowSession | Resolution::AllowRule => (ApprovalStatus::Approved, ""),
            Resolution::Deny | Resolution::DenyStop => (ApprovalStatus::Skipped, ""),
            Resolution::Expired => (ApprovalStatus::Skipped, "nobody answered in time, or its turn ended before"),
        };
        Some(Decided {
            name: question.name.clone(),
            kind: question.kind,
            title: question.title.clone(),
            status,
            output: output.to_owned(),
            command: edited.or_else(|| Some(question.command.clone())),
            path: question.path.clone(),
            unasked: false,
            exit_code: None,
            is_over: false,
            at,
        })
    }

    /// What was allowed begins; said if nobody was asked.
    pub(super) fn begin(&mut self, session: u64, execution: &Execution, at: Time) -> Option<Decided> {
        let asked = execution.approval.as_ref();
        let decided = Decided {
            name: name_of(session, asked.map_or(execution.id.as_str(), |approval| approval.as_str())),
            kind: execution.kind,
            title: execution.title.clone(),
            status: ApprovalStatus::Approved,
            output: execution.unasked.clone().unwrap_or_default(),
            command: execution.command.clone(),
            path: execution.path.clone().unwrap_or_default(),
            unasked: asked.is_none(),
            exit_code: None,
            is_over: false,
            at,
        };
        let said = asked.is_none().then(|| decided.clone());
        let action = execution.call.as_ref().map_or(execution.id.as_str(), |call| call.as_str()).to_owned();
        if self.doing.len() >= MAX_KEPT {
            self.doing.pop_first();
        }
        self.doing.insert(execution.id.clone(), Doing { decided, action });
        said
    }

    /// The action that shows an execution.
    pub(super) fn action_of(&self, execution: &ExecutionId) -> String {
        self.doing.get(execution).map_or_else(|| execution.as_str().to_owned(), |doing| doing.action.clone())
    }

    /// What was allowed is over; of a command its output is said.
    pub(super) fn end(
        &mut self,
        execution: &ExecutionId,
        end: &ExecutionEnd,
        output: Option<String>,
        at: Time,
    ) -> Option<Decided> {
        let mut decided = self.doing.remove(execution)?.decided;
        if decided.kind == ApprovalKind::Edit {
            return None;
        }
        let (exit_code, why) = match end {
            ExecutionEnd::Exited { code } => (Some(*code), None),
            ExecutionEnd::Signalled { signal } => (None, Some(format!("ended by {signal}"))),
            ExecutionEnd::Failed { message } => (None, Some(message.clone())),
            ExecutionEnd::Unknown {} => (None, Some("the host died while it ran".to_owned())),
            ExecutionEnd::Returned {} | ExecutionEnd::Written { .. } => (None, None),
        };
        let output = [output, why].into_iter().flatten().collect::<Vec<_>>().join("\n");
        (decided.output, decided.exit_code) = (cut(output, MAX_OUTPUT_BYTES), exit_code);
        (decided.is_over, decided.at) = (true, at);
        Some(decided)
    }
}

impl Question {
    pub(super) fn shape(&self, session_id: String) -> ToView {
        let (id, severity, reason) = (self.name.clone(), self.severity, self.reason.clone());
        match self.kind {
            ApprovalKind::Edit => ToView::RequestFileEditApproval {
                id,
                file_path: self.path.clone(),
                severity,
                reason,
                diff_html: self.html.clone(),
                session_id,
            },
            ApprovalKind::Command | ApprovalKind::Tool => ToView::RequestToolApproval {
                id,
                command: self.command.clone(),
                cwd: self.cwd.clone(),
                severity,
                reason,
                session_id,
                editable: self.editable,
            },
        }
    }

    /// The command as it was edited; none if it was not.
    pub(super) fn edited(&self, command: Option<String>) -> Option<String> {
        command.filter(|command| self.kind == ApprovalKind::Command && *command != self.command)
    }
}

impl Decided {
    pub(super) fn shape(&self, session_id: String) -> ToView {
        let (approval_id, status, auto_approved) = (self.name.clone(), self.status, self.unasked.then_some(true));
        match self.kind {
            ApprovalKind::Edit => ToView::FileEditApprovalResult {
                approval_id,
                status,
                auto_approved,
                file_path: self.path.clone(),
                session_id,
            },
            ApprovalKind::Command | ApprovalKind::Tool => ToView::ToolApprovalResult {
                approval_id,
                status,
                output: self.output.clone(),
                command: self.command.clone(),
                auto_approved,
                exit_code: self.exit_code,
                session_id,
            },
        }
    }
}

/// A change that is only known as text, line by line.
fn of_text(diff: &str) -> FileDiff {
    let line = |line: &str| {
        let rest = || line.chars().skip(1).collect::<String>();
        match line.chars().next() {
            Some('+') => DiffLine::Added { text: rest() },
            Some('-') => DiffLine::Removed { text: rest() },
            Some(' ') => DiffLine::Same { text: rest() },
            _ => DiffLine::Same { text: line.to_owned() },
        }
    };
    let lines = diff.lines().map(line).collect();
    FileDiff { hunks: vec![DiffHunk { old_start: 1, new_start: 1, lines }], ..FileDiff::default() }
}
