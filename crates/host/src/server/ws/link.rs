//! The task of one link: the view's messages to the host's task, and back what it tells. Keeps nothing of the
//! conversation; while the view does not read, the task waits and the cursor stands still.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use switchboard_dialects::view::{ViewDialect, ViewKind};
use switchboard_types::limits::LINK_WINDOW_BYTES;
use switchboard_types::{
    Command, ContextItem, Effect, LinkId, Reject, RejectCode, SessionId, SessionRequest, Time, Told, ToolDefinition,
    Trust,
};
use thiserror::Error;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error as WsError, Message, error::ProtocolError};

use super::batch::{Batch, Mark};
use super::closing::{self, End};
use super::tape;
use crate::attachments::{AttachmentError, Attachments};
use crate::link::{CloseReason, OUTBOX_MESSAGES, Outgoing, ViewInput, ViewTape};
use crate::runner::validate::check_definition;
use crate::server::accept::{Phase, Place, Shared};
use crate::server::folder::canonical_folder;
use crate::wire::recorder::head;

/// Written event bytes that are worth a report. What is not reported yet keeps its place in the window, so this must stay
/// well below the half of it that lets the host read on.
const REPORT_BYTES: usize = LINK_WINDOW_BYTES / 4;
/// Bytes of one write; what waits beyond them goes into the next.
const MAX_BATCH_BYTES: usize = 2 * LINK_WINDOW_BYTES;
/// How often a write that stands still looks whether the host still wants it.
const STALL_CHECK: Duration = Duration::from_secs(1);
/// How often a link logs that its view breaks the protocol.
const LOG_EVERY_MS: u64 = 5_000;

/// A link that cannot go on.
#[derive(Debug, Error)]
enum LinkError {
    #[error("the socket failed: {0}")]
    Socket(#[from] std::io::Error),
    #[error("the link failed: {0}")]
    Protocol(#[from] WsError),
    #[error("the host has let go of a view that does not read")]
    Abandoned,
    #[error("the host's task is gone")]
    HostGone,
}

/// A link from its first byte to its last, to be spawned. It lives as long as the view, so it is kept small: what is
/// rare is boxed where it happens.
pub(super) fn task(
    socket: WebSocketStream<TcpStream>,
    shared: Arc<Shared>,
    place: Place,
    kind: ViewKind,
) -> impl Future<Output = ()> + Send + 'static {
    let (outbox, from_host) = mpsc::channel(OUTBOX_MESSAGES);
    let (id, dialect) = (shared.next_link(), (shared.dialects)(kind));
    let mut link =
        Link { id, socket, kind, dialect, from_host, shared, written: 0, logged: None, unlogged: 0, _place: place };
    async move { link.run(outbox).await }
}

struct Link {
    id: LinkId,
    socket: WebSocketStream<TcpStream>,
    kind: ViewKind,
    dialect: Box<dyn ViewDialect>,
    from_host: mpsc::Receiver<Outgoing>,
    shared: Arc<Shared>,
    /// Event bytes that were written and are not reported yet.
    written: usize,
    /// When a message that is none of the dialect was last logged.
    logged: Option<Time>,
    /// How many there were since.
    unlogged: u64,
    _place: Place,
}

impl Link {
    async fn run(&mut self, outbox: mpsc::Sender<Outgoing>) {
        if self.tell_host(ViewInput::Opened { link: self.id, outbox }).await.is_err() {
            Box::pin(closing::close(&mut self.socket, End::Host(CloseReason::GoingAway))).await;
            return;
        }
        if let Some(command) = self.dialect.begin(self.id) {
            // If the host's task is gone, the loop below finds out.
            let _ = self.tell_host(ViewInput::Command { link: self.id, command }).await;
        }
        self.shared.metrics.links_open.up();
        let mut phase = self.shared.phase.clone();
        let end = tokio::select! {
            end = self.serve() => end,
            // An error says that the server is gone altogether.
            _ = phase.wait_for(|phase| *phase == Phase::Gone) => End::Gone,
        };
        self.shared.metrics.links_open.down();
        // If the host's task is gone, nobody needs to know.
        let _ = self.tell_host(ViewInput::Closed { link: self.id }).await;
        Box::pin(closing::close(&mut self.socket, end)).await;
    }

