//! The task that owns one process: its words to the host, the host's asks to it, and its end. Knows no session.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use switchboard_dialects::agent::AgentDialect;
use switchboard_types::{Ask, LifeId, SessionId, WorkspaceRoot};
use tokio::process::Command;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::body::{Body, Leader};
use super::ear::Ear;
use super::ending::{Ending, Farewell, Graces, Memory, Rest, Step, Why};
use super::environment::Vault;
use super::mouth::{Heard, Mouth};
use super::spawner::{Born, Spawner};
use super::spec::AgentSpec;
use super::stderr::Stderr;
use super::tape::Tape;
use super::{environment, kinds, proc, program, stderr};
use crate::clock::Clock;
use crate::link::{AgentInput, AgentOrder, EndHow, Taping};
use crate::secrets::Secrets;
use crate::server::Artifacts;

/// Bytes still taken from a pipe that is held open after the process is gone and its time is up.
const MAX_HELD_BYTES: usize = 1024 * 1024;
/// What a read gets even if the time is up: enough to notice what is there.
const AT_LEAST: Duration = Duration::from_millis(50);

/// What a life needs of the world around it.
#[derive(Debug)]
pub(super) struct Around {
    pub(super) inbox: mpsc::Sender<AgentInput>,
    pub(super) orders: mpsc::Receiver<AgentOrder>,
    pub(super) stop: watch::Receiver<bool>,
    pub(super) clock: Clock,
    pub(super) graces: Graces,
    pub(super) taping: Taping,
    pub(super) secrets: Secrets,
    /// The data folder.
    pub(super) data: PathBuf,
    /// Where what is fetched from agents elsewhere is put.
    pub(super) shelf: Arc<Artifacts>,
}

/// Starts the process and stays with it to its end.
pub(super) async fn live(life: LifeId, spec: AgentSpec, root: WorkspaceRoot, spawner: Spawner, around: Around) {
    let (inbox, stop) = (around.inbox.clone(), around.stop.clone());
    let message = match start(&spec, &root, spawner, &around).await {
        Ok((born, dialect)) => Life::new(life, &spec, born, dialect, around).run().await,
        Err(message) => message,
    };
    tracing::info!(agent = %spec.name, life = life.0, "{message}");
    deliver(&inbox, stop, AgentInput::Ended { life, message }).await;
}

async fn start(
    spec: &AgentSpec,
    root: &WorkspaceRoot,
    spawner: Spawner,
    around: &Around,
) -> Result<(Born, Box<dyn AgentDialect>), String> {
    let (Some(dialect), Some(process)) = (kinds::dialect(spec), kinds::process(spec, &around.data)) else {
        return Err(format!("agent `{}` is no process and cannot be started as one", spec.name));
    };
    let failed = |why: &dyn std::fmt::Display| format!("agent `{}` could not be started: {why}", spec.name);
    // A keyring may ask a person first.
    let (wanted, secrets) = (process.clone().into_owned(), around.secrets.clone());
    let made =
        tokio::task::spawn_blocking(move || environment::of_child(&wanted, std::env::vars_os(), Vault::Open(&secrets)));
    let environment = made.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
    let root = Path::new(root.as_str());
    let word = process.command.first().map_or("", String::as_str);
    let path = environment.get(OsStr::new("PATH")).map(AsRef::as_ref);
    let file = program::find(word, root, path).map_err(|error| failed(&error))?;
    let mut command = Command::new(file);
    // As a shell would do it: the program sees the word that was written.
    command
        .arg0(word)
        .args(process.command.get(1..).unwrap_or_default())
        .current_dir(root)
        .env_clear()
        .envs(&environment);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    let born =
        spawner.spawn(command, Vec::new(), spec.name.to_string()).await.map_err(|error| failed(&why_not(&error)))?;
    Ok((born, dialect))
}

/// The system's reasons, where they need more words.
fn why_not(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the interpreter that its first line names is not there".to_owned(),
        io::ErrorKind::PermissionDenied => "it is not executable for this user".to_owned(),
        _ => error.to_string(),
    }
}

/// A process that runs.
struct Life {
    life: LifeId,
    agent: String,
    body: Body,
    dialect: Box<dyn AgentDialect>,
    ear: Ear,
    mouth: Mouth,
    stderr: Stderr,
    tape: Tape,
    ending: Ending,
    /// What waits for room in the host's inbox; no words are read meanwhile.
    outgoing: Option<AgentInput>,
    news: News,
    host: Host,
    /// How many processes the system had ended for want of memory before.
    memory_kills: Option<u64>,
    around: Around,
}

/// Whether the host knows that it runs; that is the first that it hears of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    ToBeTold,
    Told,
}

/// Whether orders may still come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Orders,
    Gone,
}

