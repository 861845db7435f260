//! Whether a text begins with something that means something, or may yet. Looks only so far that the answer is the same however the
//! text is cut.

use super::body::Kind;
use super::{Fence, More};
use crate::server::text_calls::shape::is_name;

/// How far is looked for what follows a mark, in bytes.
const AHEAD_BYTES: usize = 256;

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It is; so many bytes of it are left out.
    Is(usize),
    MayBe,
    IsNot,
}

/// Whether the text begins with this word.
pub(super) fn begins(text: &str, word: &str, more: More) -> Mark {
    if text.starts_with(word) {
        Mark::Is(word.len())
    } else if more == More::Comes && word.starts_with(text) {
        Mark::MayBe
    } else {
        Mark::IsNot
    }
}

/// Whether calls of this kind begin here: the mark, and behind it something that can be a call.
pub(super) fn follows(text: &str, kind: Kind, more: More) -> Mark {
    let size = match begins(text, kind.mark(), more) {
        Mark::Is(size) => size,
        other => return other,
    };
    let rest = text.get(size..).unwrap_or_default();
    let behind = rest.trim_start();
    if rest.len() - behind.len() > AHEAD_BYTES {
        return Mark::IsNot;
    }
    if behind.is_empty() {
        return if more == More::Comes { Mark::MayBe } else { Mark::IsNot };
    }
    if behind.starts_with(['{', '[']) {
        return Mark::Is(size);
    }
    let other = match kind {
        Kind::Tag => begins(behind, "<function=", more),
        Kind::Mistral => named(behind, more).0,
        Kind::Python | Kind::Fence(_) => Mark::IsNot,
    };
    match other {
        Mark::Is(_) => Mark::Is(size),
        Mark::MayBe | Mark::IsNot => other,
    }
}

/// A name and then arguments, as newer models of Mistral write them: `name[ARGS]{…}`, with `[CALL_ID]…` between at times. What comes
/// before the arguments is the mark.
pub(super) fn named(text: &str, more: More) -> (Mark, String) {
    let ahead = text.get(..text.floor_char_boundary(AHEAD_BYTES)).unwrap_or_default();
    let is_cut = ahead.len() < text.len();
    let name: String = ahead.chars().take_while(|each| is_name(each.encode_utf8(&mut [0; 4]))).collect();
    let rest = ahead.get(name.len()..).unwrap_or_default();
    let unsure = if more == More::Comes && !is_cut { Mark::MayBe } else { Mark::IsNot };
    if name.is_empty() {
        return (Mark::IsNot, name);
    }
    let rest = match rest.strip_prefix("[CALL_ID]") {
        Some(after) => after.trim_start_matches(|each: char| each.is_ascii_alphanumeric() || each == '_'),
        None => rest,
    };
    let after = rest.strip_prefix("[ARGS]").unwrap_or(rest).trim_start();
    let mark = match after.chars().next() {
        Some('{') => Mark::Is(ahead.len() - after.len()),
        None => unsure,
        Some(_) if ["[CALL_ID]", "[ARGS]"].iter().any(|word| word.starts_with(rest)) => unsure,
        Some(_) => Mark::IsNot,
    };
    (mark, name)
}

/// A line that may begin or end a fence.
pub(super) enum FenceLine {
    /// It does; the line has so many bytes, its end included.
    Is {
        fence: Fence,
        label: String,
        size: usize,
    },
    MayBe,
    /// It does not, and neither do its first bytes.
    IsNot(usize),
}

/// Reads a line that begins with a fence's mark.
pub(super) fn fence(text: &str, more: More) -> FenceLine {
    let Some(mark) = text.chars().next() else { return FenceLine::IsNot(1) };
    let behind = text.trim_start_matches(mark);
    let size = (text.len() - behind.len()) / mark.len_utf8();
    if behind.is_empty() && more == More::Comes {
        return if size > AHEAD_BYTES { FenceLine::IsNot(size) } else { FenceLine::MayBe };
    }
    if !(3..=AHEAD_BYTES).contains(&size) {
        return FenceLine::IsNot(size * mark.len_utf8());
    }
    let ahead = behind.get(..behind.floor_char_boundary(AHEAD_BYTES)).unwrap_or_default();
    let (label, ends) = match ahead.split_once('\n') {
        Some((label, _)) => (label, 1),
        None if ahead.len() < behind.len() => return FenceLine::IsNot(size),
        None if more == More::Comes => return FenceLine::MayBe,
        None => (ahead, 0),
    };
    if label.contains(mark) {
        return FenceLine::IsNot(size);
    }
    let whole = size * mark.len_utf8() + label.len() + ends;
    FenceLine::Is { fence: Fence { mark, size }, label: label.trim().to_owned(), size: whole }
}
