//! Finding messages in bytes and seeing whom they are for: instructions by valgrind where it is installed, messages a
//! second everywhere.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{Bench, Findings, progress};
use crate::row::{Against, Bound, Row, Unit};

/// Messages of the short run; its instructions are subtracted, and with them the program's start.
const FEW: u64 = 1000;

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let count = bench.extent.pick(2_000, 500_000);
    let mut rate = Row::new("framing and routing, 200 B", Unit::PerSecond)
        .beside("vscode-jsonrpc")
        .goal(Against::Peer, Bound::AtLeast(30.0));
    let mut lsp = Row::new("the same beside lsp-server", Unit::PerSecond).beside("lsp-server");
    let mut read = Row::new("JSON-RPC notifications read, 200 B", Unit::PerSecond)
        .beside("vscode-jsonrpc")
        .goal(Against::Peer, Bound::AtLeast(30.0));
    let mut written = Row::new("JSON-RPC notifications written, 200 B", Unit::PerSecond)
        .beside("vscode-jsonrpc")
        .goal(Against::Peer, Bound::AtLeast(30.0));
    for round in 0..bench.rounds {
        progress(&format!("framing, round {}", round + 1));
        read.ours.push(per_second(bench, "rpc", count)?);
        written.ours.push(per_second(bench, "write", count)?);
        written.limit.push(per_second(bench, "copy", count)?);
        let ours = per_second(bench, "ours", count)?;
        rate.ours.push(ours);
        let scan = per_second(bench, "scan", count)?;
        rate.limit.push(scan);
        read.limit.push(scan);
        lsp.ours.push(ours);
        lsp.peer.push(per_second(bench, "lsp-server", count / 5)?);
        if bench.places.node.is_some() {
            let few = bench.extent.pick(2_000, 100_000);
            let jsonrpc = jsonrpc(bench, few)?;
            rate.peer.push(jsonrpc);
            read.peer.push(jsonrpc);
            written.peer.push(jsonrpc_writes(bench, few)?);
        }
    }
    let mut findings = Findings { rows: vec![rate, read, written], ..Findings::default() };
    if Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success()) {
        let mut row = Row::new("framing and routing, 200 B, instructions", Unit::Instructions)
            .beside("lsp-server")
            .goal(Against::Limit, Bound::AtMost(5.0))
            .goal(Against::Number, Bound::AtMost(4000.0))
            .goal(Against::Peer, Bound::AtMost(1.0 / 7.0));
        progress("framing, instructions");
        row.ours.push(instructions(bench, "ours")?);
        row.limit.push(instructions(bench, "scan")?);
        row.peer.push(instructions(bench, "lsp-server")?);
        findings.rows.push(row);
    } else {
        // Without instructions, time stands for them.
        lsp = lsp.goal(Against::Peer, Bound::AtLeast(7.0));
        findings.notes.push("instructions of framing: valgrind is not installed".to_owned());
    }
    findings.rows.push(lsp);
    Ok(findings)
}

fn per_second(bench: &Bench, way: &str, count: u64) -> Result<f64> {
    let output = Command::new(bench.places.program("bench-framing")).args([way, &count.to_string()]).output()?;
    rate_in(&output)
}

/// The peer reads what it parses from its standard input, all of it before it starts.
fn jsonrpc(bench: &Bench, count: u64) -> Result<f64> {
    let folder = bench.places.node.as_ref().context("no Node")?;
    let framing = bench.places.program("bench-framing");
    let stream = Command::new(framing).args(["stream", &count.to_string()]).output()?.stdout;
    let mut node = Command::new("node")
        .arg(folder.join("framing.mjs"))
        .arg(count.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    node.stdin.take().context("no standard input")?.write_all(&stream)?;
    rate_in(&node.wait_with_output()?)
}

/// The peer writes into nothing.
fn jsonrpc_writes(bench: &Bench, count: u64) -> Result<f64> {
    let folder = bench.places.node.as_ref().context("no Node")?;
    rate_in(&Command::new("node").arg(folder.join("writing.mjs")).arg(count.to_string()).output()?)
}

fn rate_in(output: &Output) -> Result<f64> {
    let said: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("it failed: {}", String::from_utf8_lossy(&output.stderr)))?;
    said["perSecond"].as_f64().context("no rate")
}

fn instructions(bench: &Bench, way: &str) -> Result<f64> {
    let many = bench.extent.pick(2 * FEW, 21 * FEW);
    let counted = |count: u64| -> Result<f64> {
        let output = Command::new("valgrind")
            .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
            .arg(bench.places.program("bench-framing"))
            .args([way, &count.to_string()])
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        // Such as `==7== I refs:   1,234,567`.
        let Some(number) = said.lines().find_map(|line| line.split_once("refs:")) else { bail!("valgrind: {said}") };
        number.1.trim().replace(',', "").parse().context("valgrind's count")
    };
    Ok((counted(many)? - counted(FEW)?) / (many - FEW) as f64)
}
