//! The word that ends what is being done, heard by tasks that wait and by work that looks now and then. Ends nothing
//! itself.

use switchboard_types::{ErrandCode, ErrandFailure};
use tokio::sync::watch;

/// Whoever holds this can have the work end.
#[derive(Debug)]
pub(super) struct Brake(watch::Sender<bool>);

/// Whoever holds this hears of it.
#[derive(Clone, Debug)]
pub(super) struct Stop(watch::Receiver<bool>);

impl Brake {
    pub(super) fn new() -> (Self, Stop) {
        let (brake, stop) = watch::channel(false);
        (Self(brake), Stop(stop))
    }

    /// It is to end.
    pub(super) fn pull(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether it is to end.
    pub(super) fn is_told(&self) -> bool {
        *self.0.borrow()
    }

    /// An error once it is to end.
    pub(super) fn look(&self) -> Result<(), ErrandFailure> {
        if self.is_told() { Err(cancelled()) } else { Ok(()) }
    }

    /// Waits until it is to end; for ever, if nobody can say so any more.
    pub(super) async fn told(&self) {
        if self.0.clone().wait_for(|told| *told).await.is_err() {
            std::future::pending().await
        }
    }
}

/// What is answered then.
pub(super) fn cancelled() -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Cancelled, "it was ended before it was done")
}
