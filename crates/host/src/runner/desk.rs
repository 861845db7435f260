//! The task that knows every plan and every terminal, and gives each order to whom it belongs. Never waits for a file, a
//! command or the host: whoever does that is a task of its own.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_types::{
    Effect, Errand, ErrandCode, ErrandFailure, ErrandId, ErrandNews, ErrandOrder, ExecutionEnd, ExecutionId, Network,
    Provider, RunAs, SessionId, Tool, WorkspaceRoot,
};
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};

use super::contain::Walls;
use super::door::{Awaits, Held, Slip};
use super::jobs::{Call, Jobs, Plan, fault};
use super::past::Past;
use super::post::{Post, done, ended};
use super::reading::Lines;
use super::stop::{Brake, Stop};
use super::terminal::{self, Around};
use super::terminals::Terminals;
use super::validate::{Check, Known};
use crate::agents::Graces;
use crate::agents::command::Cradle;

/// Words of tasks to the desk that may wait.
const BACK: usize = 64;

/// What tasks tell the desk.
#[derive(Debug)]
pub(super) enum Back {
    /// An errand is made ready, or cannot be.
    Planned {
        /// Which one.
        errand: ErrandId,
        /// What would be done.
        plan: Option<Box<(Plan, Held)>>,
    },
    /// A command has ended.
    Over {
        /// Whose.
        session: SessionId,
        /// Which one.
        execution: ExecutionId,
        /// Bytes of its output that are kept; none if nobody looks at it any more.
        kept: Option<usize>,
    },
    /// The parameters of a tool can be checked.
    Compiled {
        /// Which one.
        tool: Arc<Tool>,
        /// By this.
        check: Arc<Check>,
    },
}

/// An errand that may do harm and is not done yet.
#[derive(Debug)]
enum Open {
    Preparing(SessionId),
    Ready(SessionId, Box<(Plan, Held)>),
}

/// How something is ended that is under way.
#[derive(Debug)]
enum Halt {
    Job(Brake),
    Command(SessionId, ExecutionId),
}

/// What a task owes if it fails.
#[derive(Clone, Debug)]
enum Owed {
    Prepared(ErrandId),
    Done(ErrandId),
    End(ErrandId, SessionId, ExecutionId),
}

/// Everything that is under way.
pub(super) struct Desk {
    slips: mpsc::Receiver<Slip>,
    /// No order comes any more, and everything is to end.
    closing: bool,
    back: mpsc::Receiver<Back>,
    to_back: mpsc::Sender<Back>,
    post: Post,
    /// Small answers that wait for room.
    outgoing: VecDeque<ErrandNews>,
    errands: HashMap<ErrandId, Open>,
    /// What is being made ready or done.
    under_way: HashMap<ErrandId, Halt>,
    past: Past,
    terminals: Terminals,
    known: Known,
    jobs: Jobs,
    tasks: JoinSet<()>,
    owed: HashMap<Id, Owed>,
    cradle: Cradle,
    own: Arc<PathBuf>,
    graces: Graces,
    walls: Walls,
}

impl Desk {
    pub(super) fn new(
        slips: mpsc::Receiver<Slip>,
        post: Post,
        cradle: Cradle,
        own: PathBuf,
        (graces, walls): (Graces, Walls),
    ) -> Self {
        let (to_back, back) = mpsc::channel(BACK);
        let own = Arc::new(own);
        Self {
            slips,
            closing: false,
            back,
            jobs: Jobs::new(own.clone(), post.clone(), to_back.clone()),
            to_back,
            post,
            outgoing: VecDeque::new(),
            errands: HashMap::new(),
            under_way: HashMap::new(),
            past: Past::default(),
            terminals: Terminals::default(),
            known: Known::default(),
            tasks: JoinSet::new(),
            owed: HashMap::new(),
            cradle,
            own,
            graces,
            walls,
        }
    }

    /// Until no order can come any more and everything is over.
    pub(super) async fn run(mut self) {
        let post = self.post.clone();
        while !(self.closing && self.tasks.is_empty() && self.outgoing.is_empty()) {
            tokio::select! {
                // A plan is known before the order to perform it is looked at.
                biased;
                Some(back) = self.back.recv() => self.told(back),
                slip = self.slips.recv(), if !self.closing => self.slip(slip),
                Some(joined) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.joined(joined),
                permit = post.room(), if !self.outgoing.is_empty() => match (permit, self.outgoing.pop_front()) {
                    (Some(permit), Some(news)) => permit.send(news),
                    // Nobody takes news any more.
                    (None, _) | (_, None) => self.outgoing.clear(),
                },
            }
        }
    }

