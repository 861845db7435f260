//! The commands that a person begins a prompt with. Reads them; what they do is the worker's business.

use crate::talk::Part;

/// A command as a view offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What is to be written after it, if anything.
    pub hint: Option<&'static str>,
}

/// A command that was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// What can be done here.
    Help,
    /// How full the context is.
    Context,
    /// Make the conversation shorter now.
    Compact,
    /// One turn in plan mode, with this prompt.
    Plan(Vec<Part>),
    /// Let the model write AGENTS.md.
    Init,
}

const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "help", description: "What the agent can do and which commands it knows", hint: None },
    SlashCommand { name: "plan", description: "Make a plan for this, changing nothing", hint: Some("what to plan") },
    SlashCommand { name: "compact", description: "Replace the conversation so far by a summary", hint: None },
    SlashCommand { name: "context", description: "How full the model's context is", hint: None },
    SlashCommand { name: "init", description: "Look at the project and write AGENTS.md", hint: None },
];

/// All commands, for a view to offer.
#[must_use]
pub fn commands() -> Vec<SlashCommand> {
    COMMANDS.to_vec()
}

/// The command that a prompt begins with. What only looks like one (a path, say) is the model's to read.
pub(crate) fn read(parts: &[Part]) -> Option<Command> {
    let Some(Part::Text { text }) = parts.first() else { return None };
    let text = text.trim_start().strip_prefix('/')?;
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match name {
        "help" => Some(Command::Help),
        "context" => Some(Command::Context),
        "compact" => Some(Command::Compact),
        "init" => Some(Command::Init),
        "plan" => {
            let mut parts = parts.to_vec();
            parts[0] = Part::Text { text: rest.trim_start().to_owned() };
            Some(Command::Plan(parts))
        }
        _ => None,
    }
}

/// What `/help` answers.
pub(crate) fn help() -> String {
    let mut text = "Ask for what you want done, in your own words. Commands:\n".to_owned();
    for command in COMMANDS {
        let hint = command.hint.map(|hint| format!(" <{hint}>")).unwrap_or_default();
        text.push_str(&format!("- `/{}{hint}`: {}\n", command.name, command.description));
    }
    text.push_str("Modes: agent (reads, changes, runs), edit (no commands), plan and ask (change nothing).\n");
    text
}

/// What the model is asked for `/init`.
pub(crate) const INIT: &str = "Look at this project: its files, how it is built, tested and run, and how its code is written. Then write \
AGENTS.md in the workspace's folder: short instructions for a coding agent that works here (the commands to build, test and check; the \
layout; the conventions that the code follows). If AGENTS.md exists already, read it and improve it instead of replacing it. Write only \
what you have seen.";

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Part> {
        vec![Part::Text { text: text.to_owned() }]
    }

    #[test]
    fn a_command_is_read_and_a_path_is_not_one() {
        assert_eq!(read(&words("/help")), Some(Command::Help));
        assert_eq!(read(&words("  /compact now")), Some(Command::Compact));
        assert_eq!(read(&words("/plan a new door")), Some(Command::Plan(words("a new door"))));
        assert_eq!(read(&words("/etc/hosts is wrong")), None);
        assert_eq!(read(&words("help")), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn each_command_that_is_offered_is_known() {
        for command in commands() {
            assert!(read(&words(&format!("/{} x", command.name))).is_some(), "{}", command.name);
            assert!(help().contains(command.name));
        }
    }
}
