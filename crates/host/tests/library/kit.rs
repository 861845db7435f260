//! A store and its library in a folder of their own, and logs that tests write through the store. Never reaches around either.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use switchboard_host::library::Library;
use switchboard_host::store::{Notes, Options, SqliteStore, Store};
use switchboard_types::{
    Body, Change, Commit, CommitDone, Entry, Epoch, Found, Outcome, PageBuilder, Prompt, Role, SearchQuery, Seq,
    SessionId, SessionKeeps, SessionRow, Ticket, Time, TurnId,
};

/// A store, and perhaps its library.
pub(crate) struct Shelves {
    pub(crate) library: Option<Library>,
    pub(crate) store: Arc<SqliteStore>,
    done: Mutex<Receiver<CommitDone>>,
    notes: Notes,
}

impl Shelves {
    pub(crate) fn open(folder: &Path) -> Self {
        let mut shelves = Self::without_library(folder);
        shelves.begin_library(folder);
        shelves
    }

    pub(crate) fn without_library(folder: &Path) -> Self {
        let (sender, done) = channel();
        let notes = Notes::default();
        let options = Options { notes: notes.clone(), ..Options::default() };
        let (store, _) = SqliteStore::open(folder, options, move |done| drop(sender.send(done))).unwrap();
        Self { library: None, store: Arc::new(store), done: Mutex::new(done), notes }
    }

    pub(crate) fn begin_library(&mut self, folder: &Path) {
        let store: Weak<SqliteStore> = Arc::downgrade(&self.store);
        self.library = Some(Library::start(folder, store, self.notes.clone()).unwrap());
    }

    pub(crate) fn library(&self) -> &Library {
        self.library.as_ref().unwrap()
    }

    /// Writes events of a session; its row comes with the first. Every event is a second after the one before.
    pub(crate) fn write(&self, session: u64, turn: u32, bodies: &[Body]) {
        let head = self.store.sessions(switchboard_host::store::Which::One(SessionId(session))).unwrap();
        let head = head.first().map_or(Seq::START, |stored| stored.head);
        let mut page = PageBuilder::new(head.next());
        for (at, body) in bodies.iter().enumerate() {
            let time = Time(1_700_000_000_000 + session * 1_000_000 + (head.0 + at as u64) * 1000);
            page.push(time, (turn > 0).then_some(TurnId(turn)), body);
        }
        let changes = if head == Seq::START { vec![Change::Session(row(session))] } else { Vec::new() };
        let entry = Entry { session: SessionId(session), page: Arc::new(page.take().unwrap()), changes };
        self.commit(Commit { ticket: Ticket(1), entries: vec![entry], changes: Vec::new() });
    }

    pub(crate) fn delete(&self, session: u64) {
        let changes = vec![Change::DeleteSession(SessionId(session))];
        self.commit(Commit { ticket: Ticket(2), entries: Vec::new(), changes });
    }

    pub(crate) fn commit(&self, commit: Commit) {
        let ticket = commit.ticket;
        self.store.commit(commit);
        let done = self.done.lock().unwrap().recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(done, CommitDone { ticket, failed: Vec::new(), changes_failed: None });
    }

    pub(crate) fn search(&self, query: &SearchQuery) -> Found {
        self.library().search(self.store.as_ref(), query).unwrap()
    }

    /// Where something is found, as session and event.
    pub(crate) fn find(&self, text: &str) -> Vec<(u64, u64)> {
        places(&self.search(&SearchQuery { text: text.to_owned(), ..SearchQuery::default() }))
    }

    /// The same once all that is committed was taken in.
    pub(crate) fn settled(&self, text: &str) -> Vec<(u64, u64)> {
        self.library().settle().unwrap();
        self.find(text)
    }

    /// Ends the library, then the store.
    pub(crate) fn close(self) {
        drop(self.library);
        Arc::into_inner(self.store).unwrap().close().unwrap();
    }
}

pub(crate) fn places(found: &Found) -> Vec<(u64, u64)> {
    let of = |one: &switchboard_types::FoundSession| {
        let session = one.session.0;
        one.messages.iter().map(move |message| (session, message.seq.0)).collect::<Vec<_>>()
    };
    found.sessions.iter().flat_map(of).collect()
}

pub(crate) fn row(session: u64) -> SessionRow {
    SessionRow {
        session: SessionId(session),
        epoch: Epoch(700 + session),
        workspace: if session.is_multiple_of(2) { "/even".into() } else { "/odd".into() },
        agent: if session < 3 { "first".into() } else { "other".into() },
        title: format!("title {session}"),
        tab: None,
        agent_session: None,
        keeps: SessionKeeps::default(),
        created: Time(1),
        updated: Time(session),
    }
}

pub(crate) fn prompt(text: &str) -> Body {
    let prompt = Prompt { text: text.to_owned(), context: Vec::new() };
    Body::PromptQueued { name: "m".into(), prompt, position: 0 }
}

pub(crate) fn text(text: &str) -> Body {
    Body::Text { text: text.into() }
}

pub(crate) fn ended() -> Body {
    Body::TurnEnded { outcome: Outcome::Completed, detail: None }
}

/// A turn with one question and one answer.
pub(crate) fn talk(question: &str, answer: &str) -> Vec<Body> {
    vec![prompt(question), Body::TurnStarted {}, text(answer), ended()]
}

/// Every row of the file, but for the ids: they are of the time, and of who came first in a moment.
pub(crate) fn rows(folder: &Path) -> Vec<(i64, i64, i64, i64, i64, String, String)> {
    let conn =
        rusqlite::Connection::open_with_flags(folder.join("library.db"), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap();
    let mut find = conn
        .prepare("SELECT session, seq, turn, role, at, paths, text FROM message ORDER BY session, seq, id")
        .unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
    };
    find.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// What was said, with whose words.
pub(crate) fn said(folder: &Path, session: u64) -> Vec<(u64, Role, String)> {
    let role = |number| [Role::User, Role::Assistant, Role::Thought, Role::Tool][usize::try_from(number).unwrap()];
    let of = rows(folder).into_iter().filter(|row| row.0 == session as i64);
    of.map(|(_, seq, _, number, _, _, text)| (seq as u64, role(number), text)).collect()
}

/// Whether a file has these bytes anywhere.
pub(crate) fn holds(file: &Path, needle: &str) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}
