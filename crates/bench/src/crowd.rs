//! The views of one run: sockets that are read as fast as they fill, by one thread. Keeps times, not messages.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;

use crate::mold::{now_ns, stamp_of};
use crate::wire::{Wire, masked};

/// Bytes of one read, and the longest message that a reader takes.
const READ_BYTES: usize = 1024 * 1024;
/// Sockets that are looked at after one wait.
const READY: usize = 256;

/// Whether the times that chunks carry are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// They are.
    Taken,
    /// They are not: the chunks have none.
    Ignored,
}

/// What the views of a run saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Chunks, over all views.
    pub chunks: u64,
    /// Bytes, over all views.
    pub bytes: u64,
    /// Seconds between the first and the last byte.
    pub seconds: f64,
    /// Microseconds from the writing of each chunk to its arrival.
    pub latencies: Vec<f64>,
}

/// One view's socket and what of its last read is no whole message yet.
#[derive(Debug)]
struct Reader {
    socket: TcpStream,
    rest: Vec<u8>,
    chunks: u64,
    others: u64,
}

/// All views of a run.
#[derive(Debug)]
pub struct Crowd {
    wire: Wire,
    readers: Vec<Reader>,
    poll: OwnedFd,
    buffer: Vec<u8>,
}

impl Crowd {
    /// Takes connected sockets.
    pub fn new(wire: Wire, sockets: Vec<TcpStream>) -> Result<Self> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC).context("epoll")?;
        let mut readers = Vec::with_capacity(sockets.len());
        for (at, socket) in sockets.into_iter().enumerate() {
            socket.set_nonblocking(true)?;
            epoll::add(&poll, &socket, epoll::EventData::new_u64(at as u64), epoll::EventFlags::IN)?;
            readers.push(Reader { socket, rest: Vec::new(), chunks: 0, others: 0 });
        }
        Ok(Self { wire, readers, poll, buffer: vec![0; READ_BYTES] })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.readers.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.readers.is_empty()
    }

    /// Sends a text frame from one view.
    pub fn say(&mut self, from: usize, text: &str) -> Result<()> {
        let reader = self.readers.get_mut(from).context("there is no such view")?;
        reader.socket.set_nonblocking(false)?;
        let sent = reader.socket.write_all(&masked(text));
        reader.socket.set_nonblocking(true)?;
        sent.context("a view could not send")
    }

    /// Reads until every view has got `others` messages that are no chunks.
    pub fn wait_for_others(&mut self, others: u64, patience: Duration) -> Result<()> {
        let mut seen = Seen::default();
        self.read(&mut seen, Times::Ignored, patience, |reader| reader.others >= others)?;
        for reader in &mut self.readers {
            reader.others = 0;
        }
        Ok(())
    }

    /// Reads until every view has got `chunks` chunks.
    pub fn read_chunks(&mut self, chunks: u64, times: Times, patience: Duration) -> Result<Seen> {
        let mut seen = Seen::default();
        let (first, last) = self.read(&mut seen, times, patience, |reader| reader.chunks >= chunks)?;
        seen.seconds = last.saturating_duration_since(first).as_secs_f64();
        for reader in &mut self.readers {
            if reader.chunks != chunks {
                bail!("a view got {} chunks where {chunks} were sent", reader.chunks);
            }
            (reader.chunks, reader.others) = (0, 0);
        }
        Ok(seen)
    }

    fn read(
        &mut self,
        seen: &mut Seen,
        times: Times,
        patience: Duration,
        done: impl Fn(&Reader) -> bool,
    ) -> Result<(Instant, Instant)> {
        let deadline = Instant::now() + patience;
        let mut left = self.readers.iter().filter(|reader| !done(reader)).count();
        let (mut first, mut last) = (None, Instant::now());
        let mut events = Vec::with_capacity(READY);
        while left > 0 {
            events.clear();
            let wait = Timespec { tv_sec: 1, tv_nsec: 0 };
            epoll::wait(&self.poll, rustix::buffer::spare_capacity(&mut events), Some(&wait))?;
            if Instant::now() > deadline {
                bail!("{left} of {} views did not get all within {patience:?}", self.readers.len());
            }
            for event in &events {
                let at = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
                let Some(reader) = self.readers.get_mut(at) else { continue };
                let was_done = done(reader);
                if reader.take(self.wire, &mut self.buffer, times, seen)? {
                    last = Instant::now();
                    first.get_or_insert(last);
                }
                left -= usize::from(!was_done && done(reader));
            }
        }
        Ok((first.unwrap_or(last), last))
    }
}

impl Reader {
    /// Reads once; whether anything came.
    fn take(&mut self, wire: Wire, buffer: &mut [u8], times: Times, seen: &mut Seen) -> Result<bool> {
        let kept = self.rest.len();
        let Some((head, room)) = buffer.split_at_mut_checked(kept) else { bail!("a message is too long") };
        head.copy_from_slice(&self.rest);
        let got = match self.socket.read(room) {
            Ok(0) => bail!("the host closed a view"),
            Ok(got) => got,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(false),
            Err(error) => return Err(error).context("a view could not read"),
        };
        let bytes = buffer.get(..kept + got).unwrap_or_default();
        let found = match times {
            Times::Ignored => wire.scan(bytes, |_| {}),
            Times::Taken => {
                let now = now_ns();
                wire.scan(bytes, |payload| {
                    let took = stamp_of(payload).map(|stamp| now.saturating_sub(stamp) as f64 / 1000.0);
                    seen.latencies.extend(took);
                })
            }
        };
        if found.closed {
            bail!("the host ended a view's link");
        }
        self.rest.clear();
        self.rest.extend_from_slice(bytes.get(found.taken..).unwrap_or_default());
        self.chunks += found.chunks;
        self.others += found.others;
        seen.chunks += found.chunks;
        seen.bytes += got as u64;
        Ok(true)
    }
}
