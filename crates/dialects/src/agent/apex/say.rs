//! What the host says to a backend. Never decides what is said.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_types::{ContextItem, Prompt};

use crate::jsonrpc::Failure;

/// Bytes of context that go with a task; beyond it files go by their paths, for the backend to read by tool.
pub(super) const MAX_CONTEXT_BYTES: usize = 256 * 1024;

/// You have been started; this is where you are. Sent once, first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct Initialize<'a> {
    /// What the agent's configuration says under `config`.
    pub(super) initial_config: &'a Value,
    /// The folder to work in.
    pub(super) workspace_root: Option<&'a str>,
    pub(super) environment: Environment<'a>,
}

/// What the host runs on. Variables are never among it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Environment<'a> {
    /// `linux`, `macos` or another name of a system.
    pub(super) platform: &'a str,
    /// Which version of the host it is.
    pub(super) host_version: &'a str,
}

/// A request: work on this, and answer when you are done. One at a time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct ExecuteTask<'a> {
    /// The task's name; repeat it in what you say of it.
    pub(super) task_id: &'a str,
    /// What a person asks. After a restart a summary of the conversation stands before it.
    pub(super) prompt: &'a str,
    pub(super) context: TaskContext<'a>,
}

/// What goes with a prompt.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskContext<'a> {
    /// What the person's editor shows; null where no editor says it.
    pub(super) active_editor_content: Option<&'a str>,
    /// The file that the person's editor shows; null where no editor says it.
    pub(super) active_editor_path: Option<&'a str>,
    /// What is selected in it; null where no editor says it.
    pub(super) selection: Option<&'a str>,
    /// The files that are open in the person's editor.
    pub(super) open_files: Vec<&'a str>,
    /// The paths of the files that the person gave with the prompt.
    pub(super) relevant_files: Vec<&'a str>,
    /// The same files and excerpts with what they say. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) items: Vec<TaskItem<'a>>,
}

/// A file or an excerpt that goes with a prompt.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskItem<'a> {
    /// Where it comes from; null for an excerpt.
    pub(super) path: Option<&'a str>,
    /// What it says; null if all of them together are over 256 KiB: read the file by a tool then.
    pub(super) content: Option<&'a str>,
    /// True if an excerpt, which no tool could read, had to be cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) truncated: Option<bool>,
}

/// The agent's configuration has changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct UpdateConfiguration<'a> {
    /// All of it, as `initialConfig` was.
    pub(super) updated_config: &'a Value,
}

/// What came of a tool that you asked for by a notification. One of the two is null.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct ToolResponse<'a> {
    /// Your name for the call.
    pub(super) tool_call_id: &'a str,
    /// What the tool gave.
    pub(super) result: Option<&'a Value>,
    /// Why it gave nothing: `{code: -32003, message, data: {toolCallId, code}}`.
    #[schemars(with = "Option<Value>")]
    pub(super) error: Option<&'a Failure>,
}

/// What came of a tool that you asked for by a request. If it gave nothing, the answer is an error instead, with the code
/// −32003 and `data: {toolCallId, code}`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct ToolAnswer<'a> {
    /// Your name for the call.
    pub(super) tool_call_id: &'a str,
    /// What the tool gave.
    pub(super) result: &'a Value,
    /// Always null here.
    pub(super) error: Option<&'a Value>,
}

/// The words of a prompt, with what was said before where the backend has lost it.
pub(super) fn prompt_text<'a>(prompt: &'a Prompt, recap: Option<&str>) -> std::borrow::Cow<'a, str> {
    match recap {
        None => prompt.text.as_str().into(),
        Some(recap) => format!("{recap}\n\n{}", prompt.text).into(),
    }
}

/// What goes with a prompt. No editor lends its state yet, so those fields are empty.
pub(super) fn context(prompt: &Prompt) -> TaskContext<'_> {
    TaskContext {
        active_editor_content: None,
        active_editor_path: None,
        selection: None,
        open_files: Vec::new(),
        relevant_files: prompt.context.iter().filter_map(|item| item.path.as_deref()).collect(),
        items: items(&prompt.context),
    }
}

fn items(context: &[ContextItem]) -> Vec<TaskItem<'_>> {
    let total: usize = context.iter().filter_map(|item| item.content.as_ref()).map(String::len).sum();
    let mut room = MAX_CONTEXT_BYTES;
    let item = |item| task_item(item, total > MAX_CONTEXT_BYTES, &mut room);
    context.iter().map(item).collect()
}

/// One item; where there is too much, a file goes by its path, and an excerpt is cut to the room that is left.
fn task_item<'a>(item: &'a ContextItem, too_much: bool, room: &mut usize) -> TaskItem<'a> {
    let path = item.path.as_deref();
    let Some(content) = item.content.as_deref() else {
        let picture = item.image.as_ref().map(|_| "(a picture, which cannot be passed on)");
        return TaskItem { path, content: picture, truncated: None };
    };
    if !too_much {
        return TaskItem { path, content: Some(content), truncated: None };
    }
    if path.is_some() {
        return TaskItem { path, content: None, truncated: None };
    }
    let kept = content.get(..content.floor_char_boundary(*room)).unwrap_or_default();
    *room -= kept.len();
    TaskItem { path, content: Some(kept), truncated: (kept.len() < content.len()).then_some(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(path: Option<&str>, content: Option<String>) -> ContextItem {
        ContextItem { path: path.map(str::to_owned), content, image: None }
    }

    #[test]
    fn context_within_the_limit_goes_whole() {
        let half = "x".repeat(MAX_CONTEXT_BYTES / 2);
        let given = [item(Some("a"), Some(half.clone())), item(None, Some(half.clone())), item(Some("b"), None)];
        let whole = |path, content| TaskItem { path, content, truncated: None };
        let wanted = [whole(Some("a"), Some(half.as_str())), whole(None, Some(half.as_str())), whole(Some("b"), None)];
        assert_eq!(items(&given), wanted);
    }

    #[test]
    fn beyond_the_limit_files_go_by_their_paths_and_excerpts_are_cut_between_characters() {
        let many = format!("x{}", "é".repeat(MAX_CONTEXT_BYTES / 2));
        let given = [
            item(Some("a"), Some("short".to_owned())),
            item(None, Some(many.clone())),
            item(None, Some("y".to_owned())),
        ];
        let sent = items(&given);
        assert_eq!(sent[0], TaskItem { path: Some("a"), content: None, truncated: None });
        assert_eq!(sent[1].content.map(str::len), Some(MAX_CONTEXT_BYTES - 1));
        assert_eq!((sent[1].truncated, sent[2].content, sent[2].truncated), (Some(true), Some("y"), None));
    }

    #[test]
    fn a_summary_stands_before_the_prompt() {
        let prompt = Prompt { text: "go on".to_owned(), context: Vec::new() };
        assert_eq!(prompt_text(&prompt, None), "go on");
        assert_eq!(prompt_text(&prompt, Some("Before: x")), "Before: x\n\ngo on");
    }
}
