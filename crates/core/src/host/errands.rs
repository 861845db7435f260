//! What agents ask the host to do for them: read, write, run. What may do harm is made ready, shown to a person, recorded,
//! and only then done; each errand gets exactly one answer. Touches no file and runs nothing itself.

use switchboard_types::limits::{MAX_ENDED_OUTPUT_BYTES, MAX_OPEN_APPROVALS, MAX_OPEN_ERRANDS};
use switchboard_types::{
    Approval, ApprovalId, Ask, Asker, Body, Errand, ErrandCode, ErrandFailure, ErrandId, ErrandName, ErrandNews,
    ErrandOrder, ErrandResult, Execution, ExecutionEnd, ExecutionId, Judgement, LifeId, Network, Prepared, Resolution,
    RunAs, SessionId, Time, Trust, TurnId, Verdict,
};

use super::Host;
use crate::input::Output;
use crate::policy::{Question, judge};
use crate::session::{ApprovalAsker, ErrandStage, OpenErrand, Session};

impl Host {
    /// An agent asks for something.
    pub(super) fn errand_wanted(
        &mut self,
        _now: Time,
        (life, id): (LifeId, SessionId),
        name: ErrandName,
        what: Errand,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let turn = session.heard_turn();
        let refusal = if session.errands.len() >= MAX_OPEN_ERRANDS {
            Some((ErrandCode::TooLarge, format!("{MAX_OPEN_ERRANDS} requests are open already; wait for some of them")))
        } else if !what.may_harm() {
            None
        } else if turn.is_none() {
            Some((ErrandCode::Denied, "nothing is written or run while no prompt is being worked on".to_owned()))
        } else if session.state.is_cancelling() {
            Some((ErrandCode::Cancelled, "the turn was cancelled".to_owned()))
        } else {
            None
        };
        if let Some((code, message)) = refusal {
            let result = Err(ErrandFailure::new(code, message));
            return self.ask(id, life, Ask::ErrandDone { session: id, errand: name, result });
        }
        self.last_errand = ErrandId(self.last_errand.0 + 1);
        let (errand, root) = (self.last_errand, session.workspace.clone());
        let (stage, order) = if what.may_harm() {
            (ErrandStage::Preparing, ErrandOrder::Prepare { errand, session: id, root, what })
        } else {
            (ErrandStage::Serving, ErrandOrder::Serve { errand, session: id, root, what })
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.errands.insert(errand, OpenErrand { name, life, turn, stage });
            self.errands.insert(errand, id);
        }
        self.outputs.push_back(Output::Errand(order));
    }

    /// The agent no longer wants it. What is being done goes on to its end; a question is taken back.
    pub(super) fn errand_dropped(&mut self, now: Time, id: SessionId, name: &ErrandName) {
        let Some(session) = self.sessions.get(&id) else { return };
        let found = session.errands.iter().find(|(_, open)| open.name == *name);
        if let Some((errand, _)) = found.filter(|(_, open)| !matches!(open.stage, ErrandStage::Performing)) {
            let errand = *errand;
            self.withdraw(now, id, errand, ErrandCode::Cancelled, "the agent took it back");
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
            Err(failure) => self.answer_errand(id, errand, Err(failure)),
            Ok(prepared) => self.judge(now, id, errand, prepared),
        }
    }

    /// What was allowed for the session is done at once; for anything else a person is asked.
    fn judge(&mut self, now: Time, id: SessionId, errand: ErrandId, prepared: Box<Prepared>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(open) = session.errands.get_mut(&errand) else { return };
        let turn = open.turn;
        let judgement = judge(&Question {
            facts: &prepared.facts,
            asker: if session.agent.is_demo() { Asker::Demo } else { Asker::Agent },
            session: &session.keeps.policy,
            patterns: None,
            rules: &[],
            granted: session.keeps.grants.contains(&prepared.scope),
            trust: Trust::Trusted,
        });
        if judgement.decision == Verdict::Allow {
            return self.perform(now, id, errand, &prepared, None);
        }
        if session.state.approvals().count() >= MAX_OPEN_APPROVALS {
            let message = format!("{MAX_OPEN_APPROVALS} questions are open already, so this one was denied");
            return self.withdraw(now, id, errand, ErrandCode::Denied, &message);
        }
        let ours = ApprovalId::new(format!("a{}", session.head.next()));
        let approval = question(ours.clone(), &prepared, judgement);
        open.stage = ErrandStage::Asked(prepared);
        session.askers.insert(ours, ApprovalAsker::Errand(errand));
        self.append(now, id, turn, &Body::ApprovalAsked { approval });
    }

    /// A person has answered, or nobody will.
    pub(super) fn errand_answered(
        &mut self,
        now: Time,
        id: SessionId,
        errand: ErrandId,
        (approval, resolution): (&ApprovalId, Resolution),
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(open) = session.errands.get(&errand) else { return };
        let ErrandStage::Asked(prepared) = &open.stage else { return };
        let prepared = prepared.clone();
        match resolution {
            Resolution::AllowOnce => self.perform(now, id, errand, &prepared, Some(approval)),
            Resolution::AllowSession | Resolution::AllowRule => {
                session.keeps.grants.push(prepared.scope.clone());
                self.perform(now, id, errand, &prepared, Some(approval));
            }
            Resolution::Deny | Resolution::DenyStop => {
                self.withdraw(now, id, errand, ErrandCode::Denied, "the person declined this");
            }
            Resolution::Expired => {
                self.withdraw(now, id, errand, ErrandCode::Cancelled, "the turn ended before anybody answered");
            }
        }
    }

