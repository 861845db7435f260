//! The table of who passes what, in Markdown, with the reasons below it. Judges nothing but whether something was known.

use crate::own::OwnReport;
use crate::run::Report;
use crate::trial::{Outcome, Trial};

/// The table begins after this line of a page, and ends before the other.
const BEGIN: &str = "<!-- peers: begin -->";
const END: &str = "<!-- peers: end -->";
/// The same for the table of our own agent.
const OWN_BEGIN: &str = "<!-- own agent: begin -->";
const OWN_END: &str = "<!-- own agent: end -->";

/// The table and the reasons for what does not pass.
pub fn markdown(reports: &[Report], date: &str) -> String {
    let mut text = format!("Tried on {date}, offline, through the host.\n\n| agent | version | memory |");
    for trial in Trial::ALL {
        text += &format!(" {} |", trial.word());
    }
    text += "\n| --- | --- | --- |";
    text += &" --- |".repeat(Trial::ALL.len());
    text.push('\n');
    for report in reports {
        let version = report.peer.packages.first().and_then(|package| package.rsplit('@').next()).unwrap_or_default();
        text += &format!("| {} | {version} | {} MB |", report.peer.title, report.megabytes);
        for (_, outcome) in &report.outcomes {
            text += &match outcome {
                Outcome::Passed(note) if note.is_empty() => " ✓ |".to_owned(),
                Outcome::Passed(note) => format!(" ✓ {note} |"),
                Outcome::Failed(_) => " **✗** |".to_owned(),
                Outcome::Skipped(_) => " – |".to_owned(),
            };
        }
        text.push('\n');
    }
    text + &reasons(reports)
}

fn reasons(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports {
        let mut skipped: Vec<(&str, Vec<&str>)> = Vec::new();
        for (trial, outcome) in &report.outcomes {
            match outcome {
                Outcome::Passed(_) => {}
                Outcome::Failed(why) => {
                    let known = known(report, *trial).map(|known| format!(" ({known})")).unwrap_or_default();
                    text +=
                        &format!("- **{}, {}:** {}{known}\n", report.peer.title, trial.word(), why.replace('\n', " "));
                }
                Outcome::Skipped(why) => match skipped.iter_mut().find(|(said, _)| said == why) {
                    Some((_, trials)) => trials.push(trial.word()),
                    None => skipped.push((why, vec![trial.word()])),
                },
            }
        }
        for (why, trials) in skipped {
            text += &format!("- {}, {}: not tried, {why}\n", report.peer.title, trials.join(", "));
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn known(report: &Report, trial: Trial) -> Option<&'static str> {
    report.peer.known.iter().find(|(of, _)| *of == trial).map(|(_, why)| *why)
}

/// What failed though nothing says that it does.
pub fn surprises(reports: &[Report]) -> Vec<String> {
    let mut found = Vec::new();
    for report in reports {
        for (trial, outcome) in &report.outcomes {
            if let (Outcome::Failed(why), None) = (outcome, known(report, *trial)) {
                found.push(format!("{}, {}: {why}", report.peer.title, trial.word()));
            }
        }
    }
    found
}

/// What came of our own agent with what others have made.
pub fn own_markdown(reports: &[OwnReport], date: &str) -> String {
    let mut text =
        format!("Tried on {date}, offline.\n\n| with | version | tried | result |\n| --- | --- | --- | --- |\n");
    for report in reports {
        let version = report.other.packages().first().and_then(|package| package.rsplit(['@', '=']).next());
        for (what, outcome) in &report.outcomes {
            let result = match outcome {
                Outcome::Passed(note) => format!("✓ {note}"),
                Outcome::Failed(why) => format!("**✗** {}", why.replace('\n', " ")),
                Outcome::Skipped(why) => format!("– {why}"),
            };
            let (title, version) = (report.other.title(), version.unwrap_or_default());
            text += &format!("| {title} | {version} | {what} | {} |\n", result.trim_end().replace('|', "\\|"));
        }
    }
    text
}

/// What failed of it.
pub fn surprises_of_own(reports: &[OwnReport]) -> Vec<String> {
    let failed = |report: &OwnReport| {
        let title = report.other.title();
        let of = report.outcomes.iter().filter_map(move |(what, outcome)| match outcome {
            Outcome::Failed(why) => Some(format!("{title}, {what}: {why}")),
            Outcome::Passed(_) | Outcome::Skipped(_) => None,
        });
        of.collect::<Vec<_>>()
    };
    reports.iter().flat_map(failed).collect()
}

/// Puts the table into a page between its marks; a text without marks is the table alone.
pub fn placed(page: &str, table: &str) -> String {
    between(page, table, BEGIN, END)
}

/// The same for the table of our own agent.
pub fn own_placed(page: &str, table: &str) -> String {
    between(page, table, OWN_BEGIN, OWN_END)
}

fn between(page: &str, table: &str, begin: &str, end: &str) -> String {
    let parts = page.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    match parts {
        Some((before, after)) => format!("{before}{begin}\n\n{table}\n{end}{after}"),
        None => table.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::PEERS;

    fn report(outcome: Outcome) -> Report {
        Report { peer: PEERS[0], outcomes: vec![(Trial::Start, outcome)], megabytes: 70 }
    }

    #[test]
    fn a_failure_stands_in_the_table_and_its_reason_below() {
        let text = markdown(&[report(Outcome::Failed("no end".to_owned()))], "2026-01-01");
        assert!(text.contains("| ACP SDK's example | 0.14.1 | 70 MB | **✗** |"), "{text}");
        assert!(text.ends_with("\n- **ACP SDK's example, start:** no end\n"), "{text}");
    }

    #[test]
    fn only_what_nobody_knew_of_is_a_surprise() {
        let reports = [report(Outcome::Failed("no end".to_owned())), report(Outcome::Passed(String::new()))];
        assert_eq!(surprises(&reports), vec!["ACP SDK's example, start: no end"]);
        let mut known = report(Outcome::Failed("signs in".to_owned()));
        known.peer.known = &[(Trial::Start, "it wants a person")];
        assert_eq!(surprises(&[known]), Vec::<String>::new());
    }

    #[test]
    fn a_page_keeps_what_is_around_the_table() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        assert_eq!(placed(&page, "new\n"), format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(placed("", "new\n"), "new\n");
    }
}
