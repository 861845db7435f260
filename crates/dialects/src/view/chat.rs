//! The dialect `chat`: a view with one current session, whose answers come as whole texts that replace each other. Owns its
//! names and shapes, the text of the running answer and which session a link is at; never keeps more of a conversation.
//!
//! | module | owns |
//! | --- | --- |
//! | `asked`, `said`, `shape` | the shapes of both directions, and their schemas |
//! | `read` | messages into those shapes |
//! | `open` | what was asked of the host and has no answer yet |
//! | `fold` | a session's events into what a person should see of them |
//! | `text`, `actions`, `questions` | the running text, the tool calls, the questions |
//! | `history` | the messages of a session for the frame that loads it |
//! | `streaming` | the same live: throttled texts, thinking, groups |
//! | `sessions` | which session is the current one, and its seat |
//! | `answers` | prompts and stops, and the host's answers to all that was asked |
//! | `known`, `lists` | the other sessions, and the list in pages |
//! | `deleting` | sessions that go, one or many |
//! | `approvals` | answers, switches, patterns, modes and models |
//! | `editor` | what a view that lends an editor is asked for |
//! | `settings`, `chores` | settings, the token, tests, search and upkeep |

mod actions;
mod answers;
mod approvals;
mod asked;
mod chores;
mod deleting;
mod editor;
mod fold;
mod history;
mod known;
mod lists;
mod open;
mod patterns;
mod questions;
mod read;
mod said;
mod sessions;
mod settings;
mod shape;
mod streaming;
mod text;

use std::collections::VecDeque;
use std::sync::Arc;

use switchboard_types::{
    Command, LinkId, Prompt, Reject, RejectCode, RequestNo, SessionId, SettingsState, Time, Told, TurnName,
};

use self::asked::{ModeWord, ToHost};
use self::deleting::Deleting;
use self::known::Known;
use self::lists::Lists;
use self::open::{Kind, Requests};
use self::said::ToView;
use self::sessions::{Choosing, Greeting, Seat};
use self::shape::{ModelShape, SettingsShape};
use super::{Sharing, ViewDialect};

pub use self::history::MAX_LOAD_BYTES;
pub use self::said::schema;
pub use self::streaming::{MAX_STREAM_BYTES_PER_SECOND, MIN_CHUNK_MS};

/// What is said of a token that cannot be read; nothing of the message is repeated.
const NO_TOKEN: &str = "the token was not saved: send {\"type\": \"saveBearerToken\", \"token\": string, \
                        \"testAfterSave\"?: boolean, \"baseUrl\"?: string}";

/// The dialect `chat` with the state of one link.
#[derive(Debug, Default)]
pub struct Chat {
    link: LinkId,
    /// Turns and choices that were named.
    named: u64,
    requests: Requests,
    /// The request that the last message became, until the next one is read.
    last: Option<RequestNo>,
    known: Known,
    lists: Lists,
    settings: Option<Arc<SettingsState>>,
    told_settings: Option<(SettingsShape, bool)>,
    told_choices: Option<(Vec<ModelShape>, ModeWord)>,
    /// A `ready` that has no answer yet.
    greeting: Option<Greeting>,
    is_greeted: bool,
    /// Whether the view wants to be asked before several sessions go.
    confirms: bool,
    seat: Option<Seat>,
    choosing: Option<Choosing>,
    /// Prompts for the session that is being chosen.
    held: Vec<Prompt>,
    deleting: Deleting,
    /// What goes out next.
    said: Vec<Vec<u8>>,
    /// What the dialect itself asks of the host.
    asks: VecDeque<Command>,
}

