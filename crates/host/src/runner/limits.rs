//! The bounds of errands. Holds numbers only.

use std::time::Duration;

/// Text that one reading gives.
pub const MAX_READ_BYTES: u64 = 10 * 1024 * 1024;
/// Bytes looked through to find the lines that are asked for.
pub const MAX_SCAN_BYTES: u64 = 256 * 1024 * 1024;
/// Text that one writing takes.
pub const MAX_WRITE_BYTES: usize = 10 * 1024 * 1024;
/// A file that can be replaced: all of it is hashed, so that nothing else is replaced than what was shown.
pub const MAX_REPLACED_BYTES: u64 = 256 * 1024 * 1024;
/// A file, before or after, whose change is still worked out.
pub const MAX_COMPARED_BYTES: usize = 1024 * 1024;
/// A change that is shown.
pub const MAX_DIFF_BYTES: usize = 256 * 1024;
/// Time for working out a change; after it the answer is coarser.
pub const DIFF_TIME: Duration = Duration::from_millis(500);
/// A path.
pub const MAX_PATH_BYTES: usize = 4096;
/// A command with its arguments and variables. A person has to read it.
pub const MAX_COMMAND_BYTES: usize = 64 * 1024;
/// Arguments and variables of a command.
pub const MAX_COMMAND_WORDS: usize = 1024;
/// Output kept for the agent if it does not say how much.
pub const DEFAULT_OUTPUT_BYTES: u64 = 1024 * 1024;
/// Output kept for the agent, whatever it says.
pub const MAX_OUTPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Commands of one session that run or are still looked at; the oldest that has ended makes room.
pub const MAX_TERMINALS: usize = 32;
/// Output of commands that have ended, of all sessions together; the oldest is forgotten first.
pub const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;
/// Wishes that one terminal has not answered yet.
pub const MAX_OPEN_WISHES: usize = 64;
/// Bytes of all errands that are not done yet: what they would write, mostly.
pub const MAX_HELD_BYTES: usize = 256 * 1024 * 1024;
/// Files that are read, compared or written at the same time. A result waits here until the host takes it.
pub const MAX_FILE_JOBS: usize = 4;
/// Time after which a command's output goes to the log, however little it is.
pub const LOG_EVERY: Duration = Duration::from_millis(50);
/// Output that goes to the log at once.
pub const LOG_PIECE_BYTES: usize = 8 * 1024;
/// Text that one call of `read_file` gives; the rest is read by its lines.
pub const MAX_TOOL_TEXT_BYTES: usize = 1024 * 1024;
/// A file whose bytes `read_file` gives as base64.
pub const MAX_BASE64_BYTES: u64 = 256 * 1024;
/// Entries that `list_files` gives if nobody says how many.
pub const DEFAULT_LISTED: usize = 1000;
/// Entries that `list_files` gives, whatever is said.
pub const MAX_LISTED: usize = 10_000;
/// Folders within folders that are looked into.
pub const MAX_WALK_DEPTH: usize = 64;
/// Entries that one walk through the workspace looks at.
pub const MAX_WALK_ENTRIES: usize = 1_000_000;
/// A file with rules of what is ignored.
pub const MAX_IGNORE_BYTES: u64 = 256 * 1024;
/// What is searched for, and a glob.
pub const MAX_QUERY_BYTES: usize = 4096;
/// Lines that `search_workspace` gives if nobody says how many.
pub const DEFAULT_MATCHES: usize = 100;
/// Lines that `search_workspace` gives, whatever is said.
pub const MAX_MATCHES: usize = 2000;
/// Lines around one that matches.
pub const MAX_CONTEXT_LINES: usize = 10;
/// Bytes of a line that a search or a change shows.
pub const MAX_LINE_BYTES: usize = 1000;
/// Bytes of all paths and lines that a search or a listing shows.
pub const MAX_FOUND_BYTES: usize = 1024 * 1024;
/// A file that is searched.
pub const MAX_SEARCHED_BYTES: u64 = 16 * 1024 * 1024;
/// A regular expression once it is compiled.
pub const MAX_REGEX_BYTES: usize = 1024 * 1024;
/// Walks through a workspace at the same time.
pub const MAX_WALKS: usize = 2;
/// Output that `run_terminal_command` gives if nobody says how much.
pub const DEFAULT_TOOL_OUTPUT_BYTES: u64 = 64 * 1024;
/// Output that `run_terminal_command` gives, whatever is said.
pub const MAX_TOOL_OUTPUT_BYTES: u64 = 1024 * 1024;
/// Lines of a change that are shown.
pub const MAX_DIFF_LINES: usize = 5000;
