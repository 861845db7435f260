//! Replay of a long session to a view that has seen nothing of it. The limit is sendfile of the same frames.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;

use super::{Bench, Findings, progress};
use crate::crowd::{Crowd, Times};
use crate::load::Load;
use crate::process::Program;
use crate::row::{Against, Bound, Row, Unit};
use crate::subject::{Durability, Kind, Subject};
use crate::wire::{Wire, unmasked};

const PATIENCE: Duration = Duration::from_secs(120);

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let sizes: &[u64] = bench.extent.pick(&[5_000], &[100_000, 1_000_000]);
    let mut ours = Subject::warm(Kind::Ours(Durability::Full), &bench.places)?;
    let mut rows = Vec::new();
    for &events in sizes {
        progress(&format!("a session of {events} events"));
        let tab = ours.new_tab();
        let mut writer = ours.views(1)?;
        ours.seat(&mut writer, &tab)?;
        let bytes = ours.stream(&mut writer, &tab, Load::Flat { count: events })?.seen.bytes;
        drop(writer);
        let file = bench.places.data.join(format!("frames-{events}"));
        let length = usize::try_from(bytes / events)?;
        write_frames(&file, events, length)?;
        let mut limit = Sendfile::start(bench, &file)?;
        let mut row = Row::new(format!("replay of {} k events", events / 1000), Unit::PerSecond);
        if events == 100_000 {
            let jet = Against::Recorded { name: "JetStream", times_limit: 0.448 / 6.5 };
            let postgres = Against::Recorded { name: "PostgreSQL", times_limit: 1.05 / 6.5 };
            row = row.goal(Against::Limit, Bound::AtLeast(0.8));
            row = row.goal(jet, Bound::AtLeast(10.0)).goal(postgres, Bound::AtLeast(4.0));
        }
        // Short runs, so more of them.
        for round in 0..2 * bench.rounds + 1 {
            progress(&format!("replay of {events}, round {}", round + 1));
            row.ours.push(replay(&ours, &tab, events)?);
            row.limit.push(limit.send(events)?);
        }
        rows.push(row);
    }
    Ok(Findings { rows, ..Findings::default() })
}

/// Events a second, from the view's request to its last event.
fn replay(ours: &Subject, tab: &str, events: u64) -> Result<f64> {
    ours.program.rest()?;
    let mut view = ours.views(1)?;
    let start = Instant::now();
    view.say(0, &json!({"type": "new-tab", "tabId": tab}).to_string())?;
    view.read_chunks(events, Times::Ignored, PATIENCE)?;
    Ok(events as f64 / start.elapsed().as_secs_f64())
}

/// As many frames as the session has, as long as those were.
fn write_frames(file: &Path, events: u64, length: usize) -> Result<()> {
    const HEAD: &str = r#"{"type":"response-chunk","tabId":"t","index":1,"messageId":"m1","chunk":""#;
    const FRAME_HEAD: usize = 4;
    let text = "x".repeat(length.saturating_sub(HEAD.len() + 2 + FRAME_HEAD));
    let frame = unmasked(&format!("{HEAD}{text}\"}}"));
    let mut out = BufWriter::new(File::create(file)?);
    for _ in 0..events {
        out.write_all(&frame)?;
    }
    out.flush().context("the file of frames")
}

struct Sendfile {
    program: Program,
    port: u16,
}

impl Sendfile {
    fn start(bench: &Bench, file: &Path) -> Result<Self> {
        let mut command = Command::new(bench.places.program("bench-raw"));
        let program = Program::start(command.arg("sendfile").arg(file), &bench.places.log())?;
        let port = program.ready["port"].as_u64().and_then(|port| u16::try_from(port).ok()).context("no port")?;
        Ok(Self { program, port })
    }

    fn send(&mut self, events: u64) -> Result<f64> {
        use std::io::Read as _;
        let mut socket = std::net::TcpStream::connect(("127.0.0.1", self.port))?;
        socket.read_exact(&mut [0])?;
        let mut view = Crowd::new(Wire::WebSocket, vec![socket])?;
        let start = Instant::now();
        self.program.say("send")?;
        view.read_chunks(events, Times::Ignored, PATIENCE)?;
        Ok(events as f64 / start.elapsed().as_secs_f64())
    }
}
