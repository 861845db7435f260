//! What a command says, read as the shell would read it: the programs that it runs and the files that it writes. What
//! cannot be read for sure is said, never guessed.

/// A command as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every simple command in it, in order, those within others included.
    pub commands: Vec<Simple>,
    /// Every file that it says it writes: targets of redirections and of programs that are known to write.
    pub targets: Vec<Target>,
    /// Why it cannot be read for sure, in plain words; empty if it can.
    pub doubts: Vec<String>,
}

/// One program with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Variables that are set for it.
    pub assignments: Vec<(String, String)>,
    /// The program and its arguments, without their quotes.
    pub words: Vec<String>,
}

/// A file that a command writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As it is written, without its quotes.
    pub path: String,
}

/// Reads a line as a shell would.
#[must_use]
pub fn read_line(line: &str) -> Reading {
    Reading { doubts: vec![format!("{} bytes cannot be read", line.len())], ..Reading::default() }
}

/// Reads words that no shell reads.
#[must_use]
pub fn read_argv(argv: &[String]) -> Reading {
    let only = Simple { assignments: Vec::new(), words: argv.to_vec() };
    Reading { commands: vec![only], ..Reading::default() }
}
