//! What is asked about a session by its id, each with exactly one answer. Never tells a view more than it asked for.

use switchboard_types::{LinkId, Reject, RejectCode, RequestNo, SessionRequest, Time, Told};

use super::Host;

impl Host {
    /// Somebody asks about a session.
    pub(super) fn session_asked(&mut self, _now: Time, (link, request): (LinkId, RequestNo), what: SessionRequest) {
        drop(what);
        let reject = Reject::new(RejectCode::Internal, "sessions cannot be asked about yet");
        self.tell(link, Told::Answer { request, result: Err(reject) });
    }
}
