//! The dialect `apex`: JSON-RPC 2.0 with a backend that works on one task at a time, one process per session. Owns the tasks
//! and tool calls that are open; never lets one be answered twice.

mod calls;
mod fault;
mod read;
mod say;
mod shape;
mod task;

use bytes::Bytes;
use serde::Serialize;
use switchboard_types::agent::Past;
use switchboard_types::{Ask, Detail, LogLevel, Memory, Outcome, SessionId, Time, TurnName, Word};

use self::calls::Calls;
use self::say::{Environment, ExecuteTask, Initialize, UpdateConfiguration};
pub use self::shape::schema;
use self::task::{Task, Tasks};
use super::repeat::Repeat;
use super::{AgentDialect, Noise};
use crate::framing::FramingKind;
use crate::json::shown;
use crate::jsonrpc::{Envelope, Failure, IdRef, OurId, Owed, Pending, Reader, write};

/// What a backend may say.
pub const AGENT_SAYS: [&str; 5] =
    ["$/partialResult", "$/statusUpdate", "$/logMessage", "$/requestToolExecution", "$/taskError"];
/// What the host may say.
pub const HOST_SAYS: [&str; 6] =
    ["initialize", "executeTask", "updateConfiguration", "toolResponse", "shutdown", "$/cancelRequest"];

/// Tasks that wait for their answer. The host sends one at a time; one more may be on its way to its end.
const MAX_OPEN_TASKS: usize = 2;
/// Requests of a backend that wait for their answers.
const MAX_OPEN_REQUESTS: usize = 64;

/// What a backend is told when it starts, besides its workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Goes out as `initialConfig`.
    pub config: serde_json::Value,
    /// What the host runs on: `linux`, `macos`, …
    pub platform: String,
    /// Which version of the host it is.
    pub host_version: String,
}

/// The dialect `apex` with what it remembers for one process.
#[derive(Debug)]
pub struct Apex {
    setting: Setting,
    /// Whether the backend was told where it is.
    initialized: bool,
    session: Option<SessionId>,
    reader: Reader,
    pending: Pending<Task>,
    tasks: Tasks,
    calls: Calls,
    owed: Owed,
    /// Messages that go out with the next occasion.
    messages: Vec<Vec<u8>>,
    /// Words that the vocabulary has no message for.
    words: Vec<Word>,
    repeat: Repeat,
}