    async fn serve(&mut self) -> End {
        loop {
            let due = self.dialect.due().map(|due| Duration::from_millis(due.since(self.now())));
            let step = tokio::select! {
                outgoing = self.from_host.recv() => self.send(outgoing).await,
                message = self.socket.next() => self.take(message).await,
                () = tokio::time::sleep(due.unwrap_or_default()), if due.is_some() => self.send_due().await,
            };
            let step = match step {
                Ok(None) => self.ask_host().await,
                other => other,
            };
            match step {
                Ok(None) => {}
                Ok(Some(end)) => return end,
                Err(error) => {
                    tracing::debug!(link = %self.id, %error, "a view's link ended");
                    return end_of(&error);
                }
            }
        }
    }

    fn now(&self) -> Time {
        self.shared.recorder.now()
    }

    /// Passes on what the dialect asks by itself.
    async fn ask_host(&mut self) -> Result<Option<End>, LinkError> {
        while let Some(command) = self.dialect.asks() {
            self.tell_host(ViewInput::Command { link: self.id, command }).await?;
        }
        Ok(None)
    }

    /// Counts and logs a message that is none of the dialect. A view that does nothing else fills no log.
    fn note_violation(&mut self, reject: &Reject) {
        self.shared.metrics.violation(self.kind);
        self.unlogged += 1;
        let now = self.now();
        if self.logged.is_some_and(|logged| now.since(logged) < LOG_EVERY_MS) {
            return;
        }
        let (count, dialect) = (std::mem::take(&mut self.unlogged), self.kind.name());
        self.logged = Some(now);
        tracing::warn!(link = %self.id, dialect, code = ?reject.code, reason = %reject, count, "a view broke its protocol");
    }

    /// Writes what the dialect has held back until now.
    async fn send_due(&mut self) -> Result<Option<End>, LinkError> {
        let mut batch = Batch::default();
        batch.add_due(self.now(), self.dialect.as_mut());
        self.write(batch).await.map(|()| None)
    }

    /// Writes this and whatever else waits, in one go.
    async fn send(&mut self, first: Option<Outgoing>) -> Result<Option<End>, LinkError> {
        let mut batch = Batch::default();
        let mut end = self.add(&mut batch, first);
        while end.is_none() && batch.cost < MAX_BATCH_BYTES {
            match self.from_host.try_recv() {
                Ok(outgoing) => end = self.add(&mut batch, Some(outgoing)),
                Err(mpsc::error::TryRecvError::Empty) => break,
                Err(mpsc::error::TryRecvError::Disconnected) => end = self.add(&mut batch, None),
            }
        }
        let cost = batch.cost;
        self.write(batch).await?;
        self.written += cost;
        if self.written >= REPORT_BYTES {
            let bytes = std::mem::take(&mut self.written);
            self.tell_host(ViewInput::Drained { link: self.id, bytes }).await?;
        }
        Ok(end)
    }

    /// Adds what the host sends; why the link ends, if that is what it says. No sender is the host's end.
    fn add(&mut self, batch: &mut Batch, outgoing: Option<Outgoing>) -> Option<End> {
        match outgoing {
            Some(Outgoing::Events(page)) => batch.add_page(self.now(), &page, self.kind, self.dialect.as_mut()),
            Some(Outgoing::Told(told)) => {
                if let Told::Refused(reject) = told.as_ref() {
                    self.shared.metrics.reject(reject.code);
                }
                batch.add_told(self.now(), &told, self.dialect.as_mut());
            }
            Some(Outgoing::Taped(outgoing, sessions)) => {
                let before = batch.mark();
                let carries = tape::carries(&outgoing);
                let end = self.add(batch, Some(*outgoing));
                let link = tape::At { recorder: &self.shared.recorder, link: self.id, kind: self.kind };
                link.keep(&sessions, carries.as_deref(), batch.since(before), || (self.shared.dialects)(self.kind));
                return end;
            }
            Some(Outgoing::Close(reason)) => return Some(End::Host(reason)),
            None => return Some(End::Host(CloseReason::GoingAway)),
        }
        None
    }

