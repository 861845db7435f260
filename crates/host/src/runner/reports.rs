//! What is told from behind the walls: that a command has started or why not, and how it ended. Believes it only where it costs
//! nothing: a command could say the same by itself.

use std::io::{self, PipeReader};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use switchboard_types::{ErrandCode, ErrandFailure};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::contain::{MAX_REPORT_BYTES, Report, Watch};
use crate::agents::command::Running;
use crate::agents::shown::shown;

/// Walls stand after some milliseconds; after this long they never will.
const MAX_START: Duration = Duration::from_secs(30);
/// How long the last words of a process that is gone may be on their way.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What is repeated of what bubblewrap says.
const MAX_SAID_BYTES: usize = 2048;

/// The way from behind the walls.
#[derive(Debug)]
pub(super) struct Reports {
    pipe: pipe::Receiver,
    heard: Vec<u8>,
    watch: Option<Watch>,
}

impl Reports {
    pub(super) fn new(pipe: PipeReader, watch: Option<Watch>) -> io::Result<Self> {
        Ok(Self { pipe: pipe::Receiver::from_owned_fd(pipe.into())?, heard: Vec::new(), watch })
    }

    /// Waits until the command runs. If it does not, nothing of it is left.
    pub(super) async fn until_started(
        &mut self,
        mut running: Running,
        output: &mut pipe::Receiver,
    ) -> Result<Running, ErrandFailure> {
        let first = timeout(MAX_START, async {
            tokio::select! {
                biased;
                report = self.next() => return report,
                () = running.gone() => {}
            }
            self.last().await
        });
        let failure = match first.await {
            Ok(Some(Report::Started)) => return Ok(running),
            Ok(Some(Report::Trouble { changed: true, message })) => ErrandFailure::new(ErrandCode::Changed, message),
            Ok(Some(Report::Trouble { changed: false, message })) => not_started(&message),
            Ok(Some(Report::Code(_) | Report::Signal(_)) | None) => not_held(&said(output).await),
            Err(_) => not_held("it took too long"),
        };
        let _ = running.bury(Duration::ZERO).await;
        self.watch = None;
        Err(failure)
    }

    /// How the command ended, as far as it was told.
    pub(super) async fn status(&mut self) -> Option<ExitStatus> {
        let mut last = None;
        while let Some(report) = self.last().await {
            last = Some(report);
        }
        match last? {
            // As the system puts it: the code in the second byte, a signal in the first.
            Report::Code(code) => Some(ExitStatus::from_raw((code & 0xff) << 8)),
            Report::Signal(signal) => Some(ExitStatus::from_raw(signal & 0x7f)),
            Report::Started | Report::Trouble { .. } => None,
        }
    }

    /// Looks at what the command left in protected places, and says what was put aside.
    pub(super) async fn settle(self) -> Vec<String> {
        let Some(watch) = self.watch else { return Vec::new() };
        let notes = tokio::task::spawn_blocking(|| watch.settle()).await.unwrap_or_else(|error| {
            tracing::error!(%error, "nobody could look at what a command left");
            Vec::new()
        });
        for note in &notes {
            tracing::warn!("{note}");
        }
        notes
    }

    async fn next(&mut self) -> Option<Report> {
        loop {
            if let Some(report) = self.take() {
                return Some(report);
            }
            self.pipe.readable().await.ok()?;
            if self.read() == Read::End {
                return None;
            }
        }
    }

    /// The next one of a process that is gone. What it told is in the pipe, but that may not be known yet.
    async fn last(&mut self) -> Option<Report> {
        timeout(LAST_WORDS, self.next()).await.ok().flatten()
    }

    /// The next whole line.
    fn take(&mut self) -> Option<Report> {
        let end = self.heard.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.heard.drain(..=end).collect();
        serde_json::from_slice(&line).ok()
    }

    fn read(&mut self) -> Read {
        let mut piece = [0; MAX_REPORT_BYTES];
        // A line that never ends is none of ours.
        if self.heard.len() > MAX_REPORT_BYTES {
            return Read::End;
        }
        match self.pipe.try_read(&mut piece) {
            Ok(0) => Read::End,
            Ok(bytes) => {
                self.heard.extend_from_slice(piece.get(..bytes).unwrap_or_default());
                Read::More
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Read::More,
            Err(_) => Read::End,
        }
    }
}

/// Whether more may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    More,
    End,
}

/// What bubblewrap said before it gave up.
async fn said(output: &mut pipe::Receiver) -> String {
    let mut piece = [0; MAX_SAID_BYTES];
    // Whatever comes of it, the next line reads what is there.
    let _ = timeout(LAST_WORDS, output.readable()).await;
    let bytes = output.try_read(&mut piece).unwrap_or_default();
    let text = String::from_utf8_lossy(piece.get(..bytes).unwrap_or_default()).into_owned();
    shown(text.trim(), MAX_SAID_BYTES)
}

fn not_started(why: &str) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the command could not be started: {why}"))
}

fn not_held(why: &str) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the command could not be held in, so it was not run: {why}"))
}
