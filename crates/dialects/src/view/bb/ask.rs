//! Requests into what is asked of the host. Knows what a session is called here and no more of it than the desk says.

use serde_json::{Map, Value};
use switchboard_types::desk::{FileRequest, SnippetCut};
use switchboard_types::limits::{MAX_HISTORY_ROWS, MAX_ID_BYTES};
use switchboard_types::{
    AgentName, ApprovalId, Decision, FollowFrom, PermissionMode, Prompt, SessionId, SessionRequest, Setup, TurnName,
};

use super::asked::{
    ApprovePermissionParams, CommandParams, CreateSessionParams, DecisionWord, DeleteSessionParams,
    DownloadArtifactParams, ListFilesParams, Method, OpenDiffParams, PermissionModeWord, ReadFileSnippetParams,
    SelectSessionParams, SendMessageParams, StopParams,
};
use super::follow;
use super::known::{Home, Known};
use super::open::{Choice, From, Kind, Selecting};
use super::read::{Refusal, Request, typed};
use super::said::{ErrorCode, FindingShape};

/// Attachments of one prompt.
const MAX_ATTACHMENTS: usize = 64;
/// The most of a file that one answer shows.
const MAX_SNIPPET_BYTES: u64 = 4 * 1024 * 1024;

/// What a request asks of the host.
#[derive(Debug)]
pub(super) enum Want {
    Session(SessionRequest),
    Answer { session: SessionId, approval: ApprovalId, decision: Decision },
}

/// The names that a request may use up.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) turn: TurnName,
    pub(super) choice: Choice,
}

/// What is asked, and how its answer is to be said.
pub(super) fn want(request: &mut Request, known: &Known, fresh: Fresh) -> Result<(Kind, Want), Box<Refusal>> {
    match request.method {
        Method::Init => Ok((Kind::Init, Want::Session(list()))),
        Method::ListSessions => Ok((Kind::List, Want::Session(list()))),
        Method::CreateSession => create(request, fresh.choice),
        Method::SelectSession => select(request, known, fresh.choice),
        Method::DeleteSession => {
            let DeleteSessionParams { session_id } = typed(request)?;
            let session = session_of(request, &session_id)?;
            Ok((Kind::Delete, Want::Session(SessionRequest::Delete { session })))
        }
        Method::SendMessage => send(request, fresh.turn),
        Method::Stop => {
            let StopParams { session_id } = typed(request)?;
            let session = session_of(request, &session_id)?;
            Ok((Kind::Stop, Want::Session(SessionRequest::Stop { session })))
        }
        Method::Command => command(request, known),
        Method::ApprovePermission => approve(request),
        Method::ListFiles => {
            let ListFilesParams { session_id, path } = typed(request)?;
            files(request, &session_id, FileRequest::List { path })
        }
        Method::ReadFileSnippet => {
            let params: ReadFileSnippetParams = typed(request)?;
            let cut = cut_of(&params);
            files(request, &params.session_id, FileRequest::Read { path: params.path, cut })
        }
        Method::OpenDiff => {
            let OpenDiffParams { session_id, file_path, before_ref, after_ref } = typed(request)?;
            files(request, &session_id, FileRequest::Diff { path: file_path, before: before_ref, after: after_ref })
        }
        Method::DownloadArtifact => {
            let DownloadArtifactParams { session_id, artifact_path } = typed(request)?;
            files(request, &session_id, FileRequest::Artifact { path: artifact_path })
        }
    }
}

fn list() -> SessionRequest {
    SessionRequest::List { before: None, limit: MAX_HISTORY_ROWS }
}

/// A session by its name on the wire, which is its number.
fn session_of(request: &Request, text: &str) -> Result<SessionId, Box<Refusal>> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain).map(SessionId).ok_or_else(|| {
        let mut refusal = Refusal::bad(&request.id, "there is no such session; `bb.listSessions` names all");
        refusal.error.code = ErrorCode::NotFound;
        Box::new(refusal)
    })
}

fn wrong(request: &Request, path: &str, message: impl Into<String>) -> Box<Refusal> {
    let finding = FindingShape { path: format!("/params/{path}"), message: message.into() };
    Box::new(Refusal::wrong(&request.id, request.method, &[finding]))
}

fn short<'a>(request: &Request, path: &str, text: &'a str) -> Result<&'a str, Box<Refusal>> {
    if (1..=MAX_ID_BYTES).contains(&text.len()) {
        return Ok(text);
    }
    Err(wrong(request, path, format!("must have 1 to {MAX_ID_BYTES} bytes, not {}", text.len())))
}

fn create(request: &mut Request, choice: Choice) -> Result<(Kind, Want), Box<Refusal>> {
    let CreateSessionParams { agent, config_path, task, model, permission_mode } = typed(request)?;
    let agent = agent.as_deref().map(|name| short(request, "agent", name)).transpose()?;
    let permission = permission_mode.map(|mode| match mode {
        PermissionModeWord::Ask => PermissionMode::Ask,
        PermissionModeWord::Auto => PermissionMode::Auto,
    });
    let setup = Setup { config: config_path, model, permission };
    let agent = agent.map(AgentName::from);
    Ok((Kind::Create { choice }, Want::Session(SessionRequest::Create { agent, workspace: None, setup, task })))
}

