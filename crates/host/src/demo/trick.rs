//! The `demo:` prompts by name, and how their numbers are read. Performs none itself.

use super::turn::{Stopped, Turn};
use super::{mischief, show, talk, work};

/// How a prompt that is a trick begins.
const PREFIX: &str = "demo:";
/// The largest number that a trick takes.
const MAX_COUNT: usize = 10_000_000;
/// The most megabytes that a trick takes.
const MAX_MEGABYTES: usize = 1024;

/// What is left to do after a trick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Say that the turn is done.
    Complete,
    /// Nothing: it was said, or never will be.
    Nothing,
}

/// Answers a prompt: by the trick that it names, else by talking.
pub(super) fn perform(turn: &Turn, prompt: &str, context: usize) -> Result<After, Stopped> {
    let Some(line) = prompt.trim_start().strip_prefix(PREFIX) else {
        talk::answer(turn, prompt, context)?;
        return Ok(After::Complete);
    };
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let done = match name {
        "slow" => show::slow(turn, number(rest, 20, MAX_COUNT)),
        "fast" => show::fast(turn, number(rest, 100_000, MAX_COUNT)),
        "flood" => show::flood(turn, number(rest, 32, MAX_MEGABYTES)),
        "echo" => turn.say(rest),
        "spell" => show::spell(turn, rest),
        "silent" => Ok(()),
        "approve" => show::approve(turn),
        "tool" => work::tool(turn),
        "run" => work::run(turn, rest),
        "edit" => work::edit(turn),
        "env" => show::env(turn),
        "unicode" => show::unicode(turn),
        "long" => mischief::long(turn, number(rest, 10, MAX_MEGABYTES)),
        "garbage" => mischief::garbage(turn),
        "error" => return mischief::error(turn),
        "hang" => mischief::hang(),
        "crash" => mischief::crash(turn, number(rest, 3, MAX_COUNT)),
        "half" => mischief::half(turn),
        "exit" => mischief::exit(),
        "help" => turn.say(talk::HELP),
        _ => turn.say(&format!("There is no trick `{name}`.\n\n{}", talk::HELP)),
    };
    done.map(|()| After::Complete)
}

/// The number after a trick's name, or the usual one.
fn number(rest: &str, usual: usize, max: usize) -> usize {
    rest.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(usual).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_bounded_or_usual() {
        assert_eq!(number("12 more", 5, 100), 12);
        assert_eq!(number("", 5, 100), 5);
        assert_eq!(number("many", 5, 100), 5);
        assert_eq!(number("9999", 5, 100), 100);
    }
}
