//! Changes of files: patterns, protected paths, more than one name.

use switchboard_types::{Asker, EditFacts, Judgement, Place, RuleEffect, RuleWhat, Severity, Unasked, Verdict};

use super::{Decision, Runs, by_trust_and_mode, find_rule};
use crate::policy::files::Matcher;
use crate::policy::protected::guard;
use crate::policy::{Question, default_patterns, files, rules};

/// Judges a change of a file.
pub(super) fn judge(question: &Question<'_>, facts: &EditFacts) -> Judgement {
    let path = match &facts.place {
        Place::Inside(path) => path.as_str(),
        Place::Outside(_) => {
            let denied = Decision::new(Verdict::Deny, "the file is outside the workspace");
            return denied.judgement(Severity::High, Vec::new(), None);
        }
        Place::Unknown => {
            let decision = by_trust_and_mode(question, Runs::Nothing)
                .unwrap_or_else(|| Decision::new(Verdict::Ask, "nobody can say where the file really is"));
            return decision.judgement(Severity::High, Vec::new(), None);
        }
    };
    let (severity, why) = files::severity(path);
    let mut found = vec![why.to_owned()];
    if facts.names > 1 {
        found.push(format!("the file has {} names: a change shows in all of them", facts.names));
    }
    let fits = |what: &RuleWhat| rules::fits_edit(what, path);
    let can_be_ruled = guard(path).is_none() && severity < Severity::Critical && facts.names <= 1;
    let suggestion = can_be_ruled.then(|| RuleWhat::Edit { glob: files::exactly(path) });
    let decision = if let Some(rule) = find_rule(question, RuleEffect::Deny, fits) {
        Decision::by_rule(Verdict::Deny, rule)
    } else if let Some(decision) = by_trust_and_mode(question, Runs::Nothing) {
        decision
    } else if guard(path).is_some() {
        Decision::new(Verdict::Ask, "the file is protected: you are asked each time, whatever is set")
    } else if severity >= Severity::Critical {
        Decision::new(Verdict::Ask, "what is critical is asked each time, whatever is set")
    } else if question.granted {
        Decision::new(Verdict::Allow, "you allowed it for this session")
    } else if facts.names > 1 {
        Decision::new(Verdict::Ask, "files with more than one name are asked")
    } else if let Some(rule) = find_rule(question, RuleEffect::Allow, fits) {
        Decision::by_rule(Verdict::Allow, rule)
    } else {
        by_patterns(question, path)
    };
    decision.judgement(severity, found, suggestion)
}

fn by_patterns(question: &Question<'_>, path: &str) -> Decision {
    match matcher(question).decide(path) {
        // It is there to show how you are asked.
        Some(Unasked::May) if question.asker == Asker::Demo => {
            Decision::new(Verdict::Ask, "the demo agent changes nothing without a question")
        }
        Some(Unasked::May) => Decision::new(Verdict::Allow, "the patterns let this file be changed without a question"),
        _ if question.session.auto_edits => {
            Decision::new(Verdict::Allow, "the session's switch for edits allows what the patterns would ask about")
        }
        Some(Unasked::MayNot) => Decision::new(Verdict::Ask, "the patterns ask about files of this name"),
        None => Decision::new(Verdict::Ask, "no pattern is about this file"),
    }
}

/// The patterns that hold, made ready: the session's, else the settings', else the defaults.
pub(super) fn matcher(question: &Question<'_>) -> Matcher {
    match question.session.patterns.as_ref().or(question.patterns) {
        Some(patterns) => Matcher::new(patterns),
        None => Matcher::new(&default_patterns()),
    }
}
