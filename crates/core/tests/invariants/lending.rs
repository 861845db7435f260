//! Tools that views lend: taken whole or not at all, called only when that is allowed and recorded, gone with their link.

use serde_json::json;
use switchboard_core::Input;
use switchboard_types::limits::{MAX_DEFINITION_BYTES, MAX_LENT_TOOLS};
use switchboard_types::{
    BatchMode, Body, Command, Decision, Effect, ExecutionEnd, FunctionTool, RequestNo, SessionId, Told, ToolCode,
    ToolDefinition, ToolFailure, ToolName, ToolRequest, Word,
};

use super::tools::{bench, bench_session, call, call_all, cancel, code, function, named, outcome, outcomes, tools};
use super::world::World;

fn lend(
    world: &mut World,
    view: usize,
    request: u64,
    lent: Vec<(ToolDefinition, Effect)>,
) -> Result<usize, ToolFailure> {
    world.command(view, Command::LendTools { request: RequestNo(request), tools: lent });
    let Some(Told::Lent { result, .. }) = world.views[view].answers.last().cloned() else { panic!("no answer") };
    result.map(|names: Vec<ToolName>| names.len())
}

fn give(world: &mut World, view: usize, result: Result<serde_json::Value, ToolFailure>) {
    let (call, _) = world.views[view].lent_calls.remove(0);
    world.command(view, Command::LentResult { call, result });
    world.settle();
}

/// A bench with a second view that lends a tool that looks and one that acts.
fn lent() -> (World, usize, usize) {
    let (mut world, view) = bench();
    let lender = world.view();
    let both = vec![(function("snapshot"), Effect::Reads), (function("navigate"), Effect::Acts)];
    assert_eq!(lend(&mut world, lender, 1, both), Ok(2));
    (world, view, lender)
}

#[test]
fn a_lent_tool_is_listed_called_through_its_link_and_recorded() {
    let (mut world, view, lender) = lent();
    world.command(view, Command::ListTools { request: RequestNo(1) });
    let Some(Told::Tools { tools: Ok(tools), .. }) = world.views[view].answers.last() else { panic!("no list") };
    assert_eq!(tools.len(), 6);
    call_all(&mut world, view, 2, vec![named("one", "navigate", json!({ "to": "x" }))], BatchMode::Parallel);
    while world.run_errand() {}
    assert!(world.views[lender].lent_calls.is_empty(), "its start is not on the disk");
    world.settle();
    // Nobody but the lender, and nothing but what it was asked, is an answer.
    let (number, _) = world.views[lender].lent_calls[0];
    world.command(view, Command::LentResult { call: number, result: Ok(json!(1)) });
    world.command(lender, Command::LentResult { call: number + 1, result: Ok(json!(1)) });
    world.settle();
    assert_eq!(outcomes(&world, view, 2), None);
    give(&mut world, lender, Ok(json!("there")));
    assert_eq!(outcome(&world, view, 2).result, Ok(json!("there")));
    world.command(lender, Command::LentResult { call: number, result: Ok(json!("again")) });
    world.settle();
    let session = bench_session(&world);
    let returned = |body: &&Body| matches!(body, Body::ExecutionEnded { end: ExecutionEnd::Returned {}, .. });
    assert_eq!(world.bodies(session).iter().filter(returned).count(), 1);
    assert_eq!(world.runner.plans(), 0);
}

#[test]
fn what_cannot_be_lent_is_refused_whole() {
    let (mut world, _, lender) = lent();
    let free = || (function("free"), Effect::Acts);
    let schema = FunctionTool { name: "bad".into(), description: String::new(), parameters: json!(7), strict: None };
    let large = FunctionTool {
        name: "large".into(),
        description: "x".repeat(MAX_DEFINITION_BYTES),
        parameters: json!({}),
        strict: None,
    };
    let wrong = [
        vec![free(), (function("say"), Effect::Acts)],
        vec![free(), (function("snapshot"), Effect::Acts)],
        vec![free(), (function(""), Effect::Acts)],
        vec![free(), (function(&"x".repeat(129)), Effect::Acts)],
        vec![free(), free()],
        vec![free(), (ToolDefinition::Function { function: schema }, Effect::Acts)],
        vec![free(), (ToolDefinition::Function { function: large }, Effect::Acts)],
        (0..MAX_LENT_TOOLS).map(|at| (function(&format!("t{at}")), Effect::Acts)).collect(),
    ];
    for (at, tools) in wrong.into_iter().enumerate() {
        let failure = lend(&mut world, lender, at as u64 + 10, tools).unwrap_err();
        assert_eq!(failure.code, ToolCode::ValidationError, "{}", failure.message);
    }
    assert_eq!(lend(&mut world, lender, 30, vec![free()]), Ok(1), "none of them was taken");
}

