//! What people set at a view, written into the user's file or a workspace's: only what differs is touched, and all else stays
//! as it was written. Never writes what would not be understood, nor outside of the workspace.

use std::fs;
use std::path::Path;

use switchboard_types::{Patterns, Settings, Unasked, Unset};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::edit::{EditError, Held};
use super::settings::{Config, Owner, WORKSPACE_FILE};
use super::values;

const SETTINGS: &str = "settings";
const EDITS: &str = "edits";
const PATTERNS: &str = "patterns";

/// Changes the user's own file, which is made if it is not there.
pub fn to_users_file(file: &Path, change: &Settings, unset: &[Unset]) -> Result<(), EditError> {
    save(&Held::of(file)?, change, unset)
}

/// Changes the file of a workspace that is trusted, on top of what the user has.
pub fn to_workspaces_file(root: &Path, user: &Config, change: &Settings, unset: &[Unset]) -> Result<(), EditError> {
    let file = root.join(WORKSPACE_FILE);
    let may_be = change.sensitive_file_patterns.iter().flat_map(|patterns| &patterns.0);
    if may_be.clone().any(|(_, word)| *word == Unasked::May) {
        let message =
            "a workspace can only have more files asked about; set what may be edited without a question for yourself";
        return Err(EditError::Refused(message.to_owned()));
    }
    let unwritable = |source| EditError::Unwritable { file: file.clone(), source };
    let inside = fs::canonicalize(root).map_err(unwritable)?;
    // A folder that is a link is looked at before anything is made in it.
    if let Ok(folder) = fs::canonicalize(inside.join(WORKSPACE_FILE).parent().unwrap_or(root)) {
        within(&inside, &folder, &file)?;
    }
    let held = Held::of_workspace(&file, user.clone())?;
    within(&inside, held.file(), &file)?;
    save(&held, change, unset)
}

fn within(root: &Path, path: &Path, file: &Path) -> Result<(), EditError> {
    if path.starts_with(root) {
        return Ok(());
    }
    let message = format!("{} leads out of the workspace; change it by hand", file.display());
    Err(EditError::Refused(message))
}

fn save(held: &Held<'_>, change: &Settings, unset: &[Unset]) -> Result<(), EditError> {
    let before = held.read()?;
    let had = own(&before.config, held.owner());
    let wanted = applied(had, change, unset);
    if let Some(message) = values::error_in(&wanted) {
        return Err(EditError::Refused(message));
    }
    if wanted == *had {
        return Ok(());
    }
    let by_hand = || EditError::ByHand { file: held.named().to_owned() };
    let mut document = before.document.clone();
    write_into(&mut document, had, &wanted).ok_or_else(by_hand)?;
    let text = document.to_string();
    let after = held.would_be(&text)?;
    let mut others = after.clone();
    others.settings.clone_from(&before.config.settings);
    others.workspace_settings.clone_from(&before.config.workspace_settings);
    others.tools.clone_from(&before.config.tools);
    let held_in = after.tools.holding == before.config.tools.holding;
    if *own(&after, held.owner()) != wanted || others != before.config || !held_in {
        return Err(by_hand());
    }
    held.write(&text)
}

fn own(config: &Config, owner: Owner) -> &Settings {
    match owner {
        Owner::User => &config.settings,
        Owner::Workspace => &config.workspace_settings,
    }
}

/// What holds after a change: what it does not name stays, and what is empty goes.
pub(super) fn applied(before: &Settings, change: &Settings, unset: &[Unset]) -> Settings {
    let text = |had: &Option<String>, wanted: &Option<String>| match wanted.as_deref().map(str::trim) {
        None => had.clone(),
        Some("") => None,
        Some(wanted) => Some(wanted.to_owned()),
    };
    let patterns = match &change.sensitive_file_patterns {
        None => before.sensitive_file_patterns.clone(),
        Some(wanted) => Some(wanted.clone()).filter(|wanted| !wanted.0.is_empty()),
    };
    Settings {
        base_url: text(&before.base_url, &change.base_url),
        agent_model: text(&before.agent_model, &change.agent_model),
        ask_model: text(&before.ask_model, &change.ask_model),
        edit_model: text(&before.edit_model, &change.edit_model),
        completion_model: text(&before.completion_model, &change.completion_model),
        max_iterations: change.max_iterations.or(before.max_iterations).filter(|number| *number > 0),
        tool_timeout: change.tool_timeout.or(before.tool_timeout).filter(|number| *number > 0),
        max_active_sessions: change.max_active_sessions.or(before.max_active_sessions).filter(|number| *number > 0),
        temperature: change.temperature.or(before.temperature).filter(|_| !unset.contains(&Unset::Temperature)),
        sensitive_file_patterns: patterns,
    }
}

