//! What a call wants, read from what the model wrote: tolerant of spelling, strict about meaning. Says all that is wrong at once.

use serde_json::{Map, Value};

use super::{Tool, one_line};
use crate::talk::{Arguments, ToolCall};
use crate::worker::{Step, StepStatus};

/// How many steps a plan may have.
const MAX_STEPS: usize = 50;

/// How many characters a step may have.
const MAX_STEP: usize = 400;

/// A call that makes sense.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    Read { path: String, line: Option<u32>, limit: Option<u32> },
    List { path: String, glob: Option<String> },
    Search { pattern: String, path: Option<String>, glob: Option<String> },
    Edit { path: String, old: String, new: String, all: bool },
    Write { path: String, content: String },
    Run { command: String, cwd: Option<String> },
    Plan { steps: Vec<Step> },
}

/// Reads a call, or says in words for the model what is wrong with it.
pub(crate) fn read(tool: Tool, call: &ToolCall) -> Result<Wanted, String> {
    let object = match &call.arguments {
        Arguments::Object(object) => object,
        Arguments::Broken(text) => {
            let text = one_line(text);
            return Err(format!(
                "The arguments are not a JSON object: {text}\n{} Call it again with one JSON object.",
                tool.usage()
            ));
        }
    };
    let mut reader = Reader { object, findings: Vec::new() };
    let wanted = reader.wanted(tool);
    match (wanted, reader.findings.is_empty()) {
        (Some(wanted), true) => Ok(wanted),
        _ => Err(format!("{}. {}", reader.findings.join("; "), tool.usage())),
    }
}

struct Reader<'a> {
    object: &'a Map<String, Value>,
    findings: Vec<String>,
}

const PATH: &[&str] = &["path", "file_path", "filepath", "filename", "file", "target_file"];
const FOLDER: &[&str] = &["path", "directory", "dir", "folder", "dir_path"];
const GLOB: &[&str] = &["glob", "include", "file_pattern"];

