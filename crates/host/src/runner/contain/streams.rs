//! Where the input and output of a program go that no shell starts. Opens files of the workspace only, and `/dev/null`.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use super::script::{Redirect, RedirectTo, Step, Stream};

/// What leads nowhere and is allowed everywhere.
const NOTHING: &str = "/dev/null";
/// A file could not be opened.
const CANNOT_OPEN: i32 = 1;

/// Input and outputs of one program.
pub(super) struct Streams {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) errors: OwnedFd,
}

impl Streams {
    /// Those given, and our own for the others.
    pub(super) fn of(input: Option<OwnedFd>, output: Option<OwnedFd>) -> io::Result<Self> {
        Ok(Self {
            input: input.map_or_else(|| io::stdin().as_fd().try_clone_to_owned(), Ok)?,
            output: output.map_or_else(|| io::stdout().as_fd().try_clone_to_owned(), Ok)?,
            errors: io::stderr().as_fd().try_clone_to_owned()?,
        })
    }

    /// As the redirections say, one after the other.
    pub(super) fn led(mut self, step: &Step, root: &Path) -> io::Result<Self> {
        for Redirect { of, to } in &step.redirects {
            let now = match to {
                RedirectTo::Read(path) => open(root, path, OpenOptions::new().read(true))?.into(),
                RedirectTo::Append(path) => open(root, path, OpenOptions::new().append(true).create(true))?.into(),
                RedirectTo::Write(path) => {
                    // Only emptied once it is known to be in the workspace.
                    let file = open(root, path, OpenOptions::new().write(true).create(true).truncate(false))?;
                    if file.metadata()?.is_file() {
                        file.set_len(0)?;
                    }
                    file.into()
                }
                RedirectTo::Same(other) => self.stream(*other).try_clone()?,
            };
            *self.stream(*of) = now;
        }
        Ok(self)
    }

    fn stream(&mut self, which: Stream) -> &mut OwnedFd {
        match which {
            Stream::Input => &mut self.input,
            Stream::Output => &mut self.output,
            Stream::Errors => &mut self.errors,
        }
    }
}

fn open(root: &Path, path: &str, how: &OpenOptions) -> io::Result<File> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
    let file = how.open(path).map_err(named)?;
    let real = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(named)?;
    if real.starts_with(root) || real == Path::new(NOTHING) {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{path} is not in the workspace")))
    }
}

/// Says so, as a shell would.
pub(super) fn cannot_open(error: &io::Error) -> i32 {
    eprintln!("switchboard: {}", crate::agents::shown::shown(&error.to_string(), 300));
    CANNOT_OPEN
}
