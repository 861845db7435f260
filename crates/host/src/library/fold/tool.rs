//! What is known of one tool call, or of one execution, until it is over. Keeps a bounded part of what a tool gives.

use serde_json::Value;
use switchboard_types::{CallId, Execution, ExecutionId, ToolCall, ToolContent};

use super::{Call, add_path, is_over};
use crate::library::derived::cut;

/// Bytes of each part of a call that are kept.
const MAX_PART_BYTES: usize = 256 * 1024;
/// How deep into a value is looked.
const MAX_DEPTH: usize = 32;
/// Names of parameters that are files.
const PATH_NAMES: [&str; 6] = ["path", "file_path", "filePath", "file", "filename", "notebook_path"];

/// A tool call, or an execution that no call asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    call: Call,
    /// Whether the call is over; no call is.
    call_over: bool,
    executions: Vec<(ExecutionId, bool)>,
    title: String,
    input: String,
    done: String,
    output: String,
    shown: String,
    result: String,
    paths: String,
}

impl Draft {
    pub(super) fn is_for(&self, call: Option<&CallId>) -> bool {
        call.is_some() && self.call.as_ref() == call
    }

    pub(super) fn runs(&self, execution: &ExecutionId) -> bool {
        self.executions.iter().any(|(known, _)| known == execution)
    }

    /// Whether nothing more will come.
    pub(super) fn is_finished(&self) -> bool {
        (self.call.is_none() || self.call_over) && self.executions.iter().all(|(_, over)| *over)
    }

    /// More is known of the call. Returns how much it grew by, at most.
    pub(super) fn call(&mut self, call: ToolCall) -> usize {
        let before = self.size();
        self.call_over = is_over(call.status);
        self.call = Some(call.id);
        if !call.title.is_empty() {
            self.title = cut(&call.title, MAX_PART_BYTES).to_owned();
        }
        if let Some(input) = &call.input {
            self.input.clear();
            value(input, &mut self.input, 0);
            paths_of(input, &mut self.paths, 0);
        }
        if let Some(output) = &call.output {
            self.result.clear();
            value(output, &mut self.result, 0);
        }
        if let Some(error) = &call.error {
            add(&mut self.result, &error.message);
        }
        for content in call.content.iter().take(1) {
            self.shown.clear();
            content.iter().for_each(|piece| self.content(piece));
        }
        call.locations.iter().flatten().for_each(|place| add_path(&mut self.paths, &place.path));
        self.size().saturating_sub(before)
    }

    fn content(&mut self, piece: &ToolContent) {
        match piece {
            ToolContent::Text { text } => add(&mut self.shown, text),
            ToolContent::Diff { path, old: _, new } => {
                add_path(&mut self.paths, path);
                add(&mut self.shown, new);
            }
            ToolContent::Terminal { terminal: _, output } => {
                add(&mut self.shown, output.as_deref().unwrap_or_default())
            }
            ToolContent::Link { uri, name } => {
                add(&mut self.shown, name);
                add(&mut self.shown, uri);
            }
            ToolContent::Other { raw } => value(raw, &mut self.shown, 0),
            ToolContent::Image { .. } => {}
        }
    }

    pub(super) fn execution(&mut self, execution: &Execution) -> usize {
        let before = self.size();
        self.executions.push((execution.id.clone(), false));
        if self.title.is_empty() {
            self.title = cut(&execution.title, MAX_PART_BYTES).to_owned();
        }
        for part in [&execution.command, &execution.diff].into_iter().flatten() {
            add(&mut self.done, part);
        }
        if let Some(path) = &execution.path {
            add_path(&mut self.paths, path);
        }
        self.size().saturating_sub(before)
    }

    pub(super) fn output(&mut self, execution: &ExecutionId, text: &str) -> usize {
        self.know(execution);
        let before = self.output.len();
        let room = MAX_PART_BYTES.saturating_sub(before);
        self.output.push_str(cut(text, room));
        self.output.len() - before
    }

    pub(super) fn execution_ended(&mut self, execution: &ExecutionId, title: &str, output: Option<&str>) -> usize {
        let before = self.size();
        self.know(execution);
        self.executions.iter_mut().filter(|(known, _)| known == execution).for_each(|(_, over)| *over = true);
        if self.title.is_empty() {
            self.title = cut(title, MAX_PART_BYTES).to_owned();
        }
        // The end repeats what came; whoever heard it needs no repetition.
        if self.output.is_empty() {
            self.output = cut(output.unwrap_or_default(), MAX_PART_BYTES).to_owned();
        }
        self.size().saturating_sub(before)
    }

    /// An execution whose beginning was handed out before.
    fn know(&mut self, execution: &ExecutionId) {
        if !self.runs(execution) {
            self.executions.push((execution.clone(), false));
        }
    }

    fn size(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum::<usize>() + self.paths.len()
    }

    fn parts(&self) -> [&str; 6] {
        [&self.title, &self.input, &self.done, &self.output, &self.shown, &self.result]
    }

    /// The words and the paths. What a tool gives as a value and shows as text is there once.
    pub(super) fn write(&self) -> (String, String) {
        let mut text = String::new();
        for part in self.parts().into_iter().map(str::trim_end) {
            let known = std::ptr::eq(part.as_ptr(), self.result.as_ptr()) && self.shown.trim_end() == part;
            if part.is_empty() || known {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(part);
        }
        (text, self.paths.clone())
    }
}

/// Adds a line, as far as there is room.
fn add(part: &mut String, line: &str) {
    if line.is_empty() {
        return;
    }
    if !part.is_empty() {
        part.push('\n');
    }
    part.push_str(cut(line, MAX_PART_BYTES.saturating_sub(part.len())));
}

/// A value as words: text as it is, not as it is escaped in JSON.
fn value(value: &Value, out: &mut String, depth: usize) {
    if out.len() >= MAX_PART_BYTES || depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Null => {}
        Value::Bool(one) => add(out, if *one { "true" } else { "false" }),
        Value::Number(number) => add(out, &number.to_string()),
        Value::String(text) => add(out, text),
        Value::Array(all) => all.iter().for_each(|one| self::value(one, out, depth + 1)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) => add(out, &format!("{name}: {text}")),
                    Value::Bool(_) | Value::Number(_) => add(out, &format!("{name}: {field}")),
                    Value::Null => {}
                    Value::Array(_) | Value::Object(_) => {
                        add(out, name);
                        self::value(field, out, depth + 1);
                    }
                }
            }
        }
    }
}

/// The files that parameters name.
fn paths_of(value: &Value, paths: &mut String, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(path) if PATH_NAMES.contains(&name.as_str()) => add_path(paths, cut(path, 4096)),
                    other => paths_of(other, paths, depth + 1),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|one| paths_of(one, paths, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
