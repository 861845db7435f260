//! What agents elsewhere say: each event of their logs becomes exactly one of ours that names it, and the turns are theirs to
//! begin and to end. Never drops an event, and never judges their questions: they are about another machine.

use switchboard_types::limits::MAX_ID_BYTES;
use switchboard_types::{
    AgentName, Answer, Approval, ApprovalId, Ask, Body, Connection, ConnectionStatus, Detail, LifeId, Outcome, Prompt,
    Resolution, Said, SessionId, Source, Time, TitleBy, TurnId, TurnName, TurnPhase, Word, WorkspaceRoot,
};

use super::Host;
use super::turns::title_from;
use super::words::Words;
use crate::far::{Skipped, SourcedOn, Sourcing};
use crate::fold::named_elsewhere;
use crate::open::ApprovalAsker;
use crate::session::{AgentPlace, Numbers, Session};
use crate::timers::Alarm;

/// How the names of turns begin that nobody asked for.
const UNASKED: &str = "unasked ";

impl Host {
    /// Whether an agent works elsewhere, as the configuration says now.
    pub(super) fn is_configured_elsewhere(&self, workspace: &WorkspaceRoot, agent: &AgentName) -> bool {
        let known = self.workspaces.get(workspace);
        let info = known.and_then(|known| known.agents.iter().find(|info| info.name == *agent));
        info.is_some_and(|info| info.home == switchboard_types::AgentHome::Elsewhere)
    }

