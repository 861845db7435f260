//! A call of a tool carried out, or made ready if it may do harm. Its parameters are checked by then.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_types::{
    ApprovalKind, Console, ErrandCode, ErrandFailure, Facts, Prepared, Provider, Run, Tool, WorkspaceRoot,
};

use super::taken::{EditFile, ListFiles, ReadFile, RunTerminalCommand, SearchWorkspace, WriteFile, taken};
use super::{EDIT_FILE, LIST_FILES, READ_FILE, RUN_TERMINAL_COMMAND, SEARCH_WORKSPACE, WRITE_FILE};
use super::{edit, list, search, view_file};
use crate::agents::shown::shown;
use crate::runner::command::{self, RunPlan};
use crate::runner::digest::Digest;
use crate::runner::place::Root;
use crate::runner::stop::Stop;
use crate::runner::writing::{self, WritePlan};

/// Characters of a call in a title.
const TITLE_CHARS: usize = 300;

/// What would be done.
#[derive(Debug)]
pub(crate) enum Planned {
    /// A file is written; what the tool gives then, besides the bytes.
    Write(WritePlan, Value),
    /// A command runs.
    Run(RunPlan),
    /// A view does it, so there is nothing to do here.
    Lent,
}

/// Makes a call ready that may do harm.
pub(crate) fn plan(
    root: &WorkspaceRoot,
    own: &Path,
    tool: &Tool,
    parameters: Value,
) -> Result<(Planned, Prepared), ErrandFailure> {
    if let Provider::View(lender) = tool.provider {
        return Ok((Planned::Lent, lent(tool, lender.0, &parameters)));
    }
    match tool.name().as_str() {
        WRITE_FILE => {
            let WriteFile { path, content } = taken(parameters)?;
            let (plan, prepared) = writing::prepare(root, own, path, content)?;
            let gives = json!({"path": plan.path(), "created": plan.is_new()});
            Ok((Planned::Write(plan, gives), prepared))
        }
        EDIT_FILE => {
            let asked: EditFile = taken(parameters)?;
            let mut count = 0;
            let (plan, prepared) = writing::prepare_edit(root, own, asked.path.clone(), |before| {
                let (after, replaced) = edit::replaced(&asked, before)?;
                count = replaced;
                Ok(after)
            })?;
            let gives = json!({"path": plan.path(), "replacements": count});
            Ok((Planned::Write(plan, gives), prepared))
        }
        RUN_TERMINAL_COMMAND => {
            let (plan, prepared) = command::prepare_line(root, own, run(taken(parameters)?))?;
            Ok((Planned::Run(plan), prepared))
        }
        _ => Err(unknown(tool)),
    }
}

fn run(asked: RunTerminalCommand) -> Run {
    let size = Console::Pty { columns: asked.columns, rows: asked.rows };
    Run {
        program: asked.command,
        args: Vec::new(),
        env: asked.env.into_iter().collect(),
        cwd: asked.cwd,
        output_limit: Some(asked.max_output_bytes),
        console: if asked.pty { size } else { Console::Pipes },
    }
}

/// Carries out a call that can do no harm.
pub(crate) fn serve(
    root: &WorkspaceRoot,
    own: &Path,
    tool: &Tool,
    parameters: Value,
    stop: &Stop,
) -> Result<Value, ErrandFailure> {
    let root = Root::open(root, own)?;
    match tool.name().as_str() {
        READ_FILE => view_file::read_file(&root, &taken::<ReadFile>(parameters)?, stop),
        LIST_FILES => list::list_files(&root, &taken::<ListFiles>(parameters)?, stop),
        SEARCH_WORKSPACE => search::search_workspace(&root, &taken::<SearchWorkspace>(parameters)?, stop),
        _ => Err(unknown(tool)),
    }
}

fn unknown(tool: &Tool) -> ErrandFailure {
    let message = format!("the host has no tool `{}` of that sort", shown(tool.name().as_str(), TITLE_CHARS));
    ErrandFailure::new(ErrandCode::NotFound, message)
}

fn lent(tool: &Tool, lender: u64, parameters: &Value) -> Prepared {
    let name = tool.name();
    let written = parameters.to_string();
    let definition = serde_json::to_vec(&tool.definition).unwrap_or_default();
    let digest = Digest::of("tool").part(&lender.to_le_bytes()).part(&definition).part(written.as_bytes()).hex();
    Prepared {
        kind: ApprovalKind::Tool,
        title: shown(&format!("call {name} {written}"), TITLE_CHARS),
        command: None,
        cwd: None,
        path: None,
        diff: None,
        change: None,
        facts: Facts::Tool { tool: name.clone(), effect: tool.effect },
        digest,
        scope: format!("tool:{name}"),
    }
}
