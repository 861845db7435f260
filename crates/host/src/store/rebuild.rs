//! Puts salvaged rows of logs in order, finds what is missing, and makes metadata anew where only the log is left. Never
//! invents an event.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use switchboard_types::record::Peek;
use switchboard_types::{
    AgentName, Body, EventRef, Page, Seq, SessionId, SessionKeeps, SessionRow, SourceCursor, SourceId, SourceRef, Time,
    TurnId, TurnPhase, TurnRow, Upstream, WorkspaceRoot,
};

use super::carve::Trust;
use super::kept;
use super::rows::{self, MetaKey, db};
use super::salvage::{Saved, Structure};

/// How far beyond the last saved event a damaged row may claim that events were.
const MAX_TRACE_DISTANCE: u64 = 1_000_000;
/// Metadata can be made anew from these; other JSON is not even parsed.
const TELLING: [&[u8]; 6] = [
    br#"{"type":"sourceGap""#,
    br#"{"type":"sessionOpened""#,
    br#"{"type":"titleChanged""#,
    br#"{"type":"promptQueued""#,
    br#"{"type":"turnStarted""#,
    br#"{"type":"turnEnded""#,
];

/// The end of a log that has none yet.
const OPEN_END: Seq = Seq(i64::MAX as u64 - 1);

/// First and last event of what is missing.
type Gap = (Seq, Seq);

pub(crate) struct Rebuild<'a> {
    pub(crate) new: &'a Connection,
    pub(crate) scratch: &'a Connection,
    pub(crate) segment_bytes: usize,
    pub(crate) structure: Structure,
}

