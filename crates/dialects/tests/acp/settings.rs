//! Modes, models and configuration options, in the three shapes in which agents have them.

use serde_json::{Value, json};
use switchboard_dialects::agent::acp::AcpSettings;
use switchboard_dialects::agent::{Acp, AgentDialect as _};
use switchboard_types::{Ask, Time, Word};

use crate::wire::Wire;

fn modes() -> Value {
    json!({"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"yolo","name":"YOLO","description":"all"}]})
}

fn models() -> Value {
    json!({"currentModelId":"small","availableModels":[{"modelId":"small","name":"Small"},{"modelId":"big","name":"Big"}]})
}

fn config(mode: &str, fast: bool) -> Value {
    json!([
        {"id":"mode","name":"Mode","category":"mode","type":"select","currentValue":mode,
            "options":[{"value":"ask","name":"Ask"},{"value":"yolo","name":"YOLO"}]},
        {"id":"effort","name":"Effort","category":"thought_level","type":"select","currentValue":"low",
            "options":[{"group":"g","name":"Cheap","options":[{"value":"low","name":"Low"}]}]},
        {"id":"fast","name":"Fast","type":"boolean","currentValue":fast},
    ])
}

/// The list as pairs of id and value; none if no list was told.
fn listed(words: &[Word]) -> Option<Vec<(String, String)>> {
    let mut lists = words.iter().filter_map(|word| match word {
        Word::Options { options, .. } => {
            Some(options.iter().map(|option| (option.id.as_str().to_owned(), option.value.clone())).collect())
        }
        _ => None,
    });
    let first = lists.next();
    assert_eq!(lists.next(), None);
    first
}

fn pairs(wanted: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    Some(wanted.iter().map(|(id, value)| ((*id).to_owned(), (*value).to_owned())).collect())
}

/// A session whose agent has opened it with this, and what it said.
fn with(besides: Value) -> (Wire, Vec<Word>) {
    let mut wire = Wire::greeted(json!({}));
    let asked = wire.opens(crate::wire::S, None);
    let mut result = besides;
    result["sessionId"] = json!("s");
    let words = wire.answers(&asked[0], result);
    (wire, words)
}

#[test]
fn three_shapes_are_one_list_in_which_nothing_stands_twice() {
    let (_, words) = with(json!({"modes":modes(),"models":models()}));
    assert_eq!(listed(&words), pairs(&[("mode", "ask"), ("model", "small")]));
    let (_, words) = with(json!({"modes":modes(),"models":models(),"configOptions":config("yolo", true)}));
    assert_eq!(listed(&words), pairs(&[("mode", "yolo"), ("effort", "low"), ("fast", "true"), ("model", "small")]));
    let Word::Options { options, .. } = &words[1] else { panic!("{words:?}") };
    assert_eq!(options[1].choices[0].group.as_deref(), Some("Cheap"));
    let (_, words) = with(json!({}));
    assert_eq!(listed(&words), None);
}

#[test]
fn each_option_is_set_in_the_way_in_which_it_was_offered() {
    let (mut wire, _) = with(json!({"modes":modes(),"models":models()}));
    let sent = |messages: Vec<Value>| (messages[0]["method"].clone(), messages[0]["params"].clone());
    assert_eq!(sent(wire.sets("mode", "yolo")), (json!("session/set_mode"), json!({"sessionId":"s","modeId":"yolo"})));
    assert_eq!(sent(wire.sets("model", "big")), (json!("session/set_model"), json!({"sessionId":"s","modelId":"big"})));
    let (mut wire, _) = with(json!({"modes":modes(),"configOptions":config("ask", false)}));
    let method = json!("session/set_config_option");
    let params = json!({"sessionId":"s","configId":"mode","value":"yolo"});
    assert_eq!(sent(wire.sets("mode", "yolo")), (method.clone(), params));
    let params = json!({"sessionId":"s","configId":"fast","type":"boolean","value":true});
    assert_eq!(sent(wire.sets("fast", "true")), (method, params));
    assert_eq!(wire.sets("colour", "red"), Vec::<Value>::new());
    assert!(matches!(wire.unsaid().as_slice(), [Word::Status { .. }]));
}

#[test]
fn a_setting_may_be_answered_by_either_update_by_both_by_text_or_by_nothing() {
    let mode_update = json!({"sessionUpdate":"current_mode_update","currentModeId":"yolo"});
    let config_update = json!({"sessionUpdate":"config_option_update","configOptions":config("yolo", false)});
    let after = [("mode", "yolo"), ("effort", "low"), ("fast", "false")];
    for updates in [vec![], vec![&mode_update], vec![&config_update], vec![&mode_update, &config_update]] {
        let (mut wire, _) = with(json!({"modes":modes(),"configOptions":config("ask", false)}));
        let asked = wire.sets("mode", "yolo");
        for update in &updates {
            assert_eq!(listed(&wire.updates((*update).clone())), pairs(&after));
        }
        let words = wire.answers(&asked[0], json!({}));
        assert_eq!(listed(&words), if updates.is_empty() { pairs(&after) } else { None }, "{updates:?}");
    }
    let (mut wire, _) = with(json!({"configOptions":config("ask", false)}));
    let asked = wire.sets("mode", "yolo");
    let words = wire.answers(&asked[0], json!({"configOptions":config("yolo", true)}));
    assert_eq!(listed(&words), pairs(&[("mode", "yolo"), ("effort", "low"), ("fast", "true")]));
    // By text, which is an answer to the person and none to us.
    let (mut wire, _) = with(json!({"modes":modes()}));
    let asked = wire.sets("mode", "yolo");
    wire.updates(json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Mode is yolo"}}));
    assert_eq!(listed(&wire.answers(&asked[0], json!({}))), pairs(&[("mode", "yolo")]));
}

#[test]
fn a_setting_that_fails_says_why_and_the_old_value_stands() {
    let (mut wire, _) = with(json!({"modes":modes()}));
    let asked = wire.sets("mode", "yolo");
    let words = wire.refuses(&asked[0], -32602, "not in this folder");
    let [Word::Status { message, .. }] = words.as_slice() else { panic!("{words:?}") };
    assert_eq!(message, "the agent did not set \"mode\" to \"yolo\": not in this folder");
    let words = wire.updates(json!({"sessionUpdate":"config_option_update","configOptions":[]}));
    assert_eq!(listed(&words), pairs(&[("mode", "ask")]));
}

#[test]
fn an_agent_that_lists_an_option_but_does_not_take_it_is_asked_in_the_older_way() {
    let (mut wire, _) = with(json!({"modes":modes(),"configOptions":config("ask", false)}));
    let asked = wire.sets("mode", "yolo");
    assert_eq!(wire.refuses(&asked[0], -32601, "Method not found"), []);
    let again = wire.owed();
    assert_eq!(again[0]["method"], "session/set_mode");
    let words = wire.answers(&again[0], json!({}));
    assert_eq!(listed(&words).unwrap()[0], ("mode".to_owned(), "yolo".to_owned()));
}

#[test]
fn a_mode_that_was_never_listed_is_told_all_the_same() {
    let (mut wire, _) = with(json!({}));
    let words = wire.updates(json!({"sessionUpdate":"current_mode_update","currentModeId":"plan"}));
    assert_eq!(listed(&words), pairs(&[("mode", "plan")]));
}

#[test]
fn the_built_in_agent_is_told_that_the_host_asks_and_what_people_have_set() {
    let greets = |own: Option<Value>| {
        let settings = AcpSettings { own, ..AcpSettings::new("local", &[], "1.2.3") };
        let (mut dialect, mut messages) = (Acp::new(settings), Vec::new());
        dialect.begin(Time(0), &mut messages);
        let greeting: Value = serde_json::from_slice(&messages[0]).unwrap();
        let mark = greeting["params"]["clientCapabilities"]["_meta"].clone();
        (Wire { dialect, noise: Vec::new() }, mark)
    };
    let set = |value: u64| json!({"maxIterations": value});
    let told = |value: u64| json!({"jsonrpc":"2.0","method":"_switchboard/settings","params":set(value)});
    let answer = || json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}});

    let (mut wire, mark) = greets(Some(set(5)));
    assert_eq!(mark, json!({"switchboard":{"gate":true}}));
    // What changes before the agent has answered is told once, as it is then.
    assert_eq!(wire.ask(Ask::Configure { config: set(6) }), Vec::<Value>::new());
    wire.says(answer());
    assert_eq!(wire.owed(), [told(6)]);
    assert_eq!(wire.ask(Ask::Configure { config: set(7) }), [told(7)]);

    let (mut wire, mark) = greets(None);
    assert_eq!(mark, Value::Null);
    wire.says(answer());
    assert_eq!(wire.owed(), Vec::<Value>::new());
    assert_eq!(wire.ask(Ask::Configure { config: set(7) }), Vec::<Value>::new());
}
