//! Empty folders that sit where protected ones would be, so that there is something to be made read-only while a command runs.
//! Each is taken away with the last command that needs it, if it is still empty.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// How many commands need each. Folders of a disk are the whole program's affair, so this is too.
static TAKEN: LazyLock<Mutex<BTreeMap<PathBuf, usize>>> = LazyLock::new(Mutex::default);

/// A folder that stays as long as this lives.
#[derive(Debug)]
pub(super) struct Seat(PathBuf);

/// Sees to it that there is a folder. None if there was one that is not ours to take away.
pub(super) fn take(path: &Path) -> io::Result<Option<Seat>> {
    let mut taken = taken();
    if let Some(count) = taken.get_mut(path) {
        *count += 1;
        return Ok(Some(Seat(path.to_owned())));
    }
    match std::fs::create_dir(path) {
        Ok(()) => {
            taken.insert(path.to_owned(), 1);
            Ok(Some(Seat(path.to_owned())))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether it is there only because of a command that runs.
pub(super) fn is_seat(path: &Path) -> bool {
    taken().contains_key(path)
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = taken();
        let Some(count) = taken.get_mut(&self.0) else { return };
        *count -= 1;
        if *count == 0 {
            taken.remove(&self.0);
            // Whatever is in it by now, nobody behind walls has put there.
            if let Err(error) = std::fs::remove_dir(&self.0) {
                tracing::debug!(folder = %self.0.display(), %error, "an empty folder stays in the workspace");
            }
        }
    }
}

fn taken() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    // Each change is one step, so whoever panicked left it whole.
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}
