//! Files of text, read whole or by lines. Never waits for a pipe or a device, and never changes anything.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use cap_std::fs::{OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use switchboard_types::{ErrandCode, ErrandFailure};

use super::limits::{MAX_READ_BYTES, MAX_SCAN_BYTES};
use super::place::{Root, invalid};

/// Which lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// The first, counted from 1.
    pub(crate) from: Option<u32>,
    /// At most so many.
    pub(crate) limit: Option<u32>,
}

/// Reads text.
pub(crate) fn read(root: &Root, asked: &str, lines: Lines) -> Result<String, ErrandFailure> {
    if lines.from == Some(0) {
        return Err(ErrandFailure::new(ErrandCode::Invalid, "there is no line 0; lines are counted from 1"));
    }
    let file = open(root, asked)?;
    let failed = |error: std::io::Error| root.failure(asked, &error);
    let whole = lines.from.unwrap_or(1) == 1 && lines.limit.is_none();
    let size = file.metadata().map_err(failed)?.len();
    if whole && size > MAX_READ_BYTES {
        let advice = format!("has {size} bytes and {MAX_READ_BYTES} can be read at once; ask for some of its lines");
        return Err(too_large(asked, &advice));
    }
    let mut text = Vec::new();
    let mut reader = BufReader::new(file.take(MAX_SCAN_BYTES));
    skip(&mut reader, lines.from.unwrap_or(1) - 1).map_err(failed)?;
    take(&mut reader, lines.limit, &mut text).map_err(failed)?;
    if text.len() as u64 > MAX_READ_BYTES {
        return Err(too_large(asked, &format!("has more than {MAX_READ_BYTES} bytes there; ask for fewer lines")));
    }
    if reader.get_ref().limit() == 0 {
        let advice = format!("is searched for lines in its first {MAX_SCAN_BYTES} bytes only; use a command instead");
        return Err(too_large(asked, &advice));
    }
    String::from_utf8(text).map_err(|_| invalid(asked, "is no text in UTF-8; only text can be read"))
}

/// Opens a regular file for reading. What it is, is looked at before it is opened, since opening a device can do something,
/// and again after, since it may be another by then.
pub(crate) fn open(root: &Root, asked: &str) -> Result<File, ErrandFailure> {
    let path = root.existing(asked)?;
    if path.as_os_str().is_empty() {
        return Err(invalid(asked, "is a folder, not a file"));
    }
    let failed = |error: std::io::Error| root.failure(asked, &error);
    regular(asked, &root.dir().metadata(&path).map_err(failed)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    let file = root.dir().open_with(&path, &options).map_err(failed)?;
    regular(asked, &file.metadata().map_err(failed)?)?;
    Ok(file.into_std())
}

fn regular(asked: &str, found: &cap_std::fs::Metadata) -> Result<(), ErrandFailure> {
    match found.file_type() {
        sort if sort.is_file() => Ok(()),
        sort if sort.is_dir() => Err(invalid(asked, "is a folder, not a file")),
        _ => Err(invalid(asked, "is a pipe, a socket or a device, not a file")),
    }
}

fn skip(reader: &mut impl BufRead, lines: u32) -> std::io::Result<()> {
    for _ in 0..lines {
        if reader.skip_until(b'\n')? == 0 {
            break;
        }
    }
    Ok(())
}

/// Takes one byte more than may be read at most, so that too much is noticed.
fn take(reader: &mut impl BufRead, lines: Option<u32>, text: &mut Vec<u8>) -> std::io::Result<()> {
    let mut reader = reader.take(MAX_READ_BYTES + 1);
    match lines {
        None => reader.read_to_end(text).map(drop),
        Some(lines) => {
            for _ in 0..lines {
                if reader.read_until(b'\n', text)? == 0 {
                    break;
                }
            }
            Ok(())
        }
    }
}

fn too_large(asked: &str, what: &str) -> ErrandFailure {
    ErrandFailure { code: ErrandCode::TooLarge, ..invalid(asked, what) }
}
