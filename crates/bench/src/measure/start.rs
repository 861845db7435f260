//! From the start of the program until it listens, and what it then holds of memory. The limit is a bare program of axum
//! and rusqlite.

use std::process::Command;

use anyhow::Result;

use super::{Bench, Findings, progress};
use crate::process::Program;
use crate::row::{Against, Bound, Row, Unit};
use crate::subject::{Durability, prepare, serve};

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    progress("cold start");
    let codex = |times_limit| Against::Recorded { name: "codex", times_limit };
    let opencode = |times_limit| Against::Recorded { name: "opencode", times_limit };
    let mut time = Row::new("cold start", Unit::Millis)
        .goal(Against::Limit, Bound::AtMost(3.0))
        .goal(codex(111.0 / 3.5), Bound::AtMost(0.1))
        .goal(opencode(2900.0 / 3.5), Bound::AtMost(0.01));
    let mut memory = Row::new("memory, idle", Unit::Bytes)
        .goal(Against::Limit, Bound::AtMost(3.0))
        .goal(codex(95.0 / 4.9), Bound::AtMost(0.1))
        .goal(opencode(309.0 / 4.9), Bound::AtMost(0.01));
    let data = prepare(Durability::Full, &bench.places)?;
    let base = bench.places.data.join("bare.db");
    let log = bench.places.log();
    // The first start makes the files; it is not counted.
    for round in 0..=bench.extent.pick(2, 15) {
        let ours = Program::start(&mut serve(&bench.places, &data), &log)?;
        let bare = Program::start(Command::new(bench.places.program("bench-bare")).arg(&base), &log)?;
        let node = match &bench.places.node {
            Some(folder) => {
                let agent = bench.places.program("bench-agent");
                Some(Program::start(Command::new("node").arg(folder.join("host.mjs")).arg(agent), &log)?)
            }
            None => None,
        };
        if round == 0 {
            continue;
        }
        ours.rest()?;
        let millis = |program: &Program| program.took.as_secs_f64() * 1e3;
        time.ours.push(millis(&ours));
        time.limit.push(millis(&bare));
        time.peer.extend(node.as_ref().map(millis));
        memory.ours.push(ours.memory()? as f64);
        memory.limit.push(bare.memory()? as f64);
        memory.peer.extend(node.as_ref().map(Program::memory).transpose()?.map(|bytes| bytes as f64));
    }
    Ok(Findings { rows: vec![time, memory], ..Findings::default() })
}
