//! What the host tells into the page's messages. A page of events is one message, made of the records' own bytes; never a
//! JSON value for each event.

use switchboard_types::record::Peek;
use switchboard_types::{
    ChoreAnswer, Epoch, EventRef, FileAnswer, LibraryAnswer, Page, Reject, RequestNo, SessionAnswer, SettingsAnswer,
    TabId, Told, TurnId,
};

use super::VERSION;
use super::shape::{ToView, epoch};

/// Bytes of the scratch that a link keeps between writes; more is for rare large messages.
const KEEP_SCRATCH_BYTES: usize = 4096;

/// Writes one thing told.
pub(super) fn told(scratch: &mut Vec<u8>, told: &Told, message: &mut dyn FnMut(&[u8])) {
    scratch.clear();
    match told {
        Told::Events { tab, page, epoch, .. } => events(scratch, tab, page, *epoch),
        Told::Gap { tab, from, to } => shape(scratch, &ToView::Gap { tab: tab.clone(), from: *from, to: *to }),
        Told::Reset { tab } => shape(scratch, &ToView::Reset { tab: tab.clone() }),
        Told::Refused(reject) => shape(
            scratch,
            &ToView::Refused {
                code: reject.code,
                message: reject.message.clone(),
                tab: reject.tab.clone(),
                turn: reject.turn.clone(),
            },
        ),
        Told::Overview { home, workspaces, sessions } => shape(
            scratch,
            &ToView::Welcome {
                version: VERSION.to_owned(),
                home: home.as_ref().map(ToString::to_string).unwrap_or_default(),
                workspaces: workspaces.iter().map(Into::into).collect(),
                sessions: sessions.iter().map(Into::into).collect(),
            },
        ),
        Told::Session(session) => shape(scratch, &ToView::Session { session: session.into() }),
        Told::SessionGone { session } => shape(scratch, &ToView::SessionGone { session: *session }),
        Told::Workspace(workspace) => shape(scratch, &ToView::Workspace { workspace: workspace.into() }),
        Told::History { sessions, next } => shape(
            scratch,
            &ToView::History { sessions: sessions.iter().map(Into::into).collect(), next: next.map(Into::into) },
        ),
        Told::Rules { rules } => shape(scratch, &ToView::Rules { rules: rules.clone() }),
        Told::Containment(containment) => {
            shape(scratch, &ToView::Containment { containment: containment.clone() });
        }
        Told::Pong { number } => shape(scratch, &ToView::Pong { n: *number }),
        Told::ChoreNews { request, done, total } => {
            shape(scratch, &ToView::Progress { request: *request, done: *done, total: *total });
        }
        Told::ChoreDone { request, result } => shape(scratch, &chore(*request, result)),
        Told::Settings(settings) => shape(scratch, &ToView::Settings { settings: (**settings).clone() }),
        Told::Answer { request, result } => shape(scratch, &answer(*request, result)),
        // Only asked for in dialects that list tabs or call tools, and nothing else.
        Told::Tabs { .. }
        | Told::Tools { .. }
        | Told::ToolsCalled { .. }
        | Told::CallCancelled { .. }
        | Told::Calls { .. }
        | Told::Lent { .. }
        | Told::LentCall { .. }
        | Told::ApprovalsWatched { .. }
        | Told::ApprovalOpen { .. }
        | Told::Answered { .. } => return,
    }
    message(scratch);
    scratch.shrink_to(KEEP_SCRATCH_BYTES);
}

fn failed(request: RequestNo, reject: &Reject) -> ToView {
    ToView::Failed { request, code: reject.code, message: reject.message.clone() }
}

fn chore(request: RequestNo, result: &Result<Box<ChoreAnswer>, Reject>) -> ToView {
    match result.as_deref() {
        Ok(ChoreAnswer::Library(LibraryAnswer::Found(found))) => ToView::Found {
            request,
            sessions: found.sessions.iter().map(Into::into).collect(),
            more: found.more,
            behind: found.behind,
        },
        Ok(ChoreAnswer::Library(LibraryAnswer::Usage(rows))) => ToView::Used { request, rows: rows.clone() },
        Ok(ChoreAnswer::Library(LibraryAnswer::Kept(kept))) => ToView::Kept { request, kept: kept.clone() },
        Ok(ChoreAnswer::Library(LibraryAnswer::Rebuilt(rebuilt))) => {
            ToView::Rebuilt { request, rebuilt: rebuilt.clone() }
        }
        Ok(ChoreAnswer::Settings(SettingsAnswer::Saved {})) => ToView::Done { request },
        Ok(ChoreAnswer::Settings(SettingsAnswer::Token { has_token })) => {
            ToView::Token { request, has_token: *has_token }
        }
        Ok(ChoreAnswer::Settings(SettingsAnswer::Tested { success, message, models })) => {
            ToView::Tested { request, success: *success, message: message.clone(), models: models.clone() }
        }
        Ok(ChoreAnswer::Settings(SettingsAnswer::Servers { servers, message })) => {
            ToView::Servers { request, servers: servers.clone(), message: message.clone() }
        }
        Ok(ChoreAnswer::Settings(SettingsAnswer::InUse { agent })) => ToView::InUse { request, agent: agent.clone() },
        Err(reject) => failed(request, reject),
    }
}

