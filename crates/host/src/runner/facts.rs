//! What the policy has to know of a command.

use std::path::Path;

use switchboard_types::{CommandFacts, ErrandFailure, Place, WorkspaceRoot};

/// What is known of a line for a shell, in a folder of the workspace.
pub fn of_line(root: &WorkspaceRoot, _own: &Path, cwd: &str, line: &str) -> Result<CommandFacts, ErrandFailure> {
    let place = Path::new(cwd).strip_prefix(root.as_str());
    let cwd_place = place.map_or(Place::Unknown, |inner| Place::Inside(inner.to_string_lossy().into_owned()));
    Ok(CommandFacts { line: Some(line.to_owned()), cwd: cwd.to_owned(), cwd_place, ..CommandFacts::default() })
}
