//! What somebody looks for, out of the text that was typed. Whatever signs it has, it is never read as the index's own syntax.

use std::ops::ControlFlow;

use super::tokens::{Token, each_token};

/// Phrases of one query; what is beyond is not looked for.
const MAX_PHRASES: usize = 32;
/// Words of one phrase.
const MAX_WORDS: usize = 32;
/// Letters from which on a word can be a beginning: with fewer, almost everything would be found.
const MIN_BEGINNING: usize = 2;
/// Letters of the longest beginnings that the index keeps ready.
const READY_BEGINNING: usize = 3;

/// How the last word of a phrase is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As it is.
    Whole,
    /// As a beginning.
    Beginning,
}

/// Words that must stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// As they are compared.
    pub(crate) words: Vec<String>,
    /// As they were typed, for the index.
    typed: String,
    pub(crate) ending: Ending,
}

impl Phrase {
    fn of(text: &str, ending: Ending) -> Option<Self> {
        let (mut words, mut typed) = (Vec::new(), String::new());
        each_token(text, |Token { start, end, folded }| {
            if words.len() == MAX_WORDS {
                return ControlFlow::Break(());
            }
            words.push(folded.to_owned());
            if !typed.is_empty() {
                typed.push(' ');
            }
            typed.push_str(text.get(start..end).unwrap_or_default());
            ControlFlow::Continue(())
        });
        let last = words.last()?.chars().count();
        let ending = if last < MIN_BEGINNING { Ending::Whole } else { ending };
        Some(Self { words, typed, ending })
    }

    /// Whether a word can be the one at this place.
    pub(crate) fn fits(&self, at: usize, folded: &str) -> bool {
        let Some(wanted) = self.words.get(at) else { return false };
        match self.ending {
            Ending::Beginning if at + 1 == self.words.len() => folded.starts_with(wanted.as_str()),
            Ending::Beginning | Ending::Whole => folded == wanted,
        }
    }

    /// As the index reads it: nothing but words within quotes.
    pub(crate) fn expression(&self) -> String {
        self.quoted(&self.typed)
    }

    /// The same with a beginning that the index keeps ready, which finds all that this finds and more; none where it is not
    /// another one.
    pub(crate) fn coarse(&self) -> Option<String> {
        let last = self.typed.rfind(' ').map_or(0, |blank| blank + 1);
        let word = self.typed.get(last..).filter(|word| word.is_ascii() && word.len() > READY_BEGINNING)?;
        match self.ending {
            Ending::Whole => None,
            Ending::Beginning => {
                let short = self.typed.len() - word.len() + READY_BEGINNING;
                self.typed.get(..short).map(|typed| self.quoted(typed))
            }
        }
    }

    fn quoted(&self, typed: &str) -> String {
        let star = match self.ending {
            Ending::Whole => "",
            Ending::Beginning => " *",
        };
        format!("\"{typed}\"{star}")
    }
}

/// Reads what was typed: words, `"phrases"`, `beginning*`. The last word counts as a beginning unless it is in closed quotes.
pub(crate) fn parse(text: &str) -> Vec<Phrase> {
    let mut phrases: Vec<Phrase> = Vec::new();
    let mut add = |phrase: Option<Phrase>| {
        if let Some(phrase) = phrase.filter(|phrase| phrases.len() < MAX_PHRASES && !phrases.contains(phrase)) {
            phrases.push(phrase);
        }
    };
    let mut rest = text;
    loop {
        let (outside, quoted) = match rest.split_once('"') {
            Some((outside, quoted)) => (outside, Some(quoted)),
            None => (rest, None),
        };
        let count = outside.split_whitespace().count();
        for (at, chunk) in outside.split_whitespace().enumerate() {
            let last = quoted.is_none() && at + 1 == count;
            // A star right behind a closed quote belongs to the quote, and was read there.
            let ending = if last || chunk.ends_with('*') { Ending::Beginning } else { Ending::Whole };
            add(Phrase::of(chunk, ending));
        }
        let Some(quoted) = quoted else { return phrases };
        match quoted.split_once('"') {
            Some((inside, after)) => {
                let starred = after.starts_with('*');
                add(Phrase::of(inside, if starred { Ending::Beginning } else { Ending::Whole }));
                rest = after;
            }
            None => {
                add(Phrase::of(quoted, Ending::Beginning));
                return phrases;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expressions(text: &str) -> Vec<String> {
        parse(text).iter().map(Phrase::expression).collect()
    }

    #[test]
    fn words_phrases_and_beginnings_are_told_apart() {
        assert_eq!(expressions("one two"), [r#""one""#, r#""two" *"#]);
        assert_eq!(expressions(r#"conf* "to be or" x"#), [r#""conf" *"#, r#""to be or""#, r#""x""#]);
        assert_eq!(expressions(r#""closed phrase""#), [r#""closed phrase""#]);
        assert_eq!(expressions(r#""closed phra"* more"#), [r#""closed phra" *"#, r#""more" *"#]);
        assert_eq!(expressions(r#"an "open phra"#), [r#""an""#, r#""open phra" *"#]);
    }

    #[test]
    fn a_long_beginning_is_within_a_short_one() {
        let coarse = |text: &str| parse(text).iter().map(Phrase::coarse).collect::<Vec<_>>();
        assert_eq!(coarse("Func"), [Some(r#""Fun" *"#.to_owned())]);
        assert_eq!(coarse(r#""to be function"*"#), [Some(r#""to be fun" *"#.to_owned())]);
        assert_eq!(coarse(r#"whole fun "whole""#), [None, None], "a word that is whole, twice, and one that is short");
        assert_eq!(coarse("Ärger"), [None], "what is folded is left to the index");
    }

    #[test]
    fn signs_of_the_index_and_of_expressions_are_no_more_than_gaps() {
        assert_eq!(expressions("a.b(c) AND NOT x:y^2"), [r#""a b c""#, r#""AND""#, r#""NOT""#, r#""x y 2""#]);
        assert_eq!(expressions("src/main.rs"), [r#""src main rs" *"#]);
        for harmless in ["", " ", "\"", "\"\"", "***", "* * \" *", "-", "(", ")", "\0", "🦀", "\\", "'; DROP"] {
            assert!(parse(harmless).len() <= 1, "{harmless:?}");
        }
    }

    #[test]
    fn however_much_is_typed_what_is_looked_for_is_bounded() {
        assert_eq!(parse(&"ab c".repeat(256)).len(), 3);
        let many: String = (0..400).map(|number| format!("{number} ")).collect();
        assert_eq!(parse(&many).len(), MAX_PHRASES);
        assert_eq!(parse(&format!("\"{many}\""))[0].words.len(), MAX_WORDS);
    }

    #[test]
    fn a_phrase_fits_without_case_and_accents() {
        let phrase = &parse("\"Été cha\"*")[0];
        assert!(phrase.fits(0, "ete") && phrase.fits(1, "chaud") && !phrase.fits(0, "eten") && !phrase.fits(2, "x"));
    }
}
