//! One session: whole texts that replace each other, thinking, groups of tool calls, a busy session, a stop, errors.

use serde_json::json;

use super::super::host::Place;
use super::{Screen, kinds};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_comes_as_whole_texts_that_replace_each_other() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let greeting = kinds(&screen.view.told);
    let place_of =
        |kind: &str| greeting.iter().position(|told| *told == kind).unwrap_or_else(|| panic!("{greeting:?}"));
    assert!(place_of("init") < place_of("loadSessions") && place_of("loadSessions") < place_of("loadSessionMessages"));
    assert_eq!(screen.told("init")[0]["currentMode"], "agent");
    let answer = screen.answer("demo: slow 20").await;
    assert!(answer.len() > 20, "{answer}");
    let mut before = String::new();
    for chunk in screen.told("streamChunk") {
        let content = chunk["content"].as_str().unwrap();
        assert!(content.starts_with(&before) && content.len() > before.len(), "{before:?} then {content:?}");
        before = content.to_owned();
    }
    assert!(answer.starts_with(&before) && !before.is_empty(), "{before:?} {answer:?}");
    assert!(
        screen
            .view
            .told
            .iter()
            .all(|message| { message.get("sessionId").is_none_or(|session| *session == screen.session.as_str()) })
    );
    let added = &screen.told("addMessage")[0]["message"];
    assert_eq!((&added["role"], &added["content"]), (&json!("user"), &json!("demo: slow 20")));
    let session = screen.session.clone();
    screen.has_status(&session, "completed").await;
    let session = screen.session.clone();
    let messages = screen.load(&session).await;
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles.first().zip(roles.last()), Some((&"user", &"assistant")), "{messages:#}");
    assert_eq!(messages.as_array().unwrap().last().unwrap()["content"], answer.as_str());
    screen.covers(&[
        "> ready",
        "> sendMessage",
        "> loadSession",
        "< init",
        "< loadSessions",
        "< loadSessionMessages",
        "< sessionApprovalSettings",
        "< addMessage",
        "< generationStarted",
        "< showThinking",
        "< hideThinking",
        "< streamChunk",
        "< finalMessage",
        "< generationStopped",
        "< updateSessionStatus",
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_calls_make_a_group_and_text_starts_anew_after_it() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let answer = screen.answer("demo: tool").await;
    let actions = screen.told("showToolAction");
    let (first, last) = (actions.first().unwrap(), actions.last().unwrap());
    assert_eq!((&first["actionId"], &last["status"]), (&last["actionId"], &json!("success")), "{actions:#?}");
    let order = kinds(&screen.view.told);
    let at = |kind: &str| order.iter().position(|told| *told == kind).unwrap_or_else(|| panic!("no {kind}: {order:?}"));
    assert!(at("startProgressGroup") < at("showToolAction") && at("showToolAction") < at("finishProgressGroup"));
    assert!(at("finishProgressGroup") < at("finalMessage"));
    // What was said before the calls is not repeated after them.
    for chunk in
        screen.told("streamChunk").iter().filter(|chunk| !answer.starts_with(chunk["content"].as_str().unwrap()))
    {
        let group = screen.view.told.iter().position(|told| told["type"] == "startProgressGroup").unwrap();
        assert!(screen.view.told.iter().position(|told| told == chunk).unwrap() < group);
    }
    let session = screen.session.clone();
    let messages = screen.load(&session).await;
    let tool = messages.as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap();
    assert_eq!((&tool["toolName"], &tool["actionStatus"]), (&json!("list_files"), &json!("success")), "{tool}");
    screen.covers(&["< startProgressGroup", "< showToolAction", "< finishProgressGroup"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_busy_session_waits_and_is_answered() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    screen.prompt("demo: slow 40").await;
    screen.wait("streamChunk").await;
    screen.prompt("demo: echo the second").await;
    let waiting = |told: &serde_json::Value| told["type"] == "addMessage" && told["message"]["queued"] == 1;
    screen.wait_where("the second in its place", waiting).await;
    let first = screen.wait("finalMessage").await;
    let second = screen.wait("finalMessage").await;
    assert!(second["content"].as_str().unwrap().contains("the second"), "{second}");
    assert!(!first["content"].as_str().unwrap().contains("the second"), "{first}");
    screen.wait("generationStopped").await;
    // It never stood still in between.
    assert_eq!(screen.told("generationStarted").len(), 1);
    screen.covers(&["< addMessage"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_what_runs_in_the_session_that_is_named() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    screen.prompt("demo: slow 5000").await;
    screen.wait("streamChunk").await;
    let session = screen.session.clone();
    screen.say(json!({"type": "stopGeneration", "sessionId": session})).await;
    screen.wait("finalMessage").await;
    screen.wait("generationStopped").await;
    let session = screen.session.clone();
    screen.has_status(&session, "completed").await;
    // Nothing runs any more: the view is told so, and nothing else happens.
    screen.say(json!({"type": "stopGeneration", "sessionId": session})).await;
    screen.wait("generationStopped").await;
    screen.say(json!({"type": "stopGeneration", "sessionId": "777"})).await;
    assert_eq!(screen.wait("showError").await["sessionId"], "777");
    screen.covers(&["> stopGeneration", "< showError"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_said_and_the_link_lives() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::open(&place, &host).await;
    // Before there is a session, an error belongs to none.
    screen.prompt("too early").await;
    assert!(screen.wait("connectionError").await["error"].as_str().unwrap().contains("ready"));
    screen.ready(json!({})).await;
    for (text, why) in [
        ("{", "not a JSON object"),
        ("[]", "not a JSON object"),
        (r#"{"type":"constructor"}"#, "unknown type"),
        (r#"{"type":7}"#, "must be a string"),
        (r#"{"type":"sendMessage"}"#, "missing field `text`"),
        (r#"{"type":"selectMode","mode":"yolo"}"#, "unknown variant"),
        (r#"{"type":"loadSession","sessionId":"../1"}"#, "there is no session"),
        (r#"{"type":"sendMessage","text":" "}"#, "nothing to send"),
    ] {
        screen.view.send_text(text).await;
        let said = screen.wait("showError").await["message"].as_str().unwrap().to_owned();
        assert!(said.contains(why), "{text}: {said}");
    }
    let deep = format!("{{\"type\":\"newChat\",\"x\":{}{}}}", "[".repeat(500), "]".repeat(500));
    screen.view.send_text(deep).await;
    assert!(screen.wait("showError").await["message"].as_str().unwrap().contains("deeper"));
    screen.prompt("demo: error").await;
    screen.wait("showError").await;
    screen.wait("generationStopped").await;
    let session = screen.session.clone();
    screen.has_status(&session, "error").await;
    screen.prompt("demo: crash 2").await;
    screen.wait("showError").await;
    screen.wait("generationStopped").await;
    assert!(screen.answer("demo: echo still here").await.contains("still here"));
    let metrics = host.get("/metrics", &host.bearer()).0;
    assert!(metrics.contains("switchboard_protocol_violations_total{dialect=\"chat\"}"), "{metrics}");
    screen.covers(&["< showError", "< connectionError"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_may_not_start_is_said_once_and_the_view_has_its_greeting() {
    let place =
        Place::new().with_config("default_agent = \"other\"\n[agents.other]\nkind = \"plain\"\ncommand = [\"true\"]\n");
    let host = place.serve();
    let mut screen = Screen::open(&place, &host).await;
    screen.say(json!({"type": "ready"})).await;
    screen.wait("init").await;
    screen.wait("loadSessions").await;
    assert!(screen.wait("connectionError").await["error"].as_str().unwrap().contains("trust"));
    screen.covers(&["< init", "< connectionError"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_models_and_modes_of_an_agent_are_told_and_chosen() {
    let place = Place::new().with_acp("acp", "env = { MODELS = \"yes\" }").with_config("").trusted();
    let config = place.configuration();
    place.configure(&format!("default_agent = \"acp\"\n{config}"));
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    screen.prompt("hello there").await;
    let init = screen.wait_where("models", |told| told["type"] == "init" && told["models"] != json!([])).await;
    assert_eq!(init["models"], json!([{"name": "small", "selected": true}, {"name": "big", "selected": false}]));
    let done = screen.wait("finalMessage").await;
    assert_eq!(done["model"], "small", "{done}");
    screen.wait("generationStopped").await;
    screen.say(json!({"type": "selectModel", "model": "big"})).await;
    let chosen = |told: &serde_json::Value| told["type"] == "init" && told["models"][1]["selected"] == true;
    screen.wait_where("the other model", chosen).await;
    screen.say(json!({"type": "selectModel", "model": "huge"})).await;
    assert!(screen.wait("showError").await["message"].as_str().unwrap().contains("huge"));
    screen.say(json!({"type": "selectMode", "mode": "plan"})).await;
    screen.wait_where("the mode", |told| told["type"] == "init" && told["currentMode"] == "plan").await;
    // Whoever comes back is told at once.
    let mut again = Screen::open(&place, &host).await;
    again.ready(json!({"sessionId": screen.session})).await;
    let init = &again.told("init")[0];
    assert_eq!((&init["currentMode"], &init["models"][1]["selected"]), (&json!("plan"), &json!(true)));
    screen.covers(&["> selectModel", "> selectMode"]);
}
