//! What the host is asked to do: read, write, run, call a tool. What may do harm is made ready, judged, shown to a person
//! where that is needed, recorded, and only then done; each errand gets exactly one answer. Touches no file and runs
//! nothing itself.

use switchboard_types::limits::{MAX_ENDED_OUTPUT_BYTES, MAX_OPEN_ERRANDS};
use switchboard_types::{
    ApprovalId, ApprovalKind, Ask, Body, Errand, ErrandCode, ErrandFailure, ErrandId, ErrandName, ErrandNews,
    ErrandOrder, ErrandResult, Execution, ExecutionEnd, ExecutionId, LifeId, Network, Prepared, Resolution, RunAs,
    SessionId, Time, TurnId,
};

use super::Host;
use crate::input::Output;
use crate::open::{ApprovalAsker, Caller, Cleared, ErrandAsker, ErrandStage, OpenErrand};
use crate::session::Session;
use crate::settings::NetworkFor;

impl Host {
    /// An agent asks for something.
    pub(super) fn errand_wanted(&mut self, (life, id): (LifeId, SessionId), name: ErrandName, what: Errand) {
        let Some(session) = self.sessions.get(&id) else { return };
        let turn = session.heard_turn();
        let of_agent = |open: &&OpenErrand| matches!(open.asker, ErrandAsker::Agent { .. });
        let refusal = if session.errands.values().filter(of_agent).count() >= MAX_OPEN_ERRANDS {
            Some((ErrandCode::TooLarge, format!("{MAX_OPEN_ERRANDS} requests are open already; wait for some of them")))
        } else if !what.may_harm() {
            None
        } else {
            session.forbids_harm()
        };
        if let Some((code, message)) = refusal {
            let result = Err(ErrandFailure::new(code, message));
            return self.ask(id, life, Ask::ErrandDone { session: id, errand: name, result });
        }
        let kept = matches!(what, Errand::Run(_)).then(|| what.clone());
        self.begin_errand(id, (ErrandAsker::Agent { name, life }, turn), what, kept);
    }

    /// Has an errand made ready, or served if it can do no harm.
    pub(super) fn begin_errand(
        &mut self,
        id: SessionId,
        (asker, turn): (ErrandAsker, Option<TurnId>),
        what: Errand,
        kept: Option<Errand>,
    ) -> Option<ErrandId> {
        let session = self.sessions.get_mut(&id)?;
        self.last_errand = ErrandId(self.last_errand.0 + 1);
        let (errand, root) = (self.last_errand, session.workspace.clone());
        let (stage, order) = if what.may_harm() {
            (ErrandStage::Preparing, ErrandOrder::Prepare { errand, session: id, root, what })
        } else {
            (ErrandStage::Serving, ErrandOrder::Serve { errand, session: id, root, what })
        };
        session.errands.insert(errand, OpenErrand { asker, turn, stage, what: kept, edited: None });
        self.errands.insert(errand, id);
        self.outputs.push_back(Output::Errand(order));
        Some(errand)
    }

    /// The agent no longer wants it. What is being done goes on to its end; a question is taken back.
    pub(super) fn errand_dropped(&mut self, now: Time, id: SessionId, name: &ErrandName) {
        let Some(session) = self.sessions.get(&id) else { return };
        let named = |open: &OpenErrand| matches!(&open.asker, ErrandAsker::Agent { name: of, .. } if of == name);
        let found = session.errands.iter().find(|(_, open)| named(open));
        if let Some((errand, _)) = found.filter(|(_, open)| !matches!(open.stage, ErrandStage::Performing)) {
            let errand = *errand;
            self.withdraw(now, id, errand, ErrandFailure::new(ErrandCode::Cancelled, "the agent took it back"));
        }
    }

    /// Something has become of an errand.
    pub(super) fn errand_news(&mut self, now: Time, news: ErrandNews) {
        match news {
            ErrandNews::Prepared { errand, result } => self.errand_prepared(now, errand, result),
            ErrandNews::Done { errand, result } => self.errand_done(now, errand, result),
            ErrandNews::Output { session, execution, text } => self.execution_output(now, session, execution, text),
            ErrandNews::Ended { session, execution, end } => self.execution_ended(now, session, &execution, end),
        }
    }

