//! The page's messages into commands. Refuses what is not exactly a message of the dialect, whoever sent it.

use std::path::Path;

use switchboard_types::desk::artifact;
use switchboard_types::limits::{MAX_HISTORY_ROWS, MAX_ID_BYTES, MAX_SEATS_PER_LINK};
use switchboard_types::{
    Chore, Command, Epoch, FileRequest, HistoryPlace, LibraryRequest, PolicyChange, Prompt, Reject, RejectCode,
    RequestNo, SecretText, Seen, SessionRequest, SettingsRequest, SettingsScope, TabId, Trust, TurnName, UsageQuery,
    Visibility, WorkspaceRoot,
};

use super::shape::{FromView, WireForm, WireSeat, WireSeen};

/// Files and excerpts that go with one prompt.
const MAX_CONTEXT_ITEMS: usize = 1000;

/// Globs of one session.
const MAX_PATTERNS: usize = 200;

/// Translates one message.
pub(super) fn command(frame: &[u8]) -> Result<Command, Reject> {
    let said: FromView = serde_json::from_slice(frame).map_err(|error| unreadable(&error))?;
    match said {
        FromView::Hello { seats, .. } => hello(seats),
        FromView::OpenTab { tab, agent, workspace, session: None, seen } => {
            id("agent", agent.as_ref().map_or("", |agent| agent.as_str()))?;
            let workspace = workspace.map(folder).transpose()?;
            Ok(Command::OpenTab { tab: tab_id(tab)?, agent, workspace, seen: seen_or_start(seen)? })
        }
        FromView::OpenTab { tab, agent: None, workspace: None, session: Some(session), seen } => {
            Ok(Command::OpenSession { tab: tab_id(tab)?, session, seen: seen_or_start(seen)? })
        }
        FromView::OpenTab { .. } => Err(bad("a session that exists has its agent and workspace; leave them out")),
        FromView::LeaveTab { tab } => Ok(Command::LeaveTab { tab: tab_id(tab)? }),
        FromView::Prompt { tab, name, text, context } => {
            let context = context.unwrap_or_default();
            if context.len() > MAX_CONTEXT_ITEMS {
                let message = format!("a prompt goes with at most {MAX_CONTEXT_ITEMS} files");
                return Err(Reject::new(RejectCode::TooLarge, message).in_tab(tab).of_turn(name));
            }
            Ok(Command::Prompt { tab: tab_id(tab)?, name: turn_name(name)?, prompt: Prompt { text, context } })
        }
        FromView::Cancel { tab, name } => Ok(Command::Cancel { tab: tab_id(tab)?, name: turn_name(name)? }),
        FromView::CloseTab { tab } => Ok(Command::CloseTab { tab: tab_id(tab)? }),
        FromView::Visibility { visible } => {
            Ok(Command::Visibility(if visible { Visibility::Visible } else { Visibility::Hidden }))
        }
        FromView::Decide { tab, approval, decision, command, option } => {
            id("approval", approval.as_str())?;
            Ok(Command::Decide { tab: tab_id(tab)?, approval, decision, command, option })
        }
        FromView::SetPolicy { tab, change } => Ok(Command::SetPolicy { tab: tab_id(tab)?, change: policy(change)? }),
        FromView::WatchRules {} => Ok(Command::WatchRules {}),
        FromView::RemoveRule { rule } => {
            id("rule", rule.as_str())?;
            Ok(Command::RemoveRule { rule })
        }
        FromView::SetOption { tab, option, value } => {
            id("option", option.as_str())?;
            Ok(Command::SetOption { tab: tab_id(tab)?, option, value })
        }
        FromView::SignIn { tab, method } => {
            id("method", &method)?;
            Ok(Command::SignIn { tab: tab_id(tab)?, method })
        }
        FromView::AddAgent { name } => {
            id("name", name.as_str())?;
            Ok(Command::AddAgent { name })
        }
        FromView::RestartAgent { tab } => Ok(Command::RestartAgent { tab: tab_id(tab)? }),
        FromView::Trust { workspace, trusted } => {
            let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
            Ok(Command::Trust { root: folder(workspace)?, trust })
        }
        FromView::History { before, limit } => {
            let before = before.map(|place| HistoryPlace { updated: place.updated_ms, session: place.session });
            let limit = limit.map_or(MAX_HISTORY_ROWS, |limit| usize::try_from(limit).unwrap_or(MAX_HISTORY_ROWS));
            Ok(Command::History { before, limit })
        }
        FromView::DeleteSession { request: None, session } => Ok(Command::DeleteSession { session }),
        FromView::DeleteSession { request: Some(request), session } => {
            Ok(desk(request, SessionRequest::Delete { session }))
        }
        FromView::Search { request, query } => Ok(library(request, LibraryRequest::Search(Box::new(query)))),
        FromView::Usage { request, by, session, since } => {
            Ok(library(request, LibraryRequest::Usage(UsageQuery { by, session, since })))
        }
        FromView::Upkeep { request } => Ok(library(request, LibraryRequest::Upkeep {})),
        FromView::Rebuild { request } => Ok(library(request, LibraryRequest::Rebuild {})),
        FromView::WatchSettings {} => Ok(Command::WatchSettings {}),
        FromView::SaveSettings { request, workspace, change, unset } => {
            let scope = match workspace.map(folder).transpose()? {
                Some(root) => SettingsScope::Workspace(root),
                None => SettingsScope::User,
            };
            Ok(settings(request, SettingsRequest::Save { scope, change: Box::new(change), unset }))
        }
        FromView::SaveToken { request, token, base_url } => {
            Ok(settings(request, SettingsRequest::SaveToken { token: SecretText(token.0), base_url }))
        }
        FromView::TestModels { request, base_url } => Ok(settings(request, SettingsRequest::Test { base_url })),
        FromView::FindServers { request } => Ok(settings(request, SettingsRequest::FindServers {})),
        FromView::UseModel { request, base_url, model } => {
            Ok(settings(request, SettingsRequest::UseModel { base_url, model }))
        }
        FromView::RenameSession { request, session, title } => {
            Ok(desk(request, SessionRequest::Rename { session, title }))
        }
        FromView::SetSessionPolicy { request, session, change } => {
            Ok(desk(request, SessionRequest::SetPolicy { session, change: policy(change)? }))
        }
        FromView::ExportSession { request, session, form } => {
            let path = match form {
                WireForm::Log => artifact::LOG,
                WireForm::Conversation => artifact::CONVERSATION,
            };
            let what = FileRequest::Artifact { path: path.to_owned() };
            Ok(desk(request, SessionRequest::Files { session, what }))
        }
        FromView::Ping { n } => Ok(Command::Ping { number: n }),
    }
}

