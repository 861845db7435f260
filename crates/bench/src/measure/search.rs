//! Search among many messages: the library by itself, beside a plain FTS5 table in the same process and beside tantivy and
//! LanceDB where they install. All have the same messages and are asked the same; whoever finds something else is told of.

mod peers;
mod plain;
mod said;

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use switchboard_host::library::derived::{Item, Message};
use switchboard_host::library::{Derived, Library, Shelf};
use switchboard_host::store::{MemoryStore, Notes, Options, SqliteStore, Store as _};
use switchboard_types::{
    Change, Commit, Epoch, Role, SearchOrder, SearchQuery, Seq, SessionId, SessionKeeps, SessionRow, Ticket, Time,
    TurnId,
};

use self::peers::{Engine, Peer};
use self::plain::Plain;
use self::said::Question;
use super::{Bench, Findings, progress};
use crate::row::{Against, Bound, Row, Unit};
use crate::stats::percentile;

/// Messages of one session.
const OF_A_SESSION: u64 = 1_000;
/// Messages that are written together.
const TOGETHER: usize = 500;
/// Messages of one answer.
const LIMIT: usize = 20;
/// From message to message, in milliseconds.
const APART_MS: u64 = 3_000;
/// The session to which messages are added one by one.
const ADDED_TO: SessionId = SessionId(1_000_000);

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let sizes: &[u64] = bench.extent.pick(&[5_000], &[100_000, 1_000_000]);
    let mut found = Findings::default();
    for &messages in sizes {
        let folder = bench.places.data.join(format!("search-{messages}"));
        std::fs::create_dir_all(&folder)?;
        Size { bench, messages }.measure(&folder, &mut found)?;
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(found)
}

/// One figure of everybody.
#[derive(Default)]
struct Numbers {
    ours: Vec<f64>,
    limit: Vec<f64>,
    tantivy: Vec<f64>,
    lance: Vec<f64>,
}

impl Numbers {
    fn of(&mut self, peer: Peer) -> &mut Vec<f64> {
        match peer {
            Peer::Tantivy => &mut self.tantivy,
            Peer::LanceDb => &mut self.lance,
        }
    }

    /// A row beside one peer, and another beside the other one if that was measured.
    fn rows(mut self, row: Row, first: Peer) -> Vec<Row> {
        let mut rows = Vec::new();
        let name = row.name.clone();
        let mut row = row.beside(first.name());
        row.peer = std::mem::take(self.of(first));
        (row.ours, row.limit) = (self.ours.clone(), std::mem::take(&mut self.limit));
        let unit = row.unit;
        rows.push(row);
        for other in Peer::ALL.into_iter().filter(|other| *other != first) {
            let numbers = std::mem::take(self.of(other));
            if !numbers.is_empty() {
                let mut row = Row::new(format!("{name}, beside {}", other.name()), unit).beside(other.name());
                (row.ours, row.peer) = (self.ours.clone(), numbers);
                rows.push(row);
            }
        }
        rows
    }
}

/// So many messages.
struct Size<'a> {
    bench: &'a Bench,
    messages: u64,
}

