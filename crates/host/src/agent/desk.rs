//! The one task of the agent: what the client asks, what sessions want done, what comes back. It owns all state and waits for
//! nothing but the next thing that happens; whatever takes time is a task of its own that reports here.
//!
//! | module | owns |
//! | --- | --- |
//! | `opening` | greeting, and how sessions are opened, taken up, listed and closed |
//! | `turns` | prompts, cancelling, and what the worker wants done |
//! | `setting` | modes, models and what people have set |

mod opening;
mod setting;
mod turns;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use switchboard_agent::said::Said;
use switchboard_agent::trouble::{Trouble, TroubleKind};
use switchboard_agent::worker::Heard;
use switchboard_dialects::jsonrpc::{Code, Debt, Envelope, Failure, Fault, OurId, Owed, Pending, Reader, codes, write};
use tokio::sync::{OnceCell, mpsc};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use super::deeds::{Abilities, Done, OwnCommands};
use super::far::{Far, Known};
use super::peer::{Asked, Peer, PeerError};
use super::session::Session;
use super::shelf::Shelf;
use super::start::Options;
use super::stdio::Line;
use crate::clock::Clock;

use opening::Opening;
use setting::Settings;

/// Sessions that are open at once.
const MAX_SESSIONS: usize = 64;
/// Requests of the client that wait for their answers.
const MAX_OWED: usize = 1_024;
/// Requests to the client that wait for theirs.
const MAX_ASKED: usize = 1_024;
/// News that wait for the desk.
const MAX_NEWS: usize = 256;
/// What was learned of the server so long ago is good enough for whoever asks it again after a rest.
const JUST_NOW: Duration = Duration::from_millis(500);
/// How long a due time lies ahead at most: it is looked at again then.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// What tasks report.
#[derive(Debug)]
pub(super) enum News {
    /// The model says something.
    Said {
        /// In which session.
        session: String,
        /// To which question.
        question: u64,
        /// What.
        said: Vec<Said>,
    },
    /// A person should know something of a question.
    Note {
        /// In which session.
        session: String,
        /// Of which question.
        question: u64,
        /// What.
        text: String,
    },
    /// Something was done.
    Deed {
        /// In which session.
        session: String,
        /// For which call.
        call: String,
        /// Which deed.
        no: u64,
        /// What came of it.
        done: Done,
    },
    /// The client is to be asked.
    Ask {
        /// By which method.
        method: &'static str,
        /// With what.
        params: Value,
        /// Who waits for the answer.
        asked: Asked,
    },
    /// What was asked for is not wanted any more; its answer may still be.
    CallBack {
        /// Which.
        ticket: u64,
    },
    /// An answer is not wanted any more.
    Forget {
        /// Which.
        ticket: u64,
    },
    /// The client is to be shown something.
    Show {
        /// In which session.
        session: String,
        /// What.
        update: Value,
    },
    /// The server was looked at.
    Looked(Result<Known, Trouble>),
}

/// What waits until the server was looked at.
enum Held {
    /// A session to be opened.
    Opening(Debt, Box<Opening>),
    /// A prompt of a session.
    Prompt {
        /// Which session.
        session: String,
        /// Which prompt.
        ticket: u64,
        /// It.
        parts: Vec<switchboard_agent::talk::Part>,
    },
    /// The choice of a model that the server did not have when it was last looked at.
    Choice {
        /// Who waits for the answer.
        debt: Debt,
        /// Which session.
        session: String,
        /// Its name.
        model: String,
    },
}

impl Held {
    /// Whether it is something of this session, which what comes after it must not overtake.
    fn is_of(&self, id: &str) -> bool {
        match self {
            Self::Opening(..) => false,
            Self::Prompt { session, .. } | Self::Choice { session, .. } => session == id,
        }
    }
}

/// All of it.
pub(super) struct Desk {
    options: Options,
    clock: Clock,
    reader: Reader,
    owed: Owed,
    asked: Pending<Asked>,
    abilities: Abilities,
    far: Arc<Far>,
    /// What the last look that saw it has seen; an error only until there was one.
    known: Result<Arc<Known>, Trouble>,
    /// When the last look ended, whatever it saw.
    looked_at: Option<Instant>,
    /// Whether the server has said since that it has not the model it was asked for.
    lacks_a_model: bool,
    /// The look at the server that is under way.
    looking: Option<AbortHandle>,
    /// Whether it is looked at once more then, since other models are wanted meanwhile.
    looks_again: bool,
    held: Vec<Held>,
    settings: Settings,
    shelf: Shelf,
    sessions: BTreeMap<String, Session>,
    cradle: Arc<OwnCommands>,
    news: mpsc::Sender<News>,
    tickets: Arc<AtomicU64>,
    /// Names questions, deeds and prompts.
    numbers: u64,
    /// Messages on their way to the client.
    out: Vec<Vec<u8>>,
    say: mpsc::Sender<Vec<u8>>,
    heard: Option<mpsc::Receiver<News>>,
}

