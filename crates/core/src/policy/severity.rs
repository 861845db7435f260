//! How bad a command could be, by its programs and their flags, wherever in it they stand. Errs upwards: what is not known
//! is worth a look, and only what is known to be harmless counts as that. Decides nothing.

mod elsewhere;
mod flags;
mod git;
mod harmless;
mod ruin;
mod running;
mod secrets;
mod system;
mod variables;

use switchboard_types::Severity;

use self::flags::Args;
use crate::policy::reading::{Note, Reading, Simple, Touch, is_fork_bomb, standard_device};
use crate::policy::text::{is_unseen, program_name, shown};

pub(crate) use running::{is_code_reader, is_shell};
pub(crate) use secrets::is_secret;
pub(crate) use variables::{is_harmless as is_harmless_variable, steers};

/// What can let a command run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cover {
    /// The session's switch, or a rule: the program does what its words say, and nothing else.
    Switch,
    /// Only a rule that names it: it may run or change what nobody has read.
    Rule,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) cover: Cover,
    /// In plain words.
    pub(crate) why: String,
}

impl Finding {
    pub(crate) fn new(severity: Severity, cover: Cover, why: impl Into<String>) -> Self {
        Self { severity, cover, why: why.into() }
    }

    fn critical(why: impl Into<String>) -> Self {
        Self::new(Severity::Critical, Cover::Rule, why)
    }

    fn high(why: impl Into<String>) -> Self {
        Self::new(Severity::High, Cover::Rule, why)
    }

    fn medium(why: impl Into<String>) -> Self {
        Self::new(Severity::Medium, Cover::Rule, why)
    }
}

/// Everything that can be said of a command. Never empty.
pub(crate) fn weigh(reading: &Reading, text: &str, env: &[(String, String)]) -> Vec<Finding> {
    let mut found = of_text(text);
    let assigned = reading.commands.iter().flat_map(|simple| &simple.assignments);
    for (name, value) in env.iter().chain(assigned).chain(&reading.variables) {
        if steers(name) {
            found.push(Finding::high(format!("it sets {}, which changes what other programs do", shown(name))));
        } else if value.chars().any(is_unseen) {
            found.push(Finding::high("it holds characters that cannot be seen"));
        }
    }
    for (at, simple) in reading.commands.iter().enumerate() {
        found.extend(rate(&simple.words, reading.note(at)));
    }
    for guess in &reading.guesses {
        let note = Note { piped: guess.piped, open: u64::from(guess.made_up), ..Note::default() };
        found.extend(rate(&guess.words, note).into_iter().filter(|finding| finding.severity >= Severity::High));
    }
    found.extend(of_targets(reading));
    found.extend(elsewhere::fetched_and_run(&reading.commands, &reading.guesses));
    if !reading.doubts.is_empty() {
        found.push(Finding::medium("nobody can tell for sure what it does"));
    }
    if found.is_empty() {
        found.push(Finding::medium("nobody can tell what it does"));
    }
    found
}

fn of_text(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    if is_fork_bomb(text) {
        found.push(Finding::critical("it starts itself again and again without end"));
    }
    if text.chars().any(is_unseen) {
        found.push(Finding::high("it holds characters that cannot be seen"));
    }
    if text.len() > crate::policy::reading::MAX_LINE_BYTES {
        found.push(Finding::high("it is longer than anybody reads"));
    }
    found
}

fn of_targets(reading: &Reading) -> Vec<Finding> {
    let mut found = Vec::new();
    for target in &reading.targets {
        let path = target.path.as_str();
        if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
            found.push(Finding::high("it opens a way to another machine"));
        } else if target.touch == Touch::Writes && path.starts_with("/dev/") && !is_open_device(path) {
            found.push(Finding::critical("it writes straight to a device"));
        } else if is_secret(path) {
            found.push(Finding::high(format!("{} may hold secrets", shown(path))));
        }
    }
    found
}

fn is_open_device(path: &str) -> bool {
    standard_device(path) || path.starts_with("/dev/shm/") || path.starts_with("/dev/fd/")
}

/// What can be said of one program with its words. Empty only if there are no words.
fn rate(words: &[String], note: Note) -> Vec<Finding> {
    let Some((first, args)) = words.split_first() else { return Vec::new() };
    let name = program_name(first);
    let args = Args(args);
    let mut found: Vec<Finding> = [
        ruin::find(&name, args, note),
        system::find(&name, args),
        elsewhere::find(&name, args),
        git::find(&name, args),
        running::find(&name, args, note),
    ]
    .into_iter()
    .flatten()
    .collect();
    if note.is_made_up() {
        found.push(Finding::high("which program runs is decided only when it runs"));
    }
    if found.is_empty() {
        let known = harmless::find(first, &name, args);
        found.push(known.unwrap_or_else(|| unknown(&name)));
    }
    if !is_text_only(&name, args.0) && args.0.iter().any(|word| is_secret(word)) {
        found.push(Finding::high("it names files that may hold secrets"));
    }
    found
}

fn unknown(name: &str) -> Finding {
    Finding::medium(format!(
        "nobody can tell beforehand what {} does",
        if name.is_empty() { "it" } else { name }.to_owned()
    ))
}

/// Whether a program takes its words as text or as files, and never as commands.
pub(crate) fn is_text_only(name: &str, args: &[String]) -> bool {
    harmless::is_listed(name)
        || matches!(name, "gh" | "glab" | "curl" | "wget" | "rm" | "chmod" | "chown" | "kill" | "sort" | "dd")
        || (name == "git" && !git::runs_words(Args(args)))
}

/// The programs that the steps name; for those who look them up.
pub(crate) fn program(simple: &Simple) -> &str {
    simple.words.first().map_or("", String::as_str)
}
