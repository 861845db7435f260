//! Whatever is heard, in whatever order: nothing panics, one question at a time, every prompt ends once, the conversation makes sense,
//! fits, and can be taken up again.

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_agent::deed::Outcome;
use switchboard_agent::said::{End, Said};
use switchboard_agent::talk::Part;
use switchboard_agent::trouble::TroubleKind;
use switchboard_agent::worker::{Facts, Heard, Limits, Mode, Setup};

use super::room::{Room, call, picture, setup, text, trouble, used};

/// Something that happens.
#[derive(Clone, Debug)]
enum Event {
    Prompt(Vec<Part>),
    Said(Said),
    /// What is waited for: the outcome if a call is open, the words if a question is.
    Fitting(Said, Outcome),
    /// The outcome of a call that is open, or of one that is not.
    Outcome(bool, Outcome),
    Cancel,
    Pass(u64),
    Mode(Mode),
    Facts(Option<u32>, Option<bool>),
    Limits(u32, u64),
}

fn prompts() -> impl Strategy<Value = Vec<Part>> {
    let words = prop_oneof![
        4 => "[a-z ]{0,40}",
        1 => Just("/compact".to_owned()),
        1 => Just("/plan it".to_owned()),
        1 => Just("/help".to_owned()),
        1 => (100usize..20_000).prop_map(|n| "long ".repeat(n / 5)),
    ];
    (words, 0usize..3).prop_map(|(words, pictures)| {
        let mut parts = vec![Part::Text { text: words }];
        parts.extend(std::iter::repeat_n(picture(), pictures / 2));
        parts
    })
}

fn wanted() -> impl Strategy<Value = Said> {
    let name = prop_oneof![
        Just("read_file"),
        Just("list_files"),
        Just("search"),
        Just("edit_file"),
        Just("write_file"),
        Just("run_command"),
        Just("update_plan"),
        Just("nonsense"),
    ];
    let input = prop_oneof![
        4 => Just(json!({"path": "a", "pattern": "x", "old_text": "x", "new_text": "y", "content": "z", "command": "ls",
            "steps": [{"content": "one", "status": "pending"}]})),
        1 => (1usize..6_000).prop_map(|n| json!({"path": "b", "content": "w".repeat(n)})),
        1 => Just(json!({"path": 1})),
        1 => Just(Value::String("{".to_owned())),
    ];
    (name, input).prop_map(|(name, input)| call(name, input))
}

fn ends() -> impl Strategy<Value = Said> {
    let kinds = prop_oneof![
        Just(TroubleKind::NoServer),
        Just(TroubleKind::TooLong),
        Just(TroubleKind::NoTools),
        Just(TroubleKind::NoImages),
        Just(TroubleKind::Busy),
        Just(TroubleKind::BrokenOff),
        Just(TroubleKind::Garbage),
    ];
    prop_oneof![
        6 => Just(Said::End(End::Done)),
        1 => Just(Said::End(End::Cut)),
        1 => Just(Said::End(End::Refused("no".to_owned()))),
        2 => (kinds, proptest::option::of(0u64..70_000)).prop_map(|(kind, after)| trouble(kind, after)),
    ]
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => (0usize..20_000).prop_map(|n| Outcome::Done("x\n".repeat(n / 2))),
        1 => Just(Outcome::Done("x".to_owned())),
        1 => (0usize..20_000, any::<bool>()).prop_map(|(n, late)| {
            Outcome::Ran { output: "o".repeat(n), truncated: late, code: Some(i32::from(late)), late }
        }),
        1 => Just(Outcome::NotThere),
        1 => any::<bool>().prop_map(|stop| Outcome::Denied { why: String::new(), stop }),
        1 => Just(Outcome::Failed("no".to_owned())),
    ]
}

fn fitting() -> impl Strategy<Value = Event> {
    let said = prop_oneof![
        2 => (0usize..2_000).prop_map(|n| text(&"word ".repeat(n / 5))),
        5 => wanted(),
        4 => Just(Said::End(End::Done)),
    ];
    (said, outcomes()).prop_map(|(said, outcome)| Event::Fitting(said, outcome))
}

fn events() -> impl Strategy<Value = Event> {
    let modes = prop_oneof![Just(Mode::Agent), Just(Mode::Plan), Just(Mode::Ask), Just(Mode::Edit)];
    prop_oneof![
        60 => fitting(),
        6 => prompts().prop_map(Event::Prompt),
        6 => (0usize..4_000).prop_map(|n| Event::Said(text(&"word ".repeat(n / 5)))),
        2 => (0usize..4_000).prop_map(|n| Event::Said(Said::Thought("hm ".repeat(n / 3)))),
        8 => wanted().prop_map(Event::Said),
        1 => (0u64..9_000, 0u64..999).prop_map(|(input, output)| Event::Said(used(input, output))),
        6 => ends().prop_map(Event::Said),
        4 => (proptest::bool::weighted(0.95), outcomes()).prop_map(|(open, outcome)| Event::Outcome(open, outcome)),
        1 => Just(Event::Cancel),
        4 => (0u64..100_000).prop_map(Event::Pass),
        1 => modes.prop_map(Event::Mode),
        1 => (proptest::option::of(1_000u32..20_000), any::<Option<bool>>()).prop_map(|(n, can)| Event::Facts(n, can)),
        1 => (0u32..20, 0u64..2_000_000).prop_map(|(rounds, ms)| Event::Limits(rounds, ms)),
    ]
}

fn happen(room: &mut Room, event: Event) -> usize {
    match event {
        Event::Prompt(parts) => {
            room.hear(Heard::Prompt(parts));
            return 1;
        }
        Event::Said(said) => {
            room.hear(Heard::Model(said));
        }
        Event::Fitting(said, outcome) => match room.watch.open.keys().next().cloned() {
            Some(call) => {
                room.hear(Heard::Deed { call, outcome });
            }
            None => {
                room.hear(Heard::Model(said));
            }
        },
        Event::Outcome(open, outcome) => {
            let call =
                room.watch.open.keys().next().filter(|_| open).cloned().unwrap_or_else(|| "call99999".to_owned());
            room.hear(Heard::Deed { call, outcome });
        }
        Event::Cancel => {
            room.hear(Heard::Cancel);
        }
        Event::Pass(ms) => {
            room.now += ms;
            room.hear(Heard::Tick);
        }
        Event::Mode(mode) => room.worker.set_mode(mode),
        Event::Facts(context, can) => {
            let facts = Facts { model: "other".to_owned(), context, tools: can, images: can };
            room.worker.set_facts(facts);
        }
        Event::Limits(rounds, ms) => {
            room.worker.set_limits(Limits { rounds, turn_ms: ms, tool_ms: ms / 4 }, Some(0.5));
        }
    }
    0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_heard_what_always_holds_holds(
        context in 1_500u32..12_000,
        events in proptest::collection::vec(events(), 0..160),
    ) {
        let facts = Facts { context: Some(context), ..setup().facts };
        let mut room = Room::with(Setup { facts, ..setup() }, &[], vec![]);
        room.records = false;
        let mut prompts = 0;
        for event in events {
            prompts += happen(&mut room, event);
            // Something is due as long as something is waited for that need not come.
            if room.worker.is_working() && room.watch.open.is_empty() {
                prop_assert!(room.worker.due().is_some());
            }
        }
        while room.worker.is_working() {
            room.hear(Heard::Cancel);
        }
        prop_assert_eq!(room.watch.ends, prompts);
        room.watch.assert_kept(&room.worker);
    }
}
