//! A runner with walls around its commands, and a workspace to let them loose in.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_host::agents::Graces;
use switchboard_host::runner::Runner;
use switchboard_host::runner::contain::{self, Fence, Walls, Wanted};
use switchboard_types::{
    Containment, Errand, ErrandFailure, ErrandId, ErrandNews, ErrandOrder, ErrandResult, ExecutionEnd, ExecutionId,
    Network, Run, RunAs, SessionId, TerminalWish, WorkspaceRoot,
};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Nothing here takes that long unless it is broken.
const DEADLINE: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);
pub(crate) const SESSION: SessionId = SessionId(1);

pub(crate) struct Stage {
    pub(crate) data: TempDir,
    pub(crate) root: TempDir,
    pub(crate) runner: Runner,
    inbox: mpsc::Receiver<ErrandNews>,
    aside: Vec<ErrandNews>,
    last: u64,
}

/// What became of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: ExecutionEnd,
    pub(crate) output: String,
}

impl Ran {
    pub(crate) fn worked(&self) -> bool {
        self.end == ExecutionEnd::Exited { code: 0 }
    }
}

/// What walls are asked for in tests.
pub(crate) fn wanted() -> Wanted {
    Wanted { program: Some(env!("CARGO_BIN_EXE_switchboard").into()), ..Wanted::default() }
}

/// The walls of this machine; without them no test here says anything.
pub(crate) fn fence(wanted: Wanted) -> Fence {
    let fence = contain::probe(wanted, std::env::var_os("PATH").as_deref());
    assert!(matches!(fence.told(), Containment::Works { .. }), "install bubblewrap: {:?}", fence.told());
    fence
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::within(fence(wanted()))
    }

    pub(crate) fn within(fence: Fence) -> Self {
        Self::of(fence, tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap())
    }

    /// Commands that are to end have hardly any time for it.
    pub(crate) fn impatient() -> Self {
        Self::with(fence(wanted()), (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()), SHORT)
    }

    pub(crate) fn of(fence: Fence, data: TempDir, root: TempDir) -> Self {
        Self::with(fence, (data, root), DEADLINE * 2)
    }

    fn with(fence: Fence, (data, root): (TempDir, TempDir), terminated: Duration) -> Self {
        let (send, inbox) = mpsc::channel(64);
        let graces =
            Graces { bidden_farewell: SHORT, input_closed: SHORT, terminated, left_behind: SHORT, drained: SHORT };
        let runner = Runner::start(data.path(), send, graces, Walls::known(fence)).unwrap();
        Self { data, root, runner, inbox, aside: Vec::new(), last: 0 }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    fn workspace(&self) -> WorkspaceRoot {
        WorkspaceRoot::from(self.path("").to_str().unwrap())
    }

    pub(crate) fn errand(&mut self) -> ErrandId {
        self.last += 1;
        ErrandId(self.last)
    }

    pub(crate) async fn find<T>(&mut self, mut look: impl FnMut(&ErrandNews) -> Option<T>) -> T {
        for at in 0..self.aside.len() {
            if let Some(found) = look(&self.aside[at]) {
                self.aside.remove(at);
                return found;
            }
        }
        loop {
            let news = soon(self.inbox.recv()).await.expect("the runner is still there");
            if let Some(found) = look(&news) {
                return found;
            }
            self.aside.push(news);
        }
    }

    pub(crate) async fn prepare(&mut self, run: Run) -> Result<ErrandId, ErrandFailure> {
        let errand = self.errand();
        let what = Errand::Run(run);
        self.runner.order(ErrandOrder::Prepare { errand, session: SESSION, root: self.workspace(), what });
        self.find(|news| match news {
            ErrandNews::Prepared { errand: of, result } if *of == errand => Some(result.clone().map(|_| errand)),
            _ => None,
        })
        .await
    }

    pub(crate) async fn perform(
        &mut self,
        errand: ErrandId,
        run_as: RunAs,
        network: Network,
    ) -> Result<ExecutionId, ErrandFailure> {
        let execution = ExecutionId::from(format!("x{}", errand.0).as_str());
        let order = ErrandOrder::Perform { errand, session: SESSION, execution: execution.clone(), run_as, network };
        self.runner.order(order);
        let done = self.done(errand).await;
        done.map(|result| {
            assert_eq!(result, ErrandResult::Running { terminal: execution.clone() });
            execution
        })
    }

    pub(crate) async fn done(&mut self, wanted: ErrandId) -> Result<ErrandResult, ErrandFailure> {
        self.find(|news| match news {
            ErrandNews::Done { errand, result } if *errand == wanted => Some(result.clone()),
            _ => None,
        })
        .await
    }

    pub(crate) async fn end(&mut self, wanted: &ExecutionId) -> ExecutionEnd {
        self.find(|news| match news {
            ErrandNews::Ended { execution, end, .. } if execution == wanted => Some(end.clone()),
            _ => None,
        })
        .await
    }

    pub(crate) async fn wish(&mut self, terminal: &ExecutionId, wish: TerminalWish) -> ErrandResult {
        let errand = self.errand();
        let what = Errand::Terminal { terminal: terminal.clone(), wish };
        self.runner.order(ErrandOrder::Serve { errand, session: SESSION, root: self.workspace(), what });
        self.done(errand).await.unwrap()
    }

    pub(crate) async fn ran(&mut self, execution: &ExecutionId) -> Ran {
        let end = self.end(execution).await;
        match self.wish(execution, TerminalWish::Output).await {
            ErrandResult::Output { text, .. } => Ran { end, output: text },
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn start(&mut self, run: Run, run_as: RunAs, network: Network) -> ExecutionId {
        let errand = self.prepare(run).await.unwrap();
        self.perform(errand, run_as, network).await.unwrap()
    }

    /// Runs a script to its end, without the network.
    pub(crate) async fn script(&mut self, script: &str) -> Ran {
        let execution = self.start(sh(script), RunAs::Shown, Network::Closed).await;
        self.ran(&execution).await
    }

    /// Runs words to their end.
    pub(crate) async fn words(&mut self, words: &[&str], run_as: RunAs) -> Ran {
        let execution = self.start(run(words), run_as, Network::Closed).await;
        self.ran(&execution).await
    }
}

pub(crate) fn run(words: &[&str]) -> Run {
    let mut words = words.iter().map(|word| (*word).to_owned());
    Run {
        program: words.next().unwrap(),
        args: words.collect(),
        env: Vec::new(),
        cwd: None,
        output_limit: None,
        console: switchboard_types::Console::Pipes,
    }
}

pub(crate) fn sh(script: &str) -> Run {
    run(&["/bin/sh", "-c", script])
}

pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("it takes too long")
}

/// Looks again and again until there is something.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    soon(async {
        let mut beat = tokio::time::interval(Duration::from_millis(5));
        loop {
            if let Some(found) = look() {
                return found;
            }
            beat.tick().await;
        }
    })
    .await
}

/// The numbers of processes, as the host sees them, that have this word on their command line.
pub(crate) fn bearing(word: &str) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(|pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        *pid != i32::try_from(std::process::id()).unwrap()
            && line.split(|byte| *byte == 0).any(|own| own == word.as_bytes())
    })
    .collect()
}

pub(crate) fn link(to: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(to, at).unwrap();
}
