//! The TOML as people write it, with the places of what is checked later. Knows no kind's needs.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) default_agent: Option<Spanned<String>>,
    pub(super) durability: Option<Spanned<DurabilityWord>>,
    pub(super) startup_slow_ms: Option<Spanned<u64>>,
    pub(super) startup_timeout_ms: Option<Spanned<u64>>,
    pub(super) stall_seconds: Option<Spanned<u64>>,
    pub(super) idle_unload_minutes: Option<Spanned<u64>>,
    pub(super) server: Option<Spanned<ServerTable>>,
    pub(super) containment: Option<Spanned<ContainmentTable>>,
    pub(super) approvals: Option<Spanned<ApprovalsTable>>,
    pub(super) edits: Option<Spanned<EditsTable>>,
    pub(super) settings: Option<Spanned<SettingsTable>>,
    #[serde(default)]
    pub(super) agents: BTreeMap<Spanned<String>, Spanned<AgentTable>>,
}

/// How much a commit must survive.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DurabilityWord {
    Full,
    Normal,
}

/// `[server]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerTable {
    #[serde(default)]
    pub(super) allowed_origins: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) allowed_hosts: Vec<Spanned<String>>,
}

/// `[containment]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContainmentTable {
    pub(super) mode: Option<Spanned<ContainmentWord>>,
    pub(super) network: Option<Spanned<NetworkWord>>,
    #[serde(default)]
    pub(super) writable: Vec<Spanned<String>>,
}

/// Whether commands are held in.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ContainmentWord {
    Auto,
    Required,
    Off,
}

/// Which commands may use the network.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NetworkWord {
    Approved,
    Always,
    Never,
}

/// `[approvals]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalsTable {
    pub(super) timeout: Option<Spanned<u64>>,
}

/// `[edits]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditsTable {
    pub(super) patterns: Option<Vec<Spanned<PatternTable>>>,
}

/// `[[edits.patterns]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatternTable {
    pub(super) glob: Option<Spanned<String>>,
    pub(super) ask: Option<Spanned<bool>>,
}

/// `[settings]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingsTable {
    pub(super) base_url: Option<Spanned<String>>,
    pub(super) agent_model: Option<Spanned<String>>,
    pub(super) ask_model: Option<Spanned<String>>,
    pub(super) edit_model: Option<Spanned<String>>,
    pub(super) completion_model: Option<Spanned<String>>,
    pub(super) max_iterations: Option<Spanned<u64>>,
    pub(super) tool_timeout: Option<Spanned<u64>>,
    pub(super) max_active_sessions: Option<Spanned<u64>>,
    pub(super) temperature: Option<Spanned<f64>>,
}

/// `[agents.NAME]`, with the keys of all kinds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentTable {
    pub(super) kind: Option<Spanned<KindWord>>,
    pub(super) command: Option<Spanned<Vec<String>>>,
    pub(super) env: Option<Spanned<BTreeMap<Spanned<String>, Spanned<toml::Value>>>>,
    pub(super) inherit: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) process: Option<Spanned<ProcessWord>>,
    pub(super) record: Option<Spanned<bool>>,
    pub(super) config: Option<Spanned<toml::Table>>,
    pub(super) url: Option<Spanned<String>>,
    pub(super) secret: Option<Spanned<String>>,
    pub(super) base_url: Option<Spanned<String>>,
    pub(super) model: Option<Spanned<String>>,
    pub(super) config_path: Option<Spanned<String>>,
    pub(super) workspace: Option<Spanned<String>>,
}

/// A kind's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KindWord {
    Plain,
    Acp,
    Apex,
    Engine,
    Model,
}

/// How many sessions share a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProcessWord {
    Session,
    Shared,
}
