//! Whose record a message belongs to. A message goes to no record but that of a session that it is about; where it may be
//! about another one too, the record says that there was one and not what.

use std::sync::Arc;

use bytes::Bytes;
use switchboard_core::{Input, LogMark};
use switchboard_types::{Command, LifeId, LinkId, Reject, SessionId, Time, Told, Word};

use crate::driver::Driver;
use crate::link::{AgentTape, ViewTape};
use crate::wire::entry::Events;
use crate::wire::recorder::Draft;
use crate::wire::{Direction, Side, Verdict};

/// Whom a message is about.
enum About {
    /// These sessions.
    Sessions(Vec<SessionId>),
    /// No session that we know: it goes to whoever is at that link, or that process.
    Nobody(Vec<SessionId>, Company),
}

/// Whether what is about no session that we know may all the same be about one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Company {
    /// It may not.
    Alone,
    /// It may.
    Others,
}

impl Company {
    fn of(sessions: &[SessionId]) -> Self {
        if sessions.iter().any(|one| Some(one) != sessions.first()) { Self::Others } else { Self::Alone }
    }
}

impl Driver {
    /// Takes what went over a process's pipes: hands in the words of one message at a time, so that each is known by its
    /// events. Their order is the one in which they would be handed in together.
    pub(in crate::driver) fn agent_tape(&mut self, life: LifeId, items: Vec<AgentTape>) {
        for item in items {
            match item {
                AgentTape::Heard { at, raw, bytes, words, noise } => {
                    let named: Vec<SessionId> = words.iter().filter_map(Word::session).collect();
                    let served = |session: &SessionId| self.host.life_of(*session) == Some(life);
                    let late = noise.is_none() && !named.is_empty() && !named.iter().any(served);
                    let verdict = match (&noise, late) {
                        (Some(_), _) => Verdict::Noise,
                        (None, true) => Verdict::Late,
                        (None, false) => Verdict::Ok,
                    };
                    let about = if named.is_empty() { self.about_life(life) } else { About::Sessions(named) };
                    let marks = self.marks(&about);
                    if !words.is_empty() {
                        self.host.handle(self.clock.now(), Input::Words { life, words });
                    }
                    let draft = self.of_life(life, at, Direction::In, bytes, raw);
                    self.keep(about, marks, Draft { verdict, why: noise, ..draft });
                }
                AgentTape::Told { at, raw, bytes, session } => {
                    let about = match session {
                        Some(session) => About::Sessions(vec![session]),
                        None => self.about_life(life),
                    };
                    let draft = self.of_life(life, at, Direction::Out, bytes, raw);
                    self.keep(about, Vec::new(), draft);
                }
                AgentTape::LeftOut(count) => {
                    let served: Vec<SessionId> = self.host.served_by(life).collect();
                    for session in self.kept_of(served) {
                        self.wire.recorder.leave_out(session, count);
                    }
                }
            }
        }
    }

    /// Hands something about a process to the host, and notes it in the records of its sessions.
    pub(in crate::driver) fn agent_note(
        &mut self,
        life: LifeId,
        name: &'static str,
        why: Option<String>,
        input: Input,
    ) {
        if !self.is_recording() {
            return self.host.handle(self.clock.now(), input);
        }
        let about = About::Nobody(self.host.meant_for(life), Company::Alone);
        let marks = self.marks(&about);
        let now = self.clock.now();
        self.host.handle(now, input);
        let draft = self.of_life(life, now, Direction::Note, 0, Bytes::new());
        self.keep(about, marks, Draft { name, why, raw: None, ..draft });
    }

    /// What a record keeps of a process's error output: no line of it says whom it is about.
    pub(in crate::driver) fn error_output(&self, life: LifeId, lines: &[String]) -> String {
        let served: Vec<SessionId> = self.host.served_by(life).collect();
        match Company::of(&served) {
            Company::Alone => lines.join("\n"),
            Company::Others => {
                format!("{} lines, not kept, since the process serves other sessions as well", lines.len())
            }
        }
    }

