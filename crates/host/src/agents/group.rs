//! A process group of ours and the signals for it. Never signals a group that may be somebody else's.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

/// A child's process group; the child leads it. Valid as long as the leader is not reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group(Pid);

impl Group {
    /// The group that the child with this id leads.
    pub(super) fn led_by(pid: Pid) -> Self {
        Self(pid)
    }

    /// Sends a signal to all of it; nobody being left is no error.
    pub(super) fn signal(self, signal: Signal) {
        match kill_process_group(self.0, signal) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => tracing::warn!(group = self.0.as_raw_nonzero().get(), %error, "a signal could not be sent"),
        }
    }
}

/// A signal's name as people know it.
pub(super) fn signal_name(number: i32) -> Option<&'static str> {
    const NAMES: [(Signal, &str); 14] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    NAMES.iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| *name)
}
