//! Tool calls as actions of a group: pictures, words and how far they are. Never keeps a group that is over.

use serde_json::Value;
use switchboard_types::{
    ApprovalKind, EventRef, Execution, ExecutionEnd, PlanEntry, PlanStatus, Seq, Time, ToolCall, ToolContent,
    ToolStatus,
};

use super::shape::{ActionStatus, MessageShape, RoleWord};
use super::text::cut;

/// Actions of one group that are told apart; older ones are taken for new ones then.
const MAX_ACTIONS: usize = 512;
/// Bytes of what is said beside an action.
const MAX_DETAIL_BYTES: usize = 4 * 1024;
/// Bytes of what went into a tool, and of what came out, in a message.
const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// One action.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) id: String,
    pub(super) status: ActionStatus,
    pub(super) icon: &'static str,
    pub(super) text: String,
    pub(super) detail: String,
    tool: Option<String>,
    input: Option<String>,
    output: Option<String>,
    began: (Seq, Time),
}

/// Actions that belong together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) actions: Vec<Action>,
}

impl Group {
    pub(super) fn new(title: &'static str) -> Self {
        Self { title, actions: Vec::new() }
    }

    /// Whether all of them have ended.
    pub(super) fn is_over(&self) -> bool {
        self.actions.iter().all(|action| matches!(action.status, ActionStatus::Success | ActionStatus::Error))
    }

    /// Adds an action, or what changed of it; as it is now.
    pub(super) fn put(&mut self, action: Action) -> Action {
        if let Some(known) = self.actions.iter_mut().rev().find(|known| known.id == action.id) {
            known.merge(action);
            return known.clone();
        }
        if self.actions.len() >= MAX_ACTIONS {
            self.actions.remove(0);
        }
        self.actions.push(action.clone());
        action
    }
}

impl Action {
    fn new(event: &EventRef<'_>, id: String, text: String, status: ActionStatus) -> Self {
        Self {
            id,
            status,
            icon: "tool",
            text,
            detail: String::new(),
            tool: None,
            input: None,
            output: None,
            began: (event.seq, event.at),
        }
    }

    /// A tool call of the agent.
    pub(super) fn of(event: &EventRef<'_>, call: ToolCall) -> Self {
        let status = match call.status {
            ToolStatus::Pending => ActionStatus::Pending,
            ToolStatus::Running => ActionStatus::Running,
            ToolStatus::Completed => ActionStatus::Success,
            ToolStatus::Failed => ActionStatus::Error,
        };
        let tool = call.tool.as_ref().map(|tool| tool.as_str().to_owned());
        let output = call.error.as_ref().map(|error| error.message.clone());
        let output = output.or_else(|| call.output.as_ref().map(plain)).or_else(|| shown(call.content.as_deref()));
        let paths = call.locations.unwrap_or_default();
        let path = paths.first().map(|place| place.path.clone());
        let detail = if status == ActionStatus::Error { output.clone().or(path) } else { path };
        Self {
            icon: icon(call.kind.as_deref(), tool.as_deref()),
            detail: cut(detail.unwrap_or_default(), MAX_DETAIL_BYTES),
            tool: tool.or(call.kind),
            input: call.input.as_ref().map(|input| cut(input.to_string(), MAX_SHOWN_BYTES)),
            output: output.map(|output| cut(output, MAX_SHOWN_BYTES)),
            ..Self::new(event, call.id.as_str().to_owned(), call.title, status)
        }
    }

    /// The agent's plan as it stands.
    pub(super) fn plan(event: &EventRef<'_>, entries: &[PlanEntry]) -> Self {
        let line = |entry: &PlanEntry| {
            let mark = match entry.status {
                PlanStatus::Pending => "[ ]",
                PlanStatus::InProgress => "[>]",
                PlanStatus::Completed => "[x]",
            };
            format!("{mark} {}", entry.content)
        };
        let detail = entries.iter().map(line).collect::<Vec<_>>().join("\n");
        let plan = Self::new(event, "plan".to_owned(), "Plan".to_owned(), ActionStatus::Success);
        Self { icon: "list", detail: cut(detail, MAX_DETAIL_BYTES), ..plan }
    }

