//! Commands written as one would type them, so that what is read is what runs: nothing hidden, nothing ambiguous.
//! Runs nothing.

use std::fmt::Write as _;

/// A command line that a shell would split into just these words.
pub(super) fn line(env: &[(String, String)], words: &[String]) -> String {
    let mut line = String::new();
    for (name, value) in env {
        line.push_str(name);
        line.push('=');
        if !value.is_empty() {
            line.push_str(&word(value));
        }
        line.push(' ');
    }
    for (at, text) in words.iter().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        // A first word with an equals sign would be read as a variable.
        let plain = word(text);
        if at == 0 && plain == *text && text.contains('=') {
            let _ = write!(line, "'{text}'");
        } else {
            line.push_str(&plain);
        }
    }
    line
}

/// Whether a text for a shell can be shown as it is: lines and tabs are seen, everything else that is not must be spelled out.
pub(super) fn can_be_seen(text: &str) -> bool {
    text.chars().all(|character| matches!(character, '\n' | '\t') || !(character.is_control() || is_hidden(character)))
}

/// One word.
fn word(text: &str) -> String {
    if text.chars().any(|character| character.is_control() || is_hidden(character)) {
        return spelled(text);
    }
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_@%+=:,./-".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A word with characters that must be spelled out, in the quoting of bash and zsh.
fn spelled(text: &str) -> String {
    let mut spelled = String::from("$'");
    for character in text.chars() {
        // Writing to a string cannot fail.
        let _ = match character {
            '\n' => write!(spelled, r"\n"),
            '\r' => write!(spelled, r"\r"),
            '\t' => write!(spelled, r"\t"),
            '\'' | '\\' => write!(spelled, r"\{character}"),
            _ if character.is_ascii_control() => write!(spelled, r"\x{:02x}", u32::from(character)),
            _ if !character.is_control() && !is_hidden(character) => write!(spelled, "{character}"),
            _ if u32::from(character) < 0x1_0000 => write!(spelled, r"\u{:04x}", u32::from(character)),
            _ => write!(spelled, r"\U{:08x}", u32::from(character)),
        };
    }
    spelled.push('\'');
    spelled
}

/// Characters that nobody sees, that look like a space, or that turn the order of others round.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_line_reads_as_one_would_type_it() {
        let cases: [(&[&str], &str); 9] = [
            (&["cargo", "test", "--all"], "cargo test --all"),
            (&["echo", "two words", ""], "echo 'two words' ''"),
            (&["echo", "it's", "$HOME", "*"], r"echo 'it'\''s' '$HOME' '*'"),
            (&["A=b", "c=d"], "'A=b' c=d"),
            (&["echo", "a\nb\\'\tc"], r"echo $'a\nb\\\'\tc'"),
            (&["echo", "\u{1b}[31m"], r"echo $'\x1b[31m'"),
            (&["rm", "gpj\u{202e}x", "a\u{200b}b"], r"rm $'gpj\u202ex' $'a\u200bb'"),
            (&["echo", "\u{e0041}"], r"echo $'\U000e0041'"),
            (&["echo", "é 🦀 —"], "echo 'é 🦀 —'"),
        ];
        for (from, expected) in cases {
            assert_eq!(line(&[], &words(from)), expected);
        }
    }

    #[test]
    fn variables_stand_before_the_command() {
        let env =
            [("CI".to_owned(), "1".to_owned()), ("A".to_owned(), "x y".to_owned()), ("E".to_owned(), String::new())];
        assert_eq!(line(&env, &words(&["make"])), "CI=1 A='x y' E= make");
    }

    #[test]
    fn a_shell_reads_the_very_words_back() {
        let given = words(&[
            "a b",
            "it's",
            "$(id)",
            "new\nline",
            "\u{1}\u{7f}",
            "back\\slash'",
            "é\u{202e}x",
            "`x`",
            "\u{e0041}!",
        ]);
        let script = format!("printf '%s\\0' {}", line(&[], &given));
        let mut bash = std::process::Command::new("bash");
        let output = bash.env("LC_ALL", "C.UTF-8").args(["-c", &script]).output().unwrap();
        let read: Vec<_> = output.stdout.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word)).collect();
        assert_eq!(read[..given.len()], given[..]);
    }
}
