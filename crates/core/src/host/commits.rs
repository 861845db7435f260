//! Durable before visible: events go to the disk in commits, and nothing that depends on them leaves before the store has
//! answered. Never shows an event by itself; delivery does.

use std::sync::Arc;

use switchboard_types::{
    Ask, Change, Command, Commit, CommitDone, ErrandOrder, LifeId, LinkId, Page, Reject, RejectCode, RuleId, SessionId,
    Ticket, Time, Told, ToolCode, ToolFailure,
};

use super::Host;
use super::rules::RuleAsker;
use crate::input::{Output, RequestId, Workspace};
use crate::open::ErrandStage;
use crate::session::{AgentPlace, Writes};

/// A commit that the store has not answered yet.
#[derive(Debug)]
pub(super) struct Pending {
    ticket: Ticket,
    sessions: Vec<SessionId>,
    bytes: usize,
    pub(super) trusting: Vec<(RequestId, Workspace)>,
    deleting: Vec<SessionId>,
    unruling: Vec<(RuleAsker, RuleId)>,
}

impl Host {
    /// Everything that waits for the disk, as one commit.
    pub(super) fn next_commit(&mut self) -> Option<Commit> {
        if self.dirty.is_empty() && self.changes.is_empty() {
            return None;
        }
        let ticket = Ticket(self.last_ticket.0 + 1);
        let mut entries = Vec::with_capacity(self.dirty.len());
        for session in std::mem::take(&mut self.dirty) {
            entries.extend(self.sessions.get_mut(&session).and_then(|session| session.take_entry(ticket)));
        }
        let changes = std::mem::take(&mut self.changes);
        if entries.is_empty() && changes.is_empty() {
            return None;
        }
        self.last_ticket = ticket;
        self.counters.commits += 1;
        self.commits.push_back(Pending {
            ticket,
            sessions: entries.iter().map(|entry| entry.session).collect(),
            bytes: entries.iter().map(|entry| entry.page.bytes()).sum(),
            trusting: std::mem::take(&mut self.trusting),
            deleting: changes.iter().filter_map(deleted).collect(),
            unruling: std::mem::take(&mut self.unruling),
        });
        Some(Commit { ticket, entries, changes })
    }

    /// The store has answered: what is on the disk is shown, what is not closes its session to writes.
    pub(super) fn committed(&mut self, now: Time, done: CommitDone) {
        while let Some(pending) = self.commits.pop_front_if(|pending| pending.ticket <= done.ticket) {
            self.uncommitted -= pending.bytes;
            for session in &pending.sessions {
                match done.failed.iter().find(|(failed, _)| failed == session) {
                    Some((_, reason)) => self.commit_failed(now, *session, pending.ticket, reason),
                    None => self.commit_succeeded(now, *session, pending.ticket),
                }
            }
            self.trust_settled(now, &pending.trusting, done.changes_failed.as_deref());
            for session in pending.deleting {
                self.delete_settled(session, done.changes_failed.as_deref());
            }
            self.rules_settled(pending.unruling, done.changes_failed.as_deref());
        }
    }

