//! What an agent asks the host to do for it: files and terminals, there and back. Never does any of it.

use agent_client_protocol_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};
use serde::Serialize;
use serde_json::{Value, json};
use switchboard_types::{
    Console, Cut, Errand, ErrandCode, ErrandFailure, ErrandResult, ExecutionId, Exit, Run, TerminalWish,
};

use super::fault::RESOURCE_NOT_FOUND;
use super::small::{MAX_ERROR_CHARS, cut, fields, name};
use crate::jsonrpc::{Debt, Failure, codes};

/// Arguments and variables of one command.
const MAX_ARGS: usize = 4_096;

/// The methods by which an agent asks for something, and what the host does.
pub(super) const METHODS: [(&str, &str); 7] = [
    ("fs/read_text_file", "reads a file of the workspace"),
    ("fs/write_text_file", "shows you the change and asks; then writes it"),
    ("terminal/create", "shows you the command and asks; then runs it"),
    ("terminal/output", "gives what the command has written so far"),
    ("terminal/wait_for_exit", "answers when the command has ended"),
    ("terminal/kill", "ends the command; its output stays"),
    ("terminal/release", "ends the command and forgets it"),
];

/// A request that is not answered yet.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) debt: Debt,
    /// What it is about, for an answer that it is not there.
    pub(super) about: String,
}

/// Reads a request; none if the method is not one of these.
pub(super) fn read(method: &str, params: &str) -> Option<Result<Errand, Failure>> {
    let wish = match method {
        "fs/read_text_file" => return Some(typed(params).map(read_file)),
        "fs/write_text_file" => return Some(typed(params).map(write_file)),
        "terminal/create" => return Some(typed(params).and_then(run)),
        "terminal/output" => TerminalWish::Output,
        "terminal/wait_for_exit" => TerminalWish::Wait,
        "terminal/kill" => TerminalWish::Kill,
        "terminal/release" => TerminalWish::Release,
        _ => return None,
    };
    let terminal = fields(params, &["terminalId"]).and_then(|found| name(&found, "terminalId"));
    let errand = terminal.map(|terminal| Errand::Terminal { terminal: ExecutionId::new(terminal), wish });
    Some(errand.ok_or_else(|| invalid("`terminalId` must name a terminal")))
}

/// What a request is about, for an answer that it is not there.
pub(super) fn about(errand: &Errand) -> String {
    match errand {
        Errand::Read { path, .. } | Errand::Write { path, .. } => path.clone(),
        Errand::Run(run) => run.program.clone(),
        Errand::Tool { tool, .. } => tool.name().as_str().to_owned(),
        Errand::Terminal { terminal, .. } => terminal.as_str().to_owned(),
    }
}

/// The answer to a request that was done.
pub(super) fn done(result: &ErrandResult) -> Value {
    match result {
        ErrandResult::Read { content } => written(&ReadTextFileResponse::new(content)),
        ErrandResult::Written { .. } => written(&WriteTextFileResponse::new()),
        ErrandResult::Running { terminal } => written(&CreateTerminalResponse::new(terminal.as_str().to_owned())),
        ErrandResult::Output { text, cut, exit } => {
            json!({"output": text, "truncated": *cut == Cut::Short, "exitStatus": exit.as_ref().map(status)})
        }
        ErrandResult::Exited(exit) => status(exit),
        ErrandResult::Tool { data } => data.clone(),
        ErrandResult::Killed | ErrandResult::Released | ErrandResult::Checked => json!({}),
    }
}

/// The answer to a request that was not done.
pub(super) fn failed(failure: &ErrandFailure, about: &str) -> Failure {
    let message = cut(&*failure.message, MAX_ERROR_CHARS);
    let code = match failure.code {
        // Told apart from what failed, for an agent that wants to know.
        ErrandCode::Denied | ErrandCode::Untrusted => {
            return Failure::new(codes::INTERNAL_ERROR, message).with_data(json!({ "denied": true }));
        }
        // To the letter what the reference gives: agents compare it before they create a file.
        ErrandCode::NotFound => {
            return Failure::new(RESOURCE_NOT_FOUND, "Resource not found").with_data(json!({ "uri": about }));
        }
        ErrandCode::Outside | ErrandCode::Invalid | ErrandCode::TooLarge => codes::INVALID_PARAMS,
        ErrandCode::Cancelled => codes::REQUEST_CANCELLED,
        ErrandCode::Changed | ErrandCode::Failed | ErrandCode::TimedOut => codes::INTERNAL_ERROR,
    };
    Failure::new(code, message)
}

/// Both fields are always there, as agents expect them.
fn status(exit: &Exit) -> Value {
    match exit {
        Exit::Code(code) => json!({"exitCode": code, "signal": null}),
        Exit::Signal(signal) => json!({"exitCode": null, "signal": signal}),
    }
}

/// The schema's types always have a JSON form.
fn written(response: &impl Serialize) -> Value {
    serde_json::to_value(response).unwrap_or_else(|_| json!({}))
}

fn typed<T: serde::de::DeserializeOwned>(params: &str) -> Result<T, Failure> {
    serde_json::from_str(params).map_err(|error| invalid(&error.to_string()))
}

fn invalid(why: &str) -> Failure {
    Failure::new(codes::INVALID_PARAMS, cut(format!("the params cannot be read: {why}"), MAX_ERROR_CHARS))
}

fn read_file(request: ReadTextFileRequest) -> Errand {
    let path = request.path.to_string_lossy().into_owned();
    Errand::Read { path, line: request.line, limit: request.limit }
}

fn write_file(request: WriteTextFileRequest) -> Errand {
    Errand::Write { path: request.path.to_string_lossy().into_owned(), content: request.content }
}

fn run(request: CreateTerminalRequest) -> Result<Errand, Failure> {
    if request.args.len() > MAX_ARGS || request.env.len() > MAX_ARGS {
        return Err(invalid(&format!("more than {MAX_ARGS} arguments or variables")));
    }
    Ok(Errand::Run(Run {
        program: request.command,
        args: request.args,
        env: request.env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
        cwd: request.cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
        output_limit: request.output_byte_limit,
        console: Console::Pipes,
    }))
}
