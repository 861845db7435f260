//! What a reader of the bench sees of a stream: how many chunks there are and what times they carry. Never reads JSON, so
//! that the reader is not what is measured.

use crate::mold;

/// The beginning of every frame that carries a chunk.
const CHUNK: &[u8] = br#"{"type":"response-chunk""#;
const CLOSE: u8 = 0x8;
const SHORT: usize = 125;

/// How messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Messages of [`mold::BYTES`], one after the other.
    Lines,
    /// Unmasked WebSocket frames.
    WebSocket,
}

/// What was found in some bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Bytes that are whole messages; the rest waits for more.
    pub taken: usize,
    /// Chunks among them.
    pub chunks: u64,
    /// Other messages among them.
    pub others: u64,
    /// Whether the other side has ended the link.
    pub closed: bool,
}

impl Wire {
    /// Takes whole messages off the front; each one's payload is shown to `each`.
    pub fn scan(self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> Found {
        let mut found = Found::default();
        while let Some((code, head, len)) = self.head(bytes.get(found.taken..).unwrap_or_default()) {
            let start = found.taken + head;
            let Some(payload) = bytes.get(start..start + len) else { break };
            found.taken = start + len;
            if self == Self::Lines || payload.starts_with(CHUNK) {
                found.chunks += 1;
                each(payload);
            } else {
                found.others += 1;
                found.closed |= code == CLOSE;
            }
        }
        found
    }

    /// The first message's kind, and the bytes of its head and of its payload, if its head is there.
    fn head(self, bytes: &[u8]) -> Option<(u8, usize, usize)> {
        if self == Self::Lines {
            return (!bytes.is_empty()).then_some((0, 0, mold::BYTES));
        }
        let (code, len) = (bytes.first()? & 0x0f, usize::from(bytes.get(1)? & 0x7f));
        match len {
            126 => Some((code, 4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)))),
            127 => {
                let len = u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?);
                Some((code, 10, usize::try_from(len).ok()?))
            }
            short => Some((code, 2, short)),
        }
    }
}

/// A text frame as a view sends it: masked, with a mask that changes nothing.
#[must_use]
pub fn masked(text: &str) -> Vec<u8> {
    frame(0x80, &[0; 4], text)
}

/// A text frame as a host sends it.
#[must_use]
pub fn unmasked(text: &str) -> Vec<u8> {
    frame(0, &[], text)
}

fn frame(mask_bit: u8, mask: &[u8], text: &str) -> Vec<u8> {
    let mut out = vec![0x81];
    match (u8::try_from(text.len()), u16::try_from(text.len())) {
        (Ok(len), _) if text.len() <= SHORT => out.push(mask_bit | len),
        (_, Ok(len)) => {
            out.push(mask_bit | 126);
            out.extend_from_slice(&len.to_be_bytes());
        }
        (_, Err(_)) => {
            out.push(mask_bit | 127);
            out.extend_from_slice(&(text.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(mask);
    out.extend_from_slice(text.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Vec<u8> {
        let chunk = |len: usize| unmasked(&format!(r#"{{"type":"response-chunk","chunk":"{}"}}"#, "x".repeat(len)));
        let mut bytes = chunk(1);
        bytes.extend(unmasked(r#"{"type":"tab-opened"}"#));
        bytes.extend(chunk(200));
        bytes.extend(chunk(70_000));
        bytes
    }

    #[test]
    fn chunks_are_counted_wherever_the_bytes_are_cut() {
        let bytes = stream();
        let whole = Wire::WebSocket.scan(&bytes, |_| {});
        assert_eq!(whole, Found { taken: bytes.len(), chunks: 3, others: 1, closed: false });
        for cut in (0..bytes.len()).step_by(7) {
            let first = Wire::WebSocket.scan(&bytes[..cut], |_| {});
            let rest = Wire::WebSocket.scan(&bytes[first.taken..], |_| {});
            assert_eq!(first.chunks + rest.chunks, 3, "cut at {cut}");
            assert_eq!(first.taken + rest.taken, bytes.len(), "cut at {cut}");
        }
    }

    #[test]
    fn a_close_is_noticed() {
        assert!(Wire::WebSocket.scan(&[0x88, 0], |_| {}).closed);
    }

    #[test]
    fn lines_are_counted_by_their_length() {
        let found = Wire::Lines.scan(&[b'x'; 2 * mold::BYTES + 1], |_| {});
        assert_eq!((found.chunks, found.taken), (2, 2 * mold::BYTES));
    }
}