impl Life {
    fn new(life: LifeId, spec: &AgentSpec, mut born: Born, dialect: Box<dyn AgentDialect>, around: Around) -> Self {
        let (stdin, stdout) = (born.child.stdin.take(), born.child.stdout.take());
        let stderr = born.child.stderr.take();
        let framing = dialect.framing();
        Self {
            life,
            agent: spec.name.to_string(),
            body: Body::new(born, Leader::Command),
            dialect,
            ear: Ear::new(framing, stdin),
            mouth: Mouth::new(spec.name.clone(), framing, stdout),
            stderr: Stderr::new(spec.name.clone(), stderr),
            tape: Tape::new(around.taping),
            ending: Ending::new(around.graces),
            outgoing: Some(AgentInput::Started { life }),
            news: News::ToBeTold,
            host: Host::Orders,
            memory_kills: proc::out_of_memory_kills(),
            around,
        }
    }

    /// Lives until the process is gone and all it said is delivered; gives the message about its end.
    async fn run(mut self) -> String {
        let mut first = Vec::new();
        self.dialect.begin(self.around.clock.now(), &mut first);
        self.tell(None, first);
        self.serve().await;
        // Nobody can ask it any more; whoever tries must not wait.
        self.around.orders.close();
        let status = self.body.bury(self.ending.left_behind()).await;
        self.drain().await;
        let more_kills = proc::out_of_memory_kills() > self.memory_kills;
        let rest = Rest {
            status,
            last_words: &self.stderr.last_words(),
            spoke: self.mouth.spoke(),
            noise: self.mouth.noise(),
            fault: self.mouth.fault(),
            memory: if more_kills { Memory::RanOut } else { Memory::Sufficed },
        };
        self.ending.message(&self.agent, &rest)
    }

    /// Until the process is gone.
    async fn serve(&mut self) {
        let inbox = self.around.inbox.clone();
        loop {
            // The tape first: it may hold words that came before those.
            self.hand_in_tape();
            self.speak_for_it();
            let due = self.ending.due();
            tokio::select! {
                permit = inbox.reserve(), if self.outgoing.is_some() => {
                    let sent = permit.ok().zip(self.outgoing.take()).map(|(permit, input)| permit.send(input));
                    self.news = News::Told;
                    if sent.is_none() {
                        // The host's task is gone, and with it the reason to live.
                        self.end(EndHow::Gracefully);
                    }
                }
                // Beside the words, and not after them: whichever comes, the other is not kept waiting for ever.
                permit = inbox.reserve(), if self.news == News::Told && self.stderr.has_lines() => {
                    if let (Ok(permit), Some(input)) = (permit, self.error_lines()) {
                        permit.send(input);
                    } else {
                        self.end(EndHow::Gracefully);
                    }
                }
                heard = self.mouth.read(), if self.outgoing.is_none() && self.mouth.is_open() => self.heard(heard),
                () = self.stderr.read(), if self.stderr.is_open() && !self.stderr.is_full() => {}
                written = self.ear.write(), if self.ear.wants_to_write() => self.written(written),
                order = self.around.orders.recv(), if self.host == Host::Orders => self.order(order),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.next_step(),
                () = asked_to_stop(&mut self.around.stop), if !self.ending.is_under_way() => {
                    self.end(EndHow::Gracefully);
                }
                () = self.body.gone() => return,
            }
        }
    }

    fn heard(&mut self, heard: io::Result<Heard>) {
        match heard {
            Ok(Heard::Bytes(_)) => {
                self.translate();
                let mut owed = Vec::new();
                self.dialect.owed(&mut owed);
                self.tell(None, owed);
                if self.mouth.fault().is_some() {
                    self.begin_to_end(Why::BadFraming);
                }
            }
            Ok(Heard::End) | Err(_) => self.begin_to_end(Why::OutputClosed),
        }
    }

    fn translate(&mut self) {
        let words = self.mouth.words(self.around.clock.now(), self.dialect.as_mut(), &mut self.tape);
        if !words.is_empty() {
            self.outgoing = Some(AgentInput::Words { life: self.life, words });
        }
    }

    /// Takes what the dialect says in the agent's stead, once there is room for it.
    fn speak_for_it(&mut self) {
        if self.outgoing.is_none() {
            let mut words = Vec::new();
            self.dialect.speak_for(&mut words);
            self.outgoing = (!words.is_empty()).then_some(AgentInput::Words { life: self.life, words });
        }
    }

    /// What waits of its error output.
    fn error_lines(&mut self) -> Option<AgentInput> {
        let lines = self.stderr.take_lines();
        (!lines.is_empty()).then_some(AgentInput::Stderr { life: self.life, lines })
    }

    fn written(&mut self, written: io::Result<()>) {
        if written.is_err() {
            self.begin_to_end(Why::InputClosed);
        }
    }