    fn errand_prepared(&mut self, now: Time, errand: ErrandId, result: Result<Box<Prepared>, ErrandFailure>) {
        let Some(id) = self.errands.get(&errand).copied() else {
            return self.outputs.push_back(Output::Errand(ErrandOrder::Drop { errand }));
        };
        match result {
            Err(failure) => self.answer_errand(now, id, errand, Err(failure)),
            Ok(prepared) => self.weigh(now, id, errand, prepared),
        }
    }

    /// A person has answered, or nobody will.
    pub(super) fn errand_answered(
        &mut self,
        now: Time,
        id: SessionId,
        errand: ErrandId,
        (approval, resolution): (&ApprovalId, Resolution),
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(open) = session.errands.get(&errand) else { return };
        let ErrandStage::Asked(prepared) = &open.stage else { return };
        let prepared = prepared.clone();
        let failure = match resolution {
            Resolution::AllowOnce | Resolution::AllowSession | Resolution::AllowRule => {
                if let Err(failure) = self.still_allowed(id, errand, &prepared) {
                    return self.withdraw(now, id, errand, failure);
                }
                if let (Resolution::AllowSession, Some(session)) = (resolution, self.sessions.get_mut(&id)) {
                    session.grant(prepared.scope.clone());
                }
                let cleared = Cleared { approval: Some(approval.clone()), unasked: None, run_as: RunAs::Shown };
                return self.clear(now, id, errand, prepared, cleared);
            }
            Resolution::Deny | Resolution::DenyStop => {
                ErrandFailure::new(ErrandCode::Denied, "the person declined this")
            }
            Resolution::Expired => ErrandFailure::new(ErrandCode::Cancelled, "it ended before anybody answered"),
        };
        self.withdraw(now, id, errand, failure);
    }

    /// It is allowed: it is done now, or as soon as fewer calls are carried out.
    pub(super) fn clear(
        &mut self,
        now: Time,
        id: SessionId,
        errand: ErrandId,
        prepared: Box<Prepared>,
        cleared: Cleared,
    ) {
        let Some(open) = self.sessions.get_mut(&id).and_then(|session| session.errands.get_mut(&errand)) else {
            return;
        };
        if let ErrandAsker::Call(no) = open.asker
            && !self.calls.running.contains(&no)
        {
            open.stage = ErrandStage::Cleared(prepared, cleared);
            return self.calls.waiting.push_back(no);
        }
        self.perform(now, id, errand, &prepared, cleared);
    }

    /// Recorded first, done once that is on the disk.
    pub(super) fn perform(
        &mut self,
        now: Time,
        id: SessionId,
        errand: ErrandId,
        prepared: &Prepared,
        cleared: Cleared,
    ) {
        let network = self.network(&cleared);
        let contained = self.containment.clone().filter(|_| prepared.kind == ApprovalKind::Command);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(open) = session.errands.get_mut(&errand) else { return };
        open.stage = ErrandStage::Performing;
        let (turn, asker, run_as) = (open.turn, open.asker.clone(), cleared.run_as);
        let of_call = match asker {
            ErrandAsker::Call(no) => self.call_starts(now, no, &cleared, contained.as_ref()),
            ErrandAsker::Agent { .. } => None,
        };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let name = ExecutionId::new(format!("x{}", session.head.next()));
        let execution = Box::new(Execution {
            id: name.clone(),
            approval: cleared.approval,
            kind: prepared.kind,
            title: prepared.title.clone(),
            command: prepared.command.clone(),
            cwd: prepared.cwd.clone(),
            path: prepared.path.clone(),
            diff: prepared.diff.clone(),
            digest: prepared.digest.clone(),
            unasked: cleared.unasked,
            containment: contained,
            call: of_call,
        });
        self.append(now, id, turn, &Body::ExecutionStarted { execution });
        if let ErrandAsker::Call(no) = asker {
            self.call_executes(id, no, &name);
            if self.lend_out(id, no, errand) {
                return;
            }
        }
        let order = ErrandOrder::Perform { errand, session: id, execution: name, run_as, network };
        self.when_durable(id, Output::Errand(order));
    }

