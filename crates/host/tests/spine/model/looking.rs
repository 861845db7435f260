//! What the agent learns of its server, when, and what waits for it.

use serde_json::{Value, json};

use super::by_hand::{ByHand, WINDOW, tags};
use super::client::{Client, Offers, Place};

fn failure(done: &Value) -> &str {
    done["error"]["message"].as_str().unwrap_or_else(|| panic!("it did not fail: {done}"))
}

/// The names of the models that can be chosen, and the one that is.
fn choices(result: &Value) -> (Vec<&str>, &str) {
    let option = &result["configOptions"][0];
    let names = option["options"].as_array().unwrap().iter().map(|one| one["value"].as_str().unwrap());
    (names.collect(), option["currentValue"].as_str().unwrap())
}

/// Everything that was sent before has been taken in when this returns.
fn settled(client: &mut Client) {
    client.call("session/list", json!({}));
}

#[test]
fn a_slow_description_costs_the_description_and_not_the_list() {
    let server = ByHand::new();
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "small:latest"], Offers::All);
    server.next("GET /api/tags").answer(200, &tags(&["small:latest", "other:7b"]));
    let _slow = server.next("POST /api/show");
    let opened = client.call("session/new", json!({"cwd": place.work(), "mcpServers": []}));
    assert_eq!(choices(&opened["result"]), (vec!["small:latest", "other:7b"], "small:latest"), "{opened}");
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    let prompt = client.send_prompt(&session, "go");
    server.next("POST /api/chat").says("here");
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn a_look_that_fails_takes_nothing_away_and_keeps_no_prompt_from_being_sent() {
    let server = ByHand::new();
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "small:latest"], Offers::All);
    server.has(&["small:latest", "other:7b"], 1);
    let session = client.open(&place);
    let choice = json!({"sessionId": session, "configId": "model", "value": "new:1b"});
    let chosen = client.ask("session/set_config_option", choice);
    server.loads();
    let refused = client.answer(chosen);
    assert!(failure(&refused).contains("loading"), "{refused}");
    let prompt = client.send_prompt(&session, "go");
    let question = server.next("POST /api/chat");
    assert_eq!(question.body["options"]["num_ctx"], WINDOW, "{}", question.body);
    question.says("here");
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
    // Once it is gone, that is said.
    let url = server.url();
    server.close();
    let gone = client.prompt(&session, "still there?");
    assert!(failure(&gone).contains(&url), "{gone}");
}

#[test]
fn a_model_that_was_fetched_meanwhile_can_be_asked_and_chosen() {
    let server = ByHand::new();
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "gone:1b"], Offers::All);
    server.has(&["small:latest"], 1);
    let session = client.open(&place);
    let prompt = client.send_prompt(&session, "go");
    server.next("POST /api/chat").answer(404, r#"{"error":"model 'gone:1b' not found"}"#);
    let lacking = client.answer(prompt);
    assert!(failure(&lacking).contains("does not have the model"), "{lacking}");
    // It is fetched; the next prompt knows of it, and of its window.
    let prompt = client.send_prompt(&session, "again");
    server.has(&["small:latest", "gone:1b"], 1);
    let question = server.next("POST /api/chat");
    assert_eq!(question.body["options"]["num_ctx"], WINDOW, "{}", question.body);
    question.says("here");
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
    // Another is fetched, and chosen.
    let choose = |client: &mut Client, name: &str| {
        client.ask("session/set_config_option", json!({"sessionId": session, "configId": "model", "value": name}))
    };
    let chosen = choose(&mut client, "third:2b");
    server.has(&["small:latest", "gone:1b", "third:2b"], 1);
    let answer = client.answer(chosen);
    assert_eq!(choices(&answer["result"]), (vec!["small:latest", "gone:1b", "third:2b"], "third:2b"), "{answer}");
    // Of that one nothing more is known yet.
    server.has(&["small:latest", "gone:1b", "third:2b"], 2);
    let chosen = choose(&mut client, "nobody");
    server.has(&["small:latest", "gone:1b", "third:2b"], 2);
    let refused = client.answer(chosen);
    assert!(failure(&refused).contains("the server has no model `nobody`"), "{refused}");
}

