//! Commands that are no agents, born and buried just as agents are, with all that comes of them. Never looks at what they say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::process::Signal;
use tokio::process::Command;
use tokio::runtime::Handle;

use super::body::{Body, Leader};
use super::children::Children;
use super::spawner::Spawner;
use super::spec::{EnvValue, ProcessSpec};
use super::{birth, environment, group, mark};

/// The variable that all that comes of a child bears.
pub(crate) const LIFE: &str = mark::VARIABLE;

/// Where commands are born.
#[derive(Clone, Debug)]
pub(crate) struct Cradle(Spawner);

impl Cradle {
    /// Must be called within a runtime. `data` is the data folder, where running children are written down.
    pub(crate) fn within(data: &Path) -> io::Result<Self> {
        Ok(Self(Spawner::start(Handle::current(), Children::within(data)?)?))
    }

    /// Starts a command as the leader of its own group. Its record bears this name.
    pub(crate) async fn start(&self, command: Command, name: String) -> io::Result<Running> {
        self.start_as(command, Vec::new(), name, Leader::Command).await
    }

    /// Starts a program that holds a command in, or waits for it. It gets these files too, under their numbers, and no signal
    /// but the one that nobody can escape: it ends when the command does.
    pub(crate) async fn start_around(&self, command: Command, pass: Vec<OwnedFd>, name: String) -> io::Result<Running> {
        self.start_as(command, pass, name, Leader::Around).await
    }

    async fn start_as(
        &self,
        mut command: Command,
        pass: Vec<OwnedFd>,
        name: String,
        leader: Leader,
    ) -> io::Result<Running> {
        command.process_group(0).kill_on_drop(true);
        Ok(Running(Body::new(self.0.clone().spawn(command, pass, name).await?, leader)))
    }
}

/// A command that runs. Dropped before its time, it takes all that came of it with it.
#[derive(Debug)]
pub(crate) struct Running(Body);

impl Running {
    /// Waits until it is gone; it is not buried yet.
    pub(crate) async fn gone(&mut self) {
        self.0.gone().await;
    }

    /// To it and to all that came of it.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.0.signal(signal);
    }

    /// Ends what is left, then lets it go. If it is gone already, what is left has this long between SIGTERM and SIGKILL.
    pub(crate) async fn bury(mut self, grace: Duration) -> Option<ExitStatus> {
        self.0.bury(grace).await
    }
}

/// Has a command lead a session of its own, with what it reads from as its terminal.
pub(crate) fn own_terminal(command: &mut Command) {
    birth::own_terminal(command);
}

/// A signal's name as people know it.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    group::signal_name(number)
}

/// A command's whole environment: what every child gets, and what is set for this one.
pub(crate) fn environment_with(set: &[(String, String)]) -> io::Result<BTreeMap<OsString, OsString>> {
    let mut process = ProcessSpec::new(Vec::<String>::new());
    process.env = set.iter().map(|(name, value)| (name.clone(), EnvValue::Plain(value.clone()))).collect();
    environment::of_child(&process, std::env::vars_os(), environment::Vault::Closed).map_err(io::Error::other)
}