impl Reader<'_> {
    fn wanted(&mut self, tool: Tool) -> Option<Wanted> {
        match tool {
            Tool::ReadFile => {
                let path = self.path(PATH);
                let line = self.number(&["line", "start_line", "offset"]);
                let limit = self.number(&["limit", "max_lines", "lines"]);
                Some(Wanted::Read { path: path?, line, limit })
            }
            Tool::ListFiles => {
                let path = self.text(FOLDER).filter(|path| !path.trim().is_empty());
                let glob = self.some_text(GLOB).or_else(|| self.some_text(&["pattern"]));
                Some(Wanted::List { path: path.unwrap_or_else(|| ".".to_owned()), glob })
            }
            Tool::Search => {
                let pattern = self.required(&["pattern", "query", "regex", "search"]);
                if pattern.as_deref() == Some("") {
                    self.findings.push("`pattern` is empty".to_owned());
                }
                let path = self.some_text(FOLDER);
                let glob = self.some_text(GLOB);
                Some(Wanted::Search { pattern: pattern?, path, glob })
            }
            Tool::EditFile => {
                let path = self.path(PATH);
                let old = self.required(&["old_text", "old_string", "old_str", "old", "search"]);
                let new = self.required(&["new_text", "new_string", "new_str", "new", "replace"]);
                let all = self.flag(&["all", "replace_all"]);
                Some(Wanted::Edit { path: path?, old: old?, new: new?, all: all.unwrap_or(false) })
            }
            Tool::WriteFile => {
                let path = self.path(PATH);
                let content = self.required(&["content", "contents", "text", "file_text"]);
                Some(Wanted::Write { path: path?, content: content? })
            }
            Tool::RunCommand => {
                let command = self.command();
                let cwd = self.some_text(&["cwd", "workdir", "working_directory"]);
                Some(Wanted::Run { command: command?, cwd })
            }
            Tool::UpdatePlan => Some(Wanted::Plan { steps: self.steps()? }),
        }
    }

    /// The first of the names that is there and not null.
    fn value(&self, names: &[&'static str]) -> Option<(&'static str, &Value)> {
        names.iter().find_map(|name| match self.object.get(*name) {
            None | Some(Value::Null) => None,
            Some(value) => Some((*name, value)),
        })
    }

    fn text(&mut self, names: &[&'static str]) -> Option<String> {
        let (name, value) = self.value(names)?;
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) | Value::Null => {
                let finding = format!("`{name}` must be text, not {}", sort(value));
                self.findings.push(finding);
                None
            }
        }
    }

    /// Text that may be left out, also by leaving it empty.
    fn some_text(&mut self, names: &[&'static str]) -> Option<String> {
        self.text(names).filter(|text| !text.trim().is_empty())
    }

    fn required(&mut self, names: &[&'static str]) -> Option<String> {
        if self.value(names).is_none() {
            self.findings.push(format!("`{}` is missing", names.first()?));
        }
        self.text(names)
    }

    fn path(&mut self, names: &[&'static str]) -> Option<String> {
        let path = self.required(names)?;
        if path.trim().is_empty() || path.contains('\0') {
            self.findings.push("`path` is empty or no path".to_owned());
            return None;
        }
        Some(path)
    }

    fn number(&mut self, names: &[&'static str]) -> Option<u32> {
        let (name, value) = self.value(names)?;
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| {
                // Some servers write every number with a point.
                number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && (0.0..1e9).contains(float))
                    .map(|float| float as u64)
            }),
            Value::String(text) if text.trim().is_empty() => return None,
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) | Value::Null => None,
        };
        match number.map(u32::try_from) {
            // Lines count from 1; models that count from 0 mean the first.
            Some(Ok(number)) => Some(number.max(1)),
            Some(Err(_)) | None => {
                let finding = format!("`{name}` must be a whole number, not {}", sort(value));
                self.findings.push(finding);
                None
            }
        }
    }

    fn flag(&mut self, names: &[&'static str]) -> Option<bool> {
        let (name, value) = self.value(names)?;
        let flag = match value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" => Some(true),
                "false" | "" => Some(false),
                _ => None,
            },
            Value::Number(_) | Value::Array(_) | Value::Object(_) | Value::Null => None,
        };
        if flag.is_none() {
            let finding = format!("`{name}` must be true or false, not {}", sort(value));
            self.findings.push(finding);
        }
        flag
    }

    /// A command is text; a list of words, as `exec` takes it, is quoted for the shell.
    fn command(&mut self) -> Option<String> {
        const NAMES: &[&str] = &["command", "cmd"];
        let command = match self.value(NAMES) {
            Some((_, Value::Array(words))) if !words.is_empty() && words.iter().all(Value::is_string) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                match words.as_slice() {
                    ["bash" | "sh" | "zsh", "-c" | "-lc", script] => (*script).to_owned(),
                    words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
                }
            }
            _ => self.required(NAMES)?,
        };
        if command.trim().is_empty() || command.contains('\0') {
            self.findings.push("`command` is empty or holds a zero byte".to_owned());
            return None;
        }
        Some(command)
    }

    fn steps(&mut self) -> Option<Vec<Step>> {
        let Some((name, value)) = self.value(&["steps", "plan", "todos", "items"]) else {
            self.findings.push("`steps` is missing".to_owned());
            return None;
        };
        let parsed;
        let list = match value {
            Value::Array(list) => list,
            // A list that was written as text.
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Array(list)) => {
                    parsed = list;
                    &parsed
                }
                _ => {
                    self.findings.push(format!("`{name}` must be a list, not text"));
                    return None;
                }
            },
            other => {
                let finding = format!("`{name}` must be a list, not {}", sort(other));
                self.findings.push(finding);
                return None;
            }
        };
        if list.len() > MAX_STEPS {
            self.findings.push(format!("`{name}` has {} steps; at most {MAX_STEPS} are taken", list.len()));
            return None;
        }
        let read: Vec<Result<Step, String>> = list.iter().enumerate().map(|(at, value)| step(at + 1, value)).collect();
        let mut steps = Vec::new();
        for step in read {
            match step {
                Ok(step) => steps.push(step),
                Err(finding) => self.findings.push(finding),
            }
        }
        Some(steps)
    }
}