fn answer(request: RequestNo, result: &Result<Box<SessionAnswer>, Reject>) -> ToView {
    match result.as_deref() {
        Ok(SessionAnswer::Files(files)) => match &**files {
            FileAnswer::Artifact { name, mime, size, url } => {
                ToView::Artifact { request, name: name.clone(), mime: mime.clone(), size: *size, url: url.clone() }
            }
            FileAnswer::Entries { .. } | FileAnswer::Snippet { .. } | FileAnswer::Diff { .. } => {
                ToView::Done { request }
            }
        },
        // What the page asks of sessions has no more to say than that it is done.
        Ok(
            SessionAnswer::Done {}
            | SessionAnswer::Created { .. }
            | SessionAnswer::Sessions { .. }
            | SessionAnswer::Session(_)
            | SessionAnswer::Following { .. }
            | SessionAnswer::Queued { .. }
            | SessionAnswer::Stopped { .. }
            | SessionAnswer::Ordered { .. },
        ) => ToView::Done { request },
        Err(reject) => failed(request, reject),
    }
}

fn shape(out: &mut Vec<u8>, shape: &ToView) {
    // Maps with string keys always have a JSON text, and a vector takes all of it.
    let _ = serde_json::to_writer(out, shape);
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn events(out: &mut Vec<u8>, tab: &TabId, page: &Page, life: Epoch) {
    out.reserve(page.bytes() + 256);
    out.extend_from_slice(br#"{"type":"events","tab":"#);
    // A string always has a JSON text.
    let _ = serde_json::to_writer(&mut *out, tab.as_str());
    out.extend_from_slice(br#","epoch":""#);
    out.extend_from_slice(epoch(life).as_bytes());
    out.extend_from_slice(br#"","after":"#);
    number(out, page.first().0 - 1);
    out.extend_from_slice(br#","to":"#);
    number(out, page.last().0);
    out.extend_from_slice(br#","events":["#);
    let before = out.len();
    let mut events = page.events().peekable();
    while let Some(event) = events.next() {
        let (kind, text) = match event.peek() {
            Peek::Text(text) => ("text", text),
            Peek::Thought(text) => ("thought", text),
            Peek::Json(json) => {
                // What a newer version wrote cannot be told; `to` counts it all the same.
                if event.body().is_ok() {
                    comma(out, before);
                    head(out, &event);
                    out.extend_from_slice(json);
                    out.push(b'}');
                }
                continue;
            }
        };
        // The run's last piece gives the place and the time, so it must be known before the first is written.
        let mut pieces = vec![text];
        let mut last = event;
        while let Some(next) = events.next_if(|next| continues(next, kind, last.turn)) {
            pieces.push(piece(&next));
            last = next;
        }
        comma(out, before);
        head(out, &last);
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(br#"","text":""#);
        pieces.into_iter().for_each(|piece| out.extend_from_slice(piece));
        out.extend_from_slice(br#""}}"#);
    }
    out.extend_from_slice(b"]}");
}

fn comma(out: &mut Vec<u8>, before: usize) {
    if out.len() > before {
        out.push(b',');
    }
}

/// The event up to its body.
fn head(out: &mut Vec<u8>, event: &EventRef<'_>) {
    out.extend_from_slice(br#"{"seq":"#);
    number(out, event.seq.0);
    out.extend_from_slice(br#","time":"#);
    number(out, event.at.0);
    if let Some(turn) = event.turn {
        out.extend_from_slice(br#","turn":"#);
        number(out, u64::from(turn.0));
    }
    out.extend_from_slice(br#","body":"#);
}

fn continues(next: &EventRef<'_>, kind: &str, turn: Option<TurnId>) -> bool {
    let same_kind = match next.peek() {
        Peek::Text(_) => kind == "text",
        Peek::Thought(_) => kind == "thought",
        Peek::Json(_) => false,
    };
    same_kind && next.turn == turn
}

fn piece<'a>(event: &EventRef<'a>) -> &'a [u8] {
    match event.peek() {
        Peek::Text(bytes) | Peek::Thought(bytes) | Peek::Json(bytes) => bytes,
    }
}
