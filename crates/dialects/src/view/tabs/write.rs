//! What the host tells into a view's messages. Streamed text is assembled by hand from bytes that are escaped already;
//! never one allocation per event there, and never a panic over a record that this version cannot read.

use switchboard_types::record::Peek;
use switchboard_types::{
    Approval, ApprovalKind, Body, CallId, EventRef, Execution, ExecutionEnd, ExecutionId, LogLevel, Memory, Page,
    Reject, RejectCode, Seq, SignInMethod, TabId, TabSummary, Told, ToolCall, ToolStatus, TurnId, TurnName, TurnNames,
};

use super::shape::{ErrorCode, ErrorShape, TabShape, ToView};

/// Bytes of the scratch that a link keeps between writes; more is for rare large messages.
const KEEP_SCRATCH_BYTES: usize = 4096;

/// The buffers of one link, and what was escaped last.
#[derive(Debug, Default)]
pub(super) struct Writer {
    scratch: Vec<u8>,
    heads: Heads,
}

/// The parts of a chunk's message that stay the same from event to event.
#[derive(Debug, Default)]
struct Heads {
    /// The tab that the next two are for.
    tab: Option<TabId>,
    text: Vec<u8>,
    thought: Vec<u8>,
    /// The turn that the next one is for.
    turn: Option<TurnName>,
    middle: Vec<u8>,
}

impl Writer {
    pub(super) fn write(&mut self, told: &Told, message: &mut dyn FnMut(&[u8])) {
        match told {
            Told::Events { tab, page, names, .. } => self.events(tab, page, names, message),
            Told::Tabs { tabs } => self.shape(&tabs_restored(tabs), message),
            Told::Gap { tab, from, to } => {
                self.shape(&ToView::Gap { tab_id: tab.clone(), from: *from, to: *to }, message);
            }
            Told::Reset { tab } => self.shape(&ToView::TabReset { tab_id: tab.clone() }, message),
            Told::Refused(reject) => self.shape(&error(reject), message),
            // Only asked for in a dialect that watches everything.
            Told::Overview { .. }
            | Told::Session(_)
            | Told::SessionGone { .. }
            | Told::Workspace(_)
            | Told::History { .. }
            | Told::Tools { .. }
            | Told::ToolsCalled { .. }
            | Told::CallCancelled { .. }
            | Told::Calls { .. }
            | Told::Lent { .. }
            | Told::LentCall { .. }
            | Told::ApprovalsWatched { .. }
            | Told::ApprovalOpen { .. }
            | Told::Answered { .. }
            | Told::Rules { .. }
            | Told::ChoreNews { .. }
            | Told::ChoreDone { .. }
            | Told::Settings(_)
            | Told::Containment(_)
            | Told::Answer { .. }
            | Told::Pong { .. } => {}
        }
        self.scratch.shrink_to(KEEP_SCRATCH_BYTES);
    }

    fn events(&mut self, tab: &TabId, page: &Page, names: &TurnNames, message: &mut dyn FnMut(&[u8])) {
        self.heads.enter_tab(tab);
        let mut current = None;
        for event in page.events() {
            let (text, head) = match event.peek() {
                Peek::Text(text) => (text, &self.heads.text),
                Peek::Thought(text) => (text, &self.heads.thought),
                Peek::Json(_) => {
                    // What a newer version wrote is a hole here, as is what this dialect has no word for.
                    let shape = event.body().ok().and_then(|body| indexed(tab, &event, body, names));
                    if let Some(shape) = shape {
                        self.shape(&shape, message);
                    }
                    continue;
                }
            };
            self.scratch.clear();
            self.scratch.extend_from_slice(head);
            self.scratch.extend_from_slice(itoa::Buffer::new().format(event.seq.0).as_bytes());
            if current != Some(event.turn) {
                self.heads.enter_turn(event.turn, names);
                current = Some(event.turn);
            }
            self.scratch.extend_from_slice(&self.heads.middle);
            self.scratch.extend_from_slice(text);
            self.scratch.extend_from_slice(b"\"}");
            message(&self.scratch);
        }
    }

    fn shape(&mut self, shape: &ToView, message: &mut dyn FnMut(&[u8])) {
        self.scratch.clear();
        // Maps with string keys always have a JSON text, and a vector takes all of it.
        if serde_json::to_writer(&mut self.scratch, shape).is_ok() {
            message(&self.scratch);
        }
    }
}

