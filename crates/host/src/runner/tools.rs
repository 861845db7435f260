//! The host's own tools: what each is called, what it does and what it takes. Carries nothing out itself.
//!
//! | module | owns |
//! | --- | --- |
//! | `schema` | the schemas of the parameters |
//! | `taken` | the parameters once they are checked |
//! | `carry` | a call carried out, or made ready |
//! | `view_file` | `read_file` |
//! | `walk`, `list`, `search` | the workspace's files, one after the other; those that are listed and those that match |
//! | `edit` | `edit_file`: what is replaced |

mod carry;
mod edit;
pub(crate) mod list;
mod schema;
pub(crate) mod search;
pub(crate) mod taken;
pub(crate) mod view_file;
pub(crate) mod walk;

use switchboard_types::{Effect, FunctionTool, Provider, Tool, ToolDefinition, ToolName};

pub(super) use carry::{Planned, plan, serve};

/// `read_file`.
pub const READ_FILE: &str = "read_file";
/// `list_files`.
pub const LIST_FILES: &str = "list_files";
/// `search_workspace`.
pub const SEARCH_WORKSPACE: &str = "search_workspace";
/// `write_file`.
pub const WRITE_FILE: &str = "write_file";
/// `edit_file`.
pub const EDIT_FILE: &str = "edit_file";
/// `run_terminal_command`.
pub const RUN_TERMINAL_COMMAND: &str = "run_terminal_command";

/// Every tool of the host, by name.
#[must_use]
pub fn definitions() -> Vec<Tool> {
    let mut all = vec![
        tool(EDIT_FILE, Effect::Writes, EDITS, schema::edit_file()),
        tool(LIST_FILES, Effect::Reads, LISTS, schema::list_files()),
        tool(READ_FILE, Effect::Reads, READS, schema::read_file()),
        tool(RUN_TERMINAL_COMMAND, Effect::Runs, RUNS, schema::run_terminal_command()),
        tool(SEARCH_WORKSPACE, Effect::Reads, SEARCHES, schema::search_workspace()),
        tool(WRITE_FILE, Effect::Writes, WRITES, schema::write_file()),
    ];
    all.sort_by_key(Tool::name);
    all
}

/// Whether a tool goes through the whole workspace, which takes longer than a look at one file.
pub(super) fn walks(tool: &Tool) -> bool {
    matches!(tool.name().as_str(), LIST_FILES | SEARCH_WORKSPACE)
}

fn tool(name: &str, effect: Effect, description: &str, parameters: serde_json::Value) -> Tool {
    let (name, description) = (ToolName::new(name), description.to_owned());
    let function = FunctionTool { name, description, parameters, strict: Some(true) };
    Tool { definition: ToolDefinition::Function { function }, effect, provider: Provider::Host }
}

const READS: &str = "Reads a file of the workspace: all of it, or some of its lines. Of a file that is no text it says \
    how large it is and what it seems to be; its bytes come only if base64 is asked for and they are few. Use it to \
    look at a file whose name is known.";
const LISTS: &str = "Lists the files and folders of the workspace, below a folder and by a glob if given. What \
    .gitignore leaves out is left out, and so is .git, unless includeIgnored is true. Links are listed and not followed.";
const SEARCHES: &str = "Searches the workspace's files of text for a text or a regular expression, line by line, and \
    says where it stands: file, line, column and the line itself, with lines around it if asked for. What .gitignore \
    leaves out is not searched. Regular expressions have no look-around and no back references.";
const WRITES: &str = "Writes a file of the workspace: makes it with its folders, or replaces all that it says. A \
    person may be shown the change first. To change a part of a file, use edit_file.";
const EDITS: &str = "Replaces a text in a file of the workspace by another. The text must be in the file exactly as \
    given, white space included, and only once, unless replaceAll is true. A person may be shown the change first.";
const RUNS: &str = "Runs a command in the workspace, as a line for a shell, and waits for its end. Gives its exit \
    code and what it wrote, both outputs together; of much output the beginning and the end. There is no input. A \
    person may be asked first, and it may be held in: the rest of the disk read-only, no network. With pty it talks \
    to a terminal.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_has_a_sound_schema_that_takes_nothing_else() {
        let all = definitions();
        let names: Vec<_> = all.iter().map(|tool| tool.name().to_string()).collect();
        let expected =
            [EDIT_FILE, LIST_FILES, READ_FILE, RUN_TERMINAL_COMMAND, SEARCH_WORKSPACE, WRITE_FILE].map(str::to_owned);
        assert_eq!(names, expected);
        for tool in &all {
            assert_eq!(crate::runner::validate::check_definition(&tool.definition), Ok(()));
            let ToolDefinition::Function { function } = &tool.definition else { panic!("{tool:?}") };
            assert_eq!(function.parameters["additionalProperties"], false);
            for (name, parameter) in function.parameters["properties"].as_object().unwrap() {
                assert!(parameter["description"].is_string(), "{name} of {} is not described", function.name);
            }
        }
    }
}
