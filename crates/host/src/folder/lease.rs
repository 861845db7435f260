//! One host per data folder: who holds it, and where it listens. Never takes a folder away from anybody.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::place::{Folder, FolderError, Lasts, write_fresh};

/// Held for the life of the host.
const LOCK_FILE: &str = "host.lock";
/// Where the host listens.
const HOST_FILE: &str = "host.json";
/// A look at the lock holds it for a moment, so taking it is tried again before it counts as held.
const TRIES: u32 = 10;
/// From try to try.
const BETWEEN: Duration = Duration::from_millis(20);
/// What a lock or host file may hold.
const MAX_BYTES: u64 = 4096;

/// A host that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// Where it listens.
    pub url: String,
    /// Its version; empty if it is too old to say.
    #[serde(default)]
    pub version: String,
}

/// Who holds a folder; one that is just starting has no address yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBy {
    /// Its process.
    pub pid: Option<u32>,
    /// Where it listens.
    pub url: Option<String>,
}

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("another process")?,
        }
        match &self.url {
            Some(url) => write!(f, ", which listens at {url}"),
            None => f.write_str(", which is just starting or stopping"),
        }
    }
}

/// Why a folder could not be taken.
#[derive(Debug, Error)]
pub enum LeaseError {
    /// Another host has it.
    #[error("a host already runs for this data folder: {0}")]
    Held(HeldBy),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// The right to be the folder's host. Given back when it is dropped, also by the death of the process.
#[derive(Debug)]
pub struct Lease {
    // The lock belongs to the open file.
    _lock: File,
    host_file: PathBuf,
}

impl Lease {
    /// Takes the folder, unless another host has it. Waits a moment if somebody looks at the lock just now.
    pub fn take(folder: &Folder) -> Result<Self, LeaseError> {
        let (path, host_file) = (folder.file(LOCK_FILE), folder.file(HOST_FILE));
        let mut lock = open_lock(folder)?;
        for attempt in 0.. {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < TRIES => thread::sleep(BETWEEN),
                Err(TryLockError::WouldBlock) => return Err(LeaseError::Held(holder(folder, &mut lock))),
                Err(TryLockError::Error(error)) => return Err(FolderError::io(&path)(error).into()),
            }
        }
        // What a dead host wrote is true no more.
        let _ = fs::remove_file(&host_file);
        let written =
            lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| write!(lock, "{}", std::process::id()));
        written.map_err(FolderError::io(&path))?;
        Ok(Self { _lock: lock, host_file })
    }

    /// Looks whether the folder could be taken, without taking it.
    pub fn look(folder: &Folder) -> Result<(), LeaseError> {
        let mut lock = open_lock(folder)?;
        match lock.try_lock_shared() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(LeaseError::Held(holder(folder, &mut lock))),
            Err(TryLockError::Error(error)) => Err(FolderError::io(&folder.file(LOCK_FILE))(error).into()),
        }
    }

    /// Tells others where the host listens.
    pub fn announce(&self, url: &str) -> Result<(), FolderError> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let running = Running { pid: std::process::id(), url: url.to_owned(), version };
        let error = |source| FolderError::Io { path: self.host_file.clone(), source };
        let json = serde_json::to_vec(&running).map_err(|source| error(source.into()))?;
        let fresh = write_fresh(&self.host_file, &json, Lasts::WithTheProcess).map_err(error)?;
        fs::rename(fresh, &self.host_file).map_err(error)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = fs::remove_file(&self.host_file);
    }
}

/// The host that runs for this folder and can be talked to; none if nobody holds the lock or no address is known yet.
#[must_use]
pub fn running_host(folder: &Folder) -> Option<Running> {
    let mut lock = open_lock(folder).ok()?;
    // A shared lock that succeeds shows that no host holds the folder; it ends with this function.
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let pid = holder_pid(&mut lock)?;
    announced(folder).filter(|running| running.pid == pid)
}

fn open_lock(folder: &Folder) -> Result<File, FolderError> {
    let path = folder.file(LOCK_FILE);
    let mut open = OpenOptions::new();
    open.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(FolderError::io(&path))
}

fn holder(folder: &Folder, lock: &mut File) -> HeldBy {
    let pid = holder_pid(lock);
    // An address that a dead host left is not the holder's.
    let url = announced(folder).filter(|running| Some(running.pid) == pid).map(|running| running.url);
    HeldBy { pid, url }
}

fn holder_pid(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    let _ = lock.take(MAX_BYTES).read_to_string(&mut text);
    text.trim().parse().ok()
}

fn announced(folder: &Folder) -> Option<Running> {
    let file = File::open(folder.file(HOST_FILE)).ok()?;
    serde_json::from_reader(file.take(MAX_BYTES)).ok()
}
