//! The agent's process, as a check sees it: what is asked and heard, each with its deadline. Grants the agent nothing.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use switchboard_types::{
    About, AgentHome, AgentOption, AgentRequest, Answer, Ask, ErrandCode, ErrandFailure, LifeId, Outcome, Prompt,
    Resolution, Said, SessionId, SignInMethod, SlashCommand, TurnName, Wish, Word,
};
use switchboard_types::{ToolCode, ToolFailure};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::steps::Steps;
use super::whom::Whom;
use crate::agents::{Agents, Graces};
use crate::cli::args::Cli;
use crate::cli::exit::Failure;
use crate::clock::Clock;
use crate::link::{AgentInput, AgentOrder, EndHow, INBOX_MESSAGES};
use crate::secrets::Secrets;

/// The one session of a check.
const SESSION: SessionId = SessionId(1);
/// The one process of a check.
const LIFE: LifeId = LifeId(1);
/// How long is waited for what an agent offers once its session is open.
const OFFERS: Duration = Duration::from_secs(1);
/// How long an end may take; the graces within it are shorter.
const ENDING: Duration = Duration::from_secs(30);
/// Lines of error output that are kept.
const LAST_LINES: usize = 8;
/// Bytes of an answer that are kept.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// What is said to everything that it wants.
const NOTHING: &str = "this is a check; nothing is done in it";

/// Why a check could not go on.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) why: String,
    pub(super) timed_out: bool,
    pub(super) last_words: Vec<String>,
}

/// What comes before a session is open.
pub(super) enum Opened {
    Introduced(Box<About>),
    Session,
    SignIn { message: String, methods: Vec<SignInMethod> },
    Refused(String),
}

/// What an agent offers.
#[derive(Default)]
pub(super) struct Offered {
    pub(super) options: Vec<AgentOption>,
    pub(super) commands: Vec<SlashCommand>,
}

/// How a turn went.
pub(super) struct Turn {
    pub(super) outcome: Outcome,
    pub(super) why: Option<String>,
    pub(super) text: String,
}

pub(super) struct Probe {
    agents: Option<Agents>,
    orders: mpsc::Sender<AgentOrder>,
    inbox: mpsc::Receiver<AgentInput>,
    words: VecDeque<Word>,
    stderr: VecDeque<String>,
    offered: Offered,
    ended: Option<String>,
    folder: PathBuf,
    cwd: switchboard_types::WorkspaceRoot,
    elsewhere: bool,
    slow_at: Instant,
    startup_by: Instant,
    startup_s: u64,
    stall: Duration,
}

impl Probe {
    pub(super) fn start(cli: &Cli, whom: &Whom) -> Result<Self, Failure> {
        // Not beside a host's own notes: the next host would end what it finds there.
        let data = cli.folder()?;
        let folder = data.path().join("checks").join(std::process::id().to_string());
        let (inbox_to, inbox) = mpsc::channel(INBOX_MESSAGES);
        let agents = Agents::start(&folder, inbox_to, Clock::start(), Graces::default())
            .map_err(|error| Failure::failed(format!("agents cannot be started: {error}")))?
            .with_secrets(Secrets::of(data.path()));
        let orders = agents.spawn(LIFE, &whom.spec, &whom.root);
        let now = Instant::now();
        Ok(Self {
            agents: Some(agents),
            orders,
            inbox,
            words: VecDeque::new(),
            stderr: VecDeque::new(),
            offered: Offered::default(),
            ended: None,
            folder,
            cwd: whom.root.clone(),
            elsewhere: whom.spec.kind.home() == AgentHome::Elsewhere,
            slow_at: now + Duration::from_millis(whom.startup.slow_ms),
            startup_by: now + Duration::from_millis(whom.startup.timeout_ms),
            startup_s: whom.startup.timeout_ms / 1000,
            stall: Duration::from_millis(whom.stall_ms),
        })
    }

    /// Waits until the process runs, and asks for a session.
    pub(super) async fn started(&mut self) -> Result<(), Stopped> {
        loop {
            match self.next_input(self.startup_by).await {
                Some(AgentInput::Started { .. }) => break,
                Some(other) => self.take(other),
                None => return Err(self.timed_out()),
            }
            if self.ended.is_some() {
                return Err(self.over());
            }
        }
        self.say(Ask::open(SESSION, self.cwd.clone())).await;
        Ok(())
    }

    /// The next thing on the way to an open session.
    pub(super) async fn opened(&mut self, steps: &Steps) -> Result<Opened, Stopped> {
        loop {
            match self.next_word(self.slow_at.min(self.startup_by)).await {
                Ok(Word::Introduced { about }) => return Ok(Opened::Introduced(about)),
                Ok(Word::SessionOpened { .. }) => return Ok(Opened::Session),
                Ok(Word::SignInNeeded { message, methods, .. }) => return Ok(Opened::SignIn { message, methods }),
                Ok(Word::OpenFailed { message, .. }) => return Ok(Opened::Refused(message)),
                Ok(other) => self.answer(other).await,
                Err(stopped) if stopped.timed_out && Instant::now() < self.startup_by => {
                    steps.remark("it is slow; still waiting");
                    self.slow_at = self.startup_by;
                }
                Err(stopped) => return Err(stopped),
            }
        }
    }

    /// What it offers; some agents say so a moment after they have opened a session.
    pub(super) async fn offered(&mut self) -> Offered {
        let by = Instant::now() + OFFERS;
        while self.offered.options.is_empty() || self.offered.commands.is_empty() {
            match self.next_word(by).await {
                Ok(word) => self.answer(word).await,
                Err(_) => break,
            }
        }
        std::mem::take(&mut self.offered)
    }