    fn order(&mut self, order: Option<AgentOrder>) {
        match order {
            Some(AgentOrder::Ask(ask)) => self.ask(ask),
            Some(AgentOrder::Tape(taping)) => self.tape.set(taping),
            Some(AgentOrder::End(how)) => self.end(how),
            None => {
                self.host = Host::Gone;
                self.end(EndHow::Gracefully);
            }
        }
    }

    fn ask(&mut self, ask: Ask) {
        let (mut messages, session) = (Vec::new(), ask.session());
        self.dialect.ask(self.around.clock.now(), ask, &mut messages);
        self.tell(session, messages);
    }

    fn tell(&mut self, session: Option<SessionId>, messages: Vec<Vec<u8>>) {
        for message in messages {
            self.tape.told(self.around.clock.now(), &message, session);
            if let Err(error) = self.ear.push(&message) {
                tracing::warn!(agent = self.agent, %error, "the agent is ended");
                self.begin_to_end(Why::NotReading);
                return;
            }
        }
    }

    fn end(&mut self, how: EndHow) {
        match how {
            EndHow::Gracefully => self.begin_to_end(Why::Asked),
            EndHow::AtOnce => {
                let step = self.ending.at_once(Why::Asked);
                self.take(step);
            }
        }
    }

    /// The one place where a graceful end begins: a farewell if the dialect has one, then its input is closed.
    fn begin_to_end(&mut self, why: Why) {
        if self.ending.is_under_way() {
            return;
        }
        let mut farewell = Vec::new();
        match why {
            Why::Asked | Why::OutputClosed | Why::BadFraming => self.dialect.farewell(&mut farewell),
            Why::InputClosed | Why::NotReading => {}
        }
        let bidden = if farewell.is_empty() { Farewell::None } else { Farewell::Bidden };
        self.tell(None, farewell);
        let step = self.ending.begin(why, bidden, Instant::now());
        self.take(step);
    }

    fn next_step(&mut self) {
        let step = self.ending.next(Instant::now());
        self.take(step);
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Nothing => {}
            Step::CloseInput => self.ear.close(),
            Step::Signal(signal) => self.body.signal(signal),
        }
    }

    /// Takes what is still in the pipes. Somebody who left the group may hold them open, so not for ever.
    async fn drain(&mut self) {
        let until = Instant::now() + self.around.graces.drained;
        let mut held = MAX_HELD_BYTES;
        loop {
            self.hand_over().await;
            let Ok(Ok(Heard::Bytes(bytes))) = timeout_at(at_least(until), self.mouth.read()).await else { break };
            self.translate();
            if Instant::now() >= until {
                held = held.saturating_sub(bytes);
                if held == 0 {
                    break;
                }
            }
        }
        let words = self.mouth.last_words(self.around.clock.now(), self.dialect.as_mut(), &mut self.tape);
        if !words.is_empty() {
            self.outgoing = Some(AgentInput::Words { life: self.life, words });
        }
        self.hand_over().await;
        self.drain_stderr(until).await;
    }

    async fn drain_stderr(&mut self, until: Instant) {
        let mut held = MAX_HELD_BYTES / stderr::READ_BYTES;
        while self.stderr.is_open() && held > 0 && timeout_at(at_least(until), self.stderr.read()).await.is_ok() {
            held -= usize::from(Instant::now() >= until);
            self.outgoing = self.error_lines();
            self.hand_over().await;
        }
        self.stderr.close();
        self.outgoing = self.error_lines();
        self.hand_over().await;
    }

    /// What is on the tape goes next; nothing is read before it has gone.
    fn hand_in_tape(&mut self) {
        if self.outgoing.is_none() {
            self.outgoing = self.tape.take().map(|items| AgentInput::Taped { life: self.life, items });
        }
    }

    async fn hand_over(&mut self) {
        self.hand_in_tape();
        while let Some(input) = self.outgoing.take() {
            deliver(&self.around.inbox, self.around.stop.clone(), input).await;
            self.hand_in_tape();
        }
    }
}

/// The host may have been slow and the time be up; what is in a pipe already is read all the same.
fn at_least(until: Instant) -> Instant {
    until.max(Instant::now() + AT_LEAST)
}

/// Waits until all agents are to stop.
pub(super) async fn asked_to_stop(stop: &mut watch::Receiver<bool>) {
    // An error means that nobody holds the agents any more, which is the same.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Waits for room in the host's inbox. Once all agents are to stop, nobody may be reading it: then only what fits goes.
pub(super) async fn deliver(inbox: &mpsc::Sender<AgentInput>, mut stop: watch::Receiver<bool>, input: AgentInput) {
    let permit = tokio::select! {
        biased;
        permit = inbox.reserve() => permit.ok(),
        () = asked_to_stop(&mut stop) => inbox.try_reserve().ok(),
    };
    if let Some(permit) = permit {
        permit.send(input);
    }
}

#[cfg(test)]
mod tests;
