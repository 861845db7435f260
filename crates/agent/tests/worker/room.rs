//! Where a worker meets a scripted model and a workspace: carries out all that it wants, in virtual time, under the watch's eyes.

use std::collections::VecDeque;

use serde_json::Value;
use switchboard_agent::deed::{Deed, Outcome};
use switchboard_agent::said::{End, Said};
use switchboard_agent::talk::{Arguments, Ask, Message, Part, ToolCall, Used};
use switchboard_agent::trouble::{Trouble, TroubleKind};
use switchboard_agent::worker::{Do, Facts, Heard, Setup, TurnEnd, Worker};

use super::watch::Watch;
use super::workspace::Workspace;

pub(crate) struct Room {
    pub(crate) worker: Worker,
    pub(crate) now: u64,
    pub(crate) workspace: Workspace,
    pub(crate) watch: Watch,
    /// What the model says, an answer each.
    script: VecDeque<Vec<Said>>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) seen: Vec<Do>,
    /// Whether questions and deeds are held for later; a long session would fill the memory with them.
    pub(crate) records: bool,
    /// What the model says to whoever wants a summary; if there is none, the next answer of the script.
    pub(crate) summary: Option<String>,
}

pub(crate) fn setup() -> Setup {
    let facts = Facts { model: "tiny".to_owned(), context: Some(32_768), tools: None, images: None };
    Setup { facts, root: "/p".to_owned(), ..Setup::default() }
}

impl Room {
    pub(crate) fn new(files: &[(&str, &str)], script: Vec<Vec<Said>>) -> Self {
        Self::with(setup(), files, script)
    }

    pub(crate) fn with(setup: Setup, files: &[(&str, &str)], script: Vec<Vec<Said>>) -> Self {
        let watch = Watch { kept: setup.kept.clone(), ..Watch::default() };
        let workspace = Workspace::with(files);
        let worker = Worker::new(setup);
        Self {
            worker,
            now: 1_000,
            workspace,
            watch,
            script: script.into(),
            asks: Vec::new(),
            seen: Vec::new(),
            records: true,
            summary: None,
        }
    }

    /// Tells the worker something, and watches what it does; carries nothing out.
    pub(crate) fn hear(&mut self, heard: Heard) -> Vec<Do> {
        match &heard {
            Heard::Model(Said::End(_)) => self.watch.asking = false,
            Heard::Deed { call, .. } => self.watch.outcome(call),
            Heard::Model(_) | Heard::Prompt(_) | Heard::Cancel | Heard::Tick => {}
        }
        let done = self.worker.hear(self.now, heard);
        for done in &done {
            self.watch.see(done);
            if let Do::AskModel(ask) = done
                && self.records
            {
                self.asks.push((**ask).clone());
            }
        }
        if self.records {
            self.seen.extend(done.iter().cloned());
        }
        done
    }

    /// A whole turn: everything is carried out until it ends. Gives how it ended.
    pub(crate) fn turn(&mut self, prompt: &str) -> TurnEnd {
        self.turn_of(vec![Part::Text { text: prompt.to_owned() }])
    }

    pub(crate) fn turn_of(&mut self, parts: Vec<Part>) -> TurnEnd {
        let mut todo: VecDeque<Do> = self.hear(Heard::Prompt(parts)).into();
        loop {
            let Some(done) = todo.pop_front() else {
                assert!(self.worker.is_working(), "nothing is left to do, and no turn has ended");
                self.now = self.worker.due().expect("something is due");
                todo.extend(self.hear(Heard::Tick));
                continue;
            };
            match done {
                Do::AskModel(ask) => {
                    let summary = self.summary.as_deref().filter(|_| ask.tools.is_empty()).map(says);
                    for said in summary.or_else(|| self.script.pop_front()).expect("the script has an answer") {
                        todo.extend(self.hear(Heard::Model(said)));
                    }
                }
                Do::Begin { call, deed: Some(deed), .. } | Do::Then { call, deed } => {
                    let outcome = self.workspace.carry_out(&deed);
                    todo.extend(self.hear(Heard::Deed { call, outcome }));
                }
                Do::EndTurn { end, .. } => {
                    if self.records {
                        self.watch.assert_kept(&self.worker);
                    }
                    return end;
                }
                _ => {}
            }
        }
    }

