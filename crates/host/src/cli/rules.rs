//! `rules`: stored decisions, listed, tried and taken out. Asks the running host, or opens the store; judges with the same
//! judge as the host does, and runs nothing.
//!
//! | module | owns |
//! | --- | --- |
//! | `list` | the list |
//! | `test` | what would become of a command, and why |

mod list;
mod test;

use serde_json::json;
use switchboard_types::{RuleId, Severity};

use super::args::{Cli, Format, RulesCommand};
use super::exit::Failure;
use super::print;
use super::reach::Reach;

/// Does what was asked.
pub(super) async fn run(cli: &Cli, command: &RulesCommand) -> Result<(), Failure> {
    let reach = Reach::find(&cli.folder()?).await?;
    match command {
        RulesCommand::List => list::run(cli, &reach).await,
        RulesCommand::Test(args) => test::run(cli, &reach, args).await,
        RulesCommand::Remove { id } => remove(cli, &reach, id).await,
    }
}

async fn remove(cli: &Cli, reach: &Reach, id: &str) -> Result<(), Failure> {
    let rule = RuleId::new(id);
    if !reach.remove_rule(&rule).await? {
        let message =
            format!("there is no rule `{}`; `switchboard rules list` names those that there are", print::safe(id));
        return Err(Failure::not_found(message));
    }
    match cli.format() {
        Format::Json => print::json(&json!({ "id": rule, "removed": true })),
        Format::Words => print::words(&format!("Rule {rule} is removed.")),
    }
    Ok(())
}

/// A severity in a word.
pub(in crate::cli) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}
