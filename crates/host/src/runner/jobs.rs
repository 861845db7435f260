//! Work on files, off the host's own tasks and only so much at a time. A result keeps its place until the host has taken it,
//! so a slow host costs no memory.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_types::{
    Errand, ErrandCode, ErrandFailure, ErrandId, ErrandNews, ErrandResult, ExecutionEnd, ExecutionId, Prepared,
    SessionId, WorkspaceRoot,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::command::{self, RunPlan};
use super::desk::Back;
use super::door::Held;
use super::limits::MAX_FILE_JOBS;
use super::place::Root;
use super::post::{Post, done, ended};
use super::reading::{self, Lines};
use super::writing::{self, WritePlan};

/// What may be done once somebody says so.
#[derive(Debug)]
pub(super) enum Plan {
    Write(WritePlan),
    Run(RunPlan),
}

/// Where work on files is done.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    places: Arc<Semaphore>,
    own: Arc<PathBuf>,
    post: Post,
    back: mpsc::Sender<Back>,
}

impl Jobs {
    pub(super) fn new(own: Arc<PathBuf>, post: Post, back: mpsc::Sender<Back>) -> Self {
        Self { places: Arc::new(Semaphore::new(MAX_FILE_JOBS)), own, post, back }
    }

    /// Makes something ready that may do harm.
    pub(super) fn prepare(
        &self,
        errand: ErrandId,
        root: WorkspaceRoot,
        what: Errand,
        held: Held,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let own = jobs.own.clone();
            let (place, planned) = jobs.work(move || plan(&root, &own, what)).await;
            let (plan, result) = match planned {
                Ok((plan, prepared)) => (Some((plan, held)), Ok(Box::new(prepared))),
                Err(failure) => (None, Err(failure)),
            };
            // The desk has the plan before anybody can order that it be performed.
            let _ = jobs.back.send(Back::Planned { errand, plan }).await;
            jobs.post.send(ErrandNews::Prepared { errand, result }).await;
            drop(place);
        }
    }

    /// Reads a file.
    pub(super) fn read(
        &self,
        errand: ErrandId,
        root: WorkspaceRoot,
        path: String,
        lines: Lines,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let own = jobs.own.clone();
            let work = move || reading::read(&Root::open(&root, &own)?, &path, lines);
            let (place, read) = jobs.work(work).await;
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
        plan: WritePlan,
    ) -> impl Future<Output = ()> + Send + 'static {
        let jobs = self.clone();
        async move {
            let own = jobs.own.clone();
            let (place, written) = jobs.work(move || writing::perform(&plan, &own)).await;
            let end = match &written {
                Ok(bytes) => ExecutionEnd::Written { bytes: *bytes },
                Err(failure) => ExecutionEnd::Failed { message: failure.message.clone() },
            };
            jobs.post.send(ended(session, &execution, end)).await;
            jobs.post.send(done(errand, written.map(|bytes| ErrandResult::Written { bytes }))).await;
            drop(place);
        }
    }

    /// Waits for a place and does the work; once everything is to end, nothing is begun any more.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ErrandFailure> + Send + 'static,
    ) -> (Option<OwnedSemaphorePermit>, Result<T, ErrandFailure>) {
        let place = tokio::select! {
            biased;
            () = self.post.stopped() => None,
            place = self.places.clone().acquire_owned() => place.ok(),
        };
        if place.is_none() {
            return (None, Err(ErrandFailure::new(ErrandCode::Cancelled, "the host is ending; nothing was done")));
        }
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => (place, result),
            Err(error) => {
                tracing::error!(%error, "an errand failed by a fault of the host");
                (place, Err(fault()))
            }
        }
    }
}

fn plan(root: &WorkspaceRoot, own: &std::path::Path, what: Errand) -> Result<(Plan, Prepared), ErrandFailure> {
    match what {
        Errand::Write { path, content } => {
            writing::prepare(root, own, path, content).map(|(plan, prepared)| (Plan::Write(plan), prepared))
        }
        Errand::Run(run) => command::prepare(root, own, run).map(|(plan, prepared)| (Plan::Run(plan), prepared)),
        Errand::Read { .. } | Errand::Tool { .. } | Errand::Terminal { .. } => {
            Err(ErrandFailure::new(ErrandCode::Invalid, "this can do no harm, so there is nothing to make ready"))
        }
    }
}

/// Something that must not happen did.
pub(super) fn fault() -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Failed, "it failed by a fault of the host; the host's log says more")
}
