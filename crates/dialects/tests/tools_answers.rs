//! What holds for the answers of the dialect `tools`, whatever is asked and whenever it is over: one for each request, and those
//! without an id in the order of the requests. Never names an example but for the bounds.

#![expect(clippy::unwrap_used, reason = "all of this is test code")]

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_dialects::view::tools::MAX_OPEN_REQUESTS;
use switchboard_dialects::view::{Tools, ViewDialect};
use switchboard_types::{CallId, Command, RequestNo, Time, Told, ToolOutcome};

/// A link, with what was asked and what was answered, each by a number of the test's own.
#[derive(Default)]
struct Link {
    dialect: Tools,
    /// The host's numbers of open requests, each with ours.
    open: Vec<(RequestNo, u64)>,
    asked: u64,
    unnamed: Vec<u64>,
    named: Vec<u64>,
    heard: Vec<Value>,
}

impl Link {
    fn ask(&mut self, mut message: Value, named: bool) {
        self.asked += 1;
        let number = self.asked;
        if named {
            message["requestId"] = json!(number);
            self.named.push(number);
        } else {
            self.unnamed.push(number);
        }
        match self.dialect.read(Time(0), message.to_string().as_bytes()) {
            Ok(Command::CallTools { request, .. }) => self.open.push((request, number)),
            Ok(other) => panic!("{other:?}"),
            Err(reject) => self.dialect.refuse(Time(0), &reject, &mut |message| {
                self.heard.push(serde_json::from_slice(message).unwrap());
            }),
        }
    }

    fn call(&mut self, named: bool) {
        let name = format!("t{}", self.asked + 1);
        self.ask(json!({"type": "EXECUTE_TOOL", "request": {"toolName": name}}), named);
    }

    /// Wrong in a way that its answer can be known by.
    fn wrong(&mut self, named: bool) {
        let name = format!("w{}", self.asked + 1);
        self.ask(json!({"type": name}), named);
    }

    fn end(&mut self, at: usize, bytes: usize) {
        let (request, number) = self.open.remove(at);
        let data = json!({"number": number, "filler": "x".repeat(bytes)});
        let outcome = ToolOutcome { call: CallId::from("c"), result: Ok(data), duration_ms: 1, metadata: None };
        let told = Told::ToolsCalled { request, outcomes: Ok(vec![outcome]) };
        // A second one changes nothing.
        for _ in 0..2 {
            self.dialect
                .write(Time(0), &told, &mut |message| self.heard.push(serde_json::from_slice(message).unwrap()));
        }
    }

    /// Which request an answer belongs to, as far as it says so itself.
    fn number(answer: &Value) -> Option<u64> {
        let wrong = answer["error"]["message"].as_str().and_then(|text| text.split("\"w").nth(1));
        let wrong = wrong.and_then(|rest| rest.split('"').next()).and_then(|digits| digits.parse().ok());
        answer["result"]["data"]["number"].as_u64().or(wrong)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Call { named: bool },
    Wrong { named: bool },
    End { which: prop::sample::Index },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<bool>().prop_map(|named| Step::Call { named }),
        any::<bool>().prop_map(|named| Step::Wrong { named }),
        any::<prop::sample::Index>().prop_map(|which| Step::End { which }),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    #[test]
    fn every_request_gets_one_answer_and_those_without_an_id_come_in_order(steps in steps(), rest in any::<bool>()) {
        let mut link = Link::default();
        for step in steps {
            match step {
                Step::Call { named } => link.call(named),
                Step::Wrong { named } => link.wrong(named),
                Step::End { which } if !link.open.is_empty() => link.end(which.index(link.open.len()), 0),
                Step::End { .. } => {}
            }
        }
        while !link.open.is_empty() {
            link.end(if rest { 0 } else { link.open.len() - 1 }, 0);
        }
        let (named, unnamed): (Vec<&Value>, Vec<&Value>) =
            link.heard.iter().partition(|answer| answer.get("requestId").is_some());
        let mut ids: Vec<u64> = named.iter().map(|answer| answer["requestId"].as_u64().unwrap()).collect();
        for answer in &named {
            prop_assert_eq!(Link::number(answer), answer["requestId"].as_u64());
        }
        ids.sort_unstable();
        prop_assert_eq!(&ids, &link.named);
        let order: Vec<u64> = unnamed.iter().map(|answer| Link::number(answer).unwrap()).collect();
        prop_assert_eq!(&order, &link.unnamed);
    }
}

#[test]
fn more_open_requests_than_the_bound_are_refused_in_their_place() {
    let mut link = Link::default();
    (0..MAX_OPEN_REQUESTS).for_each(|_| link.call(false));
    assert_eq!((link.open.len(), link.heard.len()), (MAX_OPEN_REQUESTS, 0));
    for at in 0..10_000 {
        if at % 2 == 0 { link.call(false) } else { link.wrong(false) }
    }
    assert_eq!((link.open.len(), link.heard.len()), (MAX_OPEN_REQUESTS, 0), "all of them wait for their place");
    link.call(true);
    assert_eq!(link.heard.len(), 1, "with an id there is no place to wait for");
    assert_eq!(link.heard[0]["error"]["code"], "VALIDATION_ERROR");
    assert!(link.heard[0]["error"]["message"].as_str().unwrap().contains("1024 requests"));
    (0..MAX_OPEN_REQUESTS).for_each(|_| link.end(0, 0));
    assert_eq!(link.heard.len(), 1 + MAX_OPEN_REQUESTS + 10_000);
    link.call(false);
    assert_eq!(link.open.len(), 1, "and then there is room again");
}

#[test]
fn an_answer_that_is_too_large_to_wait_is_replaced_and_says_so() {
    let mut link = Link::default();
    (0..10).for_each(|_| link.call(false));
    let most = 8 * 1024 * 1024 - 100;
    (1..10).for_each(|_| link.end(1, most));
    assert_eq!(link.heard.len(), 0);
    link.end(0, most);
    let whole = link.heard.iter().filter(|answer| answer["result"]["success"] == true).count();
    assert_eq!((link.heard.len(), whole), (10, 9), "the first one never waits");
    let last = &link.heard[9]["result"]["error"];
    assert_eq!(last["code"], "EXECUTION_ERROR");
    assert!(last["message"].as_str().unwrap().contains("requestId"), "{last}");
}
