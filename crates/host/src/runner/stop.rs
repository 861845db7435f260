//! The word that ends what is being done, heard by tasks that wait and by work that looks now and then. Ends nothing
//! itself.

use switchboard_types::{ErrandCode, ErrandFailure};
use tokio::sync::watch;

/// Whoever holds this can have the work end.
#[derive(Debug)]
pub(crate) struct Brake(watch::Sender<bool>);

/// Whoever holds this hears of it.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Brake {
    pub(crate) fn new() -> (Self, Stop) {
        let (brake, stop) = watch::channel(false);
        (Self(brake), Stop(stop))
    }

    /// It is to end.
    pub(crate) fn pull(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether it is to end.
    pub(crate) fn is_told(&self) -> bool {
        *self.0.borrow()
    }

    /// An error once it is to end.
    pub(crate) fn look(&self) -> Result<(), ErrandFailure> {
        if self.is_told() { Err(cancelled()) } else { Ok(()) }
    }

    /// Waits until it is to end; for ever, if nobody can say so any more.
    pub(crate) async fn told(&self) {
        if self.0.clone().wait_for(|told| *told).await.is_err() {
            std::future::pending().await
        }
    }
}

/// What is answered then.
pub(crate) fn cancelled() -> ErrandFailure {
    ErrandFailure::new(ErrandCode::Cancelled, "it was ended before it was done")
}
