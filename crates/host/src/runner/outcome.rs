//! How a command ended, for the log, for agents and for whoever called a tool. Knows no process.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_types::{ExecutionEnd, Exit};

use super::ends::Gap;
use crate::agents::command::signal_name;

/// For agents.
pub(super) fn exit_of(status: Option<ExitStatus>) -> Exit {
    let (code, signal) = (status.and_then(|status| status.code()), status.and_then(|status| status.signal()));
    match (code, signal) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(number)) => Exit::Signal(signal_name(number).map_or_else(|| number.to_string(), str::to_owned)),
        (None, None) => Exit::Signal("unknown".to_owned()),
    }
}

/// For the log.
pub(super) fn end_of(status: Option<ExitStatus>) -> ExecutionEnd {
    match status.map(|status| exit_of(Some(status))) {
        Some(Exit::Code(code)) => ExecutionEnd::Exited { code },
        Some(Exit::Signal(signal)) => ExecutionEnd::Signalled { signal },
        None => ExecutionEnd::Unknown {},
    }
}

/// For whoever called a tool.
pub(super) fn as_data(exit: &Exit, (output, gap): (String, Option<Gap>), lasted: Duration) -> Value {
    let mut data = Map::new();
    let (code, signal) = match exit {
        Exit::Code(code) => (Some(*code), None),
        Exit::Signal(signal) => (None, Some(signal)),
    };
    data.insert("exitCode".to_owned(), json!(code));
    if let Some(signal) = signal {
        data.insert("signal".to_owned(), json!(signal));
    }
    data.insert("output".to_owned(), Value::String(output));
    if let Some(Gap { head, tail, left_out }) = gap {
        data.insert("truncated".to_owned(), json!({"head": head, "tail": tail, "leftOut": left_out}));
    }
    data.insert("durationMs".to_owned(), json!(u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX)));
    Value::Object(data)
}
