//! The end of a link: a close frame that the other side can still read. Bounded in time and bytes.

use std::time::Duration;

use futures_util::SinkExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;

use super::frames;
use crate::link::CloseReason;

/// How long an end may take.
const CLOSE_TIME: Duration = Duration::from_secs(5);
/// What the other side may still send before its connection is reset.
const MAX_DRAINED_BYTES: usize = 64 * 1024 * 1024;
/// How much of it is read at a time.
const DRAIN_STEP_BYTES: usize = 16 * 1024;

/// Why a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The other side is gone, or has closed in good order.
    Gone,
    /// The host ends it.
    Host(CloseReason),
    /// The other side broke the protocol.
    Protocol,
    /// The other side sent text that is not UTF-8.
    NotUnicode,
    /// The other side sent a message over the limit.
    TooLong,
}

impl End {
    fn frame(self) -> Option<Vec<u8>> {
        match self {
            Self::Gone => None,
            Self::Host(CloseReason::GoingAway) => Some(frames::close(1001, "the host is stopping")),
            Self::Host(CloseReason::TooSlow) => Some(frames::close(1008, "answers are not read; connect again")),
            Self::Protocol => Some(frames::close(1002, "not a frame as RFC 6455 has it")),
            Self::NotUnicode => Some(frames::close(1007, "text must be UTF-8")),
            Self::TooLong => Some(frames::close(1009, "a message may have 16 MiB")),
        }
    }
}

/// Says why, then takes what the other side still sends: a socket that is closed with bytes unread resets the connection,
/// and a reset makes the close frame unreadable.
pub(super) async fn close(socket: &mut WebSocketStream<TcpStream>, end: End) {
    let Some(frame) = end.frame() else { return };
    let farewell = async {
        // Half a pong may wait for room; what is wrong with the rest shows in the next write.
        let _ = socket.flush().await;
        let stream = socket.get_mut();
        stream.write_all(&frame).await?;
        stream.shutdown().await?;
        let mut sink = vec![0; DRAIN_STEP_BYTES];
        let mut left = MAX_DRAINED_BYTES;
        while left > 0 {
            match stream.read(&mut sink).await? {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        Ok::<(), std::io::Error>(())
    };
    match tokio::time::timeout(CLOSE_TIME, farewell).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a link broke while it was closed"),
        Err(_) => tracing::debug!("a view did not take its close frame in time"),
    }
}