impl Heads {
    fn enter_tab(&mut self, tab: &TabId) {
        if self.tab.as_ref() == Some(tab) {
            return;
        }
        for (head, kind) in [(&mut self.text, "response-chunk"), (&mut self.thought, "thought-chunk")] {
            head.clear();
            head.extend_from_slice(br#"{"type":""#);
            head.extend_from_slice(kind.as_bytes());
            head.extend_from_slice(br#"","tabId":"#);
            push_string(head, tab.as_str());
            head.extend_from_slice(br#","index":"#);
        }
        self.tab = Some(tab.clone());
    }

    fn enter_turn(&mut self, turn: Option<TurnId>, names: &TurnNames) {
        let known = turn.and_then(|turn| names.get(turn));
        if known.is_some() && self.turn.as_ref() == known {
            return;
        }
        let name = known.cloned().unwrap_or_else(|| number(turn));
        self.middle.clear();
        self.middle.extend_from_slice(br#","messageId":"#);
        push_string(&mut self.middle, name.as_str());
        self.middle.extend_from_slice(br#","chunk":""#);
        self.turn = Some(name);
    }
}

fn push_string(out: &mut Vec<u8>, plain: &str) {
    // A string always has a JSON text, and a vector takes all of it.
    let _ = serde_json::to_writer(out, plain);
}

/// A turn whose name nobody gave is named by its number; 0 is no turn.
fn number(turn: Option<TurnId>) -> TurnName {
    TurnName::new(turn.unwrap_or_default().to_string())
}

/// One event as its indexed message; none if the dialect has no word for it.
fn indexed(tab: &TabId, event: &EventRef<'_>, body: Body, names: &TurnNames) -> Option<ToView> {
    let (tab_id, index) = (tab.clone(), event.seq);
    let message_id = || event.turn.and_then(|turn| names.get(turn)).cloned().unwrap_or_else(|| number(event.turn));
    Some(match body {
        Body::SessionOpened { .. } => ToView::TabOpened { tab_id, index, title: None },
        Body::TitleChanged { title, .. } => ToView::TabTitle { tab_id, index, title },
        Body::PromptQueued { name, prompt, position } => {
            ToView::PromptQueued { tab_id, index, message_id: name, text: prompt.text, position }
        }
        Body::TurnStarted {} => ToView::PromptStarted { tab_id, index, message_id: message_id() },
        Body::Text { text } => ToView::ResponseChunk { tab_id, index, message_id: message_id(), chunk: text },
        Body::Thought { text } => ToView::ThoughtChunk { tab_id, index, message_id: message_id(), chunk: text },
        Body::Code { text } => ToView::ResponseChunk { tab_id, index, message_id: message_id(), chunk: text },
        Body::Log { level: LogLevel::Error, message } => ToView::Status { tab_id, index, message, progress: None },
        Body::SignInNeeded { message, methods } => {
            ToView::Status { tab_id, index, message: sign_in(&message, &methods), progress: None }
        }
        Body::AgentSessionRestored { memory } => {
            ToView::Status { tab_id, index, message: restored(memory).to_owned(), progress: None }
        }
        Body::ExecutionStarted { execution } => {
            ToView::ToolCall { tab_id, index, message_id: message_id(), tool_call: started(*execution) }
        }
        Body::ExecutionEnded { execution, title, end, output } => {
            let tool_call = ended(execution, title, &end, output);
            ToView::ToolCallUpdate { tab_id, index, message_id: message_id(), tool_call }
        }
        Body::Plan { entries } => ToView::Plan { tab_id, index, message_id: message_id(), entries },
        Body::Status { message, progress } => ToView::Status { tab_id, index, message, progress },
        Body::TurnEnded { outcome, detail } => {
            ToView::ResponseComplete { tab_id, index, message_id: message_id(), reason: outcome, detail }
        }
        Body::ToolCall { call } => ToView::ToolCall { tab_id, index, message_id: message_id(), tool_call: call },
        Body::ToolCallUpdate { call } => {
            ToView::ToolCallUpdate { tab_id, index, message_id: message_id(), tool_call: call }
        }
        Body::ApprovalAsked { approval } => approval_request(tab_id, index, event.turn.map(|_| message_id()), approval),
        Body::ApprovalResolved { approval, resolution, .. } => {
            ToView::ApprovalResolved { tab_id, index, approval_id: approval, decision: resolution }
        }
        Body::AgentExited { message } => ToView::AgentExited { tab_id, index, message },
        Body::AgentRestarted {} => ToView::AgentRestarted { tab_id, index },
        Body::SessionClosed {} => ToView::TabClosed { tab_id, index },
        Body::SourceGap { message, .. } => ToView::Status { tab_id, index, message, progress: None },
        Body::CancelAsked {}
        | Body::PromptTaken {}
        | Body::PolicyChanged { .. }
        | Body::SessionReopened {}
        | Body::Echo { .. }
        | Body::Log { level: LogLevel::Info | LogLevel::Warn | LogLevel::Stderr, .. }
        | Body::ExecutionOutput { .. }
        | Body::CommandsChanged { .. }
        | Body::OptionsChanged { .. }
        | Body::Usage { .. }
        | Body::TurnUsed { .. }
        | Body::Unknown { .. } => return None,
    })
}

fn sign_in(message: &str, methods: &[SignInMethod]) -> String {
    let ways = methods.iter().map(|method| format!("{}: {}", method.name, method.todo));
    std::iter::once(message.to_owned()).chain(ways).collect::<Vec<_>>().join("\n")
}

fn restored(memory: Memory) -> &'static str {
    match memory {
        Memory::Resumed => "the agent goes on where it was",
        Memory::Loaded => "the agent has read the conversation again and goes on",
        Memory::Summarized => "the agent has lost the conversation; it gets a summary of it with the next prompt",
    }
}

/// What the host itself does is shown like a tool call.
fn started(execution: Execution) -> ToolCall {
    let Execution { id, kind, title, command, cwd, path, diff, .. } = execution;
    let word = match kind {
        ApprovalKind::Command => "execute",
        ApprovalKind::Edit => "edit",
        ApprovalKind::Tool => "other",
    };
    let mut input = serde_json::Map::new();
    for (name, value) in [("command", command), ("cwd", cwd), ("path", path), ("diff", diff)] {
        if let Some(value) = value {
            input.insert(name.to_owned(), value.into());
        }
    }
    let call = ToolCall::new(CallId::from(id.as_str()), title, ToolStatus::Running);
    ToolCall { kind: Some(word.to_owned()), input: Some(input.into()), ..call }
}

fn ended(execution: ExecutionId, title: String, end: &ExecutionEnd, output: Option<String>) -> ToolCall {
    let status = match end {
        ExecutionEnd::Exited { code: 0 } | ExecutionEnd::Written { .. } | ExecutionEnd::Returned {} => {
            ToolStatus::Completed
        }
        ExecutionEnd::Exited { .. }
        | ExecutionEnd::Signalled { .. }
        | ExecutionEnd::Failed { .. }
        | ExecutionEnd::Unknown {} => ToolStatus::Failed,
    };
    let call = ToolCall::new(CallId::from(execution.as_str()), title, status);
    let mut shown = serde_json::to_value(end).unwrap_or_default();
    if let (Some(shown), Some(output)) = (shown.as_object_mut(), output) {
        shown.insert("output".to_owned(), output.into());
    }
    ToolCall { output: Some(shown), ..call }
}

fn approval_request(tab_id: TabId, index: Seq, message_id: Option<TurnName>, approval: Approval) -> ToView {
    let Approval { id, kind, title, command, cwd, path, diff, severity, reason, options, .. } = approval;
    ToView::ApprovalRequest {
        tab_id,
        index,
        approval_id: id,
        message_id,
        kind,
        title,
        command,
        cwd,
        path,
        diff,
        severity,
        reason,
        options,
    }
}

fn tabs_restored(tabs: &[TabSummary]) -> ToView {
    let shape = |tab: &TabSummary| TabShape { tab_id: tab.tab.clone(), title: tab.title.clone(), last_index: tab.head };
    ToView::TabsRestored { tabs: tabs.iter().map(shape).collect() }
}

fn error(reject: &Reject) -> ToView {
    let code = match reject.code {
        RejectCode::BadJson => ErrorCode::BadJson,
        RejectCode::BadMessage | RejectCode::Conflict => ErrorCode::BadMessage,
        RejectCode::UnknownType => ErrorCode::UnknownType,
        RejectCode::UnknownTab | RejectCode::NotFound => ErrorCode::UnknownTab,
        RejectCode::TooLarge => ErrorCode::TooLarge,
        RejectCode::WorkspaceUntrusted => ErrorCode::WorkspaceUntrusted,
        RejectCode::AgentUnavailable => ErrorCode::AgentUnavailable,
        RejectCode::Internal => ErrorCode::Internal,
    };
    ToView::Error {
        tab_id: reject.tab.clone(),
        message_id: reject.turn.clone(),
        error: ErrorShape { code, message: reject.message.clone() },
    }
}
