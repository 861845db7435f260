//! Reading foreign JSON objects: named fields in one pass, each kept as the text that it was. Never builds a tree and
//! never knows a dialect.

mod depth;
mod fields;
mod list;
mod quick;
mod skip;

pub(crate) use depth::deeper_than;
pub(crate) use fields::{FieldError, Fields, FieldsError, lossy};
pub(crate) use list::{items, pairs};
pub(crate) use quick::text_end;

/// Characters of a foreign name that an error text repeats.
const MAX_SHOWN_CHARS: usize = 64;

/// A foreign name for an error text: quoted, escaped and cut.
pub(crate) fn shown(name: &str) -> String {
    let mut rest = name.chars();
    let head: String = rest.by_ref().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    let cut = if rest.next().is_some() { "…" } else { "" };
    format!("\"{head}{cut}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_name_is_quoted_escaped_and_cut() {
        assert_eq!(shown("plain"), "\"plain\"");
        assert_eq!(shown("a\"b\n\u{1b}"), "\"a\\\"b\\n\\u{1b}\"");
        assert_eq!(shown(&"é".repeat(64)), format!("\"{}\"", "é".repeat(64)));
        assert_eq!(shown(&"é".repeat(65)), format!("\"{}…\"", "é".repeat(64)));
    }
}
