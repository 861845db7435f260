//! How a step becomes a call of one of the tools that an agent offers: a table of names, and of what a parameter's name
//! means. Knows no agent by name; a new one whose tools are named like others' needs no line here.

use serde_json::{Map, Value, json};

use crate::model::script::Step;

/// A tool as a request offers it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// Of its parameters; null for a tool that takes text.
    pub(crate) schema: Value,
    pub(crate) form: Form,
}

/// What a tool takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An object.
    Parameters,
    /// Text in a grammar of its own.
    Text,
}

/// A tool's name and what it is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) input: Input,
}

/// What a tool is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Parameters(Value),
    Text(String),
}

impl Input {
    /// As text: the parameters' JSON or the text itself.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Parameters(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// As an object: text goes where the providers put it.
    pub(crate) fn object(&self) -> Value {
        match self {
            Self::Parameters(value) => value.clone(),
            Self::Text(text) => json!({"input": text}),
        }
    }
}

/// What a tool does, as far as a step needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skill {
    Plan,
    Read,
    Edit,
    Write,
    Shell,
    Patch,
}

/// Names of tools, the best first. Compared without case, and without what a provider of tools puts before the name.
const NAMES: &[(Skill, &[&str])] = &[
    (
        Skill::Plan,
        &[
            "update_plan",
            "todowrite",
            "todo_write",
            "write_todos",
            "todolist",
            "settodolist",
            "todo",
            "manage_todo_list",
            "update_todo_list",
            "taskcreate",
        ],
    ),
    (Skill::Read, &["read_file", "read", "readfile", "view", "read_text_file", "read_files"]),
    (
        Skill::Edit,
        &[
            "edit",
            "replace",
            "str_replace",
            "edit_file",
            "strreplacefile",
            "search_replace",
            "replace_in_file",
            "str_replace_editor",
            "editor",
        ],
    ),
    (Skill::Write, &["write", "write_file", "writefile", "create", "create_file", "write_to_file"]),
    (
        Skill::Shell,
        &[
            "bash",
            "shell",
            "exec_command",
            "run_shell_command",
            "execute_command",
            "run_commands",
            "shell_command",
            "terminal",
            "run_command",
        ],
    ),
    (Skill::Patch, &["apply_patch"]),
];

/// What a parameter of this name means. Compared without case and underscores.
const MEANINGS: &[(Meaning, &[&str])] = &[
    (Meaning::Path, &["path", "filepath", "absolutepath", "filename", "targetfile", "file"]),
    (Meaning::Old, &["oldstring", "oldstr", "oldtext", "old", "search"]),
    (Meaning::New, &["newstring", "newstr", "newtext", "new", "replace"]),
    (Meaning::Content, &["content", "contents", "filetext", "text"]),
    (Meaning::Command, &["command", "cmd", "script", "commands"]),
    (Meaning::Items, &["todos", "plan", "items", "todolist", "list", "steps"]),
    (Meaning::Patch, &["input", "patch", "patchtext"]),
    (Meaning::Sandbox, &["sandboxpermissions"]),
    (Meaning::Reason, &["justification"]),
    (Meaning::Item, &["subject"]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Path,
    Old,
    New,
    Content,
    Command,
    Items,
    Patch,
    /// Whether a command may leave the agent's own sandbox.
    Sandbox,
    Reason,
    /// The first item of a plan, for tools that take one at a time.
    Item,
}

/// Parameters of one item of a plan.
const ITEM_TEXT: &[&str] = &["content", "step", "title", "description", "text", "name", "activeform"];

/// The call that carries out a step with the tools at hand; none if no tool can, or the step calls none.
pub(crate) fn call(step: &Step, tools: &[Tool]) -> Option<Call> {
    if let Step::Tool { name, input, .. } = step {
        return Some(Call { name: name.clone(), input: Input::Parameters(input.clone()) });
    }
    let ways: &[Skill] = match step {
        Step::Plan { .. } => &[Skill::Plan],
        Step::Read { .. } => &[Skill::Read, Skill::Shell],
        Step::Edit { .. } => &[Skill::Edit, Skill::Patch],
        Step::Write { .. } => &[Skill::Write, Skill::Patch],
        Step::Shell { .. } => &[Skill::Shell],
        Step::Say { .. }
        | Step::Slow { .. }
        | Step::Tool { .. }
        | Step::Recall { .. }
        | Step::Error { .. }
        | Step::Hang { .. }
        | Step::Cut { .. } => &[],
    };
    ways.iter().find_map(|skill| find(*skill, tools)).map(|tool| fill(step, tool))
}

fn find(skill: Skill, tools: &[Tool]) -> Option<&Tool> {
    let (_, names) = NAMES.iter().find(|(of, _)| *of == skill)?;
    names.iter().find_map(|name| tools.iter().find(|tool| bare(&tool.name) == *name))
}

/// A name without case and without the provider before it, as in `functions.Read` or `mcp__acp__Edit`.
fn bare(name: &str) -> String {
    let last = name.rsplit("__").next().unwrap_or(name);
    last.rsplit(['.', ':', '/']).next().unwrap_or(last).to_lowercase()
}

fn fill(step: &Step, tool: &Tool) -> Call {
    let input = match tool.form {
        Form::Text => Input::Text(value(Meaning::Patch, step, &Value::Null).as_str().unwrap_or_default().to_owned()),
        Form::Parameters => Input::Parameters(parameters(step, &tool.schema)),
    };
    Call { name: tool.name.clone(), input }
}

/// Fills what the step knows, and what is required besides by the first thing that the schema lets through.
fn parameters(step: &Step, schema: &Value) -> Value {
    let mut filled = Map::new();
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        let value = meaning(name).map(|meaning| value(meaning, step, of)).filter(|value| !value.is_null());
        match value {
            Some(value) => drop(filled.insert(name.clone(), value)),
            None if required.contains(&name.as_str()) => drop(filled.insert(name.clone(), filler(of, step))),
            None => {}
        }
    }
    Value::Object(filled)
}

