//! The shapes of what a view of `chat` is told, and the JSON Schemas of both directions. Types only.

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use switchboard_types::Severity;

use super::asked::{ContextShape, ModeWord, ToHost};
use super::shape::{
    ActionStatus, ApprovalStatus, MessageShape, ModelShape, ResultShape, SessionShape, SessionStatus, SettingsShape,
};

/// The JSON Schemas of both directions.
#[must_use]
pub fn schema() -> Value {
    json!({"viewToHost": schema_for!(ToHost), "hostToView": schema_for!(ToView)})
}

/// What the host says to a view.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ToView {
    /// All that a view begins with. Comes again when the models or the mode of the current session change.
    Init {
        /// The models of the current session's agent, as far as it says.
        models: Vec<ModelShape>,
        /// How the current session's agent is meant to work.
        current_mode: ModeWord,
        /// The user's settings.
        settings: Box<SettingsShape>,
        /// Whether there is a token for the model server.
        has_token: bool,
    },
    /// The settings have changed, or were stored.
    SettingsUpdate {
        /// The user's settings.
        settings: Box<SettingsShape>,
        /// Whether there is a token for the model server.
        has_token: bool,
    },
    /// The agent works and has not said a word yet, or not since its last tool call.
    ShowThinking {
        /// What it is at, in a line.
        message: String,
        /// Where.
        session_id: String,
    },
    /// The agent has found words, asks something, or is done.
    HideThinking {
        /// Where.
        session_id: String,
    },
    /// Tool calls begin; what follows until `finishProgressGroup` belongs together.
    StartProgressGroup {
        /// What they are about.
        title: String,
        /// Where.
        session_id: String,
    },
    /// A tool call of the group as it is now; the same `actionId` replaces what was shown.
    ShowToolAction {
        /// How far it is.
        status: ActionStatus,
        /// A word for a picture.
        icon: String,
        /// What it does.
        text: String,
        /// More on that; empty if there is none.
        detail: String,
        /// Where.
        session_id: String,
        /// Names the call in its group.
        action_id: String,
    },
    /// The tool calls of the group are over.
    FinishProgressGroup {
        /// Where.
        session_id: String,
    },
    /// A command, or a call of a tool, waits for an answer.
    RequestToolApproval {
        /// To be named in the answer.
        id: String,
        /// What would run.
        command: String,
        /// The folder it would run in.
        cwd: String,
        /// How bad it could be.
        severity: Severity,
        /// Why a person is asked.
        reason: String,
        /// Where.
        session_id: String,
        /// Whether the command may be edited.
        #[serde(default)]
        editable: bool,
    },
    /// The question about a command is decided; comes again with what the command wrote.
    ToolApprovalResult {
        /// Which question it was.
        approval_id: String,
        /// How it was decided.
        status: ApprovalStatus,
        /// What the command wrote, or why nobody was asked, or why it did not run.
        output: String,
        /// The command that ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Whether nobody was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto_approved: Option<bool>,
        /// The command's exit code, once it has ended by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// Where.
        session_id: String,
    },
    /// A change of a file waits for an answer.
    RequestFileEditApproval {
        /// To be named in the answer.
        id: String,
        /// Which file it is.
        file_path: String,
        /// How bad it could be.
        severity: Severity,
        /// Why a person is asked.
        reason: String,
        /// The change as HTML that holds nothing but escaped text and classes.
        diff_html: String,
        /// Where.
        session_id: String,
    },
    /// The question about a file is decided.
    FileEditApprovalResult {
        /// Which question it was.
        approval_id: String,
        /// How it was decided.
        status: ApprovalStatus,
        /// Whether nobody was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto_approved: Option<bool>,
        /// Which file it is.
        file_path: String,
        /// Where.
        session_id: String,
    },
    /// What the current session's agent may do unasked. A switch that is absent stays as it is.
    SessionApprovalSettings {
        /// Where.
        session_id: String,
        /// Whether commands run without a question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto_approve_commands: Option<bool>,
        /// Whether sensitive files are changed without a question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto_approve_sensitive_edits: Option<bool>,
        /// The session's own patterns as JSON text; null if those of the settings hold.
        #[serde(default)]
        session_sensitive_file_patterns: Option<String>,
    },
    /// The answer so far: the whole text since the last tool calls. Replaces what was shown.
    StreamChunk {
        /// The whole text so far.
        content: String,
        /// Who says it, where the agent tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Where.
        session_id: String,
    },
    /// The last text of the answer, whole. Replaces what was streamed.
    FinalMessage {
        /// The whole text since the last tool calls.
        content: String,
        /// Who said it, where the agent tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Where.
        session_id: String,
    },
    /// Something runs, or waits to run.
    GenerationStarted {
        /// Where.
        session_id: String,
    },
    /// Nothing runs, and nothing waits.
    GenerationStopped {
        /// Where.
        session_id: String,
    },
    /// A message is added at the end: what a person asked.
    AddMessage {
        /// The message.
        message: Box<MessageShape>,
        /// Where.
        session_id: String,
    },
    /// The current session as it is: replaces all that was shown.
    LoadSessionMessages {
        /// All of them, the oldest first; of a very long session the last ones.
        messages: Vec<MessageShape>,
        /// Which session it is.
        session_id: String,
        /// Whether commands run without a question.
        auto_approve_commands: bool,
        /// Whether sensitive files are changed without a question.
        auto_approve_sensitive_edits: bool,
        /// The session's own patterns as JSON text; null if those of the settings hold.
        session_sensitive_file_patterns: Option<String>,
    },
    /// Nothing of a session is to be shown any more; what there is comes after it.
    ClearMessages {
        /// Which session it is.
        session_id: String,
    },
    /// Something went wrong in a session, or with what was asked of it.
    ShowError {
        /// For people: what happened and what to do.
        message: String,
        /// Where.
        session_id: String,
    },
    /// Something went wrong that belongs to no session.
    ConnectionError {
        /// For people: what happened and what to do.
        error: String,
    },
    /// What is selected in the editor.
    AddContextItem {
        /// Goes into the next `sendMessage`.
        context: ContextShape,
    },
    /// The first sessions of the list; replaces it.
    LoadSessions {
        /// The last used first, 50 at most.
        sessions: Vec<SessionShape>,
        /// Whether there are more.
        has_more: bool,
        /// The `offset` of `loadMoreSessions`; null at the end.
        next_offset: Option<u64>,
    },
    /// The next sessions of the list.
    AppendSessions {
        /// The last used first, 50 at most.
        sessions: Vec<SessionShape>,
        /// Whether there are more.
        has_more: bool,
        /// The `offset` of `loadMoreSessions`; null at the end.
        next_offset: Option<u64>,
    },
    /// What goes on in a session, the current one or another.
    UpdateSessionStatus {
        /// Which session it is.
        session_id: String,
        /// In one word.
        status: SessionStatus,
    },
    /// A session is gone, whoever deleted it.
    SessionDeleted {
        /// Which session it was.
        session_id: String,
    },
    /// Several sessions are gone; an empty list says that a person would rather keep them.
    SessionsDeleted {
        /// Those that are gone.
        session_ids: Vec<String>,
    },
    /// Several sessions are being deleted; comes at 10 or more of them.
    DeletionProgress {
        /// How many are gone.
        completed: u64,
        /// Of how many.
        total: u64,
    },
    /// Asks whether these sessions are to be deleted; only for a view that said `confirms`.
    ConfirmDeletion {
        /// Which sessions they are.
        session_ids: Vec<String>,
    },
    /// What was found.
    SearchSessionsResult {
        /// Sessions, the one that fits best first.
        results: Vec<ResultShape>,
        /// What was looked for.
        query: String,
        /// Why nothing could be looked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// What maintenance did.
    DbMaintenanceResult {
        /// Whether it was done.
        success: bool,
        /// Sessions whose leftovers were taken out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deleted_sessions: Option<u64>,
        /// Messages that belonged to no session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deleted_messages: Option<u64>,
        /// For people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// What came of deriving the messages anew.
    RecreateMessagesResult {
        /// Whether it was done.
        success: bool,
        /// For people: how many, and where the old ones are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Whether the model server answers.
    ConnectionTestResult {
        /// Whether it does.
        success: bool,
        /// For people: what there is, or what to do.
        message: String,
        /// The models that it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        models: Option<Vec<String>>,
    },
    /// The token is kept, or forgotten.
    BearerTokenSaved {
        /// Whether there is one now.
        has_token: bool,
    },
    /// The settings should be shown.
    NavigateToSettings {
        /// Whether nothing was set up yet.
        is_first_run: bool,
    },
}