    /// One prompt, to its end. An agent that says nothing for long is given up.
    pub(super) async fn ask(&mut self, text: &str) -> Result<Turn, Stopped> {
        let name = TurnName::from("check");
        let prompt = Prompt { text: text.to_owned(), context: Vec::new() };
        self.say(Ask::Prompt { session: SESSION, name, prompt, recap: None }).await;
        let mut answer = String::new();
        loop {
            let by = Instant::now() + self.stall;
            match self.next_word(by).await? {
                Word::Text { text, .. } | Word::Code { text, .. } if answer.len() < MAX_ANSWER_BYTES => {
                    answer.push_str(&text.to_plain());
                }
                Word::TurnDone { outcome, detail, .. } => {
                    let why = detail.map(|detail| detail.message);
                    return Ok(Turn { outcome, why, text: answer });
                }
                Word::TurnFailed { message, .. } => {
                    return Ok(Turn { outcome: Outcome::Failed, why: Some(message), text: answer });
                }
                other => self.answer(other).await,
            }
        }
    }

    /// Closes the session and ends the process; gives what is said of its end.
    pub(super) async fn close(&mut self) -> Result<String, Stopped> {
        if self.elsewhere {
            // It was made only for this; an engine would keep it.
            self.say(Ask::Wish { session: SESSION, request: AgentRequest(0), wish: Wish::Delete {} }).await;
            let by = Instant::now() + ENDING;
            while !matches!(self.next_word(by).await, Ok(Word::Replied { .. }) | Err(_)) {}
        }
        self.say(Ask::CloseSession { session: SESSION }).await;
        // Its end is what is waited for, so a full queue does not matter.
        let _ = self.orders.try_send(AgentOrder::End(EndHow::Gracefully));
        let by = Instant::now() + ENDING;
        while self.ended.is_none() {
            match self.next_input(by).await {
                Some(input) => self.take(input),
                None => break,
            }
        }
        let ended = self.ended.clone();
        self.end().await;
        ended.ok_or_else(|| self.timed_out())
    }

    /// Ends all that is left.
    pub(super) async fn end(&mut self) {
        // Nobody hears its last words any more.
        self.inbox.close();
        if let Some(agents) = self.agents.take() {
            agents.shutdown().await;
        }
        // Notes of children that are gone.
        let _ = std::fs::remove_dir_all(&self.folder);
        // Not while another check runs.
        let _ = self.folder.parent().map(std::fs::remove_dir);
    }

    async fn say(&mut self, ask: Ask) {
        // A process that is gone says so by its last input.
        let _ = self.orders.send(AgentOrder::Ask(ask)).await;
    }

    /// None when the time is up.
    async fn next_input(&mut self, by: Instant) -> Option<AgentInput> {
        timeout_at(by, self.inbox.recv()).await.ok().flatten()
    }

    async fn next_word(&mut self, by: Instant) -> Result<Word, Stopped> {
        loop {
            if let Some(word) = self.words.pop_front() {
                return Ok(word);
            }
            if self.ended.is_some() {
                return Err(self.over());
            }
            match self.next_input(by).await {
                Some(input) => self.take(input),
                None => return Err(self.timed_out()),
            }
        }
    }

    fn take(&mut self, input: AgentInput) {
        match input {
            // Nobody records a check.
            AgentInput::Started { .. } | AgentInput::Taped { .. } => {}
            AgentInput::Words { words, .. } => self.words.extend(words.into_iter().map(meant)),
            AgentInput::Stderr { lines, .. } => {
                self.stderr.extend(lines);
                let over = self.stderr.len().saturating_sub(LAST_LINES);
                self.stderr.drain(..over);
            }
            AgentInput::Ended { message, .. } => self.ended = Some(message),
        }
    }

    /// Keeps what it offers, and says no to what it wants.
    async fn answer(&mut self, word: Word) {
        let ask = match word {
            Word::Options { options, .. } => return self.offered.options = options,
            Word::Commands { commands, .. } => return self.offered.commands = commands,
            Word::ApprovalWanted { session, approval } => {
                let answer = Answer::Decided { resolution: Resolution::Deny, option: None };
                Ask::ApprovalAnswer { session, approval: approval.id, answer }
            }
            Word::Errand { session, errand, .. } => {
                Ask::ErrandDone { session, errand, result: Err(ErrandFailure::new(ErrandCode::Denied, NOTHING)) }
            }
            Word::ToolCall { session, call, .. } => {
                let failure = ToolFailure::new(ToolCode::Denied, NOTHING);
                Ask::ToolResult { session, call, result: Err(failure) }
            }
            _ => return,
        };
        self.say(ask).await;
    }

    fn over(&self) -> Stopped {
        let why = self.ended.clone().unwrap_or_default();
        // Its last words are in that already.
        Stopped { why, timed_out: false, last_words: Vec::new() }
    }

    fn timed_out(&self) -> Stopped {
        let why = if Instant::now() >= self.startup_by && self.offered.options.is_empty() {
            format!("it opened no session within {} s", self.startup_s)
        } else {
            "nothing more came from it in time".to_owned()
        };
        Stopped { why, timed_out: true, last_words: self.stderr.iter().cloned().collect() }
    }
}

/// What an event of an engine's log means.
fn meant(word: Word) -> Word {
    match word {
        Word::Sourced { session, said: Said::Text(text), .. } => Word::Text { session, name: None, text },
        Word::Sourced { said: Said::Word(word), .. } => *word,
        other => other,
    }
}
