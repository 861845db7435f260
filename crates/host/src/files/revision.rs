//! How a file differs between two revisions of its repository, or one and the file as it is now. Runs git, so only where the
//! workspace is trusted.

use std::io::Read;

use switchboard_types::{FileAnswer, Reject, RejectCode, Trust};

use super::git::{Git, MAX_BLOB_BYTES};
use super::{FilePlace, SHOWN_PATH, plain, refused, slashed};
use crate::agents::shown::shown;
use crate::runner::diff::{self, Before};
use crate::runner::place::Root;
use crate::runner::reading;

/// What is compared with if nobody says.
const DEFAULT_BEFORE: &str = "HEAD";

/// The change from one revision to another; from HEAD, or to the file as it is now, where one is absent.
pub(super) fn between(
    place: &FilePlace,
    asked: &str,
    before: Option<&str>,
    after: Option<&str>,
) -> Result<FileAnswer, Reject> {
    let asked = plain(asked)?;
    let before = checked(before.unwrap_or(DEFAULT_BEFORE))?;
    let after = after.map(checked).transpose()?;
    if place.trust == Trust::Untrusted {
        let message = "revisions are read by git, which runs only in a trusted workspace; run `switchboard trust`";
        return Err(Reject::new(RejectCode::WorkspaceUntrusted, message));
    }
    let root = place.open()?;
    // A file that is not there any more may well be in a revision.
    let target = root.target(asked).map_err(|failure| refused(&failure))?;
    let path = slashed(&target.path());
    let git = Git::find(root.path())?;
    let old = git.file(before, &path)?;
    let new = match after {
        Some(revision) => git.file(revision, &path)?,
        None => present(&root, &path)?,
    };
    if old.is_none() && new.is_none() {
        let message = format!("there is no file `{}`, neither before nor after", shown(asked, SHOWN_PATH));
        return Err(Reject::new(RejectCode::NotFound, message));
    }
    Ok(compared(path, old.as_deref(), new.as_deref()))
}

fn compared(path: String, old: Option<&[u8]>, new: Option<&[u8]>) -> FileAnswer {
    let texts = (old.map(std::str::from_utf8).transpose(), new.map(std::str::from_utf8).transpose());
    let (change, diff) = match texts {
        (Ok(old_text), Ok(new_text)) => {
            let before = old_text.map_or(Before::Absent, Before::Text);
            let after = new_text.unwrap_or_default();
            let mut diff = diff::unified(&path, &before, after);
            if new.is_none() {
                diff = diff.replacen(&format!("+++ b/{path}\n"), "+++ /dev/null\n", 1);
            }
            (diff::by_lines(&before, after), diff)
        }
        (Err(_), _) | (_, Err(_)) if old == new => (None, String::new()),
        (Err(_), _) | (_, Err(_)) => {
            let size = |bytes: Option<&[u8]>| bytes.map_or(0, <[u8]>::len);
            let sizes = format!("Before: {} bytes. After: {} bytes.\n", size(old), size(new));
            (None, format!("The file is no text, so its change is not shown.\n{sizes}"))
        }
    };
    FileAnswer::Diff { path, change, diff, opened: false }
}

/// The file as it is now; none if there is none.
fn present(root: &Root, path: &str) -> Result<Option<Vec<u8>>, Reject> {
    let file = match reading::open(root, path).map_err(|failure| refused(&failure)) {
        Ok(file) => file,
        Err(reject) if reject.code == RejectCode::NotFound => return Ok(None),
        Err(reject) => return Err(reject),
    };
    let mut bytes = Vec::new();
    let read = file.take(MAX_BLOB_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| refused(&root.failure(path, &error)))?;
    if bytes.len() as u64 > MAX_BLOB_BYTES {
        let message = format!("`{}` is over {MAX_BLOB_BYTES} bytes, too large to compare", shown(path, SHOWN_PATH));
        return Err(Reject::new(RejectCode::TooLarge, message));
    }
    Ok(Some(bytes))
}

/// A revision's name that git can only take for one: no option, no path, no range.
fn checked(revision: &str) -> Result<&str, Reject> {
    const MAX_BYTES: usize = 256;
    let is_out = |character: char| {
        character.is_control() || character.is_whitespace() || matches!(character, ':' | '?' | '*' | '[' | '\\')
    };
    let is_wrong = revision.is_empty()
        || revision.len() > MAX_BYTES
        || revision.starts_with(['-', '^'])
        || revision.contains("..")
        || revision.contains(is_out);
    if is_wrong {
        let message = format!(
            "`{}` is no name of a revision; give a branch, a tag or a commit, such as HEAD~1",
            shown(revision, SHOWN_PATH)
        );
        return Err(Reject::new(RejectCode::BadMessage, message));
    }
    Ok(revision)
}
