//! A session's record on the disk: two files of lines, the older one thrown away when the newer one is full. Private to
//! the owner, and gone with the session.

mod tail;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use switchboard_types::SessionId;

pub use tail::Tail;

/// Bytes of one of the two files.
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// The end of a file in which its last whole line lies: a line is a message at its longest, each byte written out.
const LAST_LINE_BYTES: u64 = 8 * super::MAX_RAW_BYTES as u64;
const FOLDER: &str = "wire";
const LINES: &str = "jsonl";
const OLDER: &str = "older.jsonl";
const SWITCH: &str = "switch";

/// Where the records of a data folder lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireFolder {
    path: PathBuf,
}

impl WireFolder {
    /// The one in this data folder. Makes nothing.
    #[must_use]
    pub fn within(data: &Path) -> Self {
        Self { path: data.join(FOLDER) }
    }

    pub(super) fn make(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn file(&self, session: SessionId, ending: &str) -> PathBuf {
        self.path.join(format!("{session}.{ending}"))
    }

    fn newer(&self, session: SessionId) -> PathBuf {
        self.file(session, LINES)
    }

    fn older(&self, session: SessionId) -> PathBuf {
        self.file(session, OLDER)
    }

    pub(super) fn switch(&self, session: SessionId) -> PathBuf {
        self.file(session, SWITCH)
    }

    /// Every session of which anything lies here.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionId> {
        let Ok(files) = fs::read_dir(&self.path) else { return Vec::new() };
        let session = |name: &str| name.split('.').next()?.parse().ok().map(SessionId);
        let mut sessions: Vec<SessionId> = files.filter_map(|file| session(file.ok()?.file_name().to_str()?)).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    /// Whether anything was ever recorded of a session.
    #[must_use]
    pub fn has(&self, session: SessionId) -> bool {
        self.newer(session).exists() || self.older(session).exists()
    }

    /// Deletes all that lies here of a session.
    pub fn forget(&self, session: SessionId) -> io::Result<()> {
        let mut failed = Ok(());
        for path in [self.newer(session), self.older(session), self.switch(session)] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => failed = Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        failed
    }

    pub(super) fn write_private(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        private().write(true).create(true).truncate(true).open(path)?.write_all(content)
    }
}

/// A file that only its owner may read, and that is no link to another.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default());
    options
}

/// The end of a session's record, to be added to.
#[derive(Debug)]
pub(super) struct End {
    folder: WireFolder,
    session: SessionId,
    file: File,
    bytes: u64,
    max: u64,
    last: u64,
}

impl End {
    /// Opens a record, or begins it. A line that a killed host left unfinished is taken away.
    pub(super) fn open(folder: &WireFolder, session: SessionId, max: u64) -> io::Result<Self> {
        folder.make()?;
        let path = folder.newer(session);
        let mut file = private().read(true).write(true).create(true).truncate(false).open(&path)?;
        let (bytes, last) = last_line(&mut file)?;
        file.set_len(bytes)?;
        file.seek(SeekFrom::Start(bytes))?;
        let last = match last {
            Some(last) => last,
            None => match File::open(folder.older(session)) {
                Ok(mut older) => last_line(&mut older)?.1.unwrap_or(0),
                Err(_) => 0,
            },
        };
        Ok(Self { folder: folder.clone(), session, file, bytes, max, last })
    }

    /// The number that the next line has.
    pub(super) fn next(&self) -> u64 {
        self.last + 1
    }

    /// Adds the line of the next number.
    pub(super) fn add(&mut self, line: &[u8]) -> io::Result<()> {
        let size = line.len() as u64;
        if self.bytes > 0 && self.bytes + size > self.max {
            self.turn_over()?;
        }
        if let Err(error) = self.file.write_all(line) {
            // Half a line must not become the beginning of the next.
            self.file.set_len(self.bytes)?;
            self.file.seek(SeekFrom::Start(self.bytes))?;
            return Err(error);
        }
        self.bytes += size;
        self.last += 1;
        Ok(())
    }