fn library(request: RequestNo, what: LibraryRequest) -> Command {
    Command::Chore { request, what: Chore::Library(what) }
}

fn settings(request: RequestNo, what: SettingsRequest) -> Command {
    Command::Chore { request, what: Chore::Settings(what) }
}

fn desk(request: RequestNo, what: SessionRequest) -> Command {
    Command::Session { request, what }
}

fn unreadable(error: &serde_json::Error) -> Reject {
    let said = error.to_string();
    // Decisions are a choice of words, too; only a message's type could have been `hello`.
    let of_types = said.starts_with("unknown variant") && said.contains("`hello`");
    let code = match error.classify() {
        serde_json::error::Category::Data if of_types => RejectCode::UnknownType,
        serde_json::error::Category::Data => RejectCode::BadMessage,
        serde_json::error::Category::Io | serde_json::error::Category::Syntax | serde_json::error::Category::Eof => {
            RejectCode::BadJson
        }
    };
    Reject::new(code, said)
}

fn bad(message: impl Into<String>) -> Reject {
    Reject::new(RejectCode::BadMessage, message)
}

fn hello(seats: Vec<WireSeat>) -> Result<Command, Reject> {
    if seats.len() > MAX_SEATS_PER_LINK {
        let message = format!("one link follows at most {MAX_SEATS_PER_LINK} tabs");
        return Err(Reject::new(RejectCode::TooLarge, message));
    }
    let seat = |seat: WireSeat| Ok((tab_id(seat.tab)?, seen(&seat.seen)?));
    Ok(Command::Watch { seen: seats.into_iter().map(seat).collect::<Result<_, Reject>>()? })
}

fn id(name: &str, value: &str) -> Result<(), Reject> {
    if value.len() > MAX_ID_BYTES {
        return Err(bad(format!("`{name}` is longer than {MAX_ID_BYTES} bytes")));
    }
    Ok(())
}

fn tab_id(tab: TabId) -> Result<TabId, Reject> {
    id("tab", tab.as_str()).map(|()| tab)
}

fn turn_name(name: TurnName) -> Result<TurnName, Reject> {
    id("name", name.as_str()).map(|()| name)
}

/// The page offers no patterns of its own making, but whoever speaks its dialect may send as many as it likes.
fn policy(change: PolicyChange) -> Result<PolicyChange, Reject> {
    let patterns = change.patterns.as_ref().map_or(&[][..], |patterns| &patterns.0);
    if patterns.len() > MAX_PATTERNS {
        return Err(Reject::new(RejectCode::TooLarge, format!("a session has at most {MAX_PATTERNS} patterns")));
    }
    patterns.iter().try_for_each(|(glob, _)| id("patterns", glob))?;
    Ok(change)
}

fn folder(path: String) -> Result<WorkspaceRoot, Reject> {
    if Path::new(&path).is_absolute() {
        Ok(WorkspaceRoot::new(path))
    } else {
        Err(bad("`workspace` must be an absolute path"))
    }
}

fn seen_or_start(said: Option<WireSeen>) -> Result<Seen, Reject> {
    said.map_or(Ok(Seen::default()), |said| seen(&said))
}

fn seen(said: &WireSeen) -> Result<Seen, Reject> {
    let epoch = u64::from_str_radix(&said.epoch, 16).map_err(|_| bad("`epoch` is not one that this host gave"))?;
    Ok(Seen { seq: said.seq, epoch: Some(Epoch(epoch)) })
}
