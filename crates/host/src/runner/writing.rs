//! Files written for agents: shown first, then done, if the file is still what was shown. Never decides whether.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use switchboard_types::{ApprovalKind, EditFacts, ErrandCode, ErrandFailure, Facts, Prepared, WorkspaceRoot};

use super::diff::{self, Before};
use super::digest::Digest;
use super::facts;
use super::limits::{MAX_COMPARED_BYTES, MAX_REPLACED_BYTES, MAX_WRITE_BYTES};
use super::place::{Missing, Root, Target, invalid};
use super::replace::{Found, LookError, ReplaceError, look, replace};
use crate::agents::shown::shown;

/// Characters of a path in a title.
const TITLE_CHARS: usize = 200;

/// A file that may be written once somebody says so.
#[derive(Debug)]
pub(crate) struct WritePlan {
    root: WorkspaceRoot,
    /// Which folder the root was.
    identity: (u64, u64),
    asked: String,
    target: Target,
    /// The digest of the file that was there.
    before: Option<[u8; 32]>,
    content: String,
}

impl WritePlan {
    /// The file's real path, from the workspace's folder.
    pub(crate) fn path(&self) -> String {
        self.target.path().to_string_lossy().into_owned()
    }

    /// Whether there was no such file.
    pub(crate) fn is_new(&self) -> bool {
        self.before.is_none()
    }
}

/// Looks at the file and says how it would change.
pub(crate) fn prepare(
    root: &WorkspaceRoot,
    own: &Path,
    asked: String,
    content: String,
) -> Result<(WritePlan, Prepared), ErrandFailure> {
    prepare_with(root, own, asked, |_| Ok(content))
}

/// The same for content that is made of what is there; an error if there is no such file, or it cannot be taken as text.
pub(crate) fn prepare_edit(
    root: &WorkspaceRoot,
    own: &Path,
    asked: String,
    edit: impl FnOnce(&str) -> Result<String, ErrandFailure>,
) -> Result<(WritePlan, Prepared), ErrandFailure> {
    let path = asked.clone();
    prepare_with(root, own, asked, |found| {
        let missing =
            || ErrandFailure { code: ErrandCode::NotFound, ..invalid(&path, "is not there; write_file makes it") };
        let found = found.ok_or_else(missing)?;
        let large = || {
            let what = format!("is too large to be edited; files of up to {MAX_COMPARED_BYTES} bytes can be");
            ErrandFailure { code: ErrandCode::TooLarge, ..invalid(&path, &what) }
        };
        let bytes = found.bytes.as_deref().ok_or_else(large)?;
        let text =
            std::str::from_utf8(bytes).map_err(|_| invalid(&path, "is no text in UTF-8; only text can be edited"))?;
        edit(text)
    })
}

fn prepare_with(
    root: &WorkspaceRoot,
    own: &Path,
    asked: String,
    content: impl FnOnce(Option<&Found>) -> Result<String, ErrandFailure>,
) -> Result<(WritePlan, Prepared), ErrandFailure> {
    let open = Root::open(root, own)?;
    let target = open.target(&asked)?;
    let found = match open.walk(&target.folders, Missing::Fail) {
        Ok(folder) => look(&folder, &target.name).map_err(|error| not_seen(&open, &asked, &error))?,
        Err(Errno::NOENT) => None,
        Err(error) => return Err(open.failure(&asked, &error.into())),
    };
    let content = content(found.as_ref())?;
    if content.len() > MAX_WRITE_BYTES {
        let what = format!("would have {} bytes and {MAX_WRITE_BYTES} can be written at once", content.len());
        return Err(ErrandFailure { code: ErrandCode::TooLarge, ..invalid(&asked, &what) });
    }
    let shown = shown_change(&open, &target, found.as_ref(), &content);
    let identity = open.identity().map_err(|error| open.failure(&asked, &error))?;
    let before = found.map(|found| found.digest);
    Ok((WritePlan { root: root.clone(), identity, asked, target, before, content }, shown))
}

