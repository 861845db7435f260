//! A last look at text that cannot be read: whatever stands in it that would be a command somewhere. Errs upwards, and
//! knows nothing of grammar.

use super::word::Word;

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
    /// Whether they are all that stands between two signs, so that their files can be told.
    pub(crate) whole: bool,
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
            guesses.push(Guess { words, piped: piped && at == 0, made_up: false, whole: false });
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
/// [`raw_commands`] it knows quotes, and takes no command to begin in the middle. Variables that are set before one are kept.
pub(super) fn parts(text: &str, variables: &mut Vec<(String, String)>) -> Vec<Guess> {
    let mut parts: Vec<(String, Option<char>)> = vec![(String::new(), None)];
    let (mut single, mut double) = (false, false);
    // Whether double quotes were open before each bracket: within a substitution they begin anew.
    let mut outer: Vec<bool> = Vec::new();
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
            parts.push((String::new(), Some(sign)));
        } else if let Some((part, _)) = parts.last_mut() {
            part.push(sign);
            if sign == '\\' && !single {
                part.extend(rest.next());
            }
        }
    }
    parts.truncate(MAX_GUESSES);
    parts.into_iter().filter_map(|(part, sign)| guess(&part, sign, variables)).collect()
}

fn guess(part: &str, sign: Option<char>, variables: &mut Vec<(String, String)>) -> Option<Guess> {
    let mut words = super::word::words(part.trim());
    let before = words.iter().take_while(|word| is_before(word)).count();
    // Behind the sign of a redirection stands a file first.
    let file = usize::from(matches!(sign, Some('<' | '>')));
    let before = before + file + words.iter().skip(before + file).take_while(|word| is_before(word)).count();
    let behind = words.split_off(before.min(words.len()));
    variables.extend(words.iter().filter_map(assignment).take(MAX_WORDS));
    let made_up = behind.first()?.open;
    let words = behind.into_iter().take(MAX_WORDS).map(|word| word.text).collect();
    Some(Guess { words, piped: sign == Some('|'), made_up, whole: true })
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
