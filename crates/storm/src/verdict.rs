//! After each death: reads the file and holds everything against it that anybody was shown or asked. Changes nothing but
//! what the world remembers of the file.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::check::{self, Ends, Finding, Judge, Reach, Read};
use crate::host::Trouble;
use crate::life::Lived;
use crate::view::Journal;
use crate::world::World;

/// Holds a life against the file that it left.
pub(crate) fn judge(world: &mut World, lived: &Lived, ends: Ends) -> Result<Vec<Finding>, Trouble> {
    let read = check::read_dead(&world.place.database())?;
    let mut findings = lived.findings.clone();
    findings.extend(read.findings.iter().cloned());
    findings.extend(world.history.follow(&read));
    for log in read.logs.values() {
        findings.extend(check::turns(log, ends));
    }
    findings.extend(check::asked(read.logs.values(), &world.place.account()));
    let traces = world.place.traces();
    findings.extend(check::runs(read.logs.values(), &traces, ends));
    world.tally.runs = world.tally.runs.max(traces.lines().count() as u64);
    findings.extend(journals(world, &read, lived));
    findings.extend(lived.journals.iter().flat_map(|(_, journal)| oddities(world, journal)));
    if ends == Ends::ExactlyOnce {
        findings.extend(unheard(world, &read));
    }
    world.tally.looks += 1;
    world.tally.packed += u64::from(read.segments > 0);
    for (_, journal) in &lived.journals {
        world.tally.journals += 1;
        world.tally.bytes += journal.bytes;
        world.tally.events += journal.shown.values().map(|shown| shown.len() as u64).sum::<u64>();
    }
    Ok(findings)
}

fn journals(world: &World, read: &Read, lived: &Lived) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut judges: BTreeMap<&str, Judge<'_>> = BTreeMap::new();
    for (role, journal) in &lived.journals {
        for (tab, shown) in &journal.shown {
            let Some(after) = journal.after.get(tab) else {
                let what = format!("{tab}: shown to the {role:?} view, which has no seat there");
                findings.push(Finding::Seen(what));
                continue;
            };
            let closed = || world.history.session_of(tab).and_then(|session| read.logs.get(&session));
            let Some(log) = read.of_tab(tab).or_else(closed) else {
                findings.push(Finding::NoLog { tab: tab.clone(), shown: shown.len() });
                continue;
            };
            let judge = judges.entry(tab).or_insert_with(|| Judge::new(tab, log));
            findings.extend(judge.hold(*after, shown, Reach::Anywhere));
        }
    }
    findings
}

/// Nothing was lost and nothing is refused in a storm, so nobody must be told that it is; but whoever asks for a tab that
/// was closed is told so.
fn oddities(world: &World, journal: &Journal) -> Vec<Finding> {
    let is_closed = |text: &String| {
        let told: Value = serde_json::from_str(text).unwrap_or_default();
        let tab = told["tabId"].as_str().unwrap_or_default();
        told["error"]["code"] == "unknown_tab" && world.closing.contains(tab)
    };
    // Whoever answers a question that died with its host, or that is answered, is told so.
    let is_late = |text: &String| {
        let told: Value = serde_json::from_str(text).unwrap_or_default();
        let message = told["error"]["message"].as_str().unwrap_or_default();
        message.contains("the answer stands") || message.contains("no such approval is open")
    };
    let odd = journal.odd.iter().filter(|text| !is_closed(text) && !is_late(text));
    let odd = odd.map(|text| Finding::Seen(format!("a view was told {text}")));
    let hidden = journal.while_hidden.iter();
    odd.chain(hidden.map(|text| Finding::Seen(format!("a hidden view was shown {text}")))).collect()
}

/// Prompts that were sent until somebody confirmed them, and yet are in no log.
fn unheard(world: &World, read: &Read) -> Vec<Finding> {
    let logged: Vec<&str> =
        read.logs.values().flat_map(|log| log.turns.iter().map(|turn| turn.name.as_str())).collect();
    let open = world.sent.values().filter(|prompt| !world.closing.contains(&prompt.tab));
    open.filter(|prompt| !logged.contains(&prompt.name.as_str()))
        .map(|prompt| Finding::Seen(format!("the prompt `{}` was sent, but is in no log", prompt.name)))
        .collect()
}
