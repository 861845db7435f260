//! The storm's independent checker, for single tests: whatever it finds fails them.

use std::path::Path;

use serde_json::Value;
use switchboard_storm::check::{Judge, Log, Reach, Shown, read_live};

/// The log of the session that shows a tab, from the file alone.
pub(crate) fn log_of_tab(database: &Path, tab: &str) -> Log {
    let read = read_live(database).unwrap();
    assert_eq!(read.findings, vec![], "the file is right");
    read.of_tab(tab).unwrap_or_else(|| panic!("the file knows no tab {tab}")).clone()
}

/// Holds a journal (indexed messages of one tab, in the order in which they were shown) against the whole log: each message
/// is the event of its index, in order, once, and nothing is left out that a view must see.
pub(crate) fn check_whole(log: &Log, journal: &[Value]) {
    check_after(log, 0, journal);
}

/// The same for a journal that begins after an event.
pub(crate) fn check_after(log: &Log, after: u64, journal: &[Value]) {
    let shown = |message: &Value| Shown { index: message["index"].as_u64().unwrap(), raw: message.to_string() };
    let shown: Vec<Shown> = journal.iter().map(shown).collect();
    let tab = log.tab.as_deref().expect("an open tab");
    assert_eq!(Judge::new(tab, log).hold(after, &shown, Reach::End), vec![]);
}
