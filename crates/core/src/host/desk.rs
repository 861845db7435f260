//! The desk: what is asked about sessions by their ids, each with exactly one answer, durable where something changed. Never
//! tells a view more than it asked for, and nothing once its link is gone.
//!
//! | file | owns |
//! | --- | --- |
//! | `desk/opening.rs` | sessions that are created, followed and left |
//! | `desk/asking.rs` | prompts, stops, settings and orders |
//! | `desk/looking.rs` | lists, looks, files and deletions |
//! | `desk/showing.rs` | changes of files that an editor shows |
//! | `desk/wishes.rs` | what only an agent elsewhere can answer |

mod asking;
mod looking;
mod opening;
mod showing;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};

use switchboard_types::limits::{MAX_OPEN_REQUESTS, MAX_WAITING_COMMANDS};
use switchboard_types::{
    AgentRequest, Command, LinkId, Reject, RejectCode, RequestNo, SessionAnswer, SessionId, SessionRequest, Time, Told,
    WorkspaceRoot,
};

use super::Host;
use super::history::{Reopening, Why};
use crate::input::Output;
use crate::session::Writes;

pub(super) use wishes::Wished;

/// Who asked: a link, and its number for the request.
pub(super) type DeskAsker = (LinkId, RequestNo);

/// What was asked at the desk and has no answer yet.
#[derive(Debug, Default)]
pub(super) struct Desk {
    open: BTreeSet<DeskAsker>,
    /// What waits for a look at the store.
    lookups: BTreeMap<DeskAsker, SessionRequest>,
    /// Whose changes are looked at, which an editor may show.
    diffs: BTreeMap<DeskAsker, WorkspaceRoot>,
    wishes: BTreeMap<AgentRequest, Wished>,
    last_wish: u64,
}

impl Host {
    /// Somebody asks about a session.
    pub(super) fn session_asked(&mut self, now: Time, asker: DeskAsker, what: SessionRequest) {
        let (link, request) = asker;
        if !self.links.contains_key(&link) {
            return;
        }
        let of_link = (link, RequestNo(0))..=(link, RequestNo(u64::MAX));
        if self.desk.open.range(of_link).count() >= MAX_OPEN_REQUESTS {
            let message =
                format!("{MAX_OPEN_REQUESTS} requests of this link have no answer yet; wait for some of them");
            let result = Err(Reject::new(RejectCode::TooLarge, message));
            return self.tell(link, Told::Answer { request, result });
        }
        self.desk.open.insert(asker);
        match what {
            SessionRequest::Create { agent, workspace, setup, task } => {
                let result = self.create_asked(now, agent, workspace, setup, task);
                self.answer_created(asker, result);
            }
            SessionRequest::List { before, limit } => self.list_asked(asker, before, limit),
            SessionRequest::Leave { session } => self.leave_asked(asker, session),
            SessionRequest::Look { .. }
            | SessionRequest::Stop { .. }
            | SessionRequest::Delete { .. }
            | SessionRequest::Files { .. } => self.look_first(now, asker, what),
            SessionRequest::Follow { session, .. }
            | SessionRequest::Send { session, .. }
            | SessionRequest::Set { session, .. }
            | SessionRequest::Rename { session, .. }
            | SessionRequest::SetPolicy { session, .. }
            | SessionRequest::Order { session, .. } => self.open_first(now, asker, session, what),
        }
    }

    /// What needs a session that is open: one out of history gets a tab for it.
    fn open_first(&mut self, now: Time, asker: DeskAsker, id: SessionId, what: SessionRequest) {
        if id >= self.next_session || self.deleting.contains_key(&id) || self.is_bench(id) {
            return self.answer_desk(asker, Err(no_such(id)));
        }
        let Some(session) = self.sessions.get_mut(&id).filter(|session| !session.state.closed) else {
            let (link, request) = asker;
            let (tab, why) = (self.desk_tab(id), Why::Desk(request, Box::new(what)));
            return self.want_open(now, id, Reopening { link, tab, why });
        };
        let (link, request) = asker;
        match &mut session.writes {
            Writes::Open => self.at_desk(now, asker, id, what),
            Writes::Sealed => {
                session.writes = Writes::Reloading(vec![(link, Command::Session { request, what })]);
                self.outputs.push_back(Output::Reload(id));
            }
            Writes::Reloading(waiting) if waiting.len() < MAX_WAITING_COMMANDS => {
                waiting.push((link, Command::Session { request, what }));
            }
            Writes::Reloading(_) => {
                let message = "the session is being read from the disk again; try again in a moment";
                self.answer_desk(asker, Err(Reject::new(RejectCode::TooLarge, message)));
            }
        }
    }

    /// The session is open and takes events: what was asked is done.
    pub(super) fn at_desk(&mut self, now: Time, asker: DeskAsker, id: SessionId, what: SessionRequest) {
        // Its link may be gone by now.
        if !self.desk.open.contains(&asker) {
            return;
        }
        match what {
            SessionRequest::Follow { from, .. } => self.follow_asked(now, asker, id, from),
            SessionRequest::Send { name, prompt, .. } => self.send_asked(now, asker, id, (name, prompt)),
            SessionRequest::Set { category, value, .. } => self.set_asked(asker, id, &category, value),
            SessionRequest::Rename { title, .. } => self.rename_asked(now, asker, id, &title),
            SessionRequest::SetPolicy { change, .. } => self.policy_asked(now, asker, id, change),
            SessionRequest::Order { name, payload, .. } => self.order_asked(asker, id, name, payload),
            SessionRequest::Stop { .. } => self.stop_asked(now, asker, id),
            SessionRequest::Create { .. }
            | SessionRequest::List { .. }
            | SessionRequest::Look { .. }
            | SessionRequest::Leave { .. }
            | SessionRequest::Delete { .. }
            | SessionRequest::Files { .. } => {}
        }
    }

    /// The one answer to a request, now.
    pub(super) fn answer_desk(&mut self, asker: DeskAsker, result: Result<SessionAnswer, Reject>) {
        if self.desk.open.remove(&asker) {
            let (link, request) = asker;
            self.tell(link, Told::Answer { request, result: result.map(Box::new) });
        }
    }

    /// The same once everything that caused it is on the disk.
    fn answer_durable(&mut self, asker: DeskAsker, id: SessionId, answer: SessionAnswer) {
        if self.desk.open.remove(&asker) {
            let (link, request) = asker;
            let told = Told::Answer { request, result: Ok(Box::new(answer)) };
            self.when_durable(id, Output::Tell { link, told });
        }
    }

    /// A link is gone, and nobody waits for its answers.
    pub(super) fn leave_desk(&mut self, link: LinkId) {
        self.desk.open.retain(|(of, _)| *of != link);
        self.desk.lookups.retain(|(of, _), _| *of != link);
        self.desk.diffs.retain(|(of, _), _| *of != link);
        for wish in self.desk.wishes.values_mut() {
            wish.asker.take_if(|(of, _)| *of == link);
        }
    }

    /// Whether a request still waits for its answer.
    fn is_open(&self, asker: DeskAsker) -> bool {
        self.desk.open.contains(&asker)
    }

    /// The bench is nothing that is asked about by its id.
    fn is_bench(&self, id: SessionId) -> bool {
        self.sessions.get(&id).is_some_and(|session| session.agent.is_bench())
    }
}

pub(super) fn no_such(id: SessionId) -> Reject {
    Reject::new(RejectCode::NotFound, format!("there is no session {id}"))
}
