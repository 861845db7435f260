//! Events in, messages out.

use serde_json::json;
use switchboard_types::{ApprovalKind, Execution, ExecutionEnd, Outcome, Page, PageBuilder};

use super::*;

fn page(bodies: &[Body]) -> Page {
    let mut page = PageBuilder::new(Seq(1));
    for (at, body) in bodies.iter().enumerate() {
        page.push(Time(100 + at as u64), Some(TurnId(1)), body);
    }
    page.take().unwrap()
}

fn text(text: &str) -> Body {
    Body::Text { text: text.into() }
}

fn prompt(text: &str) -> Body {
    let prompt = Prompt { text: text.to_owned(), context: Vec::new() };
    Body::PromptQueued { name: "m".into(), prompt, position: 0 }
}

fn ended() -> Body {
    Body::TurnEnded { outcome: Outcome::Completed, detail: None }
}

fn call(id: &str, status: ToolStatus) -> ToolCall {
    ToolCall::new(CallId::from(id), format!("call {id}"), status)
}

/// What was handed out, and how many events were behind the cursor then.
fn fold(bodies: &[Body]) -> (Vec<(u64, Role, String)>, Fold) {
    let (mut fold, mut ready) = (Fold::after(Seq::START), Vec::new());
    page(bodies).events().for_each(|event| fold.take(&event, &mut ready));
    (said(ready), fold)
}

fn said(items: Vec<Item>) -> Vec<(u64, Role, String)> {
    let message = |item| match item {
        Item::Message(message) => Some((message.seq.0, message.role, message.text)),
        Item::Used(_) => None,
    };
    items.into_iter().filter_map(message).collect()
}

#[test]
fn a_turn_becomes_prompt_thought_answer_tool_and_answer() {
    let read = ToolCall {
        input: Some(json!({"path": "src/a.rs", "lines": [1, 2], "why": "to see\nit"})),
        ..call("c", ToolStatus::Running)
    };
    let done = ToolCall { output: Some(json!("fn main")), ..call("c", ToolStatus::Completed) };
    let bodies = [
        prompt("look at it"),
        Body::TurnStarted {},
        Body::Thought { text: "hm ".into() },
        Body::Thought { text: "well".into() },
        text("I "),
        text("look."),
        Body::ToolCall { call: read },
        Body::ToolCallUpdate { call: done },
        text("Done."),
        ended(),
    ];
    let (said, fold) = fold(&bodies);
    let wanted = [
        (1, Role::User, "look at it"),
        (3, Role::Thought, "hm well"),
        (5, Role::Assistant, "I look."),
        (7, Role::Tool, "call c\npath: src/a.rs\nlines\n1\n2\nwhy: to see\nit\nfn main"),
        (9, Role::Assistant, "Done."),
    ];
    assert_eq!(said, wanted.map(|(seq, role, text)| (seq, role, text.to_owned())));
    assert_eq!((fold.cursor(), fold.holds()), (Seq(10), false));
}

#[test]
fn whatever_streams_is_held_back_and_can_be_seen_so_far() {
    let bodies = [prompt("p"), text("half a "), Body::ToolCall { call: call("c", ToolStatus::Running) }, text("more")];
    let (ready, fold) = fold(&bodies);
    assert_eq!(ready, [(1, Role::User, "p".to_owned())]);
    assert_eq!((fold.cursor(), fold.read(), fold.holds()), (Seq(1), Seq(4), true));
    let so_far: Vec<String> = said(fold.so_far()).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(so_far, ["half a ", "call c", "more"]);
}

#[test]
fn wherever_the_log_is_cut_the_same_messages_follow_from_its_cursor() {
    let bodies = [
        prompt("p"),
        text("a"),
        Body::ToolCall { call: call("c", ToolStatus::Running) },
        Body::ToolCall { call: call("d", ToolStatus::Running) },
        text("between"),
        Body::ToolCallUpdate { call: call("c", ToolStatus::Completed) },
        prompt("queued"),
        text(" goes on"),
        Body::ToolCallUpdate { call: call("d", ToolStatus::Failed) },
        Body::TurnUsed { tokens: Tokens { input: 3, ..Tokens::default() }, cost: None },
        ended(),
    ];
    let page = page(&bodies);
    let whole = {
        let (mut fold, mut ready) = (Fold::after(Seq::START), Vec::new());
        page.events().for_each(|event| fold.take(&event, &mut ready));
        ready
    };
    for stop in 0..bodies.len() {
        let (mut before, mut ready) = (Fold::after(Seq::START), Vec::new());
        page.events().take(stop).for_each(|event| before.take(&event, &mut ready));
        // The memory is lost; only the cursor and what was handed out remain.
        let mut again = Fold::after(before.cursor());
        page.events().filter(|event| event.seq > before.cursor()).for_each(|event| again.take(&event, &mut ready));
        assert_eq!(ready, whole, "stopped after {stop} events");
    }
}