    /// Recorded first, done once that is on the disk.
    fn perform(
        &mut self,
        now: Time,
        id: SessionId,
        errand: ErrandId,
        prepared: &Prepared,
        approval: Option<&ApprovalId>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let name = ExecutionId::new(format!("x{}", session.head.next()));
        let Some(open) = session.errands.get_mut(&errand) else { return };
        open.stage = ErrandStage::Performing;
        let turn = open.turn;
        let execution = Box::new(Execution {
            id: name.clone(),
            approval: approval.cloned(),
            kind: prepared.kind,
            title: prepared.title.clone(),
            command: prepared.command.clone(),
            cwd: prepared.cwd.clone(),
            path: prepared.path.clone(),
            diff: prepared.diff.clone(),
            digest: prepared.digest.clone(),
            unasked: None,
            containment: None,
            call: None,
        });
        self.append(now, id, turn, &Body::ExecutionStarted { execution });
        self.when_durable(
            id,
            Output::Errand(ErrandOrder::Perform {
                errand,
                session: id,
                execution: name,
                run_as: RunAs::Shown,
                network: Network::Open,
            }),
        );
    }

    fn errand_done(&mut self, now: Time, errand: ErrandId, result: Result<ErrandResult, ErrandFailure>) {
        let Some(id) = self.errands.get(&errand).copied() else { return };
        self.heard_from(now, id);
        self.answer_errand(id, errand, result);
    }

    /// The one answer to an errand.
    fn answer_errand(&mut self, id: SessionId, errand: ErrandId, result: Result<ErrandResult, ErrandFailure>) {
        self.errands.remove(&errand);
        let open = self.sessions.get_mut(&id).and_then(|session| session.errands.remove(&errand));
        if let Some(OpenErrand { name, life, .. }) = open {
            self.ask(id, life, Ask::ErrandDone { session: id, errand: name, result });
        }
    }

    /// An errand that is not being done yet comes to its end without having been done.
    fn withdraw(&mut self, now: Time, id: SessionId, errand: ErrandId, code: ErrandCode, message: &str) {
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
        self.answer_errand(id, errand, Err(ErrandFailure::new(code, message)));
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

    fn execution_ended(&mut self, now: Time, id: SessionId, execution: &ExecutionId, end: ExecutionEnd) {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.is_writable()) else { return };
        let output = session.outputs.remove(execution);
        let Some(open) = session.state.execution(execution).cloned() else { return };
        self.heard_from(now, id);
        let ended = Body::ExecutionEnded { execution: execution.clone(), title: open.title, end, output };
        self.append(now, id, open.turn, &ended);
        self.forget_if_over(id);
    }

    /// What a turn started ends with it, or when it is cancelled: what was not done is answered, what runs is ended.
    pub(super) fn end_errands(&mut self, now: Time, id: SessionId, turn: TurnId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let of_turn = |open: &&OpenErrand| open.turn == Some(turn) && !matches!(open.stage, ErrandStage::Performing);
        let waiting: Vec<ErrandId> = session
            .errands
            .iter()
            .filter(|(_, open)| of_turn(open) && !matches!(open.stage, ErrandStage::Serving))
            .map(|(errand, _)| *errand)
            .collect();
        let runs = session.state.has_executions(turn);
        for errand in waiting {
            self.withdraw(now, id, errand, ErrandCode::Cancelled, "the turn is over");
        }
        if runs {
            self.when_durable(id, Output::Errand(ErrandOrder::EndAll { session: id }));
        }
    }

    /// Nobody waits for answers any more: the agent is gone, or the session is.
    pub(super) fn drop_errands(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let open = std::mem::take(&mut session.errands);
        session.askers.retain(|_, asker| !matches!(asker, ApprovalAsker::Errand(_)));
        let runs = session.state.executions().next().is_some();
        if open.is_empty() && !runs {
            return;
        }
        for (errand, open) in open {
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
        self.state.approvals().next().is_some() || self.state.executions().next().is_some()
    }
}

/// Adds to what a command wrote and keeps the last of it.
fn keep_end(kept: &mut String, text: &str) {
    kept.push_str(text);
    let over = kept.len().saturating_sub(MAX_ENDED_OUTPUT_BYTES);
    let from = kept.ceil_char_boundary(over);
    kept.drain(..from);
}

fn question(id: ApprovalId, prepared: &Prepared, judgement: Judgement) -> Approval {
    Approval {
        command: prepared.command.clone(),
        cwd: prepared.cwd.clone(),
        path: prepared.path.clone(),
        diff: prepared.diff.clone(),
        change: prepared.change.clone(),
        reason: judgement.reasons.join("; "),
        digest: Some(prepared.digest.clone()),
        ..Approval::new(id, prepared.kind, prepared.title.clone(), judgement.severity)
    }
}