    /// Writes past tungstenite, which holds nothing back once it is flushed, so frames never mix.
    async fn write(&mut self, mut batch: Batch) -> Result<(), LinkError> {
        use bytes::Buf as _;
        batch.seal();
        self.shared.metrics.frames_out.add(batch.frames);
        self.shared.metrics.events_out.add(batch.events);
        self.shared.metrics.bytes_out.add(batch.remaining() as u64);
        let (socket, from_host) = (&mut self.socket, &self.from_host);
        let writing = async {
            socket.flush().await?;
            socket.get_mut().write_all_buf(&mut batch).await?;
            Ok(())
        };
        tokio::pin!(writing);
        loop {
            tokio::select! {
                biased;
                done = &mut writing => return done,
                // The socket itself tells of a peer that is gone; only the host's change of mind must be looked for.
                () = tokio::time::sleep(STALL_CHECK) => {
                    if from_host.is_closed() {
                        return Err(LinkError::Abandoned);
                    }
                }
            }
        }
    }

    /// Takes what the view sends.
    async fn take(&mut self, message: Option<Result<Message, WsError>>) -> Result<Option<End>, LinkError> {
        match message {
            Some(Ok(Message::Text(text))) => self.take_text(text.as_bytes()).await?,
            Some(Ok(Message::Binary(_))) => {
                self.shared.metrics.frames_in.one();
                let reject = Reject::new(RejectCode::BadMessage, "send messages as text frames, not binary ones");
                self.note_violation(&reject);
                self.refuse(reject).await?;
            }
            Some(Ok(Message::Close(_))) => {
                // The answer to it is queued; nothing may follow it.
                self.socket.flush().await?;
                return Ok(Some(End::Gone));
            }
            // Tungstenite answers pings with the next read; a bare frame never comes out of reading.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            Some(Err(error)) => return Err(error.into()),
            None => return Ok(Some(End::Gone)),
        }
        Ok(None)
    }

    async fn take_text(&mut self, frame: &[u8]) -> Result<(), LinkError> {
        self.shared.metrics.frames_in.one();
        let read = match self.dialect.read(self.shared.recorder.now(), frame) {
            Ok(command) => Box::pin(settle(&self.shared.attachments, command)).await,
            Err(reject) => {
                self.note_violation(&reject);
                Err(reject)
            }
        };
        if self.shared.recorder.is_on() {
            return Box::pin(self.take_taped(frame, read)).await;
        }
        match read {
            Ok(command) => self.tell_host(ViewInput::Command { link: self.id, command }).await,
            Err(reject) => self.refuse(reject).await,
        }
    }

    /// The same while something is recorded: the host's task knows whether this message is.
    async fn take_taped(&mut self, frame: &[u8], read: Result<Command, Reject>) -> Result<(), LinkError> {
        let (at, kind, bytes) = (self.shared.recorder.now(), self.kind, frame.len());
        let raw = head(&Bytes::copy_from_slice(frame));
        let (read, answer) = match read {
            Ok(command) => (Ok(command), None),
            Err(reject) => {
                self.shared.metrics.reject(reject.code);
                let mut batch = Batch::default();
                batch.add_refusal(self.now(), &reject, self.dialect.as_mut());
                (Err((reject, batch.since(Mark::default()))), Some(batch))
            }
        };
        let tape = Box::new(ViewTape { at, kind, raw, bytes, read });
        self.tell_host(ViewInput::Taped { link: self.id, tape }).await?;
        match answer {
            Some(batch) => Box::pin(self.write(batch)).await,
            None => Ok(()),
        }
    }

    /// Refuses a message; the link lives on.
    async fn refuse(&mut self, reject: Reject) -> Result<(), LinkError> {
        self.shared.metrics.reject(reject.code);
        let mut batch = Batch::default();
        batch.add_refusal(self.now(), &reject, self.dialect.as_mut());
        Box::pin(self.write(batch)).await
    }

