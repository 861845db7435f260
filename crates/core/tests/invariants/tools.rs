//! Who calls tools, for the tests: the tools of a host, a view at the bench, and what it is told.

use serde_json::{Value, json};
use switchboard_core::Input;
use switchboard_types::{
    BatchMode, Body, Command, CustomTool, Decision, Effect, FunctionTool, Provider, RequestNo, SessionId, TabId, Told,
    Tool, ToolCode, ToolDefinition, ToolOutcome, ToolRequest, ToolStatus,
};

use super::world::World;

pub(crate) fn function(name: &str) -> ToolDefinition {
    let (description, parameters) = (format!("does {name}"), json!({ "type": "object" }));
    ToolDefinition::Function { function: FunctionTool { name: name.into(), description, parameters, strict: None } }
}

fn own(name: &str, effect: Effect) -> Tool {
    Tool { definition: function(name), effect, provider: Provider::Host }
}

/// The tools of a host: one that reads, one that writes, one that runs.
pub(crate) fn tools() -> Vec<Tool> {
    let custom = CustomTool { name: "note".into(), description: "notes".to_owned(), format: None };
    let note = Tool { definition: ToolDefinition::Custom { custom }, effect: Effect::Reads, provider: Provider::Host };
    vec![own("write_file", Effect::Writes), own("say", Effect::Reads), note, own("run_terminal_command", Effect::Runs)]
}

pub(crate) fn wants(tool: &str, parameters: Value) -> ToolRequest {
    ToolRequest { call: None, tool: tool.into(), parameters, session: None, workspace: None, timeout_ms: None }
}

pub(crate) fn named(call: &str, tool: &str, parameters: Value) -> ToolRequest {
    ToolRequest { call: Some(call.into()), ..wants(tool, parameters) }
}

pub(crate) fn run(call: &str, line: &str) -> ToolRequest {
    named(call, "run_terminal_command", json!({ "command": line }))
}

/// A trusted workspace whose tools are ready, with one view.
pub(crate) fn bench() -> (World, usize) {
    let mut world = World::new();
    world.trust();
    world.handle(Input::Tools(tools()));
    let view = world.view();
    (world, view)
}

pub(crate) fn call_all(world: &mut World, view: usize, request: u64, calls: Vec<ToolRequest>, mode: BatchMode) {
    world.command(view, Command::CallTools { request: RequestNo(request), calls, mode });
}

pub(crate) fn call(world: &mut World, view: usize, request: u64, wanted: ToolRequest) {
    call_all(world, view, request, vec![wanted], BatchMode::Parallel);
    world.settle();
}

pub(crate) fn outcomes(world: &World, view: usize, request: u64) -> Option<Vec<ToolOutcome>> {
    world.views[view].answers.iter().find_map(|told| match told {
        Told::ToolsCalled { request: of, outcomes } if of.0 == request => {
            Some(outcomes.clone().expect("the request was taken"))
        }
        _ => None,
    })
}

pub(crate) fn outcome(world: &World, view: usize, request: u64) -> ToolOutcome {
    let mut all = outcomes(world, view, request).expect("it is answered");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

pub(crate) fn code(outcome: &ToolOutcome) -> Option<ToolCode> {
    outcome.result.as_ref().err().map(|failure| failure.code)
}

/// The tab of the bench.
pub(crate) fn bench_tab(world: &World) -> TabId {
    let is_bench = |tab: &TabId| tab.as_str().starts_with("bench:");
    world.host.open_tabs().map(|(tab, _)| tab).find(|tab| is_bench(tab)).expect("there is a bench").clone()
}

/// The session of the bench.
pub(crate) fn bench_session(world: &World) -> SessionId {
    world.session_of(bench_tab(world).as_str())
}

pub(crate) fn cancel(world: &mut World, view: usize, request: u64, call: &str) -> bool {
    world.command(view, Command::CancelCall { request: RequestNo(request), call: call.into() });
    let told = world.views[view].answers.iter().rev().find_map(|told| match told {
        Told::CallCancelled { request: of, cancelled } if of.0 == request => Some(*cancelled),
        _ => None,
    });
    told.expect("a cancel is answered at once")
}

/// Answers the only question of a session.
pub(crate) fn answer(world: &mut World, view: usize, request: u64, session: SessionId, decision: Decision) {
    let state = world.host.state(session).unwrap();
    let approval = state.approvals().next().expect("a question is open").approval.id.clone();
    let request = RequestNo(request);
    world.command(view, Command::Answer { request, session, approval, decision, command: None });
    world.settle();
}

pub(crate) fn statuses(world: &World, session: SessionId) -> Vec<ToolStatus> {
    let told = world.bodies(session).into_iter().filter_map(|body| match body {
        Body::ToolCall { call } | Body::ToolCallUpdate { call } => Some(call.status),
        _ => None,
    });
    told.collect()
}
