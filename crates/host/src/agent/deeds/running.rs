//! Commands: in a terminal of the client where it has them, else as a child of our own, with all that comes of it. Whatever
//! happens, nothing is left running.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use switchboard_agent::deed::Outcome;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::{Instant, sleep_until, timeout};

use super::consent::Verdict;
use super::{Done, Hands, refused};
use crate::agent::peer::{Late, Peer, PeerError, Within};
use crate::agent::session::Sort;
use crate::agent::{TOKEN, show};
use crate::agents::command::{Cradle, Running};

/// The shell that runs whole lines.
const SHELL: [&str; 2] = ["/bin/sh", "-c"];
/// Bytes of output that are kept: the beginning is what matters least, so the end is.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long the pipe of a command that is gone is still read.
const DRAIN: Duration = Duration::from_millis(500);

/// A command to be run.
pub(super) struct Run {
    pub(super) command: String,
    pub(super) cwd: Option<String>,
    pub(super) timeout_ms: u64,
}

impl Hands {
    pub(super) async fn run(&self, run: Run) -> Done {
        let cwd = match self.place.whole(run.cwd.as_deref().unwrap_or(".")) {
            Ok(cwd) => cwd,
            Err(why) => return Outcome::Failed(why).into(),
        };
        let remember = match self.may(Sort::Run, Vec::new()).await {
            Verdict::Yes(remember) => remember,
            Verdict::No(outcome, remember) => return Done { outcome, remember },
        };
        let time = Duration::from_millis(run.timeout_ms);
        let outcome = if self.abilities.runs {
            self.run_there(&run.command, &cwd.to_string_lossy(), time).await
        } else {
            self.run_here(&run.command, &cwd, time).await
        };
        Done { outcome, remember }
    }

    async fn run_there(&self, line: &str, cwd: &str, time: Duration) -> Outcome {
        let [shell, flag] = SHELL;
        let asked = json!({"command": shell, "args": [flag, line], "cwd": cwd, "outputByteLimit": MAX_OUTPUT_BYTES});
        let terminal = match self.peer.ask_or_leave("terminal/create", asked, &self.stop, self.doing()).await {
            Ok(answer) => answer["terminalId"].as_str().map(str::to_owned),
            Err((error, late)) => {
                if let Some(late) = late {
                    tokio::spawn(end_late(self.peer.clone(), *late, self.deadlines.undoing));
                }
                return refused(error);
            }
        };
        let Some(terminal) = terminal else { return Outcome::Failed("the client names no terminal".to_owned()) };
        let about = json!({"terminalId": terminal});
        self.peer.show(show::in_terminal(&self.id, &terminal)).await;
        let within = Within::Time(time);
        let waited = self.peer.ask("terminal/wait_for_exit", about.clone(), &self.stop, within).await;
        let late = matches!(waited, Err(PeerError::Late(_)));
        if late || self.stop.is_told() {
            self.peer.have_done("terminal/kill", about.clone()).await;
        }
        if self.stop.is_told() {
            self.peer.have_done("terminal/release", about).await;
            return Outcome::Failed("it was stopped".to_owned());
        }
        let within = Within::Time(self.deadlines.telling);
        let output = self.peer.ask("terminal/output", about.clone(), &self.stop, within).await;
        self.peer.have_done("terminal/release", about).await;
        match (output, waited) {
            (Ok(output), Ok(exit)) => ran(&output, &exit, late),
            (Ok(output), Err(PeerError::Late(_))) => ran(&output, &output["exitStatus"], late),
            (Err(error), _) | (Ok(_), Err(error)) => refused(error),
        }
    }

    async fn run_here(&self, line: &str, cwd: &std::path::Path, time: Duration) -> Outcome {
        let started = async {
            let cradle = self.cradle.made.get_or_try_init(|| async { Cradle::within(&self.cradle.data) }).await?;
            start(cradle, line, cwd).await
        };
        match started.await {
            Ok((running, pipe)) => self.stay(running, pipe, time).await,
            Err(error) => Outcome::Failed(format!("it could not be started: {error}")),
        }
    }

    /// Until it is gone, its time is up, or nobody wants it any more.
    async fn stay(&self, mut running: Running, mut pipe: pipe::Receiver, time: Duration) -> Outcome {
        let (mut tail, mut late, mut open) = (Tail::default(), false, true);
        let (due, mut buffer) = (Instant::now() + time, vec![0; 16 * 1024]);
        loop {
            tokio::select! {
                read = pipe.read(&mut buffer), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(read) => tail.take(buffer.get(..read).unwrap_or_default()),
                },
                () = running.gone() => break,
                () = self.stop.told() => {
                    running.signal(Signal::KILL);
                    let _ = running.bury(GRACE).await;
                    return Outcome::Failed("it was stopped".to_owned());
                }
                () = sleep_until(due), if !late => {
                    late = true;
                    running.signal(Signal::KILL);
                }
            }
        }
        let status = running.bury(GRACE).await;
        // What it left behind is gone too; what is in the pipe is still taken.
        while open && let Ok(Ok(read)) = timeout(DRAIN, pipe.read(&mut buffer)).await {
            open = read > 0;
            tail.take(buffer.get(..read).unwrap_or_default());
        }
        let (output, truncated) = tail.text();
        Outcome::Ran { output, truncated, code: status.and_then(|status| status.code()), late }
    }
}

