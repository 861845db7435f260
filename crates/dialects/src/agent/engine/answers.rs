//! What came of requests to an engine. Where nobody knows whether a prompt arrived, it is never sent to an engine that would run
//! it twice.

use switchboard_types::agent::About;
use switchboard_types::{AgentSession, AgentSessionInfo, LogLevel, SessionId, Time, Word};

use super::field::{cut, field, number, raw};
use super::input::{Naming, Stage};
use super::orders::{EngineRequest, Failure, Method, Payload, Response, Sent};
use super::session::{Making, Tell, TellingState};
use super::{Engine, Known, Listing, Purpose};
use crate::json::items;

/// How long it is waited before something is sent again, in milliseconds; the last for all further ones.
const STEPS: [u64; 4] = [250, 1_000, 2_000, 5_000];
/// How often a prompt that never left is tried.
const MAX_UNSENT_TRIES: u32 = 3;
/// How often a prompt is repeated to an engine that knows it by its name.
const MAX_REPEATS: u32 = 8;
/// How often a command is sent.
const MAX_TELLS: u32 = 5;
/// How long it is waited for a prompt to turn up in the log, once the stream stands.
const UNKNOWN_MS: u64 = 10_000;
/// How long it is waited for that after a restart before it is sent again, where that is safe.
const RESUMED_MS: u64 = 2_000;
/// Sessions of an engine that are told of.
const MAX_LISTED: usize = 200;
/// Sessions of an engine that are looked at.
const MAX_LISTED_THERE: usize = 10_000;
/// Characters of what an engine says when it refuses something.
const MAX_COMPLAINT_CHARS: usize = 1_000;
/// The only version of the engine's protocol that is known.
const PROTOCOL: &str = "1";

type Answer = Result<Response, Failure>;

impl Engine {
    /// Takes an answer; gives the sessions that it has touched.
    pub(super) fn take_answer(
        &mut self,
        now: Time,
        no: EngineRequest,
        purpose: Purpose,
        answer: Answer,
    ) -> Vec<SessionId> {
        let touched = match purpose {
            Purpose::Health => return self.health(now, answer),
            Purpose::List => {
                self.list(answer);
                self.listing = Listing::Done;
                let waiting = self.waiting();
                waiting.iter().for_each(|id| self.begin_session(now, *id));
                return waiting;
            }
            Purpose::Create(session) => {
                self.created(now, session, no, answer);
                session
            }
            Purpose::Upload(session) => {
                self.uploaded(now, session, no, answer);
                session
            }
            Purpose::Input(session) => {
                self.input_answered(now, session, no, answer);
                session
            }
            Purpose::Status(session) => {
                self.status(now, session, answer);
                session
            }
            Purpose::Telling(session) => {
                self.told(now, session, no, answer);
                session
            }
            Purpose::Wish { session, request, kind } => {
                let result = self.granted(&kind, answer);
                self.say(Word::Replied { session, request, result });
                return Vec::new();
            }
        };
        vec![touched]
    }

    /// The sessions that wait until the engine is known.
    fn waiting(&self) -> Vec<SessionId> {
        let waiting = self.sessions.values().filter(|session| session.making == Making::Waiting);
        waiting.map(|session| session.id).collect()
    }

    fn health(&mut self, now: Time, answer: Answer) -> Vec<SessionId> {
        let waiting = self.waiting();
        match self.read_health(&answer) {
            Ok((naming, about)) => {
                self.known = Known::Fit(naming);
                self.say(Word::Introduced { about: Box::new(about) });
                if self.listing == Listing::Wanted {
                    self.listing = Listing::Asked;
                    let to = (Method::Get, "/v1/sessions".to_owned());
                    self.request(None, to, Payload::None, Purpose::List);
                }
                for id in &waiting {
                    self.begin_session(now, *id);
                }
            }
            Err(message) => {
                self.known = Known::Nothing;
                let unreachable = answer.is_err();
                for id in &waiting {
                    let there = self.sessions.get(id).is_some_and(|session| session.there.is_some());
                    // What is there already goes on there; it is followed as soon as there is a way.
                    if unreachable && there {
                        self.begin_session(now, *id);
                        if let Some(session) = self.sessions.get_mut(id) {
                            session.way.broke(now, message.clone());
                        }
                    } else {
                        self.sessions.remove(id);
                        self.say(Word::OpenFailed { session: *id, message: message.clone() });
                    }
                }
            }
        }
        let named: Vec<SessionId> = self.sessions.keys().copied().collect();
        let naming = self.naming();
        for id in &named {
            if let Some(input) = self.input_of(*id) {
                input.naming = naming;
            }
        }
        named
    }