impl Chat {
    /// For a link that has just opened.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn take(&mut self, now: Time, frame: &[u8]) -> Result<Command, Reject> {
        let asked = read::message(frame)?;
        if self.requests.is_full() {
            let message = "too many of your messages are not answered yet; wait for some of them";
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        match asked {
            ToHost::Ready { session_id, confirms } => {
                self.confirms = confirms.unwrap_or_default();
                Ok(self.ready(session_id.as_deref().and_then(read::session_id)))
            }
            ToHost::SendMessage { text, context } => self.send_message(now, text, context.unwrap_or_default()),
            ToHost::StopGeneration { session_id } => self.stop(session_of(&session_id)?),
            ToHost::SelectMode { mode } => self.select_mode(mode),
            ToHost::SelectModel { model } => self.select_model(model),
            ToHost::NewChat {} => Ok(self.fresh()),
            ToHost::AddContext {} => self.add_context(),
            ToHost::LoadSession { session_id } => Ok(self.load(session_of(&session_id)?)),
            ToHost::DeleteSession { session_id } => Ok(self.delete(session_of(&session_id)?)),
            ToHost::DeleteMultipleSessions { session_ids, confirmed } => self.delete_many(session_ids, confirmed),
            ToHost::ConfirmDeletion { confirmed } => self.confirm_deletion(confirmed),
            ToHost::SearchSessions { query } => Ok(self.search(query)),
            ToHost::SaveSettings { settings } => self.save_settings(*settings),
            ToHost::TestConnection { base_url } => Ok(self.test_server(base_url)),
            ToHost::SaveBearerToken { token, test_after_save, base_url } => {
                Ok(self.save_token(token, base_url, test_after_save.unwrap_or_default()))
            }
            ToHost::LoadMoreSessions { offset } => Ok(self.load_more(offset)),
            ToHost::RunDbMaintenance {} => Ok(self.upkeep()),
            ToHost::RecreateMessagesTable {} => Ok(self.rebuild()),
            ToHost::ToolApprovalResponse { approval_id, approved, command } => {
                self.respond(&approval_id, approved, command)
            }
            ToHost::SetAutoApprove { session_id, enabled } => Ok(self.auto_commands(session_of(&session_id)?, enabled)),
            ToHost::SetAutoApproveSensitiveEdits { session_id, enabled } => {
                Ok(self.auto_edits(session_of(&session_id)?, enabled))
            }
            ToHost::UpdateSessionSensitivePatterns { session_id, patterns } => {
                self.set_patterns(session_of(&session_id)?, patterns.as_deref())
            }
            ToHost::OpenFileDiff { approval_id } => self.open_diff(&approval_id),
        }
    }

    /// Asks the host, and remembers how its answer is to be said.
    fn ask(&mut self, kind: Kind, command: impl FnOnce(RequestNo) -> Command) -> Command {
        command(self.requests.open(kind))
    }

    /// Nothing is asked of the host; what is said goes out at once.
    fn nothing() -> Command {
        Command::Ping { number: 0 }
    }

    fn fresh_name(&mut self, now: Time) -> TurnName {
        self.named += 1;
        // No other link has this number while the host runs, and no other run of the host this time.
        TurnName::new(format!("chat-{}-{}-{}", now.0, self.link, self.named))
    }

    /// The current session.
    fn current(&self) -> Option<SessionId> {
        self.seat.as_ref().map(|seat| seat.session)
    }

    fn must_have_current(&self) -> Result<SessionId, Reject> {
        let message = "there is no current session; say `ready` first, or load one";
        self.current().ok_or_else(|| Reject::new(RejectCode::Conflict, message))
    }

    fn say(&mut self, shape: &ToView) {
        // Maps with string keys always have a JSON text.
        if let Ok(json) = serde_json::to_vec(shape) {
            self.said.push(json);
        }
    }

    /// Says what went wrong, in the current session if there is one.
    fn say_wrong(&mut self, message: impl Into<String>) {
        self.say_wrong_in(self.current(), message);
    }

    fn say_wrong_in(&mut self, session: Option<SessionId>, message: impl Into<String>) {
        let message = message.into();
        let shape = match session {
            Some(session) => ToView::ShowError { message, session_id: session.to_string() },
            None => ToView::ConnectionError { error: message },
        };
        self.say(&shape);
    }

    fn flush(&mut self, message: &mut dyn FnMut(&[u8])) {
        self.said.drain(..).for_each(|json| message(&json));
    }

