//! Commands: what was read, what is known of its programs and files, and whether anything lets it run without a question.

use switchboard_types::{
    CommandFacts, Judgement, Place, ProgramFacts, Rule, RuleEffect, RuleWhat, Severity, TargetFacts, Unasked, Verdict,
};

use super::{Decision, Runs, by_trust_and_mode, edits};
use crate::policy::files::Matcher;
use crate::policy::protected::guard;
use crate::policy::reading::{Reading, Target, Touch, standard_device};
use crate::policy::rules::{Fit, fits_command, fits_edit, is_many_in_one, narrow};
use crate::policy::severity::{Cover, Finding, is_harmless_variable, is_text_only, weigh};
use crate::policy::text::{program_name, shown};
use crate::policy::{Question, files, read};

/// Judges a command.
pub(super) fn judge(question: &Question<'_>, facts: &CommandFacts) -> Judgement {
    let reading = read(facts);
    let text = facts.line.clone().unwrap_or_else(|| facts.argv.join(" "));
    let mut case = Case {
        question,
        facts,
        reading: &reading,
        found: weigh(&reading, &text, &facts.env),
        patterns: None,
        bars: Vec::new(),
        protected: false,
    };
    case.look_at_targets();
    case.look_at_words();
    case.look_for_bars();
    let severity = case.severity();
    let decision = case.decide(severity);
    let suggestion = case.suggest(severity);
    let reasons = case.reasons(severity);
    decision.judgement(severity, reasons, suggestion)
}

/// Everything about one command while it is judged.
struct Case<'a> {
    question: &'a Question<'a>,
    facts: &'a CommandFacts,
    reading: &'a Reading,
    found: Vec<Finding>,
    /// The patterns, once they are needed.
    patterns: Option<Matcher>,
    /// Why neither a rule nor a switch can allow it.
    bars: Vec<String>,
    /// It touches what is protected.
    protected: bool,
}