impl Rebuild<'_> {
    pub(crate) fn run(&self) -> rusqlite::Result<Saved> {
        let mut saved = Saved::default();
        for session in self.sessions()? {
            // What was deleted stays deleted, whatever is left of it in pages that nobody has used again.
            if rows::is_deleted(self.new, session)? {
                rows::delete_session(self.new, session, 0)?;
            } else {
                self.session(session, &mut saved)?;
            }
            let next = rows::read_meta(self.new, MetaKey::NextSession)?.unwrap_or(1);
            rows::write_meta(self.new, MetaKey::NextSession, next.max(db(session.0) + 1))?;
        }
        Ok(saved)
    }

    fn sessions(&self) -> rusqlite::Result<BTreeSet<SessionId>> {
        let mut sessions = BTreeSet::new();
        for (conn, query) in [
            (self.scratch, "SELECT DISTINCT session FROM log"),
            (self.new, "SELECT session FROM session"),
            (self.new, "SELECT DISTINCT session FROM turn"),
            (self.new, "SELECT DISTINCT session FROM call"),
            (self.new, "SELECT DISTINCT session FROM lost"),
            (self.new, "SELECT session FROM deleted"),
        ] {
            let mut statement = conn.prepare(query)?;
            let found = statement.query_map([], |row| Ok(SessionId(row.get::<_, i64>(0)? as u64)))?;
            for session in found {
                sessions.insert(session?);
            }
        }
        Ok(sessions)
    }

    fn session(&self, session: SessionId, saved: &mut Saved) -> rusqlite::Result<()> {
        let known_lost = rows::lost(self.new, session)?;
        let mut out = Segments { rebuild: self, session, pages: Vec::new(), events: 0 };
        let (mut missing, mut end) = self.fill((Seq(1), OPEN_END), Trust::Seen, &mut out)?;
        // What the engine would not have seen fills holes only: it must never stand in for what it would have.
        for trust in [Trust::Beyond, Trust::Last] {
            for gap in std::mem::take(&mut missing) {
                let (left, reached) = self.fill(gap, trust, &mut out)?;
                missing.extend(left);
                if reached < gap.1 {
                    missing.push((reached.next(), gap.1));
                }
            }
            let (left, reached) = self.fill((end.next(), OPEN_END), trust, &mut out)?;
            missing.extend(left);
            end = reached;
        }
        out.flush()?;
        let head = self.highest_known(session, end, &known_lost)?;
        if head > end {
            missing.push((end.next(), head));
        }
        saved.sessions += 1;
        saved.events += out.events;
        self.note(session, &missing, &known_lost, saved)?;
        let news = missing.iter().any(|gap| !known_lost.iter().any(|known| known.0 <= gap.0 && gap.1 <= known.1));
        self.metadata(session, news || self.structure == Structure::Broken)
    }

    /// Writes what lies within `span`; returns the holes before the last event found, and that event.
    fn fill(&self, span: Gap, trust: Trust, out: &mut Segments<'_>) -> rusqlite::Result<(Vec<Gap>, Seq)> {
        let mut statement = self.scratch.prepare_cached(
            "SELECT first_seq, last_seq, records FROM log WHERE session = ?1 AND trust = ?2 AND first_seq <= ?4
             AND last_seq >= ?3 ORDER BY first_seq, last_seq DESC",
        )?;
        let (from, to) = (db(span.0.0), db(span.1.0));
        let mut found = statement.query(params![db(out.session.0), trust as i64, from, to])?;
        let mut cursor = Seq(span.0.0 - 1);
        let mut gaps = Vec::new();
        while let Some(row) = found.next()? {
            let (first, last) = (Seq(row.get::<_, i64>(0)? as u64), Seq(row.get::<_, i64>(1)? as u64));
            if cursor >= span.1 {
                break;
            }
            if last <= cursor {
                continue;
            }
            let records: Vec<u8> = row.get(2)?;
            let Ok(page) = Page::new(first, last, records.into()) else { continue };
            let Some(page) = page.after(cursor).and_then(|page| until(page, span.1)) else { continue };
            if page.first() > cursor.next() {
                // A commit that may be none can make a log longer, but not make it seem broken.
                if trust == Trust::Last && span.1 == OPEN_END {
                    break;
                }
                gaps.push((cursor.next(), Seq(page.first().0 - 1)));
            }
            cursor = page.last();
            out.add(page)?;
        }
        Ok((gaps, cursor))
    }

    /// Events are numbered after the highest that was ever known, so that no number gets a second meaning.
    fn highest_known(&self, session: SessionId, end: Seq, lost: &[Gap]) -> rusqlite::Result<Seq> {
        let queued: Option<i64> =
            self.new.query_row("SELECT max(queued) FROM turn WHERE session = ?1", [db(session.0)], |row| row.get(0))?;
        let known = lost.iter().map(|gap| gap.1).max().unwrap_or_default();
        let asked = kept::last_asked(self.new, session)?;
        let mut head = end.max(known).max(Seq(queued.unwrap_or(0) as u64)).max(asked);
        let mut statement = self
            .scratch
            .prepare_cached("SELECT first_seq, last_seq FROM trace WHERE session = ?1 ORDER BY first_seq")?;
        let mut found = statement.query([db(session.0)])?;
        while let Some(row) = found.next()? {
            let (first, last) = (row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64);
            if first <= head.0 + MAX_TRACE_DISTANCE {
                head = head.max(Seq(last));
            }
        }
        Ok(head)
    }

    fn note(&self, session: SessionId, missing: &[Gap], known: &[Gap], saved: &mut Saved) -> rusqlite::Result<()> {
        for (first, last) in missing {
            rows::note_lost(self.new, session, *first, *last)?;
        }
        let news = missing.iter().filter(|gap| !known.contains(gap));
        saved.lost.extend(news.map(|(first, last)| (session, *first, *last)));
        Ok(())
    }

    fn metadata(&self, session: SessionId, new_epoch: bool) -> rusqlite::Result<()> {
        let stored = rows::read_session(self.new, session)?;
        let mut rev = stored.as_ref().map_or(0, |(_, rev)| *rev);
        let mut draft = match stored {
            Some((row, _)) => Draft { row, anew: false, upstream: None },
            None => Draft { row: self.unknown(session)?, anew: true, upstream: None },
        };
        self.replay(session, &mut draft)?;
        let before = (draft.row.keeps.upstream.clone(), draft.row.agent_session.clone());
        draft.settle();
        let settled = before != (draft.row.keeps.upstream.clone(), draft.row.agent_session.clone());
        if settled && !draft.anew && !new_epoch {
            rows::write_session(self.new, &draft.row, rev)?;
        }
        if draft.anew || new_epoch {
            draft.row.epoch = rows::new_epoch();
            rev += 1;
            rows::write_session(self.new, &draft.row, rev)?;
        }
        Ok(())
    }

    /// A session of which there is no row: what it kept for a foreign log may be there all the same.
    fn unknown(&self, session: SessionId) -> rusqlite::Result<SessionRow> {
        let SessionKeeps { setup, upstream, .. } = kept::keeps(self.new, session)?;
        let agent_session = rows::agent_session(self.new, session)?;
        let keeps = SessionKeeps { setup, upstream, ..SessionKeeps::default() };
        Ok(SessionRow { keeps, agent_session, ..unknown(session) })
    }

    /// Reads the saved log once more, in order, for what it says of the metadata.
    fn replay(&self, session: SessionId, draft: &mut Draft) -> rusqlite::Result<()> {
        let mut statement = self.new.prepare_cached(
            "SELECT id, session, first_seq, last_seq, crc, records FROM segment WHERE session = ?1 ORDER BY first_seq",
        )?;
        let mut found = statement.query([db(session.0)])?;
        while let Some(row) = found.next()? {
            let rows::Sealed::Log { page, .. } = rows::sealed_row(row)? else { continue };
            for event in page.events() {
                self.replay_event(session, &event, draft)?;
            }
        }
        Ok(())
    }

    fn replay_event(&self, session: SessionId, event: &EventRef<'_>, draft: &mut Draft) -> rusqlite::Result<()> {
        if let Some(source) = event.source() {
            draft.take(&source);
        }
        let Peek::Json(json) = event.peek() else { return Ok(()) };
        if !TELLING.iter().any(|start| json.starts_with(start)) {
            return Ok(());
        }
        let Ok(body) = event.body() else { return Ok(()) };
        match body {
            Body::SessionOpened { agent, workspace } if draft.anew => {
                draft.row.agent = agent;
                draft.row.workspace = workspace;
                draft.row.created = event.at;
            }
            Body::TitleChanged { title, .. } if draft.anew => draft.row.title = title,
            Body::PromptQueued { name, .. } => {
                let Some(turn) = event.turn else { return Ok(()) };
                if rows::read_turn(self.new, session, turn)?.is_none() {
                    let row = TurnRow { session, turn, name, digest: 0, queued: event.seq, phase: TurnPhase::Queued };
                    rows::write_turn(self.new, &row, 0)?;
                }
            }
            Body::SourceGap { from, to, .. } if event.source().is_none() => draft.forget((from, to)),
            Body::TurnStarted {} => self.advance(session, event.turn, TurnPhase::Running)?,
            Body::TurnEnded { .. } => self.advance(session, event.turn, TurnPhase::Ended)?,
            _ => {}
        }
        if draft.anew {
            draft.row.updated = draft.row.updated.max(event.at);
        }
        Ok(())
    }

    /// A turn only ever goes forward, so the log can tell a row that it is behind.
    fn advance(&self, session: SessionId, turn: Option<TurnId>, phase: TurnPhase) -> rusqlite::Result<()> {
        let Some(turn) = turn else { return Ok(()) };
        let Some((mut row, rev)) = rows::read_turn(self.new, session, turn)? else { return Ok(()) };
        let goes_on = matches!(
            (row.phase, phase),
            (TurnPhase::Queued, TurnPhase::Running | TurnPhase::Ended) | (TurnPhase::Running, TurnPhase::Ended)
        );
        if goes_on {
            row.phase = phase;
            rows::write_turn(self.new, &row, rev)?;
        }
        Ok(())
    }
}

