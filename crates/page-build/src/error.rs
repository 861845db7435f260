//! What can go wrong while the page is built, each with what to do next. Knows nothing of Cargo.

use std::io;
use std::path::PathBuf;

use crate::tools::{OLDEST_NODE, Version};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A program is not installed.
    #[error(
        "`{program}` cannot be run; the page is built with Node {OLDEST_NODE} or newer and npm: install both, on Debian with `apt-get install nodejs npm`"
    )]
    Missing {
        /// What was looked for.
        program: &'static str,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// Node is there and too old.
    #[error("Node {found} is too old; the page is built with Node {OLDEST_NODE} or newer")]
    Old {
        /// What is installed.
        found: Version,
    },
    /// Node says a version that is none.
    #[error("`node --version` said `{said}`, which is no version; check which `node` is first in PATH")]
    Strange {
        /// What it said.
        said: String,
    },
    /// A program ran and failed.
    #[error("`{command}` failed in {} ({status}). {advice}\n{output}", folder.display())]
    Failed {
        /// The command line.
        command: String,
        /// Where it ran.
        folder: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
        /// What to do.
        advice: &'static str,
        /// What it said last.
        output: String,
    },
    /// A file or folder cannot be used.
    #[error("{} cannot be used", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The bundle has a file that the program would not know how to serve.
    #[error("{} has an ending that has no content type yet; add it to `KINDS` in crates/page-build/src/table.rs", path.display())]
    Kind {
        /// Which.
        path: PathBuf,
    },
}

impl PageError {
    /// What [`io`] says of a path.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::File { path, cause }
    }
}
