//! What stands around a match, in plain pieces, and how well a text fits. Never hands out more than a few lines.

use std::ops::ControlFlow;

use switchboard_types::SnippetPiece;

use super::query::Phrase;
use super::tokens::each_token;

/// Bytes before the first match.
const BEFORE: usize = 60;
/// Bytes from the first match on.
const AFTER: usize = 180;
/// What is left out is shown as this.
const CUT: &str = "…";

/// Follows phrases through the words of a text.
struct Matcher<'a> {
    phrases: &'a [Phrase],
    /// Where the last words began, the newest last; as many as the longest phrase has.
    recent: Vec<(usize, String)>,
    longest: usize,
}

impl<'a> Matcher<'a> {
    fn new(phrases: &'a [Phrase]) -> Self {
        let longest = phrases.iter().map(|phrase| phrase.words.len()).max().unwrap_or(0);
        Self { phrases, recent: Vec::new(), longest }
    }

    /// The phrases that end with this word: which, and where each began.
    fn take(&mut self, start: usize, folded: &str, mut hit: impl FnMut(usize, usize)) {
        if self.longest > 1 {
            if self.recent.len() == self.longest {
                self.recent.remove(0);
            }
            self.recent.push((start, folded.to_owned()));
        }
        for (which, phrase) in self.phrases.iter().enumerate() {
            let last = phrase.words.len() - 1;
            if !phrase.fits(last, folded) {
                continue;
            }
            if last == 0 {
                hit(which, start);
            } else if let Some(from) = self.recent.len().checked_sub(last + 1) {
                let words = self.recent.iter().skip(from);
                if words.clone().enumerate().all(|(at, (_, word))| phrase.fits(at, word)) {
                    hit(which, words.map(|(start, _)| *start).next().unwrap_or(start));
                }
            }
        }
    }
}

/// The first match and what stands around it; the beginning of the text if nothing matches.
pub(crate) fn around(text: &str, phrases: &[Phrase]) -> Option<Vec<SnippetPiece>> {
    let first = first_match(text, phrases)?;
    let from = if first <= BEFORE { 0 } else { gap_after(text, text.ceil_char_boundary(first - BEFORE), first) };
    let until = text.floor_char_boundary((first + AFTER).min(text.len()));
    Some(pieces(text, from, until, phrases))
}

/// The beginning of a text in which nothing is marked.
pub(crate) fn beginning(text: &str) -> Vec<SnippetPiece> {
    pieces(text, 0, text.floor_char_boundary(AFTER.min(text.len())), &[])
}

fn first_match(text: &str, phrases: &[Phrase]) -> Option<usize> {
    let mut matcher = Matcher::new(phrases);
    let mut first = None;
    each_token(text, |token| {
        matcher.take(token.start, token.folded, |_, start| first = first.or(Some(start)));
        if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    first
}

/// The end of the first white space between two places, so that no word is cut; the first place if there is none.
fn gap_after(text: &str, from: usize, until: usize) -> usize {
    let between = text.get(from..until).unwrap_or_default();
    between.find(char::is_whitespace).map_or(from, |at| text.ceil_char_boundary(from + at + 1))
}

fn pieces(text: &str, from: usize, until: usize, phrases: &[Phrase]) -> Vec<SnippetPiece> {
    let window = text.get(from..until).unwrap_or_default();
    let mut hits: Vec<(usize, usize)> = Vec::new();
    let mut matcher = Matcher::new(phrases);
    each_token(window, |token| {
        matcher.take(token.start, token.folded, |_, start| {
            match hits.last_mut().filter(|(_, end)| *end >= start) {
                Some((_, end)) => *end = token.end,
                None => hits.push((start, token.end)),
            };
        });
        ControlFlow::Continue(())
    });
    let mut found = Vec::new();
    let mut add = |text: &str, hit: bool| {
        let text = one_line(text);
        if !text.is_empty() {
            found.push(SnippetPiece { text, hit });
        }
    };
    let mut at = 0;
    let head = if from > 0 { CUT } else { "" };
    for (number, (start, end)) in hits.iter().enumerate() {
        let between = window.get(at..*start).unwrap_or_default();
        if number == 0 {
            add(&format!("{head}{between}"), false)
        } else {
            add(between, false)
        }
        add(window.get(*start..*end).unwrap_or_default(), true);
        at = *end;
    }
    let rest = window.get(at..).unwrap_or_default();
    let head = if hits.is_empty() { head } else { "" };
    let tail = if until < text.len() { CUT } else { "" };
    add(&format!("{head}{rest}{tail}"), false);
    found
}

/// White space of any length and sort is one blank; what a terminal would obey is none of our words.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut blank = false;
    for one in text.chars() {
        if one.is_whitespace() || one.is_control() {
            blank = true;
            continue;
        }
        if std::mem::take(&mut blank) {
            line.push(' ');
        }
        line.push(one);
    }
    if blank {
        line.push(' ');
    }
    line
}

/// How often each phrase stands in a text, and how many words that has.
pub(crate) fn count(text: &str, phrases: &[Phrase], counts: &mut Vec<u32>) -> u32 {
    counts.clear();
    counts.resize(phrases.len(), 0);
    let (mut matcher, mut words) = (Matcher::new(phrases), 0);
    each_token(text, |token| {
        words += 1;
        matcher.take(token.start, token.folded, |which, _| {
            if let Some(count) = counts.get_mut(which) {
                *count += 1;
            }
        });
        ControlFlow::Continue(())
    });
    words
}

#[cfg(test)]
mod tests {
    use super::super::query::parse;
    use super::*;

    fn shown(text: &str, query: &str) -> String {
        let pieces = around(text, &parse(query)).unwrap();
        pieces.iter().map(|one| if one.hit { format!("[{}]", one.text) } else { one.text.clone() }).collect()
    }

    #[test]
    fn the_match_is_marked_and_what_is_far_from_it_is_left_out() {
        let text = format!("{} the needle is here {}", "hay ".repeat(100), "straw ".repeat(100));
        let found = shown(&text, "needle");
        assert!(found.starts_with("…hay ") && found.contains("the [needle] is here straw") && found.ends_with('…'));
        assert!(found.len() < 300, "{found}");
    }

    #[test]
    fn a_phrase_is_one_hit_and_white_space_is_one_blank() {
        assert_eq!(shown("a\n\tTo  be\u{1b}[31m, or not", "\"to be\""), "a [To be] [31m, or not");
        assert_eq!(shown("Crème brûlée", "creme brul"), "[Crème] [brûlée]");
        assert_eq!(shown("漢字かな", "字か"), "漢[字か]な");
    }

    #[test]
    fn whatever_stands_around_nothing_is_cut_within_a_character() {
        for pad in 0..8 {
            let text = format!("{}{}needle{}", "x".repeat(pad), "🦀".repeat(60), "é".repeat(200));
            assert_eq!(around(&text, &parse("\"needle\"")), None, "it is within a longer word");
            assert!(shown(&text, "needle").contains("[needleé"));
            let apart = format!("{}{} needle {}", "x".repeat(pad), "🦀".repeat(60), "é".repeat(200));
            assert!(shown(&apart, "needle").contains("[needle]"));
        }
        assert_eq!(beginning("<b>&"), vec![SnippetPiece { text: "<b>&".to_owned(), hit: false }]);
    }

    #[test]
    fn words_are_counted() {
        let mut counts = Vec::new();
        assert_eq!(count("a b a b c", &parse("\"a b\" c"), &mut counts), 5);
        assert_eq!(counts, [2, 1]);
    }
}
