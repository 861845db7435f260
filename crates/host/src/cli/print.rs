//! Data on standard output. A reader that went away is no reason to die.

use std::io::{self, Write};

use crate::agents::shown::shown;

/// Longer than any line of ours; a path has at most 4096 bytes.
const MAX_CHARS: usize = 8192;

/// Prints one line for people. A folder's name may hold anything, so what could deceive is written out.
pub(super) fn words(text: &str) {
    line(&shown(text, MAX_CHARS));
}

/// Prints one line as it is, at once.
pub(super) fn line(text: &str) {
    let mut stdout = io::stdout().lock();
    // Whoever closed our output does not want to know.
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}
