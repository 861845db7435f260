//! The last of a text, within a bound. Forgets what came before.

use std::collections::VecDeque;

use switchboard_types::Cut;

/// The last bytes of what was written.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    limit: usize,
    cut: Cut,
}

impl Tail {
    /// Keeps so many bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit, cut: Cut::Whole }
    }

    /// More was written.
    pub(super) fn push(&mut self, text: &str) {
        let over = (self.bytes.len() + text.len()).saturating_sub(self.limit);
        if over > 0 {
            self.cut = Cut::Short;
        }
        self.bytes.drain(..over.min(self.bytes.len()));
        let skipped = text.len().saturating_sub(self.limit);
        self.bytes.extend(text.as_bytes().get(skipped..).unwrap_or_default());
    }

    /// Bytes that are kept.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What is kept, from the first whole character on, and whether it is all.
    pub(super) fn text(&self) -> (String, Cut) {
        let is_inside = |byte: &&u8| (**byte & 0b1100_0000) == 0b1000_0000;
        // Only whole characters were pushed, so only the first can have lost its beginning.
        let lost = self.bytes.iter().take_while(is_inside).count();
        let bytes: Vec<u8> = self.bytes.iter().skip(lost).copied().collect();
        (String::from_utf8(bytes).unwrap_or_default(), self.cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_from_a_whole_character_on() {
        let mut tail = Tail::new(5);
        assert_eq!(tail.text(), (String::new(), Cut::Whole));
        tail.push("abcde");
        assert_eq!(tail.text(), ("abcde".into(), Cut::Whole));
        tail.push("é");
        assert_eq!(tail.text(), ("cdeé".into(), Cut::Short));
        tail.push("🦀x");
        assert_eq!(tail.text(), ("🦀x".into(), Cut::Short));
        tail.push("yz");
        assert_eq!(tail.text(), ("xyz".into(), Cut::Short));
        tail.push(&"long".repeat(100));
        assert_eq!(tail.text(), ("glong".into(), Cut::Short));
    }

    #[test]
    fn a_limit_of_nothing_keeps_nothing_and_says_so() {
        let mut tail = Tail::new(0);
        tail.push("");
        assert_eq!(tail.text(), (String::new(), Cut::Whole));
        tail.push("x");
        assert_eq!(tail.text(), (String::new(), Cut::Short));
    }
}