/// A terminal that comes when nobody wants it any more is ended, so that nothing is left running.
async fn end_late(peer: Peer, late: Late, time: Duration) {
    let Some(answer) = late.answer(time).await else { return };
    let Some(terminal) = answer["terminalId"].as_str() else { return };
    let about = json!({"terminalId": terminal});
    peer.have_done("terminal/kill", about.clone()).await;
    peer.have_done("terminal/release", about).await;
}

async fn start(cradle: &Cradle, line: &str, cwd: &std::path::Path) -> std::io::Result<(Running, pipe::Receiver)> {
    let (from, to) = std::io::pipe()?;
    let [shell, flag] = SHELL;
    let mut command = Command::new(shell);
    command.arg(flag).arg(line).current_dir(cwd).env_remove(TOKEN);
    command.stdin(Stdio::null()).stdout(to.try_clone()?).stderr(to);
    let running = cradle.start(command, "a command of the agent".to_owned()).await?;
    Ok((running, pipe::Receiver::from_owned_fd(from.into())?))
}

fn ran(output: &Value, exit: &Value, late: bool) -> Outcome {
    Outcome::Ran {
        output: output["output"].as_str().unwrap_or_default().to_owned(),
        truncated: output["truncated"] == true,
        code: exit["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok()),
        late,
    }
}

/// The end of what was said.
#[derive(Default)]
struct Tail {
    kept: Vec<u8>,
    dropped: bool,
}

impl Tail {
    fn take(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        // Twice as much is kept for a while, so that not every piece moves all of it.
        if self.kept.len() > 2 * MAX_OUTPUT_BYTES {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let over = self.kept.len().saturating_sub(MAX_OUTPUT_BYTES);
        self.kept.drain(..over);
        self.dropped |= over > 0;
    }

    fn text(mut self) -> (String, bool) {
        self.shorten();
        (String::from_utf8_lossy(&self.kept).into_owned(), self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stage::{LONG, SHORT, asked, hands, in_time};
    use super::super::{Abilities, Deadlines};
    use super::*;

    fn abilities(gate: bool) -> Abilities {
        Abilities { runs: true, gate, ..Abilities::default() }
    }

    fn run() -> Run {
        Run { command: "true".to_owned(), cwd: None, timeout_ms: 3_600_000 }
    }

    #[tokio::test]
    async fn a_client_that_never_tells_the_output_is_given_up_and_its_terminal_released() {
        let folder = tempfile::tempdir().unwrap();
        let deadlines = Deadlines { telling: SHORT, doing: LONG, undoing: LONG };
        let (hands, _brake, mut heard) = hands(folder.path(), abilities(true), deadlines);
        let running = tokio::spawn(async move { hands.run(run()).await });
        let (mut methods, mut left) = (Vec::new(), Vec::new());
        while methods.last() != Some(&"terminal/release") {
            let (method, _, asked) = asked(&mut heard).await;
            methods.push(method);
            let _ = match method {
                "terminal/create" => asked.answer.send(Ok(json!({"terminalId": "t"}))),
                "terminal/wait_for_exit" => asked.answer.send(Ok(json!({"exitCode": 0}))),
                _ => {
                    left.push(asked);
                    Ok(())
                }
            };
        }
        let outcome = in_time(running).await.unwrap().outcome;
        assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("has not answered")), "{outcome:?}");
        assert_eq!(methods, ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"]);
    }

    #[tokio::test]
    async fn a_terminal_that_comes_too_late_is_killed_and_released() {
        let folder = tempfile::tempdir().unwrap();
        let deadlines = Deadlines { telling: LONG, doing: SHORT, undoing: LONG };
        let (hands, _brake, mut heard) = hands(folder.path(), abilities(false), deadlines);
        let running = tokio::spawn(async move { hands.run(run()).await });
        let (method, _, late) = asked(&mut heard).await;
        assert_eq!(method, "terminal/create");
        let outcome = in_time(running).await.unwrap().outcome;
        assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("has not answered")), "{outcome:?}");
        late.answer.send(Ok(json!({"terminalId": "t7"}))).unwrap();
        for expected in ["terminal/kill", "terminal/release"] {
            let (method, params, _) = asked(&mut heard).await;
            assert_eq!((method, params["terminalId"].as_str()), (expected, Some("t7")));
        }
    }

    #[tokio::test]
    async fn a_client_that_asks_a_person_by_itself_has_the_time_that_a_person_takes() {
        let folder = tempfile::tempdir().unwrap();
        for (gate, within) in [(true, Within::Ever), (false, Within::Time(Deadlines::default().doing))] {
            let (hands, _brake, _heard) = hands(folder.path(), abilities(gate), Deadlines::default());
            assert_eq!(hands.doing(), within);
        }
    }
}
