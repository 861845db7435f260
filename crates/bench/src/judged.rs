//! Commands judged as the host judges them, with programs that are found and nothing that is written outside. Never measures.

use switchboard_core::policy::{self, Question};
use switchboard_types::{
    Asker, CommandFacts, Facts, Judgement, Place, ProgramFacts, SessionPolicy, TargetFacts, Trust,
};

/// Reads and judges a line, as for a session whose commands need no question.
#[must_use]
pub fn command(line: &str) -> Judgement {
    let reading = policy::read_line(line);
    let programs = reading.commands.iter().filter_map(|command| command.words.first());
    let programs = programs.map(|name| ProgramFacts {
        name: name.clone(),
        path: Some(format!("/usr/bin/{name}")),
        place: Place::Outside(format!("/usr/bin/{name}")),
    });
    let targets = reading
        .targets
        .iter()
        .map(|target| TargetFacts { written: target.path.clone(), place: Place::Inside(target.path.clone()) });
    let facts = Facts::Command(Box::new(CommandFacts {
        line: Some(line.to_owned()),
        cwd: "/w".to_owned(),
        cwd_place: Place::Inside(String::new()),
        programs: programs.collect(),
        targets: targets.collect(),
        ..CommandFacts::default()
    }));
    policy::judge(&Question {
        facts: &facts,
        asker: Asker::Agent,
        session: &SessionPolicy { auto_commands: true, ..SessionPolicy::default() },
        patterns: None,
        rules: &[],
        granted: false,
        trust: Trust::Trusted,
    })
}

/// Only parses it, as whoever judges must at least.
#[must_use]
pub fn parse(line: &str) -> Option<tree_sitter::Tree> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(line, None)
}
