//! A host's task in miniature: it gives orders, takes news, and waits for things to become true, never for time.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_host::agents::Graces;
use switchboard_host::runner::Runner;
use switchboard_host::runner::contain::{self, Fence, Walls, Wanted};
use switchboard_types::{
    Console, Containment, Errand, ErrandCode, ErrandFailure, ErrandId, ErrandNews, ErrandOrder, ErrandResult,
    ExecutionEnd, ExecutionId, Exit, Network, Prepared, Run, RunAs, SessionId, TerminalWish, WorkspaceRoot,
};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Nothing here takes that long unless it is broken.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);
/// The only session of most tests.
pub(crate) const SESSION: SessionId = SessionId(1);

pub(crate) struct Stage {
    pub(crate) data: TempDir,
    pub(crate) root: TempDir,
    pub(crate) runner: Runner,
    pub(crate) inbox: mpsc::Receiver<ErrandNews>,
    /// News that came while others were waited for.
    pub(crate) aside: Vec<ErrandNews>,
    last: u64,
}

pub(crate) fn quick() -> Graces {
    let short = Duration::from_millis(150);
    graces(short)
}

/// Graces that no test outlives: what ends, ends by itself.
pub(crate) fn patient() -> Graces {
    graces(DEADLINE * 2)
}

fn graces(each: Duration) -> Graces {
    Graces { bidden_farewell: each, input_closed: each, terminated: each, left_behind: each, drained: each }
}

pub(crate) type Answer = Result<ErrandResult, ErrandFailure>;

impl Stage {
    pub(crate) fn new(graces: Graces, inbox: usize) -> Self {
        Self::within(graces, inbox, Fence::none("these tests are about what commands do, not about walls"))
    }

    /// One without walls around commands, and one with them.
    pub(crate) fn both() -> [Self; 2] {
        let wanted = Wanted { program: Some(env!("CARGO_BIN_EXE_switchboard").into()), ..Wanted::default() };
        let fence = contain::probe(wanted, std::env::var_os("PATH").as_deref());
        assert!(matches!(fence.told(), Containment::Works { .. }), "install bubblewrap: {:?}", fence.told());
        [Self::patient(), Self::within(patient(), 16, fence)]
    }

    fn within(graces: Graces, inbox: usize, fence: Fence) -> Self {
        let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (send, inbox) = mpsc::channel(inbox);
        let runner = Runner::start(data.path(), send, graces, Walls::known(fence)).unwrap();
        Self { data, root, runner, inbox, aside: Vec::new(), last: 0 }
    }

    pub(crate) fn patient() -> Self {
        Self::new(patient(), 16)
    }

    pub(crate) fn quick() -> Self {
        Self::new(quick(), 16)
    }

