//! Reads a write-ahead log frame by frame, before the engine does. Never changes it.
//!
//! The engine takes a log up to the first frame whose checksum is wrong and silently drops the rest, since that is what a
//! power loss in the middle of a commit leaves behind. A flipped byte looks the same to it, but then commits that were
//! acknowledged follow. Here the difference is seen: a commit's last frame beyond the wrong one. (Where not every commit was
//! synced, a power loss leaves that behind too; then the engine's way is right.)

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
pub(crate) const FRAME_HEADER_BYTES: usize = 24;

/// A frame that belongs to the log's present round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The page it holds.
    pub(crate) page: u32,
    /// Where the page's bytes begin in the file.
    pub(crate) offset: u64,
    /// Whether the frame ends a commit.
    pub(crate) commits: bool,
    /// Whether the checksums up to it are right and a commit's end follows with right checksums too.
    pub(crate) trusted: bool,
}

/// What a write-ahead log holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wal {
    pub(crate) page_size: usize,
    pub(crate) frames: Vec<Frame>,
    /// Whether commits lie beyond a wrong checksum.
    pub(crate) damaged: bool,
}

/// Reads a log; none if there is none or nothing is in it.
pub(crate) fn read(path: &Path) -> io::Result<Option<Wal>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut input = BufReader::with_capacity(256 * 1024, file);
    let mut header = [0; HEADER_BYTES];
    if !fill(&mut input, &mut header)? {
        return Ok(None);
    }
    let big = word(&header, 0) == 0x377f_0683;
    let magic = matches!(word(&header, 0), 0x377f_0682 | 0x377f_0683);
    let sums = checksum((0, 0), header.get(..24).unwrap_or_default(), big);
    let header_is_right = magic && sums == (word(&header, 24), word(&header, 28));
    let size = word(&header, 8) as usize;
    let page_size = if size.is_power_of_two() && (512..=65536).contains(&size) { size } else { 4096 };
    let salts = header_is_right.then(|| (word(&header, 16), word(&header, 20)));
    walk(&mut input, Walk { page_size, big, salts, sums, chained: header_is_right }).map(Some)
}

struct Walk {
    page_size: usize,
    big: bool,
    /// What marks the present round; taken from the first frame if the header is wrong.
    salts: Option<(u32, u32)>,
    sums: (u32, u32),
    chained: bool,
}

fn walk(input: &mut impl Read, mut walk: Walk) -> io::Result<Wal> {
    let mut wal = Wal { page_size: walk.page_size, ..Wal::default() };
    let mut bytes = vec![0; FRAME_HEADER_BYTES + walk.page_size];
    let mut offset = HEADER_BYTES as u64;
    let mut uncommitted = 0;
    while fill(input, &mut bytes)? {
        let (head, page) = bytes.split_at(FRAME_HEADER_BYTES);
        let here = (word(head, 8), word(head, 12));
        let number = word(head, 0);
        let of_this_round = number != 0 && here != (0, 0) && *walk.salts.get_or_insert(here) == here;
        if walk.chained {
            let sums = checksum(checksum(walk.sums, head.get(..8).unwrap_or_default(), walk.big), page, walk.big);
            walk.sums = sums;
            walk.chained = of_this_round && sums == (word(head, 16), word(head, 20));
        }
        if of_this_round {
            let commits = word(head, 4) != 0;
            let frame =
                Frame { page: number, offset: offset + FRAME_HEADER_BYTES as u64, commits, trusted: walk.chained };
            wal.frames.push(frame);
            wal.damaged |= commits && !walk.chained;
            if walk.chained && commits {
                uncommitted = wal.frames.len();
            }
        }
        offset += bytes.len() as u64;
    }
    wal.frames.iter_mut().skip(uncommitted).for_each(|frame| frame.trusted = false);
    Ok(wal)
}

/// Fills the buffer; no if the input ends before that.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let four: [u8; 4] = bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).unwrap_or_default();
    u32::from_be_bytes(four)
}

fn checksum((mut one, mut two): (u32, u32), bytes: &[u8], big: bool) -> (u32, u32) {
    let (pairs, _) = bytes.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in pairs {
        let (left, right) = ([*a, *b, *c, *d], [*e, *f, *g, *h]);
        let (left, right) = if big {
            (u32::from_be_bytes(left), u32::from_be_bytes(right))
        } else {
            (u32::from_le_bytes(left), u32::from_le_bytes(right))
        };
        one = one.wrapping_add(left).wrapping_add(two);
        two = two.wrapping_add(right).wrapping_add(one);
    }
    (one, two)
}
