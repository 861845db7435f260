//! Questions to a person: asked in the log, answered once, gone with their turn. Never runs anything.

use switchboard_types::limits::MAX_OPEN_APPROVALS;
use switchboard_types::{
    Approval, ApprovalId, Ask, Body, Decision, LinkId, Reject, RejectCode, Resolution, SessionId, TabId, Time,
};

use super::Host;

impl Host {
    /// The agent wants a person's consent.
    pub(super) fn approval_wanted(&mut self, now: Time, id: SessionId, mut approval: Approval) {
        let Some(session) = self.sessions.get(&id) else { return };
        let theirs = approval.id.clone();
        let Some(turn) = session.heard_turn().filter(|_| !session.state.is_cancelling()) else {
            return self.answer_agent(id, theirs, Resolution::Deny);
        };
        if session.state.approvals().count() >= MAX_OPEN_APPROVALS {
            let message =
                format!("{MAX_OPEN_APPROVALS} questions are open already, so one more was denied: {}", approval.title);
            self.append(now, id, Some(turn), &Body::Status { message, progress: None });
            return self.answer_agent(id, theirs, Resolution::Deny);
        }
        // Named by its place in the log: unique for ever, whatever the agent calls it.
        let ours = ApprovalId::new(format!("a{}", session.head.next()));
        approval.id = ours.clone();
        self.append(now, id, Some(turn), &Body::ApprovalAsked { approval });
        if let Some(session) = self.sessions.get_mut(&id) {
            session.asked_by_agent.insert(ours, theirs);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one command, taken apart once")]
    pub(super) fn decide(
        &mut self,
        now: Time,
        link: LinkId,
        id: SessionId,
        tab: TabId,
        approval: ApprovalId,
        decision: Decision,
        command: Option<String>,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let refusal = |message: String| Reject::new(RejectCode::BadMessage, message).in_tab(tab);
        let Some(open) = session.state.approval(&approval) else {
            let message = match session.state.resolution(&approval) {
                Some(resolution) => format!("this was answered before ({}); the answer stands", word(resolution)),
                None => "no such approval is open in this tab".to_owned(),
            };
            return self.refuse(link, refusal(message));
        };
        if command.is_some() && command != open.approval.command {
            let message = "the agent runs this itself, so the command cannot be edited; allow or deny it as it stands";
            return self.refuse(link, refusal(message.to_owned()));
        }
        let turn = open.turn;
        self.resolve(now, id, &approval, decision.into());
        if let (Decision::DenyStop, Some(turn)) = (decision, turn) {
            self.cancel_running(now, id, turn);
        }
    }

    /// Answers every open question of a session at once.
    pub(super) fn resolve_all(&mut self, now: Time, id: SessionId, resolution: Resolution) {
        let Some(session) = self.sessions.get(&id) else { return };
        let open: Vec<ApprovalId> = session.state.approvals().map(|open| open.approval.id.clone()).collect();
        for approval in open {
            self.resolve(now, id, &approval, resolution);
        }
    }

    fn resolve(&mut self, now: Time, id: SessionId, approval: &ApprovalId, resolution: Resolution) {
        let turn = self.sessions.get(&id).and_then(|session| session.state.approval(approval)?.turn);
        self.append(now, id, turn, &Body::ApprovalResolved { approval: approval.clone(), resolution });
        let theirs = self.sessions.get_mut(&id).and_then(|session| session.asked_by_agent.remove(approval));
        if let Some(theirs) = theirs {
            self.answer_agent(id, theirs, resolution);
        }
    }

    fn answer_agent(&mut self, id: SessionId, approval: ApprovalId, resolution: Resolution) {
        if let Some(life) = self.sessions.get(&id).and_then(crate::session::Session::life) {
            self.ask(id, life, Ask::ApprovalAnswer { session: id, approval, resolution });
        }
    }
}

fn word(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::AllowOnce => "allowed once",
        Resolution::AllowSession => "allowed for the session",
        Resolution::AllowRule => "allowed by rule",
        Resolution::Deny => "denied",
        Resolution::DenyStop => "denied and stopped",
        Resolution::Expired => "expired with its turn",
    }
}
