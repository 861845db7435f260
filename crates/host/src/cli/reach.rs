//! What a command asks: the running host, or, if none runs, the store itself. Never starts a host.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use switchboard_types::limits::MAX_AGENT_TITLE_CHARS;
use switchboard_types::{
    Body, Change, Commit, CommitDone, Entry, Found, HistoryPlace, PageBuilder, Rule, RuleId, SearchQuery, Seq,
    SessionId, Ticket, TitleBy, WorkspaceRoot,
};

use super::control::Control;
use super::exit::{Exit, Failure};
use crate::clock::Clock;
use crate::folder::{Folder, Lease, LeaseError, running_host};
use crate::history::{self, SessionEntry, SessionsPart, WorkspaceEntry};
use crate::library::{Library, LibraryError};
use crate::store::{Notes, Options, SqliteStore, Store, StoreError, Which};
use crate::wire::WireFolder;

/// How long a host that is just starting, or another command, may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// From look to look.
const BETWEEN: Duration = Duration::from_millis(50);

/// Who is asked.
pub(super) enum Reach {
    /// The host that runs.
    Host(Control),
    /// The store, which nobody else uses meanwhile.
    Store(Box<OpenStore>),
}

/// The store of a folder that no host has.
pub(super) struct OpenStore {
    store: Arc<SqliteStore>,
    folder: PathBuf,
    answers: Receiver<CommitDone>,
    wire: WireFolder,
    // Given back after the store is closed.
    _lease: Lease,
}

impl OpenStore {
    fn open(folder: &Folder, lease: Lease) -> Result<Self, Failure> {
        let (answer_to, answers) = sync_channel(1);
        let on_done = move |done| drop(answer_to.send(done));
        let (store, report) = SqliteStore::open(folder.path(), Options::default(), on_done).map_err(failed)?;
        for note in report.notes {
            tracing::warn!("{note}");
        }
        let (folder, wire) = (folder.path().to_owned(), WireFolder::within(folder.path()));
        Ok(Self { store: Arc::new(store), folder, answers, wire, _lease: lease })
    }

    fn change(&self, change: Change) -> Result<(), Failure> {
        self.commit(Commit { ticket: Ticket(1), entries: Vec::new(), changes: vec![change] })
    }

    fn commit(&self, commit: Commit) -> Result<(), Failure> {
        self.store.commit(commit);
        let done = self.answers.recv().map_err(|_| Failure::failed("the store ended without an answer"))?;
        let reasons = done.changes_failed.into_iter().chain(done.failed.into_iter().map(|(_, reason)| reason));
        reasons.into_iter().next().map_or(Ok(()), |reason| Err(Failure::failed(reason)))
    }

    /// Asks the library once all that is stored is in it.
    fn library<T>(&self, ask: impl FnOnce(&Library) -> Result<T, LibraryError>) -> Result<T, Failure> {
        let store: Weak<SqliteStore> = Arc::downgrade(&self.store);
        let asked = Library::start(&self.folder, store, Notes::default()).and_then(|library| {
            library.settle()?;
            ask(&library)
        });
        asked.map_err(|error| Failure::failed(error.to_string()))
    }

    /// The same event and the same row as a host would write.
    fn rename(&self, session: SessionId, title: &str) -> Result<(), Failure> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() || title.chars().count() > MAX_AGENT_TITLE_CHARS {
            return Err(Failure::failed(format!("a title has 1 to {MAX_AGENT_TITLE_CHARS} characters")));
        }
        let stored = self.store.sessions(Which::One(session)).map_err(failed)?.pop();
        let mut stored = stored.ok_or_else(|| no_session(session))?;
        let mut page = PageBuilder::new(stored.head.next());
        page.push(Clock::start().now(), None, &Body::TitleChanged { title: title.clone(), by: TitleBy::Person });
        stored.row.title = title;
        stored.row.keeps.titled = TitleBy::Person;
        let Some(page) = page.take() else { return Ok(()) };
        let entry = Entry { session, page: Arc::new(page), changes: vec![Change::Session(stored.row)] };
        self.commit(Commit { ticket: Ticket(1), entries: vec![entry], changes: Vec::new() })
    }
}

