//! What is tried with each agent, through the host and nothing else, and how it is judged. Knows no agent by name.

mod canned;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use crate::host::{Host, kill, memory_of};
use crate::peer::{Mind, Peer};
use crate::view::{Answer, TAB, Turn, View};

/// How long an agent may take to its first answer.
const START: Duration = Duration::from_secs(180);
/// How long a turn may take.
const TURN: Duration = Duration::from_secs(120);
/// How long a turn may take whose model fails; some agents try again and again.
const FAILING: Duration = Duration::from_secs(150);
/// How long a cancelled turn may take to end.
const CANCEL: Duration = Duration::from_secs(30);
/// What the agent is to remember.
const WORD: &str = "zebra-4711";

/// Something that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trial {
    /// It starts, has a session, and answers.
    Start,
    /// Its thoughts are shown.
    Thought,
    /// Its plan is shown.
    Plan,
    /// A tool call is shown to its end.
    Tool,
    /// An edit is asked for with its difference, allowed, and on disk.
    Edit,
    /// A new file is written.
    Create,
    /// A command runs, and its output is shown.
    Command,
    /// What is denied does not happen, and the turn ends.
    Deny,
    /// A turn is cancelled in the middle of an answer, and the next one works.
    Cancel,
    /// A failing model ends the turn with a word, and the next one works.
    Failure,
    /// Its process is killed in the middle of an answer: the turn ends, and the person is told.
    Crash,
    /// The next prompt goes on with what was said before.
    Resume,
    /// Nothing of it is left when the host ends.
    End,
}

impl Trial {
    /// All, in the order in which they are tried.
    pub const ALL: &[Self] = &[
        Self::Start,
        Self::Thought,
        Self::Plan,
        Self::Tool,
        Self::Edit,
        Self::Create,
        Self::Command,
        Self::Deny,
        Self::Cancel,
        Self::Failure,
        Self::Crash,
        Self::Resume,
        Self::End,
    ];

    /// Heads its column.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Thought => "thought",
            Self::Plan => "plan",
            Self::Tool => "tool",
            Self::Edit => "edit",
            Self::Create => "create",
            Self::Command => "command",
            Self::Deny => "deny",
            Self::Cancel => "cancel",
            Self::Failure => "failing model",
            Self::Crash => "crash",
            Self::Resume => "resume",
            Self::End => "end",
        }
    }
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It works; what is worth a note.
    Passed(String),
    /// It does not, and why.
    Failed(String),
    /// It cannot be tried, and why.
    Skipped(&'static str),
}

pub(crate) fn passed(note: impl Into<String>) -> Outcome {
    Outcome::Passed(note.into())
}

pub(crate) fn failed(why: impl Into<String>) -> Outcome {
    Outcome::Failed(why.into())
}

/// Where an agent is tried.
pub(crate) struct Stage<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) host: &'a Host,
    pub(crate) view: View,
    pub(crate) workspace: PathBuf,
    /// What the agent had in memory once it had answered.
    pub(crate) megabytes: u64,
}