impl Size<'_> {
    fn measure(&self, folder: &Path, found: &mut Findings) -> Result<()> {
        let messages = self.messages;
        let (said, asked) = (folder.join("messages.txt"), folder.join("questions.jsonl"));
        said::write_messages(&said, messages)?;
        let questions = said::questions(messages);
        said::write_questions(&asked, &questions)?;
        let (mut rate, mut size) = (Numbers::default(), Numbers::default());
        progress(&format!("indexing {messages} messages"));
        let began = Instant::now();
        let shelf = fill(folder, messages, &said)?;
        rate.ours.push(messages as f64 / began.elapsed().as_secs_f64());
        shelf.checkpoint()?;
        size.ours.push(shelf.bytes() as f64);
        progress("indexing them with plain FTS5");
        let began = Instant::now();
        let plain = Plain::fill(&folder.join("plain.db"), said::read_messages(&said)?)?;
        rate.limit.push(messages as f64 / began.elapsed().as_secs_f64());
        size.limit.push(std::fs::metadata(folder.join("plain.db"))?.len() as f64);
        let mut engines = Vec::new();
        for peer in Peer::ALL {
            progress(&format!("indexing them with {}", peer.name()));
            match Engine::start(peer, &self.bench.places, &folder.join(peer.name()), &said, &asked) {
                Ok(engine) => {
                    rate.of(peer).push(messages as f64 / engine.indexed.seconds);
                    size.of(peer).push(engine.indexed.bytes);
                    engines.push(engine);
                }
                Err(error) => found.notes.push(format!("{} among {messages} messages: {error:#}", peer.name())),
            }
        }
        found.rows.extend(rate.rows(Row::new(self.named("indexed"), Unit::PerSecond), Peer::Tantivy));
        let of_all = Row::new(self.named("size of the index and the messages"), Unit::Bytes);
        found.rows.extend(size.rows(of_all, Peer::Tantivy));
        let ours = Ours::open(folder, messages, shelf)?;
        let mut all = Everybody { ours, plain, engines };
        for order in [SearchOrder::Newest, SearchOrder::Ranked] {
            found.rows.extend(self.ask(&mut all, &questions, order)?);
        }
        found.rows.extend(self.type_words(&all.ours)?);
        found.rows.extend(self.add(&mut all)?);
        Ok(())
    }

    fn named(&self, what: &str) -> String {
        format!("search, {} k messages, {what}", self.messages / 1000)
    }

    /// All questions, as many rounds as are wanted.
    fn ask(&self, all: &mut Everybody, questions: &[Question], order: SearchOrder) -> Result<Vec<Row>> {
        let word = word_of(order);
        let (mut middle, mut tail) = (Numbers::default(), Numbers::default());
        for round in 0..self.bench.rounds {
            progress(&format!("{word} among {}, round {}", self.messages, round + 1));
            let (mut ours, mut limit) = (Answers::default(), Answers::default());
            for question in questions.iter().map(Question::text) {
                ours.take(|| all.ours.ask(&question, order))?;
                limit.take(|| all.plain.ask(&question, order))?;
            }
            for (numbers, share) in [(&mut middle, 0.5), (&mut tail, 0.99)] {
                numbers.ours.extend(percentile(&ours.micros, share));
                numbers.limit.extend(percentile(&limit.micros, share));
            }
            compare(questions, order, &ours.found, &limit.found, "plain FTS5")?;
            for engine in &mut all.engines {
                let theirs = engine.ask(order, &self.bench.places)?;
                for (numbers, share) in [(&mut middle, 0.5), (&mut tail, 0.99)] {
                    numbers.of(engine.peer).extend(percentile(&theirs.micros, share));
                }
                // LanceDB knows one order only.
                let comparable = if engine.peer == Peer::LanceDb { SearchOrder::Ranked } else { order };
                compare(questions, comparable, &ours.found, &theirs.found, engine.peer.name())?;
            }
        }
        let first = if order == SearchOrder::Newest { Peer::LanceDb } else { Peer::Tantivy };
        let row =
            |share| with_goals(Row::new(self.named(&format!("{word}, {share}")), Unit::Micros), self, order, share);
        Ok([middle.rows(row("p50"), first), tail.rows(row("p99"), first)].concat())
    }

    fn type_words(&self, ours: &Ours) -> Result<Vec<Row>> {
        let mut rows =
            ["p50", "p99"].map(|share| Row::new(self.named(&format!("while a word is typed, {share}")), Unit::Micros));
        for _ in 0..self.bench.rounds {
            let mut typed = Answers::default();
            for beginning in said::beginnings() {
                typed.take(|| ours.ask(&beginning, SearchOrder::Newest))?;
            }
            for (row, share) in rows.iter_mut().zip([0.5, 0.99]) {
                row.ours.extend(percentile(&typed.micros, share));
            }
        }
        Ok(rows.into())
    }

    /// One message more, until it is found.
    fn add(&self, all: &mut Everybody) -> Result<Vec<Row>> {
        let (mut single, many) = (Numbers::default(), self.bench.extent.pick(5, 100));
        progress("adding messages one by one");
        for more in 0..many {
            let (word, number) = (format!("single{more}"), self.messages + more);
            let text = format!("one more message with the word {word}");
            let began = Instant::now();
            all.ours.add(more, self.messages, &text, &word)?;
            single.ours.push(began.elapsed().as_secs_f64() * 1e6);
            let began = Instant::now();
            all.plain.add(number, &text, &word)?;
            single.limit.push(began.elapsed().as_secs_f64() * 1e6);
        }
        for engine in &mut all.engines {
            *single.of(engine.peer) = engine.add(many, &self.bench.places)?.micros;
        }
        Ok(single.rows(Row::new(self.named("one more message until it is found"), Unit::Micros), Peer::Tantivy))
    }
}

