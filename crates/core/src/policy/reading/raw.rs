//! A last look at text that cannot be read: whatever stands in it that would be a command somewhere. Errs upwards, and
//! knows nothing of grammar.

use super::word::Word;
use super::{Target, Touch};

/// How many words behind a program are looked at.
const MAX_WORDS: usize = 48;
/// How many guesses are made of one text.
const MAX_GUESSES: usize = 400;

/// Words that may be a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Guess {
    /// The words, without any quotes.
    pub(crate) words: Vec<String>,
    /// Whether a pipe stands before them.
    pub(crate) piped: bool,
    /// Whether the first of them is made when it runs.
    pub(crate) made_up: bool,
}

/// Every run of words in a text, from each of its words on.
pub(crate) fn raw_commands(text: &str) -> Vec<Guess> {
    let text = text.replace("${IFS}", " ").replace("$IFS", " ");
    let cleaned: String = text.chars().filter(|character| !matches!(character, '\\' | '\'' | '"')).collect();
    let mut guesses = Vec::new();
    let mut piped = false;
    for (segment, end) in segments(&cleaned) {
        let words: Vec<&str> = segment.split([' ', '\t', ',', '[', ']']).filter(|word| !word.is_empty()).collect();
        for at in 0..words.len() {
            if guesses.len() >= MAX_GUESSES {
                return guesses;
            }
            let words = words.iter().skip(at).take(MAX_WORDS).map(|word| (*word).to_owned()).collect();
            guesses.push(Guess { words, piped: piped && at == 0, made_up: false });
        }
        if !segment.trim().is_empty() || end == Some('|') {
            piped = end == Some('|');
        }
    }
    guesses
}

