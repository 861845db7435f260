//! A program under measurement: its start, the processor time it has used, its memory, and its end. Never signals a
//! process that it did not start.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;
use rustix::process::{Pid as RustixPid, Signal, kill_process};
use serde_json::Value;

/// How long a program may take to end when it is told to.
const END_TIME: Duration = Duration::from_secs(30);
/// A program that uses less than this share of a core is at rest.
const REST_SHARE: f64 = 0.02;
const REST_STEP: Duration = Duration::from_millis(100);

/// A program that runs until this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    clock: ClockId,
    /// The line that it printed when it was ready.
    pub ready: Value,
    /// How long that took.
    pub took: Duration,
}

impl Program {
    /// Starts it and waits for its first line, which is JSON.
    pub fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let errors = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
        let start = Instant::now();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn().context(name)?;
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().context("no standard output")?);
        out.read_line(&mut line)?;
        let took = start.elapsed();
        let ready = serde_json::from_str(&line);
        let ready = ready.with_context(|| format!("it said `{line}` at its start; see {}", log.display()))?;
        // What it says later is nobody's; the pipe must not fill.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let pid = Pid::from_raw(i32::try_from(child.id())?);
        Ok(Self { clock: clock_getcpuclockid(pid).context("its processor clock")?, child, ready, took })
    }

    /// Says a line to it.
    pub fn say(&mut self, line: &str) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("no standard input")?;
        stdin.write_all(format!("{line}\n").as_bytes()).context("the program does not listen")
    }

    /// Processor time that all its threads have used.
    pub fn cpu(&self) -> Result<Duration> {
        Ok(Duration::from(self.clock.now().context("the program is gone")?))
    }

    /// Waits until it uses next to nothing, so that what it does later for what came earlier is counted too.
    pub fn rest(&self) -> Result<()> {
        for _ in 0..300 {
            let before = self.cpu()?;
            sleep(REST_STEP);
            let used = self.cpu()?.saturating_sub(before);
            if used.as_secs_f64() < REST_SHARE * REST_STEP.as_secs_f64() {
                return Ok(());
            }
        }
        bail!("the program does not come to rest")
    }

    /// Bytes of its memory that are in use.
    pub fn memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS")?;
        Ok(kilobytes * 1024)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Ours ends by signal, the others when they are no longer spoken to.
        drop(self.child.stdin.take());
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(RustixPid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let until = Instant::now() + END_TIME;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            sleep(Duration::from_millis(5));
        }
        // Gone already, or it has had its time.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
