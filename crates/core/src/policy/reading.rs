//! What a command says, read as the shell would read it: the programs that it runs and the files that it touches. What
//! cannot be read for sure is said, never guessed.
//!
//! Two readers look at a line. `strict` knows only the few forms that can be run without a shell; `tree` is a whole grammar
//! and looks everywhere. Without doubts is only what both read alike.

mod inner;
mod places;
mod raw;
mod strict;
mod tree;
mod word;

use crate::policy::text::is_unseen;

pub(crate) use places::standard_device;
pub(crate) use raw::{Guess, is_fork_bomb, raw_commands};

/// A longer line is not read.
pub const MAX_LINE_BYTES: usize = 8 * 1024;
/// A line with more commands is not read.
pub const MAX_COMMANDS: usize = 32;
/// How many commands are looked at for their danger; what is behind them only makes a bad line worse.
const MAX_FOUND: usize = 512;
/// How deep text within text is read.
const MAX_DEPTH: usize = 5;

/// A command as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every simple command in it. Without doubts those of `steps` come first, in their order; those within others follow.
    pub commands: Vec<Simple>,
    /// Every file that it says it touches: targets of redirections, and of programs whose words are known to be files.
    pub targets: Vec<Target>,
    /// Why it cannot be read for sure, in plain words; empty if it can.
    pub doubts: Vec<String>,
    /// What is to be run, one after the other; empty if there are doubts.
    pub steps: Vec<Step>,
    /// What is known besides of each command.
    pub(crate) notes: Vec<Note>,
    /// Variables that a program sets for another.
    pub(crate) variables: Vec<(String, String)>,
    /// Redirections within texts that a shell runs.
    within_redirects: Vec<Redirect>,
    /// Text that some command reads from the line itself.
    pub(crate) fed: Vec<String>,
    /// What may be a command somewhere: picked from text, for its danger only.
    pub(crate) guesses: Vec<Guess>,
}

/// One program with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Variables that are set for it.
    pub assignments: Vec<(String, String)>,
    /// The program and its arguments, without their quotes.
    pub words: Vec<String>,
}

/// A file that a command touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As it is written, without its quotes.
    pub path: String,
    /// What it does there.
    pub touch: Touch,
}

/// What a command does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It reads it.
    Reads,
    /// It makes it, changes it or takes it away.
    Writes,
}

/// One command of a line that both readers read alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// How it follows the one before.
    pub join: Join,
    /// Which of the commands.
    pub command: usize,
    /// Where its input and output go, in order.
    pub redirects: Vec<Redirect>,
}

/// How a command follows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// It is the first.
    First,
    /// `&&`: if that went well.
    And,
    /// `||`: if that did not go well.
    Or,
    /// `;`: whatever came of that.
    Then,
    /// `|`: beside it, reading what it writes.
    Pipe,
}

/// Where an input or output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Which: 0 input, 1 output, 2 errors.
    pub fd: u32,
    /// Where to.
    pub to: RedirectTo,
}

/// Where it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTo {
    /// From this file.
    Read(String),
    /// Into this file, from its beginning.
    Write(String),
    /// Onto the end of this file.
    Append(String),
    /// To where this one goes.
    Same(u32),
}

/// What is known of a command besides its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// It reads what another command writes.
    pub(crate) piped: bool,
    /// Its words hold what other commands write.
    pub(crate) substituted: bool,
    /// Which of its words are made when it runs, one bit each; the last bit stands for all further ones.
    pub(crate) open: u64,
}

impl Note {
    /// Whether the program's name is made when it runs.
    pub(crate) fn is_made_up(self) -> bool {
        self.is_open(0)
    }

    /// Whether some of its arguments are made when it runs.
    pub(crate) fn has_open_words(self) -> bool {
        self.open & !1 != 0
    }

    fn is_open(self, word: usize) -> bool {
        self.open & bit(word) != 0
    }
}

fn bit(word: usize) -> u64 {
    1 << word.min(63)
}

impl Reading {
    fn doubt(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.doubts.contains(&why) {
            self.doubts.push(why);
        }
    }

    fn push(&mut self, simple: Simple, note: Note) {
        if self.commands.len() < MAX_FOUND {
            self.commands.push(simple);
            self.notes.push(note);
        }
    }

    fn guess(&mut self, guess: Guess) {
        if self.guesses.len() < MAX_FOUND {
            self.guesses.push(guess);
        }
    }

    /// What is known besides of a command.
    pub(crate) fn note(&self, at: usize) -> Note {
        self.notes.get(at).copied().unwrap_or_default()
    }
}

/// Reads a line as a shell would.
#[must_use]
pub fn read_line(line: &str) -> Reading {
    let mut reading = read_text(line, 0);
    finish(&mut reading);
    reading
}