    fn read_health(&self, answer: &Answer) -> Result<(Naming, About), String> {
        let response =
            answer.as_ref().map_err(|failure| format!("the engine cannot be reached: {}", failure.message))?;
        if matches!(response.status, 401 | 403) {
            return Err(self.complaint(response));
        }
        let body = String::from_utf8_lossy(&response.body);
        let version = field(&body, "protocol_version").filter(|_| response.is_good());
        let Some(version) = version else {
            let complaint = self.complaint(response);
            return Err(format!(
                "what answers at the address of `{}` is no engine ({complaint}); is `url` right?",
                self.settings.agent
            ));
        };
        if version.split('.').next() != Some(PROTOCOL) {
            return Err(format!(
                "the engine speaks version {} of the protocol, and this host only version 1",
                cut(&version)
            ));
        }
        let features = raw(&body, "features").unwrap_or("{}");
        let naming = if super::field::is_true(features, "message_id") { Naming::Ours } else { Naming::Its };
        let mut abilities = vec!["goes on when this host is gone".to_owned()];
        if naming == Naming::Ours {
            abilities.push("never runs a prompt twice".to_owned());
        }
        let version_there = field(&body, "engine_version").unwrap_or_default();
        let about = About {
            name: "engine".to_owned(),
            version: version_there,
            protocol: version,
            abilities,
            sign_in: Vec::new(),
        };
        Ok((naming, about))
    }

    /// What the engine says when it refuses something, for a person.
    pub(super) fn complaint(&self, response: &Response) -> String {
        let status = response.status;
        if matches!(status, 401 | 403) {
            let agent = &self.settings.agent;
            return format!(
                "the engine refuses us ({status}): store its token with `switchboard secrets set NAME` and name it as `secret` of `{agent}`"
            );
        }
        let body = String::from_utf8_lossy(&response.body);
        let said = field(&body, "message").or_else(|| field(&body, "detail")).or_else(|| field(&body, "error"));
        let said = said.or_else(|| raw(&body, "detail").or_else(|| raw(&body, "message")).map(str::to_owned));
        let said: String = said.unwrap_or_default().chars().take(MAX_COMPLAINT_CHARS).flat_map(shown).collect();
        if said.is_empty() { format!("it answered {status}") } else { format!("{said} ({status})") }
    }

