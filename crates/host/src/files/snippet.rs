//! The beginning and the end of a file of text, within bounds of lines and bytes. Never cuts a character, never waits for a
//! pipe or a device, and holds no more of the file than it shows.
//!
//! The whole file is read once, up to [`MAX_COUNTED_BYTES`]: its lines are counted and it is checked to be text. Of a larger
//! one, the lines of that part are counted, and its end is read apart.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use switchboard_types::{FileAnswer, Reject, SnippetCut};

use super::{FilePlace, plain, refused, slashed};
use crate::runner::reading;

/// Bytes of a file that are looked through.
const MAX_COUNTED_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that are shown, whatever is asked for.
const MAX_SHOWN_BYTES: usize = 1024 * 1024;
/// Lines from the beginning, and from the end, that are shown, whatever is asked for.
const MAX_SHOWN_LINES: usize = 10_000;
/// A NUL among so many bytes at the beginning says that it is no text.
const TELLING_BYTES: u64 = 8 * 1024;
/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Reads the beginning and the end of a file.
pub(super) fn read(place: &FilePlace, asked: &str, cut: SnippetCut) -> Result<FileAnswer, Reject> {
    let asked = plain(asked)?;
    let root = place.open()?;
    let path = slashed(&root.existing(asked).map_err(|failure| refused(&failure))?);
    let file = reading::open(&root, asked).map_err(|failure| refused(&failure))?;
    let cut = SnippetCut {
        head_lines: cut.head_lines.min(MAX_SHOWN_LINES),
        tail_lines: cut.tail_lines.min(MAX_SHOWN_LINES),
        max_bytes: cut.max_bytes.min(MAX_SHOWN_BYTES),
    };
    let scanned = scan(file, cut.max_bytes).map_err(|error| refused(&root.failure(asked, &error)))?;
    let total_bytes = scanned.bytes;
    Ok(match Shown::of(&scanned, cut) {
        Some(shown) => FileAnswer::Snippet {
            path,
            content: shown.content,
            truncated: shown.is_cut,
            total_bytes,
            total_lines: scanned.lines(),
            binary: false,
        },
        None => FileAnswer::Snippet {
            path,
            content: String::new(),
            truncated: total_bytes > 0,
            total_bytes,
            total_lines: 0,
            binary: true,
        },
    })
}

/// What was seen of a file.
#[derive(Default)]
struct Scanned {
    /// All that there is.
    bytes: u64,
    /// How much of it was looked through.
    counted: u64,
    newlines: u64,
    ends_in_newline: bool,
    /// Its first bytes, as many as may be shown and one more.
    first: Vec<u8>,
    /// Its last bytes, as many as may be shown.
    last: Vec<u8>,
    is_text: bool,
}

impl Scanned {
    fn lines(&self) -> u64 {
        self.newlines + u64::from(self.counted > 0 && !self.ends_in_newline)
    }

    fn is_whole(&self) -> bool {
        self.counted == self.bytes
    }
}

fn scan(mut file: File, most: usize) -> io::Result<Scanned> {
    let mut seen = Scanned { is_text: true, ..Scanned::default() };
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut half = Vec::new();
    while seen.counted < MAX_COUNTED_BYTES {
        let read = file.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        take(&mut seen, bytes, &mut half, most);
        if !seen.is_text {
            break;
        }
    }
    keep_last(&mut seen.last, most);
    let size = file.metadata()?.len();
    // What lies in /proc says that it has no bytes, and a file may have grown meanwhile.
    seen.bytes = size.max(seen.counted);
    if seen.counted < MAX_COUNTED_BYTES && seen.is_text {
        seen.bytes = seen.counted;
        seen.is_text = half.is_empty();
    } else if seen.is_text && !seen.is_whole() {
        seen.last = end_of(&mut file, most)?;
        let begins = character_start(&seen.last, 0);
        seen.last.drain(..begins);
        seen.is_text = std::str::from_utf8(&seen.last).is_ok();
    }
    Ok(seen)
}

/// Takes note of the next bytes. `half` is the beginning of a character whose end has not come yet.
fn take(seen: &mut Scanned, bytes: &[u8], half: &mut Vec<u8>, most: usize) {
    let telling = usize::try_from(TELLING_BYTES.saturating_sub(seen.counted)).unwrap_or(usize::MAX);
    let has_nul = bytes.iter().take(telling).any(|byte| *byte == 0);
    seen.counted += bytes.len() as u64;
    seen.newlines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    seen.ends_in_newline = bytes.last() == Some(&b'\n');
    let room = (most + 1).saturating_sub(seen.first.len());
    seen.first.extend(bytes.iter().take(room));
    seen.last.extend_from_slice(bytes);
    // Seldom, since what stays is moved each time.
    if seen.last.len() > 2 * most + CHUNK_BYTES {
        keep_last(&mut seen.last, most);
    }
    half.extend_from_slice(bytes);
    match std::str::from_utf8(half) {
        Ok(_) => half.clear(),
        Err(error) if error.error_len().is_none() => drop(half.drain(..error.valid_up_to())),
        Err(_) => seen.is_text = false,
    }
    seen.is_text &= !has_nul;
}