    /// One event of a foreign log.
    pub(super) fn sourced(
        &mut self,
        now: Time,
        (life, id): (LifeId, SessionId),
        (source, said): (Source, Said),
        rest: &mut Words,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        if !matches!(session.place, AgentPlace::Open { .. }) || !session.is_next(&source) {
            self.counters.late_words += 1;
            return;
        }
        match said {
            Said::Text(text) => return self.far_streamed(now, id, (source, Body::Text { text }), rest),
            Said::Thought(text) => return self.far_streamed(now, id, (source, Body::Thought { text }), rest),
            Said::Word(word) => {
                let on = sourced_on(&word);
                self.set_sourcing(id, Sourcing { source, on });
                if word.session() == Some(id) && !matches!(*word, Word::Sourced { .. }) {
                    self.word(now, (life, id), *word, rest);
                }
            }
            Said::Nothing => self.set_sourcing(id, Sourcing { source, on: SourcedOn::First }),
        }
        // Whatever it was, it is in the log.
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let turn = session.heard_turn();
        let Some(Sourcing { source, .. }) = session.far.sourcing.take() else { return };
        let unknown = Body::Unknown { name: source.name.clone(), raw: source.rest.clone() };
        self.set_sourcing(id, Sourcing { source, on: SourcedOn::First });
        self.append(now, id, turn, &unknown);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.far.sourcing = None;
        }
    }

    fn set_sourcing(&mut self, id: SessionId, sourcing: Sourcing) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.far.sourcing = Some(sourcing);
        }
    }

    /// The hot path: a piece of text, and all pieces of the same turn that follow it at once. What a piece is for is looked
    /// up once: no piece changes it.
    fn far_streamed(&mut self, now: Time, id: SessionId, first: (Source, Body), rest: &mut Words) {
        let (mut source, mut body) = first;
        let number = source.turn;
        let Some(session) = self.sessions.get(&id) else { return };
        let known = session.far_turn_numbered(number).or_else(|| session.far_turn_over(number));
        let turn = known.or_else(|| self.begin_unasked(now, id, &source));
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let before = session.open_bytes();
        if before == 0 {
            self.dirty.insert(id);
        }
        loop {
            session.append_sourced(now, turn, &body, source);
            self.counters.events += 1;
            let next = rest.next_if(|word| is_far_piece_of(word, session, number)).and_then(far_piece);
            let Some(next) = next else { break };
            (source, body) = next;
        }
        self.uncommitted += session.open_bytes() - before;
    }

    /// The agent says something though nobody has asked, as far as its log tells: a turn is begun for it.
    fn begin_unasked(&mut self, now: Time, id: SessionId, source: &Source) -> Option<TurnId> {
        let name = self.free_name(id, &TurnName::new(format!("{UNASKED}{}", source.id)));
        let session = self.sessions.get_mut(&id)?;
        let turn = session.state.next_turn();
        session.far.unasked = Some(turn);
        session.far_number(source.turn, turn);
        // The event itself is what comes next.
        let sourcing = session.far.sourcing.take();
        self.append(now, id, Some(turn), &Body::PromptQueued { name, prompt: Prompt::default(), position: 0 });
        self.append(now, id, Some(turn), &Body::TurnStarted {});
        self.append(now, id, Some(turn), &Body::PromptTaken {});
        self.sessions.get_mut(&id)?.far.sourcing = sourcing;
        Some(turn)
    }

    /// After a restart: whether the turn that runs is one that nobody asked for.
    pub(super) fn know_unasked(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.is_elsewhere()) else { return };
        let Some(turn) = session.state.running() else { return };
        let unasked = session.state.turn(turn).is_some_and(|turn| turn.name.as_str().starts_with(UNASKED));
        let unasked = unasked && session.state.running_prompt().is_none_or(|prompt| prompt.text.is_empty());
        session.far.unasked = unasked.then_some(turn);
    }

    /// A turn that nobody asked for gives way to one that somebody did.
    pub(super) fn end_unasked(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(turn) = session.far.unasked.take().filter(|turn| session.state.running() == Some(*turn)) else {
            return;
        };
        self.end_turn(now, id, turn, Outcome::Completed, None);
    }

    /// Somebody else has asked the agent.
    pub(super) fn prompted_elsewhere(&mut self, now: Time, id: SessionId, name: TurnName, prompt: Prompt) {
        let Some(session) = self.sessions.get(&id) else { return };
        let number = session.far.sourcing.as_ref().and_then(|sourcing| sourcing.source.turn);
        let running = session.state.running();
        if running.is_some() && session.state.turn_named(&name) == running {
            // It is the one that we sent, after all.
            if let Some(sourcing) = self.sessions.get_mut(&id).and_then(|session| session.far.sourcing.as_mut()) {
                sourcing.on = SourcedOn::First;
            }
            return self.prompt_taken(now, id);
        }
        self.end_unasked(now, id);
        let name = self.free_name(id, &name);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let turn = session.state.next_turn();
        session.far_number(number, turn);
        let untaken = session.state.running().filter(|turn| !session.has_taken(*turn));
        // What was only sent to the agent comes after what the agent has.
        let ahead = session.state.taken().len();
        let position = u32::try_from(ahead).unwrap_or(u32::MAX);
        let title = session.state.title.is_empty().then(|| title_from(&prompt.text)).filter(|title| !title.is_empty());
        self.append(now, id, Some(turn), &Body::PromptQueued { name, prompt, position });
        if let Some(title) = title {
            self.append(now, id, None, &Body::TitleChanged { title, by: TitleBy::Host });
        }
        if untaken.is_none() {
            self.pump(now, id);
        }
    }

    /// The first name like this one that no turn of the session has.
    fn free_name(&self, id: SessionId, wanted: &TurnName) -> TurnName {
        let Some(session) = self.sessions.get(&id) else { return wanted.clone() };
        let fits = wanted.as_str().len() <= MAX_ID_BYTES;
        if fits && session.state.turn_named(wanted).is_none() {
            return wanted.clone();
        }
        TurnName::new(format!("{}{}", namesakes(wanted), session.head.next()))
    }

    /// A turn that the agent has begins in our log, too.
    pub(super) fn start_taken(&mut self, now: Time, id: SessionId, turn: TurnId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.stderr_lines = 0;
        }
        self.append(now, id, Some(turn), &Body::TurnStarted {});
        self.heard_from(now, id);
        self.timers.set(now.after_ms(self.settings.stall_ms), Alarm::Session(id));
    }

    /// The agent has the prompt that was sent to it.
    pub(super) fn prompt_taken(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let number = session.far.sourcing.as_ref().and_then(|sourcing| sourcing.source.turn);
        let Some(turn) = session.state.running().filter(|turn| !session.has_taken(*turn)) else { return };
        session.far_number(number, turn);
        self.append(now, id, Some(turn), &Body::PromptTaken {});
    }

    /// The agent is done with a turn: the one that it names, else the one that it works on.
    pub(super) fn far_turn_done(
        &mut self,
        now: Time,
        id: SessionId,
        name: Option<&TurnName>,
        (outcome, detail): (Outcome, Option<Detail>),
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        let named = name.and_then(|name| session.state.turn_named(name));
        let phase = named.and_then(|turn| session.state.turn(turn)).map(|turn| turn.phase);
        let turn = match (named, phase) {
            (Some(over), Some(TurnPhase::Ended)) => session.namesake(over),
            (Some(turn), _) if session.has_taken(turn) || session.state.running() == Some(turn) => Some(turn),
            // A prompt that only waits here is nothing that the agent could end.
            (Some(_), _) => None,
            // A turn whose beginning is lost cannot be the one that was sent and is not there yet.
            (None, _) if name.is_some() => session.heard_turn().filter(|turn| session.has_taken(*turn)),
            (None, _) => session.heard_turn(),
        };
        let Some(turn) = turn else {
            self.counters.late_words += 1;
            return;
        };
        if session.state.running() == Some(turn) {
            return self.finish_running(now, id, outcome, detail);
        }
        self.resolve_turn(now, id, turn, Resolution::Expired);
        self.end_turn(now, id, turn, outcome, detail);
        self.pump(now, id);
    }

    /// A question of the agent, to be put to a person whatever the policy says; none if it belongs to no turn.
    pub(super) fn far_turn_to_ask(&mut self, now: Time, id: SessionId) -> Option<TurnId> {
        let session = self.sessions.get(&id)?;
        if let Some(turn) = session.heard_turn() {
            return Some(turn);
        }
        let source = session.far.sourcing.as_ref()?.source.clone();
        self.begin_unasked(now, id, &source)
    }

    /// The agent's question was answered where it is.
    pub(super) fn approval_settled(&mut self, now: Time, id: SessionId, theirs: &ApprovalId, resolution: Resolution) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(ours) = session.approval_of(theirs) else {
            let heard: Vec<ApprovalId> = session.state.unconfirmed().iter().map(|one| one.approval.clone()).collect();
            for approval in heard.iter().filter(|ours| named_elsewhere(ours) == Some(theirs.as_str())) {
                session.state.confirm(approval);
            }
            return;
        };
        session.askers.remove(&ours);
        let turn = session.state.approval(&ours).and_then(|open| open.turn);
        let resolved =
            Body::ApprovalResolved { approval: ours.clone(), resolution, option: None, command: None, rule: None };
        self.append(now, id, turn, &resolved);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.state.confirm(&ours);
        }
    }

    /// How the way to the agent is now.
    pub(super) fn way_changed(&mut self, id: SessionId, connection: Connection) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.far.connection != connection {
            session.far.connection = connection;
            self.touch(id);
        }
    }

    /// The way to the agent is broken on our side.
    pub(super) fn way_lost(&mut self, id: SessionId, reason: &str) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Connection { retries, gap, .. } = session.far.connection;
        let (status, last_error) = (ConnectionStatus::Error, Some(reason.to_owned()));
        self.way_changed(id, Connection { status, retries: retries.saturating_add(1), last_error, gap });
    }

    /// Events of the agent's log are lost.
    pub(super) fn source_gap(
        &mut self,
        now: Time,
        id: SessionId,
        (from, to): (Option<u64>, Option<u64>),
        message: String,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        // If the agent's own log tells of it, that log has no hole.
        let told_there = session.far.sourcing.is_some();
        let open = matches!(session.place, AgentPlace::Open { .. });
        let missing = if told_there { Some((from, to)) } else { session.missing(from, to).filter(|_| open) };
        let Some((from, to)) = missing else {
            self.counters.late_words += 1;
            return;
        };
        let turn = session.heard_turn();
        self.append(now, id, turn, &Body::SourceGap { from, to, message });
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.is_writable()) else { return };
        if !told_there {
            let begins_anew = from.is_none() && to.is_none();
            session.forget_cursor(if begins_anew { Numbers::BeginAnew } else { Numbers::GoOn });
            session.far.skipped = to.map_or(Skipped::Unknown, Skipped::To);
        }
    }

    /// The agent is there again: it hears once more what it may not have heard.
    pub(super) fn far_opened(&mut self, now: Time, id: SessionId, life: LifeId) {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.is_elsewhere()) else { return };
        session.far.retry_at = None;
        let open: Vec<ApprovalId> = session.state.approvals().map(|open| open.approval.id.clone()).collect();
        for ours in open {
            if let Some(theirs) = named_elsewhere(&ours).map(ApprovalId::from) {
                session.askers.insert(ours, ApprovalAsker::Agent(theirs));
            }
        }
        let answers: Vec<Ask> = session.state.unconfirmed().iter().filter_map(|one| answer_again(id, one)).collect();
        let cancelled = session.state.running().filter(|_| session.state.is_cancelling());
        let name = cancelled.and_then(|turn| session.state.turn(turn)).map(|turn| turn.name.clone());
        for ask in answers {
            self.ask(id, life, ask);
        }
        if let Some(name) = name {
            self.ask(id, life, Ask::Cancel { session: id, name });
            let by = now.after_ms(self.settings.cancel_ms);
            if let Some(session) = self.sessions.get_mut(&id) {
                session.cancel_by = Some(by);
            }
            self.timers.set(by, Alarm::Session(id));
        }
    }

    /// The agent has refused a session, or has ended it: it is asked again, but not at once.
    pub(super) fn far_refused(&mut self, now: Time, id: SessionId, reason: &str) {
        self.way_lost(id, reason);
        let at = now.after_ms(self.settings.backoff_max_ms);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.far.retry_at = Some(at);
        }
        self.timers.set(at, Alarm::Session(id));
    }
}