    fn told(&mut self, back: Back) {
        match back {
            Back::Planned { errand, plan } => {
                self.under_way.remove(&errand);
                // If it is not known any more, it was dropped meanwhile, and the plan goes with it.
                if let (Some(Open::Preparing(session)), Some(plan)) = (self.errands.remove(&errand), plan) {
                    self.errands.insert(errand, Open::Ready(session, plan));
                }
            }
            Back::Over { session, execution, kept: Some(kept) } => self.terminals.over(session, &execution, kept),
            Back::Over { session, execution, kept: None } => self.terminals.forget(session, &execution),
            Back::Compiled { tool, check } => self.known.keep(tool, check),
        }
    }

    fn slip(&mut self, slip: Option<Slip>) {
        match slip {
            Some(Slip::Order(order, held)) => self.order(order, held),
            Some(Slip::Refused { errand, awaits }) => {
                let message = "too much is waiting to be done already; try again later";
                self.refuse(errand, awaits, ErrandFailure::new(ErrandCode::TooLarge, message));
            }
            None => {
                self.closing = true;
                self.errands.clear();
                self.terminals = Terminals::default();
            }
        }
    }

    fn order(&mut self, order: ErrandOrder, held: Held) {
        match order {
            ErrandOrder::Prepare { errand, session, root, what } => self.prepare(errand, session, root, what, held),
            ErrandOrder::Perform { errand, session, execution, run_as, network } => {
                self.perform(errand, session, execution, (run_as, network));
            }
            ErrandOrder::Stop { errand } => self.stop(errand),
            ErrandOrder::Drop { errand } => self.forget(errand),
            ErrandOrder::Serve { errand, session, root, what } => self.serve(errand, session, root, what, held),
            // Plans stay: the core drops each that it gives up.
            ErrandOrder::EndAll { session } => self.terminals.end_all(session),
        }
    }

    fn prepare(&mut self, errand: ErrandId, session: SessionId, root: WorkspaceRoot, what: Errand, held: Held) {
        if runs(&what)
            && let Err(failure) = self.terminals.make_room(session)
        {
            return self.refuse(errand, Awaits::Prepared, failure);
        }
        self.errands.insert(errand, Open::Preparing(session));
        let stop = self.begin(errand);
        let task = match what {
            Errand::Tool { tool, parameters } => {
                let call = self.call(tool, parameters);
                self.tasks.spawn(self.jobs.prepare_call(errand, root, call, held, stop))
            }
            other => self.tasks.spawn(self.jobs.prepare(errand, root, other, held, stop)),
        };
        self.owed.insert(task.id(), Owed::Prepared(errand));
    }

    /// Something begins that can be ended.
    fn begin(&mut self, errand: ErrandId) -> Stop {
        let (brake, stop) = Brake::new();
        self.under_way.insert(errand, Halt::Job(brake));
        stop
    }

    fn call(&mut self, tool: Arc<Tool>, parameters: serde_json::Value) -> Call {
        let check = self.known.of(&tool);
        Call { tool, parameters, check }
    }

    /// Whatever is being done of it ends at once; it is answered by whoever does it.
    fn stop(&mut self, errand: ErrandId) {
        match self.under_way.get(&errand) {
            Some(Halt::Job(brake)) => brake.pull(),
            Some(Halt::Command(session, execution)) => self.terminals.stop(*session, execution),
            // It is over, or it is not begun: what only waits to be performed is dropped, not stopped.
            None => {}
        }
    }

    fn perform(&mut self, errand: ErrandId, session: SessionId, execution: ExecutionId, manner: (RunAs, Network)) {
        let plan = match self.errands.remove(&errand) {
            Some(Open::Ready(owner, plan)) if owner == session => plan.0,
            Some(_) | None => return self.cannot_perform(errand, session, &execution),
        };
        // From here on the plan is gone: whatever happens, it is not performed again.
        self.past.performed(errand, execution.clone());
        match plan {
            Plan::Write(plan, gives) => {
                let stop = self.begin(errand);
                let job = self.jobs.write(errand, session, execution.clone(), (plan, gives), stop);
                self.owed.insert(self.tasks.spawn(job).id(), Owed::End(errand, session, execution));
            }
            Plan::Run(plan) => {
                let told = match self.terminals.open(session, execution.clone()) {
                    Ok(told) => told,
                    Err(failure) => return self.fail(errand, session, &execution, failure),
                };
                let around = Around {
                    session,
                    execution: execution.clone(),
                    cradle: self.cradle.clone(),
                    own: self.own.clone(),
                    graces: self.graces,
                    manner,
                    walls: self.walls.clone(),
                    post: self.post.clone(),
                    told,
                    back: self.to_back.clone(),
                };
                self.under_way.insert(errand, Halt::Command(session, execution.clone()));
                let id = self.tasks.spawn(terminal::run(errand, plan, around)).id();
                self.owed.insert(id, Owed::End(errand, session, execution));
            }
        }
    }

