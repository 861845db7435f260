//! Sessions that go, one or many: a few at a time, with how far it is, and once it is confirmed where a view wants that.

use std::collections::{BTreeSet, VecDeque};

use switchboard_types::{Command, Reject, RejectCode, SessionId, SessionRequest, Time};

use super::open::Kind;
use super::said::ToView;
use super::{Chat, session_of};

/// Sessions of one batch.
const MAX_BATCH: usize = 10_000;
/// Of so many on, it is told how far it is.
const PROGRESS_FROM: usize = 10;
/// How often at most, but for the end.
const PROGRESS_STEPS: usize = 20;
/// Sessions of a batch that are deleted at once.
const AT_ONCE: usize = 8;

/// What is being deleted.
#[derive(Debug, Default)]
pub(super) struct Deleting {
    /// Those that this link has asked for: nobody else needs to say that they are gone.
    own: BTreeSet<SessionId>,
    batch: Option<Batch>,
    /// What a person was asked about.
    unconfirmed: Option<Vec<String>>,
}

/// Several sessions.
#[derive(Debug)]
struct Batch {
    waiting: VecDeque<SessionId>,
    total: usize,
    gone: Vec<SessionId>,
    /// Those that could not be deleted, and why the first of them could not.
    kept: usize,
    why: Option<String>,
}

impl Batch {
    fn completed(&self) -> usize {
        self.gone.len() + self.kept
    }
}

impl Chat {
    pub(super) fn delete(&mut self, session: SessionId) -> Command {
        self.deletion(session, Kind::Delete { session })
    }

    fn deletion(&mut self, session: SessionId, kind: Kind) -> Command {
        self.deleting.own.insert(session);
        let what = SessionRequest::Delete { session };
        self.ask(kind, |request| Command::Session { request, what })
    }

    pub(super) fn deleted(&mut self, now: Time, session: SessionId) {
        self.say(&ToView::SessionDeleted { session_id: session.to_string() });
        self.gone(now, session);
    }

    fn gone(&mut self, now: Time, session: SessionId) {
        self.known.forget(session);
        self.list_changed(now);
        self.unseat(session);
    }

    pub(super) fn not_deleted(&mut self, now: Time, session: SessionId, reject: &Reject) {
        self.deleting.own.remove(&session);
        if reject.code == RejectCode::NotFound {
            // It is gone already, which is what was wanted.
            return self.deleted(now, session);
        }
        self.say_wrong_in(Some(session), reject.message.clone());
        self.list_changed(now);
    }

    /// A session is gone, whoever deleted it.
    pub(super) fn session_gone(&mut self, session: SessionId) {
        self.known.forget(session);
        if self.deleting.own.remove(&session) || !self.is_greeted {
            return;
        }
        self.say(&ToView::SessionDeleted { session_id: session.to_string() });
        self.unseat(session);
    }

    pub(super) fn delete_many(&mut self, ids: Vec<String>, confirmed: Option<bool>) -> Result<Command, Reject> {
        if ids.len() > MAX_BATCH {
            return Err(Reject::new(RejectCode::TooLarge, format!("at most {MAX_BATCH} sessions go at once")));
        }
        match confirmed {
            None if self.confirms && !ids.is_empty() => {
                self.say(&ToView::ConfirmDeletion { session_ids: ids.clone() });
                self.deleting.unconfirmed = Some(ids);
                Ok(Self::nothing())
            }
            Some(false) => Ok(self.keep_all()),
            None | Some(true) => self.begin_batch(&ids),
        }
    }

    pub(super) fn confirm_deletion(&mut self, confirmed: bool) -> Result<Command, Reject> {
        let message = "there is nothing to confirm; send `deleteMultipleSessions` first";
        let none = || Reject::new(RejectCode::Conflict, message);
        let ids = self.deleting.unconfirmed.take().ok_or_else(none)?;
        if confirmed { self.begin_batch(&ids) } else { Ok(self.keep_all()) }
    }

    fn keep_all(&mut self) -> Command {
        self.deleting.unconfirmed = None;
        self.say(&ToView::SessionsDeleted { session_ids: Vec::new() });
        self.first_page(super::lists::Purpose::Refresh)
    }

    fn begin_batch(&mut self, ids: &[String]) -> Result<Command, Reject> {
        if self.deleting.batch.is_some() {
            return Err(Reject::new(
                RejectCode::Conflict,
                "sessions are being deleted already; wait for the end of it",
            ));
        }
        self.deleting.unconfirmed = None;
        let mut seen = BTreeSet::new();
        let mut waiting = VecDeque::new();
        for id in ids {
            let session = session_of(id)?;
            if seen.insert(session) {
                waiting.push_back(session);
            }
        }
        let total = waiting.len();
        let Some(first) = waiting.pop_front() else {
            return Ok(self.keep_all());
        };
        self.deleting.batch = Some(Batch { waiting, total, gone: Vec::new(), kept: 0, why: None });
        self.say_progress(0);
        for _ in 1..AT_ONCE {
            self.next_of_batch();
        }
        Ok(self.deletion(first, Kind::DeleteOne { session: first }))
    }

    fn next_of_batch(&mut self) {
        let next = self.deleting.batch.as_mut().and_then(|batch| batch.waiting.pop_front());
        if let Some(session) = next {
            let command = self.deletion(session, Kind::DeleteOne { session });
            self.asks.push_back(command);
        }
    }

    fn say_progress(&mut self, completed: usize) {
        let Some(total) = self.deleting.batch.as_ref().map(|batch| batch.total) else { return };
        let step = |completed: usize| completed * PROGRESS_STEPS / total;
        let is_news = completed == 0 || completed == total || step(completed) != step(completed - 1);
        if total >= PROGRESS_FROM && is_news {
            self.say(&ToView::DeletionProgress { completed: completed as u64, total: total as u64 });
        }
    }

    /// One of many is gone, or is not.
    pub(super) fn one_deleted(&mut self, now: Time, session: SessionId, reject: Option<&Reject>) {
        if reject.is_some() {
            self.deleting.own.remove(&session);
        }
        let Some(batch) = &mut self.deleting.batch else { return };
        match reject.filter(|reject| reject.code != RejectCode::NotFound) {
            None => batch.gone.push(session),
            Some(reject) => {
                batch.kept += 1;
                batch.why.get_or_insert_with(|| reject.message.clone());
            }
        }
        let (completed, total) = (batch.completed(), batch.total);
        self.say_progress(completed);
        if completed < total {
            return self.next_of_batch();
        }
        let Some(batch) = self.deleting.batch.take() else { return };
        self.say(&ToView::SessionsDeleted { session_ids: batch.gone.iter().map(ToString::to_string).collect() });
        if let Some(why) = batch.why {
            self.say_wrong(format!("{} of {} sessions were not deleted: {why}", batch.kept, batch.total));
        }
        for session in batch.gone {
            self.gone(now, session);
        }
    }
}