impl Session {
    /// The turn that the agent means by the name of one that is over here: one that it has called by that name again, or the
    /// one that nobody asked for, as far as we know, because what was asked was given up here.
    fn namesake(&self, over: TurnId) -> Option<TurnId> {
        let begins = namesakes(&self.state.turn(over)?.name);
        let is_it = |turn: &TurnId| {
            self.far.unasked == Some(*turn)
                || self.state.turn(*turn).is_some_and(|turn| turn.name.as_str().starts_with(&begins))
        };
        self.state.taken().find(is_it)
    }

    /// Our name for an open question of an agent elsewhere.
    pub(crate) fn approval_of(&self, theirs: &ApprovalId) -> Option<ApprovalId> {
        let is_it = |ours: &ApprovalId| {
            named_elsewhere(ours) == Some(theirs.as_str())
                || self.askers.get(ours) == Some(&ApprovalAsker::Agent(theirs.clone()))
        };
        self.state.approvals().map(|open| &open.approval.id).find(|ours| is_it(ours)).cloned()
    }

    /// The name of a question of an agent elsewhere: unique for ever, and it leads back to the agent's own after a restart.
    pub(crate) fn name_far_approval(&self, approval: &Approval) -> ApprovalId {
        let long = format!("a{}:{}", self.head.next(), approval.id);
        if long.len() <= MAX_ID_BYTES {
            ApprovalId::new(long)
        } else {
            ApprovalId::new(format!("a{}", self.head.next()))
        }
    }
}

