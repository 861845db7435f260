//! Where the lines of a record come from: the running host's answer as it streams, or the files, if no host runs. Holds
//! one line at a time and what has come beyond it.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use switchboard_types::SessionId;
use switchboard_types::limits::MAX_FRAME_BYTES;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::State;
use crate::cli::control::{Control, refused};
use crate::cli::exit::Failure;
use crate::cli::reach::Reach;
use crate::folder::Folder;
use crate::wire::{Switch, Tail, WireFolder, switch};

/// A host that says nothing for longer is stuck; it says at least an empty line.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the lines come from.
pub(super) struct Source<'a> {
    reach: &'a Reach,
    folder: WireFolder,
    session: SessionId,
    lines: VecDeque<Bytes>,
    flow: Flow,
    recording: bool,
}

enum Flow {
    Closed,
    Host { body: Incoming, begun: BytesMut },
    Files(Box<Tail>),
}

impl<'a> Source<'a> {
    pub(super) fn new(reach: &'a Reach, folder: &Folder, session: SessionId) -> Self {
        let folder = WireFolder::within(folder.path());
        Self { reach, folder, session, lines: VecDeque::new(), flow: Flow::Closed, recording: false }
    }

    /// Whether the session is recorded, as far as that was said.
    pub(super) fn recording(&self) -> bool {
        self.recording
    }

    /// Turns the record on or off; whether it is on then.
    pub(super) async fn switch(&self, on: bool) -> Result<bool, Failure> {
        match self.reach {
            Reach::Host(control) => control.record(self.session, on).await,
            // Nobody else has the folder meanwhile; the next host finds the switch.
            Reach::Store(_) => {
                let wanted = if on { Switch::On } else { Switch::Off };
                let failed = |error| Failure::failed(format!("the switch cannot be kept: {error}"));
                switch::set(&self.folder, self.session, wanted).map_err(failed)?;
                Ok(on)
            }
        }
    }

    /// Begins to read after a number.
    pub(super) async fn open(&mut self, after: u64, follow: bool) -> Result<(), Failure> {
        self.flow = match self.reach {
            Reach::Host(control) => {
                let body = answer(control, self.session, after, follow).await?;
                Flow::Host { body, begun: BytesMut::new() }
            }
            Reach::Store(_) => {
                self.recording = switch::all(&self.folder).get(&self.session) == Some(&Switch::On);
                Flow::Files(Box::new(Tail::new(self.folder.clone(), self.session, after)))
            }
        };
        Ok(())
    }

    /// The next entry's line; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                match serde_json::from_slice::<State>(&line) {
                    Ok(state) => self.recording = state.recording,
                    Err(_) => return Ok(Some(line)),
                }
                continue;
            }
            let more = match &mut self.flow {
                Flow::Closed => return Ok(None),
                Flow::Host { body, begun } => take(body, begun, &mut self.lines).await?,
                Flow::Files(tail) => {
                    let failed = |error| Failure::failed(format!("the record cannot be read: {error}"));
                    let read = tail.read_on().map_err(failed)?;
                    self.lines.extend(lines_of(&read));
                    !read.is_empty()
                }
            };
            if !more {
                self.flow = Flow::Closed;
            }
        }
    }

    /// What is left to say when there are no more lines.
    pub(super) fn end(&self, follow: bool) -> Result<(), Failure> {
        match (follow, self.reach) {
            (true, Reach::Store(_)) => Err(Failure::unreachable(
                "no host runs here, so there is nothing to follow; start one with `switchboard`",
            )),
            (true, Reach::Host(_)) => Err(Failure::unreachable("the host has ended, or the session was deleted")),
            (false, _) => Ok(()),
        }
    }
}

fn lines_of(bytes: &[u8]) -> impl Iterator<Item = Bytes> + '_ {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(Bytes::copy_from_slice)
}

async fn answer(control: &Control, session: SessionId, after: u64, follow: bool) -> Result<Incoming, Failure> {
    let unreachable = |error: &dyn std::fmt::Display| {
        Failure::unreachable(format!("the host at {} does not answer: {error}", control.authority()))
    };
    let stream = TcpStream::connect(control.authority()).await.map_err(|error| unreachable(&error))?;
    let (mut sender, driven) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(&error))?;
    tokio::spawn(driven);
    let request = Request::builder()
        .uri(format!("/wire/{session}?after={after}&follow={}", u8::from(follow)))
        .header(HOST, control.authority())
        .header(AUTHORIZATION, format!("Bearer {}", control.token().reveal()))
        .body(Full::new(Bytes::new()))
        .map_err(|error| unreachable(&error))?;
    let answered = timeout(PATIENCE, sender.send_request(request)).await;
    let response = answered.map_err(|error| unreachable(&error))?.map_err(|error| unreachable(&error))?;
    // Without this the link would end as soon as nobody can ask anything more.
    tokio::spawn(async move { sender.ready().await });
    if response.status() == StatusCode::OK {
        return Ok(response.into_body());
    }
    let status = response.status();
    let said = Limited::new(response.into_body(), MAX_FRAME_BYTES).collect().await;
    Err(refused(status, &said.map(|said| said.to_bytes()).unwrap_or_default()))
}

/// Takes what has come; whether more may come.
async fn take(body: &mut Incoming, begun: &mut BytesMut, lines: &mut VecDeque<Bytes>) -> Result<bool, Failure> {
    let frame = match timeout(PATIENCE, body.frame()).await {
        Ok(Some(Ok(frame))) => frame,
        // An answer that breaks off is the end of the host, which is said when all lines are out.
        Ok(Some(Err(_)) | None) => return Ok(false),
        Err(_) => return Err(Failure::unreachable("the host says nothing any more")),
    };
    begun.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
    if let Some(end) = begun.iter().rposition(|byte| *byte == b'\n') {
        lines.extend(lines_of(&begun.split_to(end + 1)));
    }
    if begun.len() > MAX_FRAME_BYTES {
        return Err(Failure::failed("the host's answer is not understood; is it another version of Switchboard?"));
    }
    Ok(true)
}
