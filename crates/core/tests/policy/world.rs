//! A made-up machine: a workspace in `/w`, every program in `/usr/bin`, and no links. Looks at no file.

use switchboard_core::Trust;
use switchboard_core::policy::{Question, judge, look_up, read};
use switchboard_types::{
    Asker, CommandFacts, EditFacts, Facts, Judgement, Patterns, Place, ProgramFacts, Rule, RuleEffect, RuleId,
    RuleWhat, SessionPolicy, TargetFacts, Time, Verdict,
};

/// Where the workspace is.
pub(crate) const ROOT: &str = "/w";

/// What only a shell has.
const BUILTINS: &[&str] =
    &["cd", "pushd", "popd", "source", ".", "eval", "exec", "builtin", "set", "trap", "alias", "exit", "read"];

/// Where a path leads, from the workspace's folder.
pub(crate) fn place(path: &str) -> Place {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{ROOT}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    match parts.split_first() {
        Some((&"w", inner)) => Place::Inside(inner.join("/")),
        _ => Place::Outside(format!("/{}", parts.join("/"))),
    }
}

fn program(name: &str) -> ProgramFacts {
    let (path, place) = if BUILTINS.contains(&name) || name.is_empty() {
        (None, Place::Unknown)
    } else if name.contains('/') {
        let place = place(name);
        let path = match &place {
            Place::Inside(path) => Some(format!("{ROOT}/{path}")),
            Place::Outside(path) => Some(path.clone()),
            Place::Unknown => None,
        };
        (path, place)
    } else {
        (Some(format!("/usr/bin/{name}")), Place::Outside(format!("/usr/bin/{name}")))
    };
    ProgramFacts { name: name.to_owned(), path, place }
}

/// What is known of a line.
pub(crate) fn line(text: &str) -> Facts {
    command(CommandFacts { line: Some(text.to_owned()), ..CommandFacts::default() })
}

/// What is known of words that no shell reads.
pub(crate) fn argv(words: &[&str]) -> Facts {
    let argv = words.iter().map(|word| (*word).to_owned()).collect();
    command(CommandFacts { argv, ..CommandFacts::default() })
}

/// What is known of a command, looked up.
pub(crate) fn command(mut facts: CommandFacts) -> Facts {
    ROOT.clone_into(&mut facts.cwd);
    facts.cwd_place = Place::Inside(String::new());
    let reading = read(&facts);
    look_up(&mut facts, &reading, program, |path| TargetFacts { written: path.to_owned(), place: place(path) });
    Facts::Command(Box::new(facts))
}

/// What is known of a change of a file.
pub(crate) fn edit(path: &str) -> Facts {
    Facts::Edit(EditFacts { place: place(path), names: 1 })
}

/// Everything that decides besides the facts.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) asker: Asker,
    pub(crate) session: SessionPolicy,
    pub(crate) settings: Option<Patterns>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) granted: bool,
    pub(crate) trust: Trust,
}

impl Default for World {
    fn default() -> Self {
        Self {
            asker: Asker::Agent,
            session: SessionPolicy::default(),
            settings: None,
            rules: Vec::new(),
            granted: false,
            trust: Trust::Trusted,
        }
    }
}

impl World {
    /// With the switch for commands on.
    pub(crate) fn auto() -> Self {
        Self { session: SessionPolicy { auto_commands: true, ..SessionPolicy::default() }, ..Self::default() }
    }

    /// With everything on that could allow something.
    pub(crate) fn all_on() -> Self {
        let session = SessionPolicy { auto_commands: true, auto_edits: true, ..SessionPolicy::default() };
        Self { session, granted: true, ..Self::default() }
    }

    /// With a rule more.
    pub(crate) fn with(mut self, effect: RuleEffect, what: RuleWhat) -> Self {
        let id = RuleId::from(format!("r{}", self.rules.len() + 1).as_str());
        self.rules.push(Rule { id, workspace: None, effect, what, created: Time(0), origin: "a test".to_owned() });
        self
    }

    pub(crate) fn judge(&self, facts: &Facts) -> Judgement {
        let rules: Vec<&Rule> = self.rules.iter().collect();
        let judgement = judge(&Question {
            facts,
            asker: self.asker,
            session: &self.session,
            patterns: self.settings.as_ref(),
            rules: &rules,
            granted: self.granted,
            trust: self.trust,
        });
        assert!(!judgement.reasons.is_empty(), "no reason for {facts:?}");
        assert!(judgement.reasons.iter().all(|reason| !reason.trim().is_empty()));
        assert_eq!(judgement.rule.is_some(), judgement.reasons[0].starts_with("the rule "), "{judgement:?}");
        judgement
    }

    pub(crate) fn decide(&self, facts: &Facts) -> Verdict {
        self.judge(facts).decision
    }
}
