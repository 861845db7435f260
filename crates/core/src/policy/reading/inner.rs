//! Commands that other programs run: behind `env` and `sudo`, in the text of `sh -c`, after `find -exec`. What it finds is
//! read again, down to a bound.

use super::raw::{Guess, raw_commands};
use super::{MAX_DEPTH, MAX_FOUND, Note, Reading, Simple, read_text};
use crate::policy::severity::{is_code_reader, is_shell, is_text_only};
use crate::policy::text::program_name;

/// A program that runs what stands behind its own options.
struct Wrapper {
    name: &'static str,
    /// Short options that take a value.
    values: &'static str,
    /// Words of its own before the program.
    skip: usize,
}

const fn wrapper(name: &'static str, values: &'static str, skip: usize) -> Wrapper {
    Wrapper { name, values, skip }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("command", "", 0),
    wrapper("builtin", "", 0),
    wrapper("exec", "a", 0),
    wrapper("env", "uCS", 0),
    wrapper("nohup", "", 0),
    wrapper("setsid", "", 0),
    wrapper("time", "fo", 0),
    wrapper("nice", "n", 0),
    wrapper("ionice", "cnp", 0),
    wrapper("timeout", "ks", 1),
    wrapper("gtimeout", "ks", 1),
    wrapper("stdbuf", "ioe", 0),
    wrapper("chrt", "", 1),
    wrapper("taskset", "", 1),
    wrapper("unbuffer", "", 0),
    wrapper("caffeinate", "tw", 0),
    wrapper("xargs", "IaEdLnPsi", 0),
    wrapper("parallel", "jSaN", 0),
    wrapper("sudo", "ugpCDhrtTUR", 0),
    wrapper("doas", "uC", 0),
    wrapper("pkexec", "", 0),
    wrapper("run0", "u", 0),
    wrapper("runuser", "ug", 0),
    wrapper("setpriv", "", 0),
    wrapper("chroot", "", 1),
    wrapper("busybox", "", 0),
    wrapper("toybox", "", 0),
    wrapper("strace", "eopsuaEIbSPX", 0),
    wrapper("ltrace", "eopsuan", 0),
    wrapper("flock", "wE", 1),
    wrapper("watch", "nq", 0),
    wrapper("unshare", "", 0),
    wrapper("nsenter", "tSGrw", 0),
    wrapper("fakeroot", "", 0),
    wrapper("systemd-run", "pu", 0),
    wrapper("firejail", "", 0),
    wrapper("entr", "", 0),
    wrapper("dotenv", "f", 0),
    wrapper("direnv", "", 2),
    wrapper("coproc", "", 0),
];

/// Programs that may run any of their words as a program, wherever it stands among them.
const RUN_WORDS: &[&str] = &[
    "ssh",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "npx",
    "bunx",
    "pipx",
    "uvx",
    "npm",
    "yarn",
    "pnpm",
    "bun",
    "lxc",
    "vagrant",
    "wsl",
    "proot",
    "bwrap",
    "tmux",
    "screen",
    "script",
    "expect",
    "su",
    "hyperfine",
    "act",
    "mise",
    "asdf",
    "nix",
    "nix-shell",
    "poetry",
    "pipenv",
    "uv",
    "bundle",
    "rbenv",
    "pyenv",
    "conda",
    "git",
    "fd",
    "fdfind",
    "find",
    "dbus-run-session",
    "xvfb-run",
    "at",
    "batch",
    "ts",
    "start-stop-daemon",
    "trap",
    "alias",
];

/// How many texts of one command are read.
const MAX_TEXTS: usize = 64;

/// Adds what the commands run that are there already.
pub(super) fn add(reading: &mut Reading, depth: usize) {
    let mut at = 0;
    while at < reading.commands.len() && at < MAX_FOUND {
        let Some(simple) = reading.commands.get(at).cloned() else { break };
        one(reading, at, &simple.words, depth);
        at += 1;
    }
    let parts: Vec<Guess> = reading.guesses.iter().filter(|guess| guess.whole).cloned().collect();
    for part in parts {
        let Some((first, args)) = part.words.split_first() else { continue };
        let name = program_name(first);
        let runs = is_shell(&name) || name == "eval" || RUN_WORDS.contains(&name.as_str());
        if runs || WRAPPERS.iter().any(|wrapper| wrapper.name == name) {
            guess_suffixes(reading, args, part.piped);
            guess_texts(reading, args, depth);
        }
    }
    feed(reading, depth);
}

fn one(reading: &mut Reading, at: usize, words: &[String], depth: usize) {
    let Some((first, args)) = words.split_first() else { return };
    let (name, note) = (program_name(first), reading.note(at));
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        wrapped(reading, wrapper, args, note);
        guess_suffixes(reading, args, note.piped);
    }
    if RUN_WORDS.contains(&name.as_str()) {
        guess_suffixes(reading, args, note.piped);
    }
    if matches!(name.as_str(), "find" | "gfind" | "fd" | "fdfind") {
        for inner in executed(args) {
            within(reading, inner, Note { piped: note.piped, ..Note::default() });
        }
    }
    if name == "eval" {
        text_within(reading, &args.join(" "), depth);
    } else if is_shell(&name) {
        if let Some(text) = shell_text(args) {
            text_within(reading, text, depth);
        }
    } else if is_code_reader(&name) {
        for text in args.iter().take(MAX_TEXTS) {
            for guess in raw_commands(text) {
                reading.guess(guess);
            }
        }
    } else if !is_text_only(&name, args) {
        guess_texts(reading, args, depth);
    }
}

