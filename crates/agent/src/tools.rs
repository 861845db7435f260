//! The tools that a model sees: their names, their schemas, and which mode offers which. Does nothing itself.

mod arguments;
mod outcome;

pub(crate) use arguments::{Wanted, read};
pub(crate) use outcome::{bounded, findings, listing, output_limit, ran, reading};

use serde_json::{Value, json};

use crate::deed::{Shown, ShownKind};
use crate::talk::ToolSpec;
use crate::worker::Mode;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    ReadFile,
    ListFiles,
    Search,
    EditFile,
    WriteFile,
    RunCommand,
    UpdatePlan,
}

impl Tool {
    const ALL: [Self; 7] = [
        Self::ReadFile,
        Self::ListFiles,
        Self::Search,
        Self::EditFile,
        Self::WriteFile,
        Self::RunCommand,
        Self::UpdatePlan,
    ];

    /// The name that the model is told.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::ListFiles => "list_files",
            Self::Search => "search",
            Self::EditFile => "edit_file",
            Self::WriteFile => "write_file",
            Self::RunCommand => "run_command",
            Self::UpdatePlan => "update_plan",
        }
    }

    /// The tool of a name; a few names that models know from elsewhere are taken too.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        let name = name.strip_prefix("functions.").unwrap_or(&name);
        if let Some(tool) = Self::ALL.into_iter().find(|tool| tool.name() == name) {
            return Some(tool);
        }
        match name {
            "read" | "cat" | "view" | "open_file" => Some(Self::ReadFile),
            "ls" | "list" | "list_dir" | "list_directory" | "glob" => Some(Self::ListFiles),
            "grep" | "search_files" | "search_text" | "search_workspace" => Some(Self::Search),
            "edit" | "str_replace" | "replace" | "replace_in_file" => Some(Self::EditFile),
            "write" | "create_file" => Some(Self::WriteFile),
            "bash" | "shell" | "run" | "execute_command" | "run_terminal_command" => Some(Self::RunCommand),
            "plan" | "todo_write" | "write_todos" => Some(Self::UpdatePlan),
            _ => None,
        }
    }

    /// Whether a mode offers it.
    pub(crate) fn is_in(self, mode: Mode) -> bool {
        let reads = matches!(self, Self::ReadFile | Self::ListFiles | Self::Search);
        match mode {
            Mode::Agent => true,
            Mode::Plan => reads || self == Self::UpdatePlan,
            Mode::Ask => reads,
            Mode::Edit => self != Self::RunCommand,
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::ReadFile => {
                "Read a text file. A long file comes in parts: the first line of the result says which lines it holds; give `line` to read on."
            }
            Self::ListFiles => {
                "List the files and folders below a folder. With `glob`, only what matches, such as **/*.rs."
            }
            Self::Search => "Search the contents of the files for a regular expression. Gives path:line:text.",
            Self::EditFile => {
                "Change a file by replacing text. `old_text` must stand in the file exactly as given, spaces and line breaks included, and \
                 only once, unless `all` is true. Give a few whole lines, enough to be unique."
            }
            Self::WriteFile => {
                "Write a whole file: a new one, or one to be replaced completely. For a change, use edit_file."
            }
            Self::RunCommand => {
                "Run a shell command in the workspace's folder and get its output and exit code. It cannot be typed to."
            }
            Self::UpdatePlan => {
                "Show the plan of a longer task, and keep it up to date. Give all steps each time; one is in_progress at most."
            }
        }
    }

    /// Its fields, what sort each is, whether it must be there, and what it is for.
    fn fields(self) -> &'static [Field] {
        use Sort::{Flag, Number, Steps, Text};
        const PATH: Field = Field("path", Text, Must::Be, "path in the workspace");
        const GLOB: Field = Field("glob", Text, Must::NotBe, "only files that match, such as **/*.rs");
        match self {
            Self::ReadFile => &[
                PATH,
                Field("line", Number, Must::NotBe, "the first line to read, from 1"),
                Field("limit", Number, Must::NotBe, "how many lines"),
            ],
            Self::ListFiles => &[Field("path", Text, Must::NotBe, "the folder; the workspace if left out"), GLOB],
            Self::Search => &[
                Field("pattern", Text, Must::Be, "a regular expression"),
                Field("path", Text, Must::NotBe, "only below this folder"),
                GLOB,
            ],
            Self::EditFile => &[
                PATH,
                Field("old_text", Text, Must::Be, "the text to replace, exactly as it stands in the file"),
                Field("new_text", Text, Must::Be, "the text to put there"),
                Field("all", Flag, Must::NotBe, "replace every place where it stands"),
            ],
            Self::WriteFile => &[PATH, Field("content", Text, Must::Be, "the whole text of the file")],
            Self::RunCommand => &[
                Field("command", Text, Must::Be, "as for a shell"),
                Field("cwd", Text, Must::NotBe, "the folder to run it in, if not the workspace's"),
            ],
            Self::UpdatePlan => &[Field("steps", Steps, Must::Be, "all steps, in order")],
        }
    }

    /// Its fields in words, for a call that got them wrong.
    pub(crate) fn usage(self) -> String {
        let fields: Vec<String> = self
            .fields()
            .iter()
            .map(|Field(name, sort, must, _)| {
                let must = if *must == Must::Be { ", required" } else { "" };
                format!("{name} ({}{must})", sort.words())
            })
            .collect();
        format!("The fields of {} are: {}.", self.name(), fields.join("; "))
    }

    /// As a model's server is told.
    pub(crate) fn spec(self) -> ToolSpec {
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        for Field(name, sort, must, description) in self.fields() {
            let mut schema = sort.schema();
            schema["description"] = json!(description);
            properties.insert((*name).to_owned(), schema);
            if *must == Must::Be {
                required.push(*name);
            }
        }
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        ToolSpec { name: self.name().to_owned(), description: self.description().to_owned(), parameters }
    }

    /// What sort of deed it is for a view.
    pub(crate) fn kind(self) -> ShownKind {
        match self {
            Self::ReadFile => ShownKind::Read,
            Self::ListFiles | Self::Search => ShownKind::Search,
            Self::EditFile | Self::WriteFile => ShownKind::Edit,
            Self::RunCommand => ShownKind::Execute,
            Self::UpdatePlan => ShownKind::Other,
        }
    }
}

