//! The log on standard error. Data never goes there, and the log never to standard output.

use std::io::{self, IsTerminal};

use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The variable that says how much is logged.
const FILTER: &str = "SWITCHBOARD_LOG";
/// Libraries that log whole messages where everything is asked for; a token that a view saves is one of them.
const TALKATIVE: [&str; 3] = ["tungstenite", "tokio_tungstenite", "zbus"];

/// How much is logged if nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chatter {
    /// What a host does.
    Info,
    /// Only what a person at a command should know.
    Warnings,
}

/// Starts logging; a second start changes nothing.
pub(super) fn start(chatter: Chatter) {
    let usual = match chatter {
        Chatter::Info => "info",
        Chatter::Warnings => "warn",
    };
    let (filter, wrong) = match std::env::var(FILTER) {
        Ok(text) => match EnvFilter::try_new(&text) {
            Ok(filter) => (filter, None),
            Err(error) => (EnvFilter::new(usual), Some(error)),
        },
        Err(_) => (EnvFilter::new(usual), None),
    };
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(colour);
    // It fails only if there is a log already.
    let _ = log.with_target(false).finish().with(filter_fn(may_be_said)).try_init();
    if let Some(error) = wrong {
        tracing::warn!(%error, "{FILTER} is not understood; `{usual}` is used");
    }
}

/// Whatever the variable says, messages as they are stand in no log.
fn may_be_said(what: &Metadata<'_>) -> bool {
    let library = what.target().split("::").next().unwrap_or_default();
    *what.level() < Level::TRACE || !TALKATIVE.contains(&library)
}
