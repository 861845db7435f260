//! Which children run, written down so that the next host can end what a dead one left. Never touches a process that
//! only bears the number of a child.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use super::group::Group;
use super::mark::{Mark, Origin};
use super::proc::{self, State};
use super::tree::{self, Found};

/// The folder within the data folder.
const FOLDER: &str = "children";
/// A record is far smaller; anything larger is not ours.
const MAX_RECORD_BYTES: u64 = 4096;
/// How often strays are looked for, until none is left.
const MAX_ROUNDS: usize = 100;
/// What the system gets to end them.
const BETWEEN_ROUNDS: Duration = Duration::from_millis(5);

/// Where running children are written down.
#[derive(Clone, Debug)]
pub(super) struct Children {
    folder: PathBuf,
    boot: String,
    origin: Origin,
}

/// What is written down of a child: its number, and what tells it from a later bearer of that number.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    pid: i32,
    start: u64,
    session: i32,
    boot: String,
    agent: String,
}

/// A child that is written down until this is removed.
#[derive(Debug)]
pub(super) struct Written(PathBuf);

impl Written {
    /// The child and its group are gone.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::warn!(file = %self.0.display(), %error, "the record of an ended child could not be removed");
        }
    }
}

impl Children {
    /// Makes the folder if it is not there.
    pub(super) fn within(data: &Path) -> io::Result<Self> {
        let folder = data.join(FOLDER);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self { folder, boot: proc::boot_id().unwrap_or_default(), origin: Origin::here(data)? })
    }

    /// A mark for a child that is about to be started.
    pub(super) fn mark(&self, agent: &str) -> Mark {
        self.origin.mark(agent)
    }

    /// Writes a child down, as soon as it lives.
    pub(super) fn write(&self, pid: Pid, agent: &str) -> io::Result<Written> {
        let pid = pid.as_raw_nonzero().get();
        let stat = proc::stat(pid).ok_or(io::ErrorKind::NotFound)?;
        let record =
            Record { pid, start: stat.start, session: stat.session, boot: self.boot.clone(), agent: agent.to_owned() };
        let (file, fresh) = (self.folder.join(pid.to_string()), self.folder.join(format!("{pid}.new")));
        let mut open = fs::OpenOptions::new();
        let writer = open.write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        serde_json::to_writer(writer, &record)?;
        // No fsync: after a power cut the children are gone too.
        fs::rename(&fresh, &file)?;
        Ok(Written(file))
    }
}

/// What became of a child that a dead host left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its number.
    pub pid: i32,
    /// Its agent.
    pub agent: String,
    /// What was done.
    pub fate: Fate,
}

/// What was done about a leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ran, and it and its group were ended.
    Ended,
    /// It was gone, but others of its group ran and were ended.
    GroupEnded,
    /// It was gone.
    Gone,
    /// Its number belongs to another process now, which was not touched.
    Recycled,
    /// It was none that the dead host started, but came from one; it had left the group and was ended.
    StrayEnded,
}

/// Ends what a dead host left running. To be called by the holder of the folder's lease, before it starts any child.
#[must_use]
pub fn end_leftovers(data: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(data.join(FOLDER)) else { return Vec::new() };
    let boot = proc::boot_id().unwrap_or_default();
    let mut done = Vec::new();
    for file in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        match read(&file) {
            Some(record) => {
                let fate = if record.boot == boot { end(&record) } else { Fate::Gone };
                done.push(Leftover { pid: record.pid, agent: record.agent, fate });
            }
            None => tracing::warn!(file = %file.display(), "a record of a child cannot be read and is dropped"),
        }
        if let Err(error) = fs::remove_file(&file) {
            tracing::warn!(file = %file.display(), %error, "a record of a child could not be removed");
        }
    }
    // A host that ended all its children left no record, and nothing else.
    if !done.is_empty() {
        end_strays(data, &mut done);
    }
    done
}

/// Ends what came from the children and has left their groups. Who starts others meanwhile is looked for again.
fn end_strays(data: &Path, done: &mut Vec<Leftover>) {
    for _ in 0..MAX_ROUNDS {
        let found = tree::end_marked(data, |pid, agent| {
            if done.iter().all(|known| known.pid != pid) {
                done.push(Leftover { pid, agent, fate: Fate::StrayEnded });
            }
        });
        match found {
            Found::Nobody => return,
            Found::Running(_) => std::thread::sleep(BETWEEN_ROUNDS),
        }
    }
    tracing::warn!("some of what a dead host left cannot be ended");
}

fn read(file: &Path) -> Option<Record> {
    if fs::symlink_metadata(file).ok()?.len() > MAX_RECORD_BYTES {
        return None;
    }
    let record: Record = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (file.file_name()?.to_str()? == record.pid.to_string()).then_some(record)
}

fn end(record: &Record) -> Fate {
    // Numbers up to 1 would address everybody or the system's first process.
    let Some(pid) = Pid::from_raw(record.pid).filter(|_| record.pid > 1) else { return Fate::Gone };
    let group = Group::led_by(pid);
    match proc::stat(record.pid) {
        // While anybody is left in a group, its number is given to no new process: the old group is gone.
        Some(stat) if stat.start != record.start => Fate::Recycled,
        Some(stat) if stat.state == State::Runs && stat.group == record.pid => {
            group.signal(Signal::KILL);
            Fate::Ended
        }
        Some(_) | None if has_members(record) => {
            group.signal(Signal::KILL);
            Fate::GroupEnded
        }
        Some(_) | None => Fate::Gone,
    }
}

/// Whether others of the child's group still run. The session must be the same too: another program could have led and
/// left a group of this number since.
fn has_members(record: &Record) -> bool {
    proc::all().into_iter().filter_map(proc::stat).any(|stat| {
        stat.state == State::Runs
            && stat.group == record.pid
            && stat.session == record.session
            && stat.start >= record.start
    })
}
