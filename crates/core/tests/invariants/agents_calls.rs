//! Calls of tools by agents: the same way as those of views, within their turn, gone with it and with their agent.

use serde_json::{Value, json};
use switchboard_core::Input;
use switchboard_types::{
    Ask, Body, CallId, Command, Decision, ErrandResult, LifeId, SessionId, ToolCode, ToolRequest, ToolStatus, Word,
};

use super::tools::{answer, call, cancel, code, named, outcome, outcomes, run, statuses, tools};
use super::world::World;

fn working() -> (World, usize, SessionId, LifeId) {
    let (mut world, view, session) = World::with_own();
    world.handle(Input::Tools(tools()));
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    (world, view, session, life)
}

fn tool_call(world: &mut World, session: SessionId, call: &str, tool: &str, parameters: Value) {
    let life = world.life();
    world.words(life, vec![Word::ToolCall { session, call: call.into(), tool: tool.to_owned(), parameters }]);
    world.settle();
}

fn results(world: &World) -> Vec<(CallId, Result<Value, ToolCode>)> {
    let asks = world.lives.values().flat_map(|life| &life.asks);
    let results = asks.filter_map(|ask| match ask {
        Ask::ToolResult { call, result, .. } => Some((call.clone(), result.clone().map_err(|failure| failure.code))),
        _ => None,
    });
    results.collect()
}

#[test]
fn an_agents_call_goes_the_same_way_in_its_turn() {
    let (mut world, view, session, _) = working();
    tool_call(&mut world, session, "t1", "say", json!({ "n": 1 }));
    tool_call(&mut world, session, "t2", "nothing", json!({}));
    tool_call(&mut world, session, "t3", "run_terminal_command", json!({ "command": "make" }));
    assert_eq!(results(&world).len(), 2);
    answer(&mut world, view, 1, session, Decision::AllowOnce);
    world.end_commands();
    world.settle();
    let expected: Vec<(CallId, Result<Value, ToolCode>)> = vec![
        ("t1".into(), Ok(json!({ "n": 1 }))),
        ("t2".into(), Err(ToolCode::ToolNotFound)),
        ("t3".into(), Ok(json!({ "output": "out" }))),
    ];
    assert_eq!(results(&world), expected);
    let turns: Vec<_> = world.log(session).iter().filter(|event| matches!(event.body, Body::ToolCall { .. })).collect();
    assert!(turns.iter().all(|event| event.turn.is_some()));
    assert_eq!(world.runner.done.len(), 1);
}

#[test]
fn an_agent_that_uses_a_name_twice_leaves_the_first_call_as_it_is() {
    let (mut world, view, session, life) = working();
    tool_call(&mut world, session, "t1", "say", json!({ "say": "slow" }));
    tool_call(&mut world, session, "t1", "say", json!({}));
    assert_eq!(results(&world), [("t1".into(), Err(ToolCode::ValidationError))]);
    assert_eq!(statuses(&world, session), [ToolStatus::Pending, ToolStatus::Running]);
    world.owed_calls.insert((life, session, "t1".into()), ());
    assert!(cancel(&mut world, view, 1, "t1"), "an agent's call can be cancelled, too");
    world.settle();
    assert_eq!(results(&world).len(), 2);
}

#[test]
fn outside_a_turn_an_agent_may_only_read() {
    let (mut world, _, session) = World::with_own();
    world.handle(Input::Tools(tools()));
    tool_call(&mut world, session, "t1", "write_file", json!({ "path": "a" }));
    tool_call(&mut world, session, "t2", "say", json!({}));
    let codes: Vec<_> = results(&world).into_iter().map(|(_, result)| result.err()).collect();
    assert_eq!(codes, [Some(ToolCode::Denied), None]);
}

#[test]
fn a_cancelled_turn_cancels_its_calls_and_leaves_those_of_views() {
    let (mut world, view, session, _) = working();
    tool_call(&mut world, session, "t1", "run_terminal_command", json!({ "command": "make" }));
    answer(&mut world, view, 1, session, Decision::AllowOnce);
    tool_call(&mut world, session, "t2", "run_terminal_command", json!({ "command": "make all" }));
    tool_call(&mut world, session, "t3", "say", json!({ "say": "slow" }));
    let mine = ToolRequest { session: Some(session), ..run("mine", "make mine") };
    call(&mut world, view, 2, mine);
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    world.settle();
    let codes: Vec<_> = results(&world).into_iter().map(|(call, result)| (call.to_string(), result.err())).collect();
    for call in ["t1", "t2", "t3"] {
        assert!(codes.contains(&(call.to_owned(), Some(ToolCode::Cancelled))), "{codes:?}");
    }
    assert_eq!(outcomes(&world, view, 2), None);
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 1, "the view's own question stands");
    answer(&mut world, view, 3, session, Decision::AllowOnce);
    world.end_commands();
    world.settle();
    assert_eq!(code(&outcome(&world, view, 2)), None);
}

#[test]
fn an_agent_that_dies_leaves_no_call_open_but_those_of_views() {
    let (mut world, view, session, life) = working();
    tool_call(&mut world, session, "t1", "run_terminal_command", json!({ "command": "make" }));
    answer(&mut world, view, 1, session, Decision::AllowOnce);
    tool_call(&mut world, session, "t2", "write_file", json!({ "path": "a" }));
    call(&mut world, view, 2, ToolRequest { session: Some(session), ..named("mine", "say", json!({ "say": "slow" })) });
    world.exit(life);
    world.settle();
    let open = world.disk.sessions[&session].calls.values().filter(|row| row.end.is_none());
    assert_eq!(open.map(|row| row.call.to_string()).collect::<Vec<_>>(), ["mine"]);
    assert_eq!(world.runner.plans(), 0);
    assert!(cancel(&mut world, view, 3, "mine"));
    world.settle();
    assert!(world.runner.is_idle());
}

#[test]
fn errands_of_agents_do_not_count_as_calls() {
    let (mut world, view, session, _) = working();
    let life = world.life();
    let what = switchboard_types::Errand::Read { path: "/w/a".to_owned(), line: None, limit: None };
    world.words(life, vec![Word::Errand { session, errand: "e1".into(), what }]);
    world.settle();
    let read = ErrandResult::Read { content: "text".to_owned() };
    let done = |ask: &Ask| matches!(ask, Ask::ErrandDone { result: Ok(result), .. } if *result == read);
    assert!(world.lives[&life].asks.iter().any(done));
    assert!(world.disk.sessions[&session].calls.is_empty());
    assert!(world.views[view].answers.is_empty());
}
