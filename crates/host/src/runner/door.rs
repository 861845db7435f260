//! The door for the host's task: takes orders and never waits. Does nothing itself.

use std::io;
use std::path::Path;
use std::sync::Arc;

use switchboard_types::limits::{MAX_OPEN_ERRANDS, MAX_TABS};
use switchboard_types::{Errand, ErrandId, ErrandNews, ErrandOrder};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinHandle;

use super::contain::Walls;
use super::desk::Desk;
use super::limits::MAX_HELD_BYTES;
use super::post::Post;
use super::validate::measure;
use crate::agents::Graces;
use crate::agents::command::Cradle;

/// Orders that wait for the desk, which never waits for anything itself. More than the core can have open at once, so that
/// an order that ends something always finds room; what is large is bounded by its bytes. Takes memory only as it fills.
const ORDERS: usize = MAX_TABS * (2 * MAX_OPEN_ERRANDS + 2);
/// What an errand costs at least.
const MIN_COST: usize = 1024;

/// What lies on the desk.
#[derive(Debug)]
pub(super) enum Slip {
    /// To be done; the bytes are held until it is.
    Order(ErrandOrder, Held),
    /// There was no room for it.
    Refused {
        /// The errand.
        errand: ErrandId,
        /// Which answer it waits for.
        awaits: Awaits,
    },
}

/// The bytes of an errand, counted as long as this lives.
#[derive(Debug)]
pub(super) struct Held(#[expect(dead_code, reason = "it is held, not read")] Option<OwnedSemaphorePermit>);

/// Which answer an errand waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    Prepared,
    Done,
}

/// Carries out errands.
#[derive(Debug)]
pub struct Runner {
    slips: mpsc::Sender<Slip>,
    bytes: Arc<Semaphore>,
    stop: watch::Sender<bool>,
    desk: JoinHandle<()>,
}

impl Runner {
    /// Must be called within a runtime. `data` is the host's data folder: commands are written down there, and no agent may
    /// reach into it. What comes of errands goes to `inbox`. Commands are held in by the walls.
    pub fn start(data: &Path, inbox: mpsc::Sender<ErrandNews>, graces: Graces, walls: Walls) -> io::Result<Self> {
        let cradle = Cradle::within(data)?;
        let own = data.canonicalize()?;
        let (slips, waiting) = mpsc::channel(ORDERS);
        let stop = watch::Sender::new(false);
        let post = Post::new(inbox, stop.subscribe());
        let desk = tokio::spawn(Desk::new(waiting, post, cradle, own, (graces, walls)).run());
        Ok(Self { slips, bytes: Arc::new(Semaphore::new(MAX_HELD_BYTES)), stop, desk })
    }

    /// Has an order carried out. Never waits; if too much is under way already, the errand is answered with a failure.
    pub fn order(&self, order: ErrandOrder) {
        let slip = match cost(&order) {
            None => Slip::Order(order, Held(None)),
            Some((errand, awaits, bytes)) => match self.hold(bytes) {
                Some(permit) => Slip::Order(order, Held(Some(permit))),
                None => Slip::Refused { errand, awaits },
            },
        };
        if let Err(error) = self.slips.try_send(slip) {
            // The core has no such number of errands open, and the desk takes them as they come.
            tracing::error!(%error, "an errand found no way to the desk");
        }
    }

    fn hold(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        self.bytes.clone().try_acquire_many_owned(u32::try_from(bytes).ok()?).ok()
    }

    /// Ends all commands, each politely and all at once, answers what is open, and waits until nothing is left. The host
    /// should go on taking news meanwhile; if it does not, they are given up after a moment.
    pub async fn shutdown(self) {
        let Self { slips, stop, desk, .. } = self;
        drop(slips);
        stop.send_replace(true);
        if let Err(error) = desk.await {
            tracing::error!(%error, "the task of the runner failed");
        }
    }
}

/// What is held of an order, if it begins an errand.
fn cost(order: &ErrandOrder) -> Option<(ErrandId, Awaits, usize)> {
    let (errand, awaits, what) = match order {
        ErrandOrder::Prepare { errand, what, .. } => (*errand, Awaits::Prepared, what),
        ErrandOrder::Serve { errand, what, .. } => (*errand, Awaits::Done, what),
        ErrandOrder::Perform { .. }
        | ErrandOrder::Drop { .. }
        | ErrandOrder::Stop { .. }
        | ErrandOrder::EndAll { .. } => return None,
    };
    let bytes = match what {
        Errand::Read { path, .. } => path.len(),
        Errand::Write { path, content } => path.len() + content.len(),
        Errand::Run(run) => {
            let env = run.env.iter().map(|(name, value)| name.len() + value.len());
            run.program.len() + run.args.iter().map(String::len).chain(env).sum::<usize>()
        }
        Errand::Tool { parameters, .. } => measure(parameters).bytes,
        Errand::Terminal { .. } => 0,
    };
    Some((errand, awaits, bytes + MIN_COST))
}
