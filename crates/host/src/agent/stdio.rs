//! Lines in, lines out, both bounded: a client that does not read is not read either. Never looks inside a line.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use switchboard_dialects::framing::lines::{LineTooLong, Lines, frame};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// Lines that wait, each way.
pub(super) const MAX_LINES: usize = 64;
/// How long the last words may take.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);
/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// A line of the client, or one that was too long.
pub(super) type Line = Result<Bytes, LineTooLong>;

/// Reads to the end of the stream, then lets go of the queue.
pub(super) async fn read(mut from: impl AsyncRead + Unpin, to: mpsc::Sender<Line>) {
    let (mut lines, mut buffer) = (Lines::new(), BytesMut::new());
    loop {
        buffer.reserve(READ_BYTES);
        match from.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        while let Some(line) = lines.next(&mut buffer) {
            if to.send(line).await.is_err() {
                return;
            }
        }
    }
    if let Some(line) = lines.finish(&mut buffer) {
        let _ = to.send(line).await;
    }
}

/// Writes until nobody has anything to say, or nobody listens.
pub(super) async fn write(mut to: impl AsyncWrite + Unpin, mut from: mpsc::Receiver<Vec<u8>>) {
    let (mut messages, mut bytes) = (Vec::new(), BytesMut::new());
    while from.recv_many(&mut messages, MAX_LINES).await > 0 {
        for message in messages.drain(..) {
            frame(&message, &mut bytes);
        }
        if to.write_all(&bytes).await.is_err() || to.flush().await.is_err() {
            return;
        }
        bytes.clear();
    }
}
