//! The way of news to the host's task: waits for room, loses nothing while the host lives. Holds no news itself.

use std::time::Duration;

use switchboard_types::{ErrandFailure, ErrandId, ErrandNews, ErrandResult, ExecutionEnd, ExecutionId, SessionId};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

/// Time for the host to take the last news once everything is to end; it may be gone already.
const LAST_CHANCE: Duration = Duration::from_secs(2);

/// Where news go.
#[derive(Clone, Debug)]
pub(super) struct Post {
    inbox: mpsc::Sender<ErrandNews>,
    stop: watch::Receiver<bool>,
}

impl Post {
    pub(super) fn new(inbox: mpsc::Sender<ErrandNews>, stop: watch::Receiver<bool>) -> Self {
        Self { inbox, stop }
    }

    /// Waits for room. None if nobody takes news any more.
    pub(super) async fn room(&self) -> Option<mpsc::Permit<'_, ErrandNews>> {
        let given_up = async {
            self.stopped().await;
            sleep(LAST_CHANCE).await;
        };
        tokio::select! {
            biased;
            permit = self.inbox.reserve() => permit.ok(),
            () = given_up => None,
        }
    }

    /// Waits until everything is to end.
    pub(super) async fn stopped(&self) {
        // An error means that nobody holds the runner any more, which is the same.
        let _ = self.stop.clone().wait_for(|stop| *stop).await;
    }

    /// Sends news as soon as there is room.
    pub(super) async fn send(&self, news: ErrandNews) {
        match self.room().await {
            Some(permit) => permit.send(news),
            None => tracing::warn!("the host takes no news of errands any more"),
        }
    }
}

/// The answer to an errand.
pub(super) fn done(errand: ErrandId, result: Result<ErrandResult, ErrandFailure>) -> ErrandNews {
    ErrandNews::Done { errand, result }
}

/// The end of an execution.
pub(super) fn ended(session: SessionId, execution: &ExecutionId, end: ExecutionEnd) -> ErrandNews {
    ErrandNews::Ended { session, execution: execution.clone(), end }
}
