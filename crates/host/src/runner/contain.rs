//! How commands are held in by the operating system: bubblewrap, where it works. Decides nothing about which commands run, and
//! never lets one run outside when it was said to run inside.
//!
//! | module | owns |
//! | --- | --- |
//! | `probe` | whether it works here, and if not, why and what to do |
//! | `wrap` | the walls around one command |
//! | `hidden` | what no command may see |
//! | `protected` | what of the workspace no command may change |
//! | `seats` | empty folders that keep protected names from being taken |
//! | `script` | what the process behind the walls is told |
//! | `streams` | where input and output of such programs go |
//! | [`inner`] | the process behind the walls: checks, then runs the command |
//! | `pins` | programs told apart from others of the same path |
//! | `git` | when git may write to a repository |
//! | `judged` | commands that run without a shell |

pub mod inner;

mod git;
mod hidden;
mod judged;
mod pins;
mod probe;
mod protected;
mod script;
mod seats;
mod streams;
mod wrap;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_types::Containment;
use tokio::sync::watch;

pub use probe::probe;

pub(super) use git::writes as writes_git;
pub(super) use judged::{Line, steps};
pub(super) use pins::Pin;
pub(super) use protected::Watch;
pub(super) use script::{Join, MAX_REPORT_BYTES, Report, Script, Step};
pub(super) use wrap::{Room, Wrapped, outside, wrap};

/// Whether commands are held in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Where it works; else it is said that they are not.
    #[default]
    Auto,
    /// Always: where it does not work, no command runs.
    Required,
    /// Never.
    Off,
}

/// What is wanted of the walls.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Whether there are to be any.
    pub mode: Mode,
    /// Folders that commands may write to, besides the workspace.
    pub writable: Vec<PathBuf>,
    /// Folders and files that no command may see, besides those that everybody keeps secrets in: the host's own.
    pub hidden: Vec<PathBuf>,
    /// The program `switchboard`, which is started behind the walls first. This very program if absent.
    pub program: Option<PathBuf>,
}

/// The walls, as they can be put up here.
#[derive(Clone, Debug)]
pub struct Fence {
    told: Containment,
    tool: Option<Tool>,
    wanted: Wanted,
}

/// The same while somebody may still be looking: looking takes longer than a host may take to start.
#[derive(Clone, Debug)]
pub struct Walls(watch::Receiver<Option<Arc<Fence>>>);

impl Walls {
    /// Somebody has looked.
    #[must_use]
    pub fn known(fence: Fence) -> Self {
        Self(watch::channel(Some(Arc::new(fence))).1)
    }

    /// Somebody will look, and say so here.
    #[must_use]
    pub fn soon() -> (watch::Sender<Option<Arc<Fence>>>, Self) {
        let (tell, walls) = watch::channel(None);
        (tell, Self(walls))
    }

    /// Waits until somebody has looked. If nobody will, nothing is run.
    pub(super) async fn fence(&self) -> Arc<Fence> {
        let mut walls = self.0.clone();
        let found = walls.wait_for(Option::is_some).await;
        if let Ok(Some(fence)) = found.as_deref() {
            return Arc::clone(fence);
        }
        let reason = "nobody could look how commands are held in; the host's log says why".to_owned();
        Arc::new(Fence { told: Containment::Missing { reason }, tool: None, wanted: Wanted::default() })
    }
}

/// What puts them up.
#[derive(Clone, Debug)]
struct Tool {
    /// Bubblewrap.
    bwrap: PathBuf,
}

impl Fence {
    /// None at all, for this reason.
    #[must_use]
    pub fn none(reason: &str) -> Self {
        Self { told: Containment::None { reason: reason.to_owned() }, tool: None, wanted: Wanted::default() }
    }

    /// What people are told.
    #[must_use]
    pub fn told(&self) -> &Containment {
        &self.told
    }

    /// The program `switchboard`.
    fn program(&self) -> std::io::Result<PathBuf> {
        match &self.wanted.program {
            Some(program) => Ok(program.clone()),
            None => std::env::current_exe(),
        }
    }

    fn bwrap(&self) -> Option<&Path> {
        self.tool.as_ref().map(|tool| tool.bwrap.as_path())
    }
}