    /// There is no such plan, or none any more.
    fn cannot_perform(&mut self, errand: ErrandId, session: SessionId, execution: &ExecutionId) {
        let failure = ErrandFailure::new(ErrandCode::Cancelled, "it was given up meanwhile and was not done");
        match self.past.of(errand) {
            // It was performed under this very name; that has its own end.
            Some(performed) if performed == Some(execution) => self.outgoing.push_back(done(errand, Err(failure))),
            Some(_) => self.fail(errand, session, execution, failure),
            None => {
                tracing::error!(errand = errand.0, %execution, "an errand was to be performed that was never made ready");
                self.fail(errand, session, execution, failure);
            }
        }
    }

    fn fail(&mut self, errand: ErrandId, session: SessionId, execution: &ExecutionId, failure: ErrandFailure) {
        let end = ExecutionEnd::Failed { message: failure.message.clone() };
        self.outgoing.push_back(ended(session, execution, end));
        self.outgoing.push_back(done(errand, Err(failure)));
    }

    fn forget(&mut self, errand: ErrandId) {
        if self.errands.remove(&errand).is_some() {
            self.past.dropped(errand);
        }
    }

    fn serve(&mut self, errand: ErrandId, session: SessionId, root: WorkspaceRoot, what: Errand, held: Held) {
        let may_harm = what.may_harm();
        let task = match what {
            Errand::Read { path, line, limit } => {
                let stop = self.begin(errand);
                self.tasks.spawn(self.jobs.read(errand, root, path, Lines { from: line, limit }, stop))
            }
            // What a view lends is only checked here, so it can do no harm either.
            Errand::Tool { tool, parameters } if !may_harm || tool.provider != Provider::Host => {
                let (stop, call) = (self.begin(errand), self.call(tool, parameters));
                self.tasks.spawn(self.jobs.call(errand, root, call, held, stop))
            }
            Errand::Terminal { terminal, wish } => {
                if let Err(failure) = self.terminals.wish(session, terminal, errand, wish) {
                    self.refuse(errand, Awaits::Done, failure);
                }
                return;
            }
            Errand::Write { .. } | Errand::Run(_) | Errand::Tool { .. } => {
                let message = "this may do harm, so it has to be made ready and allowed first";
                return self.refuse(errand, Awaits::Done, ErrandFailure::new(ErrandCode::Denied, message));
            }
        };
        self.owed.insert(task.id(), Owed::Done(errand));
    }

    fn refuse(&mut self, errand: ErrandId, awaits: Awaits, failure: ErrandFailure) {
        self.outgoing.push_back(match awaits {
            Awaits::Prepared => ErrandNews::Prepared { errand, result: Err(failure) },
            Awaits::Done => done(errand, Err(failure)),
        });
    }

    fn joined(&mut self, joined: Result<(Id, ()), JoinError>) {
        let (id, error) = match joined {
            Ok((id, ())) => (id, None),
            Err(error) => (error.id(), Some(error)),
        };
        let Some(owed) = self.owed.remove(&id) else { return };
        let (Owed::Prepared(errand) | Owed::Done(errand) | Owed::End(errand, ..)) = &owed;
        // What was made ready may be under way again by now, to be done.
        if error.is_some() || !matches!(owed, Owed::Prepared(_)) {
            self.under_way.remove(errand);
        }
        let Some(error) = error else { return };
        tracing::error!(%error, "a task of the runner failed");
        match owed {
            Owed::Prepared(errand) => self.refuse(errand, Awaits::Prepared, fault()),
            Owed::Done(errand) => self.refuse(errand, Awaits::Done, fault()),
            Owed::End(errand, session, execution) => {
                self.terminals.forget(session, &execution);
                self.outgoing.push_back(ended(session, &execution, ExecutionEnd::Unknown {}));
                self.outgoing.push_back(done(errand, Err(fault())));
            }
        }
    }
}

/// Whether a terminal will be needed.
fn runs(what: &Errand) -> bool {
    match what {
        Errand::Run(_) => true,
        Errand::Tool { tool, .. } => tool.provider == Provider::Host && tool.effect == Effect::Runs,
        Errand::Read { .. } | Errand::Write { .. } | Errand::Terminal { .. } => false,
    }
}
