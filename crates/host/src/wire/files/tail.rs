//! A record read after a number, and on as it grows. Holds its place in an open file, so a file that is turned over
//! meanwhile is read to its end first.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use switchboard_types::SessionId;

use super::{WireFolder, number};

/// Bytes read at once.
const STEP_BYTES: usize = 128 * 1024;

/// A reader's place in a session's record.
#[derive(Debug)]
pub struct Tail {
    folder: WireFolder,
    session: SessionId,
    after: u64,
    file: Option<Place>,
    /// The beginning of a line whose end is not there yet.
    begun: Vec<u8>,
}

#[derive(Debug)]
struct Place {
    file: File,
    inode: u64,
}

impl Tail {
    /// Reads what comes after this number; 0 is before the first.
    #[must_use]
    pub fn new(folder: WireFolder, session: SessionId, after: u64) -> Self {
        Self { folder, session, after, file: None, begun: Vec::new() }
    }

    /// The number of the last line that was read.
    #[must_use]
    pub fn after(&self) -> u64 {
        self.after
    }

    /// The next lines, whole, some at a time; empty if there are none yet.
    pub fn read_on(&mut self) -> io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        while lines.is_empty() {
            let Some(place) = self.file.as_mut() else {
                match self.first()? {
                    Some(place) => self.file = Some(place),
                    None => return Ok(lines),
                }
                continue;
            };
            let mut step = vec![0; STEP_BYTES];
            let read = place.file.read(&mut step)?;
            if read > 0 {
                self.begun.extend_from_slice(step.get(..read).unwrap_or_default());
                self.take_lines(&mut lines);
                continue;
            }
            let inode = place.inode;
            match self.following(inode)? {
                Some(next) => {
                    self.begun.clear();
                    self.file = Some(next);
                }
                None => return Ok(lines),
            }
        }
        Ok(lines)
    }

    fn take_lines(&mut self, lines: &mut Vec<u8>) {
        let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') else { return };
        for line in self.begun.get(..=end).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            if let Some(n) = number(line).filter(|n| *n > self.after) {
                self.after = n;
                lines.extend_from_slice(line);
            }
        }
        self.begun.drain(..=end);
    }

    fn first(&self) -> io::Result<Option<Place>> {
        match place(&self.folder.older(self.session))? {
            Some(older) => Ok(Some(older)),
            None => place(&self.folder.newer(self.session)),
        }
    }

    /// The file after the one that is read to its end; none if that is the last.
    fn following(&self, inode: u64) -> io::Result<Option<Place>> {
        let newer = place(&self.folder.newer(self.session))?.filter(|newer| newer.inode != inode);
        if newer.is_none() {
            return Ok(None);
        }
        // It was turned over more than once meanwhile: the older one comes first.
        let older = place(&self.folder.older(self.session))?.filter(|older| older.inode != inode);
        match older {
            Some(older) if last(&older.file)? > self.after => Ok(Some(older)),
            Some(_) | None => Ok(newer),
        }
    }
}

fn place(path: &Path) -> io::Result<Option<Place>> {
    match File::open(path) {
        Ok(file) => {
            let inode = file.metadata()?.ino();
            Ok(Some(Place { file, inode }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn last(file: &File) -> io::Result<u64> {
    // By its own path, since reading moves the place of every handle that shares it.
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
    let mut again = fs::File::open(path)?;
    Ok(super::last_line(&mut again)?.1.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::End;
    use super::*;

    const S: SessionId = SessionId(3);

    fn add(end: &mut End, count: u64) {
        for _ in 0..count {
            let line = format!("{{\"n\":{},\"x\":\"{}\"}}\n", end.next(), "y".repeat(80));
            end.add(line.as_bytes()).unwrap();
        }
    }

    fn numbers(tail: &mut Tail) -> Vec<u64> {
        let mut all = Vec::new();
        loop {
            let lines = tail.read_on().unwrap();
            if lines.is_empty() {
                return all;
            }
            all.extend(lines.split(|byte| *byte == b'\n').filter_map(number));
        }
    }

    #[test]
    fn a_reader_follows_a_record_that_grows_and_is_turned_over() {
        let data = tempfile::tempdir().unwrap();
        let folder = WireFolder::within(data.path());
        let mut tail = Tail::new(folder.clone(), S, 0);
        assert_eq!(numbers(&mut tail), Vec::<u64>::new());
        let mut end = End::open(&folder, S, 1000).unwrap();
        add(&mut end, 3);
        assert_eq!(numbers(&mut tail), [1, 2, 3]);
        add(&mut end, 9);
        assert_eq!(numbers(&mut tail), (4..=12).collect::<Vec<_>>());
        assert_eq!(numbers(&mut Tail::new(folder.clone(), S, 10)), [11, 12]);
        // Far more than both files hold: what was thrown away is a hole, and the rest comes in order.
        add(&mut end, 100);
        let seen = numbers(&mut tail);
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
        assert_eq!((seen.first(), seen.last()), (Some(&13), Some(&112)));
        assert_eq!(numbers(&mut tail), Vec::<u64>::new());
        assert_eq!(tail.after(), 112);
    }
}
