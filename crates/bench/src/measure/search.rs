//! Search among many messages: the library by itself, beside a plain FTS5 table of the same messages in the same process. The
//! messages go through the library's own way of writing them; words are as common as words are.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use rusqlite::{Connection, params};
use switchboard_host::library::derived::{Item, Message};
use switchboard_host::library::{Derived, Library, Shelf};
use switchboard_host::store::{MemoryStore, Notes, Store};
use switchboard_types::{
    Change, Commit, Epoch, Role, SearchOrder, SearchQuery, Seq, SessionId, SessionKeeps, SessionRow, Ticket, Time,
    TurnId,
};

use super::{Bench, Findings, progress};
use crate::row::{Against, Bound, Row, Unit};
use crate::stats::percentile;

/// Messages of one session.
const OF_A_SESSION: u64 = 1_000;
/// Messages that are written together.
const TOGETHER: u64 = 500;
/// Different words.
const VOCABULARY: f64 = 50_000.0;
/// Words of a message.
const WORDS: u64 = 60;
/// Messages of one answer.
const LIMIT: usize = 20;
/// From message to message, in milliseconds.
const APART_MS: u64 = 3_000;
/// tantivy's p99 beside that of plain FTS5, as it was measured once.
const TANTIVY: Against = Against::Recorded { name: "tantivy", times_limit: 29.0 / 320.0 };

pub(super) fn measure(bench: &Bench) -> Result<Findings> {
    let sizes: &[u64] = bench.extent.pick(&[5_000], &[100_000, 1_000_000]);
    let mut found = Findings::default();
    for &messages in sizes {
        let folder = bench.places.data.join(format!("search-{messages}"));
        std::fs::create_dir_all(&folder)?;
        found.rows.extend(one_size(bench, &folder, messages)?);
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(found)
}

fn one_size(bench: &Bench, folder: &Path, messages: u64) -> Result<Vec<Row>> {
    let named = |what: &str| format!("search, {} k messages, {what}", messages / 1000);
    progress(&format!("indexing {messages} messages"));
    let mut rate = Row::new(named("indexed"), Unit::PerSecond);
    let mut size = Row::new(named("size of the index and the messages"), Unit::Bytes);
    let began = Instant::now();
    let shelf = fill(folder, messages)?;
    rate.ours.push(messages as f64 / began.elapsed().as_secs_f64());
    shelf.checkpoint()?;
    size.ours.push(shelf.bytes() as f64);
    let began = Instant::now();
    let plain = Plain::fill(&folder.join("plain.db"), messages)?;
    rate.limit.push(messages as f64 / began.elapsed().as_secs_f64());
    size.limit.push(std::fs::metadata(folder.join("plain.db"))?.len() as f64);
    let mut single = Row::new(named("one more message"), Unit::Micros);
    let mut shelf = shelf;
    for more in 0..100 {
        let began = Instant::now();
        shelf.write(&[derived(1_000_000 + more, messages + more, 1)])?;
        single.ours.push(began.elapsed().as_secs_f64() * 1e6);
    }
    drop(shelf);
    let store = sessions(messages);
    let library = Library::start(folder, std::sync::Weak::<MemoryStore>::new(), Notes::default())?;
    let ask = |text: &str, order: SearchOrder| {
        let query = SearchQuery { text: text.to_owned(), order, limit: LIMIT, ..SearchQuery::default() };
        library.search(&store, &query).map(|found| found.sessions.len()).context("a search failed")
    };
    let whole = questions(messages);
    let mut rows = vec![rate, size, single];
    for (order, word) in [(SearchOrder::Newest, "newest first"), (SearchOrder::Ranked, "ranked")] {
        let (mut ours, mut limit) = (Vec::new(), Vec::new());
        for round in 0..bench.rounds {
            progress(&format!("{word} among {messages}, round {}", round + 1));
            for question in &whole {
                let began = Instant::now();
                ask(question, order)?;
                ours.push(began.elapsed().as_secs_f64() * 1e6);
                let began = Instant::now();
                plain.ask(question, order)?;
                limit.push(began.elapsed().as_secs_f64() * 1e6);
            }
        }
        for (share, name) in [(0.5, "p50"), (0.99, "p99")] {
            let mut row = Row::new(named(&format!("{word}, {name}")), Unit::Micros);
            row.ours.extend(percentile(&ours, share));
            row.limit.extend(percentile(&limit, share));
            rows.push(with_goals(row, messages, order, name));
        }
    }
    let mut typed = Vec::new();
    for beginning in beginnings(messages) {
        let began = Instant::now();
        ask(&beginning, SearchOrder::Newest)?;
        typed.push(began.elapsed().as_secs_f64() * 1e6);
    }
    for (share, name) in [(0.5, "p50"), (0.99, "p99")] {
        let mut row = Row::new(named(&format!("while a word is typed, {name}")), Unit::Micros);
        row.ours.extend(percentile(&typed, share));
        rows.push(row);
    }
    Ok(rows)
}

fn with_goals(row: Row, messages: u64, order: SearchOrder, share: &str) -> Row {
    match (messages, order, share) {
        (1_000_000, SearchOrder::Newest, "p50") => row.goal(Against::Number, Bound::AtMost(500.0)),
        (1_000_000, SearchOrder::Newest, _) => row.goal(Against::Number, Bound::AtMost(5_000.0)),
        (1_000_000, SearchOrder::Ranked, "p99") => {
            row.goal(Against::Limit, Bound::AtMost(0.2)).goal(TANTIVY, Bound::AtMost(1.5))
        }
        _ => row,
    }
}

/// Small, seeded, good enough.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A word: the second most common is half as common as the first, and so on.
    fn word(&mut self) -> String {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank is a small number")]
        let rank = VOCABULARY.powf(share) as u64;
        spell(rank)
    }
}

