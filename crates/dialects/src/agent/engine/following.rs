//! What is heard on an engine's event streams: each event once and in order, or what is missing is said first.

use switchboard_types::{Said, SessionId, Time, Word};

use super::envelope::Envelope;
use super::field::number;
use super::input::Stage;
use super::orders::{Heard, Method, Payload, Response, StreamEnd, StreamNo, StreamOrder, session_path};
use super::session::Making;
use super::taken::Place;
use super::way::{Due, Reading};
use super::{Engine, Known, Purpose};

/// Of a log that is no longer the one it was.
const BEGUN_ANEW: &str =
    "the engine's log is no longer the one that was read here: it has begun anew, and what it has now follows";

impl Engine {
    pub(super) fn follow(&mut self, now: Time, id: SessionId, stream: StreamNo, heard: Heard) -> Result<(), String> {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.way.stream == Some(stream)) else {
            return Ok(());
        };
        match heard {
            Heard::Opened => {
                session.way.opened(now);
                if matches!(self.known, Known::Nothing) {
                    self.ask_health();
                }
                Ok(())
            }
            Heard::Comment => {
                session.way.beat(now);
                Ok(())
            }
            Heard::Retry(ms) => {
                session.way.asked_to_wait(ms);
                Ok(())
            }
            Heard::Event(event) => {
                session.way.event(now);
                let event = Envelope::read(&event)?;
                self.event(now, id, &event);
                Ok(())
            }
            Heard::Ended(end) => {
                self.streams.remove(&stream);
                self.ended(now, id, end);
                Ok(())
            }
        }
    }

    fn event(&mut self, now: Time, id: SessionId, event: &Envelope) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match (session.taken.place(&event.id, event.seq), session.way.reading) {
            (Place::Next, _) => self.take(id, event),
            (Place::Known, _) => {}
            (Place::Hole { to, .. }, Reading::On) => self.read_again(now, id, Some(to)),
            // It was read again, and the same is missing.
            (Place::Hole { from, to }, Reading::Again { .. }) => {
                session.taken.give_up(Some(to));
                session.way.lost_something();
                let message = missing(from, to);
                self.say(Word::Gap { session: id, from: Some(from), to: Some(to), message });
                self.take(id, event);
            }
            (Place::Other, _) => self.begin_anew(now, id),
        }
    }

    fn take(&mut self, id: SessionId, event: &Envelope) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.taken.take(&event.id, event.seq);
        if let Reading::Again { upto } = session.way.reading
            && upto.zip(event.seq).is_none_or(|(upto, seq)| seq >= upto)
        {
            session.way.caught_up();
        }
        let said = session.meaning.of(id, event, &mut session.input);
        let over = matches!(&said, Said::Word(word) if matches!(**word, Word::TurnDone { .. }));
        if over && !session.meaning.is_under_way() {
            session.input = None;
        }
        let source = match said {
            Said::Text(_) | Said::Thought(_) => event.source_beside_text(),
            Said::Word(_) | Said::Nothing => event.source(),
        };
        self.say(Word::Sourced { session: id, source, said });
    }

    /// Closes the stream and reads the log from its start, for what is missing.
    fn read_again(&mut self, now: Time, id: SessionId, upto: Option<u64>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Some(stream) = session.way.read_again(now, upto) {
            self.close_stream(stream);
        }
    }

    fn begin_anew(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.taken.begin_anew();
        self.say(Word::Gap { session: id, from: None, to: None, message: BEGUN_ANEW.to_owned() });
        self.read_again(now, id, None);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.way.lost_something();
        }
        self.doubt_turn(id);
    }

    /// The engine's log is another one. Whether it still works on what it was asked is known only by what it says next: a
    /// prompt of ours is waited for as one whose answer is lost, and never sent again.
    fn doubt_turn(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match session.input.as_mut() {
            Some(input) if matches!(input.stage, Stage::Taken | Stage::Accepted) => {
                input.stage = Stage::Unknown { until: None };
            }
            Some(_) => {}
            None if session.meaning.is_under_way() => {
                let message = "the engine has begun anew, and nothing is known of what it was doing".to_owned();
                self.fail_input(id, message);
            }
            None => {}
        }
    }

    pub(super) fn close_stream(&mut self, stream: StreamNo) {
        if self.streams.remove(&stream).is_some() {
            self.out.streams.push(StreamOrder::Close { stream });
        }
    }

    fn ended(&mut self, now: Time, id: SessionId, end: StreamEnd) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match end {
            StreamEnd::Clean => {
                session.way.ended(now);
                // Whether more is to come only the engine knows.
                self.ask_status(id);
            }
            StreamEnd::Broken(message) => session.way.broke(now, message),
            StreamEnd::Refused(response) => self.refused(now, id, &response),
        }
    }

    fn refused(&mut self, now: Time, id: SessionId, response: &Response) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match response.status {
            409 if session.taken.cursor().is_some() => self.cannot_resume(now, id, response),
            404 | 410 => self.lost_there(now, id),
            _ => {
                let error = format!("the engine does not open its event stream: {}", self.complaint(response));
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.way.broke(now, error);
                }
            }
        }
    }

    /// The engine no longer has what comes after the last event that was taken, or does not know that event.
    fn cannot_resume(&mut self, now: Time, id: SessionId, response: &Response) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.way.stream = None;
        let body = String::from_utf8_lossy(&response.body);
        // Some frameworks wrap what they answer.
        let body = super::field::raw(&body, "detail").filter(|raw| raw.starts_with('{')).unwrap_or(&body).to_owned();
        let (first, last) = (number(&body, "first_seq"), number(&body, "last_seq"));
        let upto = session.taken.upto();
        let mut anew = false;
        let gap = match (first, last, upto) {
            (_, Some(last), Some(upto)) if last < upto => {
                session.taken.begin_anew();
                anew = true;
                Some((None, None, BEGUN_ANEW.to_owned()))
            }
            (Some(first), _, Some(upto)) if first > upto.saturating_add(1) => {
                session.taken.give_up(Some(first - 1));
                Some((Some(upto + 1), Some(first - 1), missing(upto + 1, first - 1)))
            }
            (Some(_), Some(_), Some(upto)) => {
                // It has all that comes next; it only does not know where we are.
                session.taken.give_up(Some(upto));
                None
            }
            _ => {
                session.taken.give_up(None);
                let message = "the engine cannot go on from where it was read; what it still has follows, and some of what \
                               was said in between may be lost";
                Some((None, None, message.to_owned()))
            }
        };
        let lost = gap.is_some();
        if let Some((from, to, message)) = gap {
            self.say(Word::Gap { session: id, from, to, message });
        }
        self.read_again(now, id, last);
        if let Some(session) = self.sessions.get_mut(&id).filter(|_| lost) {
            session.way.lost_something();
        }
        if anew {
            self.doubt_turn(id);
        }
    }

    /// The engine no longer has the session.
    pub(super) fn lost_there(&mut self, now: Time, id: SessionId) {
        let _ = now;
        let Some(session) = self.sessions.remove(&id) else { return };
        if let Some(stream) = session.way.stream {
            self.close_stream(stream);
        }
        let message = "the engine no longer has this session: it was restarted, or has forgotten it; what it said since the \
                       last event here is lost";
        self.say(Word::Gap { session: id, from: None, to: None, message: message.to_owned() });
        let reason = "the engine no longer has it; the next prompt begins a new one there".to_owned();
        self.say(Word::SessionEnded { session: id, reason: Some(reason) });
    }

    /// Opens the stream if it is time.
    pub(super) fn open_if_due(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let work = session.work();
        let Some(there) = session.there.clone().filter(|_| session.making == Making::Open) else { return };
        match session.way.tick(now, work) {
            Due::Nothing => {}
            Due::Open => {
                let cursor = session.taken.cursor().filter(|_| session.way.reading == Reading::On);
                let last_id = cursor.map(|cursor| cursor.as_str().to_owned());
                let query = if last_id.is_none() { "/events?replay=true" } else { "/events" };
                let stream = StreamNo(self.next);
                self.next += 1;
                session.way.opening(now, stream);
                self.streams.insert(stream, id);
                let path = session_path(there.as_str(), query);
                self.out.streams.push(StreamOrder::Open { stream, session: id, path, last_id });
            }
            Due::Silent { seconds } => {
                let stream = session.way.stream;
                session.way.broke(now, format!("nothing was heard from the engine for {seconds} s"));
                if let Some(stream) = stream {
                    self.close_stream(stream);
                }
            }
        }
    }

    pub(super) fn ask_status(&mut self, id: SessionId) {
        let Some(there) = self.sessions.get(&id).and_then(|session| session.there.clone()) else { return };
        let path = session_path(there.as_str(), "");
        self.request(Some(id), (Method::Get, path), Payload::None, Purpose::Status(id));
    }
}

fn missing(from: u64, to: u64) -> String {
    if from == to {
        format!("event {from} of the engine is lost: it no longer has it")
    } else {
        format!("events {from} to {to} of the engine are lost: it no longer has them")
    }
}