    fn commit_succeeded(&mut self, now: Time, id: SessionId, ticket: Ticket) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some((page, listed_anew, rules)) = session.is_durable(ticket) else { return };
        if listed_anew {
            self.touched.insert(id);
        }
        self.rules_hold(rules);
        self.deliver(id, &page);
        self.release(now, id);
        self.pump(now, id);
        self.delete_if_over(id);
        self.forget_if_over(id);
    }

    /// Lets go what waited for events that are on the disk now.
    fn release(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        while let Some((_, output)) = session.gated.pop_front_if(|(seq, _)| *seq <= session.durable) {
            // A question that was answered before anybody could see it is not shown any more.
            let is_over = match &output {
                Output::Tell { told: Told::ApprovalOpen { approval, .. }, .. } => {
                    session.state.approval(&approval.id).is_none()
                }
                _ => false,
            };
            if !is_over {
                self.outputs.push_back(output);
            }
        }
        while let Some(session) = self.sessions.get_mut(&id) {
            let durable = session.durable;
            let Some((_, place, outcome)) = session.outcomes.pop_front_if(|(seq, _, _)| *seq <= durable) else {
                return;
            };
            self.outcome_ready(now, place, outcome);
        }
    }

    /// An ask leaves when everything that caused it is on the disk.
    pub(super) fn ask(&mut self, id: SessionId, life: LifeId, ask: Ask) {
        self.when_durable(id, Output::Ask { life, ask });
    }

    /// Something leaves when everything that caused it is on the disk.
    pub(super) fn when_durable(&mut self, id: SessionId, output: Output) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.head > session.durable {
            session.gated.push_back((session.head, output));
        } else {
            self.outputs.push_back(output);
        }
    }

    /// The session's events are not on the disk: it is closed to writes, and everybody who looks at it is told.
    fn commit_failed(&mut self, now: Time, id: SessionId, ticket: Ticket, reason: &str) {
        self.counters.failed_entries += 1;
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !session.pending.iter().any(|pending| pending.ticket == ticket) {
            return;
        }
        session.pending.clear();
        // What closes the agent session is wanted now more than before; nothing else may leave.
        let gated = session.gated.drain(..).map(|(_, output)| output);
        let closing: Vec<_> = gated.filter_map(|output| still_wanted(output, reason)).collect();
        let at_work = !session.errands.is_empty() || session.state.executions().next().is_some();
        let errands = std::mem::take(&mut session.errands);
        session.askers.clear();
        session.cancel_by = None;
        session.writes = Writes::Sealed;
        // What was to go with the next commit never will.
        self.uncommitted -= session.discard();
        let place = std::mem::replace(&mut session.place, AgentPlace::None);
        let (tab, never_durable) = (session.tab.clone(), session.durable.0 == 0);
        self.dirty.remove(&id);
        // Nothing that the agent says now could be kept, so it is told to stop; this needs no event of its own.
        if let AgentPlace::Open { life } | AgentPlace::Opening { life, .. } = place {
            self.outputs.push_back(Output::Ask { life, ask: Ask::CloseSession { session: id } });
        }
        if at_work {
            // Nothing that it started could be recorded to its end.
            self.outputs.push_back(Output::Errand(ErrandOrder::EndAll { session: id }));
        }
        for (errand, open) in errands {
            self.errands.remove(&errand);
            let serves = matches!(open.stage, ErrandStage::Serving);
            let order = if serves { ErrandOrder::Stop { errand } } else { ErrandOrder::Drop { errand } };
            self.outputs.push_back(Output::Errand(order));
        }
        self.touch(id);
        self.refuse_seats(id, RejectCode::Internal, &sealed_message(reason));
        self.delete_settled(id, Some(reason));
        self.outputs.extend(closing);
        self.fail_wishes(reason, |wish| wish.session == id);
        self.lose_calls(now, id, reason);
        let taken = self.tabs.get(&tab).is_some_and(|other| *other != id);
        if never_durable {
            if !taken {
                self.tabs.remove(&tab);
            }
            self.drop_seats(id);
            self.sessions.remove(&id);
        } else if taken {
            // Its tab has gone to another session, so only its close can come next.
            if let Some(session) = self.sessions.get_mut(&id) {
                session.writes = Writes::Reloading(vec![(LinkId(0), Command::CloseTab { tab })]);
                self.outputs.push_back(Output::Reload(id));
            }
        } else {
            // A close that did not reach the disk has not happened.
            self.tabs.insert(tab, id);
        }
    }

    /// The closed session leaves memory when it is on the disk and every seat has seen its end.
    pub(super) fn forget_if_over(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        if !session.state.closed || session.durable < session.head || !session.is_writable() || session.is_at_work() {
            return;
        }
        for (link, tab) in session.watchers.clone() {
            let Some(seats) = self.links.get_mut(&link).map(|link| &mut link.seats) else { continue };
            if seats.get(&tab).is_some_and(|seat| seat.session == id && seat.cursor < session.durable) {
                return;
            }
        }
        self.drop_seats(id);
        let key = self.key_of(id);
        if let Some(key) = key.filter(|key| key.session.is_some()) {
            self.lives.forget(&key);
        }
        if let Some(closed) = self.sessions.remove(&id).and_then(|session| session.summary()) {
            self.tell_watching(&Told::Session(closed));
        }
    }

    pub(super) fn drop_seats(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        for (link, tab) in std::mem::take(&mut session.watchers) {
            if let Some(link) = self.links.get_mut(&link) {
                link.seats.remove(&tab);
            }
        }
    }

    /// Live events for every seat that follows.
    pub(super) fn deliver(&mut self, id: SessionId, page: &Arc<Page>) {
        let Some(session) = self.sessions.get(&id) else { return };
        if session.watchers.is_empty() {
            return;
        }
        let (names, life) = (session.names_in(page), (session.epoch, session.home()));
        for (link_id, tab) in &session.watchers {
            let Some(link) = self.links.get_mut(link_id) else { continue };
            if let Some(told) = super::delivery::live(link, (id, tab), page, &names, life) {
                self.outputs.push_back(Output::Tell { link: *link_id, told });
            }
        }
    }
}

/// What leaves although the events before it are not on the disk: what closes, and the answers that somebody waits for.
fn still_wanted(output: Output, reason: &str) -> Option<Output> {
    match output {
        Output::Ask { ask: Ask::CloseSession { .. }, .. } | Output::End { .. } => Some(output),
        Output::Tell { link, told: Told::Answered { request, .. } } => {
            let message = format!("the answer could not be written to the disk: {reason}");
            let result = Err(ToolFailure::new(ToolCode::ExecutionError, message));
            Some(Output::Tell { link, told: Told::Answered { request, result } })
        }
        Output::Tell { link, told: Told::Answer { request, .. } } => {
            let message = format!("this could not be written to the disk: {reason}");
            let result = Err(Reject::new(RejectCode::Internal, message));
            Some(Output::Tell { link, told: Told::Answer { request, result } })
        }
        _ => None,
    }
}

fn deleted(change: &Change) -> Option<SessionId> {
    match change {
        Change::DeleteSession(session) => Some(*session),
        Change::Session(_)
        | Change::Turn(_)
        | Change::Workspace(_)
        | Change::Call(_)
        | Change::Rule(_)
        | Change::DropRule(_) => None,
    }
}

fn sealed_message(reason: &str) -> String {
    format!(
        "what happened last in this tab could not be written to the disk, so it was not kept and the tab is closed to \
         writes: {reason}. Mend that, then send a prompt to go on"
    )
}
