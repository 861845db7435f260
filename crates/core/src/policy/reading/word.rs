//! The text that a shell's word stands for, as far as it can be told without running anything.

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text; what is made when it runs is left out.
    pub(super) text: String,
    /// Whether something in it is made when it runs: a variable, a substitution, a glob.
    pub(super) open: bool,
}

/// The words that a piece of shell text stands for. Never empty: where a blank or a comma hides in it (`$IFS`,
/// `{rm,-rf}`), there are several.
pub(super) fn words(raw: &str) -> Vec<Word> {
    let braced = raw.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).filter(|inner| inner.contains(','));
    let (raw, comma) = match braced {
        Some(inner) => (inner, true),
        None => (raw, false),
    };
    let mut state = State { comma, ..State::default() };
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        state.take(character, &mut characters);
    }
    let last = std::mem::take(&mut state.word);
    state.words.push(last);
    if comma || state.hidden_blank {
        for word in &mut state.words {
            word.open = true;
        }
    }
    state.words
}

#[derive(Default)]
struct State {
    words: Vec<Word>,
    word: Word,
    comma: bool,
    hidden_blank: bool,
    single: bool,
    double: bool,
}

impl State {
    fn take(&mut self, character: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        match character {
            '\'' if !self.double => self.single = !self.single,
            _ if self.single => self.word.text.push(character),
            '"' => self.double = !self.double,
            '\\' => self.escape(rest),
            // Quotes of another kind: the letters in them stand for themselves all the same.
            '$' if !self.double && matches!(rest.peek(), Some('\'' | '"')) => {}
            '$' => {
                self.word.open = true;
                if skip_variable(rest) == "IFS" && !self.double {
                    self.hidden_blank = true;
                    self.cut();
                }
            }
            '`' => self.word.open = true,
            ' ' | '\t' | '\n' if !self.double => self.cut(),
            ',' if self.comma && !self.double => self.cut(),
            '*' | '?' | '[' | '{' | '}' if !self.double => {
                self.word.open = true;
                self.word.text.push(character);
            }
            '~' if !self.double && self.word.text.is_empty() => {
                self.word.open = true;
                self.word.text.push(character);
            }
            _ => self.word.text.push(character),
        }
    }

    fn escape(&mut self, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        match rest.next() {
            None | Some('\n') => {}
            Some(escaped) => {
                if self.double && !matches!(escaped, '"' | '\\' | '$' | '`') {
                    self.word.text.push('\\');
                }
                self.word.text.push(escaped);
            }
        }
    }

    fn cut(&mut self) {
        let word = std::mem::take(&mut self.word);
        if !word.text.is_empty() || word.open {
            self.words.push(word);
        }
    }
}

/// Leaves out a variable, or what stands in its braces, and says its name.
fn skip_variable(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut name = String::new();
    match rest.peek().copied() {
        Some(open @ ('{' | '(')) => {
            let close = if open == '{' { '}' } else { ')' };
            let mut depth = 0_usize;
            for character in rest.by_ref() {
                if character == open {
                    depth += 1;
                } else if character == close {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                } else {
                    name.push(character);
                }
            }
        }
        Some(first) if first.is_ascii_alphabetic() || first == '_' => {
            while let Some(character) = rest.next_if(|sign| sign.is_ascii_alphanumeric() || *sign == '_') {
                name.push(character);
            }
        }
        Some('@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9') => {
            rest.next();
        }
        Some(_) | None => {}
    }
    name
}
