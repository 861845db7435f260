//! One Rust source as tokens, with what is only for tests marked. Knows nothing of other files.

use std::ops::Range;

use crate::tidy::lexer::{self, Kind, Token};

/// Who reaches a source through `mod` declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Nobody: the compiler never sees it.
    Nobody,
    /// Only tests.
    Tests,
    /// What is shipped.
    Product,
}

/// One Rust source.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    /// Everything but comments.
    pub(crate) code: Vec<Token>,
    pub(crate) comments: Vec<Token>,
    pub(crate) reach: Reach,
    /// Runs of `code` that are compiled for tests only.
    tests: Vec<Range<usize>>,
}

/// A path in the code, such as `std::sync::Arc`, with the groups of a `use` taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) parts: Vec<String>,
    pub(crate) line: usize,
    /// Where it begins in the code.
    pub(crate) at: usize,
}

impl Source {
    /// Takes a source apart.
    pub(crate) fn read(path: &str, text: &str) -> Self {
        let (comments, code): (Vec<Token>, Vec<Token>) =
            lexer::tokens(text).into_iter().partition(|token| token.kind == Kind::Comment);
        let tests = test_runs(&code);
        Self { path: path.to_owned(), code, comments, reach: Reach::Nobody, tests }
    }

    /// Whether the token at this place is compiled for tests only.
    pub(crate) fn is_test(&self, at: usize) -> bool {
        self.reach == Reach::Tests || self.tests.iter().any(|run| run.contains(&at))
    }

    /// Whether words and marks stand at this place in this order.
    pub(crate) fn stands(&self, at: usize, expected: &[&str]) -> bool {
        stands(&self.code, at, expected)
    }

    /// The places where words and marks stand in this order.
    pub(crate) fn places<'a>(&'a self, expected: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        (0..self.code.len()).filter(move |at| self.stands(*at, expected))
    }

    /// The attributes, each as the run of its tokens from `#` to `]`.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.code.len()).filter_map(|at| attribute(&self.code, at))
    }

    /// Whether a word stands somewhere in a run of tokens.
    pub(crate) fn mentions(&self, run: Range<usize>, word: &str) -> bool {
        run.into_iter().any(|at| self.stands(at, &[word]))
    }

    /// The line of the token at this place.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.code.get(at).map_or(1, |token| token.line)
    }

    /// The paths that begin with one of these words.
    pub(crate) fn paths_from(&self, roots: &[&str]) -> Vec<NamedPath> {
        let mut paths = Vec::new();
        for at in 0..self.code.len() {
            let within = at >= 3 && self.stands(at - 2, &[":", ":"]) && self.code[at - 3].kind == Kind::Word;
            if !within && roots.iter().any(|root| self.stands(at, &[root])) {
                let mut reader = PathReader { code: &self.code, at, begin: at, paths: Vec::new() };
                reader.read(&[]);
                paths.append(&mut reader.paths);
            }
        }
        paths
    }
}

fn stands(code: &[Token], at: usize, expected: &[&str]) -> bool {
    code.get(at..at + expected.len()).is_some_and(|run| {
        run.iter()
            .zip(expected)
            .all(|(token, text)| matches!(token.kind, Kind::Word | Kind::Mark) && token.text == *text)
    })
}

struct PathReader<'a> {
    code: &'a [Token],
    at: usize,
    begin: usize,
    paths: Vec<NamedPath>,
}

impl PathReader<'_> {
    fn read(&mut self, before: &[String]) {
        let mut parts = before.to_vec();
        let line = self.code.get(self.at).map_or(1, |token| token.line);
        loop {
            if stands(self.code, self.at, &["{"]) {
                return self.read_group(&parts);
            }
            let Some(token) = self.code.get(self.at) else { break };
            let part = token.kind == Kind::Word || token.text == "*";
            if !part {
                break;
            }
            if token.text != "self" {
                parts.push(token.text.clone());
            }
            self.at += 1;
            if !stands(self.code, self.at, &[":", ":"]) {
                break;
            }
            self.at += 2;
        }
        self.paths.push(NamedPath { parts, line, at: self.begin });
    }

    fn read_group(&mut self, before: &[String]) {
        self.at += 1;
        while self.at < self.code.len() && !stands(self.code, self.at, &["}"]) {
            self.read(before);
            // What is left before the next member is a rename or a comma.
            while self.at < self.code.len() && !stands(self.code, self.at, &["}"]) {
                self.at += 1;
                if stands(self.code, self.at - 1, &[","]) {
                    break;
                }
            }
        }
        self.at += 1;
    }
}