#[test]
fn a_long_answer_is_several_messages_and_never_more_is_held_than_the_bound() {
    let piece = "é".repeat(20_000);
    let bodies: Vec<Body> = (0..100).map(|_| text(&piece)).collect();
    let (mut fold, mut ready) = (Fold::after(Seq::START), Vec::new());
    for event in page(&bodies).events() {
        fold.take(&event, &mut ready);
        assert!(fold.bytes <= MAX_HELD_BYTES + piece.len());
    }
    ready.extend(fold.so_far());
    let all = said(ready);
    assert!(all.iter().all(|(_, _, text)| text.len() <= MAX_TEXT_BYTES));
    assert_eq!(all.iter().map(|(_, _, text)| text.len()).sum::<usize>(), 100 * piece.len());
    let (one, _) = {
        let (mut fold, mut ready) = (Fold::after(Seq::START), Vec::new());
        page(&[prompt(&"x".repeat(200_000))]).events().for_each(|event| fold.take(&event, &mut ready));
        (said(ready), fold)
    };
    assert_eq!(
        one.iter().map(|(seq, _, text)| (*seq, text.len())).collect::<Vec<_>>(),
        [(1, 65536), (1, 65536), (1, 65536), (1, 3392)]
    );
}

#[test]
fn an_execution_is_found_by_what_it_runs_and_writes_once() {
    let execution = Execution {
        id: "x".into(),
        approval: None,
        kind: ApprovalKind::Command,
        title: "run".to_owned(),
        command: Some("ls -l".to_owned()),
        cwd: None,
        path: None,
        diff: None,
        digest: String::new(),
        unasked: None,
        containment: None,
        call: Some("c".into()),
    };
    let bodies = [
        Body::ToolCall { call: call("c", ToolStatus::Running) },
        Body::ExecutionStarted { execution: Box::new(execution) },
        Body::ExecutionOutput { execution: "x".into(), text: "total ".to_owned() },
        Body::ExecutionOutput { execution: "x".into(), text: "0".to_owned() },
        Body::ExecutionEnded {
            execution: "x".into(),
            title: "run".to_owned(),
            end: ExecutionEnd::Exited { code: 0 },
            output: Some("total 0".to_owned()),
        },
        Body::ToolCallUpdate { call: call("c", ToolStatus::Completed) },
    ];
    let (said, fold) = fold(&bodies);
    assert_eq!(said, [(1, Role::Tool, "call c\nls -l\ntotal 0".to_owned())]);
    assert!(!fold.holds());
}

#[test]
fn what_was_used_is_kept_and_nonsense_is_not() {
    let cost = |amount| Some(Cost { amount, currency: "USD".to_owned() });
    let bodies = [
        Body::Usage { used: 1, size: 2, cost: cost(0.25) },
        Body::Usage { used: 1, size: 2, cost: cost(f64::MAX) },
        Body::Usage { used: 1, size: 2, cost: None },
        Body::TurnUsed { tokens: Tokens { input: 1, output: 2, cached: 3, thought: 4 }, cost: cost(1.5) },
    ];
    let (mut fold, mut ready) = (Fold::after(Seq::START), Vec::new());
    page(&bodies).events().for_each(|event| fold.take(&event, &mut ready));
    let used: Vec<(u64, Option<(i64, SpentOf)>)> = ready
        .iter()
        .map(|item| match item {
            Item::Used(used) => (used.seq.0, used.spent.as_ref().map(|spent| (spent.micros, spent.of))),
            Item::Message(_) => panic!("{item:?}"),
        })
        .collect();
    assert_eq!(used, [(1, Some((250_000, SpentOf::Everything))), (4, Some((1_500_000, SpentOf::Turn)))]);
}
