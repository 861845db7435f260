//! Thinking that a model writes into its text: `<think>…</think>` at the very beginning of an answer, and nowhere else. Holds back
//! only what may yet become one of the two marks.

/// Text, told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Aloud {
    Text(String),
    Thought(String),
}

/// The marks, and what closes each.
const MARKS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
/// Blank space before the first word that is waited through.
const MAX_BLANK_BYTES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Thinking {
    place: Place,
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Nothing but blank space so far.
    #[default]
    Start,
    /// Within; what closes it.
    Within(&'static str),
    /// Just after it: the blank lines between it and the answer are nobody's.
    Behind,
    /// In the answer itself.
    Answer,
}

impl Thinking {
    pub(super) fn read(&mut self, text: &str) -> Vec<Aloud> {
        let mut out = Vec::new();
        if self.place == Place::Answer {
            push(&mut out, text, Aloud::Text);
            return out;
        }
        self.held.push_str(text);
        while self.step(&mut out) {}
        out
    }

    /// There is no more text: what is held is what it looks like.
    pub(super) fn end(&mut self) -> Vec<Aloud> {
        let (mut out, held) = (Vec::new(), std::mem::take(&mut self.held));
        match self.place {
            Place::Within(_) => push(&mut out, &held, Aloud::Thought),
            Place::Start | Place::Answer => push(&mut out, &held, Aloud::Text),
            Place::Behind => {}
        }
        self.place = Place::Answer;
        out
    }

    /// Whether there may be more to find in what is held.
    fn step(&mut self, out: &mut Vec<Aloud>) -> bool {
        match self.place {
            Place::Start => {
                let begins = self.held.trim_start();
                if let Some((mark, close)) = MARKS.iter().find(|(mark, _)| begins.starts_with(mark)) {
                    let rest = begins.strip_prefix(mark).unwrap_or_default().to_owned();
                    (self.place, self.held) = (Place::Within(close), rest);
                    return true;
                }
                let may_be =
                    MARKS.iter().any(|(mark, _)| mark.starts_with(begins)) && self.held.len() < MAX_BLANK_BYTES;
                if !may_be {
                    self.place = Place::Answer;
                    push(out, &std::mem::take(&mut self.held), Aloud::Text);
                }
                false
            }
            Place::Within(close) => {
                if let Some((thought, rest)) = self.held.split_once(close) {
                    push(out, thought, Aloud::Thought);
                    (self.place, self.held) = (Place::Behind, rest.to_owned());
                    return true;
                }
                let sure = self.held.len() - overlap(&self.held, close);
                let held = self.held.split_off(sure);
                push(out, &std::mem::replace(&mut self.held, held), Aloud::Thought);
                false
            }
            Place::Behind => {
                let rest = self.held.trim_start().to_owned();
                self.held.clear();
                if !rest.is_empty() {
                    self.place = Place::Answer;
                    push(out, &rest, Aloud::Text);
                }
                false
            }
            Place::Answer => false,
        }
    }
}

fn push(out: &mut Vec<Aloud>, text: &str, kind: fn(String) -> Aloud) {
    if !text.is_empty() {
        out.push(kind(text.to_owned()));
    }
}

/// How many bytes at the end of the text may be the beginning of the mark.
pub(super) fn overlap(text: &str, mark: &str) -> usize {
    (1..mark.len()).rev().find(|size| mark.get(..*size).is_some_and(|head| text.ends_with(head))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said and thought in all, however it is cut.
    fn told(pieces: &[&str]) -> (String, String) {
        let (mut thinking, mut text, mut thought) = (Thinking::default(), String::new(), String::new());
        let mut all: Vec<Aloud> = pieces.iter().flat_map(|piece| thinking.read(piece)).collect();
        all.extend(thinking.end());
        for each in all {
            match each {
                Aloud::Text(part) => text.push_str(&part),
                Aloud::Thought(part) => thought.push_str(&part),
            }
        }
        (text, thought)
    }

    #[test]
    fn thinking_at_the_beginning_is_told_apart() {
        for (whole, text, thought) in [
            ("<think>hm</think>yes", "yes", "hm"),
            ("\n<think>\nhm\n</think>\n\nyes </think>", "yes </think>", "\nhm\n"),
            ("<thinking>a </think> b</thinking>c", "c", "a </think> b"),
            ("<think>no end", "", "no end"),
            ("<think></think>", "", ""),
            ("yes <think>no</think>", "yes <think>no</think>", ""),
            ("<thin", "<thin", ""),
            ("  x", "  x", ""),
            ("<b>x</b>", "<b>x</b>", ""),
        ] {
            assert_eq!(told(&[whole]), (text.to_owned(), thought.to_owned()), "{whole:?}");
            let single: Vec<String> = whole.chars().map(String::from).collect();
            let single: Vec<&str> = single.iter().map(String::as_str).collect();
            assert_eq!(told(&single), (text.to_owned(), thought.to_owned()), "{whole:?} by the letter");
        }
    }
}
