//! `rules test`: what would become of a command if an agent asked for it here, and why. Looks at files; runs nothing.

use std::path::Path;

use serde::Serialize;
use switchboard_core::Trust;
use switchboard_core::policy::{Question, describe, judge};
use switchboard_types::{
    Asker, Facts, Judgement, Rule, RuleId, RuleWhat, SessionPolicy, Severity, Verdict, WorkspaceRoot,
};

use super::severity;
use crate::cli::args::{Cli, Format, TestArgs};
use crate::cli::exit::Failure;
use crate::cli::print;
use crate::cli::reach::Reach;
use crate::runner::facts;

/// What programs get.
#[derive(Serialize)]
struct Tested<'a> {
    severity: Severity,
    decision: Verdict,
    reasons: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a RuleId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<&'a RuleWhat>,
    /// Whether a person trusts the workspace; where nobody does, nothing runs, whatever else is said here.
    trusted: bool,
}

pub(super) async fn run(cli: &Cli, reach: &Reach, args: &TestArgs) -> Result<(), Failure> {
    let root = cli.workspace(None)?;
    let (rules, trusted) = (reach.rules().await?, reach.trusts(&root).await?);
    let user = cli.config()?;
    let config = if trusted { user.in_trusted_workspace(Path::new(root.as_str()))? } else { user };
    let (own, cwd) = (cli.folder()?, cwd(&root, args.cwd.as_deref())?);
    let facts =
        facts::of_line(&root, own.path(), &cwd, &args.command).map_err(|failure| Failure::failed(failure.message))?;
    let here: Vec<&Rule> = rules.iter().filter(|rule| rule.workspace.as_ref().is_none_or(|of| *of == root)).collect();
    let patterns = config.tools.patterns();
    let judgement = judge(&Question {
        facts: &Facts::Command(Box::new(facts)),
        asker: Asker::Agent,
        session: &SessionPolicy { auto_commands: args.auto, ..SessionPolicy::default() },
        patterns: patterns.as_ref(),
        rules: &here,
        granted: false,
        // What rules and the command itself say is the question here; trust is said beside it.
        trust: Trust::Trusted,
    });
    show(cli, &judgement, trusted);
    Ok(())
}

/// The folder that the command would run in, from the workspace's folder on.
fn cwd(root: &WorkspaceRoot, dir: Option<&Path>) -> Result<String, Failure> {
    let Some(dir) = dir else { return Ok(root.to_string()) };
    let named = Path::new(root.as_str()).join(dir);
    let wrong = |why: &str| Failure::not_found(format!("the folder `{}` {why}", named.display()));
    let found = named.canonicalize().map_err(|error| wrong(&format!("cannot be used: {error}")))?;
    found.to_str().map(str::to_owned).ok_or_else(|| wrong("has a name that is not UTF-8"))
}

fn show(cli: &Cli, judgement: &Judgement, trusted: bool) {
    if cli.format() == Format::Json {
        return print::json(&Tested {
            severity: judgement.severity,
            decision: judgement.decision,
            reasons: &judgement.reasons,
            rule: judgement.rule.as_ref(),
            suggestion: judgement.suggestion.as_ref(),
            trusted,
        });
    }
    let decision = match judgement.decision {
        Verdict::Allow => "allow: it would run without a question",
        Verdict::Ask => "ask: a person would be asked",
        Verdict::Deny => "deny: it would not run",
    };
    print::words(decision);
    print::words(&format!("severity: {}", severity(judgement.severity)));
    judgement.reasons.iter().for_each(|reason| print::words(&format!("  because {reason}")));
    if let Some(rule) = &judgement.rule {
        print::words(&format!("decided by rule {rule}"));
    }
    if let Some(suggestion) = &judgement.suggestion {
        print::words(&format!("a rule for it would be: {}", describe(suggestion)));
    }
    if !trusted {
        print::words("This folder is not trusted, so nothing runs here until `switchboard trust`.");
    }
}
