//! Moves the oldest rows of the tail into segments, a small slice at a time. Never changes what a reader gets.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use switchboard_types::{Page, Seq, SessionId};

use super::index::Run;
use super::rows::{self, Sealed, db};
use super::writer::{Writer, lose};

/// Sessions that one slice packs at most, so that an append waits a few milliseconds at most.
const SLICE_SESSIONS: usize = 16;
/// Segments' worth of bytes that one slice packs; the last session may go beyond.
const SLICE_SEGMENTS: usize = 2;
/// A segment is written again to grow only if it is at most this many times what it grows by.
const GROWTH: usize = 4;

/// What one session gives to a slice: its oldest rows.
struct Move {
    session: SessionId,
    runs: Vec<Run>,
}

impl Writer {
    /// Packs the oldest rows. Segments in, rows out, in one transaction: every event is in one place at any time.
    pub(crate) fn pack_slice(&mut self) -> rusqlite::Result<()> {
        let moves = self.choose();
        let rev = self.next_rev();
        let segment_bytes = self.bounds.segment_bytes;
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for one in &moves {
            pack_session(&tx, one, segment_bytes, rev)?;
        }
        tx.commit()?;
        // Readers that still know the rows find them gone and look at the segments.
        for one in moves {
            let Some(newest) = one.runs.last() else { continue };
            self.index.remove_through(one.session, newest.id);
            self.tail.rows -= one.runs.len();
            self.tail.bytes -= one.runs.iter().map(|run| run.bytes).sum::<usize>();
        }
        Ok(())
    }

    /// The sessions with the oldest rows, each once.
    fn choose(&mut self) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        let mut bytes = 0;
        // Names of rows that were packed with an older one are stale.
        while self.tail.order.front().is_some_and(|(id, session)| self.index.front(*session).is_none_or(|at| at > *id))
        {
            self.tail.order.pop_front();
        }
        for (id, session) in &self.tail.order {
            if moves.len() >= SLICE_SESSIONS || bytes >= SLICE_SEGMENTS * self.bounds.segment_bytes {
                break;
            }
            if self.index.front(*session) != Some(*id) || moves.iter().any(|one| one.session == *session) {
                continue;
            }
            let runs = self.index.oldest(*session, self.bounds.segment_bytes);
            bytes += runs.iter().map(|run| run.bytes).sum::<usize>();
            moves.push(Move { session: *session, runs });
        }
        moves
    }
}

fn pack_session(tx: &Transaction<'_>, one: &Move, segment_bytes: usize, rev: i64) -> rusqlite::Result<()> {
    let mut whole: Vec<Page> = Vec::new();
    for run in &one.runs {
        match read_run(tx, one.session, run)? {
            Some(page) => whole.push(page),
            None => {
                // The rows before the damage are a segment of their own; the damaged row itself is kept, out of the way.
                write_segments(tx, one.session, std::mem::take(&mut whole), segment_bytes)?;
                tx.prepare_cached(
                    "INSERT INTO damaged (session, first_seq, last_seq, crc, records)
                     SELECT session, first_seq, last_seq, crc, records FROM tail WHERE id = ?1",
                )?
                .execute([run.id])?;
                lose(tx, one.session, run.first, run.last, rev)?;
            }
        }
    }
    write_segments(tx, one.session, whole, segment_bytes)?;
    let mut delete = tx.prepare_cached("DELETE FROM tail WHERE id = ?1")?;
    for run in &one.runs {
        delete.execute([run.id])?;
    }
    Ok(())
}

fn read_run(conn: &Connection, session: SessionId, run: &Run) -> rusqlite::Result<Option<Page>> {
    let cells = conn
        .prepare_cached("SELECT id, session, first_seq, last_seq, crc, records FROM tail WHERE id = ?1")?
        .query_row([run.id], rows::cells)
        .optional()?;
    Ok(match cells.and_then(rows::unseal) {
        Some(Sealed::Log { session: owner, page }) if owner == session && page.first() == run.first => Some(page),
        _ => None,
    })
}

/// Writes pages that follow each other, joined with the session's last segment where that is cheap, split where they are large.
fn write_segments(
    tx: &Transaction<'_>,
    session: SessionId,
    pages: Vec<Page>,
    segment_bytes: usize,
) -> rusqlite::Result<()> {
    let Some(next) = pages.first().map(Page::first) else { return Ok(()) };
    let bytes = pages.iter().map(Page::cost).sum();
    let grown = take_small_segment(tx, session, next, bytes, segment_bytes)?;
    let joined = Page::join(grown.into_iter().chain(pages).collect());
    let page = joined.ok_or_else(|| rows::damage("rows that follow each other do not fit together"))?;
    rows::insert_segments(tx, session, page, segment_bytes)
}

/// Takes the session's last segment out, if `next` follows it and it is small enough to be written again.
fn take_small_segment(
    tx: &Transaction<'_>,
    session: SessionId,
    next: Seq,
    bytes: usize,
    segment_bytes: usize,
) -> rusqlite::Result<Option<Page>> {
    let place: Option<(i64, i64, i64)> = tx
        .prepare_cached(
            "SELECT id, last_seq, length(records) FROM segment WHERE session = ?1 ORDER BY first_seq DESC LIMIT 1",
        )?
        .query_row([db(session.0)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((id, last, size)) = place else { return Ok(None) };
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if last + 1 != db(next.0) || size > GROWTH * bytes || size.saturating_add(bytes) > segment_bytes {
        return Ok(None);
    }
    let cells = tx
        .prepare_cached("SELECT id, session, first_seq, last_seq, crc, records FROM segment WHERE id = ?1")?
        .query_row([id], rows::cells)?;
    let Some(Sealed::Log { page, .. }) = rows::unseal(cells) else { return Ok(None) };
    tx.prepare_cached("DELETE FROM segment WHERE id = ?1")?.execute(params![id])?;
    Ok(Some(page))
}