impl Reach {
    /// Finds the host, or opens the store. Waits a moment for a host that is just starting or stopping.
    pub(super) async fn find(folder: &Folder) -> Result<Self, Failure> {
        let began = Instant::now();
        loop {
            if let Some(running) = running_host(folder) {
                return Ok(Self::Host(Control::of(&running, folder.token()?)?));
            }
            match Lease::take(folder) {
                Ok(lease) => return Ok(Self::Store(Box::new(OpenStore::open(folder, lease)?))),
                Err(LeaseError::Held(held)) if began.elapsed() < PATIENCE => {
                    tracing::debug!(%held, "waiting for the data folder");
                    tokio::time::sleep(BETWEEN).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A part of the list of all sessions, the last used first.
    pub(super) async fn sessions(&self, before: Option<HistoryPlace>) -> Result<SessionsPart, Failure> {
        match self {
            Self::Host(control) => control.sessions(before).await,
            Self::Store(open) => history::sessions(open.store.as_ref(), before).map_err(failed),
        }
    }

    /// Adds what each session has used, where that was not done by the host.
    pub(super) fn add_usage(&self, part: &mut SessionsPart) -> Result<(), Failure> {
        match self {
            Self::Host(_) => Ok(()),
            Self::Store(open) => open.library(|library| {
                part.add_usage(library);
                Ok(())
            }),
        }
    }

    /// Finds what was said.
    pub(super) async fn search(&self, query: SearchQuery) -> Result<Found, Failure> {
        match self {
            Self::Host(control) => control.search(&query).await,
            Self::Store(open) => open.library(|library| library.search(open.store.as_ref(), &query)),
        }
    }

    /// Gives a session a title that stays.
    pub(super) async fn rename(&self, session: SessionId, title: &str) -> Result<(), Failure> {
        match self {
            Self::Host(control) => control.rename(session, title).await.map_err(|failure| named(failure, session)),
            Self::Store(open) => open.rename(session, title),
        }
    }

    /// One session.
    pub(super) async fn session(&self, session: SessionId) -> Result<SessionEntry, Failure> {
        match self {
            Self::Host(control) => control.session(session).await.map_err(|failure| named(failure, session)),
            Self::Store(open) => {
                history::session(open.store.as_ref(), session).map_err(failed)?.ok_or_else(|| no_session(session))
            }
        }
    }

    /// The next events of a log as lines of JSON; empty at the end.
    pub(super) async fn log(&self, session: SessionId, after: Seq) -> Result<Bytes, Failure> {
        match self {
            Self::Host(control) => control.log(session, after).await.map_err(|failure| named(failure, session)),
            Self::Store(open) => {
                let lines = history::log(open.store.as_ref(), session, after).map_err(failed)?;
                lines.map(Bytes::from).ok_or_else(|| no_session(session))
            }
        }
    }

    /// Deletes a session for good.
    pub(super) async fn delete(&self, session: SessionId) -> Result<(), Failure> {
        match self {
            Self::Host(control) => control.delete(session).await.map_err(|failure| named(failure, session)),
            Self::Store(open) => {
                history::session(open.store.as_ref(), session).map_err(failed)?.ok_or_else(|| no_session(session))?;
                open.change(Change::DeleteSession(session))?;
                let forgotten = open.wire.forget(session);
                forgotten.map_err(|error| Failure::failed(format!("its recorded wire is still there: {error}")))
            }
        }
    }

    /// All rules, the oldest first.
    pub(super) async fn rules(&self) -> Result<Vec<Rule>, Failure> {
        match self {
            Self::Host(control) => control.rules().await,
            Self::Store(open) => open.store.rules().map_err(failed),
        }
    }

    /// Takes a rule out; whether there was one.
    pub(super) async fn remove_rule(&self, rule: &RuleId) -> Result<bool, Failure> {
        match self {
            Self::Host(control) => control.remove_rule(rule).await,
            Self::Store(open) => {
                if !open.store.rules().map_err(failed)?.iter().any(|one| one.id == *rule) {
                    return Ok(false);
                }
                open.change(Change::DropRule(rule.clone())).map(|()| true)
            }
        }
    }

    /// Whether a person trusts a workspace.
    pub(super) async fn trusts(&self, root: &WorkspaceRoot) -> Result<bool, Failure> {
        let workspaces: Vec<WorkspaceEntry> = match self {
            Self::Host(control) => control.workspaces().await?,
            Self::Store(open) => history::workspaces(open.store.as_ref()).map_err(failed)?,
        };
        Ok(workspaces.iter().any(|one| one.root == root.as_str() && one.trusted_ms.is_some()))
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::failed(error.to_string())
}

/// What is said of an id that names nothing, by whomever.
pub(super) fn no_session(session: SessionId) -> Failure {
    Failure::not_found(format!("there is no session {session}; `switchboard sessions list` names those that there are"))
}

fn named(failure: Failure, session: SessionId) -> Failure {
    if failure.exit == Exit::NotFound { no_session(session) } else { failure }
}