#[test]
fn nothing_is_lent_before_the_hosts_own_tools_are_known() {
    let mut world = World::new();
    let view = world.view();
    let failure = lend(&mut world, view, 1, vec![(function("free"), Effect::Reads)]).unwrap_err();
    assert_eq!(failure.code, ToolCode::RegistryNotReady);
}

#[test]
fn a_lender_that_goes_takes_its_tools_along_and_their_calls_fail() {
    let (mut world, view, lender) = lent();
    call(&mut world, view, 1, named("one", "snapshot", json!({})));
    assert_eq!(world.views[lender].lent_calls.len(), 1);
    world.disconnect(lender);
    world.settle();
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::ExecutionError));
    call(&mut world, view, 2, named("two", "snapshot", json!({})));
    assert_eq!(code(&outcome(&world, view, 2)), Some(ToolCode::ToolNotFound));
    world.connect(lender);
    assert_eq!(lend(&mut world, lender, 3, vec![(function("snapshot"), Effect::Reads)]), Ok(1), "the name is free");
}

#[test]
fn lent_calls_are_checked_timed_and_cancelled_as_all_others() {
    let (mut world, view, lender) = lent();
    call(&mut world, view, 1, named("one", "snapshot", json!({ "say": "wrong" })));
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::ValidationError));
    assert!(world.views[lender].lent_calls.is_empty());
    call(&mut world, view, 2, ToolRequest { timeout_ms: Some(100), ..named("two", "snapshot", json!({})) });
    world.advance(100);
    world.settle();
    assert_eq!(code(&outcome(&world, view, 2)), Some(ToolCode::Timeout));
    give(&mut world, lender, Ok(json!("late")));
    call(&mut world, view, 3, named("three", "snapshot", json!({})));
    assert!(cancel(&mut world, view, 4, "three"));
    world.settle();
    assert_eq!(code(&outcome(&world, view, 3)), Some(ToolCode::Cancelled));
    world.views[lender].lent_calls.clear();
    call(&mut world, view, 5, named("four", "snapshot", json!({})));
    give(&mut world, lender, Err(ToolFailure::new(ToolCode::WorkspaceUntrusted, "no")));
    let failure = outcome(&world, view, 5).result.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (ToolCode::ExecutionError, "no"));
    let session = bench_session(&world);
    assert_eq!(world.host.state(session).unwrap().executions().count(), 0);
}

/// An agent at work, and a view that lends a tool that acts.
fn agent_and_lender() -> (World, usize, SessionId) {
    let (mut world, view, session) = World::with_own();
    world.handle(Input::Tools(tools()));
    assert_eq!(lend(&mut world, view, 1, vec![(function("navigate"), Effect::Acts)]), Ok(1));
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    let (call, tool) = ("t1".into(), "navigate".to_owned());
    world.words(life, vec![Word::ToolCall { session, call, tool, parameters: json!({}) }]);
    world.settle();
    (world, view, session)
}

#[test]
fn what_an_agent_may_not_call_never_reaches_the_lender() {
    let (mut world, view, session) = agent_and_lender();
    assert!(world.views[view].lent_calls.is_empty(), "a person is asked first");
    super::tools::answer(&mut world, view, 2, session, Decision::Deny);
    assert!(world.views[view].lent_calls.is_empty());
    assert!(world.owed_calls.is_empty(), "the agent has its answer");
}

#[test]
fn what_an_agent_may_call_reaches_the_lender_once() {
    let (mut world, view, session) = agent_and_lender();
    super::tools::answer(&mut world, view, 2, session, Decision::AllowOnce);
    assert_eq!(world.views[view].lent_calls.len(), 1);
    give(&mut world, view, Ok(json!("there")));
    assert!(world.owed_calls.is_empty());
    assert!(world.runner.is_idle());
}