    fn turn_over(&mut self) -> io::Result<()> {
        let path = self.folder.newer(self.session);
        fs::rename(&path, self.folder.older(self.session))?;
        self.file = private().read(true).write(true).create_new(true).open(&path)?;
        self.bytes = 0;
        Ok(())
    }
}

/// Where the last whole line of a file ends, and its number.
fn last_line(file: &mut File) -> io::Result<(u64, Option<u64>)> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(LAST_LINE_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(LAST_LINE_BYTES).read_to_end(&mut tail)?;
    let Some(end) = tail.iter().rposition(|byte| *byte == b'\n') else { return Ok((from, None)) };
    let whole = tail.get(..end).unwrap_or_default();
    let number = whole.rsplit(|byte| *byte == b'\n').next().and_then(number);
    Ok((from + end as u64 + 1, number))
}

/// The number of a line: it stands first.
fn number(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"{\"n\":")?;
    let digits = rest.get(..rest.iter().position(|byte| !byte.is_ascii_digit())?)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const S: SessionId = SessionId(7);

    fn line(n: u64) -> Vec<u8> {
        format!("{{\"n\":{n},\"x\":\"{}\"}}\n", "y".repeat(80)).into_bytes()
    }

    fn add(end: &mut End, count: u64) {
        for _ in 0..count {
            let line = line(end.next());
            end.add(&line).unwrap();
        }
    }

    #[test]
    fn a_record_is_private_and_goes_on_where_it_ended() {
        let data = tempfile::tempdir().unwrap();
        let folder = WireFolder::within(data.path());
        assert!(!folder.has(S));
        add(&mut End::open(&folder, S, 1000).unwrap(), 3);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder.path), mode(&folder.newer(S))), (0o700, 0o600));
        let mut end = End::open(&folder, S, 1000).unwrap();
        assert_eq!(end.next(), 4);
        add(&mut end, 1);
        assert_eq!(fs::read(folder.newer(S)).unwrap(), (1..=4).flat_map(line).collect::<Vec<_>>());
        assert_eq!(folder.sessions(), [S]);
        folder.forget(S).unwrap();
        assert_eq!((folder.has(S), folder.sessions()), (false, Vec::new()));
    }

    #[test]
    fn two_files_are_never_longer_than_twice_the_limit() {
        let data = tempfile::tempdir().unwrap();
        let folder = WireFolder::within(data.path());
        let mut end = End::open(&folder, S, 1000).unwrap();
        add(&mut end, 100);
        let length = |path: PathBuf| fs::metadata(path).unwrap().len();
        assert!(length(folder.newer(S)) <= 1000 && length(folder.older(S)) <= 1000);
        // The newer one may be empty but for what comes next; the number goes on all the same.
        drop(end);
        assert_eq!(End::open(&folder, S, 1000).unwrap().next(), 101);
        fs::write(folder.newer(S), b"").unwrap();
        let older = fs::read(folder.older(S)).unwrap();
        let last = older.split(|byte| *byte == b'\n').filter_map(number).next_back().unwrap();
        assert_eq!(End::open(&folder, S, 1000).unwrap().next(), last + 1);
    }

    #[test]
    fn what_a_killed_host_left_unfinished_is_taken_away() {
        let data = tempfile::tempdir().unwrap();
        let folder = WireFolder::within(data.path());
        add(&mut End::open(&folder, S, 1000).unwrap(), 2);
        let whole = fs::read(folder.newer(S)).unwrap();
        fs::write(folder.newer(S), [whole.clone(), b"{\"n\":3,\"x".to_vec()].concat()).unwrap();
        let mut end = End::open(&folder, S, 1000).unwrap();
        add(&mut end, 1);
        assert_eq!(fs::read(folder.newer(S)).unwrap(), [whole, line(3)].concat());
    }
}