impl Desk {
    /// Says what it has to say to `say`.
    pub(super) fn new(options: Options, say: mpsc::Sender<Vec<u8>>) -> Self {
        let (news, heard) = mpsc::channel(MAX_NEWS);
        let far = Arc::new(Far::new(&options.base_url, options.token.as_ref()));
        let unseen = "the server was not looked at yet".to_owned();
        let cradle = OwnCommands { data: options.sessions.clone(), made: OnceCell::new() };
        Self {
            clock: Clock::start(),
            reader: Reader::new(),
            owed: Owed::with_max(MAX_OWED),
            asked: Pending::with_max(MAX_ASKED),
            abilities: Abilities::default(),
            far,
            known: Err(Trouble { kind: TroubleKind::NoServer, message: unseen, retry_after_ms: None }),
            looked_at: None,
            lacks_a_model: false,
            looking: None,
            looks_again: false,
            held: Vec::new(),
            settings: Settings::default(),
            shelf: Shelf::new(options.sessions.clone()),
            sessions: BTreeMap::new(),
            cradle: Arc::new(cradle),
            news,
            tickets: Arc::default(),
            numbers: 0,
            out: Vec::new(),
            say,
            heard: Some(heard),
            options,
        }
    }

    /// Until the client hangs up. What runs is ended then.
    pub(super) async fn serve(mut self, mut lines: mpsc::Receiver<Line>) {
        let Some(mut news) = self.heard.take() else { return };
        self.look();
        loop {
            for message in std::mem::take(&mut self.out) {
                if self.say.send(message).await.is_err() {
                    return self.end(news).await;
                }
            }
            let due = self.due();
            tokio::select! {
                line = lines.recv() => match line {
                    Some(Ok(line)) => self.line(&line),
                    Some(Err(error)) => {
                        let failure = json!({"jsonrpc": "2.0", "id": null, "error": {
                            "code": codes::INVALID_REQUEST, "message": error.to_string(),
                        }});
                        self.out.push(failure.to_string().into_bytes());
                    }
                    None => return self.end(news).await,
                },
                Some(one) = news.recv() => self.news(one),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.tick(),
            }
        }
    }

    /// Stops all that is under way, and waits until it has stopped.
    async fn end(mut self, mut news: mpsc::Receiver<News>) {
        self.sessions.values_mut().for_each(|session| {
            session.book.close();
            session.hang_up();
            session.stop_deeds();
        });
        self.sessions.clear();
        if let Some(looking) = self.looking.take() {
            looking.abort();
        }
        let Self { news: ours, asked, .. } = self;
        // Nobody answers any more.
        drop((ours, asked));
        // Every task holds a sender; when the last is gone, so is what it has started.
        let all_gone = async { while news.recv().await.is_some() {} };
        let _ = tokio::time::timeout(Duration::from_secs(5), all_gone).await;
    }