/// The program that a wrapper runs, with its words.
fn wrapped(reading: &mut Reading, wrapper: &Wrapper, args: &[String], note: Note) {
    if wrapper.name == "command" && args.first().is_some_and(|first| first == "-v" || first == "-V") {
        return;
    }
    let (mut skip, mut at) = (wrapper.skip, 0);
    while let Some(arg) = args.get(at) {
        at += 1;
        if let Some(short) = arg.strip_prefix('-').filter(|short| !short.is_empty()) {
            let takes =
                !short.starts_with('-') && short.chars().last().is_some_and(|last| wrapper.values.contains(last));
            at += usize::from(takes);
        } else if arg.contains('=') && matches!(wrapper.name, "env" | "sudo" | "doas") {
            let (name, value) = arg.split_once('=').unwrap_or_default();
            if !crate::policy::severity::is_harmless_variable(name) {
                reading.doubt(format!("it sets {name}, which may change what runs"));
            }
            let assignments = vec![(name.to_owned(), value.to_owned())];
            reading.variables.extend(assignments);
        } else if skip > 0 {
            skip -= 1;
        } else {
            // The words before it are the wrapper's own name and options.
            let own = Note { open: note.open >> at.min(63), piped: note.piped, ..Note::default() };
            within(reading, args.get(at - 1..).unwrap_or_default().to_vec(), own);
            return;
        }
    }
}

fn within(reading: &mut Reading, words: Vec<String>, note: Note) {
    if !words.is_empty() {
        reading.push(Simple { assignments: Vec::new(), words }, note);
    }
}

fn guess_suffixes(reading: &mut Reading, args: &[String], piped: bool) {
    for at in 0..args.len().min(MAX_TEXTS) {
        let words: Vec<String> = args.iter().skip(at).take(MAX_TEXTS).filter(|word| *word != "--").cloned().collect();
        if words.first().is_some_and(|first| !first.starts_with('-')) {
            reading.guess(Guess { words, piped, made_up: false, whole: false });
        }
    }
}

/// The commands behind `-exec` and its kin.
fn executed(args: &[String]) -> Vec<Vec<String>> {
    const SIGNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if SIGNS.contains(&arg.as_str()) {
            found.push(rest.by_ref().take_while(|word| *word != ";" && *word != "+").cloned().collect());
        }
    }
    found
}

/// The text that a shell is given on its command line.
fn shell_text(args: &[String]) -> Option<&String> {
    let mut wanted = false;
    for arg in args {
        match arg.strip_prefix(['-', '+']) {
            Some(flags) if !arg.starts_with("--") => wanted |= flags.contains('c'),
            Some("-command") => wanted = true,
            Some(_) => {}
            None if wanted => return Some(arg),
            None => {}
        }
    }
    None
}

/// A text that a shell certainly runs.
fn text_within(reading: &mut Reading, text: &str, depth: usize) {
    if depth >= MAX_DEPTH {
        reading.doubt("it holds commands within commands without end");
        reading.guess_all(text);
        return;
    }
    let inner = read_text(text, depth + 1);
    for doubt in inner.doubts {
        reading.doubt(doubt);
    }
    for (at, simple) in inner.commands.into_iter().enumerate() {
        let note = inner.notes.get(at).copied().unwrap_or_default();
        reading.push(simple, note);
    }
    for step in inner.steps {
        reading.within_redirects.extend(step.redirects);
    }
    reading.targets.extend(inner.targets);
    reading.within_redirects.extend(inner.within_redirects);
    reading.variables.extend(inner.variables);
    inner.guesses.into_iter().for_each(|guess| reading.guess(guess));
}

/// Words that a program might run as text.
fn guess_texts(reading: &mut Reading, args: &[String], depth: usize) {
    let is_text = |word: &&String| word.contains([' ', ';', '|', '&', '\n', '`', '$', '\t']);
    for text in args.iter().filter(is_text).take(MAX_TEXTS) {
        if depth >= MAX_DEPTH {
            reading.guess_all(text);
            continue;
        }
        // A flag or a name may carry it: `--exec=rm -r x`.
        let text = match text.split_once('=') {
            Some((name, value)) if !name.contains([' ', '\t', ';', '|', '&']) => value,
            _ => text.as_str(),
        };
        let text = text.trim_start_matches('!');
        let inner = read_text(text, depth + 1);
        for (at, simple) in inner.commands.iter().enumerate() {
            let piped = inner.notes.get(at).is_some_and(|note| note.piped);
            reading.guess(Guess { words: simple.words.clone(), piped, made_up: false, whole: false });
        }
        inner.guesses.into_iter().for_each(|guess| reading.guess(guess));
    }
}

/// What is fed to a shell by the line itself: `echo … | sh`, `sh <<< …`.
fn feed(reading: &mut Reading, depth: usize) {
    let name = |simple: &Simple| simple.words.first().map(|first| program_name(first)).unwrap_or_default();
    let shells = reading.commands.iter().any(|simple| is_shell(&name(simple)));
    let readers = reading.commands.iter().any(|simple| is_code_reader(&name(simple)));
    if !shells && !readers {
        return;
    }
    let mut texts = std::mem::take(&mut reading.fed);
    let said = reading.commands.iter().filter(|simple| matches!(name(simple).as_str(), "echo" | "printf"));
    texts.extend(said.map(|simple| simple.words.iter().skip(1).cloned().collect::<Vec<_>>().join(" ")));
    for text in texts.iter().take(MAX_TEXTS) {
        if shells && depth < MAX_DEPTH {
            let inner = read_text(text, depth + 1);
            for (at, simple) in inner.commands.iter().enumerate() {
                let piped = inner.notes.get(at).is_some_and(|note| note.piped);
                reading.guess(Guess { words: simple.words.clone(), piped, made_up: false, whole: false });
            }
            inner.guesses.into_iter().for_each(|guess| reading.guess(guess));
        }
        reading.guess_all(text);
    }
}