/// Words that stand before a command and are none.
const BEFORE: &[&str] = &[
    "!", "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "esac", "{", "}", "[", "[[", "(", "time",
    "coproc", "command", "builtin", "exec",
];

/// What stands between the signs that separate commands, each part as the command that it would be. Unlike
/// [`raw_commands`] it knows quotes, and takes no command to begin in the middle.
pub(super) fn parts(text: &str) -> (Vec<Guess>, Aside) {
    let mut parts: Vec<(String, Option<char>)> = vec![(String::new(), None)];
    let (mut single, mut double) = (false, false);
    // Whether double quotes were open before each bracket: within a substitution they begin anew.
    let mut outer: Vec<bool> = Vec::new();
    let mut guesses = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(sign) = rest.next() {
        let cuts = match sign {
            _ if single => false,
            '`' | ')' => true,
            '$' => rest.peek() == Some(&'('),
            ';' | '|' | '&' | '\n' | '\r' | '(' | '<' | '>' => !double,
            _ => false,
        };
        match sign {
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '$' if cuts => {
                outer.push(double);
                double = false;
            }
            ')' if cuts => double = outer.pop().unwrap_or(double),
            _ => {}
        }
        if cuts {
            if matches!(sign, '`' | '$') && parts.last().is_some_and(|(part, sign)| begins(part, *sign)) {
                guesses.push(Guess { words: vec![String::new()], piped: false, made_up: true });
            }
            parts.push((String::new(), Some(sign)));
        } else if let Some((part, _)) = parts.last_mut() {
            part.push(sign);
            if sign == '\\' && !single {
                part.extend(rest.next());
            }
        }
    }
    parts.truncate(MAX_GUESSES);
    let mut aside = Aside::default();
    guesses.extend(parts.into_iter().filter_map(|(part, sign)| guess(&part, sign, &mut aside)));
    (guesses, aside)
}

/// What stands beside the commands of a text.
#[derive(Default)]
pub(super) struct Aside {
    /// Variables that are set before one.
    pub(super) variables: Vec<(String, String)>,
    /// Files of redirections.
    pub(super) targets: Vec<Target>,
}

/// Whether a command would begin behind this part, so that what is made there names the program.
fn begins(part: &str, sign: Option<char>) -> bool {
    let blank = |word: &str| word.chars().all(|sign| matches!(sign, '"' | '\'')) || BEFORE.contains(&word);
    !matches!(sign, Some('`' | ')' | '<' | '>')) && part.split_whitespace().all(blank)
}

/// A part with its braces spelled out: `{rm,-rf}` is two words.
fn unbraced(part: &str) -> String {
    let word = |word: &str| match word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        // An empty variable before each keeps in mind that the words are made when it runs.
        Some(inner) if inner.contains(',') => {
            inner.split(',').map(|word| format!("$@{word}")).collect::<Vec<_>>().join(" ")
        }
        _ => word.to_owned(),
    };
    part.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

fn guess(part: &str, sign: Option<char>, aside: &mut Aside) -> Option<Guess> {
    let mut words = super::word::words(&unbraced(part));
    let before = words.iter().take_while(|word| is_before(word)).count();
    // Behind the sign of a redirection stands a file first.
    let touch = match sign {
        Some('>') => Some(Touch::Writes),
        Some('<') => Some(Touch::Reads),
        _ => None,
    };
    let file = usize::from(touch.is_some());
    if let (Some(touch), Some(word)) = (touch, words.get(before).filter(|word| !word.text.is_empty())) {
        aside.targets.push(Target { path: word.text.clone(), touch });
    }
    let before = before + file + words.iter().skip(before + file).take_while(|word| is_before(word)).count();
    let behind = words.split_off(before.min(words.len()));
    aside.variables.extend(words.iter().filter_map(assignment).take(MAX_WORDS));
    let made_up = behind.first()?.open;
    let words = behind.into_iter().take(MAX_WORDS).map(|word| word.text).collect();
    Some(Guess { words, piped: sign == Some('|'), made_up })
}

/// Whether a word stands before a command and is no part of it.
fn is_before(word: &Word) -> bool {
    (word.text.is_empty() && !word.open) || assignment(word).is_some() || BEFORE.contains(&word.text.as_str())
}

fn assignment(word: &Word) -> Option<(String, String)> {
    let (name, value) = word.text.split_once('=')?;
    let name = name.trim_end_matches('+');
    name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_').then(|| (name.to_owned(), value.to_owned()))
}

/// The parts of a text between the signs that separate commands, each with the sign behind it.
fn segments(text: &str) -> Vec<(&str, Option<char>)> {
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some((at, sign)) = rest.char_indices().find(|(_, sign)| ";|&\n\r(){}<>`$".contains(*sign)) {
        let (before, behind) = rest.split_at(at);
        segments.push((before, Some(sign)));
        rest = behind.strip_prefix(sign).unwrap_or_default();
    }
    segments.push((rest, None));
    segments
}

/// Whether a text defines something that starts itself twice, in the background.
pub(crate) fn is_fork_bomb(text: &str) -> bool {
    let plain: String = text.chars().map(|sign| if matches!(sign, '\'' | '"') { ' ' } else { sign }).collect();
    let plain = plain.replace('\\', "");
    let dense: String = plain.to_lowercase().split_whitespace().collect();
    if ["forkwhilefork", "while1:os.fork", "whiletrue:os.fork"].iter().any(|known| dense.contains(known)) {
        return true;
    }
    plain.match_indices('{').any(|(at, _)| {
        let (before, behind) = plain.split_at(at);
        let Some(name) = defined(before.trim_end()) else { return false };
        let body = behind.split('}').next().unwrap_or_default();
        let calls = body.matches(name).count();
        let background = body.replace("&&", "").contains('&');
        calls >= 1 && background && (body.contains('|') || calls >= 2)
    })
}

/// The name of a function whose body follows.
fn defined(before: &str) -> Option<&str> {
    let is_end = |sign: char| sign.is_whitespace() || ";&|(){}`".contains(sign);
    let name = |text: &'_ str| text.len() - text.rsplit(is_end).next().map_or(0, str::len);
    if let Some(named) = before.strip_suffix(')').and_then(|rest| rest.trim_end().strip_suffix('(')) {
        let named = named.trim_end();
        return named.get(name(named)..).filter(|name| !name.is_empty());
    }
    let named = before.get(name(before)..).filter(|name| !name.is_empty())?;
    before.strip_suffix(named)?.trim_end().ends_with("function").then_some(named)
}