/// The word of a rank.
fn spell(rank: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "con", "de", "fi", "gor", "hu", "in", "ka", "lo", "men", "no", "par", "re", "sta", "ti", "vu"];
    let (mut rest, mut word) = (Dice(rank).next() % 16 + rank * 16, String::new());
    loop {
        word.push_str(SYLLABLES.get((rest % 16) as usize).copied().unwrap_or("x"));
        rest /= 16;
        if rest == 0 {
            return word;
        }
    }
}

fn text(number: u64) -> String {
    let mut dice = Dice(number);
    let mut text = String::new();
    for _ in 0..WORDS {
        text.push_str(&dice.word());
        text.push(' ');
    }
    text
}

fn message(number: u64) -> Message {
    let role = [Role::User, Role::Assistant, Role::Thought, Role::Tool][(number % 4) as usize];
    let at = Time(1_700_000_000_000 + number * APART_MS);
    let turn = u32::try_from(number % OF_A_SESSION / 4 + 1).ok().map(TurnId);
    Message { seq: Seq(number % OF_A_SESSION + 1), turn, role, at, text: text(number), paths: String::new() }
}

fn derived(session: u64, first: u64, count: u64) -> Derived {
    let items = (first..first + count).map(|number| Item::Message(message(number))).collect();
    Derived {
        session: SessionId(session),
        epoch: Epoch(1),
        agent: if session.is_multiple_of(2) { "even".into() } else { "odd".into() },
        workspace: "/work".into(),
        cursor: Seq((first + count - 1) % OF_A_SESSION + 1),
        items,
        so_far: Vec::new(),
        anew: false,
    }
}

fn fill(folder: &Path, messages: u64) -> Result<Shelf> {
    let mut shelf = Shelf::open(folder)?;
    for first in (0..messages).step_by(TOGETHER as usize) {
        shelf.write(&[derived(first / OF_A_SESSION + 1, first, TOGETHER)])?;
    }
    ensure!(shelf.count()? == messages, "not every message was written");
    Ok(shelf)
}

/// Rows of the sessions that are found, as a store has them.
fn sessions(messages: u64) -> MemoryStore {
    let store = MemoryStore::new(|_| {});
    let row = |session: u64| SessionRow {
        session: SessionId(session),
        epoch: Epoch(1),
        workspace: "/work".into(),
        agent: "even".into(),
        title: format!("session {session}"),
        tab: None,
        agent_session: None,
        keeps: SessionKeeps::default(),
        created: Time(1),
        updated: Time(1),
    };
    let numbers = (1..=messages / OF_A_SESSION).chain(1_000_000..1_000_100);
    let changes = numbers.map(|session| Change::Session(row(session))).collect();
    store.commit(Commit { ticket: Ticket(1), entries: Vec::new(), changes });
    store
}

/// Words of every commonness, pairs of them, and phrases that somebody said.
fn questions(messages: u64) -> Vec<String> {
    let mut dice = Dice(7);
    let mut questions = Vec::new();
    for number in 0..100 {
        questions.push(format!("\"{}\"", dice.word()));
        questions.push(format!("\"{}\" \"{}\"", dice.word(), dice.word()));
        let said = text(number * (messages / 100).max(1));
        let words: Vec<&str> = said.split(' ').skip(10).take(2).collect();
        questions.push(format!("\"{}\"", words.join(" ")));
    }
    questions
}

/// What stands in the box while a word is typed.
fn beginnings(messages: u64) -> Vec<String> {
    let mut dice = Dice(11 + messages);
    let typed =
        |word: String| (2..=word.len().min(8)).filter_map(|end| word.get(..end).map(str::to_owned)).collect::<Vec<_>>();
    (0..50).flat_map(|_| typed(dice.word())).collect()
}

/// A plain FTS5 table of the same messages.
struct Plain(Connection);

impl Plain {
    fn fill(path: &Path, messages: u64) -> Result<Self> {
        let mut conn = Connection::open(path)?;
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.pragma_update(None, "cache_size", -8192)?;
        conn.execute_batch(
            "CREATE TABLE message (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
             CREATE VIRTUAL TABLE plain USING fts5(
                 text, content='message', content_rowid='id', tokenize='unicode61 remove_diacritics 2');",
        )?;
        for first in (0..messages).step_by(TOGETHER as usize) {
            let tx = conn.transaction()?;
            for number in first..first + TOGETHER {
                let (id, text) = (i64::try_from(number + 1)?, text(number));
                tx.prepare_cached("INSERT INTO message VALUES (?1, ?2)")?.execute(params![id, text])?;
                tx.prepare_cached("INSERT INTO plain (rowid, text) VALUES (?1, ?2)")?.execute(params![id, text])?;
            }
            tx.commit()?;
        }
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(Self(conn))
    }

    fn ask(&self, question: &str, order: SearchOrder) -> Result<usize> {
        let order = match order {
            SearchOrder::Newest => "rowid DESC",
            SearchOrder::Ranked => "rank",
        };
        let mut find = self.0.prepare_cached(&format!(
            "SELECT rowid, snippet(plain, 0, '[', ']', '…', 24) FROM plain WHERE plain MATCH ?1 ORDER BY {order} LIMIT {LIMIT}"
        ))?;
        let found = find.query_map([question], |row| row.get::<_, String>(1))?;
        Ok(found.collect::<rusqlite::Result<Vec<_>>>()?.len())
    }
}
