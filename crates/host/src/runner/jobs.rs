//! Work on files, off the host's own tasks and only so much at a time. A result keeps its place until the host has taken it,
//! so a slow host costs no memory.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_types::{
    Errand, ErrandCode, ErrandFailure, ErrandId, ErrandNews, ErrandResult, ExecutionEnd, ExecutionId, Prepared,
    Provider, SessionId, Tool, WorkspaceRoot,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::command::{self, RunPlan};
use super::desk::Back;
use super::door::Held;
use super::limits::{MAX_FILE_JOBS, MAX_WALKS};
use super::place::Root;
use super::post::{Post, done, ended};
use super::reading::{self, Lines};
use super::stop::{Stop, cancelled};
use super::tools::{self, Planned};
use super::validate::Check;
use super::writing::{self, WritePlan};

/// What may be done once somebody says so.
#[derive(Debug)]
pub(super) enum Plan {
    Write(WritePlan, Gives),
    Run(RunPlan),
}

/// What is answered once a file is written.
#[derive(Debug)]
pub(super) enum Gives {
    /// Its bytes.
    Bytes,
    /// What a tool gives: this, and the bytes.
    Tool(serde_json::Value),
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: Arc<Tool>,
    pub(super) parameters: serde_json::Value,
    /// The check of its parameters, if it is known already.
    pub(super) check: Option<Arc<Check>>,
}

/// Where work on files is done.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    places: Arc<Semaphore>,
    /// For work that goes through a whole workspace.
    walks: Arc<Semaphore>,
    own: Arc<PathBuf>,
    post: Post,
    back: mpsc::Sender<Back>,
}

