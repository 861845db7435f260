//! Questions to a person: asked in the log, answered once, gone with their turn. Never runs anything.

use switchboard_types::limits::MAX_OPEN_APPROVALS;
use switchboard_types::{
    Answer, Approval, ApprovalId, Ask, Body, Decision, LinkId, OptionKind, Reject, RejectCode, Resolution, SessionId,
    TabId, Time,
};

use super::Host;
use crate::session::ApprovalAsker;

impl Host {
    /// The agent wants a person's consent.
    pub(super) fn approval_wanted(&mut self, now: Time, id: SessionId, mut approval: Approval) {
        let Some(session) = self.sessions.get(&id) else { return };
        let theirs = approval.id.clone();
        let Some(turn) = session.heard_turn().filter(|_| !session.state.is_cancelling()) else {
            return self.answer_agent(id, theirs, Answer::Withdrawn { resolution: Resolution::Deny });
        };
        if session.state.approvals().count() >= MAX_OPEN_APPROVALS {
            let message =
                format!("{MAX_OPEN_APPROVALS} questions are open already, so one more was denied: {}", approval.title);
            self.append(now, id, Some(turn), &Body::Status { message, progress: None });
            let denied = Answer::Decided { resolution: Resolution::Deny, option: None };
            return self.answer_agent(id, theirs, denied);
        }
        // Named by its place in the log: unique for ever, whatever the agent calls it.
        let ours = ApprovalId::new(format!("a{}", session.head.next()));
        approval.id = ours.clone();
        self.append(now, id, Some(turn), &Body::ApprovalAsked { approval });
        if let Some(session) = self.sessions.get_mut(&id) {
            session.askers.insert(ours, ApprovalAsker::Agent(theirs));
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
        option: Option<String>,
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
        if open.approval.digest.is_some() && decision == Decision::AllowRule {
            let message = "no rule can be stored for this; allow it once, or for the session";
            return self.refuse(link, refusal(message.to_owned()));
        }
        let option = match choose(&open.approval, decision, option) {
            Ok(option) => option,
            Err(message) => return self.refuse(link, refusal(message)),
        };
        let turn = open.turn;
        self.resolve(now, id, &approval, Answer::Decided { resolution: decision.into(), option });
        if let (Decision::DenyStop, Some(turn)) = (decision, turn) {
            self.cancel_running(now, id, turn);
        }
    }

    /// Answers every open question of a session at once.
    pub(super) fn resolve_all(&mut self, now: Time, id: SessionId, resolution: Resolution) {
        let Some(session) = self.sessions.get(&id) else { return };
        let open: Vec<ApprovalId> = session.state.approvals().map(|open| open.approval.id.clone()).collect();
        for approval in open {
            self.resolve(now, id, &approval, Answer::Withdrawn { resolution });
        }
    }

    fn resolve(&mut self, now: Time, id: SessionId, approval: &ApprovalId, answer: Answer) {
        let turn = self.sessions.get(&id).and_then(|session| session.state.approval(approval)?.turn);
        let (resolution, option) = match &answer {
            Answer::Decided { resolution, option } => (*resolution, option.clone()),
            Answer::Withdrawn { resolution } => (*resolution, None),
        };
        let approval_id = approval.clone();
        let resolved = Body::ApprovalResolved { approval: approval_id, resolution, option, command: None, rule: None };
        self.append(now, id, turn, &resolved);
        self.heard_from(now, id);
        let asker = self.sessions.get_mut(&id).and_then(|session| session.askers.remove(approval));
        match asker {
            Some(ApprovalAsker::Agent(theirs)) => self.answer_agent(id, theirs, answer),
            Some(ApprovalAsker::Errand(errand)) => self.errand_answered(now, id, errand, (approval, resolution)),
            None => {}
        }
    }

    fn answer_agent(&mut self, id: SessionId, approval: ApprovalId, answer: Answer) {
        if let Some(life) = self.sessions.get(&id).and_then(crate::session::Session::life) {
            self.ask(id, life, Ask::ApprovalAnswer { session: id, approval, answer });
        }
    }
}

/// Which of the agent's own answers a decision comes to. What the agent does not offer cannot be chosen for it; a denial
/// always can.
fn choose(approval: &Approval, decision: Decision, option: Option<String>) -> Result<Option<String>, String> {
    let offered = &approval.options;
    let fits = |kind: OptionKind| match decision {
        Decision::AllowOnce => kind == OptionKind::AllowOnce,
        Decision::AllowSession | Decision::AllowRule => kind == OptionKind::AllowAlways,
        Decision::Deny | Decision::DenyStop => matches!(kind, OptionKind::RejectOnce | OptionKind::RejectAlways),
    };
    if let Some(option) = option {
        return match offered.iter().find(|offer| offer.id == option) {
            Some(offer) if fits(offer.kind) || offer.kind == OptionKind::Other => Ok(Some(option)),
            Some(offer) => Err(format!("`{}` is not what this decision says; nothing was answered", offer.name)),
            None => Err("the agent offers no such answer; nothing was answered".to_owned()),
        };
    }
    let found = offered.iter().find(|offer| fits(offer.kind)).map(|offer| offer.id.clone());
    if found.is_some() || offered.is_empty() || matches!(decision, Decision::Deny | Decision::DenyStop) {
        return Ok(found);
    }
    let names: Vec<String> = offered.iter().map(|offer| format!("{} ({:?})", offer.name, offer.kind)).collect();
    Err(format!("the agent does not offer this answer; it offers: {}", names.join(", ")))
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
