//! How names and texts are compared where somebody may have dressed them up: letters that look alike to a file system, and
//! letters that nobody sees. Looks at text only.

use unicode_normalization::UnicodeNormalization as _;

/// Characters that nobody sees, that look like a space, or that turn the order of others round.
pub(crate) fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
}

/// Whether a character has no place in a command that is to be read: it cannot be seen, or it steers whatever shows it.
pub(crate) fn is_unseen(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t')) || is_hidden(character)
}

/// A text as a file system would see it that ignores case and how letters are put together: upper case first, since some
/// letters meet only there.
pub(crate) fn folded(text: &str) -> String {
    let seen: String = text.chars().filter(|character| !is_hidden(*character) && !character.is_control()).collect();
    let composed: String = seen.nfc().flat_map(char::to_uppercase).collect();
    composed.chars().flat_map(char::to_lowercase).nfc().collect()
}

/// One part of a path, folded, as file systems see it that drop what stands at its end.
pub(crate) fn folded_part(part: &str) -> String {
    let folded = folded(part);
    // What follows a colon names a stream of the same file on some systems.
    let whole = folded.split_once(':').map_or(folded.as_str(), |(before, _)| before);
    whole.trim_end_matches(['.', ' ']).trim_start_matches(' ').to_owned()
}

/// The name of a program however it is written: without folder, ending and dress.
pub(crate) fn program_name(written: &str) -> String {
    let plain: String = written.nfkc().filter(|character| !is_hidden(*character)).collect();
    let name = plain.rsplit(['/', '\\']).next().unwrap_or(&plain).to_lowercase();
    let name = name.trim();
    name.strip_suffix(".exe").unwrap_or(name).to_owned()
}

/// A name without the version behind it: `python` for `python3.11`.
pub(crate) fn without_version(name: &str) -> &str {
    let plain = name.trim_end_matches(|character: char| character.is_ascii_digit() || matches!(character, '.' | '-'));
    if plain.is_empty() { name } else { plain }
}

/// A word for a sentence: short, and without anything that cannot be seen.
pub(crate) fn shown(word: &str) -> String {
    const MOST_CHARS: usize = 80;
    let mut shown = String::new();
    for character in word.chars().take(MOST_CHARS) {
        if is_hidden(character) || character.is_control() {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    if word.chars().nth(MOST_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
