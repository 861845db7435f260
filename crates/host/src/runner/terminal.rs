//! The task that owns one command: starts it, hears it, ends it with all that it started, and answers who asks about it.
//! Knows no other command.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use switchboard_types::{
    ErrandCode, ErrandFailure, ErrandId, ErrandNews, ErrandResult, ExecutionEnd, ExecutionId, Network, RunAs,
    SessionId, TerminalWish,
};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::command::{How, Ready, RunPlan, Speaks, ready};
use super::console::{Seat, attach};
use super::contain::Walls;
use super::desk::Back;
use super::ends::Ends;
use super::limits::MAX_OPEN_WISHES;
use super::outcome::{as_data, end_of, exit_of};
use super::post::{Post, done, ended};
use super::reports::Reports;
use super::stop::cancelled;
use super::tail::Tail;
use super::voice::{Kept, Voice};
use crate::agents::Graces;
use crate::agents::command::{Cradle, Running};

/// Bytes taken at once.
const READ_BYTES: usize = 8 * 1024;
/// Bytes still taken from a pipe that is held open after the command is gone and its time is up.
const MAX_HELD_BYTES: usize = 1024 * 1024;

/// What is wanted of a terminal, and which errand is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) errand: ErrandId,
    pub(super) wish: TerminalWish,
}

/// What a terminal is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    /// Somebody wants something of it.
    Wish(Wish),
    /// Its command is to end; it can still be looked at.
    End,
    /// Its command is to end at once.
    Stop,
}

/// What a terminal needs of the world around it.
#[derive(Debug)]
pub(super) struct Around {
    pub(super) session: SessionId,
    pub(super) execution: ExecutionId,
    pub(super) cradle: Cradle,
    pub(super) own: Arc<PathBuf>,
    pub(super) graces: Graces,
    /// How it is run, and whether it may use the network.
    pub(super) manner: (RunAs, Network),
    pub(super) walls: Walls,
    pub(super) post: Post,
    /// Closed when the command is to end and its terminal to be forgotten.
    pub(super) told: mpsc::Receiver<Told>,
    /// To the desk.
    pub(super) back: mpsc::Sender<Back>,
}

/// Starts the command and stays until its terminal is forgotten.
pub(super) async fn run(errand: ErrandId, plan: RunPlan, mut around: Around) {
    let speaks = plan.speaks();
    match start(plan, &around).await {
        Ok(started) => {
            let terminal = around.execution.clone();
            let owes = match speaks {
                Speaks::ToTerminal => {
                    around.post.send(done(errand, Ok(ErrandResult::Running { terminal }))).await;
                    None
                }
                Speaks::AtItsEnd => Some(Owes { errand, since: Instant::now() }),
            };
            Terminal::new(started, owes, around).run().await;
        }
        Err(failure) => {
            let end = ExecutionEnd::Failed { message: failure.message.clone() };
            around.post.send(ended(around.session, &around.execution, end)).await;
            around.post.send(done(errand, Err(failure))).await;
            around.tell_over(Some(0)).await;
            around.told.close();
            while let Some(told) = around.told.recv().await {
                let Told::Wish(wish) = told else { continue };
                let never = ErrandFailure::new(ErrandCode::NotFound, "the command never ran");
                around.post.send(done(wish.errand, Err(never))).await;
            }
        }
    }
}

impl Around {
    async fn tell_over(&self, kept: Option<usize>) {
        // An error means that the desk is gone, and with it whoever wants to know.
        let _ = self.back.send(Back::Over { session: self.session, execution: self.execution.clone(), kept }).await;
    }
}

/// A command that has started.
struct Started {
    running: Running,
    pipe: pipe::Receiver,
    kept: Kept,
    reports: Option<Reports>,
}

