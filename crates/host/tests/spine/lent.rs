//! Tools that views lend: from one link to another, to an agent, and gone with their lender.

use serde_json::{Value, json};

use super::bench::Bench;
use super::host::Place;

/// A plain agent that calls the tool `shout` and says what came of it.
const CALLER: &str = r#"n=0
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
say() { printf '%s\n' "$1"; }
while IFS= read -r line; do
  case $line in
    *'"type":"new-session"'*) n=$((n+1)); say "{\"type\":\"session-created\",\"requestId\":\"$(field requestId)\",\"sessionId\":\"s$n\"}" ;;
    *'"type":"process-prompt"'*) id=$(field sessionId); name=$(field messageId)
      say "{\"type\":\"tool-call\",\"sessionId\":\"$id\",\"callId\":\"k\",\"toolName\":\"shout\",\"parameters\":{\"text\":\"hi\"}}" ;;
    *'"type":"tool-result"'*)
      say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"messageId\":\"$name\",\"chunk\":\"$(field data)\"}"
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\",\"messageId\":\"$name\"}" ;;
  esac
done
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_one_view_lends_another_calls_and_an_agent_too() {
    let place = Place::new().with_agent("caller", CALLER).trusted();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("shout").await;
    assert!(bench.names().await.contains(&"shout".to_owned()));
    let id = bench.begin("shout", json!({"text": "hello"})).await;
    let (call, parameters) = lender.lent_call().await;
    assert_eq!(parameters, json!({"text": "hello"}));
    lender.give(&call, json!("HELLO")).await;
    let result = bench.result(id).await;
    assert_eq!((&result["success"], &result["data"]), (&json!(true), &json!("HELLO")), "{result}");

    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "t", "agent": "caller"})).await;
    view.prompt("t", "m", "go").await;
    let (call, parameters) = lender.lent_call().await;
    assert_eq!(parameters, json!({"text": "hi"}));
    lender.give(&call, json!("HI")).await;
    view.wait_done("m").await;
    let said: String = view.told.iter().filter_map(|message| message["chunk"].as_str()).collect();
    assert_eq!(said, "HI", "{:#?}", view.told);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_the_lender_is_the_calls_and_a_second_result_changes_nothing() {
    let place = Place::new();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("shout").await;
    let id = bench.begin("shout", json!({})).await;
    let (call, _) = lender.lent_call().await;
    lender.fail(&call, "hoarse").await;
    lender.give(&call, json!("too late")).await;
    let result = bench.result(id).await;
    assert_eq!(result["error"]["code"], "EXECUTION_ERROR", "{result}");
    assert_eq!(result["error"]["message"], "hoarse", "{result}");
    // Nobody else may answer for the lender.
    let id = bench.begin("shout", json!({})).await;
    let (call, _) = lender.lent_call().await;
    bench.give(&call, json!("forged")).await;
    bench.sync().await;
    lender.give(&call, json!("true")).await;
    assert_eq!(bench.result(id).await["data"], "true");
    lender.view.send(json!({"type": "TOOL_RESULT", "callId": "77"})).await;
    let answer = lender.view.next().await.unwrap();
    assert_eq!((&answer["error"]["code"], &answer["callId"]), (&json!("VALIDATION_ERROR"), &json!("77")), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lender_that_goes_takes_its_tools_along_and_open_calls_end() {
    let place = Place::new();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("shout").await;
    let id = bench.begin("shout", json!({})).await;
    lender.lent_call().await;
    drop(lender);
    let result = bench.result(id).await;
    assert_eq!(result["error"]["code"], "EXECUTION_ERROR", "{result}");
    assert!(!bench.names().await.contains(&"shout".to_owned()));
    assert_eq!(bench.call("shout", json!({})).await["error"]["code"], "TOOL_NOT_FOUND");
    let mut next = Bench::at(&host).await;
    next.lend("shout").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_taken_is_refused_and_so_is_a_schema_that_is_none() {
    let place = Place::new();
    let host = place.serve();
    let (mut one, mut other) = (Bench::at(&host).await, Bench::at(&host).await);
    one.lend("shout").await;
    let tool = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "description": "", "parameters": parameters}});
    for tools in [
        json!([tool("fresh", json!({})), tool("shout", json!({}))]),
        json!([tool("read_file", json!({}))]),
        json!([tool("twice", json!({})), tool("twice", json!({}))]),
        json!([tool("odd", json!({"type": "colour"}))]),
        json!([tool("heavy", json!({"description": "x".repeat(70_000)}))]),
    ] {
        let answer = other.told(json!({"type": "REGISTER_TOOLS", "tools": tools})).await;
        assert_eq!(answer["error"]["code"], "VALIDATION_ERROR", "{answer}");
    }
    assert!(!one.names().await.contains(&"fresh".to_owned()), "all of them or none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_megabytes_passes_whole() {
    let place = Place::new();
    let host = place.serve();
    let (mut bench, mut lender) = (Bench::at(&host).await, Bench::at(&host).await);
    lender.lend("large").await;
    let data = "é".repeat(2 * 1024 * 1024);
    let id = bench.begin("large", json!({})).await;
    let (call, _) = lender.lent_call().await;
    lender.give(&call, json!(data)).await;
    assert_eq!(bench.result(id).await["data"].as_str(), Some(data.as_str()));
    let id = bench.begin("large", json!({})).await;
    let (call, _) = lender.lent_call().await;
    lender.give(&call, json!("x".repeat(9 * 1024 * 1024))).await;
    let result = bench.result(id).await;
    assert_eq!(result["error"]["code"], "EXECUTION_ERROR", "{result}");
}