/// A session's row, as it was or as it is being made anew.
struct Draft {
    row: SessionRow,
    anew: bool,
    /// How far a foreign log was taken, as the events say.
    upstream: Option<Upstream>,
}

impl Draft {
    fn take(&mut self, source: &SourceRef<'_>) {
        let upstream = self.upstream.get_or_insert_default();
        upstream.taken = upstream.taken.max(source.seq);
        upstream.last = Some(SourceCursor { id: SourceId::from(source.id), seq: source.seq });
    }

    /// A gap in the foreign log; one without numbers is a log that began anew.
    fn forget(&mut self, gap: (Option<u64>, Option<u64>)) {
        let upstream = self.upstream.get_or_insert_default();
        upstream.last = None;
        if gap == (None, None) {
            upstream.taken = None;
        }
    }

    /// The log is the truth about how far a foreign log was taken. Only an agent that keeps one is led back into its
    /// session: an older name could lead any other into an older conversation, so it gets a summary instead.
    fn settle(&mut self) {
        if let Some(upstream) = self.upstream.take() {
            self.row.keeps.upstream = Some(upstream);
        }
        if self.row.keeps.upstream.is_none() {
            self.row.agent_session = None;
        }
    }
}

/// What stands in a session's row if nothing is known of it.
fn unknown(session: SessionId) -> SessionRow {
    SessionRow {
        session,
        epoch: rows::new_epoch(),
        workspace: WorkspaceRoot::new("/"),
        agent: AgentName::new("unknown"),
        title: format!("Salvaged session {session}"),
        tab: None,
        agent_session: None,
        keeps: SessionKeeps::default(),
        created: Time(0),
        updated: Time(0),
    }
}

/// The page up to an event.
fn until(page: Page, last: Seq) -> Option<Page> {
    if page.last() <= last {
        return Some(page);
    }
    let end: usize = page.events().take_while(|event| event.seq <= last).map(|event| event.record_bytes()).sum();
    Page::new(page.first(), last, page.records().slice(..end)).ok()
}

/// Collects pages into segments of the new file.
struct Segments<'a> {
    rebuild: &'a Rebuild<'a>,
    session: SessionId,
    pages: Vec<Page>,
    events: u64,
}

impl Segments<'_> {
    fn add(&mut self, page: Page) -> rusqlite::Result<()> {
        let follows = self.pages.last().is_some_and(|last| last.last().next() == page.first());
        let bytes: usize = self.pages.iter().map(Page::cost).sum();
        if !follows || bytes + page.bytes() > self.rebuild.segment_bytes {
            self.flush()?;
        }
        self.events += page.count();
        self.pages.push(page);
        Ok(())
    }

    fn flush(&mut self) -> rusqlite::Result<()> {
        let Some(page) = Page::join(std::mem::take(&mut self.pages)) else { return Ok(()) };
        rows::insert_segments(self.rebuild.new, self.session, page, self.rebuild.segment_bytes)
    }
}
