//! `read_file`: a file of text, or some of its lines; of anything else, what it is. Never gives more than is bounded, and
//! never changes anything.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};

use serde_json::{Value, json};
use switchboard_types::{ErrandCode, ErrandFailure};

use super::taken::{Encoding, ReadFile};
use crate::runner::limits::{MAX_BASE64_BYTES, MAX_SCAN_BYTES, MAX_TOOL_TEXT_BYTES};
use crate::runner::place::{Root, invalid};
use crate::runner::reading;
use crate::runner::stop::Stop;

/// Bytes at the beginning of a file that say whether it is text.
const HEAD_BYTES: u64 = 8 * 1024;
/// Lines that are passed over before it is looked whether to stop.
const LINES_A_LOOK: u32 = 4096;

pub(super) fn read_file(root: &Root, asked: &ReadFile, stop: &Stop) -> Result<Value, ErrandFailure> {
    if asked.end_line.is_some_and(|end| end < asked.start_line) {
        return Err(ErrandFailure::new(ErrandCode::Invalid, "endLine is before startLine; there are no such lines"));
    }
    let failed = |error: std::io::Error| root.failure(&asked.path, &error);
    let path = root.existing(&asked.path)?.to_string_lossy().into_owned();
    let mut file = reading::open(root, &asked.path)?;
    let size = file.metadata().map_err(failed)?.len();
    if asked.encoding == Encoding::Base64 {
        return bytes(&asked.path, &path, file, size, &failed);
    }
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
    file.rewind().map_err(failed)?;
    if head.contains(&0) {
        return Ok(binary(&path, size, &head));
    }
    let read = lines(file, asked, stop, &failed)?;
    let Ok(content) = String::from_utf8(read.text) else { return Ok(binary(&path, size, &head)) };
    if read.scanned_out {
        let what = format!("is searched for lines in its first {MAX_SCAN_BYTES} bytes only; use a command instead");
        return Err(ErrandFailure { code: ErrandCode::TooLarge, ..invalid(&asked.path, &what) });
    }
    let mut answer = json!({
        "path": path, "encoding": "utf-8", "size": size, "startLine": asked.start_line, "endLine": read.last,
        "content": content, "truncated": read.cut,
    });
    if let (Some(total), Some(answer)) = (read.total, answer.as_object_mut()) {
        answer.insert("totalLines".to_owned(), json!(total));
    }
    Ok(answer)
}

/// Lines of a file.
struct Lines {
    text: Vec<u8>,
    /// The last line that is there; one less than the first if there is none.
    last: u32,
    /// How many the file has, if its end was seen.
    total: Option<u32>,
    /// There was more than may be given.
    cut: bool,
    /// The lines were not reached.
    scanned_out: bool,
}

fn lines(
    file: File,
    asked: &ReadFile,
    stop: &Stop,
    failed: &dyn Fn(std::io::Error) -> ErrandFailure,
) -> Result<Lines, ErrandFailure> {
    let mut reader = BufReader::new(file.take(MAX_SCAN_BYTES));
    let mut read = Lines { text: Vec::new(), last: asked.start_line - 1, total: None, cut: false, scanned_out: false };
    for passed in 0..asked.start_line - 1 {
        if passed % LINES_A_LOOK == 0 {
            stop.look()?;
        }
        if reader.skip_until(b'\n').map_err(failed)? == 0 {
            read.total = Some(passed);
            read.scanned_out = reader.get_ref().limit() == 0;
            return Ok(read);
        }
    }
    while asked.end_line.is_none_or(|end| read.last < end) {
        let room = MAX_TOOL_TEXT_BYTES.saturating_sub(read.text.len());
        let before = read.text.len();
        let taken = (&mut reader).take(room as u64 + 1).read_until(b'\n', &mut read.text).map_err(failed)?;
        if taken == 0 {
            read.total = Some(read.last).filter(|_| reader.get_ref().limit() > 0);
            break;
        }
        if taken > room {
            // A line that does not fit is left for the next time, unless it is the only one: then it is cut.
            let keep = if before == 0 { whole_characters(&read.text, room) } else { before };
            read.text.truncate(keep);
            read.last += u32::from(before == 0);
            read.cut = true;
            break;
        }
        read.last += 1;
    }
    Ok(read)
}

/// At most so many bytes, without half a character at the end.
fn whole_characters(text: &[u8], most: usize) -> usize {
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (most.saturating_sub(3)..=most).rev().find(|at| !is_inside(*at)).unwrap_or(most)
}

fn binary(path: &str, size: u64, head: &[u8]) -> Value {
    json!({
        "path": path, "binary": true, "size": size, "mimeType": mime(head),
        "note": format!("This is no text in UTF-8. Ask for encoding base64 to get the bytes of a file of up to {MAX_BASE64_BYTES}."),
    })
}

fn bytes(
    asked: &str,
    path: &str,
    file: File,
    size: u64,
    failed: &dyn Fn(std::io::Error) -> ErrandFailure,
) -> Result<Value, ErrandFailure> {
    let mut bytes = Vec::new();
    file.take(MAX_BASE64_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BASE64_BYTES {
        let what = format!("has {size} bytes, and {MAX_BASE64_BYTES} can be given as base64");
        return Err(ErrandFailure { code: ErrandCode::TooLarge, ..invalid(asked, &what) });
    }
    Ok(json!({
        "path": path, "encoding": "base64", "size": bytes.len(), "mimeType": mime(&bytes), "content": base64(&bytes),
        "truncated": false,
    }))
}

/// What a file seems to be by how it begins.
pub(crate) fn mime(head: &[u8]) -> &'static str {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"BM", "image/bmp"),
        (b"\0\0\x01\0", "image/x-icon"),
        (b"%PDF-", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b", "application/gzip"),
        (b"BZh", "application/x-bzip2"),
        (b"\xfd7zXZ\0", "application/x-xz"),
        (b"\x28\xb5\x2f\xfd", "application/zstd"),
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
        (b"\x7fELF", "application/x-executable"),
        (b"MZ", "application/vnd.microsoft.portable-executable"),
        (b"\xca\xfe\xba\xbe", "application/java-vm"),
        (b"\0asm", "application/wasm"),
        (b"SQLite format 3\0", "application/vnd.sqlite3"),
        (b"wOFF", "font/woff"),
        (b"wOF2", "font/woff2"),
        (b"OggS", "audio/ogg"),
        (b"fLaC", "audio/flac"),
        (b"ID3", "audio/mpeg"),
        (b"\xff\xfe", "text/plain; charset=utf-16"),
        (b"\xfe\xff", "text/plain; charset=utf-16"),
    ];
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    if head.get(4..8) == Some(b"ftyp") {
        return "video/mp4";
    }
    match KNOWN.iter().find(|(begin, _)| head.starts_with(begin)) {
        Some((_, mime)) => mime,
        None if head.contains(&0) => "application/octet-stream",
        None if std::str::from_utf8(head.get(..whole_characters(head, head.len())).unwrap_or(head)).is_ok() => {
            "text/plain"
        }
        None => "text/plain; charset=unknown-8bit",
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| DIGITS.get(bits as usize & 63).map_or('=', |digit| char::from(*digit));
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            text.push(if at <= three.len() { digit(bits >> shift) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_everybody_knows_it() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (from, to) in cases {
            assert_eq!(base64(from.as_bytes()), to);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
