//! A host's task in miniature: it starts agents, hears them, and waits for things to become true, never for time.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_host::agents::{AgentKind, AgentSpec, Agents, Graces, ProcessSpec};
use switchboard_host::clock::Clock;
use switchboard_host::link::{AgentInput, AgentOrder};
use switchboard_types::{Ask, LifeId, Prompt, SessionId, TurnName, Word, WorkspaceRoot};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Nothing here takes that long unless it is broken.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
/// The only session of most tests.
pub(crate) const SESSION: SessionId = SessionId(1);

pub(crate) struct Stage {
    pub(crate) data: TempDir,
    pub(crate) root: TempDir,
    pub(crate) agents: Agents,
    pub(crate) inbox: mpsc::Receiver<AgentInput>,
}

pub(crate) fn quick() -> Graces {
    let short = Duration::from_millis(150);
    Graces { bidden_farewell: short, input_closed: short, terminated: short, left_behind: short, drained: short }
}

/// Graces that no test outlives: what ends, ends by itself.
pub(crate) fn patient() -> Graces {
    let long = DEADLINE * 2;
    Graces { bidden_farewell: long, input_closed: long, terminated: long, left_behind: long, drained: long }
}

impl Stage {
    pub(crate) fn new(graces: Graces, inbox: usize) -> Self {
        let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (send, inbox) = mpsc::channel(inbox);
        let agents = Agents::start(data.path(), send, Clock::start(), graces).unwrap();
        Self { data, root, agents, inbox }
    }

    pub(crate) fn workspace(&self) -> WorkspaceRoot {
        WorkspaceRoot::from(self.root.path().to_str().unwrap())
    }

    pub(crate) fn start(&self, spec: &AgentSpec) -> mpsc::Sender<AgentOrder> {
        self.agents.spawn(LifeId(1), spec, &self.workspace())
    }

    /// An agent that is a shell script.
    pub(crate) fn script(&self, script: &str) -> mpsc::Sender<AgentOrder> {
        self.start(&plain(["/bin/sh", "-c", script]))
    }

    /// The demo agent with a prompt on its way.
    pub(crate) async fn demo(&mut self, prompt: &str) -> mpsc::Sender<AgentOrder> {
        self.asked(&demo(), prompt).await
    }

    /// An agent with its session open and a prompt on its way.
    pub(crate) async fn asked(&mut self, spec: &AgentSpec, prompt: &str) -> mpsc::Sender<AgentOrder> {
        let orders = self.start(spec);
        orders.send(open(self.workspace())).await.unwrap();
        let opened = self.until(|word| matches!(word, Word::SessionOpened { .. })).await;
        assert_eq!(opened, vec![Word::opened(SESSION)]);
        orders.send(ask(prompt)).await.unwrap();
        orders
    }

    pub(crate) async fn next(&mut self) -> AgentInput {
        soon(self.inbox.recv()).await.expect("the agents are still there")
    }

    /// All words until the end, and the message about it. `Started` must come first, and nothing after the end.
    pub(crate) async fn hear_out(&mut self) -> (Vec<Word>, String) {
        let (words, _, message) = self.hear_all().await;
        (words, message)
    }

    /// The same with its error output, line by line.
    pub(crate) async fn hear_all(&mut self) -> (Vec<Word>, Vec<String>, String) {
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        loop {
            match self.next().await {
                AgentInput::Started { .. } => assert_eq!((&all, &errors), (&vec![], &vec![])),
                AgentInput::Words { words, .. } => all.extend(words),
                AgentInput::Stderr { lines, .. } => errors.extend(lines),
                AgentInput::Taped { .. } => {}
                AgentInput::Ended { message, .. } => return (all, errors, message),
            }
        }
    }

    /// Words until one of them satisfies.
    pub(crate) async fn until(&mut self, mut satisfied: impl FnMut(&Word) -> bool) -> Vec<Word> {
        let mut all = Vec::new();
        loop {
            match self.next().await {
                AgentInput::Started { .. } | AgentInput::Stderr { .. } | AgentInput::Taped { .. } => {}
                AgentInput::Words { words, .. } => {
                    all.extend(words);
                    if all.iter().any(&mut satisfied) {
                        return all;
                    }
                }
                AgentInput::Ended { message, .. } => panic!("it ended: {message}"),
            }
        }
    }

    /// Waits for a number that a script writes into a file of the workspace.
    pub(crate) async fn number_in(&self, file: &str) -> i32 {
        number_in(&self.root.path().join(file)).await
    }
}

pub(crate) async fn number_in(path: &Path) -> i32 {
    // A line without its end is still being written.
    until(|| std::fs::read_to_string(path).ok()?.strip_suffix('\n')?.parse().ok()).await
}

pub(crate) fn plain<const N: usize>(command: [&str; N]) -> AgentSpec {
    AgentSpec { name: "x".into(), kind: AgentKind::Plain(ProcessSpec::new(command)) }
}

pub(crate) fn demo() -> AgentSpec {
    AgentSpec::demo(&PathBuf::from(env!("CARGO_BIN_EXE_switchboard")))
}

pub(crate) fn open(cwd: WorkspaceRoot) -> AgentOrder {
    AgentOrder::Ask(Ask::open(SESSION, cwd))
}

pub(crate) fn ask(prompt: &str) -> AgentOrder {
    let prompt = Prompt { text: prompt.to_owned(), context: Vec::new() };
    AgentOrder::Ask(Ask::Prompt { session: SESSION, name: TurnName::from("m1"), prompt, recap: None })
}

pub(crate) fn trouble(message: &str) -> Word {
    Word::Trouble { message: message.to_owned() }
}

pub(crate) fn is_done(word: &Word) -> bool {
    matches!(word, Word::TurnDone { .. })
}

/// The answer's text.
pub(crate) fn text(words: &[Word]) -> String {
    let piece = |word: &Word| match word {
        Word::Text { text, .. } => Some(text.to_plain()),
        _ => None,
    };
    words.iter().filter_map(piece).collect()
}

/// What must come within the deadline.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("it takes too long")
}

/// Looks again and again until there is something.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    soon(async {
        let mut beat = tokio::time::interval(Duration::from_millis(5));
        loop {
            if let Some(found) = look() {
                return found;
            }
            beat.tick().await;
        }
    })
    .await
}

/// Whether a process still runs; a zombie does not.
pub(crate) fn runs(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, Some("Z" | "X"))
}

pub(crate) async fn gone(pid: i32) {
    until(|| (!runs(pid)).then_some(())).await;
}
