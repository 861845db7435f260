//! Messages both ways between standard input and output and a link to the host, byte for byte. Holds one batch each way
//! at most: who does not read is waited for.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use switchboard_dialects::framing::native::MAX_TO_BROWSER_BYTES;
use switchboard_dialects::framing::{Framing, FramingError, FramingKind, encode};
use switchboard_dialects::view::ViewKind;
use switchboard_types::{Reject, RejectCode, Time};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Stdin, Stdout};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::browser::Browser;
use crate::cli::exit::Failure;
use crate::cli::wire::{Heard, Socket, heard};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;
/// Bytes that are written at once; what waits beyond them goes into the next write.
const BATCH_BYTES: usize = 256 * 1024;
/// Refusals of our own that wait to be written.
const REFUSALS: usize = 16;
/// After the input's end, the host's answers are waited for until it has said nothing for so long,
const QUIET: Duration = Duration::from_secs(1);
/// and at most this long.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How large a message may be for whoever reads our output.
pub(super) enum Bounds {
    /// As large as the host makes it.
    None,
    /// As large as a browser takes.
    Browser(Browser),
}

/// Carries messages until the input ends, which is the usual end, or the host is gone.
pub(super) async fn run(socket: Socket, kind: ViewKind, framing: FramingKind, bounds: Bounds) -> Result<(), Failure> {
    let (sink, stream) = socket.split();
    let (refuse, refusals) = mpsc::channel(REFUSALS);
    let mut up = Box::pin(Up { input: tokio::io::stdin(), sink, kind, refuse }.run(Framing::new(framing)));
    let mut down = Down { output: tokio::io::stdout(), stream, refusals, framing, bounds, out: BytesMut::new() };
    let ended = tokio::select! {
        ended = &mut up => ended,
        over = down.run(None) => return over,
    };
    // What was asked before the end is answered first.
    let last_words = down.run(Some(QUIET));
    let rest = timeout(LAST_WORDS, last_words).await.unwrap_or(Ok(()));
    let mut sink = match ended {
        Ok(sink) => sink,
        Err(failure) => return Err(failure),
    };
    let _ = timeout(QUIET, sink.send(Message::Close(None))).await;
    rest
}

type Out = SplitSink<Socket, Message>;

/// From standard input to the host.
struct Up {
    input: Stdin,
    sink: Out,
    kind: ViewKind,
    refuse: mpsc::Sender<Vec<u8>>,
}

impl Up {
    async fn run(mut self, mut framing: Framing) -> Result<Out, Failure> {
        let mut buffer = BytesMut::new();
        loop {
            while let Some(found) = framing.next(&mut buffer).transpose() {
                self.take(found).await?;
            }
            self.sink.flush().await.map_err(|error| gone(&error))?;
            buffer.reserve(READ_BYTES);
            match self.input.read_buf(&mut buffer).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(Failure::failed(format!("standard input cannot be read: {error}"))),
            }
        }
        while let Some(found) = framing.finish(&mut buffer).transpose() {
            self.take(found).await?;
        }
        self.sink.flush().await.map_err(|error| gone(&error))?;
        Ok(self.sink)
    }

    async fn take(&mut self, found: Result<Bytes, FramingError>) -> Result<(), Failure> {
        let error = match found.map(Utf8Bytes::try_from) {
            Ok(Ok(text)) => return self.sink.feed(Message::Text(text)).await.map_err(|error| gone(&error)),
            Ok(Err(_)) => {
                self.refuse(RejectCode::BadJson, "the message is not UTF-8").await;
                return Ok(());
            }
            Err(error) => error,
        };
        match (error.is_fatal(), error.is_too_large()) {
            (_, true) => self.refuse(RejectCode::TooLarge, &error.to_string()).await,
            (true, false) => self.refuse(RejectCode::BadJson, &error.to_string()).await,
            // Noise between messages is nobody's question.
            (false, false) => tracing::warn!("{error}"),
        }
        if error.is_fatal() {
            return Err(Failure::failed(format!("standard input cannot be followed any more: {error}")));
        }
        Ok(())
    }

    /// Answers in the host's stead, in the dialect's own form.
    async fn refuse(&self, code: RejectCode, message: &str) {
        let mut answer = Vec::new();
        // Nothing of a refusal depends on the time.
        self.kind.make().refuse(Time::default(), &Reject::new(code, message), &mut |json| answer = json.to_vec());
        // If the output is gone, so are we, soon.
        let _ = self.refuse.send(answer).await;
    }
}

fn gone(error: &dyn std::fmt::Display) -> Failure {
    Failure::unreachable(format!("the host is gone: {error}"))
}

/// From the host to standard output.
struct Down {
    output: Stdout,
    stream: SplitStream<Socket>,
    refusals: mpsc::Receiver<Vec<u8>>,
    framing: FramingKind,
    bounds: Bounds,
    out: BytesMut,
}

impl Down {
    /// Writes what comes, until the link is over, the reader has gone, or, if `quiet` is given, nothing came for so long.
    async fn run(&mut self, quiet: Option<Duration>) -> Result<(), Failure> {
        loop {
            let until = quiet.map(|quiet| Instant::now() + quiet);
            let over = tokio::select! {
                biased;
                Some(refusal) = self.refusals.recv() => {
                    self.frame(&refusal).await;
                    None
                }
                message = self.stream.next() => self.gather(message).await,
                () = sleep_until(until) => return Ok(()),
            };
            match self.write().await {
                // Whoever read us has gone; that is an end like any other.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(Failure::failed(format!("standard output cannot be written: {error}"))),
                Ok(()) => {}
            }
            if let Some(why) = over {
                return Err(Failure::unreachable(why));
            }
        }
    }

    /// Takes this and whatever else has come; says why if it was the end.
    async fn gather(
        &mut self,
        first: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
    ) -> Option<String> {
        let mut next = Some(first);
        while let Some(message) = next {
            match heard(message) {
                Heard::Text(text) => self.frame(text.as_bytes()).await,
                Heard::Nothing => {}
                Heard::Over(why) => return Some(why),
            }
            next = if self.out.len() < BATCH_BYTES { self.stream.next().now_or_never() } else { None };
        }
        None
    }

    async fn frame(&mut self, message: &[u8]) {
        let fitted = match &self.bounds {
            Bounds::Browser(browser) if message.len() > MAX_TO_BROWSER_BYTES => Some(browser.fit(message).await),
            Bounds::Browser(_) | Bounds::None => None,
        };
        let message = fitted.as_deref().unwrap_or(message);
        if let Err(error) = encode(self.framing, message, &mut self.out) {
            tracing::warn!("{error}");
        }
    }

    async fn write(&mut self) -> io::Result<()> {
        let batch = self.out.split();
        self.output.write_all(&batch).await?;
        self.output.flush().await
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
