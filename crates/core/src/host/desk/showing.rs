//! How a file has changed, shown in an editor: a view may lend a tool for that. Never keeps the answer back for long, and never
//! shows anything without a record of the call.

use serde_json::json;
use switchboard_types::{
    BatchMode, ErrandCode, ErrandFailure, FileAnswer, LinkId, Provider, Reject, RequestNo, SessionAnswer, Time,
    ToolName, ToolRequest, WorkspaceRoot,
};

use super::super::Host;
use super::DeskAsker;
use crate::open::{Batch, BatchNo, Caller};
use crate::timers::Alarm;

/// What an editor calls the tool that shows a change.
const TOOL: &str = "editor_open_diff";
/// How long an editor may take, in milliseconds, consent included.
const PATIENCE_MS: u64 = 5_000;

impl Host {
    /// The edges have looked at files.
    pub(in super::super) fn files_done(
        &mut self,
        now: Time,
        (link, request): (LinkId, RequestNo),
        result: Result<Box<FileAnswer>, Reject>,
    ) {
        let asker = (link, request);
        let root = self.desk.diffs.remove(&asker);
        match (result, root) {
            (Ok(answer), Some(root)) if self.is_open(asker) => self.show_diff(now, asker, root, answer),
            (result, _) => self.answer_desk(asker, result.map(SessionAnswer::Files)),
        }
    }

    /// Has a change shown, if a view lends what it takes, and answers once it is.
    fn show_diff(&mut self, now: Time, asker: DeskAsker, root: WorkspaceRoot, answer: Box<FileAnswer>) {
        let tool = ToolName::from(TOOL);
        let lent = self.registry.get(&tool).is_some_and(|tool| matches!(tool.provider, Provider::View(_)));
        let FileAnswer::Diff { path, diff, .. } = &*answer else {
            return self.answer_desk(asker, Ok(SessionAnswer::Files(answer)));
        };
        let (link, request) = asker;
        if !lent || !self.has_room_for_calls(link, 1) {
            return self.answer_desk(asker, Ok(SessionAnswer::Files(answer)));
        }
        let parameters = json!({ "path": path, "diff": diff });
        let (workspace, timeout_ms) = (Some(root), Some(PATIENCE_MS));
        let wanted = ToolRequest { call: None, tool, parameters, session: None, workspace, timeout_ms };
        let batch = Batch { shows: Some(answer), ..Batch::new(link, request, BatchMode::Parallel) };
        let no = self.begin_batch(now, batch, vec![wanted]);
        self.timers.set(now.after_ms(PATIENCE_MS), Alarm::Showing(no));
    }

    /// The editor may have taken too long: the answer is given without it.
    pub(in super::super) fn showing_alarm(&mut self, now: Time, no: BatchNo) {
        let Some(mut batch) = self.calls.batches.remove(&no) else { return };
        self.calls.names.retain(|_, (of, _)| *of != no);
        let late = ErrandFailure::new(ErrandCode::TimedOut, "the editor took too long to show it");
        self.stop_calls(now, &late, |call| matches!(call.caller, Caller::View(of, _) if of == no));
        if let Some(answer) = batch.shows.take() {
            self.shown((batch.link, batch.request), answer, false);
        }
    }

    /// The answer to whoever wanted to see the change.
    pub(in super::super) fn shown(&mut self, asker: DeskAsker, mut answer: Box<FileAnswer>, success: bool) {
        if let FileAnswer::Diff { opened, .. } = &mut *answer {
            *opened = success;
        }
        self.answer_desk(asker, Ok(SessionAnswer::Files(answer)));
    }
}
