//! What happens in a child between fork and exec, and what it must not inherit. Holds the host's only `unsafe`; never allocates, locks or logs there.

use std::io;

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpgid, getpid, getppid, ioctl_tiocsctty, set_parent_process_death_signal, setpgid,
    setrlimit, setsid,
};
use tokio::process::Command;

/// Lets the child die with the host, gives it the limit of open files that the host itself was started with, and the limit
/// that marks all that comes of it. What is passed on stays open in the child under the same number, and in no other.
#[expect(unsafe_code, reason = "only the child itself can ask to die with its parent, and only before exec")]
pub(super) fn prepare(command: &mut Command, files: Option<Rlimit>, queues: Option<Rlimit>, pass: Vec<OwnedFd>) {
    let host = getpid();
    // SAFETY: the closure runs in the forked child of a program with threads, so it may only make system calls. It does,
    // four of them and one for each file that is passed on, through rustix, on values that were made before the fork; its
    // errors are numbers.
    unsafe { command.pre_exec(move || bind_to(host, files, queues, &pass)) };
}

fn bind_to(host: Pid, files: Option<Rlimit>, queues: Option<Rlimit>, pass: &[OwnedFd]) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The host may have died before the line above; then nobody would ever send the signal.
    if getppid() != Some(host) {
        return Err(Errno::SRCH.into());
    }
    if let Some(files) = files {
        setrlimit(Resource::Nofile, files)?;
    }
    if let Some(queues) = queues {
        setrlimit(Resource::Msgqueue, queues)?;
    }
    for file in pass {
        fcntl_setfd(file, FdFlags::empty())?;
    }
    Ok(())
}

/// Keeps what this program itself was started with from its children: descriptors that somebody forgot to close. To be called
/// before anything else is opened.
#[expect(unsafe_code, reason = "what was inherited has no owner in this program")]
pub fn keep_inherited() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // SAFETY: it is borrowed for one system call; if it is closed by then, as the folder's own is, that call fails.
        let inherited = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(inherited, FdFlags::CLOEXEC);
    }
}

/// Makes the child the leader of a session of its own, with what it reads from as its terminal.
#[expect(unsafe_code, reason = "only the child itself can take a terminal, and only before exec")]
pub(super) fn own_terminal(command: &mut Command) {
    let group = getpgid(None);
    // SAFETY: as above; three system calls on a number that was copied before the fork.
    unsafe { command.pre_exec(move || take_terminal(group)) };
}

fn take_terminal(group: Result<Pid, Errno>) -> io::Result<()> {
    // Whoever leads a group cannot begin a session, and a child leads its own by then.
    setpgid(None, Some(group?))?;
    setsid()?;
    ioctl_tiocsctty(rustix::stdio::stdin())?;
    Ok(())
}