impl Jobs {
    pub(super) fn new(own: Arc<PathBuf>, post: Post, back: mpsc::Sender<Back>) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { places: places(MAX_FILE_JOBS), walks: places(MAX_WALKS), own, post, back }
    }

    /// Makes something ready that may do harm.
    pub(super) fn prepare(
        &self,
        errand: ErrandId,
        root: WorkspaceRoot,
        what: Errand,
        held: Held,
        stop: Stop,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let own = jobs.own.clone();
            let worked = jobs.work(&jobs.places, &stop, move || plan(&root, &own, what)).await;
            jobs.planned(errand, worked, held).await;
        }
    }

    /// Makes a call of a tool ready that may do harm.
    pub(super) fn prepare_call(
        &self,
        errand: ErrandId,
        root: WorkspaceRoot,
        call: Call,
        held: Held,
        stop: Stop,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let own = jobs.own.clone();
            let Call { tool, parameters, check } = call;
            let parameters = match jobs.check(tool.clone(), check, parameters, &stop).await {
                Ok(parameters) => parameters,
                Err(failure) => return jobs.planned(errand, (None, Err(failure)), held).await,
            };
            let work = move || {
                let (planned, prepared) = tools::plan(&root, &own, &tool, parameters)?;
                let plan = match planned {
                    Planned::Write(plan, gives) => Some(Plan::Write(plan, Gives::Tool(gives))),
                    Planned::Run(plan) => Some(Plan::Run(plan)),
                    Planned::Lent => None,
                };
                Ok((plan, prepared))
            };
            let worked = jobs.work(&jobs.places, &stop, work).await;
            jobs.planned(errand, worked, held).await;
        }
    }

    async fn planned(&self, errand: ErrandId, worked: Worked<(Option<Plan>, Prepared)>, held: Held) {
        let (place, planned) = worked;
        let (plan, result) = match planned {
            Ok((plan, prepared)) => (plan.map(|plan| Box::new((plan, held))), Ok(Box::new(prepared))),
            Err(failure) => (None, Err(failure)),
        };
        // The desk has the plan before anybody can order that it be performed.
        let _ = self.back.send(Back::Planned { errand, plan }).await;
        self.post.send(ErrandNews::Prepared { errand, result }).await;
        drop(place);
    }

    /// Carries out a call that can do no harm.
    pub(super) fn call(
        &self,
        errand: ErrandId,
        root: WorkspaceRoot,
        call: Call,
        held: Held,
        stop: Stop,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let Call { tool, parameters, check } = call;
            let (place, result) = match jobs.check(tool.clone(), check, parameters, &stop).await {
                Err(failure) => (None, Err(failure)),
                Ok(_) if tool.provider != Provider::Host => (None, Ok(ErrandResult::Checked)),
                Ok(parameters) => {
                    let places = if tools::walks(&tool) { &jobs.walks } else { &jobs.places };
                    let (own, told) = (jobs.own.clone(), stop.clone());
                    let work = move || tools::serve(&root, &own, &tool, parameters, &told);
                    let (place, served) = jobs.work(places, &stop, work).await;
                    (place, served.map(|data| ErrandResult::Tool { data }))
                }
            };
            jobs.post.send(done(errand, result)).await;
            drop((place, held));
        }
    }

    /// Checks parameters, and gives them back if they are good. What is compiled for that is kept by the desk.
    async fn check(
        &self,
        tool: Arc<Tool>,
        check: Option<Arc<Check>>,
        parameters: serde_json::Value,
        stop: &Stop,
    ) -> Result<serde_json::Value, ErrandFailure> {
        let of = tool.clone();
        let is_new = check.is_none();
        let work = move || {
            let check = match check {
                Some(check) => check,
                None => Arc::new(Check::of(&of.definition).map_err(|why| unsound(&why))?),
            };
            let checked = check.check(&parameters).map(|()| parameters);
            Ok((check, checked))
        };
        let (_place, worked) = self.work(&self.places, stop, work).await;
        let (check, checked) = worked?;
        if is_new {
            let _ = self.back.send(Back::Compiled { tool, check }).await;
        }
        checked
    }

    /// Reads a file.
    pub(super) fn read(
        &self,
        errand: ErrandId,
        root: WorkspaceRoot,
        path: String,
        lines: Lines,
        stop: Stop,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let own = jobs.own.clone();
            let work = move || reading::read(&Root::open(&root, &own)?, &path, lines);
            let (place, read) = jobs.work(&jobs.places, &stop, work).await;
            jobs.post.send(done(errand, read.map(|content| ErrandResult::Read { content }))).await;
            drop(place);
        }
    }

    /// Writes a file.
    pub(super) fn write(
        &self,
        errand: ErrandId,
        session: SessionId,
        execution: ExecutionId,
        (plan, gives): (WritePlan, Gives),
        stop: Stop,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let own = jobs.own.clone();
            let (place, written) = jobs.work(&jobs.places, &stop, move || writing::perform(&plan, &own)).await;
            let end = match &written {
                Ok(bytes) => ExecutionEnd::Written { bytes: *bytes },
                Err(failure) => ExecutionEnd::Failed { message: failure.message.clone() },
            };
            jobs.post.send(ended(session, &execution, end)).await;
            jobs.post.send(done(errand, written.map(|bytes| gives.result(bytes)))).await;
            drop(place);
        }
    }

    /// Waits for a place and does the work; once it is to end, or everything is, nothing is begun any more.
    async fn work<T: Send + 'static>(
        &self,
        places: &Arc<Semaphore>,
        stop: &Stop,
        work: impl FnOnce() -> Result<T, ErrandFailure> + Send + 'static,
    ) -> Worked<T> {
        let place = tokio::select! {
            biased;
            () = self.post.stopped() => {
                let ending = "the host is ending; nothing was done";
                return (None, Err(ErrandFailure::new(ErrandCode::Cancelled, ending)));
            }
            () = stop.told() => return (None, Err(cancelled())),
            place = places.clone().acquire_owned() => place.ok(),
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => (place, result),
            Err(error) => {
                tracing::error!(%error, "an errand failed by a fault of the host");
                (place, Err(fault()))
            }
        }
    }
}

/// What came of work, and the place that it had, which is kept until the host has taken the result.
type Worked<T> = (Option<OwnedSemaphorePermit>, Result<T, ErrandFailure>);

impl Gives {
    fn result(self, bytes: u64) -> ErrandResult {
        match self {
            Self::Bytes => ErrandResult::Written { bytes },
            Self::Tool(mut data) => {
                if let Some(data) = data.as_object_mut() {
                    data.insert("bytes".to_owned(), bytes.into());
                }
                ErrandResult::Tool { data }
            }
        }
    }
}

fn unsound(why: &str) -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, format!("the tool's definition cannot be used: {why}"))
}

fn plan(root: &WorkspaceRoot, own: &std::path::Path, what: Errand) -> Result<(Option<Plan>, Prepared), ErrandFailure> {
    match what {
        Errand::Write { path, content } => {
            let (plan, prepared) = writing::prepare(root, own, path, content)?;
            Ok((Some(Plan::Write(plan, Gives::Bytes)), prepared))
        }
        Errand::Run(run) => {
            let (plan, prepared) = command::prepare(root, own, run)?;
            Ok((Some(Plan::Run(plan)), prepared))
        }
        Errand::Read { .. } | Errand::Tool { .. } | Errand::Terminal { .. } => {
            Err(ErrandFailure::new(ErrandCode::Invalid, "this can do no harm, so there is nothing to make ready"))
        }
    }
}

/// Something that must not happen did.
pub(super) fn fault() -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, "it failed by a fault of the host; the host's log says more")
}