/// A field of a tool: its name, sort, whether it must be there, and what it is for.
struct Field(&'static str, Sort, Must, &'static str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Must {
    Be,
    NotBe,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Text,
    Number,
    Flag,
    Steps,
}

impl Sort {
    fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "a whole number",
            Self::Flag => "true or false",
            Self::Steps => "a list of {content: text, status: pending, in_progress or completed}",
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Number => json!({"type": "integer", "minimum": 1}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Steps => json!({"type": "array", "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string", "description": "what is to be done, in a few words"},
                    "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                },
                "required": ["content", "status"],
            }}),
        }
    }
}

/// The tools that a mode offers, as a model's server is told.
#[must_use]
pub fn offered(mode: Mode) -> Vec<ToolSpec> {
    Tool::ALL.into_iter().filter(|tool| tool.is_in(mode)).map(Tool::spec).collect()
}

/// The names of the tools that a mode offers.
pub(crate) fn names(mode: Mode) -> String {
    let names: Vec<&str> = Tool::ALL.into_iter().filter(|tool| tool.is_in(mode)).map(Tool::name).collect();
    names.join(", ")
}

/// How a call looks to a person.
pub(crate) fn shown(tool: Tool, wanted: &Wanted, input: Value) -> Shown {
    let title = match wanted {
        Wanted::Read { path, line: None, .. } => format!("Read {path}"),
        Wanted::Read { path, line: Some(line), .. } => format!("Read {path} from line {line}"),
        Wanted::List { path, glob: None } => format!("List {path}"),
        Wanted::List { path, glob: Some(glob) } => format!("List {glob} in {path}"),
        Wanted::Search { pattern, path: None, .. } => format!("Search for {pattern}"),
        Wanted::Search { pattern, path: Some(path), .. } => format!("Search for {pattern} in {path}"),
        Wanted::Edit { path, .. } => format!("Edit {path}"),
        Wanted::Write { path, .. } => format!("Write {path}"),
        Wanted::Run { command, .. } => format!("Run {command}"),
        Wanted::Plan { .. } => "Update the plan".to_owned(),
    };
    Shown { title: one_line(&title), kind: tool.kind(), input }
}

/// The longest title, in characters.
const MAX_TITLE: usize = 200;

/// The first line, and not too much of it.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let more = line.chars().count() > MAX_TITLE || text.lines().nth(1).is_some();
    let mut short: String = line.chars().take(MAX_TITLE).collect();
    if more {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered_names(mode: Mode) -> Vec<String> {
        offered(mode).into_iter().map(|spec| spec.name).collect()
    }

    #[test]
    fn a_mode_offers_what_it_allows_and_nothing_else() {
        let reads = ["read_file", "list_files", "search"];
        assert_eq!(offered_names(Mode::Ask), reads);
        assert_eq!(offered_names(Mode::Plan), [&reads[..], &["update_plan"]].concat());
        assert_eq!(offered_names(Mode::Edit), [&reads[..], &["edit_file", "write_file", "update_plan"]].concat());
        assert_eq!(offered_names(Mode::Agent).len(), 7);
    }

    #[test]
    fn each_schema_is_an_object_that_names_its_required_fields() {
        for spec in offered(Mode::Agent) {
            assert_eq!(spec.parameters["type"], "object");
            for name in spec.parameters["required"].as_array().expect("a list") {
                assert!(spec.parameters["properties"].get(name.as_str().expect("a name")).is_some());
            }
        }
    }

    #[test]
    fn names_from_elsewhere_are_understood() {
        assert_eq!(Tool::named("functions.Read-File"), Some(Tool::ReadFile));
        assert_eq!(Tool::named("bash"), Some(Tool::RunCommand));
        assert_eq!(Tool::named("launch_rockets"), None);
    }
}