/// Reads words that no shell reads.
#[must_use]
pub fn read_argv(argv: &[String]) -> Reading {
    let mut reading = Reading::default();
    let length: usize = argv.iter().map(|word| word.len() + 1).sum();
    if argv.first().is_none_or(String::is_empty) {
        reading.doubt("it names no program");
    }
    if length > MAX_LINE_BYTES {
        reading.doubt("it is longer than anybody reads");
    }
    if argv.iter().any(|word| word.chars().any(|character| is_unseen(character) || character == '\n')) {
        reading.doubt("it holds characters that cannot be seen");
    }
    reading.push(Simple { assignments: Vec::new(), words: argv.to_vec() }, Note::default());
    reading.steps.push(Step { join: Join::First, command: 0, redirects: Vec::new() });
    inner::add(&mut reading, 0);
    finish(&mut reading);
    reading
}

/// Reads a text that some shell would read, at a depth of texts within texts.
fn read_text(line: &str, depth: usize) -> Reading {
    let mut reading = Reading::default();
    if line.len() > MAX_LINE_BYTES {
        reading.doubt("it is longer than anybody reads");
        reading.guess_all(line);
        return reading;
    }
    let strict = strict::read(line);
    let tree = tree::read(line);
    if line.chars().any(is_unseen) {
        reading.doubt("it holds characters that cannot be seen");
    }
    match (strict, tree) {
        (Ok(plan), Some(tree)) if tree.doubts.is_empty() && tree.agrees_with(&plan) => {
            for (at, (join, command)) in plan.into_iter().enumerate() {
                reading.note_assignments(&command.simple);
                let note = Note { piped: join == Join::Pipe, ..Note::default() };
                reading.push(command.simple, note);
                reading.steps.push(Step { join, command: at, redirects: command.redirects });
            }
        }
        (strict, tree) => {
            match strict {
                Err(doubt) => reading.doubt(doubt),
                Ok(_) if tree.as_ref().is_some_and(|tree| tree.doubts.is_empty()) => {
                    reading.doubt("it can be read in two ways");
                }
                Ok(_) => {}
            }
            match tree {
                Some(tree) => reading.take(tree, line),
                None => {
                    reading.doubt("it cannot be read");
                    reading.guess_all(line);
                }
            }
        }
    }
    if reading.steps.len() > MAX_COMMANDS {
        reading.doubt(format!("it holds more than {MAX_COMMANDS} commands"));
    }
    inner::add(&mut reading, depth);
    reading
}

impl Reading {
    /// Variables before a command are fine if they cannot change what runs.
    fn note_assignments(&mut self, simple: &Simple) {
        for (name, _) in &simple.assignments {
            if !crate::policy::severity::is_harmless_variable(name) {
                self.doubt(format!("it sets {name}, which may change what runs"));
            }
        }
        if simple.words.is_empty() {
            self.doubt("it sets variables for what follows");
        }
    }

    /// Takes over all that the grammar found.
    fn take(&mut self, tree: tree::Tree, line: &str) {
        let torn = tree.torn;
        for doubt in tree.doubts {
            self.doubt(doubt);
        }
        for (simple, note) in tree.found {
            self.note_assignments(&simple);
            self.push(simple, note);
        }
        self.targets.extend(tree.targets);
        self.fed.extend(tree.fed);
        // A second, simpler look: two readers rarely miss the same thing.
        raw::parts(line, &mut self.variables).into_iter().for_each(|guess| self.guess(guess));
        if torn {
            self.guess_all(line);
        }
    }

    /// Takes over whatever looks like a command in a text that cannot be read.
    fn guess_all(&mut self, text: &str) {
        for guess in raw_commands(text) {
            self.guess(guess);
        }
    }
}

/// Gathers the files, and the last doubts.
fn finish(reading: &mut Reading) {
    let redirects = reading.steps.iter().flat_map(|step| &step.redirects).chain(&reading.within_redirects);
    for redirect in redirects {
        let (path, touch) = match &redirect.to {
            RedirectTo::Read(path) => (path, Touch::Reads),
            RedirectTo::Write(path) | RedirectTo::Append(path) => (path, Touch::Writes),
            RedirectTo::Same(_) => continue,
        };
        reading.targets.push(Target { path: path.clone(), touch });
    }
    let mut found = Vec::new();
    let mut moved = false;
    for (at, simple) in reading.commands.iter().enumerate() {
        let targets = places::touched(&simple.words);
        let redirects = reading.steps.get(at).is_some_and(|step| !step.redirects.is_empty());
        if moved && (redirects || !targets.is_empty()) {
            found.push(Err("a part before changes where its paths lead"));
        }
        moved |= places::moves_paths(&simple.words);
        if places::changes_the_shell(&simple.words) {
            found.push(Err("it changes the shell that runs the rest"));
        }
        found.extend(targets.into_iter().map(Ok));
    }
    let parts = reading.guesses.iter().filter(|guess| guess.whole);
    found.extend(parts.flat_map(|guess| places::touched(&guess.words)).map(Ok));
    for one in found {
        match one {
            Ok(target) if reading.targets.contains(&target) => {}
            Ok(target) => reading.targets.push(target),
            Err(doubt) => reading.doubt(doubt),
        }
    }
    if reading.commands.is_empty() && reading.doubts.is_empty() {
        reading.doubt("it names no program");
    }
    if !reading.doubts.is_empty() {
        reading.steps.clear();
    }
}