async fn start(plan: RunPlan, around: &Around) -> Result<Started, ErrandFailure> {
    let (own, (run_as, network)) = (around.own.clone(), around.manner);
    let how = How { run_as, network, fence: around.walls.fence().await };
    let (console, speaks) = (plan.console(), plan.speaks());
    let ready = tokio::task::spawn_blocking(move || ready(&plan, &own, &how)).await;
    let Ready { mut command, folder, around: held, output_limit } = ready.map_err(|error| not_started(&error))??;
    let seat = if held.is_some() { Seat::Behind } else { Seat::Itself };
    let mut pipe = attach(&mut command, console, seat).map_err(|error| not_started(&error))?;
    let name = format!("command {} of session {}", around.execution, around.session);
    let (running, reports) = match held {
        None => (around.cradle.start(command, name).await.map_err(|error| not_started(&error))?, None),
        Some(held) => {
            let mut reports = Reports::new(held.reports, held.watch).map_err(|error| not_started(&error))?;
            let started = around.cradle.start_around(command, held.pass, name).await;
            let running = reports.until_started(started.map_err(|error| not_started(&error))?, &mut pipe).await?;
            (running, Some(reports))
        }
    };
    drop(folder);
    let kept = match speaks {
        Speaks::ToTerminal => Kept::Tail(Tail::new(output_limit)),
        Speaks::AtItsEnd => Kept::Ends(Ends::new(output_limit)),
    };
    Ok(Started { running, pipe, kept, reports })
}

/// The answer that is owed to whoever called a tool.
#[derive(Clone, Copy, Debug)]
struct Owes {
    errand: ErrandId,
    since: Instant,
}

fn not_started(why: &dyn std::fmt::Display) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the command could not be started: {why}"))
}

/// The end of all that a command left, with the way it ended itself.
type Burial = Pin<Box<dyn Future<Output = Option<ExitStatus>> + Send>>;

/// How far the command is.
enum Stage {
    Runs(Box<Running>),
    /// It is gone; what it left is being ended.
    Buries(Burial),
    /// All of it is gone; what is in its pipe is still taken.
    Drains {
        until: Instant,
    },
    Over,
}

/// How far its ending is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    No,
    Terminated { until: Instant },
    Killed,
}

/// Whether anybody can still ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Yes,
    Forgotten,
}

struct Terminal {
    stage: Stage,
    ending: Ending,
    known: Known,
    pipe: Option<pipe::Receiver>,
    read: Vec<u8>,
    voice: Voice,
    status: Option<ExitStatus>,
    /// When all of it was gone.
    gone: Option<Instant>,
    /// Somebody wanted it to end at once.
    stopped: bool,
    /// What is told from behind the walls.
    reports: Option<Reports>,
    /// The end is not told yet.
    untold: bool,
    owes: Option<Owes>,
    /// Answered as soon as there is room.
    due: VecDeque<Wish>,
    /// Answered once the command is over.
    later: VecDeque<Wish>,
    around: Around,
}

impl Terminal {
    fn new(started: Started, owes: Option<Owes>, around: Around) -> Self {
        let Started { running, pipe, kept, reports } = started;
        Self {
            reports,
            stage: Stage::Runs(Box::new(running)),
            ending: Ending::No,
            known: Known::Yes,
            pipe: Some(pipe),
            read: vec![0; READ_BYTES],
            voice: Voice::new(kept),
            status: None,
            gone: None,
            stopped: false,
            untold: true,
            owes,
            due: VecDeque::new(),
            later: VecDeque::new(),
            around,
        }
    }

    async fn run(mut self) {
        let post = self.around.post.clone();
        while !self.is_done() {
            let now = Instant::now();
            let says = self.has_news(now);
            // While news wait for room, nothing is read: the pipe fills up, not the memory.
            let listens = self.pipe.is_some() && !says;
            let listens_to_us = self.known == Known::Yes && self.due.len() < MAX_OPEN_WISHES;
            let alarm = self.alarm(now);
            tokio::select! {
                permit = post.room(), if says => match permit {
                    Some(permit) => {
                        if let Some(news) = self.news() {
                            permit.send(news);
                        }
                    }
                    None => return self.leave().await,
                },
                read = hear(&mut self.pipe, &mut self.read), if listens => self.heard(read),
                passed = pass(&mut self.stage) => self.passed(passed).await,
                told = self.around.told.recv(), if listens_to_us => self.told(told),
                () = sleep_until(alarm.unwrap_or(now)), if alarm.is_some() => self.rung(),
            }
            self.go_on().await;
        }
    }

    fn is_done(&self) -> bool {
        let silent = self.due.is_empty() && self.later.is_empty() && !self.untold && self.owes.is_none();
        matches!(self.stage, Stage::Over) && self.known == Known::Forgotten && silent
    }