    async fn tell_host(&mut self, input: ViewInput) -> Result<(), LinkError> {
        self.shared.inbox.send(input).await.map_err(|_| LinkError::HostGone)
    }
}

/// Does what must be done off the host's task before it sees a command: makes folders canonical, looks at schemas.
async fn settle(attachments: &Attachments, command: Command) -> Result<Command, Reject> {
    match command {
        Command::Session { request, what: SessionRequest::Send { session, name, mut prompt, attachments: ids } }
            if !ids.is_empty() =>
        {
            prompt.context.extend(uploaded(attachments.clone(), session, ids).await?);
            let what = SessionRequest::Send { session, name, prompt, attachments: Vec::new() };
            Ok(Command::Session { request, what })
        }
        Command::OpenTab { tab, agent, workspace: Some(path), seen } => match canonical_folder(path.as_str()).await {
            Ok(root) => Ok(Command::OpenTab { tab, agent, workspace: Some(root), seen }),
            Err(error) => Err(Reject::new(RejectCode::BadMessage, error.to_string()).in_tab(tab)),
        },
        Command::Trust { root, trust: Trust::Trusted } => match canonical_folder(root.as_str()).await {
            Ok(root) => Ok(Command::Trust { root, trust: Trust::Trusted }),
            Err(error) => Err(Reject::new(RejectCode::BadMessage, error.to_string())),
        },
        Command::CallTools { request, mut calls, mode } => {
            for call in &mut calls {
                let Some(path) = &call.workspace else { continue };
                let found = canonical_folder(path.as_str()).await;
                call.workspace = Some(found.map_err(|error| Reject::new(RejectCode::BadMessage, error.to_string()))?);
            }
            Ok(Command::CallTools { request, calls, mode })
        }
        Command::LendTools { request, tools } => {
            // A schema may take its time to be understood.
            let checked = tokio::task::spawn_blocking(move || unsound(&tools).map_or(Ok(tools), Err)).await;
            let stopping = |_| Err("the host is stopping".to_owned());
            let tools = checked.unwrap_or_else(stopping).map_err(|why| Reject::new(RejectCode::BadMessage, why))?;
            Ok(Command::LendTools { request, tools })
        }
        other => Ok(other),
    }
}

/// What was uploaded for a prompt before it.
async fn uploaded(kept: Attachments, session: SessionId, ids: Vec<String>) -> Result<Vec<ContextItem>, Reject> {
    let resolved = tokio::task::spawn_blocking(move || kept.resolve(session, &ids)).await;
    let resolved = resolved.map_err(|_| Reject::new(RejectCode::Internal, "the host is stopping"))?;
    resolved.map_err(|error| {
        let code = match error {
            AttachmentError::TooMany | AttachmentError::TooLarge | AttachmentError::TooMuch => RejectCode::TooLarge,
            AttachmentError::Unknown(_) => RejectCode::NotFound,
            AttachmentError::Unreadable(_) => RejectCode::BadMessage,
            AttachmentError::Io(_) | AttachmentError::Random(_) => RejectCode::Internal,
        };
        Reject::new(code, error.to_string())
    })
}

/// Why calls of one of these tools could not be checked.
fn unsound(tools: &[(ToolDefinition, Effect)]) -> Option<String> {
    tools.iter().find_map(|(definition, _)| {
        let why = check_definition(definition).err()?;
        Some(format!("the parameters of `{}` are no JSON Schema that can be used: {why}", definition.name()))
    })
}

fn end_of(error: &LinkError) -> End {
    match error {
        LinkError::HostGone => End::Host(CloseReason::GoingAway),
        LinkError::Abandoned | LinkError::Socket(_) => End::Gone,
        LinkError::Protocol(error) => match error {
            WsError::Capacity(_) => End::TooLong,
            WsError::Utf8(_) => End::NotUnicode,
            WsError::Protocol(ProtocolError::ResetWithoutClosingHandshake) => End::Gone,
            WsError::Protocol(_) => End::Protocol,
            _ => End::Gone,
        },
    }
}
