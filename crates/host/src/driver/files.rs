//! Files of sessions, looked at off the host's task, few at a time. Decides nothing about them.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use switchboard_core::Input;
use switchboard_types::{FileRequest, LinkId, Reject, RejectCode, RequestNo, SessionId, Trust, WorkspaceRoot};

use super::{Driver, StoreAnswer};
use crate::files::{self, FilePlace};
use crate::server::Artifacts;

/// Looks under way at once; the others wait.
const MAX_LOOKS_IN_FLIGHT: usize = 4;
/// Looks that wait; one more is refused.
const MAX_LOOKS: usize = 256;

/// Something that somebody wants to know about files.
pub(super) struct Look {
    pub(super) link: LinkId,
    pub(super) request: RequestNo,
    pub(super) session: SessionId,
    pub(super) root: WorkspaceRoot,
    pub(super) trust: Trust,
    pub(super) what: FileRequest,
}

/// What waits and what is under way.
pub(super) struct Looks {
    waiting: VecDeque<Look>,
    in_flight: usize,
    data: PathBuf,
    artifacts: Arc<Artifacts>,
}

impl Looks {
    pub(super) fn new(data: PathBuf, artifacts: Arc<Artifacts>) -> Self {
        Self { waiting: VecDeque::new(), in_flight: 0, data, artifacts }
    }

    pub(super) fn one_done(&mut self) {
        self.in_flight -= 1;
    }
}

impl Driver {
    /// What was uploaded for a session goes when the session has gone.
    pub(super) fn forget_attachments(&self, session: SessionId) {
        let attachments = self.attachments.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = attachments.forget(session) {
                tracing::warn!(%session, %error, "attachments of a deleted session could not be removed yet");
            }
        });
    }

    pub(super) fn want_files(&mut self, look: Look) {
        if self.files.waiting.len() < MAX_LOOKS {
            return self.files.waiting.push_back(look);
        }
        let (link, request) = (look.link, look.request);
        let result = Err(Reject::new(RejectCode::Conflict, "too many files are asked for at once; try again"));
        self.host.handle(self.clock.now(), Input::FilesDone { link, request, result });
    }

    pub(super) fn start_looks(&mut self) {
        while self.files.in_flight < MAX_LOOKS_IN_FLIGHT {
            let Some(Look { link, request, session, root, trust, what }) = self.files.waiting.pop_front() else {
                return;
            };
            self.files.in_flight += 1;
            let store = Arc::downgrade(&self.store);
            let place = FilePlace { session, root, trust, data: self.files.data.clone(), store };
            let (artifacts, answer_to) = (Arc::clone(&self.files.artifacts), self.answer_to.clone());
            tokio::task::spawn_blocking(move || {
                let link_to = |place: &FilePlace, path: &str| artifacts.link(place, path, Instant::now());
                let result = files::answer(&place, &what, link_to).map(Box::new);
                // The driver is gone only when the host has stopped.
                let done = Box::new(Input::FilesDone { link, request, result });
                let _ = answer_to.blocking_send(StoreAnswer::Files(done));
            });
        }
    }
}
