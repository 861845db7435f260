//! Giving room that nothing uses any more back to the disk: a few pages at a time, between commits. Never throws anything
//! away that is in use.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::Shrunk;
use super::sqlite::BUSY;
use super::writer::Writer;

/// Pages that are given back between two looks for commits.
const PAGES_A_STEP: u32 = 256;
/// The largest file that is made anew as a whole, once, if it was made before files could give pages back. Commits wait
/// meanwhile; a larger one keeps its free pages for what is said later.
const MAX_WHOLE_BYTES: u64 = 256 * 1024 * 1024;

/// How long readers are waited for when the log is emptied.
const READERS_PATIENCE: Duration = Duration::from_millis(50);

/// One who waits for free room to be given back.
#[derive(Debug)]
pub(crate) struct Shrinking {
    answer: SyncSender<rusqlite::Result<Shrunk>>,
    before: Option<u64>,
}

impl Shrinking {
    pub(crate) fn new(answer: SyncSender<rusqlite::Result<Shrunk>>) -> Self {
        Self { answer, before: None }
    }
}

/// Whether there is more to give back.
enum Left {
    Some,
    None,
}

impl Writer {
    /// One step for the first who waits.
    pub(super) fn shrink_a_little(&mut self) {
        let Some(mut first) = self.shrinking.pop_front() else { return };
        let before = *first.before.get_or_insert_with(|| self.bytes());
        match self.give_back() {
            Ok(Left::Some) => self.shrinking.push_front(first),
            // Whoever asked may be gone.
            Ok(Left::None) => drop(first.answer.send(Ok(Shrunk { before, after: self.bytes() }))),
            Err(error) => {
                self.notice(&error);
                drop(first.answer.send(Err(error)));
            }
        }
    }

    fn bytes(&self) -> u64 {
        let size = |path: std::path::PathBuf| std::fs::metadata(path).map_or(0, |found| found.len());
        size(self.path.clone()) + size(super::check::beside(&self.path, "-wal"))
    }

    fn give_back(&mut self) -> rusqlite::Result<Left> {
        let number = |pragma: &str| self.conn.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
        const INCREMENTAL: i64 = 2;
        if number("freelist_count")? > 0 {
            if number("auto_vacuum")? == INCREMENTAL {
                let mut step = self.conn.prepare(&format!("PRAGMA incremental_vacuum({PAGES_A_STEP})"))?;
                let mut pages = step.query([])?;
                while pages.next()?.is_some() {}
                return Ok(Left::Some);
            }
            if self.bytes() <= MAX_WHOLE_BYTES {
                self.conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")?;
            }
        }
        self.wal_pages = 0;
        // Readers may keep a part of the log; it goes with the next time. Commits must not wait for them.
        self.conn.busy_timeout(READERS_PATIENCE)?;
        let copied = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        self.conn.busy_timeout(BUSY)?;
        copied.map(|()| Left::None)
    }
}
