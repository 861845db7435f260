//! Files of a session's workspace, and what belongs to its log, looked at for whoever asks by the session's id. Never changes
//! anything, follows no path out of the workspace, and runs nothing in a workspace that nobody trusts.
//!
//! | module | owns |
//! | --- | --- |
//! | `list` | what a folder holds |
//! | `snippet` | the beginning and the end of a file |
//! | `change` | how a file has changed, by the session's log |
//! | `revision` | how a file has changed, by the repository |
//! | `git` | git, run without a shell and without anything that a repository could make it run |
//! | [`artifact`] | what can be fetched as a whole |
//!
//! Paths are followed as they are for agents, by the folder's own handle (`runner/place.rs`); there is no other way here.

pub mod artifact;
mod change;
mod git;
mod list;
mod revision;
mod snippet;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use switchboard_types::{
    ErrandCode, ErrandFailure, FileAnswer, FileRequest, Reject, RejectCode, SessionId, Trust, WorkspaceRoot,
};

pub use artifact::{Opened, open_artifact};

use crate::agents::shown::shown;
use crate::runner::place::Root;
use crate::store::{Store, StoreError};

/// Characters of a path that an error repeats.
const SHOWN_PATH: usize = 300;

/// Whose files are looked at.
#[derive(Clone)]
pub struct FilePlace {
    /// The session.
    pub session: SessionId,
    /// Its workspace.
    pub root: WorkspaceRoot,
    /// Whether that is trusted; git is run only if it is.
    pub trust: Trust,
    /// The host's own data folder, canonical. Nothing in it is a file of the workspace, wherever it lies.
    pub data: PathBuf,
    /// The logs. Whoever looks at files must not keep the store open.
    pub store: Weak<dyn Store>,
}

impl FilePlace {
    fn open(&self) -> Result<Root, Reject> {
        Root::open(&self.root, &self.data).map_err(|failure| refused(&failure))
    }

    fn store(&self) -> Result<Arc<dyn Store>, Reject> {
        let stopping = || Reject::new(RejectCode::Internal, "the host is stopping; start it again with `switchboard`");
        self.store.upgrade().ok_or_else(stopping)
    }
}

/// Looks. Blocks on the disk: to be called where that is fine. `link` makes a short-lived address of an artifact's path.
pub fn answer(
    place: &FilePlace,
    what: &FileRequest,
    link: impl FnOnce(&FilePlace, &str) -> Result<String, Reject>,
) -> Result<FileAnswer, Reject> {
    match what {
        FileRequest::List { path } => list::list(place, path),
        FileRequest::Read { path, cut } => snippet::read(place, path, *cut),
        FileRequest::Diff { path, before: None, after: None } => change::last(place, path),
        FileRequest::Diff { path, before, after } => {
            revision::between(place, path, before.as_deref(), after.as_deref())
        }
        FileRequest::Artifact { path } => {
            let (name, mime, size) = artifact::look(place, path)?;
            Ok(FileAnswer::Artifact { name, mime: mime.to_owned(), size, url: link(place, path)? })
        }
    }
}

/// A path as somebody outside may name it: plain names below the workspace. What leads up or begins elsewhere is refused
/// before anybody looks, even where it would come out inside.
fn plain(asked: &str) -> Result<&str, Reject> {
    let wrong = if asked.contains('\0') {
        "has a NUL in it"
    } else if asked.starts_with('/') {
        "is absolute; name it relative to the workspace"
    } else if asked.split('/').any(|part| part == "..") {
        "goes up; name it relative to the workspace, without `..`"
    } else if asked.split('/').any(str::is_empty) {
        "has an empty part; name a file relative to the workspace"
    } else {
        return Ok(asked);
    };
    Err(Reject::new(RejectCode::BadMessage, format!("the path `{}` {wrong}", shown(asked, SHOWN_PATH))))
}

/// The way from the workspace, with slashes; what is no UTF-8 in it is replaced.
fn slashed(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What goes wrong with a path, as a refusal.
fn refused(failure: &ErrandFailure) -> Reject {
    let code = match failure.code {
        ErrandCode::NotFound => RejectCode::NotFound,
        ErrandCode::Outside | ErrandCode::Invalid | ErrandCode::Denied => RejectCode::BadMessage,
        ErrandCode::TooLarge => RejectCode::TooLarge,
        ErrandCode::Untrusted => RejectCode::WorkspaceUntrusted,
        ErrandCode::Changed | ErrandCode::Cancelled | ErrandCode::TimedOut | ErrandCode::Failed => RejectCode::Conflict,
    };
    Reject::new(code, failure.message.clone())
}

fn not_stored(error: &StoreError) -> Reject {
    Reject::new(RejectCode::Internal, format!("the log cannot be read: {error}"))
}

fn no_session() -> Reject {
    Reject::new(RejectCode::NotFound, "there is no such session")
}