fn shown_change(open: &Root, target: &Target, found: Option<&Found>, content: &str) -> Prepared {
    let real = target.path();
    let path = shown(&real.to_string_lossy(), usize::MAX);
    let text = found.and_then(|found| found.bytes.as_deref()).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let before = match (found, text) {
        (None, _) => Before::Absent,
        (Some(_), Some(text)) => Before::Text(text),
        (Some(found), None) => Before::Other(u64::try_from(found.stat.st_size).unwrap_or_default()),
    };
    let verb = if found.is_some() { "write" } else { "create" };
    #[expect(clippy::useless_conversion, reason = "its type is another on other machines")]
    let names = found.map_or(0, |found| u64::from(found.stat.st_nlink));
    let before_digest: &[u8] = found.map_or(b"", |found| &found.digest);
    let digest = Digest::of("write")
        .part(real.as_os_str().as_encoded_bytes())
        .part(before_digest)
        .part(content.as_bytes())
        .hex();
    Prepared {
        kind: ApprovalKind::Edit,
        title: format!("{verb} {}", shown(&path, TITLE_CHARS)),
        command: None,
        cwd: None,
        diff: Some(diff::unified(&path, &before, content)),
        change: diff::by_lines(&before, content),
        facts: Facts::Edit(EditFacts { place: facts::place_of(open, &real), names }),
        digest,
        scope: format!("write:{path}"),
        path: Some(path),
    }
}

/// Writes the file, if it is still what was shown; gives its bytes.
pub(crate) fn perform(plan: &WritePlan, own: &Path) -> Result<u64, ErrandFailure> {
    let open = Root::open(&plan.root, own)?;
    if open.identity().ok() != Some(plan.identity) {
        return Err(changed(&plan.asked));
    }
    let folder = folder(&open, plan)?;
    let found = look(&folder, &plan.target.name).map_err(|error| match error {
        LookError::Folder | LookError::NoFile | LookError::TooLarge(_) => changed(&plan.asked),
        LookError::ReadOnly | LookError::System(_) => not_seen(&open, &plan.asked, &error),
    })?;
    if found.as_ref().map(|found| found.digest) != plan.before {
        return Err(changed(&plan.asked));
    }
    match replace(&folder, &plan.target.name, found.as_ref(), plan.content.as_bytes()) {
        Ok(()) => Ok(plan.content.len() as u64),
        Err(ReplaceError::Changed) => Err(changed(&plan.asked)),
        Err(ReplaceError::System(error)) => {
            let message = format!("`{}` could not be written: {error}", shown(&plan.asked, TITLE_CHARS));
            Err(ErrandFailure::new(ErrandCode::Failed, message))
        }
    }
}

fn folder(open: &Root, plan: &WritePlan) -> Result<OwnedFd, ErrandFailure> {
    let missing = if plan.before.is_some() { Missing::Fail } else { Missing::Make };
    open.walk(&plan.target.folders, missing).map_err(|error| match error {
        // A folder is gone, or something else stands in its place: a link, say.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK => changed(&plan.asked),
        error => open.failure(&plan.asked, &error.into()),
    })
}

fn changed(asked: &str) -> ErrandFailure {
    let what = "is not what it was when it was shown, so it was not written; read it again and ask again";
    ErrandFailure { code: ErrandCode::Changed, ..invalid(asked, what) }
}

fn not_seen(open: &Root, asked: &str, error: &LookError) -> ErrandFailure {
    match error {
        LookError::Folder => invalid(asked, "is a folder, not a file"),
        LookError::NoFile => invalid(asked, "is a link, a pipe or a device, not a file"),
        LookError::ReadOnly => {
            let what = "may not be written by the user of the host; change its mode first";
            ErrandFailure { code: ErrandCode::Failed, ..invalid(asked, what) }
        }
        LookError::TooLarge(size) => {
            let what = format!("has {size} bytes; files of up to {MAX_REPLACED_BYTES} can be replaced");
            ErrandFailure { code: ErrandCode::TooLarge, ..invalid(asked, &what) }
        }
        LookError::System(error) => open.failure(asked, error),
    }
}