    pub(crate) fn script(&mut self, answers: Vec<Vec<Said>>) {
        self.script.extend(answers);
    }

    pub(crate) fn notes(&self) -> Vec<&str> {
        self.seen.iter().filter_map(|done| if let Do::Note(note) = done { Some(note.as_str()) } else { None }).collect()
    }

    pub(crate) fn said(&self) -> String {
        self.seen.iter().filter_map(|done| if let Do::Say(text) = done { Some(text.as_str()) } else { None }).collect()
    }

    /// What the model was told of its calls, in order.
    pub(crate) fn results(&self) -> Vec<&str> {
        let messages = self.worker.messages().iter();
        messages
            .filter_map(|message| if let Message::Tool { text, .. } = message { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The deed of the last call that was begun or went on.
    pub(crate) fn last_deed(&self) -> (String, Deed) {
        let deed = |done: &Do| match done {
            Do::Begin { call, deed: Some(deed), .. } | Do::Then { call, deed } => Some((call.clone(), deed.clone())),
            _ => None,
        };
        self.seen.iter().rev().find_map(deed).expect("a deed")
    }
}

pub(crate) fn words(text: &str) -> Vec<Part> {
    vec![Part::Text { text: text.to_owned() }]
}

pub(crate) fn picture() -> Part {
    Part::Image { mime: "image/png".to_owned(), data: "aGk=".to_owned() }
}

pub(crate) fn prompt(text: &str) -> Heard {
    Heard::Prompt(words(text))
}

pub(crate) fn text(text: &str) -> Said {
    Said::Text(text.to_owned())
}

pub(crate) fn call(name: &str, arguments: Value) -> Said {
    let arguments = match arguments {
        Value::Object(object) => Arguments::Object(object),
        other => Arguments::Broken(other.to_string()),
    };
    Said::Call(ToolCall { id: "0".to_owned(), name: name.to_owned(), arguments })
}

pub(crate) fn done() -> Said {
    Said::End(End::Done)
}

/// An answer in words.
pub(crate) fn says(words: &str) -> Vec<Said> {
    vec![text(words), done()]
}

/// An answer that wants one thing.
pub(crate) fn calls(name: &str, arguments: Value) -> Vec<Said> {
    vec![call(name, arguments), done()]
}

pub(crate) fn trouble(kind: TroubleKind, retry_after_ms: Option<u64>) -> Said {
    Said::End(End::Failed(Trouble { kind, message: format!("{kind:?}."), retry_after_ms }))
}

/// An answer that is only trouble.
pub(crate) fn fails(kind: TroubleKind) -> Vec<Said> {
    vec![trouble(kind, None)]
}

pub(crate) fn used(input: u64, output: u64) -> Said {
    Said::Used(Used { input, output, cached: 0, thought: 0 })
}

pub(crate) fn denied(why: &str, stop: bool) -> Option<Outcome> {
    Some(Outcome::Denied { why: why.to_owned(), stop })
}

/// The last message of a question, as text.
pub(crate) fn last_words(ask: &Ask) -> String {
    match ask.messages.last() {
        Some(Message::User { parts }) => {
            let text = |part: &Part| if let Part::Text { text } = part { text.clone() } else { "[picture]".to_owned() };
            parts.iter().map(text).collect::<Vec<_>>().join("|")
        }
        Some(Message::Tool { text, .. }) => text.clone(),
        other => panic!("{other:?} is nothing to answer"),
    }
}

/// The system's message of a question.
pub(crate) fn system(ask: &Ask) -> &str {
    match ask.messages.first() {
        Some(Message::System { text }) => text,
        other => panic!("{other:?} is not the system's"),
    }
}