fn word_of(order: SearchOrder) -> &'static str {
    match order {
        SearchOrder::Newest => "newest first",
        SearchOrder::Ranked => "ranked",
    }
}

fn with_goals(row: Row, size: &Size<'_>, order: SearchOrder, share: &str) -> Row {
    match (size.messages, order, share) {
        (1_000_000, SearchOrder::Newest, "p50") => {
            row.goal(Against::Number, Bound::AtMost(500.0)).goal(Against::Peer, Bound::AtMost(0.1))
        }
        (1_000_000, SearchOrder::Newest, _) => {
            row.goal(Against::Number, Bound::AtMost(5_000.0)).goal(Against::Peer, Bound::AtMost(0.1))
        }
        (1_000_000, SearchOrder::Ranked, "p99") => {
            row.goal(Against::Limit, Bound::AtMost(0.2)).goal(Against::Peer, Bound::AtMost(1.5))
        }
        _ => row,
    }
}

/// What was found, question by question, and how long it took.
#[derive(Default)]
struct Answers {
    micros: Vec<f64>,
    found: Vec<Vec<u64>>,
}

impl Answers {
    fn take(&mut self, ask: impl FnOnce() -> Result<Vec<u64>>) -> Result<()> {
        let began = Instant::now();
        let found = ask()?;
        self.micros.push(began.elapsed().as_secs_f64() * 1e6);
        self.found.push(found);
        Ok(())
    }
}

/// Newest first, all must find the same. What ranks best is a matter of taste, but not how much is found.
fn compare(
    questions: &[Question],
    order: SearchOrder,
    ours: &[Vec<u64>],
    theirs: &[Vec<u64>],
    who: &str,
) -> Result<()> {
    ensure!(ours.len() == theirs.len(), "{who} did not answer every question");
    let (mut all, mut common) = (0, 0);
    for (question, (ours, theirs)) in questions.iter().zip(ours.iter().zip(theirs)) {
        let same = theirs.iter().filter(|number| ours.contains(number)).count();
        let alike = match order {
            SearchOrder::Newest => same == theirs.len() && ours.len() == theirs.len(),
            SearchOrder::Ranked => ours.len() == theirs.len(),
        };
        ensure!(alike, "{} finds {ours:?} with us and {theirs:?} with {who}", question.text());
        (all, common) = (all + theirs.len(), common + same);
    }
    if order == SearchOrder::Ranked && all > 0 {
        progress(&format!("{} % of what {who} shows is what we show", common * 100 / all));
    }
    Ok(())
}

struct Everybody {
    ours: Ours,
    plain: Plain,
    engines: Vec<Engine>,
}

/// The library, with a store that knows its sessions.
struct Ours {
    library: Library,
    shelf: Shelf,
    store: SqliteStore,
}

