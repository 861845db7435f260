//! The order in which everything decides: what is denied, what nothing lifts, what a person has allowed, what a rule or a
//! switch allows, and that all else is asked.

mod commands;
mod edits;

use switchboard_types::{
    Asker, Effect, Facts, Judgement, Mode, Rule, RuleEffect, RuleId, RuleWhat, Severity, ToolName, Trust, Verdict,
};

use crate::policy::{Question, describe};

/// Judges.
#[must_use]
pub fn judge(question: &Question<'_>) -> Judgement {
    match question.facts {
        Facts::Command(facts) => commands::judge(question, facts),
        Facts::Edit(facts) => edits::judge(question, facts),
        Facts::Tool { tool, effect } => judge_tool(question, tool, *effect),
    }
}

/// A decision with why.
struct Decision {
    verdict: Verdict,
    why: Vec<String>,
    rule: Option<RuleId>,
}

impl Decision {
    fn new(verdict: Verdict, why: impl Into<String>) -> Self {
        Self { verdict, why: vec![why.into()], rule: None }
    }

    fn by_rule(verdict: Verdict, rule: &Rule) -> Self {
        let word = match verdict {
            Verdict::Allow => "allows",
            Verdict::Ask => "is about",
            Verdict::Deny => "forbids",
        };
        let why = format!("the rule {} {word} {}", rule.id.as_str(), describe(&rule.what));
        Self { verdict, why: vec![why], rule: Some(rule.id.clone()) }
    }

    /// The whole judgement: why it was decided so, then what was found.
    fn judgement(self, severity: Severity, found: Vec<String>, suggestion: Option<RuleWhat>) -> Judgement {
        const MOST_REASONS: usize = 12;
        let mut reasons: Vec<String> = Vec::new();
        // What was found weighs more than that somebody is to be asked.
        let (first, second) = match self.verdict {
            Verdict::Ask => (found, self.why),
            Verdict::Allow | Verdict::Deny => (self.why, found),
        };
        for reason in first.into_iter().chain(second) {
            if !reasons.contains(&reason) && reasons.len() < MOST_REASONS {
                reasons.push(reason);
            }
        }
        let suggestion = suggestion.filter(|_| self.verdict == Verdict::Ask);
        Judgement { severity, decision: self.verdict, reasons, rule: self.rule, suggestion }
    }
}

/// The first rule of that effect for which this holds.
fn find_rule<'a>(question: &Question<'a>, effect: RuleEffect, fits: impl Fn(&RuleWhat) -> bool) -> Option<&'a Rule> {
    question.rules.iter().copied().find(|rule| rule.effect == effect && fits(&rule.what))
}

/// What trust and mode say; none if they leave it open.
fn by_trust_and_mode(question: &Question<'_>, runs: Runs) -> Option<Decision> {
    if question.trust == Trust::Untrusted {
        return Some(match question.asker {
            Asker::Demo => Decision::new(Verdict::Ask, "you have not trusted this folder, so everything is asked"),
            Asker::Agent | Asker::Person => {
                Decision::new(Verdict::Deny, "you have not trusted this folder; `switchboard trust` does")
            }
        });
    }
    if question.asker == Asker::Person {
        return None;
    }
    let why = match (question.session.mode, runs) {
        (Mode::Agent, _) | (Mode::Edit, Runs::Nothing) => return None,
        (Mode::Plan, _) => "the session is in plan mode: nothing is written or run",
        (Mode::Ask, _) => "the session is in ask mode: nothing is written or run",
        (Mode::Edit, Runs::Something) => "the session is in edit mode: nothing is run",
    };
    Some(Decision::new(Verdict::Deny, why))
}

/// Whether something would run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Something,
    Nothing,
}

fn judge_tool(question: &Question<'_>, tool: &ToolName, effect: Effect) -> Judgement {
    let only_reads = effect == Effect::Reads;
    let severity = if only_reads || question.asker == Asker::Person { Severity::Low } else { Severity::Medium };
    let found = vec![match effect {
        Effect::Reads => format!("{} only reads, as its lender says", tool.as_str()),
        Effect::Writes => format!("{} changes files, as its lender says", tool.as_str()),
        Effect::Runs => format!("{} runs something, as its lender says", tool.as_str()),
        Effect::Acts => format!("{} does whatever the view does that lends it", tool.as_str()),
    }];
    let fits = |what: &RuleWhat| matches!(what, RuleWhat::Tool { tool: named } if named == tool);
    let suggestion = Some(RuleWhat::Tool { tool: tool.clone() });
    let decision = if let Some(rule) = find_rule(question, RuleEffect::Deny, fits) {
        Decision::by_rule(Verdict::Deny, rule)
    } else if question.asker == Asker::Person {
        Decision::new(Verdict::Allow, "you call it yourself, and a view of yours lends it")
    } else if question.trust == Trust::Untrusted {
        return by_trust_and_mode(question, Runs::Something)
            .unwrap_or_else(|| Decision::new(Verdict::Ask, "it is asked"))
            .judgement(severity, found, None);
    } else if only_reads {
        Decision::new(Verdict::Allow, "what only reads is not asked")
    } else if let Some(denied) = by_trust_and_mode(question, Runs::Something) {
        denied
    } else if question.granted {
        Decision::new(Verdict::Allow, "you allowed it for this session")
    } else if let Some(rule) = find_rule(question, RuleEffect::Allow, fits) {
        Decision::by_rule(Verdict::Allow, rule)
    } else {
        Decision::new(Verdict::Ask, "no rule allows it")
    };
    decision.judgement(severity, found, suggestion)
}
