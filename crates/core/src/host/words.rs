//! What agents say. A word touches only the session and the turn that it is for; what comes too late or for nobody is
//! counted and changes nothing.

use serde::Serialize;
use switchboard_types::limits::{MAX_AGENT_TITLE_CHARS, MAX_NOTICE_CHARS};
use switchboard_types::{
    AgentOption, AgentSession, Body, Detail, LifeId, Memory, Outcome, SessionId, SlashCommand, Telling, Text, Time,
    TitleBy, TurnName, Word,
};

use super::Host;
use crate::input::Output;
use crate::open::ApprovalAsker;
use crate::session::{AgentPlace, Recap, Session};

/// What is left of what an agent said at once.
pub(super) type Words = std::iter::Peekable<std::vec::IntoIter<Word>>;

impl Host {
    pub(super) fn words(&mut self, now: Time, life: LifeId, words: Vec<Word>) {
        if self.stopping {
            return;
        }
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            match word.session() {
                Some(id) if self.is_served_by(id, life) => self.word(now, (life, id), word, &mut words),
                Some(_) => self.counters.late_words += 1,
                None => self.word_for_all(now, life, word),
            }
        }
    }

    fn is_served_by(&self, id: SessionId, life: LifeId) -> bool {
        self.sessions.get(&id).is_some_and(|session| session.life() == Some(life) && session.is_writable())
    }

    /// One word; streamed text takes those of its turn that follow along.
    pub(super) fn word(&mut self, now: Time, (life, id): (LifeId, SessionId), word: Word, rest: &mut Words) {
        self.heard_from(now, id);
        match word {
            Word::Text { name, text, .. } => self.streamed(now, id, (name, Body::Text { text }), rest),
            Word::Thought { name, text, .. } => self.streamed(now, id, (name, Body::Thought { text }), rest),
            Word::SessionOpened { agent_session, memory, .. } => {
                self.agent_session_opened(now, life, id, agent_session, memory);
            }
            Word::SignInNeeded { message, methods, .. } => {
                self.append(now, id, None, &Body::SignInNeeded { message, methods });
            }
            Word::Code { name, text, .. } => self.code(now, id, name.as_ref(), text),
            Word::Echo { text, .. } => self.in_running(now, id, Body::Echo { text }),
            Word::Log { level, message, .. } => self.in_running(now, id, Body::Log { level, message }),
            Word::Title { title, .. } => self.titled(now, id, &title),
            Word::Commands { commands, .. } => self.commands_told(now, id, commands),
            Word::Options { options, .. } => self.options_told(now, id, options),
            Word::Usage { used, size, cost, .. } => self.in_running(now, id, Body::Usage { used, size, cost }),
            Word::TurnUsed { tokens, cost, .. } => self.in_running(now, id, Body::TurnUsed { tokens, cost }),
            Word::OwnToolCall { call, told: Telling::First, .. } => self.in_running(now, id, Body::ToolCall { call }),
            Word::OwnToolCall { call, told: Telling::Again, .. } => {
                self.in_running(now, id, Body::ToolCallUpdate { call });
            }
            Word::Errand { errand, what, .. } => self.errand_wanted((life, id), errand, what),
            Word::ErrandDropped { errand, .. } => self.errand_dropped(now, id, &errand),
            Word::OpenFailed { message, .. } => self.open_failed(now, id, &message),
            Word::Plan { entries, .. } => self.in_running(now, id, Body::Plan { entries }),
            Word::Status { message, progress, .. } => self.in_running(now, id, Body::Status { message, progress }),
            Word::TurnDone { name, outcome, detail, .. } => self.turn_done(now, id, name.as_ref(), outcome, detail),
            Word::TurnFailed { message, .. } => self.turn_failed(now, id, message),
            Word::ToolCall { call, tool, parameters, .. } => self.tool_call(now, (life, id), call, tool, parameters),
            Word::ApprovalWanted { approval, .. } => self.approval_wanted(now, id, approval),
            Word::SessionEnded { reason, .. } => self.agent_session_ended(now, id, reason),
            Word::Unknown { name, raw, .. } => self.in_running(now, id, Body::Unknown { name, raw }),
            Word::Sourced { source, said, .. } => self.sourced(now, (life, id), (source, said), rest),
            Word::PromptedElsewhere { name, prompt, .. } => self.prompted_elsewhere(now, id, name, prompt),
            Word::PromptTaken { .. } => self.prompt_taken(now, id),
            Word::ApprovalSettled { approval, resolution, .. } => {
                self.approval_settled(now, id, &approval, resolution);
            }
            Word::Connection { connection, .. } => self.way_changed(id, connection),
            Word::Gap { from, to, message, .. } => self.source_gap(now, id, (from, to), message),
            Word::Replied { request, result, .. } => self.replied(id, request, result),
            Word::Sessions { .. } | Word::Trouble { .. } | Word::Introduced { .. } => {}
        }
    }

    /// An error that names no session ends the only turn that runs; if several do, each of them is told of it.
    fn word_for_all(&mut self, now: Time, life: LifeId, word: Word) {
        let message = match word {
            Word::Trouble { message } => message,
            Word::Sessions { sessions } => return self.sessions_elsewhere(life, sessions),
            _ => return,
        };
        let message: String = message.chars().take(MAX_NOTICE_CHARS).collect();
        let served = self.sessions.values().filter(|session| session.life() == Some(life) && session.is_writable());
        let concerned = served.filter(|session| session.heard_turn().is_some() || session.state.queue().len() > 0);
        let concerned: Vec<SessionId> = concerned.map(|session| session.id).collect();
        let is_here = |id: &SessionId| self.sessions.get(id).is_some_and(|session| !session.is_elsewhere());
        if let [only] = concerned.as_slice()
            && is_here(only)
        {
            return self.turn_failed(now, *only, message);
        }
        for id in concerned {
            self.append(now, id, None, &Body::Status { message: message.clone(), progress: None });
        }
    }

    /// The hot path: a piece of text of the running turn, or a late one of the turn that the agent names, and all pieces of
    /// the same turn that follow it at once. What a piece is for is looked up once: no piece changes it.
    fn streamed(&mut self, now: Time, id: SessionId, first: (Option<TurnName>, Body), rest: &mut Words) {
        let (name, mut body) = first;
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(turn) = session.turn_for(name.as_ref()) else {
            // Nobody asked, so no turn can show it; it is kept all the same.
            if let Body::Text { text } | Body::Thought { text } = body {
                self.append(now, id, None, &outside_a_turn(&text));
            }
            return;
        };
        let before = session.open_bytes();
        if before == 0 {
            self.dirty.insert(id);
        }
        loop {
            session.append(now, Some(turn), &body);
            self.counters.events += 1;
            let Some(next) = rest.next_if(|word| is_piece_of(word, id, name.as_ref())).and_then(piece) else { break };
            body = next;
        }
        self.uncommitted += session.open_bytes() - before;
    }

    fn in_running(&mut self, now: Time, id: SessionId, body: Body) {
        let turn = self.sessions.get(&id).and_then(crate::session::Session::heard_turn);
        self.append(now, id, turn, &body);
    }

    /// What an agent tells apart as code; rarer than text, so one by one.
    fn code(&mut self, now: Time, id: SessionId, name: Option<&TurnName>, text: Text) {
        let Some(session) = self.sessions.get(&id) else { return };
        let turn = session.turn_for(name);
        let body = if turn.is_some() { Body::Code { text } } else { outside_a_turn(&text) };
        self.append(now, id, turn, &body);
    }

    fn titled(&mut self, now: Time, id: SessionId, title: &str) {
        let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = line.chars().take(MAX_AGENT_TITLE_CHARS).collect();
        let Some(session) = self.sessions.get(&id) else { return };
        if !title.is_empty() && session.state.title != title && session.keeps.titled == TitleBy::Host {
            self.append(now, id, None, &Body::TitleChanged { title, by: TitleBy::Host });
        }
    }

    /// Agents repeat their lists at every start; the same list is not kept twice.
    fn commands_told(&mut self, now: Time, id: SessionId, commands: Vec<SlashCommand>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let digest = digest_of(&commands);
        if std::mem::replace(&mut session.told_lists.commands, digest) != digest {
            self.append(now, id, None, &Body::CommandsChanged { commands });
        }
    }

    fn options_told(&mut self, now: Time, id: SessionId, options: Vec<AgentOption>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let digest = digest_of(&options);
        session.choices.options.clone_from(&options);
        self.set_first_model(id);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if std::mem::replace(&mut session.told_lists.options, digest) != digest {
            self.append(now, id, None, &Body::OptionsChanged { options });
        }
    }

    fn turn_done(
        &mut self,
        now: Time,
        id: SessionId,
        name: Option<&TurnName>,
        outcome: Outcome,
        detail: Option<Detail>,
    ) {
        let Some(session) = self.sessions.get(&id) else { return };
        if session.is_elsewhere() {
            return self.far_turn_done(now, id, name, (outcome, detail));
        }
        if session.turn_for(name).is_some_and(|turn| session.heard_turn() == Some(turn)) {
            self.finish_running(now, id, outcome, detail);
        } else {
            self.counters.late_words += 1;
        }
    }

    fn turn_failed(&mut self, now: Time, id: SessionId, message: String) {
        let Some(session) = self.sessions.get(&id) else { return };
        let detail = |message| Some(Detail::new("agent_error", message));
        // What was never taken is what can have failed without a word in the agent's own log.
        let untaken = session.state.running().filter(|turn| !session.has_taken(*turn));
        if session.is_elsewhere() && (untaken.is_none() || session.far.sourcing.is_some()) {
            self.far_turn_done(now, id, None, (Outcome::Failed, detail(message)));
        } else if session.heard_turn().is_some() {
            self.finish_running(now, id, Outcome::Failed, detail(message));
        } else {
            self.append(now, id, None, &Body::Status { message, progress: None });
        }
    }

    fn agent_session_opened(
        &mut self,
        now: Time,
        life: LifeId,
        id: SessionId,
        agent_session: Option<AgentSession>,
        memory: Option<Memory>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.place = AgentPlace::Open { life };
        session.slow = false;
        session.set_agent_session(agent_session);
        if memory == Some(Memory::Summarized) && session.state.has_spoken() {
            session.recap = Recap::Wanted;
            self.outputs.push_back(Output::Recap(id));
        }
        if let Some(memory) = memory {
            self.append(now, id, None, &Body::AgentSessionRestored { memory });
        }
        self.touch(id);
        self.lives.has_served(life);
        self.far_opened(now, id, life);
        self.pump(now, id);
        self.watch_idle(now, life);
    }

    /// Whether the summary that the agent needs is still being made.
    pub(super) fn lacks_recap(&self, id: SessionId) -> bool {
        self.sessions.get(&id).is_some_and(|session| session.recap == Recap::Wanted)
    }

    /// The summary is there; without one the agent goes on all the same, and the person is told.
    pub(super) fn recap_made(&mut self, now: Time, id: SessionId, recap: Result<String, String>) {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.recap == Recap::Wanted) else { return };
        match recap {
            Ok(recap) => session.recap = Recap::Ready(recap),
            Err(reason) => {
                session.recap = Recap::None;
                let message = format!("the agent goes on without a summary of the conversation: {reason}");
                self.append(now, id, None, &Body::Status { message, progress: None });
            }
        }
        self.pump(now, id);
    }

    fn open_failed(&mut self, now: Time, id: SessionId, message: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.place = AgentPlace::None;
        session.slow = false;
        let message = format!("agent `{}` could not open a session: {message}", session.agent);
        let elsewhere = session.is_elsewhere();
        self.touch(id);
        self.fail_front(now, id, &message);
        if elsewhere {
            self.far_refused(now, id, &message);
        }
        self.fail_wishes(&message, |wish| wish.session == id);
        self.pump(now, id);
    }

    fn agent_session_ended(&mut self, now: Time, id: SessionId, reason: Option<String>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.place = AgentPlace::None;
        // Its questions are nobody's any more; what the host does goes on.
        session.askers.retain(|_, asker| matches!(asker, ApprovalAsker::Errand(_)));
        session.gated.retain(|(_, output)| !matches!(output, Output::Ask { .. }));
        session.recap = Recap::None;
        session.set_agent_session(None);
        self.touched.insert(id);
        self.drop_errands(now, id);
        let message = match reason {
            Some(reason) => format!("the agent ended its session: {reason}"),
            None => "the agent ended its session".to_owned(),
        };
        self.fail_wishes(&message, |wish| wish.session == id);
        if self.sessions.get(&id).is_some_and(Session::is_elsewhere) {
            self.far_refused(now, id, &message);
        }
        if self.sessions.get(&id).is_some_and(|session| session.state.running().is_some()) {
            self.finish_running(now, id, Outcome::Failed, Some(Detail::new("agent_error", message)));
        } else {
            self.append(now, id, None, &Body::Status { message, progress: None });
        }
        self.pump(now, id);
    }
}

/// A digest of what a list says, to tell whether it is the one before.
fn digest_of<T: Serialize>(list: &T) -> u64 {
    let text = serde_json::to_vec(list).unwrap_or_default();
    crate::fold::digest_of([text.as_slice()])
}

/// A piece of streamed text as the event that it becomes; none if the word is no such.
fn piece(word: Word) -> Option<Body> {
    if let Word::Text { text, .. } = word {
        return Some(Body::Text { text });
    }
    if let Word::Thought { text, .. } = word { Some(Body::Thought { text }) } else { None }
}

fn is_piece_of(word: &Word, id: SessionId, of: Option<&TurnName>) -> bool {
    let (Word::Text { session, name, .. } | Word::Thought { session, name, .. }) = word else { return false };
    *session == id && name.as_ref() == of
}

fn outside_a_turn(text: &Text) -> Body {
    let raw = serde_json::json!({ "text": text.to_plain() }).to_string();
    Body::Unknown { name: "text outside a turn".to_owned(), raw }
}
