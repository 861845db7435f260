//! `rules list`: the oldest first, each in words.

use serde::Serialize;
use switchboard_core::policy::describe;
use switchboard_types::{Rule, RuleEffect};

use crate::cli::args::{Cli, Format};
use crate::cli::exit::Failure;
use crate::cli::print::{self, Table, ago};
use crate::cli::reach::Reach;
use crate::clock::Clock;

/// A rule as programs get it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    id: &'a str,
    /// Absent if it holds everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<&'a str>,
    effect: RuleEffect,
    description: String,
    what: &'a switchboard_types::RuleWhat,
    created: u64,
    origin: &'a str,
}

impl<'a> Listed<'a> {
    fn of(rule: &'a Rule) -> Self {
        Self {
            id: rule.id.as_str(),
            workspace: rule.workspace.as_ref().map(|root| root.as_str()),
            effect: rule.effect,
            description: describe(&rule.what),
            what: &rule.what,
            created: rule.created.0,
            origin: &rule.origin,
        }
    }
}

pub(super) async fn run(cli: &Cli, reach: &Reach) -> Result<(), Failure> {
    let rules = reach.rules().await?;
    match cli.format() {
        Format::Json => rules.iter().for_each(|rule| print::json(&Listed::of(rule))),
        Format::Words if rules.is_empty() => {
            print::words("There are no rules. One is made when you answer a question by rule, on the page.");
        }
        Format::Words => in_words(&rules),
    }
    Ok(())
}

fn in_words(rules: &[Rule]) {
    let now = Clock::start().now();
    let mut table = Table::new(["ID", "SCOPE", "EFFECT", "WHAT", "SINCE", "ORIGIN"]);
    for rule in rules {
        let scope = rule.workspace.as_ref().map_or("everywhere", |root| root.as_str());
        let effect = match rule.effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Deny => "deny",
        };
        table.row([rule.id.as_str(), scope, effect, &describe(&rule.what), &ago(rule.created, now), &rule.origin]);
    }
    table.print();
}
