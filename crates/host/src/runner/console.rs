//! What a command talks to: pipes, or a terminal of its own. Starts nothing and reads nothing.

use std::fs::File;
use std::io;
use std::process::Stdio;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use switchboard_types::Console;
use tokio::net::unix::pipe;
use tokio::process::Command;

use crate::agents::command::own_terminal;

/// What is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// The command itself.
    Itself,
    /// What is around it, which needs its input for itself and gives the command one.
    Behind,
}

/// Gives the command its outputs, and its input if it is started itself; what it says comes out of here.
pub(super) fn attach(command: &mut Command, console: Console, seat: Seat) -> io::Result<pipe::Receiver> {
    match console {
        Console::Pipes => {
            let (reader, writer) = io::pipe()?;
            // One pipe for both, so that what it says stays in order.
            command.stdout(writer.try_clone()?).stderr(writer);
            if seat == Seat::Itself {
                command.stdin(Stdio::null());
            }
            pipe::Receiver::from_owned_fd(reader.into())
        }
        Console::Pty { columns, rows } => {
            let (ours, theirs) = pty(columns, rows)?;
            command.stdout(theirs.try_clone()?).stderr(theirs.try_clone()?);
            if seat == Seat::Itself {
                command.stdin(theirs);
                own_terminal(command);
            }
            // No pipe, but read like one; its end is an error, which is taken as the end.
            pipe::Receiver::from_file_unchecked(File::from(ours))
        }
    }
}

/// Both ends of a new terminal.
fn pty(columns: u16, rows: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
    tcsetwinsize(&theirs, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((ours, theirs))
}
