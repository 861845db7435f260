//! Questions to a person: asked in the log, answered once, gone with their turn or when their time is up. Never runs
//! anything.

use switchboard_types::limits::{MAX_COMMAND_BYTES, MAX_GRANTS, MAX_OPEN_APPROVALS};
use switchboard_types::{
    Answer, AnsweredBy, Approval, ApprovalId, Ask, Body, Decision, ErrandCode, ErrandFailure, ErrandId, ErrandOrder,
    LinkId, OptionKind, Reject, RejectCode, RequestNo, Resolution, RuleId, SessionId, TabId, Time, Told, ToolCode,
    ToolFailure, TurnId,
};

use super::Host;
use super::commands::untrusted_message;
use super::judging::edited;
use crate::input::Output;
use crate::open::{ApprovalAsker, Consent, ErrandStage};
use crate::session::Session;

/// A person's answer.
pub(super) struct Reply {
    pub(super) decision: Decision,
    /// The command as the person edited it.
    pub(super) command: Option<String>,
    /// Which of the agent's own answers.
    pub(super) option: Option<String>,
}

/// Why an answer was not taken.
enum NotTaken {
    /// There was one before.
    Before(Resolution),
    /// It makes no sense; for a person.
    Wrong(String),
}

/// What goes with an answer.
#[derive(Default)]
struct With {
    command: Option<String>,
    rule: Option<RuleId>,
}