    fn about_life(&self, life: LifeId) -> About {
        let served: Vec<SessionId> = self.host.served_by(life).collect();
        // Before it serves anybody, nothing that it says can be about somebody.
        let (company, nobody) = (Company::of(&served), served.is_empty());
        About::Nobody(if nobody { self.host.meant_for(life) } else { served }, company)
    }

    fn of_life(&self, life: LifeId, at: Time, dir: Direction, bytes: usize, raw: Bytes) -> Draft {
        let known = self.wire.lives.get(&life);
        let peer = known.map_or_else(|| format!("life {life}"), |known| known.peer.clone());
        let dialect = known.map_or("", |known| known.dialect);
        draft(at, Side::Agent, peer, dir, dialect, bytes, raw)
    }

    /// Takes a message of a view as it came.
    pub(in crate::driver) fn view_tape(&mut self, link: LinkId, tape: ViewTape) {
        let ViewTape { at, kind, raw, bytes, read } = tape;
        let of_link = |dir, bytes, raw| draft(at, Side::View, format!("link {link}"), dir, kind.name(), bytes, raw);
        match read {
            Ok(command) => {
                let (before, outputs) = (self.about_command(link, &command), self.host.outputs_waiting());
                let marks = self.marks(&before);
                let again = command.clone();
                self.command(link, command);
                let refusal = self.host.refusal_after(outputs, link).map(|reject| reject.message.clone());
                let about = before.or(self.about_command(link, &again));
                let verdict = if refusal.is_some() { Verdict::Refused } else { Verdict::Ok };
                self.keep(about, marks, Draft { verdict, why: refusal, ..of_link(Direction::In, bytes, raw) });
            }
            Err((reject, answers)) => {
                let about = |driver: &Self| driver.about_refusal(link, &reject);
                let refused = Draft {
                    verdict: Verdict::Refused,
                    why: Some(reject.message.clone()),
                    ..of_link(Direction::In, bytes, raw)
                };
                self.keep(about(self), Vec::new(), refused);
                for answer in answers {
                    let draft = of_link(Direction::Out, answer.len(), answer);
                    self.keep(about(self), Vec::new(), draft);
                }
            }
        }
    }

    fn about_command(&self, link: LinkId, command: &Command) -> About {
        match command {
            Command::Ready { seen } | Command::Watch { seen } => {
                let sessions: Vec<SessionId> = seen.iter().filter_map(|(tab, _)| self.host.session_of(tab)).collect();
                if seen.is_empty() { self.about_link(link) } else { About::Sessions(sessions) }
            }
            Command::OpenSession { session, .. }
            | Command::DeleteSession { session }
            | Command::Answer { session, .. } => About::Sessions(vec![*session]),
            Command::CallTools { calls, .. } => {
                // Calls that name no session are about the bench's, which this record may not be of.
                let named: Option<Vec<SessionId>> = calls.iter().map(|call| call.session).collect();
                About::Sessions(named.unwrap_or_default())
            }
            Command::Visibility(_) | Command::Ping { .. } => self.about_link(link),
            Command::ListTools { .. }
            | Command::CancelCall { .. }
            | Command::ListCalls { .. }
            | Command::LendTools { .. }
            | Command::LentResult { .. }
            | Command::WatchApprovals { .. }
            | Command::WatchRules {}
            | Command::RemoveRule { .. } => About::Sessions(Vec::new()),
            other => About::Sessions(other.tab().and_then(|tab| self.host.session_of(tab)).into_iter().collect()),
        }
    }

    /// A refusal that names no tab may be about any session of the link.
    fn about_refusal(&self, link: LinkId, reject: &Reject) -> About {
        match &reject.tab {
            Some(tab) => About::Sessions(self.host.session_of(tab).into_iter().collect()),
            None => About::Sessions(self.host.seats_of(link).map(|(_, session)| session).collect()),
        }
    }

    fn about_link(&self, link: LinkId) -> About {
        let seats: Vec<SessionId> = self.host.seats_of(link).map(|(_, session)| session).collect();
        let company = Company::of(&seats);
        About::Nobody(seats, company)
    }