/// Puts the other settings in; none if the file is written in a way that cannot be carried on.
pub(super) fn write_into(document: &mut DocumentMut, had: &Settings, wanted: &Settings) -> Option<()> {
    let number = |number: u64| i64::try_from(number).ok().map(Value::from);
    let entries = |all: &Settings| {
        [
            ("base_url", all.base_url.as_deref().map(Value::from)),
            ("agent_model", all.agent_model.as_deref().map(Value::from)),
            ("ask_model", all.ask_model.as_deref().map(Value::from)),
            ("edit_model", all.edit_model.as_deref().map(Value::from)),
            ("completion_model", all.completion_model.as_deref().map(Value::from)),
            ("max_iterations", all.max_iterations.map(u64::from).and_then(number)),
            ("tool_timeout", all.tool_timeout.and_then(number)),
            ("max_active_sessions", all.max_active_sessions.map(u64::from).and_then(number)),
            ("temperature", all.temperature.map(|degree| Value::from(f64::from(degree.0) / 100.0))),
        ]
    };
    for ((key, had), (_, wanted)) in entries(had).into_iter().zip(entries(wanted)) {
        if had.as_ref().map(ToString::to_string) != wanted.as_ref().map(ToString::to_string) {
            put(table(document, SETTINGS)?, key, wanted);
        }
    }
    if had.sensitive_file_patterns != wanted.sensitive_file_patterns {
        put_patterns(document, wanted.sensitive_file_patterns.as_ref())?;
    }
    Some(())
}

/// A table at the top of the file, which is made at its end if it is not there.
fn table<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    if !document.contains_key(name) {
        let mut fresh = Table::new();
        fresh.decor_mut().set_prefix(end_of(document));
        document.insert(name, Item::Table(fresh));
    }
    document.get_mut(name)?.as_table_like_mut()
}

/// What stands before something that is put at the end: the last comments of the file, which stay where they are, and an empty line.
fn end_of(document: &mut DocumentMut) -> String {
    let last = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    let between = if document.is_empty() && last.is_empty() { "" } else { "\n" };
    format!("{last}{between}")
}

/// Puts a value in the place of another, with the comment that stands beside it.
pub(super) fn put(table: &mut dyn TableLike, key: &str, wanted: Option<Value>) {
    let Some(mut wanted) = wanted else {
        table.remove(key);
        return;
    };
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(had) => {
            *wanted.decor_mut() = had.decor().clone();
            *had = wanted;
        }
        None => {
            table.insert(key, value(wanted));
        }
    }
}

fn put_patterns(document: &mut DocumentMut, wanted: Option<&Patterns>) -> Option<()> {
    let Some(wanted) = wanted else {
        table(document, EDITS)?.remove(PATTERNS);
        return Some(());
    };
    let fresh = !document.contains_key(EDITS);
    let entry = |(glob, word): &(String, Unasked)| {
        let ask = *word == Unasked::MayNot;
        let pairs = [("glob", Value::from(glob.as_str())), ("ask", Value::from(ask))];
        pairs.into_iter().collect::<InlineTable>()
    };
    let entries = wanted.0.iter().map(entry);
    let before = if fresh { end_of(document) } else { "\n".to_owned() };
    if fresh {
        let mut edits = Table::new();
        edits.set_implicit(true);
        document.insert(EDITS, Item::Table(edits));
    }
    let item = match document.get(EDITS)? {
        Item::Value(_) => Item::Value(Value::Array(entries.collect::<Array>())),
        _ => {
            let mut tables = entries.map(InlineTable::into_table).collect::<ArrayOfTables>();
            if let Some(first) = tables.get_mut(0) {
                first.decor_mut().set_prefix(before);
            }
            Item::ArrayOfTables(tables)
        }
    };
    document.get_mut(EDITS)?.as_table_like_mut()?.insert(PATTERNS, item);
    Some(())
}
