//! All that descends from a child, whatever group, session or parent it has taken: found, signalled, reaped. Never touches a
//! process that is not ours, nor one that only bears the number of one that was.
//!
//! The host is a subreaper: whoever loses its parent becomes the host's own child, however it was started. So each
//! descendant has a way of parents up to the child or up to the host, and those of the second sort are told apart by their
//! [mark](super::mark).

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitid,
};

use super::mark::{self, Holder, Mark};
use super::proc::{self, Stat, State};

/// Makes this process the parent of all descendants that lose theirs.
pub(super) fn adopt_orphans() {
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        tracing::warn!(%error, "the host cannot adopt orphans; what an agent leaves outside its group may run on");
    }
}

/// A child's descendants, without the child itself. To be asked only while the child is not reaped.
#[derive(Debug)]
pub(super) struct Tree {
    leader: i32,
    mark: Mark,
    /// Who was found so far, and when it started.
    known: BTreeMap<i32, u64>,
    /// Who has been asked to end.
    asked: BTreeSet<i32>,
}

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// So many still run.
    Running(usize),
    /// None is left.
    Nobody,
}

impl Tree {
    pub(super) fn of(leader: Pid, mark: Mark) -> Self {
        Self { leader: leader.as_raw_nonzero().get(), mark, known: BTreeMap::new(), asked: BTreeSet::new() }
    }

    /// Looks who there is, and reaps those that have ended and are ours to reap.
    pub(super) fn look(&mut self) -> Found {
        let us = getpid().as_raw_nonzero().get();
        let all = everybody();
        self.known.retain(|pid, start| all.get(pid).is_some_and(|stat| stat.start == *start));
        self.asked.retain(|pid| self.known.contains_key(pid));
        for (&pid, stat) in &all {
            let orphan = || stat.parent == us && self.mark.is_borne_by(pid);
            if pid != self.leader && !self.known.contains_key(&pid) && (stat.group == self.leader || orphan()) {
                self.known.insert(pid, stat.start);
            }
        }
        add_descendants(&mut self.known, Some(self.leader), &all);
        let mut running = 0;
        self.known.retain(|&pid, start| match all.get(&pid) {
            Some(Stat { state: State::Zombie, parent, .. }) => {
                if *parent == us {
                    reap(pid, *start);
                }
                false
            }
            Some(Stat { state: State::Runs, .. }) => {
                running += 1;
                true
            }
            None => false,
        });
        if running == 0 { Found::Nobody } else { Found::Running(running) }
    }

    /// Sends a signal to all that the last look found, but asks nobody twice.
    pub(super) fn signal(&mut self, signal: Signal) {
        for (&pid, &start) in &self.known {
            if signal == Signal::KILL || self.asked.insert(pid) {
                send(pid, start, signal);
            }
        }
    }

    /// Nobody of it is left.
    pub(super) fn retire(self) {
        self.mark.retire();
    }
}

/// Reaps orphans that have ended while those they came from live on.
pub(super) fn reap_orphans() {
    let us = getpid().as_raw_nonzero().get();
    let ended = everybody().into_iter().filter(|(_, stat)| stat.parent == us && stat.state == State::Zombie);
    for (pid, stat) in ended {
        match proc::queue_limit(pid).and_then(mark::holder) {
            Some(Holder::Child(child)) if child != pid => reap(pid, stat.start),
            Some(Holder::Gone) => reap(pid, stat.start),
            // Somebody waits for it.
            Some(Holder::Child(_) | Holder::BeingBorn) | None => {}
        }
    }
}

/// Ends all that dead hosts of this folder left, wherever it went; says who it was, by number and name.
pub(super) fn end_marked(data: &std::path::Path, mut done: impl FnMut(i32, String)) -> Found {
    let all = everybody();
    let mut left = BTreeMap::new();
    for (&pid, stat) in all.iter().filter(|(_, stat)| stat.state == State::Runs) {
        let Some(by) = mark::left_by(pid, data) else { continue };
        let host_runs = proc::stat(by.host.0).is_some_and(|host| host.start == by.host.1 && host.state == State::Runs);
        if !host_runs {
            left.insert(pid, stat.start);
            done(pid, by.name);
        }
    }
    add_descendants(&mut left, None, &all);
    left.retain(|pid, _| all.get(pid).is_some_and(|stat| stat.state == State::Runs));
    for (&pid, &start) in &left {
        send(pid, start, Signal::KILL);
    }
    if left.is_empty() { Found::Nobody } else { Found::Running(left.len()) }
}

fn everybody() -> BTreeMap<i32, Stat> {
    proc::all().into_iter().filter_map(|pid| Some((pid, proc::stat(pid)?))).collect()
}

/// Adds the children of those that are known, and theirs.
fn add_descendants(known: &mut BTreeMap<i32, u64>, leader: Option<i32>, all: &BTreeMap<i32, Stat>) {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (&pid, stat) in all {
        children.entry(stat.parent).or_default().push(pid);
    }
    let mut ways: Vec<i32> = known.keys().copied().chain(leader).collect();
    while let Some(parent) = ways.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            let Some(stat) = all.get(&child) else { continue };
            if Some(child) != leader && known.insert(child, stat.start).is_none() {
                ways.push(child);
            }
        }
    }
}

/// A hold on the very process that started then; none if it is gone.
fn hold(pid: i32, start: u64) -> Result<OwnedFd, Errno> {
    let held = pidfd_open(Pid::from_raw(pid).ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
    // The number may have passed to another before it was held; that one started later.
    let same = proc::stat(pid).is_some_and(|stat| stat.start == start);
    if same { Ok(held) } else { Err(Errno::SRCH) }
}

fn send(pid: i32, start: u64, signal: Signal) {
    match hold(pid, start).and_then(|held| pidfd_send_signal(held, signal)) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => tracing::warn!(pid, %error, "a process that an agent has left could not be signalled"),
    }
}

fn reap(pid: i32, start: u64) {
    if let Ok(held) = hold(pid, start) {
        // An error means that somebody else was faster.
        let _ = waitid(WaitId::PidFd(held.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}