fn answer_again(session: SessionId, one: &crate::fold::Unconfirmed) -> Option<Ask> {
    let approval = ApprovalId::from(named_elsewhere(&one.approval)?);
    let answer = Answer::Decided { resolution: one.resolution, option: one.option.clone() };
    Some(Ask::ApprovalAnswer { session, approval, answer })
}

/// How the names of turns begin that the agent calls by a name that another one has.
fn namesakes(name: &TurnName) -> String {
    let cut = name.as_str().floor_char_boundary(MAX_ID_BYTES - 24);
    format!("{} @", name.as_str().get(..cut).unwrap_or_default())
}

/// Which of the events that a word leads to stands for it.
fn sourced_on(word: &Word) -> SourcedOn {
    if let Word::PromptedElsewhere { .. } = word {
        return SourcedOn::Queued;
    }
    if let Word::TurnDone { .. } | Word::TurnFailed { .. } = word {
        return SourcedOn::Ended;
    }
    if let Word::ApprovalSettled { .. } = word { SourcedOn::Resolved } else { SourcedOn::First }
}

fn far_piece(word: Word) -> Option<(Source, Body)> {
    let Word::Sourced { source, said, .. } = word else { return None };
    match said {
        Said::Text(text) => Some((source, Body::Text { text })),
        Said::Thought(text) => Some((source, Body::Thought { text })),
        Said::Word(_) | Said::Nothing => None,
    }
}

fn is_far_piece_of(word: &Word, of: &Session, turn: Option<u32>) -> bool {
    let Word::Sourced { session, source, said: Said::Text(_) | Said::Thought(_) } = word else { return false };
    *session == of.id && source.turn == turn && of.is_next(source)
}