impl Stage<'_> {
    /// Tries one thing. An error is a host that cannot be talked to any more.
    pub(crate) async fn tries(&mut self, trial: Trial) -> Result<Outcome> {
        if self.peer.mind == Mind::Canned && !matches!(trial, Trial::End) {
            return self.tries_canned(trial).await;
        }
        match trial {
            Trial::Start => self.start().await,
            Trial::Thought => self.thought().await,
            Trial::Plan => self.plan().await,
            Trial::Tool => self.tool().await,
            Trial::Edit => self.edit().await,
            Trial::Create => self.create().await,
            Trial::Command => self.command().await,
            Trial::Deny => self.deny().await,
            Trial::Cancel => self.cancel().await,
            Trial::Failure => self.failure().await,
            Trial::Crash => self.crash().await,
            Trial::Resume => self.resume().await,
            // Judged by whoever ends the host.
            Trial::End => Ok(Outcome::Skipped("")),
        }
    }

    fn path(&self, name: &str) -> String {
        self.workspace.join(name).display().to_string()
    }

    fn has(&self, name: &str) -> bool {
        self.workspace.join(name).exists()
    }

    async fn script(&mut self, steps: Value) -> Result<Turn> {
        self.script_within(steps, TURN).await
    }

    async fn script_within(&mut self, steps: Value, patience: Duration) -> Result<Turn> {
        self.view.turn(&format!("Follow the script. FAKE{steps}"), patience).await
    }

    async fn start(&mut self) -> Result<Outcome> {
        std::fs::write(self.workspace.join("hello.txt"), "hello world\nsecond line\n")?;
        let began = Instant::now();
        self.view.say(json!({"type": "new-tab", "tabId": TAB, "agent": self.peer.name})).await?;
        let said = format!("Good day. The word is {WORD}.");
        let turn = self.script_within(json!([{"do": "say", "text": said, "n": 6}]), START).await?;
        let took = began.elapsed();
        self.megabytes = self.host.agents().into_iter().map(memory_of).sum();
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(self.view.last_error().unwrap_or(why)),
            // Some say a word of their own before.
            Ok(()) if !turn.text.contains(&said) => failed(format!("said {:?}", short(&turn.text))),
            Ok(()) => passed(format!("{:.1} s", took.as_secs_f64())),
        })
    }

    async fn thought(&mut self) -> Result<Outcome> {
        let turn = self.script(json!([{"do": "say", "think": "thinking a little", "text": "thought."}])).await?;
        // Some decorate each piece of a thought.
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if turn.thought.is_empty() => failed("no thought shown"),
            Ok(()) if letters(&turn.thought) != "thinkingalittle" => {
                failed(format!("thought {:?}", short(&turn.thought)))
            }
            Ok(()) => passed(""),
        })
    }

    async fn plan(&mut self) -> Result<Outcome> {
        let items = json!([["look around", "in_progress"], ["mend it", "pending"]]);
        let turn = self.script(json!([{"do": "plan", "items": items}, {"do": "say", "text": "planned."}])).await?;
        let is_named = |plan: &Value| plan.to_string().contains("look around");
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if turn.plans.iter().any(is_named) => passed(""),
            Ok(()) if turn.tools.is_empty() => Outcome::Skipped("it has no tool for plans"),
            Ok(()) => Outcome::Skipped("it shows a tool call instead"),
        })
    }

    async fn tool(&mut self) -> Result<Outcome> {
        let path = self.path("hello.txt");
        let turn = self.script(json!([{"do": "read", "path": path}, {"do": "say", "text": "have read."}])).await?;
        let statuses: Vec<&str> = turn.tools.values().filter_map(|tool| tool["status"].as_str()).collect();
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if statuses.is_empty() => failed("no tool call shown"),
            Ok(()) if statuses != ["completed"] => failed(format!("left {statuses:?}")),
            Ok(()) => passed(""),
        })
    }

    async fn edit(&mut self) -> Result<Outcome> {
        let path = self.path("hello.txt");
        let edit = json!({"do": "edit", "path": path, "old": "hello world", "new": "hello edited world"});
        let steps = json!([{"do": "read", "path": path}, edit, {"do": "say", "text": "edited."}]);
        let turn = self.script(steps).await?;
        let found = std::fs::read_to_string(self.workspace.join("hello.txt")).unwrap_or_default();
        let names = |shown: &Value| shown.to_string().contains("hello edited world");
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if found != "hello edited world\nsecond line\n" => failed(format!("on disk is {:?}", short(&found))),
            Ok(()) if turn.questions.is_empty() => failed("nobody was asked"),
            Ok(())
                if !turn.questions.iter().any(|question| !question["diff"].is_null() && names(&question["diff"])) =>
            {
                if turn.calls.iter().any(names) {
                    passed("difference in the call")
                } else {
                    failed("no difference shown")
                }
            }
            Ok(()) => passed(asked(&turn)),
        })
    }

    async fn create(&mut self) -> Result<Outcome> {
        let path = self.path("new.txt");
        let write = json!({"do": "write", "path": path, "content": "made by script\n"});
        let turn = self.script(json!([write, {"do": "say", "text": "written."}])).await?;
        let found = std::fs::read_to_string(self.workspace.join("new.txt")).unwrap_or_default();
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if found != "made by script\n" => failed(format!("no such file; {}", last_output(&turn))),
            Ok(()) => passed(asked(&turn)),
        })
    }

    async fn command(&mut self) -> Result<Outcome> {
        let shell = json!({"do": "shell", "cmd": "printf '%s-%s\\n' out 42; echo made > shell_made.txt; exit 3"});
        let turn = self.script(json!([shell, {"do": "say", "text": "has run."}])).await?;
        let shows = |call: &Value| call.to_string().contains("out-42");
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if !self.has("shell_made.txt") => failed(format!("did not run; {}", last_output(&turn))),
            Ok(()) if turn.questions.is_empty() => failed("nobody was asked"),
            Ok(()) if turn.calls.iter().any(shows) => passed(asked(&turn)),
            Ok(()) => {
                let notes = [asked(&turn), "output not shown".to_owned()];
                passed(notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join(", "))
            }
        })
    }

    async fn deny(&mut self) -> Result<Outcome> {
        self.view.answer = Answer::Deny;
        let shell = json!({"do": "shell", "cmd": "touch denied.txt"});
        let turn = self.script(json!([shell, {"do": "say", "text": "after the denial."}])).await?;
        self.view.answer = Answer::Allow;
        Ok(match &turn.end {
            None => failed("no end"),
            Some(_) if self.has("denied.txt") => failed("it ran all the same"),
            Some(_) if turn.questions.is_empty() => failed("nobody was asked"),
            Some((reason, _)) if turn.text.contains("after the denial.") => passed(format!("goes on, {reason}")),
            Some((reason, _)) => passed(format!("stops, {reason}")),
        })
    }

    async fn cancel(&mut self) -> Result<Outcome> {
        let name = self.view.prompt(&format!("FAKE{}", json!([{"do": "slow", "n": 600, "delay": 0.1}]))).await?;
        if !self.view.until(TURN, |view| view.read(&name).text.contains("word5")).await {
            return Ok(failed("no words before the cancel"));
        }
        let began = Instant::now();
        self.view.say(json!({"type": "cancel", "tabId": TAB, "messageId": name})).await?;
        self.view.until(CANCEL, |view| view.read(&name).end.is_some()).await;
        let took = began.elapsed();
        if let Err(why) = ended(&self.view.read(&name), "cancelled") {
            return Ok(failed(why));
        }
        Ok(self.works_again().await?.map_or_else(failed, |()| passed(format!("{:.1} s", took.as_secs_f64()))))
    }

    async fn failure(&mut self) -> Result<Outcome> {
        let turn = self.script_within(json!([{"do": "error", "status": 400}]), FAILING).await?;
        let note = match &turn.end {
            None => return Ok(failed("no end")),
            Some((reason, detail)) if reason == "failed" && !detail.is_empty() => "fails",
            Some((reason, _)) if reason == "failed" => return Ok(failed("fails without a word")),
            Some(_) if turn.text.contains("400") => "says so",
            Some(_) if turn.text.is_empty() => "ends without a word",
            Some(_) => "ends",
        };
        Ok(self.works_again().await?.map_or_else(failed, |()| passed(note)))
    }

    async fn works_again(&mut self) -> Result<Result<(), String>> {
        let turn = self.script(json!([{"do": "say", "text": "still alive."}])).await?;
        Ok(match ended(&turn, "completed") {
            Err(why) => Err(format!("the next prompt: {why}")),
            Ok(()) if !turn.text.contains("still alive.") => {
                Err(format!("the next prompt said {:?}", short(&turn.text)))
            }
            Ok(()) => Ok(()),
        })
    }

    async fn crash(&mut self) -> Result<Outcome> {
        let name = self.view.prompt(&format!("FAKE{}", json!([{"do": "slow", "n": 600, "delay": 0.1}]))).await?;
        if !self.view.until(TURN, |view| view.read(&name).text.contains("word5")).await {
            return Ok(failed("no words before the crash"));
        }
        self.kill_in(&name).await
    }

    async fn kill_in(&mut self, prompt: &str) -> Result<Outcome> {
        let agents = self.host.agents();
        if agents.is_empty() {
            return Ok(failed("the host has written down no process"));
        }
        agents.into_iter().for_each(kill);
        self.view.until(CANCEL, |view| view.read(prompt).end.is_some() && view.count("agent-exited") > 0).await;
        Ok(match ended(&self.view.read(prompt), "failed") {
            Err(why) => failed(why),
            Ok(()) if self.view.count("agent-exited") == 0 => failed("nobody is told of the exit"),
            Ok(()) => passed(""),
        })
    }

    async fn resume(&mut self) -> Result<Outcome> {
        let before = self.view.shown.len();
        let turn = self.script_within(json!([{"do": "recall", "word": WORD}]), START).await?;
        let way = self.way(before);
        Ok(match ended(&turn, "completed") {
            Err(why) => failed(why),
            Ok(()) if !turn.text.contains(&format!("I remember {WORD}")) => failed(format!("has forgotten ({way})")),
            Ok(()) => passed(way),
        })
    }

    /// Which way the agent was brought back, as the person was told.
    fn way(&self, since: usize) -> String {
        let told: Vec<String> = self.view.shown[since..]
            .iter()
            .filter(|shown| shown["type"] == "status")
            .filter_map(|shown| shown["message"].as_str().map(str::to_lowercase))
            .collect();
        for (sign, way) in
            [("summary of it", "summarized"), ("goes on where it was", "resumed"), ("again and goes on", "loaded")]
        {
            if told.iter().any(|words| words.contains(sign)) {
                return way.to_owned();
            }
        }
        "nobody is told how".to_owned()
    }
}

/// Whether a turn has ended so; if not, how.
pub(crate) fn ended(turn: &Turn, wanted: &str) -> Result<(), String> {
    match &turn.end {
        Some((reason, _)) if reason == wanted => Ok(()),
        Some((reason, detail)) if detail.is_empty() => Err(format!("ended {reason}")),
        Some((reason, detail)) => Err(format!("ended {reason}: {}", short(detail))),
        None => Err("no end".to_owned()),
    }
}

/// How often the person was asked, if it was more than once.
fn asked(turn: &Turn) -> String {
    if turn.questions.len() > 1 { format!("asks {} times", turn.questions.len()) } else { String::new() }
}

fn last_output(turn: &Turn) -> String {
    let told =
        |tool: &Value| if tool["content"].is_null() { tool["output"].to_string() } else { tool["content"].to_string() };
    let output = turn.tools.values().next_back().map(told);
    output.map_or_else(|| "no tool call shown".to_owned(), |output| short(&output))
}

pub(crate) fn short(text: &str) -> String {
    const LONG: usize = 120;
    let cut: String = text.chars().take(LONG).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