/// The attribute that begins at this place, inner ones included.
fn attribute(code: &[Token], at: usize) -> Option<Range<usize>> {
    let open = if stands(code, at, &["#", "["]) {
        at + 1
    } else if stands(code, at, &["#", "!", "["]) {
        at + 2
    } else {
        return None;
    };
    Some(at..closing(code, open)? + 1)
}

/// The place of the bracket that closes the one at `open`.
fn closing(code: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in code.iter().enumerate().skip(open) {
        depth += depth_change(token);
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn depth_change(token: &Token) -> i32 {
    match (token.kind, token.text.as_str()) {
        (Kind::Mark, "(" | "[" | "{") => 1,
        (Kind::Mark, ")" | "]" | "}") => -1,
        _ => 0,
    }
}

fn test_runs(code: &[Token]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in 0..code.len() {
        let inside = runs.last().is_some_and(|run| run.contains(&at));
        let Some(attribute) = attribute(code, at).filter(|_| !inside) else { continue };
        if !is_for_tests(code, &attribute) {
            continue;
        }
        let whole_file = stands(code, at, &["#", "!"]);
        runs.push(at..if whole_file { code.len() } else { item_end(code, attribute.end) });
    }
    runs
}

/// `#[cfg(test)]`, or `all` of `test` and more.
fn is_for_tests(code: &[Token], attribute: &Range<usize>) -> bool {
    let inner = attribute.start + if stands(code, attribute.start, &["#", "!"]) { 3 } else { 2 };
    stands(code, inner, &["cfg", "(", "test", ")"])
        || (stands(code, inner, &["cfg", "(", "all", "("])
            && (inner..attribute.end).any(|at| {
                stands(code, at, &["test"])
                    && !stands(code, at - 2, &["not", "("])
                    && !stands(code, at - 2, &["any", "("])
            }))
}

/// Where the item ends that begins after an attribute.
fn item_end(code: &[Token], mut at: usize) -> usize {
    while let Some(another) = attribute(code, at) {
        at = another.end;
    }
    // A field, a variant or an arm ends at a comma; an item may hold commas.
    let words = ["pub", "mod", "fn", "use", "struct", "enum", "impl", "const", "static", "trait", "type", "let"];
    let more = ["async", "unsafe", "extern", "macro_rules"];
    let is_item = words.iter().chain(&more).any(|word| stands(code, at, &[word]));
    let mut depth = 0;
    while let Some(token) = code.get(at) {
        let change = depth_change(token);
        depth += change;
        let closed = depth == 0 && change < 0 && token.text == "}";
        let ended = depth == 0 && (token.text == ";" || (token.text == "," && !is_item)) && token.kind == Kind::Mark;
        if depth < 0 {
            return at;
        }
        at += 1;
        if closed || ended {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product_words(text: &str) -> Vec<String> {
        let source = Source::read("a.rs", text);
        let words =
            source.code.iter().enumerate().filter(|(at, token)| token.kind == Kind::Word && !source.is_test(*at));
        words.map(|(_, token)| token.text.clone()).collect()
    }

    fn std_paths(text: &str) -> Vec<String> {
        Source::read("a.rs", text).paths_from(&["std"]).into_iter().map(|path| path.parts.join("::")).collect()
    }

    #[test]
    fn a_test_module_ends_with_its_brace() {
        let text = "fn a() {} #[cfg(test)] #[path_free] mod tests { fn b() { c } } fn d() {}";
        assert_eq!(product_words(text), vec!["fn", "a", "fn", "d"]);
    }

    #[test]
    fn only_what_needs_test_is_for_tests() {
        assert_eq!(product_words("#[cfg(all(test, unix))] use a::{b, c}; d"), vec!["d"]);
        assert!(product_words("#[cfg(not(test))] fn a() {}").contains(&"a".to_owned()));
        assert!(product_words("#[cfg(any(test, unix))] fn a() {}").contains(&"a".to_owned()));
        assert!(product_words("#[cfg(all(not(test), unix))] fn a() {}").contains(&"a".to_owned()));
    }

    #[test]
    fn a_field_for_tests_ends_at_its_comma_and_an_inner_attribute_takes_the_file() {
        assert_eq!(product_words("struct A { #[cfg(test)] b: [u8; 3], c: D }"), vec!["struct", "A", "c", "D"]);
        assert_eq!(product_words("#![cfg(test)] fn a() {} fn b() {}"), Vec::<String>::new());
    }

    #[test]
    fn groups_of_a_use_are_taken_apart() {
        let text = "use std::{fs::{self, File as F}, sync::Arc, io::*}; fn a() { std::mem::take(b); other::std::c() }";
        let expected = ["std::fs", "std::fs::File", "std::sync::Arc", "std::io::*", "std::mem::take"];
        assert_eq!(std_paths(text), expected);
    }
}
