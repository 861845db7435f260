//! The one judge of everything that may do harm: what is asked, by whom, under which settings and rules, to allow, ask or
//! deny, and why. Pure: looks at no file, asks nobody, remembers nothing.

mod reading;

use switchboard_types::{Asker, Facts, Judgement, Patterns, Rule, SessionPolicy, Severity, Trust, Verdict};

pub use reading::{Reading, Simple, Target, read_argv, read_line};

/// Something that may do harm, and all that decides about it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is known of it.
    pub facts: &'a Facts,
    /// Who asks.
    pub asker: Asker,
    /// What a person has set for the session.
    pub session: &'a SessionPolicy,
    /// The patterns of the settings; the defaults hold if there are none.
    pub patterns: Option<&'a Patterns>,
    /// The rules that hold in the workspace: the workspace's and the user's.
    pub rules: &'a [&'a Rule],
    /// Whether a person has allowed just this for the session.
    pub granted: bool,
    /// Whether a person trusts the workspace.
    pub trust: Trust,
}

/// Judges.
#[must_use]
pub fn judge(question: &Question<'_>) -> Judgement {
    let _ = question;
    Judgement {
        severity: Severity::Medium,
        decision: if question.granted { Verdict::Allow } else { Verdict::Ask },
        reasons: vec!["it may do harm".to_owned()],
        rule: None,
        suggestion: None,
    }
}

/// What a rule is about, in words.
#[must_use]
pub fn describe(what: &switchboard_types::RuleWhat) -> String {
    format!("{what:?}")
}