fn keep_last(bytes: &mut Vec<u8>, most: usize) {
    let over = bytes.len().saturating_sub(most);
    bytes.drain(..over);
}

fn end_of(file: &mut File, most: usize) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(most as u64)))?;
    let mut last = Vec::new();
    file.take(most as u64).read_to_end(&mut last)?;
    Ok(last)
}

/// What is shown of a file.
struct Shown {
    content: String,
    is_cut: bool,
}

impl Shown {
    /// None for what is no text.
    fn of(seen: &Scanned, cut: SnippetCut) -> Option<Self> {
        if !seen.is_text {
            return None;
        }
        let lines = u64::try_from(cut.head_lines + cut.tail_lines).unwrap_or(u64::MAX);
        if seen.is_whole() && seen.bytes <= cut.max_bytes as u64 && seen.lines() <= lines {
            return Some(Self { content: text(&seen.first)?.to_owned(), is_cut: false });
        }
        let head = seen.first.get(..lines_end(&seen.first, cut.head_lines)).unwrap_or_default();
        let tail = seen.last.get(lines_start(&seen.last, cut.tail_lines)..).unwrap_or_default();
        // The end is worth half of the room, and what the beginning leaves.
        let for_head = cut.max_bytes - tail.len().min(cut.max_bytes / 2);
        let head = head.get(..character_end(head, for_head)).unwrap_or(head);
        let for_tail = cut.max_bytes - head.len();
        let head_ends = head.len() as u64;
        let mut tail_starts = tail.len().saturating_sub(for_tail);
        // Where both would show the same, the beginning has shown it.
        let at = seen.bytes.saturating_sub(tail.len() as u64);
        tail_starts = tail_starts.max(usize::try_from(head_ends.saturating_sub(at)).unwrap_or(usize::MAX));
        let tail = tail.get(character_start(tail, tail_starts)..).unwrap_or_default();
        let between = seen.bytes.saturating_sub(head_ends).saturating_sub(tail.len() as u64);
        let content = join(text(head)?, &left_out(seen, head, tail, between), text(tail)?);
        Some(Self { content, is_cut: true })
    }
}

/// The line that says how much is left out between the two: in lines, where whole lines are.
fn left_out(seen: &Scanned, head: &[u8], tail: &[u8], between: u64) -> String {
    let head_is_whole = head.is_empty() || head.ends_with(b"\n");
    let before_tail = seen.last.len().checked_sub(tail.len() + 1).and_then(|at| seen.last.get(at));
    let tail_is_whole = tail.is_empty() || before_tail == Some(&b'\n');
    if seen.is_whole() && head_is_whole && tail_is_whole {
        let shown = line_count(head) + line_count(tail);
        return counted(seen.lines().saturating_sub(shown), "line");
    }
    counted(between, "byte")
}

fn counted(number: u64, what: &str) -> String {
    format!("… {number} {what}{} left out …", if number == 1 { "" } else { "s" })
}

fn join(head: &str, mark: &str, tail: &str) -> String {
    let mut content = String::with_capacity(head.len() + mark.len() + tail.len() + 2);
    content.push_str(head);
    if !head.is_empty() && !head.ends_with('\n') {
        content.push('\n');
    }
    content.push_str(mark);
    content.push('\n');
    content.push_str(tail);
    content
}

/// Checked already, as far as it was cut between characters.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn line_count(bytes: &[u8]) -> u64 {
    let newlines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    newlines + u64::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))
}

/// Where the first lines end.
fn lines_end(bytes: &[u8], lines: usize) -> usize {
    let Some(wanted) = lines.checked_sub(1) else { return 0 };
    let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.nth(wanted).unwrap_or(bytes.len())
}

/// Where the last lines begin.
fn lines_start(bytes: &[u8], lines: usize) -> usize {
    if lines == 0 {
        return bytes.len();
    }
    // The newline that ends the last line begins none.
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut starts = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    starts.nth(lines - 1).unwrap_or(0)
}

fn is_inside(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000)
}

/// The last place up to `most` that is between two characters.
fn character_end(bytes: &[u8], most: usize) -> usize {
    let most = most.min(bytes.len());
    (most.saturating_sub(3)..=most).rev().find(|at| !is_inside(bytes, *at)).unwrap_or(most)
}

/// The first place from `least` on that is between two characters.
fn character_start(bytes: &[u8], least: usize) -> usize {
    let least = least.min(bytes.len());
    (least..=bytes.len().min(least + 3)).find(|at| !is_inside(bytes, *at)).unwrap_or(least)
}
