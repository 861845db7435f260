//! A workspace in memory that does what it is asked, and a person who may say no.

use std::collections::{BTreeMap, VecDeque};

use switchboard_agent::deed::{Deed, Outcome};

#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) files: BTreeMap<String, String>,
    /// What a person says, in order; when there is nothing left they say yes.
    pub(crate) denials: VecDeque<Option<Outcome>>,
    /// What the person was asked about.
    pub(crate) asked: Vec<Deed>,
    pub(crate) commands: Vec<String>,
}

impl Workspace {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { files, ..Self::default() }
    }

    pub(crate) fn carry_out(&mut self, deed: &Deed) -> Outcome {
        if matches!(deed, Deed::Write { .. } | Deed::Run { .. }) {
            self.asked.push(deed.clone());
            if let Some(Some(denied)) = self.denials.pop_front() {
                return denied;
            }
        }
        match deed {
            Deed::ReadWhole { path } => self.files.get(path).cloned().map_or(Outcome::NotThere, Outcome::Done),
            Deed::Read { path, line, limit } => match self.files.get(path) {
                None => Outcome::NotThere,
                Some(text) => {
                    let skip = line.map_or(0, |line| line.saturating_sub(1) as usize);
                    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
                    Outcome::Done(text.split_inclusive('\n').skip(skip).take(limit).collect())
                }
            },
            Deed::List { path, .. } => {
                let below = |file: &&String| path == "." || file.starts_with(path.as_str());
                Outcome::Done(self.files.keys().filter(below).map(|file| format!("{file}\n")).collect())
            }
            Deed::Search { pattern, .. } => Outcome::Done(self.search(pattern)),
            Deed::Write { path, before, after } => {
                if self.files.get(path) != before.as_ref() {
                    return Outcome::Failed(format!("{path} has changed since it was read; read it again"));
                }
                self.files.insert(path.clone(), after.clone());
                Outcome::Done(String::new())
            }
            Deed::Run { command, .. } => self.run(command),
        }
    }

    fn search(&self, pattern: &str) -> String {
        let mut found = String::new();
        for (path, text) in &self.files {
            for (at, line) in text.lines().enumerate().filter(|(_, line)| line.contains(pattern)) {
                found.push_str(&format!("{path}:{}:{line}\n", at + 1));
            }
        }
        found
    }

    /// The only program here: a test that passes when the sum is one.
    fn run(&mut self, command: &str) -> Outcome {
        self.commands.push(command.to_owned());
        let passes = self.files.get("src/sum.rs").is_some_and(|text| text.contains("a + b"));
        let (output, code) = match (command, passes) {
            ("cargo test", true) => ("test adds ... ok\n", 0),
            ("cargo test", false) => ("test adds ... FAILED\n  left: -1\n right: 3\n", 101),
            _ => ("not found\n", 127),
        };
        Outcome::Ran { output: output.to_owned(), truncated: false, code: Some(code), late: false }
    }
}
