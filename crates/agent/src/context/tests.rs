//! Claims about estimates, folding and cutting, on whatever conversation there may be.

use proptest::prelude::*;

use super::*;
use crate::talk::{Arguments, ToolCall};

fn person(text: &str) -> Message {
    Message::User { parts: vec![Part::Text { text: text.to_owned() }] }
}

fn round(n: usize, results: usize, bytes: usize) -> Vec<Message> {
    let id = |k: usize| format!("call{n}-{k}");
    let call =
        |k| ToolCall { id: id(k), name: "search".to_owned(), arguments: Arguments::Object(serde_json::Map::new()) };
    let calls = (0..results).map(call).collect();
    let mut round = vec![Message::Assistant { text: "look".to_owned(), thought: "hm".repeat(bytes / 8), calls }];
    round.extend((0..results).map(|k| Message::Tool {
        call: id(k),
        name: "search".to_owned(),
        text: "x".repeat(bytes),
        failed: false,
    }));
    round
}

#[test]
fn a_cut_keeps_the_last_prompt_and_the_newest_rounds() {
    let mut messages = vec![person("old"), person("new")];
    for n in 0..4 {
        messages.extend(round(n, 1, 3_000));
    }
    let budget = Budget::new(Some(8_192));
    let cut = cut(&messages, &budget, 0).expect("a cut");
    put_summary(&mut messages, cut, "notes");
    let expected =
        [vec![person(&format!("{SUMMARY_MARK}\nnotes")), person("new")], round(2, 1, 3_000), round(3, 1, 3_000)];
    assert_eq!(messages, expected.concat());
}

#[test]
fn what_the_server_counts_is_believed_when_it_is_more() {
    let mut budget = Budget::new(Some(8_192));
    budget.learn(1_000, 100);
    assert_eq!(budget.corrected(1_000), 1_000);
    budget.learn(1_000, 1_500);
    budget.learn(900, 1_000);
    assert_eq!(budget.corrected(1_000), 1_500);
    budget.learn(2_000, 2_400);
    assert_eq!(budget.corrected(1_000), 1_200);
    budget.learn(1_000, u64::MAX);
    assert_eq!(budget.corrected(1_000), 3_000);
}

#[test]
fn a_torn_conversation_is_made_whole() {
    let mut torn = round(0, 3, 10);
    torn.remove(2);
    let whole = repaired(torn);
    assert_eq!(whole.len(), 4);
    assert!(matches!(&whole[2], Message::Tool { call, text, .. } if call == "call0-1" && text.starts_with("unknown")));
}

proptest! {
    #[test]
    fn folding_touches_only_what_is_old_and_keeps_every_result_in_its_place(
        rounds in proptest::collection::vec((1usize..4, 0usize..6_000), 1..12), window in 2_048u32..20_000,
    ) {
        let mut messages = vec![person("do")];
        for (n, (results, bytes)) in rounds.iter().enumerate() {
            messages.extend(round(n, *results, *bytes));
        }
        let before = messages.clone();
        let budget = Budget::new(Some(window));
        fold(&mut messages, 500, &budget);
        prop_assert_eq!(repaired(messages.clone()), messages.clone());
        let newest = cut::newest_round(&before);
        prop_assert_eq!(&messages[newest..], &before[newest..]);
        prop_assert!(size(&messages, 500).tokens <= size(&before, 500).tokens);
        // A second time changes nothing more.
        let once = messages.clone();
        fold(&mut messages, 500, &budget);
        prop_assert_eq!(messages, once);
    }

    #[test]
    fn a_summary_or_none_leaves_a_conversation_that_makes_sense(
        rounds in proptest::collection::vec((0usize..4, 0usize..3_000), 0..12), window in 2_048u32..20_000, old in 0usize..3,
    ) {
        let mut messages: Vec<Message> = (0..=old).map(|n| person(&n.to_string())).collect();
        for (n, (results, bytes)) in rounds.iter().enumerate() {
            messages.extend(round(n, *results, *bytes));
        }
        let budget = Budget::new(Some(window));
        if let Some(cut) = cut(&messages, &budget, 0) {
            prop_assert!(transcript(&messages, cut, 2_000).len() < 2_200);
            drop_prefix(&mut messages, cut);
            prop_assert_eq!(repaired(messages.clone()), messages.clone());
            prop_assert!(messages.contains(&person(&old.to_string())));
        }
    }
}