impl Apex {
    /// For a process that has just started.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        Self {
            setting,
            initialized: false,
            session: None,
            reader: Reader::new(),
            pending: Pending::with_max(MAX_OPEN_TASKS),
            tasks: Tasks::default(),
            calls: Calls::default(),
            owed: Owed::with_max(MAX_OPEN_REQUESTS),
            messages: Vec::new(),
            words: Vec::new(),
            repeat: Repeat::default(),
        }
    }

    /// Writes a notification. What we say always has a JSON form.
    fn tell(&mut self, method: &str, params: &impl Serialize) {
        self.messages.extend(write::notification(method, params).ok());
    }

    fn open(&mut self, session: SessionId, root: &str, past: Past) {
        if !self.initialized {
            self.initialized = true;
            let (platform, host_version) = (&self.setting.platform, &self.setting.host_version);
            let environment = Environment { platform, host_version };
            let params = Initialize { initial_config: &self.setting.config, workspace_root: Some(root), environment };
            self.messages.extend(write::notification("initialize", &params).ok());
        }
        self.session = Some(session);
        let memory = match past {
            Past::Blank => None,
            Past::Spoken => Some(Memory::Summarized),
        };
        self.words.push(Word::SessionOpened { session, agent_session: None, memory });
    }

    fn begin_task(&mut self, session: SessionId, name: TurnName, prompt: &ExecuteTask<'_>) {
        let waiting = Task::new(session, name.clone());
        match self.pending.open(waiting) {
            Ok(id) => {
                self.calls.begin_task();
                self.tasks.add(name);
                match write::request(id, "executeTask", prompt) {
                    Ok(message) => self.messages.push(message),
                    Err(error) => self.give_up(id, &error.to_string()),
                }
            }
            Err(full) => {
                let busy = format!("the backend has not answered the {} tasks before", full.max);
                self.words.push(failed(session, name, "agent_error", busy));
            }
        }
    }

    /// A task that cannot be put into words is over before it began.
    fn give_up(&mut self, id: OurId, why: &str) {
        if let Some(task) = self.pending.abandon(id) {
            self.words.push(failed(task.session, task.name, "agent_error", format!("the task cannot be sent: {why}")));
        }
    }

    fn cancel(&mut self, name: &TurnName) {
        let of_task = self.pending.iter().find(|(_, task)| task.name == *name);
        let Some((id, _)) = of_task else { return };
        self.messages.push(write::cancel_request(id));
        self.messages.extend(self.calls.abandon_all(&mut self.owed));
    }

    /// An answer to one of our tasks, which is over with it.
    fn answered(
        &mut self,
        id: IdRef<'_>,
        end: impl FnOnce(Task) -> (Vec<Word>, Option<Noise>),
        said: &mut Vec<Word>,
    ) -> Result<(), Noise> {
        let task = self.pending.take(id).map_err(|stray| Noise::new(stray.to_string()))?;
        self.messages.extend(self.calls.abandon_all(&mut self.owed));
        let (words, noise) = end(task);
        said.extend(words);
        noise.map_or(Ok(()), Err)
    }

    fn notified(
        &mut self,
        method: &str,
        params: Option<&str>,
        frame: &Bytes,
        said: &mut Vec<Word>,
    ) -> Result<(), Noise> {
        let session = self.session.ok_or_else(|| Noise::new(format!("{} came too early", shown(method))))?;
        match method {
            "$/partialResult" => {
                let piece = read::partial_result(params, frame)?;
                let Some(name) = self.tasks.named(&piece.task) else {
                    said.push(unknown(session, method, frame));
                    return Ok(());
                };
                if piece.kind.is_answer() {
                    self.streamed(&name);
                }
                let literal = piece.literal;
                let word = piece.into_word(session, name);
                self.repeat.note(frame, literal, &word);
                said.push(word);
            }
            "$/statusUpdate" => said.push(read::status(session, params)?),
            "$/logMessage" => said.push(read::log(session, params)?),
            "$/taskError" => said.push(self.task_error(session, params)?),
            "$/requestToolExecution" => {
                let call = read::tool_call(params, None)?;
                self.calls.notified(&call.id).map_err(|error| Noise::new(error.to_string()))?;
                said.push(call.into_word(session));
            }
            write::CANCEL_REQUEST => return self.called_back(params),
            // The backend's own business, kept and shown to whoever looks.
            _ => said.push(unknown(session, method, frame)),
        }
        Ok(())
    }

    fn streamed(&mut self, name: &TurnName) {
        let of_task = self.pending.iter().find(|(_, task)| task.name == *name).map(|(id, _)| id);
        if let Some(task) = of_task.and_then(|id| self.pending.get_mut(id)) {
            task.streamed = true;
        }
    }

    fn task_error(&mut self, session: SessionId, params: Option<&str>) -> Result<Word, Noise> {
        let (name, message) = read::task_error(params)?;
        let of_task = self.pending.iter().find(|(_, task)| task.name.as_str() == name).map(|(id, _)| id);
        let message = match of_task.and_then(|id| self.pending.get_mut(id)) {
            Some(task) => {
                task.error = Some(message.clone());
                message
            }
            None => format!("of the task {}: {message}", shown(&name)),
        };
        Ok(Word::Log { session, level: LogLevel::Error, message })
    }

    fn asked(&mut self, id: IdRef<'_>, method: &str, params: Option<&str>, said: &mut Vec<Word>) -> Result<(), Noise> {
        let debt = match self.owed.accept(id) {
            Ok(debt) => debt,
            Err(refused) => {
                self.messages.extend(refused.answer());
                return Err(Noise::new(refused.to_string()));
            }
        };
        if method != "$/requestToolExecution" {
            let failure = Failure::unknown_method(method);
            self.messages.push(self.owed.error(debt, &failure));
            return Err(Noise::new(format!("{} is asked of the host, which does not know it", shown(method))));
        }
        let (call, session) = match (read::tool_call(params, Some(id)), self.session) {
            (Ok(call), Some(session)) => (call, session),
            (Err(noise), _) => {
                self.messages.push(self.owed.error(debt, &fault::invalid_params(&noise.reason)));
                return Err(noise);
            }
            (Ok(call), None) => {
                self.messages.push(self.owed.error(debt, &fault::too_early(&call.id)));
                return Err(Noise::new(format!("{} came too early", shown(method))));
            }
        };
        match self.calls.asked(&call.id, debt) {
            Ok(()) => {
                said.push(call.into_word(session));
                Ok(())
            }
            Err((refused, debt)) => {
                self.messages.push(self.owed.error(debt, &fault::refused_call(&call.id, &refused)));
                Err(Noise::new(refused.to_string()))
            }
        }
    }

    /// The backend no longer wants an answer to a request of its own; it gets one all the same, at once.
    fn called_back(&mut self, params: Option<&str>) -> Result<(), Noise> {
        let id = params.and_then(IdRef::in_cancel_request);
        let answer = id.and_then(|id| self.calls.call_back(id, &mut self.owed));
        self.messages.push(answer.ok_or_else(|| Noise::new("\"$/cancelRequest\" names no request that is open"))?);
        Ok(())
    }

    fn envelope(&mut self, envelope: Envelope<'_>, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        match envelope {
            Envelope::Notification { method, params } => self.notified(&method, params, frame, said),
            Envelope::Request { id, method, params } => self.asked(id, &method, params, said),
            Envelope::Result { id, result } => self.answered(id, |task| task.finished(result), said),
            Envelope::Error { id: Some(id), fault } => self.answered(id, |task| (task.failed(&fault), None), said),
            Envelope::Error { id: None, fault } => {
                let message = format!("the backend could not read what it was sent: {}", fault::in_words(&fault));
                let log = |session| Word::Log { session, level: LogLevel::Error, message: message.clone() };
                said.extend(self.session.map(log));
                Err(Noise::new(message))
            }
        }
    }
}