#[test]
fn a_server_that_loads_costs_no_part_of_a_conversation() {
    let server = ByHand::new();
    let place = Place::new();
    let list = r#"{"object":"list","data":[{"id":"m","meta":{"n_ctx":65536}}]}"#;
    let has = || {
        server.next("GET /api/tags").answer(404, "");
        server.next("GET /v1/models").answer(200, list);
    };
    let word = json!({"choices": [{"index": 0, "delta": {"content": "here"}, "finish_reason": "stop"}]});
    let says = format!("data: {word}\n\ndata: [DONE]\n\n");
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "m"], Offers::All);
    has();
    let session = client.open(&place);
    // More than the least that any server gives a model.
    let prompt = client.send_prompt(&session, &"long ".repeat(10_000));
    server.next("POST /v1/chat/completions").answer(200, &says);
    client.answer(prompt);
    client.kill_9();

    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "m"], Offers::All);
    server.loads();
    client.call("session/resume", json!({"sessionId": session, "cwd": place.work(), "mcpServers": []}));
    let prompt = client.send_prompt(&session, "and now?");
    server.loads();
    client.until("that it is asked again", |told| told.to_string().contains("Asking again"));
    has();
    let question = server.next("POST /v1/chat/completions");
    let sent = question.body.to_string();
    assert!(sent.contains(&"long ".repeat(9_999)) && sent.contains("and now?"), "{} bytes", sent.len());
    question.answer(200, &says);
    assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(!client.told.iter().any(|told| told.to_string().contains("left out")), "{:#?}", client.told);
}

#[test]
fn cancelling_ends_the_turn_that_rests_and_the_prompts_that_wait() {
    let server = ByHand::new();
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "small"], Offers::All);
    server.loads();
    let session = client.open(&place);
    let first = client.send_prompt(&session, "first");
    server.loads();
    client.until("that it is asked again", |told| told.to_string().contains("Asking again"));
    let waiting = [client.send_prompt(&session, "second"), client.send_prompt(&session, "third")];
    let _look = server.next("GET /api/tags");
    settled(&mut client);
    client.notify("session/cancel", json!({"sessionId": session}));
    for prompt in waiting.into_iter().chain([first]) {
        // Whichever is answered first, each has an answer of its own.
        let is_answer = |told: &Value| told["method"].is_null() && told["id"] == prompt;
        let past = client.told.iter().find(|told| is_answer(told)).cloned();
        let answer = past.unwrap_or_else(|| client.answer(prompt));
        assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    }
}

#[test]
fn a_prompt_overtakes_none_that_waits_for_a_look() {
    let server = ByHand::new();
    let place = Place::new();
    let mut client = Client::start(&place, &["--base-url", &server.url(), "--model", "small:latest"], Offers::All);
    server.loads();
    let session = client.open(&place);
    let first = client.send_prompt(&session, "first");
    let look = server.next("GET /api/tags");
    // The look that is under way does not know of this model, so there is another after it.
    client.notify("_switchboard/settings", json!({"agentModel": "other:7b"}));
    settled(&mut client);
    look.answer(200, &tags(&["small:latest", "other:7b"]));
    server.next("POST /api/show").shows();
    let look = server.next("GET /api/tags");
    let second = client.send_prompt(&session, "second");
    settled(&mut client);
    look.answer(200, &tags(&["small:latest", "other:7b"]));
    server.next("POST /api/show").shows();
    for (prompt, words, answer) in [(first, "first", "one"), (second, "second", "two")] {
        let question = server.next("POST /api/chat");
        assert!(question.question().ends_with(words), "{}", question.body);
        question.says(answer);
        assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
        assert!(client.text().ends_with(answer), "{}", client.text());
    }
}

#[test]
fn what_lm_studio_tells_only_in_its_own_list_is_taken_from_there() {
    for (status, beside, window) in [
        (
            200,
            json!({"data": [{"id": "m", "type": "llm", "max_context_length": 65_536, "loaded_context_length": 12_288}]}),
            12_288,
        ),
        (404, json!({"error": "nothing here"}), 32_768),
        (200, json!("rubbish"), 32_768),
    ] {
        let server = ByHand::new();
        let place = Place::new();
        let mut client = Client::start(&place, &["--base-url", &server.url()], Offers::All);
        server.next("GET /api/tags").answer(200, r#"{"error":"Unexpected endpoint or method."}"#);
        server.next("GET /v1/models").answer(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#);
        server.next("GET /api/v0/models").answer(status, &beside.to_string());
        let session = client.open(&place);
        let prompt = client.send_prompt(&session, "go");
        let word = json!({"choices": [{"index": 0, "delta": {"content": "here"}, "finish_reason": "stop"}],
                          "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}});
        server.next("POST /v1/chat/completions").answer(200, &format!("data: {word}\n\ndata: [DONE]\n\n"));
        assert_eq!(client.answer(prompt)["result"]["stopReason"], "end_turn");
        assert_eq!(client.updates("usage_update").last().unwrap()["size"], window, "{beside}");
    }
}
