//! The schemas of the host's own tools: every parameter with its type, bounds, default and a word on it. Checks nothing.

use serde_json::{Value, json};

use crate::runner::limits::{
    DEFAULT_LISTED, DEFAULT_MATCHES, DEFAULT_TOOL_OUTPUT_BYTES, MAX_COMMAND_BYTES, MAX_CONTEXT_LINES, MAX_LISTED,
    MAX_MATCHES, MAX_PATH_BYTES, MAX_QUERY_BYTES, MAX_TOOL_OUTPUT_BYTES, MAX_WALK_DEPTH, MAX_WRITE_BYTES,
};

fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn path(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_PATH_BYTES, "description": description})
}

const A_FILE: &str = "The file: from the workspace's folder, or absolute and in it.";

pub(super) fn read_file() -> Value {
    object(
        &["path"],
        json!({
            "path": path(A_FILE),
            "startLine": {"type": "integer", "minimum": 1, "maximum": u32::MAX, "default": 1,
                "description": "The first line to read, counted from 1."},
            "endLine": {"type": "integer", "minimum": 1, "maximum": u32::MAX,
                "description": "The last line to read; to the end of the file if absent."},
            "encoding": {"type": "string", "enum": ["utf-8", "base64"], "default": "utf-8",
                "description": "base64 gives the bytes of a small file, whatever they are; lines do not count then."},
        }),
    )
}

pub(super) fn list_files() -> Value {
    object(
        &[],
        json!({
            "path": {"type": "string", "minLength": 1, "maxLength": MAX_PATH_BYTES, "default": ".",
                "description": "The folder to list; the workspace's own if absent."},
            "glob": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_BYTES,
                "description": "Only files whose path from that folder matches: `**/*.rs`, `src/*.{ts,tsx}`. \
                    Without a slash it is matched against the name alone."},
            "depth": {"type": "integer", "minimum": 1, "maximum": MAX_WALK_DEPTH, "default": MAX_WALK_DEPTH,
                "description": "How many folders deep; 1 is the folder itself only."},
            "includeIgnored": {"type": "boolean", "default": false,
                "description": "Also what .gitignore leaves out, and .git."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LISTED, "default": DEFAULT_LISTED,
                "description": "At most so many entries."},
        }),
    )
}

pub(super) fn search_workspace() -> Value {
    object(
        &["query"],
        json!({
            "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_BYTES,
                "description": "What is searched for, within a line."},
            "regex": {"type": "boolean", "default": false, "description": "The query is a regular expression."},
            "glob": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_BYTES,
                "description": "Only files whose path matches: `**/*.rs`. Without a slash it is matched against the \
                    name alone."},
            "caseSensitive": {"type": "boolean", "default": true, "description": "Whether case matters."},
            "maxResults": {"type": "integer", "minimum": 1, "maximum": MAX_MATCHES, "default": DEFAULT_MATCHES,
                "description": "At most so many lines that match."},
            "context": {"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT_LINES, "default": 0,
                "description": "Lines to show before and after each that matches."},
        }),
    )
}

pub(super) fn write_file() -> Value {
    object(
        &["path", "content"],
        json!({
            "path": path(A_FILE),
            "content": {"type": "string", "maxLength": MAX_WRITE_BYTES, "description": "All that the file shall say."},
        }),
    )
}

pub(super) fn edit_file() -> Value {
    object(
        &["path", "oldText", "newText"],
        json!({
            "path": path(A_FILE),
            "oldText": {"type": "string", "minLength": 1, "maxLength": MAX_WRITE_BYTES,
                "description": "The text that is replaced, exactly as it is in the file; with enough around it to be \
                    there only once."},
            "newText": {"type": "string", "maxLength": MAX_WRITE_BYTES, "description": "What stands there then."},
            "replaceAll": {"type": "boolean", "default": false,
                "description": "Replace it wherever it stands, not only once."},
        }),
    )
}

pub(super) fn run_terminal_command() -> Value {
    object(
        &["command"],
        json!({
            "command": {"type": "string", "minLength": 1, "maxLength": MAX_COMMAND_BYTES,
                "description": "The line, as one would type it into a shell."},
            "cwd": path("The folder it runs in; the workspace's own if absent."),
            "env": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 128,
                "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                "description": "Variables that are set for it."},
            "pty": {"type": "boolean", "default": false, "description": "It talks to a terminal, not to pipes."},
            "columns": {"type": "integer", "minimum": 20, "maximum": 500, "default": 80,
                "description": "Characters in a row of the terminal."},
            "rows": {"type": "integer", "minimum": 5, "maximum": 500, "default": 24,
                "description": "Rows of the terminal."},
            "maxOutputBytes": {"type": "integer", "minimum": 0, "maximum": MAX_TOOL_OUTPUT_BYTES,
                "default": DEFAULT_TOOL_OUTPUT_BYTES,
                "description": "Bytes of output to give back; of more, the beginning and the end."},
        }),
    )
}