    fn now_ms(&self) -> u64 {
        self.clock.now().0
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// When a worker next wants to be told the time.
    fn due(&self) -> Option<Instant> {
        // Whoever rests until the server is well is told when it was looked at: that does not take long.
        if self.known.is_err() && self.looking.is_some() {
            return None;
        }
        let due = self.sessions.values().filter_map(|session| session.worker.due()).min()?;
        let ahead = Duration::from_millis(due.saturating_sub(self.now_ms())).min(LONGEST_WAIT);
        Some(Instant::now() + ahead)
    }

    fn tick(&mut self) {
        // A server that was still loading may have loaded by now. What it has is known before it is asked again, so that the
        // question is made for its models.
        if self.known.is_err() && self.looked_at.is_none_or(|at| at.elapsed() > JUST_NOW) {
            return self.look();
        }
        let now = self.now_ms();
        let is_due = |session: &Session| session.worker.due().is_some_and(|due| due <= now);
        let due: Vec<String> = self.sessions.iter().filter(|(_, one)| is_due(one)).map(|(id, _)| id.clone()).collect();
        for id in due {
            self.hear(&id, Heard::Tick);
        }
    }

    /// One message of the client.
    fn line(&mut self, line: &Bytes) {
        let read = match self.reader.read(line) {
            Ok(read) => read,
            Err(refused) => return self.out.extend(refused.answer()),
        };
        match read.envelope {
            Envelope::Request { id, method, params } => match self.owed.accept(id) {
                Ok(debt) => self.request(debt, &method, params.unwrap_or("{}")),
                Err(refused) => self.out.extend(refused.answer()),
            },
            Envelope::Notification { method, params } => self.told(&method, params.unwrap_or("{}")),
            Envelope::Result { id, result } => {
                if let Ok(asked) = self.asked.take(id) {
                    let result = serde_json::from_str(result).unwrap_or_default();
                    let _ = asked.answer.send(Ok(result));
                }
            }
            Envelope::Error { id: Some(id), fault } => {
                if let Ok(asked) = self.asked.take(id) {
                    let _ = asked.answer.send(Err(refusal(&fault)));
                }
            }
            Envelope::Error { id: None, fault } => {
                tracing::warn!("the client could not read something: {}", fault.message)
            }
        }
    }

    fn request(&mut self, debt: Debt, method: &str, params: &str) {
        match method {
            "initialize" => self.initialize(debt, params),
            "authenticate" => self.answer(debt, &json!({})),
            "session/new" => self.new_session(debt, params),
            "session/load" => self.load_session(debt, params),
            "session/resume" => self.resume_session(debt, params),
            "session/list" => self.list_sessions(debt, params),
            "session/close" => self.close_session(debt, params),
            "session/prompt" => self.prompt(debt, params),
            "session/set_mode" => self.set_mode(debt, params),
            "session/set_config_option" => self.set_option(debt, params),
            other => self.refuse(debt, &Failure::unknown_method(other)),
        }
    }

    fn told(&mut self, method: &str, params: &str) {
        match method {
            "session/cancel" => self.cancel(params),
            switchboard_dialects::agent::acp::SETTINGS => self.set_settings(params),
            _ => tracing::debug!("the client tells of {method:?}, which means nothing here"),
        }
    }

    fn news(&mut self, news: News) {
        match news {
            News::Said { session, question, said } => self.said(&session, question, said),
            News::Note { session, question, text } => {
                let is_open = |one: &Session| one.question.as_ref().is_some_and(|(no, _)| *no == question);
                if self.sessions.get(&session).is_some_and(is_open) {
                    self.note(&session, &text);
                }
            }
            News::Deed { session, call, no, done } => self.deed_done(&session, &call, no, done),
            News::Ask { method, params, asked } => self.ask_client(method, &params, asked),
            News::CallBack { ticket } => {
                if let Some(id) = self.asked_by(ticket) {
                    let message = write::notification("$/cancel_request", &json!({"requestId": id}));
                    self.out.extend(message.ok());
                }
            }
            News::Forget { ticket } => {
                if let Some(id) = self.asked_by(ticket) {
                    self.asked.abandon(id);
                }
            }
            News::Show { session, update } => {
                if self.sessions.contains_key(&session) {
                    self.update(&session, update);
                }
            }
            News::Looked(known) => self.looked(known),
        }
    }

    fn ask_client(&mut self, method: &str, params: &Value, asked: Asked) {
        match self.asked.open(asked) {
            Ok(id) => match write::request(id, method, params) {
                Ok(message) => self.out.push(message),
                Err(unwritable) => {
                    if let Some(asked) = self.asked.abandon(id) {
                        let _ = asked.answer.send(Err(PeerError::Gone(unwritable.to_string())));
                    }
                }
            },
            Err(full) => {
                let why = PeerError::Gone(format!("the client does not answer: {} requests wait", full.max));
                let _ = full.refused.answer.send(Err(why));
            }
        }
    }

    fn asked_by(&self, ticket: u64) -> Option<OurId> {
        self.asked.iter().find(|(_, asked)| asked.ticket == ticket).map(|(id, _)| id)
    }

    fn peer(&self, session: &str) -> Peer {
        Peer { session: session.to_owned(), news: self.news.clone(), tickets: Arc::clone(&self.tickets) }
    }

    fn answer(&mut self, debt: Debt, result: &Value) {
        let message = self.owed.result(debt, result);
        self.out.push(message);
    }

    fn refuse(&mut self, debt: Debt, failure: &Failure) {
        let message = self.owed.error(debt, failure);
        self.out.push(message);
    }

    fn update(&mut self, session: &str, update: Value) {
        let told = json!({"sessionId": session, "update": update});
        self.out.extend(write::notification("session/update", &told).ok());
    }

    fn note(&mut self, session: &str, text: &str) {
        self.update(session, super::show::note(text, self.abilities.notices));
    }
}

/// Params as they should be; the error names what is wrong.
fn typed<T: serde::de::DeserializeOwned>(params: &str) -> Result<T, Failure> {
    let wrong = |error: serde_json::Error| invalid(format!("the params cannot be read: {error}"));
    serde_json::from_str(params).map_err(wrong)
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(codes::INVALID_PARAMS, message)
}

fn no_session(id: &str) -> Failure {
    let id: String = id.chars().take(64).collect();
    invalid(format!("there is no open session `{id}`; open one with session/new, or take it up with session/load"))
}

fn refusal(fault: &Fault<'_>) -> PeerError {
    let code = match fault.code {
        Code::Number(number) => number,
        Code::Word(_) | Code::Absent => codes::INTERNAL_ERROR,
    };
    let data = fault.data.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
    PeerError::Refused { code, message: fault.message.clone(), data }
}
