//! Bytes that come in pieces, as text: a character split between two pieces stays one, and what is no UTF-8 becomes U+FFFD.
//! Holds back at most three bytes.

/// Bytes on their way to be text.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character whose rest has not come yet.
    begun: Vec<u8>,
}

impl Decoder {
    /// The text of the next piece.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> String {
        let joined;
        let mut rest = if self.begun.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.begun).as_slice(), bytes].concat();
            &joined
        };
        let mut text = String::with_capacity(rest.len());
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(good) => {
                    text.push_str(good);
                    return text;
                }
                Err(error) => error,
            };
            let (good, bad) = rest.split_at_checked(error.valid_up_to()).unwrap_or_default();
            text.push_str(std::str::from_utf8(good).unwrap_or_default());
            let Some(length) = error.error_len() else {
                self.begun = bad.to_vec();
                return text;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            rest = bad.get(length..).unwrap_or_default();
        }
    }

    /// What is left when no more comes.
    pub(super) fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.begun).is_empty() { "" } else { "\u{fffd}" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(pieces: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut text: String = pieces.iter().map(|piece| decoder.feed(piece)).collect();
        text.push_str(decoder.end());
        text
    }

    #[test]
    fn a_text_is_the_same_wherever_it_is_split() {
        let bytes = b"a\xc3\xa9\xf0\x9f\xa6\x80b\xff\xc3(\xe2\x82\xf0\x9f";
        let whole = String::from_utf8_lossy(bytes);
        for at in 0..=bytes.len() {
            let (one, other) = bytes.split_at(at);
            assert_eq!(fed(&[one, other]), whole, "split at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(fed(&single), whole);
    }
}