impl Host {
    /// The agent wants a person's consent. What the policy denies is rejected at once; whatever else is asked.
    pub(super) fn approval_wanted(&mut self, now: Time, id: SessionId, mut approval: Approval) {
        let Some(session) = self.sessions.get(&id) else { return };
        let theirs = approval.id.clone();
        if session.is_elsewhere() {
            return self.far_approval_wanted(now, id, approval);
        }
        let Some(turn) = session.heard_turn().filter(|_| !session.state.is_cancelling()) else {
            return self.answer_agent(id, theirs, Answer::Withdrawn { resolution: Resolution::Deny });
        };
        if session.state.approvals().count() >= MAX_OPEN_APPROVALS {
            let message =
                format!("{MAX_OPEN_APPROVALS} questions are open already, so one more was denied: {}", approval.title);
            return self.reject_at_once(now, id, turn, (theirs, None), message);
        }
        match self.judge_question(session, &approval) {
            Some(Err(failure)) => {
                let option = choose(&approval, Decision::Deny, None).ok().flatten();
                let message = format!("{} was denied: {}", approval.title, failure.message);
                return self.reject_at_once(now, id, turn, (theirs, option), message);
            }
            Some(Ok(judgement)) => {
                approval.severity = approval.severity.max(judgement.severity);
                let theirs = std::mem::take(&mut approval.reason);
                let reasons = Some(theirs).filter(|reason| !reason.is_empty()).into_iter().chain(judgement.reasons);
                approval.reason = reasons.collect::<Vec<_>>().join("; ");
            }
            None => {}
        }
        // Named by its place in the log: unique for ever, whatever the agent calls it.
        let ours = ApprovalId::new(format!("a{}", session.head.next()));
        approval.id = ours.clone();
        // The agent acts by itself: nothing here can hold its command in, change it, or store a rule for it.
        (approval.digest, approval.rule, approval.editable, approval.containment) = (None, None, false, None);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.askers.insert(ours, ApprovalAsker::Agent(theirs));
        }
        self.ask_person(now, id, Some(turn), approval);
    }

    /// The same for an agent elsewhere: what it asks about is on another machine, so only a person can say.
    fn far_approval_wanted(&mut self, now: Time, id: SessionId, mut approval: Approval) {
        let Some(turn) = self.far_turn_to_ask(now, id) else { return };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let theirs = approval.id.clone();
        if session.state.approvals().count() >= MAX_OPEN_APPROVALS {
            let message =
                format!("{MAX_OPEN_APPROVALS} questions are open already, so one more was denied: {}", approval.title);
            return self.reject_at_once(now, id, turn, (theirs, None), message);
        }
        approval.id = session.name_far_approval(&approval);
        (approval.digest, approval.rule, approval.editable, approval.containment) = (None, None, false, None);
        session.askers.insert(approval.id.clone(), ApprovalAsker::Agent(theirs));
        self.ask_person(now, id, Some(turn), approval);
    }

    fn reject_at_once(
        &mut self,
        now: Time,
        id: SessionId,
        turn: TurnId,
        (theirs, option): (ApprovalId, Option<String>),
        message: String,
    ) {
        self.append(now, id, Some(turn), &Body::Status { message, progress: None });
        self.answer_agent(id, theirs, Answer::Decided { resolution: Resolution::Deny, option });
    }

    /// A view answers in a tab.
    pub(super) fn decide(
        &mut self,
        now: Time,
        link: LinkId,
        (id, tab): (SessionId, TabId),
        approval: &ApprovalId,
        reply: Reply,
    ) {
        let message = match self.reply(now, id, approval, reply) {
            Ok(_) => return,
            Err(NotTaken::Before(resolution)) => {
                format!("this was answered before ({}); the answer stands", word(resolution))
            }
            Err(NotTaken::Wrong(message)) => message,
        };
        self.refuse(link, Reject::new(RejectCode::BadMessage, message).in_tab(tab));
    }

    /// A view answers by the session, and is told what came of it once that is on the disk.
    pub(super) fn answer(
        &mut self,
        now: Time,
        (link, request): (LinkId, RequestNo),
        id: SessionId,
        approval: &ApprovalId,
        reply: Reply,
    ) {
        let result = if self.sessions.get(&id).is_some_and(Session::is_writable) {
            match self.reply(now, id, approval, reply) {
                Ok(resolution) => Ok((resolution, AnsweredBy::You)),
                Err(NotTaken::Before(resolution)) => Ok((resolution, AnsweredBy::Before)),
                Err(NotTaken::Wrong(message)) => Err(message),
            }
        } else {
            Err("there is no such session, or it is being read from the disk".to_owned())
        };
        let is_taken = result.is_ok();
        let result = result.map_err(|message| ToolFailure::new(ToolCode::ValidationError, message));
        let told = Told::Answered { request, result };
        match is_taken {
            true => self.when_durable(id, Output::Tell { link, told }),
            false => self.tell(link, told),
        }
    }

    /// The first answer wins.
    fn reply(&mut self, now: Time, id: SessionId, name: &ApprovalId, reply: Reply) -> Result<Resolution, NotTaken> {
        let wrong = |message: &str| Err(NotTaken::Wrong(message.to_owned()));
        let Some(session) = self.sessions.get(&id) else { return wrong("there is no such session") };
        if session.is_elsewhere() {
            self.can_answer_elsewhere(session).map_err(NotTaken::Wrong)?;
        }
        // Whoever reads the agent's own log knows the question by the agent's name.
        let ours = session.approval_of(name).unwrap_or_else(|| name.clone());
        let name = &ours;
        let Some(open) = session.state.approval(name) else {
            return match session.state.resolution(name) {
                Some(resolution) => Err(NotTaken::Before(resolution)),
                None => wrong("no such approval is open here"),
            };
        };
        let (turn, asked) = (open.turn, open.approval.clone());
        let Reply { decision, command, option } = reply;
        let denies = matches!(decision, Decision::Deny | Decision::DenyStop);
        let command = command.filter(|command| !denies && Some(command) != asked.command.as_ref());
        if let Some(command) = &command {
            if !asked.editable {
                return wrong("this command cannot be edited; allow or deny it as it stands");
            }
            if decision != Decision::AllowOnce {
                return wrong("an edited command can only be allowed once; nothing was answered");
            }
            if command.trim().is_empty() || command.len() > MAX_COMMAND_BYTES {
                return Err(NotTaken::Wrong(format!(
                    "a command has 1 to {MAX_COMMAND_BYTES} bytes; nothing was answered"
                )));
            }
        }
        let of_host = asked.digest.is_some();
        if of_host && decision == Decision::AllowSession && session.keeps.grants.len() >= MAX_GRANTS {
            return Err(NotTaken::Wrong(format!(
                "{MAX_GRANTS} things are allowed for this session already; allow it once"
            )));
        }
        let option = choose(&asked, decision, option).map_err(NotTaken::Wrong)?;
        let rule = match (&asked.rule, decision) {
            (Some(what), Decision::AllowRule) if of_host => {
                Some(self.store_rule(now, id, what.clone(), &asked.title).map_err(NotTaken::Wrong)?)
            }
            (None, Decision::AllowRule) if of_host => {
                return wrong("no rule can be stored for this; allow it once, or for the session");
            }
            _ => None,
        };
        let resolution = Resolution::from(decision);
        self.resolve(now, id, name, Answer::Decided { resolution, option }, With { command, rule });
        if let (Decision::DenyStop, Some(turn)) = (decision, turn) {
            self.cancel_running(now, id, turn);
        }
        Ok(resolution)
    }

    /// An answer to an agent elsewhere must reach it.
    fn can_answer_elsewhere(&self, session: &Session) -> Result<(), String> {
        if !self.is_permitted(&session.workspace, &session.agent) {
            return Err(untrusted_message(&session.workspace));
        }
        match session.life() {
            Some(_) => Ok(()),
            None => Err("the agent cannot be reached now; answer when it is back".to_owned()),
        }
    }

    /// Answers every open question of a session at once.
    pub(super) fn resolve_all(&mut self, now: Time, id: SessionId, resolution: Resolution) {
        self.resolve_those(now, id, resolution, |_| true);
    }

    /// Answers every open question of a turn at once; what views asked for meanwhile is not the turn's.
    pub(super) fn resolve_turn(&mut self, now: Time, id: SessionId, turn: TurnId, resolution: Resolution) {
        self.resolve_those(now, id, resolution, |of| of == Some(turn));
    }

    fn resolve_those(
        &mut self,
        now: Time,
        id: SessionId,
        resolution: Resolution,
        picks: impl Fn(Option<TurnId>) -> bool,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let open = session.state.approvals().filter(|open| picks(open.turn));
        for approval in open.map(|open| open.approval.id.clone()).collect::<Vec<_>>() {
            self.resolve(now, id, &approval, Answer::Withdrawn { resolution }, With::default());
        }
    }

    /// A question has waited long enough.
    pub(super) fn approval_alarm(&mut self, now: Time, id: SessionId, approval: &ApprovalId) {
        let session = self.sessions.get(&id).filter(|session| session.is_writable());
        let Some(open) = session.and_then(|session| session.state.approval(approval)) else { return };
        if open.approval.expires.is_none_or(|expires| expires > now) {
            return;
        }
        let asker = session.and_then(|session| session.askers.get(approval).cloned());
        if let Some(ApprovalAsker::Errand(errand)) = asker {
            let seconds = self.settings.approval_ms.div_ceil(1000);
            let message = format!("nobody answered within {seconds} s");
            return self.withdraw(now, id, errand, ErrandFailure::new(ErrandCode::Denied, message));
        }
        self.resolve(now, id, approval, Answer::Withdrawn { resolution: Resolution::Expired }, With::default());
    }

    fn resolve(&mut self, now: Time, id: SessionId, approval: &ApprovalId, answer: Answer, with: With) {
        let open = self.sessions.get(&id).and_then(|session| session.state.approval(approval)).cloned();
        let (resolution, option, decided) = match &answer {
            Answer::Decided { resolution, option } => (*resolution, option.clone(), true),
            Answer::Withdrawn { resolution } => (*resolution, None, false),
        };
        let (turn, With { command, rule }) = (open.as_ref().and_then(|open| open.turn), with);
        let resolved =
            Body::ApprovalResolved { approval: approval.clone(), resolution, option, command: command.clone(), rule };
        self.append(now, id, turn, &resolved);
        self.heard_from(now, id);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let allows = matches!(resolution, Resolution::AllowOnce | Resolution::AllowSession | Resolution::AllowRule);
        match session.askers.remove(approval) {
            Some(ApprovalAsker::Agent(theirs)) => {
                if let (Some(open), Some(turn), true) = (open, turn, decided && allows) {
                    session.consents.push(Consent { turn, approval: open.approval });
                }
                self.answer_agent(id, theirs, answer);
            }
            Some(ApprovalAsker::Errand(errand)) => match (command, open) {
                (Some(command), Some(open)) => self.prepare_anew(now, id, errand, &command, &open.approval),
                _ if decided => self.errand_answered(now, id, errand, (approval, resolution)),
                _ => {
                    let failure =
                        ErrandFailure::new(ErrandCode::Cancelled, "it was taken back before anybody answered");
                    self.withdraw(now, id, errand, failure);
                }
            },
            None => {}
        }
    }

    /// The command was edited: what was made ready is forgotten, and the same errand is made ready in the new words.
    fn prepare_anew(&mut self, now: Time, id: SessionId, errand: ErrandId, command: &str, asked: &Approval) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let root = session.workspace.clone();
        let Some(open) = session.errands.get_mut(&errand) else { return };
        let Some(what) = open.what.as_ref().and_then(|what| edited(what, command)) else {
            let failure = ErrandFailure::new(ErrandCode::Failed, "its command cannot be edited");
            return self.withdraw(now, id, errand, failure);
        };
        open.stage = ErrandStage::Preparing;
        open.what = Some(what.clone());
        open.edited = Some((asked.id.clone(), asked.severity));
        self.outputs.push_back(Output::Errand(ErrandOrder::Drop { errand }));
        self.outputs.push_back(Output::Errand(ErrandOrder::Prepare { errand, session: id, root, what }));
    }

    fn answer_agent(&mut self, id: SessionId, approval: ApprovalId, answer: Answer) {
        if let Some(life) = self.sessions.get(&id).and_then(Session::life) {
            self.ask(id, life, Ask::ApprovalAnswer { session: id, approval, answer });
        }
    }

    /// A view is told of questions: those of the bench, and of the sessions that it calls tools for.
    pub(super) fn watch_approvals(&mut self, link_id: LinkId, request: RequestNo) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        link.questions.get_or_insert_default();
        self.tell(link_id, Told::ApprovalsWatched { request });
        let bench = self.home.as_ref().and_then(|root| self.bench_of(root));
        let called = self.links.get(&link_id).map(|link| link.called.clone()).unwrap_or_default();
        for id in bench.into_iter().chain(called) {
            self.show_questions(link_id, id);
        }
    }

    /// A view calls a tool for a session, so it hears of its questions from now on if it wants to.
    pub(super) fn calls_for(&mut self, link_id: LinkId, id: SessionId) {
        let is_new = self.links.get_mut(&link_id).is_some_and(|link| link.called.insert(id));
        if is_new {
            self.show_questions(link_id, id);
        }
    }

    /// Shows one view every open question of a session.
    fn show_questions(&mut self, link: LinkId, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let open: Vec<ApprovalId> = session.state.approvals().map(|open| open.approval.id.clone()).collect();
        for approval in open {
            self.show_to(link, id, &approval);
        }
    }

    /// Shows a question to every view that is told of this session's.
    pub(super) fn show_question(&mut self, id: SessionId, approval: &ApprovalId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let at_home = session.agent.is_bench() && self.home.as_ref() == Some(&session.workspace);
        let hears = |link: &crate::seat::Link| link.questions.is_some() && (at_home || link.called.contains(&id));
        let links: Vec<LinkId> = self.links.iter().filter(|(_, link)| hears(link)).map(|(id, _)| *id).collect();
        for link in links {
            self.show_to(link, id, approval);
        }
    }

    /// Shows a question to a view once, when it is on the disk.
    fn show_to(&mut self, link_id: LinkId, id: SessionId, approval: &ApprovalId) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        let Some(told) = &mut link.questions else { return };
        let sessions = &self.sessions;
        // Only what is open can be told again.
        told.retain(|(id, approval)| {
            sessions.get(id).is_some_and(|session| session.state.approval(approval).is_some())
        });
        if !told.insert((id, approval.clone())) {
            return;
        }
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(open) = session.state.approval(approval) else { return };
        let is_durable = open.asked_at <= session.durable;
        let told = Told::ApprovalOpen { session: id, approval: Box::new(open.approval.clone()) };
        let output = Output::Tell { link: link_id, told };
        match is_durable {
            true => self.outputs.push_back(output),
            false => self.when_durable(id, output),
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
        Resolution::Expired => "expired",
    }
}
