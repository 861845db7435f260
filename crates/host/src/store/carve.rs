//! Takes rows straight out of the pages of a damaged file and its write-ahead log, without trusting any pointer between
//! pages. Every row proves itself by its checksum, so nothing false can come out. Never writes.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::types::Value;
use switchboard_types::{Seq, SessionId};

use super::rows::{self, Sealed};
use super::wal::{self, Wal};

/// The least that a record of an event takes: its length, its time, its turn and its kind.
const LEAST_RECORD_BYTES: u64 = 17;
/// The largest row that is looked for; no commit's entry is larger.
const MAX_ROW_BYTES: usize = 2 * switchboard_types::limits::MAX_UNCOMMITTED_BYTES;
/// A table's leaf page.
const LEAF: u8 = 0x0d;

/// How sure it is that a row was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The engine would have seen it too.
    Seen = 0,
    /// It lies beyond a wrong checksum, but a later commit was begun, so its own was done.
    Beyond = 1,
    /// It is of the log's last commit. That may have been under way when the power went; then nobody was told of it, and
    /// what is missing of it is no loss.
    Last = 2,
}

/// A row, or what is left of one.
#[derive(Debug)]
pub(crate) enum Carved {
    /// A whole row.
    Row { row: Box<Sealed>, trust: Trust },
    /// A damaged row of a log. Its numbers are plausible, so events up to there were once known.
    Trace { session: SessionId, first: Seq, last: Seq },
}

/// A damaged file and its write-ahead log.
#[derive(Debug)]
pub(crate) struct Remains {
    db: Option<File>,
    log: Option<File>,
    wal: Wal,
    page_size: usize,
    pages: u32,
    /// For each page, its frames in order.
    versions: HashMap<u32, Vec<usize>>,
    /// For each frame, the last frame of its commit.
    ends: Vec<usize>,
}

impl Remains {
    pub(crate) fn open(db: &Path, log: &Path) -> io::Result<Self> {
        let wal = wal::read(log)?.unwrap_or_default();
        let file = optional(db)?;
        let mut header = [0; 18];
        let has_header = file.as_ref().is_some_and(|file| file.read_exact_at(&mut header, 0).is_ok());
        let size = usize::from(u16::from_be_bytes([header[16], header[17]]));
        let size = if size == 1 { 65536 } else { size };
        let page_size = if has_header && size.is_power_of_two() && size >= 512 {
            size
        } else if wal.page_size != 0 {
            wal.page_size
        } else {
            4096
        };
        let bytes = file.as_ref().map_or(Ok(0), |file| file.metadata().map(|data| data.len()))?;
        let pages = u32::try_from(bytes.div_ceil(page_size as u64)).unwrap_or(u32::MAX);
        let mut versions: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, frame) in wal.frames.iter().enumerate() {
            versions.entry(frame.page).or_default().push(at);
        }
        let mut ends = vec![0; wal.frames.len()];
        let mut end = wal.frames.len().saturating_sub(1);
        for (at, frame) in wal.frames.iter().enumerate().rev() {
            end = if frame.commits { at } else { end };
            ends[at] = end;
        }
        Ok(Self { db: file, log: optional(log)?, wal, page_size, pages, versions, ends })
    }

    /// Gives every row of every page to `take`.
    pub(crate) fn carve<E>(&self, mut take: impl FnMut(Carved) -> Result<(), E>) -> Result<(), E> {
        for number in 1..=self.pages {
            if let Some(page) = self.base(number) {
                self.carve_page(&page, number, None, &mut take)?;
            }
        }
        for at in 0..self.wal.frames.len() {
            if let Some(page) = self.frame(at) {
                self.carve_page(&page, self.wal.frames[at].page, Some(at), &mut take)?;
            }
        }
        Ok(())
    }

    fn base(&self, number: u32) -> Option<Vec<u8>> {
        let mut page = vec![0; self.page_size];
        let at = u64::from(number.checked_sub(1)?) * self.page_size as u64;
        let (db, mut filled) = (self.db.as_ref()?, 0);
        // The last page of a file that was cut off counts as far as it goes.
        while filled < page.len() {
            match db.read_at(&mut page[filled..], at + filled as u64) {
                Ok(0) | Err(_) => break,
                Ok(count) => filled += count,
            }
        }
        (filled > 0).then_some(page)
    }

    fn frame(&self, at: usize) -> Option<Vec<u8>> {
        let mut page = vec![0; self.wal.page_size];
        self.log.as_ref()?.read_exact_at(&mut page, self.wal.frames.get(at)?.offset).ok()?;
        Some(page)
    }

    /// A page as it was when the commit of `seen_from` was done; none stands for the file without its log.
    fn page(&self, number: u32, seen_from: Option<usize>) -> Option<Vec<u8>> {
        if let (Some(from), Some(versions)) = (seen_from, self.versions.get(&number)) {
            let until = self.ends.get(from).copied().unwrap_or(from);
            let count = versions.partition_point(|at| *at <= until);
            if let Some(at) = count.checked_sub(1).and_then(|last| versions.get(last)) {
                return self.frame(*at);
            }
        }
        self.base(number)
    }

    fn carve_page<E>(
        &self,
        page: &[u8],
        number: u32,
        seen_from: Option<usize>,
        take: &mut impl FnMut(Carved) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = if number == 1 { 100 } else { 0 };
        if page.get(start) != Some(&LEAF) {
            return Ok(());
        }
        let trust = self.trust(seen_from);
        let count = usize::from(half(page, start + 3).unwrap_or(0));
        for cell in 0..count {
            let Some(at) = half(page, start + 8 + 2 * cell) else { break };
            let Some(cells) = self.cell(page, usize::from(at), seen_from) else { continue };
            if let Some(carved) = judge(cells, trust) {
                take(carved)?;
            }
        }
        Ok(())
    }

    fn trust(&self, seen_from: Option<usize>) -> Trust {
        let Some(at) = seen_from else { return Trust::Seen };
        if self.wal.frames.get(at).is_some_and(|frame| frame.trusted) {
            Trust::Seen
        } else if self.ends.get(at) == self.ends.last() {
            Trust::Last
        } else {
            Trust::Beyond
        }
    }

    fn cell(&self, page: &[u8], at: usize, seen_from: Option<usize>) -> Option<Vec<Value>> {
        let (size, at) = varint(page, at)?;
        let (rowid, at) = varint(page, at)?;
        let size = usize::try_from(size).ok()?;
        if size > MAX_ROW_BYTES {
            return None;
        }
        let local = local_bytes(size, page.len());
        let mut payload = page.get(at..at + local)?.to_vec();
        let mut next = if local < size { number(page, at + local)? } else { 0 };
        while payload.len() < size {
            let overflow = self.page(next, seen_from)?;
            let take = (size - payload.len()).min(overflow.len() - 4);
            payload.extend_from_slice(overflow.get(4..4 + take)?);
            next = number(&overflow, 0)?;
        }
        let mut cells = record(&payload)?;
        if let Some(first @ Value::Null) = cells.first_mut() {
            *first = Value::Integer(rowid as i64);
        }
        Some(cells)
    }
}