    fn list(&mut self, answer: Answer) {
        let Ok(response) = answer else { return };
        let body = String::from_utf8_lossy(&response.body);
        let list = raw(&body, "sessions").unwrap_or(&body);
        let Some(Ok(listed)) = items(list, MAX_LISTED_THERE).filter(|_| response.is_good()) else { return };
        let mut sessions: Vec<AgentSessionInfo> = listed.into_iter().filter_map(info).collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.updated));
        sessions.truncate(MAX_LISTED);
        self.say(Word::Sessions { sessions });
    }

    fn created(&mut self, now: Time, id: SessionId, no: EngineRequest, answer: Answer) {
        let Some(session) = self.sessions.get(&id).filter(|session| session.making == Making::Asked(no)) else {
            return;
        };
        let with_prompt = session.input.is_some();
        let failed = match answer {
            Ok(response) => {
                let body = String::from_utf8_lossy(&response.body).into_owned();
                let there = field(&body, "session_id").or_else(|| field(&body, "id")).filter(|there| !there.is_empty());
                match there.filter(|_| response.is_good()) {
                    Some(there) => {
                        self.made(now, id, &there);
                        if let Some(input) = self.input_of(id).filter(|_| with_prompt) {
                            input.stage = Stage::Accepted;
                        }
                        return;
                    }
                    None if !with_prompt && matches!(response.status, 400 | 422) && body.contains("task") => {
                        return self.needs_task(id, &body);
                    }
                    None => self.why_not_made(&response),
                }
            }
            Err(failure) if with_prompt && failure.sent == Sent::Perhaps => return self.give_up_unknown(id),
            Err(failure) => format!("the engine cannot be reached: {}", failure.message),
        };
        self.sessions.remove(&id);
        if with_prompt {
            self.say(Word::SessionEnded { session: id, reason: Some(failed) });
        } else {
            self.say(Word::OpenFailed { session: id, message: failed });
        }
    }

    /// The engine makes no session without something to do, so it is made with the first prompt.
    fn needs_task(&mut self, id: SessionId, body: &str) {
        let configured = self.settings.config_path.is_some()
            || self.sessions.get(&id).is_some_and(|session| session.setup.config.is_some());
        if body.contains("config_path") && !configured {
            self.sessions.remove(&id);
            let message = self.wants_config("the engine makes no session without `config_path`");
            return self.say(Word::OpenFailed { session: id, message });
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.making = Making::WithPrompt;
        }
        self.say(Word::SessionOpened { session: id, agent_session: None, memory: None });
    }

    fn wants_config(&self, why: &str) -> String {
        let agent = &self.settings.agent;
        format!("{why}; set `config_path` in `[agents.{agent}]` to the path of a configuration on the engine's machine")
    }

    fn why_not_made(&self, response: &Response) -> String {
        let said = format!("the engine made no session: {}", self.complaint(response));
        if said.contains("config_path") { self.wants_config(&said) } else { said }
    }

    fn uploaded(&mut self, now: Time, id: SessionId, no: EngineRequest, answer: Answer) {
        let Some(input) = self.input_of(id).filter(|input| input.stage == Stage::Uploading(no)) else { return };
        let message = match answer {
            Ok(response) if response.is_good() => {
                let body = String::from_utf8_lossy(&response.body);
                let listed = raw(&body, "attachments").and_then(|raw| items(raw, 1024)?.ok()).unwrap_or_default();
                input.attachments = listed
                    .into_iter()
                    .filter_map(|item| field(item, "id").or_else(|| crate::json::lossy(item)))
                    .collect();
                input.stage = Stage::Waiting;
                return self.advance_input(now, id);
            }
            Ok(response) if response.status == 404 => return self.lost_there(now, id),
            Ok(response) => format!("the engine did not take the files of the prompt: {}", self.complaint(&response)),
            Err(failure) => format!("the files of the prompt did not reach the engine: {}", failure.message),
        };
        self.fail_input(id, message);
    }

    pub(super) fn fail_input(&mut self, id: SessionId, message: String) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.input = None;
            session.meaning.withdrawn();
        }
        self.say(Word::TurnFailed { session: id, message });
    }

    pub(super) fn give_up_unknown(&mut self, id: SessionId) {
        let message = "nobody knows whether the engine got the prompt, or still works on it: its answer or its log was lost, and nothing \
                       was heard of it since. Look at what it does before you send it again";
        self.fail_input(id, message.to_owned());
    }

    fn input_answered(&mut self, now: Time, id: SessionId, no: EngineRequest, answer: Answer) {
        // What stands in the log already needs no answer.
        let Some(input) = self.input_of(id).filter(|input| input.stage == Stage::Posting(no)) else { return };
        let repeatable = input.naming == Naming::Ours;
        let again = |tries: u32| now.after_ms(STEPS[usize::try_from(tries).unwrap_or(usize::MAX).min(STEPS.len() - 1)]);
        match answer {
            Ok(response) if response.is_good() => input.stage = Stage::Accepted,
            Ok(response) if response.status == 404 => self.lost_there(now, id),
            // Whoever stands between may have said so, and not the engine.
            Ok(response) if matches!(response.status, 502..=504) => self.unanswered(now, id, repeatable),
            Ok(response) => {
                let message = format!("the engine did not take the prompt: {}", self.complaint(&response));
                self.fail_input(id, message);
            }
            Err(Failure { sent: Sent::Perhaps, .. }) => self.unanswered(now, id, repeatable),
            Err(Failure { sent: Sent::No, .. }) if input.tries < MAX_UNSENT_TRIES => {
                input.stage = Stage::Again { at: again(input.tries) };
                input.tries += 1;
            }
            Err(Failure { sent: Sent::No, message }) => {
                self.fail_input(
                    id,
                    format!("the prompt did not reach the engine: {message}. Send it again once it is there"),
                );
            }
        }
    }

    /// The answer to a prompt is lost.
    fn unanswered(&mut self, now: Time, id: SessionId, repeatable: bool) {
        let Some(input) = self.input_of(id) else { return };
        let step = usize::try_from(input.tries).unwrap_or(usize::MAX).min(STEPS.len() - 1);
        input.stage = match repeatable && input.tries < MAX_REPEATS {
            true => Stage::Again { at: now.after_ms(STEPS[step]) },
            false => Stage::Unknown { until: None },
        };
        input.tries += 1;
    }

    fn status(&mut self, now: Time, id: SessionId, answer: Answer) {
        let naming = self.naming();
        let Ok(response) = answer else { return };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if response.status == 404 {
            return self.lost_there(now, id);
        }
        let status = field(&String::from_utf8_lossy(&response.body), "status").unwrap_or_default();
        match (status.as_str(), naming) {
            // A host of our own sort goes on whatever became of the last turn.
            ("completed" | "failed" | "stopped", Naming::Its) if session.way.stream.is_none() => session.way.rests(),
            ("running" | "starting", _) => {
                if let Some(input) = session.input.as_mut().filter(|input| matches!(input.stage, Stage::Unknown { .. }))
                {
                    input.taken();
                }
            }
            _ => {}
        }
    }

    fn told(&mut self, now: Time, id: SessionId, no: EngineRequest, answer: Answer) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(at) = session.tellings.iter().position(|telling| telling.state == TellingState::Sent(no)) else {
            return;
        };
        let Some(telling) = session.tellings.get_mut(at) else { return };
        let (what, tries) = (telling.what, telling.tries);
        let trouble = match &answer {
            Ok(response) if response.status < 500 => None,
            Ok(response) => Some(format!("it answered {}", response.status)),
            Err(failure) => Some(failure.message.clone()),
        };
        if trouble.is_some() && tries < MAX_TELLS {
            let step = usize::try_from(tries).unwrap_or(usize::MAX).saturating_sub(1).min(STEPS.len() - 1);
            telling.state = TellingState::Waits(now.after_ms(STEPS[step]));
            return;
        }
        session.tellings.remove(at);
        let name = match what {
            Tell::Stop => "the wish to stop",
            Tell::Decision => "the answer",
            Tell::Setting => "the setting",
        };
        let message = match (answer, trouble) {
            (_, Some(trouble)) => format!("{name} did not reach the engine: {trouble}"),
            // What is settled or over already needs no more.
            (Ok(response), None)
                if response.is_good() || (what != Tell::Setting && matches!(response.status, 404 | 409)) =>
            {
                return;
            }
            (Ok(response), None) => format!("the engine did not take {name}: {}", self.complaint(&response)),
            (Err(_), None) => return,
        };
        self.say(Word::Log { session: id, level: LogLevel::Warn, message });
    }

    /// What waits for time to pass.
    pub(super) fn ring(&mut self, now: Time, id: SessionId) {
        self.send_tellings(now, id);
        let Some(input) = self.input_of(id) else { return };
        match input.stage {
            Stage::Again { at } if at <= now => self.post(now, id),
            Stage::Resumed { at: Some(at) } if at <= now => self.post(now, id),
            Stage::Unknown { until: Some(until) } if until <= now => self.give_up_unknown(id),
            _ => {}
        }
    }

    /// A prompt of which nobody knows anything is watched for as long as the stream stands.
    pub(super) fn watch_input(&mut self, now: Time, id: SessionId) {
        let naming = self.naming();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let since = session.way.since();
        let Some(input) = session.input.as_mut() else { return };
        let from = since.map(|since| since.max(now));
        match (&mut input.stage, naming) {
            (Stage::Waiting, _) if session.making == Making::Open => self.advance_input(now, id),
            (Stage::Resumed { at }, Naming::Ours) => {
                *at = since.and_then(|_| at.or(from.map(|from| from.after_ms(RESUMED_MS))));
            }
            (Stage::Resumed { .. }, Naming::Its) if since.is_some() => {
                input.stage = Stage::Unknown { until: from.map(|from| from.after_ms(UNKNOWN_MS)) };
                self.ask_status(id);
            }
            (Stage::Unknown { until }, _) => {
                *until = since.and_then(|_| until.or(from.map(|from| from.after_ms(UNKNOWN_MS))));
            }
            _ => {}
        }
    }
}

/// A character of a foreign text, fit to be shown in a line.
fn shown(character: char) -> Vec<char> {
    if character.is_control() { character.escape_debug().collect() } else { vec![character] }
}

fn info(item: &str) -> Option<AgentSessionInfo> {
    let there = field(item, "session_id").or_else(|| field(item, "id")).filter(|there| !there.is_empty())?;
    let at = number(item, "updated_at_ms");
    let at = at.or_else(|| number(item, "last_activity_at")).or_else(|| number(item, "updated_at")).unwrap_or(0);
    let title = field(item, "title").map(|title| cut(&title)).unwrap_or_default();
    Some(AgentSessionInfo { agent_session: AgentSession::new(there), title, updated: Time(at) })
}