impl AgentDialect for Apex {
    fn framing(&self) -> FramingKind {
        FramingKind::ContentLength
    }

    fn read(&mut self, _now: Time, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        said.append(&mut self.words);
        if let Some(word) = self.repeat.read(frame) {
            said.push(word);
            return Ok(());
        }
        self.repeat.forget();
        let read = match self.reader.read(frame) {
            Ok(read) => read,
            Err(refused) => {
                self.messages.extend(refused.answer());
                return Err(Noise::new(refused.to_string()));
            }
        };
        let oddities = read.oddities;
        self.envelope(read.envelope, frame, said)?;
        if oddities.is_empty() { Ok(()) } else { Err(Noise::new(format!("understood, but odd: {oddities}"))) }
    }

    fn ask(&mut self, _now: Time, ask: Ask, messages: &mut Vec<Vec<u8>>) {
        self.repeat.forget();
        match ask {
            Ask::OpenSession { session, cwd, past, .. } => self.open(session, cwd.as_str(), past),
            Ask::Prompt { session, name, prompt, recap } => {
                let (text, context) = (say::prompt_text(&prompt, recap.as_deref()), say::context(&prompt));
                let task_id = name.clone();
                let params = ExecuteTask { task_id: task_id.as_str(), prompt: &text, context };
                self.begin_task(session, name, &params);
            }
            Ask::Cancel { name, .. } => self.cancel(&name),
            Ask::CloseSession { session } => {
                if self.session == Some(session) {
                    self.session = None;
                }
            }
            Ask::ToolResult { call, result, .. } => {
                self.messages.extend(self.calls.complete(&call, &result, &mut self.owed));
            }
            Ask::Configure { config } => {
                self.tell("updateConfiguration", &UpdateConfiguration { updated_config: &config });
            }
            // The vocabulary has no words for these, and no backend ever gives a reason to say them.
            Ask::ApprovalAnswer { .. }
            | Ask::ErrandDone { .. }
            | Ask::SetOption { .. }
            | Ask::SignIn { .. }
            | Ask::Wish { .. } => {}
        }
        self.owed(messages);
    }

    fn speak_for(&mut self, said: &mut Vec<Word>) {
        said.append(&mut self.words);
    }

    fn owed(&mut self, messages: &mut Vec<Vec<u8>>) {
        messages.append(&mut self.messages);
    }

    fn farewell(&mut self, messages: &mut Vec<Vec<u8>>) {
        self.owed(messages);
        messages.push(write::bare_notification("shutdown"));
    }
}

fn failed(session: SessionId, name: TurnName, code: &str, message: String) -> Word {
    Word::TurnDone { session, name: Some(name), outcome: Outcome::Failed, detail: Some(Detail::new(code, message)) }
}

fn unknown(session: SessionId, method: &str, frame: &Bytes) -> Word {
    Word::Unknown { session, name: method.to_owned(), raw: String::from_utf8_lossy(frame).into_owned() }
}
