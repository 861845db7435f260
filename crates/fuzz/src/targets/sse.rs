//! Event streams: how the bytes are cut changes nothing, no more is kept than the limit says, and nothing is made up.

use bytes::BytesMut;
use switchboard_dialects::framing::{Sse, SseError, SseItem};

/// The limits that are tried; the first byte chooses.
const LIMITS: [usize; 4] = [0, 7, 64, 100_000];

/// The first byte chooses the limit, the second how the rest is cut.
pub(crate) fn run(data: &[u8]) {
    let [limit, cut, bytes @ ..] = data else { return };
    let max = LIMITS[usize::from(*limit) % LIMITS.len()];
    let whole = read(max, &[bytes]);
    let cut: Vec<&[u8]> = bytes.chunks(usize::from(*cut).max(1)).collect();
    assert_eq!(whole, read(max, &cut), "how the bytes are cut has changed what they say");
}

fn read(max: usize, pieces: &[&[u8]]) -> (Vec<SseItem>, Option<SseError>) {
    let (mut sse, mut buffer, mut items, mut fault) = (Sse::with_max(max), BytesMut::new(), Vec::new(), None);
    let (mut fed, mut given) = (0, 0);
    for piece in pieces {
        buffer.extend_from_slice(piece);
        fed += piece.len();
        loop {
            match sse.next(&mut buffer) {
                Ok(Some(item)) => {
                    assert!(fault.is_none(), "something follows an error that nothing can follow");
                    if let SseItem::Event(event) = &item {
                        assert!(event.data.len() <= max, "{} bytes are over {max}", event.data.len());
                        given += event.data.len();
                    }
                    items.push(item);
                }
                Ok(None) => break,
                Err(error) => assert!(fault.replace(error).is_none(), "a stream breaks once"),
            }
        }
        assert!(buffer.len() <= max.max(3), "{} bytes wait for a line", buffer.len());
    }
    assert!(given <= fed, "{given} bytes came out of {fed}");
    (items, fault)
}
