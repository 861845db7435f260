//! The greeting, and how sessions are opened, taken up again, listed and closed. A server that is not there keeps no session
//! from being opened: it may come later.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use agent_client_protocol_schema::v1::{
    CloseSessionRequest, InitializeRequest, ListSessionsRequest, LoadSessionRequest, NewSessionRequest,
    ResumeSessionRequest,
};
use serde_json::{Value, json};
use switchboard_agent::worker::{Heard, Kept, Mode, Setup, Worker};
use switchboard_dialects::jsonrpc::{Debt, Failure, codes};

use super::{Desk, Held, MAX_SESSIONS, invalid, no_session, typed};
use crate::agent::deeds::Abilities;
use crate::agent::place::Place;
use crate::agent::session::Session;
use crate::agent::shelf::{Book, Header, ShelfError};
use crate::agent::start::WithInstructions;
use crate::agent::{instructions, replay, show};

/// Sessions in one page of the list.
const PAGE: usize = 50;
/// The code for a session that is not there.
const NOT_FOUND: i64 = -32002;
/// Who needs not be asked before each deed: it asks by itself.
const OUR_HOST: &str = "switchboard";

/// A session that is to be opened.
pub(super) struct Opening {
    pub(super) cwd: PathBuf,
    pub(super) how: How,
    /// Whether the client wants servers of tools used, which are not.
    pub(super) wants_mcp: bool,
}

/// In which way.
pub(super) enum How {
    New,
    /// As it was; told again or not.
    Kept {
        id: String,
        telling: Telling,
    },
}

/// Whether what was said is told again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    Again,
    Not,
}

