//! How a file was last changed, as the session's log tells it: what the host wrote, or what the agent says that it wrote.
//! Reads the log from its end, a stretch at a time, and keeps no more of it than one change.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use switchboard_types::limits::READ_PAGE_BYTES;
use switchboard_types::record::Peek;
use switchboard_types::{
    ApprovalId, Body, CallId, EventRef, ExecutionEnd, ExecutionId, FileAnswer, FileDiff, Reject, RejectCode,
    Resolution, Seq, ToolCall, ToolContent, ToolStatus,
};

use super::{FilePlace, SHOWN_PATH, no_session, not_stored, plain};
use crate::agents::shown::shown;
use crate::runner::diff::{self, Before};
use crate::store::{Store, Which};

/// Events that are read before it is looked at those before them.
const STRETCH: u64 = 4096;
/// How long the log is searched.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Ends whose beginnings are still to come; older ones are not waited for.
const MAX_ENDS: usize = 4096;
/// How the bodies begin that say something of a change. A body's type is always its first field.
const TELLING: &[&[u8]] = &[
    b"{\"type\":\"executionStarted\"",
    b"{\"type\":\"executionEnded\"",
    b"{\"type\":\"toolCall\"",
    b"{\"type\":\"toolCallUpdate\"",
    b"{\"type\":\"approvalAsked\"",
    b"{\"type\":\"approvalResolved\"",
];