fn step(at: usize, value: &Value) -> Result<Step, String> {
    let (content, status) = match value {
        Value::String(text) => (Some(text.as_str()), None),
        Value::Object(object) => {
            let content = ["content", "step", "title", "task", "description", "text"];
            let content = content.iter().find_map(|name| object.get(*name)).and_then(Value::as_str);
            (content, object.get("status").and_then(Value::as_str))
        }
        _ => (None, None),
    };
    let content = content.map(str::trim).filter(|text| !text.is_empty());
    let content = content.ok_or_else(|| format!("step {at} has no `content`"))?;
    let status = match status.unwrap_or("pending").trim().to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
        "pending" | "todo" | "not_started" => StepStatus::Pending,
        "in_progress" | "active" | "doing" => StepStatus::InProgress,
        "completed" | "complete" | "done" => StepStatus::Completed,
        other => {
            return Err(format!("step {at} has the status {other:?}; it must be pending, in_progress or completed"));
        }
    };
    Ok(Step { content: content.chars().take(MAX_STEP).collect(), status })
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What sort of value it is, in words.
fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "that number",
        Value::String(_) => "that text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: Tool, arguments: Value) -> Result<Wanted, String> {
        let Value::Object(object) = arguments else { panic!("an object") };
        let call = ToolCall { id: "c".to_owned(), name: tool.name().to_owned(), arguments: Arguments::Object(object) };
        read(tool, &call)
    }

    #[test]
    fn other_spellings_mean_the_same() {
        let wanted = call(Tool::ReadFile, json!({"file_path": "a.rs", "offset": "3", "limit": 10.0}));
        assert_eq!(wanted, Ok(Wanted::Read { path: "a.rs".to_owned(), line: Some(3), limit: Some(10) }));
        let wanted = call(Tool::RunCommand, json!({"cmd": ["bash", "-lc", "cargo test"]}));
        assert_eq!(wanted, Ok(Wanted::Run { command: "cargo test".to_owned(), cwd: None }));
        let wanted = call(Tool::RunCommand, json!({"command": ["echo", "it's"]}));
        assert_eq!(wanted, Ok(Wanted::Run { command: "echo 'it'\\''s'".to_owned(), cwd: None }));
        let wanted =
            call(Tool::EditFile, json!({"path": "a", "old_string": "x", "new_string": "", "replace_all": "true"}));
        let edit = Wanted::Edit { path: "a".to_owned(), old: "x".to_owned(), new: String::new(), all: true };
        assert_eq!(wanted, Ok(edit));
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once_with_the_names_of_the_fields() {
        let said = call(Tool::EditFile, json!({"path": 7, "old_text": ["x"], "all": "perhaps"})).expect_err("wrong");
        for words in
            ["`old_text` must be text", "`new_text` is missing", "`all` must be true or false", "path (text, required)"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
    }

    #[test]
    fn broken_arguments_are_told_with_the_fields() {
        let broken = Arguments::Broken("{\"path\": \"a".to_owned());
        let call = ToolCall { id: "c".to_owned(), name: "read_file".to_owned(), arguments: broken };
        let said = read(Tool::ReadFile, &call).expect_err("broken");
        assert!(said.contains("not a JSON object") && said.contains("path (text, required)"), "{said}");
    }

    #[test]
    fn a_plan_is_read_in_the_shapes_that_models_write() {
        let steps = json!([{"content": "look", "status": "done"}, {"step": "mend", "status": "in progress"}, "test"]);
        let expected = vec![
            Step { content: "look".to_owned(), status: StepStatus::Completed },
            Step { content: "mend".to_owned(), status: StepStatus::InProgress },
            Step { content: "test".to_owned(), status: StepStatus::Pending },
        ];
        assert_eq!(call(Tool::UpdatePlan, json!({"todos": steps})), Ok(Wanted::Plan { steps: expected.clone() }));
        assert_eq!(call(Tool::UpdatePlan, json!({"steps": steps.to_string()})), Ok(Wanted::Plan { steps: expected }));
        let said = call(Tool::UpdatePlan, json!({"steps": [{"status": "done"}, {"content": "a", "status": "soon"}]}));
        let said = said.expect_err("wrong");
        assert!(said.contains("step 1 has no `content`") && said.contains("step 2 has the status"), "{said}");
    }
}