    /// Takes what the host tells.
    fn hear(&mut self, now: Time, told: &Told) {
        match told {
            Told::Answer { request, result } => match result {
                Ok(answer) => self.answered(now, *request, answer),
                Err(reject) => self.failed(now, *request, reject),
            },
            Told::Answered { request, result } => self.decided(*request, result.as_ref()),
            Told::ToolsCalled { request, outcomes } => self.called(*request, outcomes.as_deref()),
            Told::ChoreDone { request, result } => self.chore_done(*request, result.as_deref()),
            Told::Settings(settings) => self.settings_told(settings),
            Told::Events { tab, page, epoch, .. } => self.events(now, tab, page, *epoch),
            Told::Gap { tab, to, .. } => self.gap(now, tab, *to),
            Told::Reset { tab } => self.reset(tab),
            Told::Overview { home, workspaces, sessions } => {
                self.known.overview(home.as_ref(), workspaces);
                sessions.iter().for_each(|session| self.known.note(session));
                self.go_on_greeting();
            }
            Told::Session(summary) => self.session_changed(now, summary),
            Told::SessionGone { session } => self.session_gone(*session),
            Told::Workspace(workspace) => self.known.workspace(workspace),
            Told::Refused(reject) => self.refused(reject),
            // Nothing that this dialect asks for, or nothing to say.
            Told::Tabs { .. }
            | Told::History { .. }
            | Told::Pong { .. }
            | Told::Tools { .. }
            | Told::CallCancelled { .. }
            | Told::Calls { .. }
            | Told::Lent { .. }
            | Told::LentCall { .. }
            | Told::ApprovalsWatched { .. }
            | Told::ApprovalOpen { .. }
            | Told::Rules { .. }
            | Told::ChoreNews { .. }
            | Told::Containment(_) => {}
        }
    }

    fn refused(&mut self, reject: &Reject) {
        // What is said of a tab that is gone is said of its session, too.
        let of_seat = |seat: &Seat| reject.tab.as_ref().is_none_or(|tab| *tab == seat.tab);
        if reject.code != RejectCode::UnknownTab && self.seat.as_ref().is_none_or(of_seat) {
            self.say_wrong(reject.message.clone());
        }
    }
}

fn session_of(text: &str) -> Result<SessionId, Reject> {
    let none = || Reject::new(RejectCode::NotFound, format!("there is no session {}", crate::json::shown(text)));
    read::session_id(text).ok_or_else(none)
}

impl ViewDialect for Chat {
    fn begin(&mut self, link: LinkId) -> Option<Command> {
        self.link = link;
        Some(Command::Watch { seen: Vec::new() })
    }

    fn read(&mut self, now: Time, frame: &[u8]) -> Result<Command, Reject> {
        self.last = None;
        match self.take(now, frame) {
            Err(_) if read::may_hold_token(frame) => {
                // A refused message is recorded where the wire is; this one must not be.
                self.say_wrong(NO_TOKEN);
                Ok(Command::WatchSettings {})
            }
            Ok(command) => {
                self.last = open::request_of(&command);
                Ok(command)
            }
            Err(reject) => Err(reject),
        }
    }

    fn write(&mut self, now: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        self.rewind(now);
        self.hear(now, told);
        self.stream_due(now);
        self.flush(message);
    }

    fn refuse(&mut self, now: Time, reject: &Reject, message: &mut dyn FnMut(&[u8])) {
        match self.last.take() {
            Some(request) => self.failed(now, request, reject),
            None => self.say_wrong(reject.message.clone()),
        }
        self.flush(message);
    }

    fn due(&self) -> Option<Time> {
        let at_once = (!self.said.is_empty()).then_some(Time(0));
        [at_once, self.streams_at(), self.refreshes_at()].into_iter().flatten().min()
    }

    fn tick(&mut self, now: Time, message: &mut dyn FnMut(&[u8])) {
        self.rewind(now);
        self.stream_due(now);
        self.refresh_due(now);
        self.flush(message);
    }

    fn asks(&mut self) -> Option<Command> {
        self.asks.pop_front()
    }

    fn sharing(&self) -> Sharing {
        Sharing::Nothing
    }
}