    pub(crate) fn workspace(&self) -> WorkspaceRoot {
        WorkspaceRoot::from(self.root.path().canonicalize().unwrap().to_str().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn errand(&mut self) -> ErrandId {
        self.last += 1;
        ErrandId(self.last)
    }

    pub(crate) async fn next(&mut self) -> ErrandNews {
        soon(self.inbox.recv()).await.expect("the runner is still there")
    }

    /// The first news, old or new, that something can be made of; the others are put aside.
    pub(crate) async fn find<T>(&mut self, mut look: impl FnMut(&ErrandNews) -> Option<T>) -> T {
        for at in 0..self.aside.len() {
            if let Some(found) = look(&self.aside[at]) {
                self.aside.remove(at);
                return found;
            }
        }
        loop {
            let news = self.next().await;
            if let Some(found) = look(&news) {
                return found;
            }
            self.aside.push(news);
        }
    }

    pub(crate) async fn done(&mut self, wanted: ErrandId) -> Answer {
        self.find(|news| match news {
            ErrandNews::Done { errand, result } if *errand == wanted => Some(result.clone()),
            _ => None,
        })
        .await
    }

    pub(crate) async fn end(&mut self, wanted: &ExecutionId) -> ExecutionEnd {
        self.find(|news| match news {
            ErrandNews::Ended { session: SESSION, execution, end } if execution == wanted => Some(end.clone()),
            _ => None,
        })
        .await
    }

    pub(crate) fn serve(&mut self, session: SessionId, what: Errand) -> ErrandId {
        let errand = self.errand();
        self.runner.order(ErrandOrder::Serve { errand, session, root: self.workspace(), what });
        errand
    }

    pub(crate) async fn read(&mut self, path: &str, line: Option<u32>, limit: Option<u32>) -> Answer {
        let errand = self.serve(SESSION, Errand::Read { path: path.to_owned(), line, limit });
        self.done(errand).await
    }

    pub(crate) fn order_prepare(&mut self, what: Errand) -> ErrandId {
        let errand = self.errand();
        self.runner.order(ErrandOrder::Prepare { errand, session: SESSION, root: self.workspace(), what });
        errand
    }

    pub(crate) async fn prepared(&mut self, wanted: ErrandId) -> Result<Prepared, ErrandFailure> {
        self.find(|news| match news {
            ErrandNews::Prepared { errand, result } if *errand == wanted => {
                Some(result.clone().map(|prepared| *prepared))
            }
            _ => None,
        })
        .await
    }

    pub(crate) async fn prepare(&mut self, what: Errand) -> Result<(ErrandId, Prepared), ErrandFailure> {
        let errand = self.order_prepare(what);
        self.prepared(errand).await.map(|prepared| (errand, prepared))
    }

    pub(crate) async fn prepare_write(
        &mut self,
        path: &str,
        content: &str,
    ) -> Result<(ErrandId, Prepared), ErrandFailure> {
        self.prepare(Errand::Write { path: path.to_owned(), content: content.to_owned() }).await
    }

    pub(crate) fn order_perform(&self, errand: ErrandId) -> ExecutionId {
        let execution = ExecutionId::from(format!("x{}", errand.0).as_str());
        self.runner.order(perform(errand, SESSION, &execution));
        execution
    }

    /// Performs a write and gives both the end and the answer.
    pub(crate) async fn perform(&mut self, errand: ErrandId) -> (ExecutionEnd, Answer) {
        let execution = self.order_perform(errand);
        (self.end(&execution).await, self.done(errand).await)
    }

    pub(crate) async fn write(&mut self, path: &str, content: &str) -> (ExecutionEnd, Answer) {
        let (errand, _) = self.prepare_write(path, content).await.unwrap();
        self.perform(errand).await
    }

    /// Starts a command and waits until it runs.
    pub(crate) async fn run(&mut self, run: Run) -> ExecutionId {
        let (errand, _) = self.prepare(Errand::Run(run)).await.unwrap();
        let execution = self.order_perform(errand);
        assert_eq!(self.done(errand).await, Ok(ErrandResult::Running { terminal: execution.clone() }));
        execution
    }

    pub(crate) async fn script(&mut self, script: &str) -> ExecutionId {
        self.run(script_of(script)).await
    }

    pub(crate) fn order_wish(&mut self, terminal: &ExecutionId, wish: TerminalWish) -> ErrandId {
        self.serve(SESSION, Errand::Terminal { terminal: terminal.clone(), wish })
    }

    pub(crate) async fn wish(&mut self, terminal: &ExecutionId, wish: TerminalWish) -> Answer {
        let errand = self.order_wish(terminal, wish);
        self.done(errand).await
    }

    /// Waits for the command's end and gives what it wrote.
    pub(crate) async fn output_at_end(&mut self, terminal: &ExecutionId) -> String {
        self.wish(terminal, TerminalWish::Wait).await.unwrap();
        match self.wish(terminal, TerminalWish::Output).await {
            Ok(ErrandResult::Output { text, exit: Some(_), .. }) => text,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for a number that a script writes into a file of the workspace.
    pub(crate) async fn number_in(&self, file: &str) -> i32 {
        let path = self.path(file);
        until(|| number(&path)).await
    }

    /// Ends the runner while somebody takes the news; gives all that came and was not looked at.
    pub(crate) async fn shutdown(self) -> Vec<ErrandNews> {
        let Self { runner, mut inbox, aside, .. } = self;
        let mut rest = aside;
        let taken = async {
            while let Some(news) = inbox.recv().await {
                rest.push(news);
            }
        };
        soon(async { tokio::join!(runner.shutdown(), taken) }).await;
        rest
    }
}

/// The order to do what was made ready, as a person has seen it.
pub(crate) fn perform(errand: ErrandId, session: SessionId, execution: &ExecutionId) -> ErrandOrder {
    let (run_as, network) = (RunAs::Shown, Network::Open);
    ErrandOrder::Perform { errand, session, execution: execution.clone(), run_as, network }
}

pub(crate) fn script_of(script: &str) -> Run {
    Run {
        program: "/bin/sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: Vec::new(),
        cwd: None,
        output_limit: None,
        console: Console::Pipes,
    }
}

pub(crate) fn command<const N: usize>(words: [&str; N]) -> Run {
    command_of(&words)
}

pub(crate) fn command_of(words: &[&str]) -> Run {
    let mut words = words.iter().map(|word| (*word).to_owned());
    Run {
        program: words.next().unwrap(),
        args: words.collect(),
        env: Vec::new(),
        cwd: None,
        output_limit: None,
        console: Console::Pipes,
    }
}

pub(crate) fn code<T>(result: Result<T, ErrandFailure>) -> Option<ErrandCode> {
    result.err().map(|failure| failure.code)
}

pub(crate) fn content(text: &str) -> Answer {
    Ok(ErrandResult::Read { content: text.to_owned() })
}

pub(crate) fn signalled(signal: &str) -> ExecutionEnd {
    ExecutionEnd::Signalled { signal: signal.to_owned() }
}

pub(crate) fn exited(code: i32) -> Answer {
    Ok(ErrandResult::Exited(Exit::Code(code)))
}

/// What must come within the deadline.
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

/// Whether a process still runs; a zombie does not.
pub(crate) fn runs(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, Some("Z" | "X"))
}

/// The number in a file; a line without its end is still being written.
pub(crate) fn number(path: &Path) -> Option<i32> {
    std::fs::read_to_string(path).ok()?.strip_suffix('\n')?.parse().ok()
}

pub(crate) async fn gone(pid: i32) {
    until(|| (!runs(pid)).then_some(())).await;
}

pub(crate) fn link(to: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

/// Files of a folder that the runner makes and takes away again.
pub(crate) fn leftovers(folder: &Path) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".switchboard-")).collect()
}