impl Case<'_> {
    fn severity(&self) -> Severity {
        self.found.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Medium)
    }

    fn bar(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.bars.contains(&why) {
            self.bars.push(why);
        }
    }

    /// The files that it names, as they were looked up.
    fn look_at_targets(&mut self) {
        let (targets, known) = (&self.reading.targets, &self.facts.targets);
        if targets.len() != known.len() || targets.iter().zip(known).any(|(read, known)| read.path != known.written) {
            self.bar("the files that it names were not looked up");
        }
        for (at, target) in targets.iter().enumerate() {
            self.look_at(target, known.get(at));
        }
    }

    fn look_at(&mut self, target: &Target, known: Option<&TargetFacts>) {
        let writes = target.touch == Touch::Writes;
        let place = known.map(|known| &known.place);
        // A name that is protected stays so, wherever a link leads to now.
        let guarded = guard(&target.path).or(match place {
            Some(Place::Inside(path) | Place::Outside(path)) => guard(path),
            Some(Place::Unknown) | None => None,
        });
        let name = shown(&target.path);
        if writes && guarded.is_some() {
            self.protected = true;
            let (severity, why) = files::severity(&target.path);
            self.found.push(Finding::new(
                severity.max(Severity::High),
                Cover::Rule,
                format!("it writes {name}: {why}"),
            ));
        }
        match place {
            Some(Place::Inside(path)) if writes => self.look_at_write(path, &name),
            Some(Place::Inside(_)) => {}
            Some(Place::Outside(path)) if standard_device(path) => {}
            Some(Place::Outside(path)) => self.look_at_outside(path, target.touch, &name),
            Some(Place::Unknown) | None => self.bar(format!("nobody can say where {name} leads")),
        }
    }

    fn look_at_write(&mut self, path: &str, name: &str) {
        let (severity, why) = files::severity(path);
        let asks = !matches!(
            self.patterns.get_or_insert_with(|| edits::matcher(self.question)).decide(path),
            Some(Unasked::May)
        );
        if asks || severity >= Severity::High {
            self.found.push(Finding::new(severity, Cover::Rule, format!("it writes {name}: {why}")));
            self.bar(format!("{name} is not changed without a question"));
        } else {
            self.found.push(Finding::new(Severity::Medium, Cover::Switch, format!("it changes {name}")));
        }
    }

    fn look_at_outside(&mut self, path: &str, touch: Touch, name: &str) {
        let is_passing = ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| path.starts_with(folder));
        match touch {
            Touch::Writes => {
                let severity = if is_passing { Severity::Medium } else { Severity::High };
                self.found.push(Finding::new(
                    severity,
                    Cover::Rule,
                    format!("it writes {name}, outside the workspace"),
                ));
                self.bar("it writes outside the workspace");
            }
            Touch::Reads => {
                let why = format!("it reads {name}, outside the workspace");
                self.found.push(Finding::new(Severity::Medium, Cover::Rule, why));
            }
        }
    }

    /// Protected names among the words of programs that may do anything with them.
    fn look_at_words(&mut self) {
        for simple in &self.reading.commands {
            let Some((first, args)) = simple.words.split_first() else { continue };
            if is_text_only(&program_name(first), args) {
                continue;
            }
            if let Some(word) = args.iter().find(|word| guard(word.rsplit(['=', '@']).next().unwrap_or(word)).is_some())
            {
                self.protected = true;
                self.found.push(Finding::new(
                    Severity::High,
                    Cover::Rule,
                    format!("it names {}, which is protected", shown(word)),
                ));
            }
        }
    }

    /// All that keeps rules and switches from allowing it.
    fn look_for_bars(&mut self) {
        for doubt in &self.reading.doubts {
            self.bar(doubt.clone());
        }
        for (name, _) in &self.facts.env {
            if !is_harmless_variable(name) {
                self.bar(format!("it sets {}, which may change what runs", shown(name)));
            }
        }
        if !matches!(self.facts.cwd_place, Place::Inside(_)) {
            self.bar("it runs outside the workspace's folder");
        }
        if self.facts.programs.len() != self.reading.commands.len() {
            self.bar("the programs that it names were not looked up");
        }
        for (at, simple) in self.reading.commands.iter().enumerate() {
            let written = simple.words.first().map_or("", String::as_str);
            let why = match self.facts.programs.get(at) {
                Some(program) if program.name != written => {
                    Some("the programs that it names were not looked up".to_owned())
                }
                Some(program) => stranger(program),
                None => None,
            };
            if let Some(why) = why {
                self.bar(why);
            }
        }
    }

    fn decide(&self, severity: Severity) -> Decision {
        if let Some(rule) = self.denied() {
            return Decision::by_rule(Verdict::Deny, rule);
        }
        if let Some(decision) = by_trust_and_mode(self.question, Runs::Something) {
            return decision;
        }
        if severity >= Severity::Critical {
            return Decision::new(Verdict::Ask, "what is critical is asked each time, whatever is set");
        }
        if self.protected {
            return Decision::new(
                Verdict::Ask,
                "it touches what is protected: you are asked each time, whatever is set",
            );
        }
        if self.question.granted {
            return Decision::new(Verdict::Allow, "you allowed it for this session");
        }
        if !self.bars.is_empty() {
            return Decision { verdict: Verdict::Ask, why: self.bars.clone(), rule: None };
        }
        if let Some(rule) = self.allowed_by_rules(severity) {
            return Decision::by_rule(Verdict::Allow, rule);
        }
        let covered = severity <= Severity::Medium && self.found.iter().all(|finding| finding.cover == Cover::Switch);
        match (self.question.session.auto_commands, covered) {
            (true, true) => Decision::new(Verdict::Allow, "the session's switch for commands allows it"),
            (true, false) => Decision::new(Verdict::Ask, "the session's switch for commands does not go that far"),
            (false, _) => Decision::new(Verdict::Ask, "commands are asked unless a rule allows them"),
        }
    }

    /// A rule that forbids any program or file in it.
    fn denied(&self) -> Option<&Rule> {
        let forbids = |rule: &&&Rule| {
            let runs = self.reading.commands.iter().zip(&self.facts.programs).any(|(simple, program)| {
                let args = simple.words.get(1..).unwrap_or_default();
                let path = program.path.as_deref().unwrap_or(&program.name);
                fits_command(&rule.what, path, args, &self.facts.cwd).is_some()
            });
            let writes = || {
                let written = self
                    .reading
                    .targets
                    .iter()
                    .zip(&self.facts.targets)
                    .filter(|(target, _)| target.touch == Touch::Writes);
                written
                    .map(|(_, known)| &known.place)
                    .any(|place| matches!(place, Place::Inside(path) if fits_edit(&rule.what, path)))
            };
            rule.effect == RuleEffect::Deny && (runs || writes())
        };
        self.question.rules.iter().find(forbids).copied()
    }

    /// The rule that allows a step of it, if one does.
    fn rule_for(&self, command: usize, severity: Severity) -> Option<&Rule> {
        let wanted = if severity >= Severity::High { Fit::Exact } else { Fit::Open };
        let words = &self.reading.commands.get(command)?.words;
        let program = self.facts.programs.get(command)?.path.as_deref().filter(|path| !is_many_in_one(path))?;
        let fits = |rule: &&&Rule| {
            let fit = fits_command(&rule.what, program, words.get(1..).unwrap_or_default(), &self.facts.cwd);
            rule.effect == RuleEffect::Allow && fit.is_some_and(|fit| fit >= wanted)
        };
        self.question.rules.iter().find(fits).copied()
    }

    /// The first of the rules if together they allow every step.
    fn allowed_by_rules(&self, severity: Severity) -> Option<&Rule> {
        let rules: Option<Vec<&Rule>> =
            self.reading.steps.iter().map(|step| self.rule_for(step.command, severity)).collect();
        rules.and_then(|rules| rules.first().copied())
    }

    /// The one rule that is missing, if there is just one and it would be enough.
    fn suggest(&self, severity: Severity) -> Option<RuleWhat> {
        if severity >= Severity::Critical || self.protected || !self.bars.is_empty() {
            return None;
        }
        let mut missing = self.reading.steps.iter().filter(|step| self.rule_for(step.command, severity).is_none());
        let (Some(only), None) = (missing.next(), missing.next()) else { return None };
        let words = &self.reading.commands.get(only.command)?.words;
        let program = self.facts.programs.get(only.command)?.path.as_deref().filter(|path| !is_many_in_one(path))?;
        Some(narrow(program, words.get(1..).unwrap_or_default(), &self.facts.cwd))
    }

    /// What was found, the weightiest first.
    fn reasons(&self, severity: Severity) -> Vec<String> {
        let mut found: Vec<&Finding> = self.found.iter().collect();
        found.sort_by(|one, other| other.severity.cmp(&one.severity).then(other.cover.cmp(&one.cover)));
        let notable = |finding: &&&Finding| finding.severity == severity || finding.severity >= Severity::High;
        found.iter().filter(notable).map(|finding| finding.why.clone()).collect()
    }
}

/// Why a program cannot be taken for what its name says.
fn stranger(program: &ProgramFacts) -> Option<String> {
    let name = shown(&program.name);
    match (&program.path, &program.place) {
        (None, _) => Some(format!("there is no program {name}")),
        (Some(_), Place::Inside(_)) => {
            Some(format!("{name} lies in the workspace, where whoever works there can change it"))
        }
        (Some(_), Place::Unknown) => Some(format!("nobody can say where {name} lies")),
        (Some(_), Place::Outside(_)) => None,
    }
}
