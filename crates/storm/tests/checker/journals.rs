//! Journals of views that were lied to.

use serde_json::{Value, json};
use switchboard_storm::check::{Finding, Judge, Reach, Shown};

use super::doctored::{TAB, journal, log, shown};

fn held(after: u64, journal: &[Shown], reach: Reach) -> Vec<Finding> {
    let log = log();
    Judge::new(TAB, &log).hold(after, journal, reach)
}

fn tab() -> String {
    TAB.to_owned()
}

#[test]
fn a_journal_that_is_right_has_no_findings_from_wherever_it_begins() {
    let whole = journal();
    assert_eq!(held(0, &whole, Reach::End), vec![]);
    assert_eq!(held(6, &whole[6..], Reach::End), vec![]);
    assert_eq!(held(3, &whole[3..5], Reach::Anywhere), vec![]);
    assert_eq!(held(0, &[], Reach::Anywhere), vec![]);
    assert_eq!(held(12, &[], Reach::End), vec![]);
}

#[test]
fn a_lost_event_is_found_in_the_midst_at_the_seat_and_at_the_end() {
    let mut journal = journal();
    journal.remove(4);
    assert_eq!(held(0, &journal, Reach::Anywhere), vec![Finding::Lost { tab: tab(), from: 5, to: 5 }]);
    let from_the_seat = held(2, &super::doctored::journal()[3..], Reach::Anywhere);
    assert_eq!(from_the_seat, vec![Finding::Lost { tab: tab(), from: 3, to: 3 }]);
    assert_eq!(
        held(0, &super::doctored::journal()[7..], Reach::End),
        vec![Finding::Lost { tab: tab(), from: 1, to: 7 }]
    );
    journal = super::doctored::journal();
    journal.pop();
    assert_eq!(held(0, &journal, Reach::Anywhere), vec![]);
    assert_eq!(held(0, &journal, Reach::End), vec![Finding::Lost { tab: tab(), from: 12, to: 12 }]);
}

#[test]
fn a_doubled_event_is_found_at_once_later_and_before_the_seat() {
    let doubled = |index| vec![Finding::Doubled { tab: tab(), index }];
    let mut journal = journal();
    journal.insert(4, journal[3].clone());
    assert_eq!(held(0, &journal, Reach::End), doubled(4));
    journal = super::doctored::journal();
    journal.push(journal[3].clone());
    assert_eq!(held(0, &journal, Reach::End), doubled(4));
    assert_eq!(held(4, &super::doctored::journal()[3..], Reach::End), doubled(4));
}

#[test]
fn events_in_another_order_are_found_and_not_taken_for_lost_ones() {
    let mut journal = journal();
    journal.swap(3, 4);
    assert_eq!(held(0, &journal, Reach::End), vec![Finding::Reordered { tab: tab(), index: 4, after: 5 }]);
}

#[test]
fn a_changed_text_name_or_field_is_found() {
    let changes: [(usize, &str, Value); 5] = [
        (4, "chunk", json!("2")),
        (4, "messageId", json!("m2")),
        (6, "reason", json!("failed")),
        (1, "text", json!("demo: fast 4")),
        (0, "title", json!("one field too many")),
    ];
    for (at, field, value) in changes {
        let mut journal = journal();
        let mut message: Value = serde_json::from_str(&journal[at].raw).unwrap();
        let logged = message.to_string();
        message[field] = value;
        journal[at] = shown(&message);
        let expected = Finding::Changed {
            tab: tab(),
            index: journal[at].index,
            shown: message.to_string(),
            logged: logged.clone(),
        };
        assert_eq!(held(0, &journal, Reach::End), vec![expected]);
    }
}

#[test]
fn the_same_index_with_another_text_on_a_second_link_is_found() {
    let (log, right) = (log(), journal());
    let mut judge = Judge::new(TAB, &log);
    assert_eq!(judge.hold(0, &right, Reach::End), vec![]);
    let mut wrong = right.clone();
    wrong[3].raw = wrong[3].raw.replace("1 ", "7 ");
    let findings = judge.hold(0, &wrong, Reach::End);
    assert!(matches!(findings.as_slice(), [Finding::Changed { index: 4, .. }]), "{findings:?}");
}

#[test]
fn what_was_shown_but_is_not_in_the_file_is_found() {
    let mut log = log();
    log.records.truncate(9);
    let findings = Judge::new(TAB, &log).hold(0, &journal(), Reach::Anywhere);
    let too_early = |index| Finding::NotDurable { tab: tab(), index, head: 9 };
    assert_eq!(findings, vec![too_early(10), too_early(12)]);
}

#[test]
fn an_event_that_is_for_no_view_is_found_if_it_is_shown() {
    let mut journal = journal();
    journal.insert(10, shown(&json!({"type": "cancel-asked", "tabId": TAB, "index": 11})));
    let findings = held(0, &journal, Reach::End);
    assert!(matches!(findings.as_slice(), [Finding::Changed { index: 11, .. }]), "{findings:?}");
}
