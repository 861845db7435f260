//! Words of a text as the index sees them: where they stand, and how they read without case and accents. Never keeps a text.

use std::borrow::Cow;
use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Whether a character is a word by itself: scripts without spaces have nothing else to be found by.
fn stands_alone(one: char) -> bool {
    matches!(one, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_of_a_word(one: char) -> bool {
    one.is_ascii_alphanumeric()
        || (!one.is_ascii()
            && (one.is_alphanumeric() || is_combining_mark(one) || ('\u{e000}'..='\u{f8ff}').contains(&one)))
}

/// Adds a character as it is compared.
fn fold_into(one: char, folded: &mut String) {
    if one.is_ascii() {
        folded.push(one.to_ascii_lowercase());
        return;
    }
    let plain = one.to_lowercase().nfd().filter(|piece| !is_combining_mark(*piece));
    folded.extend(plain);
}

/// A text with room around every character that is a word by itself, for an index that knows only spaces.
pub(crate) fn spaced(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(stands_alone) {
        return Cow::Borrowed(text);
    }
    let mut apart = String::with_capacity(text.len() * 2);
    for one in text.chars() {
        if stands_alone(one) {
            apart.extend([' ', one, ' ']);
        } else {
            apart.push(one);
        }
    }
    Cow::Owned(apart)
}

/// One word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// As it is compared.
    pub(crate) folded: &'a str,
}

/// Goes through the words in order, as long as somebody wants to hear more.
pub(crate) fn each_token(text: &str, mut hear: impl FnMut(Token<'_>) -> ControlFlow<()>) {
    let mut folded = String::new();
    let mut begin = None;
    for (at, one) in text.char_indices() {
        let alone = stands_alone(one);
        if let Some(start) = begin
            && (alone || !is_of_a_word(one))
        {
            begin = None;
            if hear(Token { start, end: at, folded: &folded }).is_break() {
                return;
            }
            folded.clear();
        }
        if alone {
            fold_into(one, &mut folded);
            if hear(Token { start: at, end: at + one.len_utf8(), folded: &folded }).is_break() {
                return;
            }
            folded.clear();
        } else if is_of_a_word(one) {
            begin.get_or_insert(at);
            fold_into(one, &mut folded);
        }
    }
    if let Some(start) = begin {
        let _ = hear(Token { start, end: text.len(), folded: &folded });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        each_token(text, |token| {
            found.push((text.get(token.start..token.end).unwrap().to_owned(), token.folded.to_owned()));
            ControlFlow::Continue(())
        });
        found
    }

    fn folded(text: &str) -> Vec<String> {
        all(text).into_iter().map(|(_, folded)| folded).collect()
    }

    #[test]
    fn words_lose_case_and_accents_and_keep_their_place() {
        assert_eq!(folded("Déjà_vu, 42×: ÉTÉ"), ["deja", "vu", "42", "ete"]);
        assert_eq!(all("x e\u{301}t").last().unwrap(), &("e\u{301}t".to_owned(), "et".to_owned()));
        assert!(folded("… 🦀 -- \"*\0").is_empty());
    }

    #[test]
    fn characters_of_scripts_without_spaces_are_words() {
        assert_eq!(folded("ab漢字cd かな"), ["ab", "漢", "字", "cd", "か", "な"]);
        assert_eq!(spaced("ab漢字"), "ab 漢  字 ");
        assert!(matches!(spaced("plain é"), Cow::Borrowed(_)));
    }
}
