//! The bound of everything that a peer could make large. Holds numbers only.

/// One message of a view or an agent, in any framing.
pub const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;
/// How deep arrays and objects of a view's message may nest.
pub const MAX_JSON_DEPTH: usize = 128;
/// An id that a peer chooses (tab, message, approval, agent session).
pub const MAX_ID_BYTES: usize = 128;
/// Prompts that wait in one session, the running one not counted.
pub const MAX_QUEUED_PROMPTS: usize = 64;
/// Bytes of the prompts that wait in one session.
pub const MAX_QUEUED_BYTES: usize = 32 * 1024 * 1024;
/// Tabs of one host.
pub const MAX_TABS: usize = 10_000;
/// Seats of one link.
pub const MAX_SEATS_PER_LINK: usize = 1_000;
/// Open approvals of one session.
pub const MAX_OPEN_APPROVALS: usize = 64;
/// Event bytes on their way to one link; beyond it the seat's cursor stands still.
pub const LINK_WINDOW_BYTES: usize = 512 * 1024;
/// What a page, or a word on a session, costs at least within that window, however small it is.
pub const MIN_PAGE_COST: usize = 1024;
/// One page read from the store; a single larger event still comes, alone.
pub const READ_PAGE_BYTES: usize = 256 * 1024;
/// Event bytes that wait for the disk before the host stops taking words from agents.
pub const MAX_UNCOMMITTED_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of words kept for agent sessions that are not known yet, per agent process.
pub const MAX_EARLY_BYTES: usize = 4 * 1024 * 1024;
/// A notice that goes to several sessions, in characters.
pub const MAX_NOTICE_CHARS: usize = 4096;
/// Sessions in one answer of a listing.
pub const MAX_HISTORY_ROWS: usize = 200;
/// Folders that one host knows.
pub const MAX_WORKSPACES: usize = 1_000;
/// A title, in characters.
pub const MAX_TITLE_CHARS: usize = 40;
/// Commands that wait for a session to be read again from the store.
pub const MAX_WAITING_COMMANDS: usize = 16;
/// Chores of one link that are not done yet.
pub const MAX_OPEN_CHORES: usize = 16;
/// What is looked for, in bytes.
pub const MAX_SEARCH_BYTES: usize = 1024;
/// Messages in one answer of a search, if nobody says.
pub const DEFAULT_FOUND: usize = 50;
/// Messages in one answer of a search.
pub const MAX_FOUND: usize = 200;
/// Requests about sessions that one link, or one agent elsewhere, has not answered yet.
pub const MAX_OPEN_REQUESTS: usize = 256;
/// Errands of one session that are not done yet.
pub const MAX_OPEN_ERRANDS: usize = 64;
/// Bytes of a command's output that go to the log; the rest is only for the agent.
pub const MAX_LOGGED_OUTPUT_BYTES: usize = 256 * 1024;
/// Bytes of a command's output that are repeated when it has ended, the last ones.
pub const MAX_ENDED_OUTPUT_BYTES: usize = 8 * 1024;
/// What an agent is told of a conversation that it has lost, in bytes.
pub const MAX_RECAP_BYTES: usize = 64 * 1024;
/// A title that an agent gives, in characters.
pub const MAX_AGENT_TITLE_CHARS: usize = 200;
/// A command line, as a person edits it, in bytes.
pub const MAX_COMMAND_BYTES: usize = 64 * 1024;
/// Calls of tools in one session that have no answer yet.
pub const MAX_OPEN_CALLS: usize = 4096;
/// Calls of tools that are carried out at once, for all sessions; the others wait.
pub const MAX_RUNNING_CALLS: usize = 256;
/// Calls in one batch.
pub const MAX_BATCH_CALLS: usize = 1024;
/// How long a call may take if nobody says, in milliseconds.
pub const DEFAULT_CALL_MS: u64 = 30_000;
/// How long a call may be allowed to take, in milliseconds.
pub const MAX_CALL_MS: u64 = 600_000;
/// Rounds that one turn may be set to have.
pub const MAX_ITERATIONS: u32 = 1_000;
/// Sessions whose turns may be set to run at once.
pub const MAX_ACTIVE_SESSIONS: u32 = 1_000;
/// The name of a model, in bytes.
pub const MAX_MODEL_BYTES: usize = 256;
/// The address of a model server, in bytes.
pub const MAX_BASE_URL_BYTES: usize = 2_048;
/// Models that a test of a model server names.
pub const MAX_MODELS: usize = 1_000;
/// Parameters of a call, in bytes of JSON.
pub const MAX_PARAMETER_BYTES: usize = 8 * 1024 * 1024;
/// What a tool gives, in bytes of JSON; more is an error.
pub const MAX_RESULT_BYTES: usize = 8 * 1024 * 1024;
/// Parameters, or a result, as they are kept in the list of calls, in bytes.
pub const MAX_CALL_ROW_BYTES: usize = 64 * 1024;
/// Calls in one answer of a listing.
pub const MAX_CALL_ROWS: usize = 200;
/// Tools that one link may lend.
pub const MAX_LENT_TOOLS: usize = 256;
/// A tool's definition, in bytes of JSON.
pub const MAX_DEFINITION_BYTES: usize = 64 * 1024;
/// Rules that are stored.
pub const MAX_RULES: usize = 4096;
/// Patterns of files in one list.
pub const MAX_PATTERNS: usize = 256;
/// What a person allowed for one session.
pub const MAX_GRANTS: usize = 1024;
/// Lines of an agent's error output that go to its session's log in one turn.
pub const MAX_STDERR_LINES: usize = 2_000;
