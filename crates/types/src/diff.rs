//! How a file would change, line by line. Plain data, and the same as HTML that holds nothing but text and classes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How a file would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The parts that change, with some lines around them.
    pub hunks: Vec<DiffHunk>,
    /// Lines that are new.
    pub added: u32,
    /// Lines that are gone.
    pub removed: u32,
    /// Lines that are left out here, since there are too many.
    pub left_out: u32,
}

/// A part of a file that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// Its first line in the file as it was, counted from 1.
    pub old_start: u32,
    /// Its first line in the file as it would be.
    pub new_start: u32,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of it, without its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DiffLine {
    /// It stays.
    Same {
        /// What it says.
        text: String,
    },
    /// It is new.
    Added {
        /// What it says.
        text: String,
    },
    /// It is gone.
    Removed {
        /// What it said.
        text: String,
    },
}