/// The last change of a file that the log tells of.
pub(super) fn last(place: &FilePlace, asked: &str) -> Result<FileAnswer, Reject> {
    let asked = plain(asked)?;
    let store = place.store()?;
    let stored = store.sessions(Which::One(place.session)).map_err(|error| not_stored(&error))?;
    let head = stored.first().ok_or_else(no_session)?.head;
    let real = Path::new(place.root.as_str()).canonicalize().ok();
    let roots = [Some(PathBuf::from(place.root.as_str())), real].into_iter().flatten().collect();
    let path = below(asked, &[]).ok_or_else(|| Reject::new(RejectCode::BadMessage, "the path names no file"))?;
    let mut search = Search { path, roots, ends: Ends::default() };
    let (began, mut until) = (Instant::now(), head);
    while until > Seq::START {
        let after = Seq(until.0.saturating_sub(STRETCH));
        if let Some(found) = search.stretch(place, store.as_ref(), (after, until))? {
            return Ok(found.answer(&search.path));
        }
        until = after;
        if began.elapsed() > MAX_TIME && until > Seq::START {
            let message = format!("the log is too long to be searched; it was looked at back to event {until}");
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
    }
    let message = format!(
        "nothing in this session has changed `{}`; name a revision to compare with, such as HEAD",
        shown(asked, SHOWN_PATH)
    );
    Err(Reject::new(RejectCode::NotFound, message))
}

/// A change as the log has it.
enum Change {
    /// As it was shown.
    Told(String),
    /// Both texts; the first is absent if the file is new.
    Texts(Option<String>, String),
}

impl Change {
    fn answer(self, path: &str) -> FileAnswer {
        let (change, diff): (Option<FileDiff>, String) = match self {
            Self::Told(diff) => (None, diff),
            Self::Texts(old, new) => {
                let before = old.as_deref().map_or(Before::Absent, Before::Text);
                (diff::by_lines(&before, &new), diff::unified(path, &before, &new))
            }
        };
        FileAnswer::Diff { path: path.to_owned(), change, diff, opened: false }
    }
}

/// What later events have said of earlier ones.
#[derive(Default)]
struct Ends {
    written: HashSet<ExecutionId>,
    allowed: HashSet<ApprovalId>,
    failed: HashSet<CallId>,
}

struct Search {
    path: String,
    roots: Vec<PathBuf>,
    ends: Ends,
}

impl Search {
    /// The last change in a stretch of the log; what it says of earlier events is kept.
    fn stretch(
        &mut self,
        place: &FilePlace,
        store: &dyn Store,
        (after, until): (Seq, Seq),
    ) -> Result<Option<Change>, Reject> {
        let mut open = Open::default();
        let mut cursor = after;
        while cursor < until {
            let slice = store.read_after(place.session, cursor, READ_PAGE_BYTES).map_err(|error| not_stored(&error))?;
            let Some(page) = slice.page else { break };
            for event in page.events().take_while(|event| event.seq <= until) {
                self.event(&event, &mut open);
            }
            cursor = page.last();
        }
        Ok(open.found)
    }

    fn event(&mut self, event: &EventRef<'_>, open: &mut Open) {
        let Peek::Json(json) = event.peek() else { return };
        if !TELLING.iter().any(|beginning| json.starts_with(beginning)) {
            return;
        }
        // What a newer version has written says nothing to this one.
        let Ok(body) = event.body() else { return };
        match body {
            Body::ExecutionStarted { execution } => {
                let (Some(path), Some(diff)) = (execution.path, execution.diff) else { return };
                if !self.is_meant(&path) {
                    return;
                }
                if self.ends.written.remove(&execution.id) {
                    open.found = Some(Change::Told(diff));
                } else {
                    open.executions.insert(execution.id, diff);
                }
            }
            Body::ExecutionEnded { execution, end: ExecutionEnd::Written { .. }, .. } => {
                match open.executions.remove(&execution) {
                    Some(diff) => open.found = Some(Change::Told(diff)),
                    None => keep(&mut self.ends.written, execution),
                }
            }
            Body::ToolCall { call } | Body::ToolCallUpdate { call } => self.call(call, open),
            // Where the host itself would act, what it did is told apart.
            Body::ApprovalAsked { approval } if approval.digest.is_none() => {
                let (Some(path), Some(diff)) = (approval.path, approval.diff) else { return };
                if !self.is_meant(&path) {
                    return;
                }
                if self.ends.allowed.remove(&approval.id) {
                    open.found = Some(Change::Told(diff));
                } else {
                    open.approvals.insert(approval.id, diff);
                }
            }
            Body::ApprovalResolved { approval, resolution, .. } if is_yes(resolution) => {
                match open.approvals.remove(&approval) {
                    Some(diff) => open.found = Some(Change::Told(diff)),
                    None => keep(&mut self.ends.allowed, approval),
                }
            }
            _ => {}
        }
    }

    /// A call that the agent carries out by itself; what the registry's tools do is told apart.
    fn call(&mut self, call: ToolCall, open: &mut Open) {
        if call.tool.is_some() {
            return;
        }
        if call.status == ToolStatus::Failed {
            if open.by_call.as_ref() == Some(&call.id) {
                open.found = open.before_call.take();
                open.by_call = None;
            }
            return keep(&mut self.ends.failed, call.id);
        }
        if self.ends.failed.contains(&call.id) {
            return;
        }
        let changes = call.content.into_iter().flatten().filter_map(|content| match content {
            ToolContent::Diff { path, old, new } if self.is_meant(&path) => Some(Change::Texts(old, new)),
            _ => None,
        });
        let Some(change) = changes.last() else { return };
        let before = open.found.replace(change);
        if open.by_call.as_ref() != Some(&call.id) {
            open.before_call = before;
            open.by_call = Some(call.id);
        }
    }

    fn is_meant(&self, path: &str) -> bool {
        below(path, &self.roots).is_some_and(|path| path == self.path)
    }
}

/// What is known of a stretch so far.
#[derive(Default)]
struct Open {
    /// Those of the file whose end has not come.
    executions: HashMap<ExecutionId, String>,
    approvals: HashMap<ApprovalId, String>,
    found: Option<Change>,
    /// The call that `found` comes from, and what was found before it, in case the call fails.
    by_call: Option<CallId>,
    before_call: Option<Change>,
}

fn keep<T: Eq + std::hash::Hash>(ends: &mut HashSet<T>, end: T) {
    if ends.len() < MAX_ENDS {
        ends.insert(end);
    }
}

fn is_yes(resolution: Resolution) -> bool {
    match resolution {
        Resolution::AllowOnce | Resolution::AllowSession | Resolution::AllowRule => true,
        Resolution::Deny | Resolution::DenyStop | Resolution::Expired => false,
    }
}

/// A path from the workspace, as the log shows it; none if it lies elsewhere or names no file.
fn below(path: &str, roots: &[PathBuf]) -> Option<String> {
    let path = Path::new(path);
    let path = if path.is_absolute() { roots.iter().find_map(|root| path.strip_prefix(root).ok())? } else { path };
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| shown(&parts.join("/"), usize::MAX))
}
