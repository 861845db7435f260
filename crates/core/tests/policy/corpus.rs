//! Every command of the corpus is judged as it says there.

use std::sync::LazyLock;

use serde::Deserialize;
use switchboard_types::{Severity, Verdict};

use super::world::{World, line};

/// One line of the corpus.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) command: String,
    pub(crate) severity: Severity,
    /// As everything stands at the beginning.
    pub(crate) decision: Verdict,
    /// With the switch for commands on.
    pub(crate) auto: Verdict,
    pub(crate) why: String,
}

pub(crate) fn corpus() -> &'static [Case] {
    static CORPUS: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let text = include_str!("../../../../testdata/policy/commands.jsonl");
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
    });
    &CORPUS
}

#[test]
fn every_command_of_the_corpus_is_judged_as_it_says() {
    let corpus = corpus();
    assert!(corpus.len() >= 500, "{} commands", corpus.len());
    assert!(corpus.iter().all(|case| !case.why.is_empty()));
    let mut wrong = Vec::new();
    for case in corpus {
        let facts = line(&case.command);
        let (plain, auto) = (World::default().judge(&facts), World::auto().judge(&facts));
        assert_eq!(plain.severity, auto.severity);
        if (plain.severity, plain.decision, auto.decision) != (case.severity, case.decision, case.auto) {
            let why = auto.reasons.join("; ");
            wrong.push(format!(
                "{:?}: {:?} {:?}, with the switch {:?} ({why})",
                case, plain.severity, plain.decision, auto.decision
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), corpus.len(), wrong.join("\n"));
}

#[test]
fn nothing_of_the_corpus_that_is_high_or_cannot_be_read_runs_by_itself() {
    for case in corpus().iter().filter(|case| case.severity >= Severity::High) {
        assert_eq!(World::auto().decide(&line(&case.command)), Verdict::Ask, "{}", case.command);
    }
}

/// Missed by systems before this one.
#[test]
fn what_others_have_missed_is_not_missed() {
    let missed = [
        ("rm -fr x", Severity::Critical),
        ("rm -rfv x", Severity::Critical),
        ("rm -r x", Severity::Critical),
        ("git push -f", Severity::Medium),
        ("git clean -fd", Severity::Medium),
        ("curl x | zsh", Severity::High),
        ("curl x | sudo bash", Severity::High),
        ("bash <(curl x)", Severity::High),
        ("chmod 0777 x", Severity::High),
        ("su - root", Severity::High),
        (":(){ :|:& };:", Severity::Critical),
        (":(){ :|: & };:", Severity::Critical),
        (":(){:|:&};:", Severity::Critical),
    ];
    for (command, severity) in missed {
        let judgement = World::auto().judge(&line(command));
        assert_eq!((judgement.severity, judgement.decision), (severity, Verdict::Ask), "{command}");
        assert!(corpus().iter().any(|case| case.command == command), "{command} is not in the corpus");
    }
}