impl Desk {
    pub(super) fn initialize(&mut self, debt: Debt, params: &str) {
        let request: InitializeRequest = match typed(params) {
            Ok(request) => request,
            Err(failure) => return self.refuse(debt, &failure),
        };
        let capabilities = &request.client_capabilities;
        let marked = capabilities
            .meta
            .as_ref()
            .is_some_and(|meta| meta.get("switchboard").is_some_and(|own| own["gate"] == true));
        let is_our_host = request.client_info.as_ref().is_some_and(|client| client.name == OUR_HOST);
        self.abilities = Abilities {
            reads: capabilities.fs.read_text_file,
            writes: capabilities.fs.write_text_file,
            runs: capabilities.terminal,
            notices: capabilities.session.as_ref().is_some_and(|session| session.notices.is_some()),
            gate: marked || is_our_host,
        };
        let about = json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
                "mcpCapabilities": {"http": false, "sse": false},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
            },
            "agentInfo": {
                "name": "switchboard-agent", "title": "Switchboard's built-in agent", "version": env!("CARGO_PKG_VERSION"),
            },
            "authMethods": [],
        });
        self.answer(debt, &about);
    }

    pub(super) fn new_session(&mut self, debt: Debt, params: &str) {
        let opening = typed::<NewSessionRequest>(params).map(|request| Opening {
            cwd: request.cwd,
            how: How::New,
            wants_mcp: !request.mcp_servers.is_empty(),
        });
        self.open_when_known(debt, opening);
    }

    pub(super) fn load_session(&mut self, debt: Debt, params: &str) {
        let opening = typed::<LoadSessionRequest>(params).map(|request| Opening {
            cwd: request.cwd,
            how: How::Kept { id: request.session_id.to_string(), telling: Telling::Again },
            wants_mcp: !request.mcp_servers.is_empty(),
        });
        self.open_when_known(debt, opening);
    }

    pub(super) fn resume_session(&mut self, debt: Debt, params: &str) {
        let opening = typed::<ResumeSessionRequest>(params).map(|request| Opening {
            cwd: request.cwd,
            how: How::Kept { id: request.session_id.to_string(), telling: Telling::Not },
            wants_mcp: !request.mcp_servers.is_empty(),
        });
        self.open_when_known(debt, opening);
    }

    /// The first look at the server is under way from the start; with it the list of models is whole at once.
    fn open_when_known(&mut self, debt: Debt, opening: Result<Opening, Failure>) {
        match opening {
            Ok(opening) if self.looking.is_some() => self.held.push(Held::Opening(debt, Box::new(opening))),
            Ok(opening) => self.open(debt, opening),
            Err(failure) => self.refuse(debt, &failure),
        }
    }

    pub(super) fn open(&mut self, debt: Debt, opening: Opening) {
        let wants_mcp = opening.wants_mcp;
        match self.try_to_open(opening) {
            Ok((id, mut result, telling)) => {
                if telling == Telling::Again {
                    self.tell_again(&id);
                }
                let Some(session) = self.sessions.get(&id) else { return };
                result["modes"] = show::modes(session.mode());
                result["configOptions"] = show::options(&self.model_of(session), self.known.as_deref().ok());
                self.answer(debt, &result);
                self.update(&id, show::slash_commands());
                if wants_mcp {
                    self.note(&id, "this agent uses no MCP servers; those that the client named are left out");
                }
                if let Err(trouble) = &self.known {
                    let message = trouble.message.clone();
                    self.note(&id, &message);
                }
            }
            Err(failure) => self.refuse(debt, &failure),
        }
    }

    fn try_to_open(&mut self, opening: Opening) -> Result<(String, Value, Telling), Failure> {
        let Opening { cwd, how, .. } = opening;
        if let How::Kept { id, telling } = &how
            && self.sessions.contains_key(id)
        {
            return Ok((id.clone(), json!({}), *telling));
        }
        if self.sessions.len() >= MAX_SESSIONS {
            return Err(invalid(format!("{MAX_SESSIONS} sessions are open; close one first")));
        }
        let place = Place::open(&cwd, &self.options.own).map_err(invalid)?;
        match how {
            How::New => {
                let header = Header {
                    cwd: cwd.to_string_lossy().into_owned(),
                    created_ms: self.now_ms(),
                    mode: show::id_of(Mode::default()).to_owned(),
                    model: None,
                    title: None,
                };
                let (id, book) = self.shelf.begin(header).map_err(|error| unkept(&error))?;
                self.add(&id, place, book, Vec::new());
                let result = json!({"sessionId": id});
                Ok((id, result, Telling::Not))
            }
            How::Kept { id, telling } => {
                let taken = self.shelf.take_up(&id).map_err(|error| unkept(&error))?;
                self.add(&id, place, taken.book, taken.kept);
                Ok((id, json!({}), telling))
            }
        }
    }

    fn add(&mut self, id: &str, place: Place, book: Book, kept: Vec<Kept>) {
        let mode = show::mode_of(&book.header().mode).unwrap_or_default();
        let found = match self.options.instructions {
            WithInstructions::Yes => instructions::read(&place),
            WithInstructions::No => Vec::new(),
        };
        let chosen = book.header().model.clone();
        let setup = Setup {
            facts: self.facts(self.model_for(chosen.as_deref(), mode)),
            mode,
            root: place.given.to_string_lossy().into_owned(),
            instructions: found,
            limits: self.settings.limits(),
            temperature: self.settings.temperature(),
            kept,
        };
        let session = Session::new(Arc::new(place), Worker::new(setup), book);
        self.sessions.insert(id.to_owned(), session);
    }

    fn tell_again(&mut self, id: &str) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let updates = replay::updates(session.worker.messages(), session.worker.plan(), &mut session.named);
        let title = session.book.header().title.clone();
        for update in updates {
            self.update(id, update);
        }
        if let Some(title) = title {
            self.update(id, show::title(&title, SystemTime::now()));
        }
    }

    pub(super) fn list_sessions(&mut self, debt: Debt, params: &str) {
        let request: ListSessionsRequest = match typed(params) {
            Ok(request) => request,
            Err(failure) => return self.refuse(debt, &failure),
        };
        let from = match request.cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(from)) => from,
            Some(Err(_)) => return self.refuse(debt, &invalid("`cursor` must be one that an earlier list gave")),
        };
        let cwd = request.cwd.as_deref().map(Path::to_string_lossy);
        let all = self.shelf.list(cwd.as_deref());
        let entry = |one: &crate::agent::shelf::Listed| {
            json!({
                "sessionId": one.id, "cwd": one.header.cwd, "title": one.header.title,
                "updatedAt": show::date(one.updated),
            })
        };
        let page: Vec<_> = all.iter().skip(from).take(PAGE).map(entry).collect();
        let mut result = json!({"sessions": page});
        if all.len() > from.saturating_add(PAGE) {
            result["nextCursor"] = (from + PAGE).to_string().into();
        }
        self.answer(debt, &result);
    }

    pub(super) fn close_session(&mut self, debt: Debt, params: &str) {
        let id = match typed::<CloseSessionRequest>(params) {
            Ok(request) => request.session_id.to_string(),
            Err(failure) => return self.refuse(debt, &failure),
        };
        if !self.sessions.contains_key(&id) {
            return self.refuse(debt, &no_session(&id));
        }
        self.drop_held(&id);
        self.hear(&id, Heard::Cancel);
        if let Some(mut session) = self.sessions.remove(&id) {
            session.book.close();
            for waiting in std::mem::take(&mut session.prompts) {
                self.answer(waiting.debt, &json!({"stopReason": "cancelled"}));
            }
        }
        self.answer(debt, &json!({}));
    }
}

fn unkept(error: &ShelfError) -> Failure {
    match error {
        ShelfError::NotThere(_) | ShelfError::Damaged(_) => Failure::new(NOT_FOUND, error.to_string()),
        ShelfError::Taken(_) => invalid(error.to_string()),
        ShelfError::Io { .. } => Failure::new(codes::INTERNAL_ERROR, error.to_string()),
    }
}
