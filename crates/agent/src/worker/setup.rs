//! What a worker is told before it works: the model's abilities, limits, instructions, and what was kept. Plain data.

use super::{Kept, Mode};

/// What is known of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its name, as the server spells it.
    pub model: String,
    /// How many tokens it can read. None is not known yet: then nothing is left out before the server itself says that it is too long,
    /// and the server is told no size. What is here is also what a server is told that has to be told, so the edge keeps it to what the
    /// machine can bear.
    pub context: Option<u32>,
    /// Whether it calls tools by its server's own way. None is tried.
    pub tools: Option<bool>,
    /// Whether it takes pictures. None is tried.
    pub images: Option<bool>,
}

/// How long a turn may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often the model is asked in one turn.
    pub rounds: u32,
    /// How long a turn may take, in milliseconds, not counting the time in which a person is asked.
    pub turn_ms: u64,
    /// How long a tool may take, in milliseconds.
    pub tool_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rounds: 25, turn_ms: 30 * 60 * 1000, tool_ms: 30 * 1000 }
    }
}

/// All that a worker needs to begin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The model.
    pub facts: Facts,
    /// How it works.
    pub mode: Mode,
    /// The workspace's folder, for the model to read.
    pub root: String,
    /// The project's own instructions, from the root downwards.
    pub instructions: Vec<Instruction>,
    /// How long it may go on.
    pub limits: Limits,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// What was kept of the session, oldest first, if it is taken up again.
    pub kept: Vec<Kept>,
}

/// A file of instructions, such as AGENTS.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it lies, for the model to read.
    pub path: String,
    /// What it says.
    pub text: String,
}
