//! Rust text to tokens: enough to tell code from comments and strings, no more. Never fails; what it does not know becomes
//! punctuation.

/// What sort of token it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword; a raw one keeps its `r#`.
    Word,
    /// One character of punctuation.
    Mark,
    /// The inside of a string literal of any sort.
    Text,
    /// A comment of any sort, with its slashes.
    Comment,
    /// A number, a character or a lifetime.
    Other,
}

/// One token and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// All tokens of a file, comments included.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, line: 1, tokens: Vec::new() };
    while lexer.step() {}
    lexer.tokens
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
    tokens: Vec<Token>,
}

impl Lexer {
    /// Reads one token; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.peek(0) else { return false };
        match (first, self.peek(1)) {
            (space, _) if space.is_whitespace() => self.skip(1),
            ('/', Some('/')) => self.line_comment(),
            ('/', Some('*')) => self.block_comment(),
            ('"', _) => self.string(0),
            ('\'', _) => self.quote(0),
            ('b', Some('\'')) => self.quote(1),
            ('b' | 'c' | 'r', _) if self.raw_or_prefixed() => {}
            (letter, _) if is_word_start(letter) => self.take_while(Kind::Word, is_word_part),
            (digit, _) if digit.is_ascii_digit() => self.take_while(Kind::Other, is_word_part),
            _ => {
                self.push(Kind::Mark, first.to_string(), self.line);
                self.skip(1);
            }
        }
        true
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            if self.peek(0) == Some('\n') {
                self.line += 1;
            }
            self.at += 1;
        }
    }

    fn push(&mut self, kind: Kind, text: String, line: usize) {
        self.tokens.push(Token { kind, text, line });
    }

    fn push_since(&mut self, kind: Kind, start: usize, end: usize, line: usize) {
        let text = self.chars.get(start..end.min(self.chars.len())).unwrap_or_default().iter().collect();
        self.push(kind, text, line);
    }

    fn take_while(&mut self, kind: Kind, belongs: fn(char) -> bool) {
        let start = self.at;
        while self.peek(0).is_some_and(belongs) {
            self.skip(1);
        }
        self.push_since(kind, start, self.at, self.line);
    }

    fn line_comment(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.skip(1);
        }
        self.push_since(Kind::Comment, start, self.at, self.line);
    }

    fn block_comment(&mut self) {
        let (start, line) = (self.at, self.line);
        let mut depth = 0;
        while let Some(first) = self.peek(0) {
            let (deeper, length) = match (first, self.peek(1)) {
                ('/', Some('*')) => (1, 2),
                ('*', Some('/')) => (-1, 2),
                _ => (0, 1),
            };
            depth += deeper;
            self.skip(length);
            if depth == 0 {
                break;
            }
        }
        self.push_since(Kind::Comment, start, self.at, line);
    }

    /// A string with escapes, after a prefix of so many letters.
    fn string(&mut self, prefix: usize) {
        let line = self.line;
        self.skip(prefix + 1);
        let start = self.at;
        while let Some(c) = self.peek(0) {
            match c {
                '"' => break,
                '\\' => self.skip(2),
                _ => self.skip(1),
            }
        }
        self.push_since(Kind::Text, start, self.at, line);
        self.skip(1);
    }

    /// A character or a lifetime, after a prefix of so many letters.
    fn quote(&mut self, prefix: usize) {
        let line = self.line;
        self.skip(prefix);
        let is_char = self.peek(1) == Some('\\') || self.peek(2) == Some('\'');
        let start = self.at;
        self.skip(1);
        if is_char {
            while let Some(c) = self.peek(0).filter(|c| *c != '\'') {
                self.skip(if c == '\\' { 2 } else { 1 });
            }
            self.skip(1);
        } else {
            while self.peek(0).is_some_and(is_word_part) {
                self.skip(1);
            }
        }
        self.push_since(Kind::Other, start, self.at, line);
    }

    /// Raw strings, strings with a prefix and raw names; false if it is a plain name after all.
    fn raw_or_prefixed(&mut self) -> bool {
        let prefix = (0..2).take_while(|ahead| matches!(self.peek(*ahead), Some('b' | 'c' | 'r'))).count();
        let raw = self.peek(prefix - 1) == Some('r');
        let hashes = (0..).take_while(|ahead| self.peek(prefix + ahead) == Some('#')).count();
        match self.peek(prefix + hashes) {
            Some('"') if raw => self.raw_string(prefix + hashes, hashes),
            Some('"') if hashes == 0 => self.string(prefix),
            Some(letter) if raw && prefix == 1 && hashes == 1 && is_word_start(letter) => {
                let start = self.at;
                self.skip(2);
                while self.peek(0).is_some_and(is_word_part) {
                    self.skip(1);
                }
                self.push_since(Kind::Word, start, self.at, self.line);
            }
            _ => return false,
        }
        true
    }

    fn raw_string(&mut self, before_quote: usize, hashes: usize) {
        let line = self.line;
        self.skip(before_quote + 1);
        let start = self.at;
        let closes =
            |lexer: &Self| lexer.peek(0) == Some('"') && (1..=hashes).all(|ahead| lexer.peek(ahead) == Some('#'));
        while self.peek(0).is_some() && !closes(self) {
            self.skip(1);
        }
        self.push_since(Kind::Text, start, self.at, line);
        self.skip(1 + hashes);
    }
}

fn is_word_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_word_part(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        tokens(text).into_iter().map(|token| (token.kind, token.text)).collect()
    }

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().filter(|token| token.kind == Kind::Word).map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        let text = r##"a /* b /* c */ d */ e // f
            "g \" h" br#"i " j"# r"k" c"l" b"m" n"##;
        assert_eq!(words(text), vec!["a", "e", "n"]);
    }

    #[test]
    fn characters_and_lifetimes_are_told_apart() {
        let expected = [
            (Kind::Other, "'\"'"),
            (Kind::Other, "'\\''"),
            (Kind::Other, "'a"),
            (Kind::Mark, ","),
            (Kind::Other, "'\\u{1F980}'"),
            (Kind::Other, "'x'"),
            (Kind::Word, "end"),
        ];
        let found = kinds(r#"'"' '\'' 'a, '\u{1F980}' b'x' end"#);
        assert_eq!(found, expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn a_raw_name_is_a_name_and_a_name_that_begins_like_a_prefix_is_whole() {
        assert_eq!(words("r#async rest break crate br"), vec!["r#async", "rest", "break", "crate", "br"]);
    }

    #[test]
    fn lines_are_counted_through_long_tokens() {
        let found: Vec<_> = tokens("\"a\nb\" /*\n*/ c").into_iter().map(|token| token.line).collect();
        assert_eq!(found, vec![1, 2, 3]);
    }

    #[test]
    fn unfinished_text_ends_with_the_file() {
        for text in ["\"a", "/* a", "r#\"a", "'", "'\\", "b'"] {
            assert!(!tokens(text).is_empty(), "{text}");
        }
    }
}