    /// Nobody takes news any more; the command must not stay.
    async fn leave(&mut self) {
        if let Stage::Runs(running) = std::mem::replace(&mut self.stage, Stage::Over) {
            let _ = running.bury(Duration::ZERO).await;
        }
        if let Some(reports) = self.reports.take() {
            reports.settle().await;
        }
    }

    fn heard(&mut self, read: io::Result<usize>) {
        match read {
            Ok(0) | Err(_) => self.pipe = None,
            Ok(bytes) => self.voice.hear(self.read.get(..bytes).unwrap_or_default(), Instant::now()),
        }
    }

    async fn passed(&mut self, passed: Passed) {
        let now = Instant::now();
        let until = now + self.around.graces.drained;
        match (passed, std::mem::replace(&mut self.stage, Stage::Drains { until })) {
            (Passed::Gone, Stage::Runs(running)) => {
                let grace = match self.ending {
                    Ending::No => self.around.graces.left_behind,
                    Ending::Terminated { until } => until.saturating_duration_since(now),
                    Ending::Killed => Duration::ZERO,
                };
                self.stage = Stage::Buries(Box::pin(running.bury(grace)));
            }
            (Passed::Buried(status), Stage::Buries(_)) => {
                let told = match &mut self.reports {
                    Some(reports) => reports.status().await,
                    None => None,
                };
                self.status = told.or(status);
                self.gone = Some(now);
            }
            (Passed::Gone | Passed::Buried(_), stage) => self.stage = stage,
        }
    }

    fn told(&mut self, told: Option<Told>) {
        match told {
            Some(Told::Wish(wish)) => self.wished(wish),
            Some(Told::End) => self.end(),
            Some(Told::Stop) => self.stop(),
            None => {
                self.known = Known::Forgotten;
                self.end();
            }
        }
    }

    fn wished(&mut self, wish: Wish) {
        let when_over = match wish.wish {
            TerminalWish::Output => false,
            TerminalWish::Wait => self.later.len() < MAX_OPEN_WISHES,
            TerminalWish::Kill | TerminalWish::Release => {
                self.end();
                true
            }
        };
        let is_over = matches!(self.stage, Stage::Over);
        if when_over && !is_over { self.later.push_back(wish) } else { self.due.push_back(wish) }
    }

    /// Begins to end it, politely, unless that is under way.
    fn end(&mut self) {
        if let (Stage::Runs(running), Ending::No) = (&mut self.stage, self.ending) {
            running.signal(Signal::TERM);
            self.ending = Ending::Terminated { until: Instant::now() + self.around.graces.terminated };
        }
    }

    /// Ends it at once, with all that came of it.
    fn stop(&mut self) {
        if matches!(self.stage, Stage::Over) {
            return;
        }
        self.stopped = true;
        if let Stage::Runs(running) = &mut self.stage {
            running.signal(Signal::KILL);
        }
        self.ending = Ending::Killed;
    }

    /// When something is to be done that nobody asks for.
    fn alarm(&self, now: Instant) -> Option<Instant> {
        let of_stage = match (&self.stage, self.ending) {
            (Stage::Runs(_), Ending::Terminated { until }) => Some(until),
            (Stage::Drains { until }, _) => Some(*until),
            (Stage::Runs(_), Ending::No | Ending::Killed) | (Stage::Buries(_) | Stage::Over, _) => None,
        };
        // Once it is due, the news wait for room and not for time.
        let of_log = self.voice.due(now).filter(|due| *due > now);
        of_stage.into_iter().chain(of_log).min()
    }

    fn rung(&mut self) {
        let now = Instant::now();
        match (&mut self.stage, self.ending) {
            (Stage::Runs(running), Ending::Terminated { until }) if until <= now => {
                running.signal(Signal::KILL);
                self.ending = Ending::Killed;
            }
            (Stage::Drains { until }, _) if *until <= now => self.drain(now),
            (Stage::Runs(_) | Stage::Buries(_) | Stage::Drains { .. } | Stage::Over, _) => {}
        }
    }

    /// Takes what is in the pipe right now and closes it: somebody who left the group may hold it open for ever.
    fn drain(&mut self, now: Instant) {
        let Some(pipe) = self.pipe.take() else { return };
        let mut held = MAX_HELD_BYTES;
        while held > 0 {
            match pipe.try_read(&mut self.read) {
                Ok(0) | Err(_) => return,
                Ok(bytes) => self.voice.hear(self.read.get(..bytes).unwrap_or_default(), now),
            }
            held = held.saturating_sub(READ_BYTES);
        }
    }

