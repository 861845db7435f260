//! The parameters of the host's own tools, once they are checked. Checks nothing itself.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use switchboard_types::{ErrandCode, ErrandFailure};

use crate::runner::limits::{DEFAULT_LISTED, DEFAULT_MATCHES, DEFAULT_TOOL_OUTPUT_BYTES, MAX_WALK_DEPTH};

/// Takes parameters that were found to be good.
pub(super) fn taken<T: for<'a> Deserialize<'a>>(parameters: Value) -> Result<T, ErrandFailure> {
    // A number such as 3.0 passes a schema as a whole number, and is none here.
    serde_json::from_value(parameters).map_err(|error| {
        ErrandFailure::new(ErrandCode::Invalid, format!("the parameters cannot be taken as they are: {error}"))
    })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadFile {
    pub(super) path: String,
    #[serde(default = "one")]
    pub(super) start_line: u32,
    pub(super) end_line: Option<u32>,
    #[serde(default)]
    pub(super) encoding: Encoding,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub(super) enum Encoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListFiles {
    #[serde(default = "here")]
    pub(crate) path: String,
    pub(crate) glob: Option<String>,
    #[serde(default = "deep")]
    pub(crate) depth: usize,
    #[serde(default)]
    pub(crate) include_ignored: bool,
    #[serde(default = "listed")]
    pub(crate) limit: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchWorkspace {
    pub(crate) query: String,
    /// Only below this folder; the host's own tool has no name for it.
    #[serde(skip)]
    pub(crate) below: Option<String>,
    #[serde(default)]
    pub(crate) regex: bool,
    pub(crate) glob: Option<String>,
    #[serde(default = "yes")]
    pub(crate) case_sensitive: bool,
    #[serde(default = "matches")]
    pub(crate) max_results: usize,
    #[serde(default)]
    pub(crate) context: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct WriteFile {
    pub(super) path: String,
    pub(super) content: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EditFile {
    pub(super) path: String,
    pub(super) old_text: String,
    pub(super) new_text: String,
    #[serde(default)]
    pub(super) replace_all: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunTerminalCommand {
    pub(super) command: String,
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) pty: bool,
    #[serde(default = "columns")]
    pub(super) columns: u16,
    #[serde(default = "rows")]
    pub(super) rows: u16,
    #[serde(default = "output")]
    pub(super) max_output_bytes: u64,
}

fn one() -> u32 {
    1
}

fn here() -> String {
    ".".to_owned()
}

fn deep() -> usize {
    MAX_WALK_DEPTH
}

fn listed() -> usize {
    DEFAULT_LISTED
}

fn matches() -> usize {
    DEFAULT_MATCHES
}

fn yes() -> bool {
    true
}

fn columns() -> u16 {
    80
}

fn rows() -> u16 {
    24
}

fn output() -> u64 {
    DEFAULT_TOOL_OUTPUT_BYTES
}