    /// Something that was allowed begins.
    pub(super) fn started(event: &EventRef<'_>, execution: &Execution) -> Self {
        let id = execution.call.as_ref().map_or(execution.id.as_str(), |call| call.as_str());
        let (icon, detail) = match execution.kind {
            ApprovalKind::Command => ("terminal", execution.command.clone()),
            ApprovalKind::Edit => ("edit", execution.path.clone()),
            ApprovalKind::Tool => ("tool", None),
        };
        let input = execution.command.clone().or_else(|| execution.path.clone());
        Self {
            icon,
            detail: cut(detail.unwrap_or_default(), MAX_DETAIL_BYTES),
            input: input.map(|input| cut(input, MAX_SHOWN_BYTES)),
            ..Self::new(event, id.to_owned(), execution.title.clone(), ActionStatus::Running)
        }
    }

    /// It is over.
    pub(super) fn ended(
        event: &EventRef<'_>,
        id: String,
        title: String,
        end: &ExecutionEnd,
        output: Option<&str>,
    ) -> Self {
        let (status, detail) = match end {
            ExecutionEnd::Exited { code: 0 } | ExecutionEnd::Written { .. } | ExecutionEnd::Returned {} => {
                (ActionStatus::Success, String::new())
            }
            ExecutionEnd::Exited { code } => (ActionStatus::Error, format!("exit code {code}")),
            ExecutionEnd::Signalled { signal } => (ActionStatus::Error, format!("ended by {signal}")),
            ExecutionEnd::Failed { message } => (ActionStatus::Error, message.clone()),
            ExecutionEnd::Unknown {} => {
                (ActionStatus::Error, "the host died while it ran; nobody knows how far it came".to_owned())
            }
        };
        let output = output.map(|output| cut(output.to_owned(), MAX_SHOWN_BYTES));
        Self { detail: cut(detail, MAX_DETAIL_BYTES), output, ..Self::new(event, id, title, status) }
    }

    fn merge(&mut self, new: Self) {
        self.status = new.status;
        if !new.text.is_empty() {
            self.text = new.text;
        }
        if new.icon != "tool" {
            self.icon = new.icon;
        }
        if !new.detail.is_empty() {
            self.detail = new.detail;
        }
        self.tool = new.tool.or(self.tool.take());
        self.input = new.input.or(self.input.take());
        self.output = new.output.or(self.output.take());
    }

    /// What a group that begins with it is about.
    pub(super) fn group(&self) -> &'static str {
        match self.icon {
            "terminal" => "Running commands",
            "edit" => "Changing files",
            "read" | "search" => "Looking around",
            "list" => "Planning",
            _ => "Using tools",
        }
    }

    /// The same as a message, once it is over.
    pub(super) fn message(self, title: &str, id: impl Fn(u64) -> String) -> MessageShape {
        let (seq, at) = self.began;
        MessageShape {
            content: self.text.clone(),
            tool_name: self.tool,
            tool_input: self.input,
            tool_output: self.output,
            progress_title: Some(title.to_owned()),
            action_text: Some(self.text),
            action_detail: Some(self.detail).filter(|detail| !detail.is_empty()),
            action_icon: Some(self.icon.to_owned()),
            action_status: Some(self.status),
            ..MessageShape::new(id(seq.0), RoleWord::Tool, at)
        }
    }
}

fn icon(kind: Option<&str>, tool: Option<&str>) -> &'static str {
    let word = kind.or(tool).unwrap_or_default();
    match word {
        "read" | "read_file" => "read",
        "search" | "search_workspace" | "list_files" => "search",
        "edit" | "delete" | "move" | "write_file" | "edit_file" => "edit",
        "execute" | "run_terminal_command" | "run_command" | "local_shell" => "terminal",
        "fetch" => "globe",
        "think" => "thought",
        _ => "tool",
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The words that a call shows.
fn shown(content: Option<&[ToolContent]>) -> Option<String> {
    let words = content?.iter().filter_map(|piece| match piece {
        ToolContent::Text { text } => Some(text.as_str()),
        ToolContent::Terminal { output, .. } => output.as_deref(),
        ToolContent::Diff { path, .. } => Some(path.as_str()),
        ToolContent::Link { uri, .. } => Some(uri.as_str()),
        ToolContent::Image { .. } | ToolContent::Other { .. } => None,
    });
    Some(words.collect::<Vec<_>>().join("\n")).filter(|words| !words.is_empty())
}

impl MessageShape {
    /// A message of which no more is known than this.
    pub(super) fn new(id: String, role: RoleWord, at: Time) -> Self {
        Self {
            id,
            role,
            content: String::new(),
            timestamp: at.0,
            model: None,
            queued: None,
            tool_name: None,
            tool_input: None,
            tool_output: None,
            progress_title: None,
            action_text: None,
            action_detail: None,
            action_icon: None,
            action_status: None,
        }
    }
}