    /// From gone to over, once all that it said is heard.
    async fn go_on(&mut self) {
        if matches!(self.stage, Stage::Drains { .. }) && self.pipe.is_none() {
            if let Some(reports) = self.reports.take() {
                for note in reports.settle().await {
                    self.voice.hear(format!("\nswitchboard: {note}\n").as_bytes(), Instant::now());
                }
            }
            self.voice.end(Instant::now());
            self.stage = Stage::Over;
            self.due.append(&mut self.later);
            // What a tool's command said goes out with the answer, and nobody looks at it again.
            let kept = if self.owes.is_some() { None } else { Some(self.voice.kept()) };
            self.around.tell_over(kept).await;
        }
    }

    fn has_news(&self, now: Instant) -> bool {
        let is_over = matches!(self.stage, Stage::Over);
        let logs = self.voice.due(now).is_some_and(|due| is_over || due <= now);
        logs || !self.due.is_empty() || (is_over && (self.untold || self.owes.is_some()))
    }

    /// The next news. Once it is over: what it said last, its end, then whoever waited for that.
    fn news(&mut self) -> Option<ErrandNews> {
        let (session, execution) = (self.around.session, &self.around.execution);
        if matches!(self.stage, Stage::Over) && self.untold {
            if let Some(text) = self.voice.take_logged() {
                return Some(ErrandNews::Output { session, execution: execution.clone(), text });
            }
            self.untold = false;
            return Some(ended(session, execution, end_of(self.status)));
        }
        if let Some(owes) = self.owes.take_if(|_| matches!(self.stage, Stage::Over)) {
            return Some(done(owes.errand, self.outcome(owes.since)));
        }
        if let Some(wish) = self.due.pop_front() {
            return Some(done(wish.errand, self.answer(wish.wish)));
        }
        let text = self.voice.take_logged()?;
        Some(ErrandNews::Output { session, execution: execution.clone(), text })
    }

    /// What a tool gives.
    fn outcome(&self, since: Instant) -> Result<ErrandResult, ErrandFailure> {
        if self.stopped {
            return Err(cancelled());
        }
        let lasted = self.gone.unwrap_or(since).saturating_duration_since(since);
        Ok(ErrandResult::Tool { data: as_data(&exit_of(self.status), self.voice.ends(), lasted) })
    }

    fn answer(&self, wish: TerminalWish) -> Result<ErrandResult, ErrandFailure> {
        let exit = matches!(self.stage, Stage::Over).then(|| exit_of(self.status));
        match (wish, exit) {
            (TerminalWish::Output, exit) => {
                let (text, cut) = self.voice.last();
                Ok(ErrandResult::Output { text, cut, exit })
            }
            (TerminalWish::Wait, Some(exit)) => Ok(ErrandResult::Exited(exit)),
            (TerminalWish::Wait, None) => Err(too_many_wishes()),
            (TerminalWish::Kill, _) => Ok(ErrandResult::Killed),
            (TerminalWish::Release, _) => Ok(ErrandResult::Released),
        }
    }
}

/// More is asked of a terminal than it answers.
pub(super) fn too_many_wishes() -> ErrandFailure {
    let message = format!("{MAX_OPEN_WISHES} questions about this command are open already; wait for their answers");
    ErrandFailure::new(ErrandCode::TooLarge, message)
}

async fn hear(pipe: &mut Option<pipe::Receiver>, read: &mut [u8]) -> io::Result<usize> {
    match pipe.as_mut() {
        Some(pipe) => pipe.read(read).await,
        None => std::future::pending().await,
    }
}

/// What a command has come to.
enum Passed {
    Gone,
    Buried(Option<ExitStatus>),
}

/// Waits until the command has come one step further.
async fn pass(stage: &mut Stage) -> Passed {
    match stage {
        Stage::Runs(running) => {
            running.gone().await;
            Passed::Gone
        }
        Stage::Buries(burial) => Passed::Buried(burial.await),
        Stage::Drains { .. } | Stage::Over => std::future::pending().await,
    }
}