impl Ours {
    fn open(folder: &Path, messages: u64, shelf: Shelf) -> Result<Self> {
        // It has nothing to follow: what is added is added by us.
        let library = Library::start(folder, std::sync::Weak::<MemoryStore>::new(), Notes::default())?;
        Ok(Self { library, shelf, store: sessions(&folder.join("store"), messages)? })
    }

    /// The numbers of what is found, with snippets.
    fn ask(&self, text: &str, order: SearchOrder) -> Result<Vec<u64>> {
        let query = SearchQuery { text: text.to_owned(), order, limit: LIMIT, ..SearchQuery::default() };
        let found = self.library.search(&self.store, &query).context("a search failed")?;
        let numbers =
            found.sessions.iter().flat_map(|one| one.messages.iter().map(|message| (one.session, message.seq)));
        Ok(numbers.map(|(session, seq)| (session.0 - 1) * OF_A_SESSION + seq.0 - 1).collect())
    }

    fn add(&mut self, more: u64, messages: u64, text: &str, word: &str) -> Result<()> {
        let added = Message { seq: Seq(more + 1), ..message(messages + more, text.to_owned()) };
        self.shelf.write(&[derived(ADDED_TO, vec![added])])?;
        let found = self.ask(&format!("\"{word}\""), SearchOrder::Newest)?;
        ensure!(found == [(ADDED_TO.0 - 1) * OF_A_SESSION + more], "`{word}` was added and is not found");
        Ok(())
    }
}

fn message(number: u64, text: String) -> Message {
    let role = [Role::User, Role::Assistant, Role::Thought, Role::Tool][(number % 4) as usize];
    let at = Time(1_700_000_000_000 + number * APART_MS);
    let turn = u32::try_from(number % OF_A_SESSION / 4 + 1).ok().map(TurnId);
    Message { seq: Seq(number % OF_A_SESSION + 1), turn, role, at, text, paths: String::new() }
}

fn derived(session: SessionId, messages: Vec<Message>) -> Derived {
    Derived {
        session,
        epoch: Epoch(1),
        agent: if session.0.is_multiple_of(2) { "even".into() } else { "odd".into() },
        workspace: "/work".into(),
        cursor: messages.last().map_or(Seq::START, |message| message.seq),
        items: messages.into_iter().map(Item::Message).collect(),
        so_far: Vec::new(),
        anew: false,
    }
}

fn fill(folder: &Path, messages: u64, said: &Path) -> Result<Shelf> {
    let mut shelf = Shelf::open(folder)?;
    let mut texts = (0..).zip(said::read_messages(said)?).peekable();
    while let Some((first, _)) = texts.peek() {
        let session = SessionId(first / OF_A_SESSION + 1);
        let together: Result<Vec<Message>> =
            texts.by_ref().take(TOGETHER).map(|(number, text)| Ok(message(number, text?))).collect();
        shelf.write(&[derived(session, together?)])?;
    }
    ensure!(shelf.count()? == messages, "not every message was written");
    Ok(shelf)
}

/// A store with the sessions that can be found.
fn sessions(folder: &Path, messages: u64) -> Result<SqliteStore> {
    let (sender, done) = sync_channel(1);
    let (store, _) = SqliteStore::open(folder, Options::default(), move |done| drop(sender.send(done)))?;
    let row = |session: SessionId| SessionRow {
        session,
        epoch: Epoch(1),
        workspace: "/work".into(),
        agent: "even".into(),
        title: format!("session {}", session.0),
        tab: None,
        agent_session: None,
        keeps: SessionKeeps::default(),
        created: Time(1),
        updated: Time(1),
    };
    let numbers = (1..=messages.div_ceil(OF_A_SESSION)).map(SessionId).chain([ADDED_TO]);
    let changes = numbers.map(|session| Change::Session(row(session))).collect();
    store.commit(Commit { ticket: Ticket(1), entries: Vec::new(), changes });
    let done = done.recv()?;
    ensure!(done.failed.is_empty() && done.changes_failed.is_none(), "the sessions could not be stored: {done:?}");
    Ok(store)
}
