//! Pages and rows out of one snapshot. Never writes; what it finds damaged it tells the writer.
//!
//! The seam: a row of the tail may be packed while a reader is on its way to it. So a reader copies what it needs of the
//! tail's index *first* and begins its snapshot *then*. In that snapshot every event the index spoke of is in exactly one
//! place: still in its row, or, if the row is gone, in a segment.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use switchboard_types::{Page, Seq, SessionId};

use super::Slice;
use super::error::{StoreError, is_damage};
use super::index::Plan;
use super::rows::{self, Sealed, checked_page, db};
use super::sqlite::{Access, Options, connect};

/// Connections for reading that are kept open; more are opened when more threads read, and closed again.
const KEPT_READERS: usize = 2;

/// Connections for reading.
pub(crate) struct Readers {
    path: PathBuf,
    options: Options,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf, options: Options) -> Self {
        Self { path, options, idle: Mutex::new(Vec::new()) }
    }

    /// Runs `read` in one snapshot.
    pub(crate) fn snapshot<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let named = |error| StoreError::from_engine(&self.path, error);
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut conn = match idle {
            Some(conn) => conn,
            None => connect(&self.path, &self.options, Access::Read).map_err(named)?,
        };
        let result = conn.transaction().and_then(|tx| read(&tx)).map_err(named);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT_READERS {
            idle.push(conn);
        }
        result
    }

    pub(crate) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What lies at a place in a log.
enum Piece {
    /// Events; the first may lie before the place.
    Whole(Page),
    /// Events, but more bytes than there is room for; they were not read.
    TooLong,
    /// Nothing readable, up to this event.
    Lost { first: Seq, last: Seq },
    /// Nothing follows.
    End,
}

/// How much may be read.
#[derive(Clone, Copy)]
enum Room {
    /// Whatever there is: a slice has at least one piece.
    Any,
    /// So many bytes; a longer piece is left for the next slice, whole.
    Bytes(usize),
}

impl Room {
    fn holds(self, bytes: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Bytes(room) => bytes <= room,
        }
    }
}

/// One read of one log.
pub(crate) struct Reading<'a> {
    pub(crate) tx: &'a Transaction<'a>,
    pub(crate) session: SessionId,
    pub(crate) plan: Plan,
}