    fn network(&self, cleared: &Cleared) -> Network {
        match (self.settings.network, cleared.run_as) {
            (NetworkFor::All, _) | (NetworkFor::Approved, RunAs::Shown) => Network::Open,
            (NetworkFor::Approved, RunAs::Judged) | (NetworkFor::None, _) => Network::Closed,
        }
    }

    fn errand_done(&mut self, now: Time, errand: ErrandId, result: Result<ErrandResult, ErrandFailure>) {
        let Some(id) = self.errands.get(&errand).copied() else { return };
        self.heard_from(now, id);
        self.answer_errand(now, id, errand, result);
    }

    /// The one answer to an errand.
    fn answer_errand(
        &mut self,
        now: Time,
        id: SessionId,
        errand: ErrandId,
        result: Result<ErrandResult, ErrandFailure>,
    ) {
        self.errands.remove(&errand);
        let open = self.sessions.get_mut(&id).and_then(|session| session.errands.remove(&errand));
        match open.map(|open| open.asker) {
            Some(ErrandAsker::Agent { name, life }) => {
                self.ask(id, life, Ask::ErrandDone { session: id, errand: name, result });
            }
            Some(ErrandAsker::Call(no)) => self.call_answered(now, no, result),
            None => {}
        }
    }

    /// An errand that is not being done yet comes to its end without having been done.
    pub(super) fn withdraw(&mut self, now: Time, id: SessionId, errand: ErrandId, failure: ErrandFailure) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let asked = session.askers.iter().find(|(_, asker)| **asker == ApprovalAsker::Errand(errand));
        if let Some(approval) = asked.map(|(approval, _)| approval.clone()) {
            session.askers.remove(&approval);
            if let Some(open) = session.state.approval(&approval) {
                let turn = open.turn;
                let resolution = Resolution::Expired;
                let resolved = Body::ApprovalResolved { approval, resolution, option: None, command: None, rule: None };
                self.append(now, id, turn, &resolved);
            }
        }
        self.outputs.push_back(Output::Errand(ErrandOrder::Drop { errand }));
        self.answer_errand(now, id, errand, Err(failure));
    }

    fn execution_output(&mut self, now: Time, id: SessionId, execution: ExecutionId, text: String) {
        let Some(session) = self.sessions.get(&id).filter(|session| session.is_writable()) else { return };
        let Some(turn) = session.state.execution(&execution).map(|open| open.turn) else { return };
        self.heard_from(now, id);
        if let Some(session) = self.sessions.get_mut(&id) {
            keep_end(session.outputs.entry(execution.clone()).or_default(), &text);
        }
        self.append(now, id, turn, &Body::ExecutionOutput { execution, text });
    }

    pub(super) fn execution_ended(&mut self, now: Time, id: SessionId, execution: &ExecutionId, end: ExecutionEnd) {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.is_writable()) else { return };
        let output = session.outputs.remove(execution);
        let Some(open) = session.state.execution(execution).cloned() else { return };
        let call = session.executing.remove(execution);
        self.heard_from(now, id);
        let ended = Body::ExecutionEnded { execution: execution.clone(), title: open.title, end, output };
        self.append(now, id, open.turn, &ended);
        if let Some(no) = call {
            self.call_has_ended(now, no);
        }
        self.delete_if_over(id);
        self.forget_if_over(id);
    }

    /// What a turn started ends with it, or when it is cancelled: what was not done is answered, what runs is ended.
    pub(super) fn end_errands(&mut self, now: Time, id: SessionId, turn: TurnId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.consents.clear();
        let waits = |open: &OpenErrand| match (&open.asker, &open.stage) {
            (ErrandAsker::Call(_), _) | (_, ErrandStage::Performing | ErrandStage::Serving | ErrandStage::Lent) => {
                false
            }
            (_, ErrandStage::Preparing | ErrandStage::Asked(_) | ErrandStage::Cleared(..)) => open.turn == Some(turn),
        };
        let waiting: Vec<ErrandId> =
            session.errands.iter().filter(|(_, open)| waits(open)).map(|(errand, _)| *errand).collect();
        let runs =
            session.state.executions().any(|(id, open)| open.turn == Some(turn) && !session.executing.contains_key(id));
        for errand in waiting {
            self.withdraw(now, id, errand, ErrandFailure::new(ErrandCode::Cancelled, "the turn is over"));
        }
        let over = ErrandFailure::new(ErrandCode::Cancelled, "the turn is over");
        self.stop_calls(now, &over, |call| call.row.session == id && call.turn == Some(turn));
        if runs {
            self.when_durable(id, Output::Errand(ErrandOrder::EndAll { session: id }));
        }
    }

    /// The agent waits for no answer any more: it is gone, or the session is. What views asked for goes on.
    pub(super) fn drop_errands(&mut self, now: Time, id: SessionId) {
        let gone = ErrandFailure::new(ErrandCode::Cancelled, "the agent that asked for it is gone");
        // Its next agent session may be in the same process, and has never asked.
        self.calls.forget_agent(id);
        self.stop_calls(now, &gone, |call| call.row.session == id && call.caller == Caller::Gone);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let of_agent = |open: &OpenErrand| matches!(open.asker, ErrandAsker::Agent { .. });
        let dropped: Vec<(ErrandId, OpenErrand)> = session.errands.extract_if(.., |_, open| of_agent(open)).collect();
        let is_dropped = |errand: &ErrandId| dropped.iter().any(|(dropped, _)| dropped == errand);
        session.askers.retain(|_, asker| !matches!(asker, ApprovalAsker::Errand(errand) if is_dropped(errand)));
        let runs = session.state.executions().any(|(id, _)| !session.executing.contains_key(id));
        if dropped.is_empty() && !runs {
            return;
        }
        for (errand, open) in dropped {
            self.errands.remove(&errand);
            if matches!(open.stage, ErrandStage::Preparing | ErrandStage::Asked(_)) {
                self.outputs.push_back(Output::Errand(ErrandOrder::Drop { errand }));
            }
        }
        self.when_durable(id, Output::Errand(ErrandOrder::EndAll { session: id }));
    }

    /// At start-up: what ran when the host died has an end that nobody knows.
    pub(super) fn settle_executions(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let open: Vec<_> = session.state.executions().map(|(id, open)| (id.clone(), open.clone())).collect();
        for (execution, open) in open {
            let end = ExecutionEnd::Unknown {};
            let ended = Body::ExecutionEnded { execution, title: open.title, end, output: None };
            self.append(now, id, open.turn, &ended);
        }
    }
}

impl Session {
    /// Whether the host is at work for the agent, so that the agent's silence means nothing.
    pub(crate) fn is_host_at_work(&self) -> bool {
        self.state.approvals().next().is_some() || self.is_at_work()
    }

    /// Why the agent may do no harm now, if it may not.
    pub(crate) fn forbids_harm(&self) -> Option<(ErrandCode, String)> {
        if self.heard_turn().is_none() {
            let message = "nothing is written or run while no prompt is being worked on";
            return Some((ErrandCode::Denied, message.to_owned()));
        }
        self.state.is_cancelling().then(|| (ErrandCode::Cancelled, "the turn was cancelled".to_owned()))
    }
}

/// Adds to what a command wrote and keeps the last of it.
fn keep_end(kept: &mut String, text: &str) {
    kept.push_str(text);
    let over = kept.len().saturating_sub(MAX_ENDED_OUTPUT_BYTES);
    let from = kept.ceil_char_boundary(over);
    kept.drain(..from);
}