    /// The records that something told goes into; none for what lists several sessions.
    fn about_told(&self, link: LinkId, told: &Told) -> Vec<SessionId> {
        let about = match told {
            Told::Events { epoch, tab, .. } => {
                let by_tab = self.host.session_of(tab).filter(|session| self.host.epoch_of(*session) == Some(*epoch));
                return self.wire.epochs.get(epoch).copied().or(by_tab).into_iter().collect();
            }
            Told::Gap { tab, .. } | Told::Reset { tab } => {
                return self.host.session_of(tab).into_iter().collect();
            }
            Told::Session(summary) => {
                let seated = self.host.seats_of(link).any(|(_, session)| session == summary.session);
                return if seated { vec![summary.session] } else { Vec::new() };
            }
            Told::ApprovalOpen { session, .. } => return vec![*session],
            Told::Refused(reject) => self.about_refusal(link, reject),
            Told::Pong { .. } => self.about_link(link),
            _ => return Vec::new(),
        };
        match about {
            // What may be about one of several is kept for none: a view is told what went wrong in any case.
            About::Sessions(sessions) if Company::of(&sessions) == Company::Others => Vec::new(),
            About::Sessions(sessions) | About::Nobody(sessions, _) => sessions,
        }
    }

    /// What is told to a view, marked with the records that it goes into.
    pub(in crate::driver) fn taped(&mut self, link: LinkId, told: &Told) -> Option<Arc<[SessionId]>> {
        let about = self.about_told(link, told);
        let kept = self.kept_of(about);
        (!kept.is_empty()).then(|| kept.into())
    }

    fn marks(&self, about: &About) -> Vec<(SessionId, LogMark)> {
        let (About::Sessions(sessions) | About::Nobody(sessions, _)) = about;
        sessions.iter().map(|session| (*session, self.host.mark(*session))).collect()
    }

    /// Keeps a message in the records that it belongs to, with the events that each session got since its mark.
    fn keep(&mut self, about: About, marks: Vec<(SessionId, LogMark)>, draft: Draft) {
        let withhold = match &about {
            About::Sessions(sessions) => Company::of(sessions) == Company::Others,
            // One that names a session in its own way, or answers what was asked for one, may be about another.
            About::Nobody(_, company) => *company == Company::Others && speaks_of_somebody(&draft),
        };
        let (About::Sessions(sessions) | About::Nobody(sessions, _)) = about;
        for session in self.kept_of(sessions) {
            let mark = marks.iter().find(|(marked, _)| *marked == session).map(|(_, mark)| *mark);
            let events = match (draft.dir, mark) {
                (Direction::Out, _) => None,
                // One that was not there before has all its events from this.
                (_, mark) => self.host.since(session, mark.unwrap_or_default()).as_ref().map(Events::from),
            };
            let mut kept = Draft { events, ..draft.clone() };
            if withhold && kept.raw.take().is_some() && kept.why.is_none() {
                kept.why = Some("it may be about another session as well, so what it says is not kept".to_owned());
            }
            self.wire.recorder.keep(session, kept);
        }
    }
}

impl About {
    /// The same, with what became known meanwhile.
    fn or(self, later: Self) -> Self {
        match (self, later) {
            (Self::Nobody(sessions, company), _) => Self::Nobody(sessions, company),
            (Self::Sessions(mut sessions), Self::Sessions(more)) => {
                sessions.extend(more);
                sessions.sort_unstable();
                sessions.dedup();
                Self::Sessions(sessions)
            }
            (Self::Sessions(sessions), Self::Nobody(..)) => Self::Sessions(sessions),
        }
    }
}

fn draft(at: Time, side: Side, peer: String, dir: Direction, dialect: &'static str, bytes: usize, raw: Bytes) -> Draft {
    Draft {
        at,
        side,
        peer,
        dir,
        dialect,
        name: "",
        bytes,
        verdict: Verdict::Ok,
        why: None,
        events: None,
        raw: Some(raw),
    }
}

/// Whether a message carries an id of a session, in whatever way, or is an answer.
fn speaks_of_somebody(draft: &Draft) -> bool {
    let Some(raw) = &draft.raw else { return false };
    let text = String::from_utf8_lossy(raw);
    let keys = ["\"sessionId\"", "\"session_id\"", "\"session\"", "\"result\"", "\"error\""];
    draft.dir == Direction::In && keys.iter().any(|key| text.contains(key))
}