fn optional(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn judge(cells: Vec<Value>, trust: Trust) -> Option<Carved> {
    let trace = trace(&cells);
    match rows::unseal(cells) {
        // Of a commit that may be none only the log counts; the rest can be made anew from it.
        Some(row) if trust != Trust::Last || matches!(row, Sealed::Log { .. }) => {
            Some(Carved::Row { row: Box::new(row), trust })
        }
        None if trust != Trust::Last => trace,
        _ => None,
    }
}

fn trace(cells: &[Value]) -> Option<Carved> {
    use Value::{Blob, Integer};
    let [Integer(_), Integer(session), Integer(first), Integer(last), Integer(_), Blob(records)] = cells else {
        return None;
    };
    let (session, first, last) =
        (u64::try_from(*session).ok()?, u64::try_from(*first).ok()?, u64::try_from(*last).ok()?);
    let most = records.len() as u64 / LEAST_RECORD_BYTES;
    let plausible = first >= 1 && first <= last && last - first < most;
    plausible.then_some(Carved::Trace { session: SessionId(session), first: Seq(first), last: Seq(last) })
}

/// How much of a payload lies in the leaf itself; the rest is in overflow pages.
fn local_bytes(size: usize, page_size: usize) -> usize {
    let most = page_size - 35;
    if size <= most {
        return size;
    }
    let least = (page_size - 12) * 32 / 255 - 23;
    let fitting = least + (size - least) % (page_size - 4);
    if fitting <= most { fitting } else { least }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for (count, byte) in bytes.get(at..)?.iter().take(9).enumerate() {
        if count == 8 {
            return Some((value << 8 | u64::from(*byte), at + 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + count + 1));
        }
    }
    None
}

/// The cells of a record as the engine writes it: a header of types, then the values.
fn record(payload: &[u8]) -> Option<Vec<Value>> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).ok()?;
    let mut body = header;
    let mut cells = Vec::new();
    while at < header {
        let (kind, next) = varint(payload, at)?;
        at = next;
        let size = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let bytes = payload.get(body..body.checked_add(size)?)?;
        body += size;
        cells.push(match kind {
            0 => Value::Null,
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            1..=6 => Value::Integer(signed(bytes)),
            7 => return None,
            _ if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
            _ => Value::Text(std::str::from_utf8(bytes).ok()?.to_owned()),
        });
    }
    Some(cells)
}

fn signed(bytes: &[u8]) -> i64 {
    let start = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(start, |value, byte| value << 8 | i64::from(*byte))
}
