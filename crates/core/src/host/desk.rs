//! What is asked about a session by its id, each with exactly one answer. Never tells a view more than it asked for.

use switchboard_types::{
    FileAnswer, LinkId, Reject, RejectCode, RequestNo, Seq, SessionAnswer, SessionId, SessionRequest, Time, Told,
};

use super::Host;

impl Host {
    /// Somebody asks about a session.
    pub(super) fn session_asked(&mut self, _now: Time, (link, request): (LinkId, RequestNo), what: SessionRequest) {
        drop(what);
        let reject = Reject::new(RejectCode::Internal, "sessions cannot be asked about yet");
        self.tell(link, Told::Answer { request, result: Err(reject) });
    }

    /// The edges have looked at files.
    pub(super) fn files_done(&mut self, link: LinkId, request: RequestNo, result: Result<Box<FileAnswer>, Reject>) {
        let result = result.map(|answer| Box::new(SessionAnswer::Files(answer)));
        self.tell(link, Told::Answer { request, result });
    }

    /// The store has looked for an event by its source.
    pub(super) fn source_found(
        &mut self,
        _now: Time,
        _asker: (LinkId, RequestNo),
        _session: SessionId,
        _found: Result<Option<Seq>, String>,
    ) {
    }
}