fn select(request: &mut Request, known: &Known, choice: Choice) -> Result<(Kind, Want), Box<Refusal>> {
    let SelectSessionParams { session_id, after_id } = typed(request)?;
    let session = session_of(request, &session_id)?;
    let mut ways = follow::ways(after_id.as_deref(), known.epoch(session), known.home(session));
    let from = ways.pop_front().unwrap_or(FollowFrom::Start);
    let selecting = Selecting { session, method: request.method, choice, from: From::Wanted, ways };
    Ok((Kind::Select(selecting), Want::Session(SessionRequest::Follow { session, from })))
}

fn send(request: &mut Request, name: TurnName) -> Result<(Kind, Want), Box<Refusal>> {
    let SendMessageParams { session_id, text, attachment_ids } = typed(request)?;
    let session = session_of(request, &session_id)?;
    let attachments = attachment_ids.unwrap_or_default();
    if attachments.len() > MAX_ATTACHMENTS {
        return Err(wrong(request, "attachmentIds", format!("must have at most {MAX_ATTACHMENTS} items")));
    }
    for (at, attachment) in attachments.iter().enumerate() {
        short(request, &format!("attachmentIds/{at}"), attachment)?;
    }
    let prompt = Prompt { text, context: Vec::new() };
    let kind = Kind::Send { name: name.clone() };
    Ok((kind, Want::Session(SessionRequest::Send { session, name, prompt, attachments })))
}

fn command(request: &mut Request, known: &Known) -> Result<(Kind, Want), Box<Refusal>> {
    let CommandParams { session_id, command, args } = typed(request)?;
    let session = session_of(request, &session_id)?;
    let args = args.unwrap_or_default();
    let asked = match command.as_str() {
        "stop" => SessionRequest::Stop { session },
        "set_model" => set(request, session, "model", &args)?,
        "set_mode" => set(request, session, "mode", &args)?,
        "permission_decision" => return decide(request, session, &args),
        other => {
            short(request, "command", other)?;
            if known.home(session) == Home::Here {
                let message =
                    "must be stop, set_model, set_mode or permission_decision: the session's agent is no engine";
                return Err(wrong(request, "command", message));
            }
            SessionRequest::Order { session, name: other.to_owned(), payload: Value::Object(args) }
        }
    };
    Ok((Kind::Command, Want::Session(asked)))
}

fn text_of<'a>(request: &Request, args: &'a Map<String, Value>, name: &str) -> Result<&'a str, Box<Refusal>> {
    let text = args.get(name).and_then(Value::as_str);
    text.ok_or_else(|| wrong(request, &format!("args/{name}"), "must be a string"))
}

fn set(
    request: &Request,
    session: SessionId,
    category: &str,
    args: &Map<String, Value>,
) -> Result<SessionRequest, Box<Refusal>> {
    let value = short(request, &format!("args/{category}"), text_of(request, args, category)?)?.to_owned();
    Ok(SessionRequest::Set { session, category: category.to_owned(), value })
}

fn decide(request: &Request, session: SessionId, args: &Map<String, Value>) -> Result<(Kind, Want), Box<Refusal>> {
    let approval = short(request, "args/request_id", text_of(request, args, "request_id")?)?;
    // A word that we do not know is no denial: somebody meant something by it.
    let decision = match text_of(request, args, "decision")?.replace('_', "-").as_str() {
        "allow-once" => Decision::AllowOnce,
        "allow-always" => Decision::AllowRule,
        // There are no rules that deny, so it is denied this once.
        "deny-once" | "deny-always" => Decision::Deny,
        "deny-stop" => Decision::DenyStop,
        _ => {
            let message = "must be allow-once, allow-always, deny-once, deny-always or deny-stop";
            return Err(wrong(request, "args/decision", message));
        }
    };
    Ok((Kind::Command, Want::Answer { session, approval: ApprovalId::from(approval), decision }))
}

fn approve(request: &mut Request) -> Result<(Kind, Want), Box<Refusal>> {
    let ApprovePermissionParams { session_id, request_id, decision, .. } = typed(request)?;
    let session = session_of(request, &session_id)?;
    let approval = ApprovalId::from(short(request, "requestId", &request_id)?);
    let decision = match decision {
        DecisionWord::AllowOnce => Decision::AllowOnce,
        DecisionWord::Deny => Decision::Deny,
        DecisionWord::AllowRule => Decision::AllowRule,
    };
    Ok((Kind::Approve, Want::Answer { session, approval, decision }))
}

fn files(request: &Request, session_id: &str, what: FileRequest) -> Result<(Kind, Want), Box<Refusal>> {
    let session = session_of(request, session_id)?;
    Ok((Kind::Files(request.method), Want::Session(SessionRequest::Files { session, what })))
}

fn cut_of(params: &ReadFileSnippetParams) -> SnippetCut {
    let usual = SnippetCut::default();
    let count =
        |asked: Option<u64>, usual: usize| asked.map_or(usual, |asked| usize::try_from(asked).unwrap_or(usize::MAX));
    SnippetCut {
        head_lines: count(params.head_lines, usual.head_lines),
        tail_lines: count(params.tail_lines, usual.tail_lines),
        max_bytes: count(params.max_bytes.map(|bytes| bytes.min(MAX_SNIPPET_BYTES)), usual.max_bytes),
    }
}
