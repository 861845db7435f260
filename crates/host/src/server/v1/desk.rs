//! The one link on which all requests of the HTTP door are asked: each gets exactly one answer, whatever order they come in.
//! Opened with the first request. Holds nothing but who waits for what.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use hyper::StatusCode;
use switchboard_types::{
    AnsweredBy, ApprovalId, Command, Decision, LinkId, Reject, RequestNo, Resolution, SessionAnswer, SessionId,
    SessionRequest, Told, ToolFailure,
};
use tokio::sync::{mpsc, oneshot};

use super::problem::Refused;
use crate::link::{CloseReason, OUTBOX_MESSAGES, Outgoing, ViewInput};
use crate::server::accept::next_link;

/// Requests that have no answer yet; the next wait.
const MAX_OPEN: usize = 1024;
/// Requests that wait to be asked.
const MAX_WAITING: usize = 64;
/// How long an answer may take. What was asked may happen all the same, so whoever asked is told so.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where requests are asked.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    asks: mpsc::Sender<Asked>,
}

struct Asked {
    command: Box<dyn FnOnce(RequestNo) -> Command + Send>,
    answer: oneshot::Sender<Answer>,
}

enum Answer {
    Session(Result<Box<SessionAnswer>, Reject>),
    Answered(Result<(Resolution, AnsweredBy), ToolFailure>),
}

impl Desk {
    /// A desk whose link opens with the first request.
    pub(crate) fn new(inbox: mpsc::Sender<ViewInput>, links: Arc<AtomicU64>) -> Self {
        let (asks, asked) = mpsc::channel(MAX_WAITING);
        tokio::spawn(run(inbox, links, asked));
        Self { asks }
    }

    /// Asks something about a session.
    pub(crate) async fn ask(&self, what: SessionRequest) -> Result<SessionAnswer, Refused> {
        match self.put(move |request| Command::Session { request, what }).await? {
            Answer::Session(result) => Ok(*result?),
            Answer::Answered(_) => Err(Refused::stopping()),
        }
    }

    /// Answers an approval; how it came to its end, and by whom.
    pub(super) async fn decide(
        &self,
        session: SessionId,
        approval: ApprovalId,
        decision: Decision,
        command: Option<String>,
    ) -> Result<(Resolution, AnsweredBy), Refused> {
        let command = move |request| Command::Answer { request, session, approval, decision, command };
        match self.put(command).await? {
            Answer::Answered(result) => result.map_err(|failure| Refused::bad(failure.message)),
            Answer::Session(_) => Err(Refused::stopping()),
        }
    }

    async fn put(&self, command: impl FnOnce(RequestNo) -> Command + Send + 'static) -> Result<Answer, Refused> {
        let (answer, answered) = oneshot::channel();
        let asked = async {
            self.asks.send(Asked { command: Box::new(command), answer }).await.map_err(|_| Refused::stopping())?;
            answered.await.map_err(|_| Refused::stopping())
        };
        tokio::time::timeout(PATIENCE, asked).await.unwrap_or_else(|_| {
            let message = "no answer came in time; look at the session before you ask again";
            Err(Refused::new(StatusCode::GATEWAY_TIMEOUT, "timeout", message))
        })
    }
}

/// How the link came to its end.
enum End {
    /// Nobody can ask any more.
    Done,
    /// The host has closed it; a new one opens with the next request.
    Closed,
}

async fn run(inbox: mpsc::Sender<ViewInput>, links: Arc<AtomicU64>, mut asked: mpsc::Receiver<Asked>) {
    while let Some(first) = asked.recv().await {
        let link = next_link(&links);
        let (outbox, from_host) = mpsc::channel(OUTBOX_MESSAGES);
        let mut open = Open { link, inbox: inbox.clone(), waiting: HashMap::new(), last: 0 };
        if inbox.send(ViewInput::Opened { link, outbox }).await.is_err() {
            return;
        }
        let end = match open.pass_on(first).await {
            Ok(()) => open.serve(&mut asked, from_host).await,
            Err(end) => end,
        };
        // If the host's task is gone, nobody needs to know.
        let _ = inbox.send(ViewInput::Closed { link }).await;
        match end {
            End::Done => return,
            End::Closed => {}
        }
    }
}

struct Open {
    link: LinkId,
    inbox: mpsc::Sender<ViewInput>,
    waiting: HashMap<RequestNo, oneshot::Sender<Answer>>,
    last: u64,
}

impl Open {
    async fn serve(&mut self, asked: &mut mpsc::Receiver<Asked>, mut from_host: mpsc::Receiver<Outgoing>) -> End {
        loop {
            if self.waiting.len() >= MAX_OPEN {
                self.waiting.retain(|_, answer| !answer.is_closed());
            }
            tokio::select! {
                biased;
                outgoing = from_host.recv() => match outgoing {
                    Some(Outgoing::Close(CloseReason::TooSlow)) => return End::Closed,
                    Some(Outgoing::Close(CloseReason::GoingAway)) | None => return End::Done,
                    Some(outgoing) => self.take(outgoing),
                },
                ask = asked.recv(), if self.waiting.len() < MAX_OPEN => match ask {
                    Some(ask) => if let Err(end) = self.pass_on(ask).await {
                        return end;
                    },
                    None => return End::Done,
                },
            }
        }
    }

    async fn pass_on(&mut self, ask: Asked) -> Result<(), End> {
        self.last += 1;
        let request = RequestNo(self.last);
        self.waiting.insert(request, ask.answer);
        let input = ViewInput::Command { link: self.link, command: (ask.command)(request) };
        self.inbox.send(input).await.map_err(|_| End::Done)
    }

    fn take(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Told(told) => match *told {
                Told::Answer { request, result } => self.answer(request, Answer::Session(result)),
                Told::Answered { request, result } => self.answer(request, Answer::Answered(result)),
                other => tracing::debug!(?other, "the desk was told something that it has not asked"),
            },
            Outgoing::Taped(outgoing, _) => self.take(*outgoing),
            Outgoing::Events(_) | Outgoing::Close(_) => {}
        }
    }

    fn answer(&mut self, request: RequestNo, answer: Answer) {
        if let Some(waiting) = self.waiting.remove(&request) {
            // Whoever asked may be gone.
            let _ = waiting.send(answer);
        }
    }
}