fn meaning(name: &str) -> Option<Meaning> {
    let plain: String = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
    MEANINGS.iter().find(|(_, names)| names.contains(&plain.as_str())).map(|(meaning, _)| *meaning)
}

/// What a step has to say to a parameter; null if nothing.
fn value(meaning: Meaning, step: &Step, schema: &Value) -> Value {
    match (meaning, step) {
        (Meaning::Path, Step::Read { path, .. } | Step::Edit { path, .. } | Step::Write { path, .. }) => json!(path),
        (Meaning::Old, Step::Edit { old, .. }) => json!(old),
        (Meaning::New, Step::Edit { new, .. }) => json!(new),
        (Meaning::Content, Step::Write { content, .. }) => json!(content),
        (Meaning::Command, Step::Shell { cmd, .. }) => command(cmd, schema),
        (Meaning::Command, Step::Read { path, .. }) => command(&format!("cat {path}"), schema),
        (Meaning::Items, Step::Plan { items, .. }) => {
            items.iter().enumerate().map(|(at, (text, status))| item(at, text, status.word(), schema)).collect()
        }
        (Meaning::Item, Step::Plan { items, .. }) => items.first().map_or(Value::Null, |(text, _)| json!(text)),
        (Meaning::Patch, Step::Edit { path, old, new, .. }) => {
            json!(format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"))
        }
        (Meaning::Patch, Step::Write { path, content, .. }) => {
            let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
            json!(format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"))
        }
        // Else the agent would run it where it can do nothing, and ask nobody.
        (Meaning::Sandbox, Step::Shell { .. }) => json!("require_escalated"),
        (Meaning::Reason, Step::Shell { .. }) => json!("as the script says"),
        _ => Value::Null,
    }
}

/// A command, as text or as the list of words that the schema wants.
fn command(line: &str, schema: &Value) -> Value {
    if kind(schema) != "array" {
        return json!(line);
    }
    // A list of whole command lines is not a list of words.
    if schema["description"].as_str().is_some_and(|words| words.to_lowercase().contains("commands")) {
        return json!([line]);
    }
    json!(["bash", "-lc", line])
}

fn item(at: usize, text: &str, status: &str, list: &Value) -> Value {
    let schema = &list["items"];
    let mut filled = Map::new();
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        let plain = name.to_lowercase();
        let value = match plain.as_str() {
            "status" => fitting(status, of),
            "id" if kind(of) == "string" => json!((at + 1).to_string()),
            "id" => json!(at + 1),
            "priority" => fitting("medium", of),
            name if ITEM_TEXT.contains(&name) => json!(text),
            _ => continue,
        };
        filled.insert(name.clone(), value);
    }
    Value::Object(filled)
}

/// A word, or the one of the schema's own words that means the same.
fn fitting(word: &str, schema: &Value) -> Value {
    let words: Vec<&str> = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let same = match word {
        "completed" => &["completed", "done", "finished"][..],
        "pending" => &["pending", "todo", "not_started"][..],
        "in_progress" => &["in_progress", "in-progress", "doing"][..],
        _ => &[][..],
    };
    let known = same.iter().find(|same| words.contains(same)).copied();
    json!(if words.is_empty() || words.contains(&word) { word } else { known.unwrap_or(words[0]) })
}

/// Something of the type that is wanted.
fn filler(schema: &Value, step: &Step) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return match step {
            // An editor of many commands: the one that does what the step wants.
            Step::Edit { .. } => fitting("str_replace", schema),
            Step::Write { .. } => fitting("create", schema),
            Step::Read { .. } => fitting("view", schema),
            _ => first.clone(),
        };
    }
    match kind(schema).as_str() {
        "boolean" => json!(false),
        "integer" | "number" => json!(1),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!("as the script says"),
    }
}

/// The first type that a schema names; Gemini writes them in capitals.
fn kind(schema: &Value) -> String {
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    kind.unwrap_or_default().to_lowercase()
}
