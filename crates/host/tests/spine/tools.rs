//! Tools through the real WebSocket: every code, every finding, the order of answers, batches, the past.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bench::Bench;
use super::host::{PATIENCE, Place};

#[tokio::test(flavor = "multi_thread")]
async fn the_hosts_own_tools_are_listed_by_name_and_can_be_called() {
    let place = Place::new();
    std::fs::write(place.workspace().join("a.txt"), "one\ntwo\n").unwrap();
    let host = place.serve();
    let mut bench = Bench::at(&host).await;
    let names = ["edit_file", "list_files", "read_file", "run_terminal_command", "search_workspace", "write_file"];
    assert_eq!(bench.names().await, names);
    let result = bench.call("read_file", json!({"path": "a.txt", "startLine": 2})).await;
    assert_eq!(result["success"], true, "{result}");
    assert!(result["data"].to_string().contains("two") && !result["data"].to_string().contains("one"), "{result}");
    assert!(result["duration"].is_u64() && result["executionId"].is_string(), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_code_is_said_in_its_place() {
    let place = Place::new().trusted();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("silent").await;
    bench.subscribe().await;

    assert_eq!(bench.call("fly", json!({})).await["error"]["code"], "TOOL_NOT_FOUND");
    let wrong = bench.call("read_file", json!({})).await;
    assert_eq!(wrong["error"]["code"], "VALIDATION_ERROR", "{wrong}");
    assert_eq!(wrong["error"]["details"][0]["parameter"], "path", "{wrong}");
    assert_eq!(wrong["error"]["details"][0]["code"], "REQUIRED", "{wrong}");
    let nowhere = json!({"toolName": "read_file", "parameters": {"path": "a"}, "sessionId": "999"});
    let nowhere = bench.told(json!({"type": "EXECUTE_TOOL", "request": nowhere})).await;
    assert_eq!(nowhere["result"]["error"]["code"], "VALIDATION_ERROR", "{nowhere}");
    assert_eq!(bench.call("read_file", json!({"path": "none"})).await["error"]["code"], "EXECUTION_ERROR");

    let late = json!({"toolName": "silent", "timeout": 20});
    let late = bench.told(json!({"type": "EXECUTE_TOOL", "request": late})).await;
    assert_eq!(late["result"]["error"]["code"], "TIMEOUT", "{late}");
    assert!(late["result"]["duration"].as_u64().unwrap() >= 20, "{late}");

    let request = json!({"toolName": "silent", "executionId": "mine"});
    let id = bench.ask(json!({"type": "EXECUTE_TOOL", "request": request})).await;
    for _ in 0..2 {
        lender.lent_call().await;
    }
    let cancel = json!({"type": "CANCEL_EXECUTION", "executionId": "mine"});
    assert_eq!(bench.told(cancel.clone()).await, json!({"cancelled": true}));
    assert_eq!(bench.result(id).await["error"]["code"], "CANCELLED");
    assert_eq!(bench.told(cancel).await, json!({"cancelled": false}));

    let id = bench.begin("run_terminal_command", json!({"command": "rm -r build"})).await;
    let question = bench.question().await;
    assert_eq!(bench.decide(&question, "deny").await, json!({"status": "applied", "decision": "deny"}));
    assert_eq!(bench.result(id).await["error"]["code"], "DENIED");

    let unknown = bench.told(json!({"type": "FLY"})).await;
    assert_eq!(unknown["error"]["code"], "UNKNOWN_MESSAGE_TYPE", "{unknown}");
    let malformed = bench.told(json!({"type": "EXECUTE_TOOL", "request": {"timeout": 0}})).await;
    assert_eq!(malformed["error"]["code"], "VALIDATION_ERROR", "{malformed}");
    let codes: Vec<&Value> =
        malformed["error"]["details"].as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["REQUIRED", "OUT_OF_RANGE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_or_run_where_nobody_trusts() {
    let place = Place::new();
    let host = place.serve();
    let mut bench = Bench::at(&host).await;
    for (tool, parameters) in
        [("write_file", json!({"path": "a", "content": "b"})), ("run_terminal_command", json!({"command": "touch a"}))]
    {
        let result = bench.call(tool, parameters).await;
        assert_eq!(result["error"]["code"], "WORKSPACE_UNTRUSTED", "{tool}: {result}");
    }
    assert!(!place.workspace().join("a").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_finding_is_told_at_once() {
    let place = Place::new();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    let parameters = json!({
        "type": "object",
        "properties": {
            "needed": {"type": "string"},
            "text": {"type": "string"},
            "nothing": {"type": "string"},
            "word": {"enum": ["a", "b"]},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "name": {"type": "string", "pattern": "^[a-z]+$"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}},
        },
        "required": ["needed"],
        "additionalProperties": false,
    });
    let function = json!({"name": "strict", "description": "", "parameters": parameters});
    let tools = json!([{"type": "function", "function": function}]);
    lender.told(json!({"type": "REGISTER_TOOLS", "tools": tools})).await;
    let wrong = json!({"text": 1, "nothing": null, "word": "c", "count": 10, "name": "A", "list": [{"n": 1}, {"n": "1"}], "more": 1});
    let result = bench.call("strict", wrong).await;
    assert_eq!(result["error"]["code"], "VALIDATION_ERROR", "{result}");
    let details = result["error"]["details"].as_array().unwrap();
    let found: BTreeSet<(String, String)> = details
        .iter()
        .map(|one| (one["parameter"].as_str().unwrap().to_owned(), one["code"].as_str().unwrap().to_owned()))
        .collect();
    let wanted = [
        ("count", "OUT_OF_RANGE"),
        ("list[1].n", "TYPE_MISMATCH"),
        ("more", "UNKNOWN_PARAMETER"),
        ("name", "PATTERN_MISMATCH"),
        ("needed", "REQUIRED"),
        ("nothing", "NULL_VALUE"),
        ("text", "TYPE_MISMATCH"),
        ("word", "ENUM_MISMATCH"),
    ];
    assert_eq!(found, wanted.map(|(parameter, code)| (parameter.to_owned(), code.to_owned())).into());
    assert!(details.iter().all(|one| !one["message"].as_str().unwrap().is_empty()));
    lender.sync().await;
    assert!(lender.view.told.is_empty(), "the lender never hears of it: {:?}", lender.view.told);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_in_order_without_an_id_and_as_they_finish_with_one() {
    let place = Place::new();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("number").await;
    let call = |n: u64| json!({"type": "EXECUTE_TOOL", "request": {"toolName": "number", "parameters": {"n": n}}});
    let mut open = Vec::new();
    for n in 0..3 {
        bench.view.send(call(n)).await;
        open.push(lender.lent_call().await);
    }
    bench.view.send_text("no JSON").await;
    for (id, parameters) in open.iter().rev() {
        lender.give(id, parameters["n"].clone()).await;
    }
    for n in 0..3 {
        let answer = bench.view.next().await.unwrap();
        assert_eq!(answer["result"]["data"], n, "{answer}");
    }
    assert_eq!(bench.view.next().await.unwrap()["error"]["code"], "VALIDATION_ERROR");
    bench.view.told.clear();

    let mut open = Vec::new();
    for n in 0..3 {
        let asked = bench.ask(call(n)).await;
        open.push((asked, lender.lent_call().await));
    }
    for (asked, (id, parameters)) in open.iter().rev() {
        lender.give(id, parameters["n"].clone()).await;
        let answer = bench.view.next().await.unwrap();
        assert_eq!((&answer["result"]["data"], &answer["requestId"]), (&parameters["n"], &json!(asked)), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_goes_at_once_or_one_by_one_and_stops_where_it_should() {
    let place = Place::new();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("number").await;
    let batch = |mode: &str, stop: bool| {
        let requests: Vec<Value> = (0..3).map(|n| json!({"toolName": "number", "parameters": {"n": n}})).collect();
        json!({"type": "BATCH_EXECUTE", "mode": mode, "stopOnError": stop, "requests": requests})
    };
    let succeeded = |answer: &Value| -> Vec<Value> {
        answer["results"].as_array().unwrap().iter().map(|result| result["data"].clone()).collect()
    };
    let id = bench.ask(batch("parallel", true)).await;
    let (first, second, third) = (lender.lent_call().await, lender.lent_call().await, lender.lent_call().await);
    for (call, parameters) in [third, first, second] {
        lender.give(&call, parameters["n"].clone()).await;
    }
    assert_eq!(succeeded(&bench.answer(id).await), [0, 1, 2]);

    let id = bench.ask(batch("sequential", false)).await;
    for n in 0..3 {
        let (call, parameters) = lender.lent_call().await;
        assert_eq!(parameters["n"], n);
        bench.sync().await;
        lender.sync().await;
        assert!(lender.view.told.is_empty(), "the next one waits: {:?}", lender.view.told);
        if n == 1 { lender.fail(&call, "no").await } else { lender.give(&call, json!(n)).await }
    }
    assert_eq!(succeeded(&bench.answer(id).await), [json!(0), Value::Null, json!(2)]);

    let id = bench.ask(batch("sequential", true)).await;
    let (call, _) = lender.lent_call().await;
    lender.fail(&call, "no").await;
    let answer = bench.answer(id).await;
    let codes: Vec<&Value> =
        answer["results"].as_array().unwrap().iter().map(|result| &result["error"]["code"]).collect();
    assert_eq!(codes, ["EXECUTION_ERROR", "CANCELLED", "CANCELLED"]);
    lender.sync().await;
    assert!(lender.view.told.is_empty(), "{:?}", lender.view.told);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_past_survives_a_restart_page_by_page_and_what_was_open_is_over() {
    let place = Place::new();
    std::fs::write(place.workspace().join("a.txt"), "one\n").unwrap();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("silent").await;
    bench.call("read_file", json!({"path": "a.txt"})).await;
    bench.call("read_file", json!({"path": "none"})).await;
    bench.begin("silent", json!({"n": 1})).await;
    lender.lent_call().await;
    let history = json!({"type": "GET_TOOL_HISTORY"});
    let before = bench.told(history.clone()).await["history"].clone();
    assert_eq!((before.as_array().unwrap().len(), &before[0]["status"]), (3, &json!("open")), "{before}");
    assert_eq!(before[0]["parameters"], json!({"n": 1}));
    host.kill_9();

    let host = place.serve();
    let mut bench = Bench::at(&host).await;
    // The end of what was open is on the disk a moment after the door is open.
    let settled = async {
        loop {
            let history = bench.told(history.clone()).await["history"].clone();
            if history[0]["status"] != "open" {
                return history;
            }
        }
    };
    let after = tokio::time::timeout(PATIENCE, settled).await.expect("what was open ends");
    assert_eq!(after.as_array().unwrap().len(), 3, "{after}");
    let told =
        |n: usize| json!([after[n]["toolName"], after[n]["status"], after[n]["success"], after[n]["error"]["code"]]);
    assert_eq!(told(0), json!(["silent", "done", false, "EXECUTION_ERROR"]));
    assert_eq!(told(1), json!(["read_file", "done", false, "EXECUTION_ERROR"]));
    assert_eq!(told(2), json!(["read_file", "done", true, null]));
    assert_eq!((&after[1], &after[2]), (&before[1], &before[2]));

    let (mut pages, mut place_before) = (Vec::new(), Value::Null);
    loop {
        let page = json!({"type": "GET_TOOL_HISTORY", "limit": 1, "before": place_before});
        let page = bench.told(page).await;
        pages.extend(page["history"].as_array().unwrap().clone());
        place_before = page["before"].clone();
        if place_before.is_null() {
            break;
        }
    }
    assert_eq!(Value::from(pages), after);
    let only = bench.told(json!({"type": "GET_TOOL_HISTORY", "toolName": "silent"})).await;
    assert_eq!(only["history"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_answered_and_the_link_lives() {
    let place = Place::new();
    let host = place.serve();
    let mut bench = Bench::at(&host).await;
    for text in ["", "{", "[]", "null", "{\"type\":\"GET_TOOLS\"", &"[".repeat(10_000)] {
        bench.view.send_text(text).await;
        let answer = bench.view.next().await.unwrap();
        assert_eq!(answer["error"]["code"], "VALIDATION_ERROR", "{text}: {answer}");
    }
    use futures_util::SinkExt as _;
    use tokio_tungstenite::tungstenite::Message;
    bench.view.socket.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(bench.view.next().await.unwrap()["error"]["code"], "VALIDATION_ERROR");
    bench.sync().await;
}
