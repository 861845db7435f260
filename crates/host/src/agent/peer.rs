//! Requests to the client from whatever task, each answered once or given up. Writes nothing itself; the desk does.

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::desk::News;
use crate::runner::stop::Stop;

/// Whoever holds this can ask the client of one session.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) session: String,
    pub(super) news: mpsc::Sender<News>,
    /// Names requests, so that they can be given up.
    pub(super) tickets: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

/// A request on its way to the client.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) ticket: u64,
    pub(super) answer: oneshot::Sender<Result<Value, PeerError>>,
}

/// Why the client has not done it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PeerError {
    /// It is not wanted any more.
    GivenUp,
    /// It said no.
    Refused {
        /// Its code.
        code: i64,
        /// Its words.
        message: String,
        /// What goes with them.
        data: Value,
    },
    /// It is gone, or has too many requests.
    Gone(String),
}

impl PeerError {
    /// In words.
    pub(super) fn message(&self) -> String {
        match self {
            Self::GivenUp => "it was given up".to_owned(),
            // The reference says only `Internal error` and puts the words beside it.
            Self::Refused { message, data, .. } => match data.as_str().or_else(|| data["details"].as_str()) {
                Some(details) => format!("{message}: {details}"),
                None => message.clone(),
            },
            Self::Gone(why) => why.clone(),
        }
    }
}

impl Peer {
    /// Asks, with the session's id among the params, and waits for the answer or the word to stop.
    pub(super) async fn ask(&self, method: &'static str, mut params: Value, stop: &Stop) -> Result<Value, PeerError> {
        let gone = || PeerError::Gone("the client is gone".to_owned());
        params["sessionId"] = Value::from(self.session.as_str());
        let ticket = self.tickets.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (answer, mut wait) = oneshot::channel();
        let asking = News::Ask { method, params, asked: Asked { ticket, answer } };
        self.news.send(asking).await.map_err(|_| gone())?;
        tokio::select! {
            answered = &mut wait => answered.unwrap_or_else(|_| Err(gone())),
            () = stop.told() => {
                let _ = self.news.send(News::GiveUp { ticket }).await;
                Err(PeerError::GivenUp)
            }
        }
    }

    /// Asks for something whose answer nobody waits for.
    pub(super) async fn have_done(&self, method: &'static str, mut params: Value) {
        params["sessionId"] = Value::from(self.session.as_str());
        let ticket = self.tickets.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (answer, _) = oneshot::channel();
        let _ = self.news.send(News::Ask { method, params, asked: Asked { ticket, answer } }).await;
    }

    /// Shows something in the session.
    pub(super) async fn show(&self, update: Value) {
        let _ = self.news.send(News::Show { session: self.session.clone(), update }).await;
    }
}
