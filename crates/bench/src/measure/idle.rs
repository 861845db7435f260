//! Memory of what does nothing: views that are connected, views that are seated at a tab, sessions. What the kernel holds
//! for a socket is not counted.

use std::time::Duration;

use anyhow::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{Bench, Findings, progress};
use crate::crowd::Times;
use crate::row::{Against, Bound, Row, Unit};
use crate::subject::{Durability, Kind, Subject};

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    raise_open_files()?;
    let count = bench.extent.pick(200, 10_000);
    let mut view = Row::new(format!("memory of an idle view, {count} of them"), Unit::Bytes)
        .goal(Against::Number, Bound::AtMost(3000.0))
        .goal(Against::Peer, Bound::AtMost(0.5));
    let mut seated = Row::new("memory of an idle view with a seat at a tab", Unit::Bytes);
    for round in 0..bench.extent.pick(1, 2) {
        progress(&format!("{count} idle views, round {}", round + 1));
        let mut ours = Subject::warm(Kind::Ours(Durability::Full), &bench.places)?;
        let before = at_rest(&ours)?;
        let mut crowd = ours.views(count)?;
        let connected = at_rest(&ours)?;
        let tab = ours.new_tab();
        ours.seat(&mut crowd, &tab)?;
        let with_seat = at_rest(&ours)?;
        view.ours.push((connected - before) / count as f64);
        seated.ours.push((with_seat - before) / count as f64);
        drop(crowd);
        if bench.places.node.is_some() {
            let node = Subject::warm(Kind::Node, &bench.places)?;
            let before = at_rest(&node)?;
            let crowd = node.views(count)?;
            view.peer.push((at_rest(&node)? - before) / count as f64);
            drop(crowd);
        }
    }
    Ok(Findings { rows: vec![view, seated, sessions(bench)?], ..Findings::default() })
}

/// Sessions that have had one turn of ten events and rest now.
fn sessions(bench: &Bench) -> Result<Row> {
    let count = bench.extent.pick(20, 1000);
    progress(&format!("{count} idle sessions"));
    let mut row = Row::new(format!("memory of an idle session, {count} of them"), Unit::Bytes);
    let ours = Subject::warm(Kind::Ours(Durability::Full), &bench.places)?;
    let before = at_rest(&ours)?;
    for at in 0..count {
        let mut view = ours.views(1)?;
        let tab = format!("session-{at}");
        ours.seat(&mut view, &tab)?;
        let prompt = json!({"type": "prompt", "tabId": tab, "messageId": "m1", "text": "flat 10"});
        view.say(0, &prompt.to_string())?;
        view.read_chunks(10, Times::Ignored, PATIENCE)?;
    }
    row.ours.push((at_rest(&ours)? - before) / f64::from(count));
    Ok(row)
}

fn at_rest(subject: &Subject) -> Result<f64> {
    subject.program.rest()?;
    Ok(subject.program.memory()? as f64)
}

/// As many open files as this user may have.
fn raise_open_files() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(())
}
