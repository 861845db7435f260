//! Requests to the client from whatever task, each answered once or given up. Writes nothing itself; the desk does.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

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

/// How long the client may take for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// So long.
    Time(Duration),
    /// As long as it likes: it may be asking a person.
    Ever,
}

/// A request that is not waited for any more, and whose answer may come all the same.
#[derive(Debug)]
pub(super) struct Late {
    peer: Peer,
    ticket: u64,
    wait: oneshot::Receiver<Result<Value, PeerError>>,
}

/// Why the client has not done it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PeerError {
    /// It is not wanted any more.
    GivenUp,
    /// It has not answered in time.
    Late(Duration),
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
            Self::Late(time) => format!("the client has not answered within {} s", time.as_secs()),
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
    /// Asks, with the session's id among the params, and waits for the answer, the end of its time or the word to stop.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        params: Value,
        stop: &Stop,
        within: Within,
    ) -> Result<Value, PeerError> {
        match self.ask_or_leave(method, params, stop, within).await {
            Ok(answer) => Ok(answer),
            Err((error, late)) => {
                if let Some(late) = late {
                    late.forget().await;
                }
                Err(error)
            }
        }
    }

    /// The same for what has to be undone if it is done too late: the answer can then still be waited for.
    pub(super) async fn ask_or_leave(
        &self,
        method: &'static str,
        mut params: Value,
        stop: &Stop,
        within: Within,
    ) -> Result<Value, (PeerError, Option<Box<Late>>)> {
        let gone = || PeerError::Gone("the client is gone".to_owned());
        params["sessionId"] = Value::from(self.session.as_str());
        let ticket = self.tickets.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (answer, mut wait) = oneshot::channel();
        let asking = News::Ask { method, params, asked: Asked { ticket, answer } };
        self.news.send(asking).await.map_err(|_| (gone(), None))?;
        let late = async {
            match within {
                Within::Time(time) => {
                    tokio::time::sleep(time).await;
                    PeerError::Late(time)
                }
                Within::Ever => std::future::pending().await,
            }
        };
        let error = tokio::select! {
            answered = &mut wait => return answered.unwrap_or_else(|_| Err(gone())).map_err(|error| (error, None)),
            () = stop.told() => PeerError::GivenUp,
            late = late => late,
        };
        let _ = self.news.send(News::CallBack { ticket }).await;
        Err((error, Some(Box::new(Late { peer: self.clone(), ticket, wait }))))
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

impl Late {
    /// Nobody wants the answer.
    async fn forget(self) {
        let _ = self.peer.news.send(News::Forget { ticket: self.ticket }).await;
    }

    /// The answer that came all the same; none if it does not come in time, or is none.
    pub(super) async fn answer(mut self, time: Duration) -> Option<Value> {
        let answered = timeout(time, &mut self.wait).await;
        match answered {
            Ok(answered) => answered.ok()?.ok(),
            Err(_) => {
                self.forget().await;
                None
            }
        }
    }
}