impl Reading<'_> {
    /// The slice after a cursor, and what was found to be lost on the way.
    pub(crate) fn slice(&self, after: Seq, max_bytes: usize) -> rusqlite::Result<(Slice, Vec<(Seq, Seq)>)> {
        let mut slice = Slice::default();
        let mut lost = Vec::new();
        let mut pages: Vec<Page> = Vec::new();
        let (mut cursor, mut bytes) = (after, 0);
        while pages.is_empty() || bytes < max_bytes {
            let room = if pages.is_empty() { Room::Any } else { Room::Bytes(max_bytes - bytes) };
            match self.piece(cursor.next(), room)? {
                Piece::TooLong => break,
                Piece::Whole(page) => {
                    let Some(page) = page.after(cursor) else { break };
                    cursor = page.last();
                    bytes += page.bytes();
                    pages.push(page);
                }
                // The next read begins there and tells it first.
                Piece::Lost { .. } if !pages.is_empty() => break,
                Piece::Lost { first, last } => {
                    let begin = slice.gap.map_or(cursor.next(), |(begin, _)| begin);
                    slice.gap = Some((begin, last));
                    lost.push((first, last));
                    cursor = last;
                }
                Piece::End => break,
            }
        }
        slice.page = Page::join(pages).map(|page| page.head_within(max_bytes));
        Ok((slice, lost))
    }

    fn piece(&self, place: Seq, room: Room) -> rusqlite::Result<Piece> {
        if self.plan.horizon.is_some_and(|horizon| place > horizon) {
            return Ok(Piece::End);
        }
        let at = self.plan.runs.partition_point(|run| run.last < place);
        if let Some(run) = self.plan.runs.get(at).filter(|run| run.first <= place) {
            if !room.holds(run.bytes) {
                return Ok(Piece::TooLong);
            }
            let lost = Piece::Lost { first: run.first, last: run.last };
            let cells = self
                .tx
                .prepare_cached("SELECT id, session, first_seq, last_seq, crc, records FROM tail WHERE id = ?1")?
                .query_row([run.id], rows::cells)
                .optional()?;
            // None: packed since the index was copied.
            if let Some(cells) = cells {
                return Ok(match rows::unseal(cells) {
                    Some(Sealed::Log { session, page }) if session == self.session && page.first() == run.first => {
                        Piece::Whole(page)
                    }
                    _ => lost,
                });
            }
        }
        self.packed(place, room)
    }

    /// A row that is damaged is lost. A path to rows that is damaged is an error: a salvage still finds what it led to.
    fn packed(&self, place: Seq, room: Room) -> rusqlite::Result<Piece> {
        let found: Option<(i64, u64, u64, i64)> = self
            .tx
            .prepare_cached(
                "SELECT id, first_seq, last_seq, crc FROM segment WHERE session = ?1 AND first_seq <= ?2
                 ORDER BY first_seq DESC LIMIT 1",
            )?
            .query_row(params![db(self.session.0), db(place.0)], |row| {
                let number = |column| row.get::<_, i64>(column).map(|number| number as u64);
                Ok((row.get(0)?, number(1)?, number(2)?, row.get(3)?))
            })
            .optional()?;
        let Some((id, first, last, crc)) = found.filter(|(_, _, last, _)| *last >= place.0) else {
            return self.missing(place);
        };
        if let Room::Bytes(_) = room
            && !room.holds(self.length(id))
        {
            return Ok(Piece::TooLong);
        }
        let records = self
            .tx
            .prepare_cached("SELECT records FROM segment WHERE id = ?1")?
            .query_row([id], |row| row.get::<_, Vec<u8>>(0));
        let page = match records {
            Ok(records) => checked_page(self.session, Seq(first), Seq(last), crc, records),
            Err(error) if is_damage(&error) => None,
            Err(error) => return Err(error),
        };
        match page {
            Some(page) => Ok(Piece::Whole(page)),
            // Its own numbers may be what is damaged, so they count only up to what is known to follow.
            None => Ok(match self.missing(place)? {
                Piece::Lost { last: limit, .. } => {
                    Piece::Lost { first: place.min(Seq(first)), last: limit.min(Seq(last)) }
                }
                Piece::Whole(_) | Piece::TooLong | Piece::End => {
                    Piece::Lost { first: place.min(Seq(first)), last: Seq(last) }
                }
            }),
        }
    }

    /// Bytes of a segment's records. One that is too damaged to have a length is read, and found out then.
    fn length(&self, id: i64) -> usize {
        let length = self
            .tx
            .prepare_cached("SELECT length(records) FROM segment WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([id], |row| row.get::<_, i64>(0)));
        length.ok().and_then(|length| usize::try_from(length).ok()).unwrap_or(0)
    }

    /// How far nothing lies at a place.
    fn missing(&self, place: Seq) -> rusqlite::Result<Piece> {
        // A session that was deleted since the index was copied has no log any more, and lost nothing.
        if rows::is_deleted(self.tx, self.session)? {
            return Ok(Piece::End);
        }
        let segment: Option<i64> = self
            .tx
            .prepare_cached("SELECT min(first_seq) FROM segment WHERE session = ?1 AND first_seq > ?2")?
            .query_row(params![db(self.session.0), db(place.0)], |row| row.get(0))?;
        let run = self.plan.runs.iter().map(|run| run.first).find(|first| *first > place);
        let following = segment.map(|first| Seq(first as u64)).into_iter().chain(run).min();
        if let Some(following) = following {
            return Ok(Piece::Lost { first: place, last: Seq(following.0 - 1) });
        }
        let head = match self.plan.head {
            Some(head) => head,
            None => rows::last_lost(self.tx, self.session)?,
        };
        Ok(if head >= place { Piece::Lost { first: place, last: head } } else { Piece::End })
    }
}
