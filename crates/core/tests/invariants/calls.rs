//! Calls of tools: ready or refused, judged, recorded, carried out once, answered exactly once and only when durable.

use serde_json::json;
use switchboard_core::{Input, Trust};
use switchboard_types::limits::{DEFAULT_CALL_MS, MAX_BATCH_CALLS, MAX_CALL_MS, MAX_RUNNING_CALLS};
use switchboard_types::{
    AgentName, BatchMode, Body, Command, Decision, ExecutionEnd, RejectCode, RequestNo, Resolution, SessionId, Success,
    Told, ToolCode, ToolFailure, ToolOutcome, ToolRequest, ToolStatus,
};

use super::tools::{
    answer, bench, bench_session, bench_tab, call, call_all, cancel, code, named, outcome, outcomes, run, statuses,
    tools, wants,
};
use super::world::{World, workspace};

#[test]
fn before_the_tools_are_ready_nobody_is_told_of_any() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, Command::ListTools { request: RequestNo(1) });
    call_all(&mut world, view, 2, vec![wants("say", json!({}))], BatchMode::Parallel);
    let not_ready = || ToolFailure::new(ToolCode::RegistryNotReady, "ToolRegistry not ready");
    let told = vec![
        Told::Tools { request: RequestNo(1), tools: Err(not_ready()) },
        Told::ToolsCalled { request: RequestNo(2), outcomes: Err(not_ready()) },
    ];
    assert_eq!(world.views[view].answers, told);
    world.handle(Input::Tools(tools()));
    world.command(view, Command::ListTools { request: RequestNo(3) });
    let Some(Told::Tools { tools: Ok(tools), .. }) = world.views[view].answers.last() else { panic!("no list") };
    let names: Vec<String> = tools.iter().map(|tool| tool.name().to_string()).collect();
    assert_eq!(names, ["note", "run_terminal_command", "say", "write_file"]);
}

#[test]
fn a_call_is_logged_served_and_answered_once_its_end_is_durable() {
    let (mut world, view) = bench();
    call_all(&mut world, view, 1, vec![named("one", "say", json!({ "word": 1 }))], BatchMode::Parallel);
    while world.run_errand() {}
    assert_eq!(outcomes(&world, view, 1), None, "nothing is on the disk");
    world.settle();
    let session = bench_session(&world);
    let metadata = Some(json!({ "executionId": "one", "sessionId": session.to_string() }));
    let result = Ok(json!({ "word": 1 }));
    assert_eq!(outcome(&world, view, 1), ToolOutcome { call: "one".into(), result, duration_ms: 0, metadata });
    assert_eq!(statuses(&world, session), [ToolStatus::Pending, ToolStatus::Running, ToolStatus::Completed]);
    let rows: Vec<_> = world.disk.sessions[&session].calls.values().collect();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].tool.as_str(), rows[0].parameters.as_str()), ("say", r#"{"word":1}"#));
    let end = rows[0].end.as_ref().unwrap();
    assert_eq!((end.success, end.result.as_str()), (Success::Yes, r#"{"word":1}"#));
}

#[test]
fn the_bench_is_one_session_a_workspace_found_again_after_a_restart_and_no_process_works_there() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, wants("say", json!({})));
    call(&mut world, view, 2, wants("say", json!({})));
    let session = bench_session(&world);
    assert_eq!(world.disk.sessions.len(), 1);
    let row = world.disk.sessions[&session].row.clone().unwrap();
    assert_eq!((row.agent.as_str(), row.title.as_str()), (AgentName::BENCH, "Tool bench"));
    let tab = bench_tab(&world);
    world.prompt(view, tab.as_str(), "one");
    world.command(view, Command::RestartAgent { tab });
    world.settle();
    let refused: Vec<RejectCode> = world.views[view].refused.iter().map(|reject| reject.code).collect();
    assert_eq!(refused, [RejectCode::AgentUnavailable; 2]);
    let open =
        Command::OpenTab { tab: "t".into(), agent: Some("bench".into()), workspace: None, seen: Default::default() };
    world.command(view, open);
    assert_eq!(world.views[view].refused.len(), 3);
    world.restart();
    world.handle(Input::Tools(tools()));
    world.reconnect(view);
    call(&mut world, view, 3, wants("say", json!({})));
    assert_eq!(bench_session(&world), session);
    assert!(world.lives.is_empty(), "nobody works at the bench");
}

#[test]
fn a_bench_has_a_name_that_no_deleted_bench_had() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, wants("say", json!({})));
    let (session, tab) = (bench_session(&world), bench_tab(&world));
    world.command(view, Command::DeleteSession { session });
    world.settle();
    call(&mut world, view, 2, wants("say", json!({})));
    assert_ne!(bench_tab(&world), tab);
}

#[test]
fn what_is_wrong_with_a_request_is_said_inside_its_result() {
    let (mut world, view) = bench();
    let of = |session: u64| ToolRequest { session: Some(SessionId(session)), ..wants("say", json!({})) };
    let timeout = |ms: u64| ToolRequest { timeout_ms: Some(ms), ..wants("say", json!({})) };
    let elsewhere = ToolRequest { workspace: Some("/elsewhere".into()), ..wants("say", json!({})) };
    let wrong = vec![
        (wants("nothing", json!({})), ToolCode::ToolNotFound),
        (of(77), ToolCode::ValidationError),
        (timeout(0), ToolCode::ValidationError),
        (timeout(MAX_CALL_MS + 1), ToolCode::ValidationError),
        (elsewhere, ToolCode::ValidationError),
        (named("", "say", json!({})), ToolCode::ValidationError),
        (named(&"x".repeat(129), "say", json!({})), ToolCode::ValidationError),
        (wants("say", json!({ "say": "wrong" })), ToolCode::ValidationError),
        (wants("say", json!({ "say": "large" })), ToolCode::ExecutionError),
    ];
    let (calls, codes): (Vec<_>, Vec<_>) = wrong.into_iter().unzip();
    call_all(&mut world, view, 1, calls, BatchMode::Parallel);
    world.settle();
    let all = outcomes(&world, view, 1).unwrap();
    assert_eq!(all.iter().map(|outcome| code(outcome).unwrap()).collect::<Vec<_>>(), codes);
    let findings = all[7].result.as_ref().unwrap_err().details.clone().unwrap();
    assert_eq!(findings[0]["code"], json!("ENUM_MISMATCH"));
    call_all(&mut world, view, 2, vec![wants("say", json!({})); MAX_BATCH_CALLS + 1], BatchMode::Parallel);
    let Some(Told::ToolsCalled { outcomes: Err(failure), .. }) = world.views[view].answers.last() else { panic!() };
    assert_eq!(failure.code, ToolCode::ValidationError);
    call_all(&mut world, view, 3, Vec::new(), BatchMode::Sequential);
    assert_eq!(outcomes(&world, view, 3), Some(Vec::new()));
}

#[test]
fn a_name_is_a_calls_own_until_its_outcome() {
    let (mut world, view) = bench();
    let slow = || named("one", "say", json!({ "say": "slow" }));
    call_all(&mut world, view, 1, vec![slow(), slow()], BatchMode::Parallel);
    world.settle();
    let other = world.view();
    call(&mut world, other, 2, slow());
    assert_eq!(code(&outcome(&world, other, 2)), Some(ToolCode::ValidationError));
    assert!(cancel(&mut world, other, 3, "one"));
    world.settle();
    let all = outcomes(&world, view, 1).unwrap();
    assert_eq!([code(&all[0]), code(&all[1])], [Some(ToolCode::Cancelled), Some(ToolCode::ValidationError)]);
    assert!(!cancel(&mut world, other, 4, "one"), "it is over");
    call(&mut world, other, 5, named("one", "say", json!({})));
    assert_eq!(code(&outcome(&world, other, 5)), None);
}

#[test]
fn batches_go_at_once_or_in_order_or_until_one_fails() {
    let (mut world, view) = bench();
    let three = || {
        vec![
            named("a", "say", json!({ "n": 1 })),
            named("b", "say", json!({ "say": "wrong" })),
            named("c", "say", json!({ "n": 3 })),
        ]
    };
    let codes =
        |world: &World, request: u64| outcomes(world, view, request).unwrap().iter().map(code).collect::<Vec<_>>();
    for (request, mode) in [(1, BatchMode::Parallel), (2, BatchMode::Sequential)] {
        call_all(&mut world, view, request, three(), mode);
        world.settle();
        assert_eq!(codes(&world, request), [None, Some(ToolCode::ValidationError), None]);
    }
    call_all(&mut world, view, 3, three(), BatchMode::SequentialUntilError);
    world.settle();
    assert_eq!(codes(&world, 3), [None, Some(ToolCode::ValidationError), Some(ToolCode::Cancelled)]);
    let slow = vec![named("a", "say", json!({ "say": "slow" })), named("b", "say", json!({}))];
    call_all(&mut world, view, 4, slow, BatchMode::Sequential);
    world.settle();
    assert!(cancel(&mut world, view, 5, "b"), "what waits for its turn can be cancelled");
    assert!(cancel(&mut world, view, 6, "a"));
    world.settle();
    assert_eq!(codes(&world, 4), [Some(ToolCode::Cancelled); 2]);
}

#[test]
fn a_command_is_asked_recorded_run_and_answered_when_it_has_ended() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    assert_eq!(outcomes(&world, view, 1), None);
    world.advance(DEFAULT_CALL_MS * 2);
    world.settle();
    assert_eq!(outcomes(&world, view, 1), None, "a wait for a person is not counted");
    answer(&mut world, view, 2, session, Decision::AllowOnce);
    assert_eq!(outcomes(&world, view, 1), None, "it runs");
    world.now = world.now.after_ms(1_234);
    world.end_commands();
    world.settle();
    let outcome = outcome(&world, view, 1);
    assert_eq!(outcome.result, Ok(json!({ "output": "out" })));
    assert_eq!(outcome.duration_ms, 1_234);
    let metadata = outcome.metadata.unwrap();
    assert!(metadata["approval"].as_str().unwrap().starts_with(&format!("{session}:a")));
    let output = world.bodies(session).iter().any(|body| matches!(body, Body::ExecutionOutput { .. }));
    assert!(output);
    let execution = &world.runner.done[0].2;
    assert_eq!(execution.call, Some("one".into()));
    world.assert_whole();
}

#[test]
fn what_is_denied_is_answered_so_and_never_done() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::Deny);
    let denied = outcome(&world, view, 1);
    assert_eq!(denied.result, Err(ToolFailure::new(ToolCode::Denied, "the person declined this")));
    assert!(world.runner.done.is_empty());
    assert_eq!(world.runner.plans(), 0);
    assert!(world.runner.is_idle());
}

#[test]
fn nothing_is_written_or_run_where_nobody_trusts_and_reading_works() {
    let mut world = World::new();
    world.handle(Input::Tools(tools()));
    let view = world.view();
    let calls =
        vec![run("one", "make"), named("two", "write_file", json!({ "path": "a" })), named("three", "say", json!({}))];
    call_all(&mut world, view, 1, calls, BatchMode::Parallel);
    world.settle();
    let all = outcomes(&world, view, 1).unwrap();
    let untrusted = Some(ToolCode::WorkspaceUntrusted);
    assert_eq!(all.iter().map(code).collect::<Vec<_>>(), [untrusted, untrusted, None]);
    assert!(world.runner.done.is_empty());
    world.handle(Input::Workspace(workspace(Trust::Trusted)));
    call(&mut world, view, 2, run("four", "make"));
    assert_eq!(outcomes(&world, view, 2), None, "a person is asked");
}

#[test]
fn what_takes_too_long_is_ended_and_answered_once_it_is_over() {
    let (mut world, view) = bench();
    let slow = ToolRequest { timeout_ms: Some(500), ..named("one", "say", json!({ "say": "slow" })) };
    call(&mut world, view, 1, slow);
    let long = ToolRequest { timeout_ms: Some(1_000), ..run("two", "sleep 9") };
    call(&mut world, view, 2, long);
    let session = bench_session(&world);
    answer(&mut world, view, 3, session, Decision::AllowOnce);
    world.advance(499);
    world.settle();
    assert_eq!(outcomes(&world, view, 1), None);
    world.advance(1);
    assert_eq!(outcomes(&world, view, 1), None, "the runner must say so first");
    world.settle();
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::Timeout));
    world.advance(500);
    world.settle();
    assert_eq!(code(&outcome(&world, view, 2)), Some(ToolCode::Timeout));
    assert_eq!(outcome(&world, view, 2).duration_ms, 1_000);
    assert!(world.runner.is_idle(), "nothing is left behind");
    let killed = ExecutionEnd::Signalled { signal: "SIGKILL".to_owned() };
    let ended = |body: &Body| matches!(body, Body::ExecutionEnded { end, .. } if *end == killed);
    assert!(world.bodies(session).iter().any(ended));
}

#[test]
fn a_call_can_be_cancelled_while_it_waits_is_asked_about_or_runs() {
    let (mut world, view) = bench();
    call_all(&mut world, view, 1, vec![run("one", "make")], BatchMode::Parallel);
    assert!(cancel(&mut world, view, 2, "one"), "it is being made ready");
    world.settle();
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::Cancelled));
    call(&mut world, view, 3, run("two", "make"));
    assert!(cancel(&mut world, view, 4, "two"), "a person is asked");
    world.settle();
    assert_eq!(code(&outcome(&world, view, 3)), Some(ToolCode::Cancelled));
    let session = bench_session(&world);
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 0);
    call(&mut world, view, 5, run("three", "make"));
    answer(&mut world, view, 6, session, Decision::AllowOnce);
    assert!(cancel(&mut world, view, 7, "three"), "it runs");
    assert_eq!(outcomes(&world, view, 5), None);
    world.settle();
    assert_eq!(code(&outcome(&world, view, 5)), Some(ToolCode::Cancelled));
    assert!(world.runner.is_idle());
    assert_eq!(world.runner.plans(), 0);
}

#[test]
fn only_so_many_are_carried_out_at_once_and_the_others_wait_in_order() {
    let (mut world, view) = bench();
    let slow = |at: usize| named(&format!("c{at}"), "say", json!({ "say": "slow" }));
    call_all(&mut world, view, 1, (0..MAX_RUNNING_CALLS + 2).map(slow).collect(), BatchMode::Parallel);
    world.settle();
    assert_eq!(world.runner.wanted.len(), MAX_RUNNING_CALLS);
    cancel(&mut world, view, 2, "c7");
    world.settle();
    assert_eq!(world.runner.wanted.len(), MAX_RUNNING_CALLS + 1);
    assert!(cancel(&mut world, view, 3, &format!("c{}", MAX_RUNNING_CALLS + 1)), "the last waits");
    world.settle();
    assert_eq!(world.runner.wanted.len(), MAX_RUNNING_CALLS + 1, "what was cancelled never begins");
}

#[test]
fn who_waits_for_a_person_keeps_nobody_from_being_served() {
    let (mut world, view) = bench();
    let all: Vec<ToolRequest> = (0..60).map(|at| run(&format!("r{at}"), &format!("make {at}"))).collect();
    call_all(&mut world, view, 1, all, BatchMode::Parallel);
    world.settle();
    let slow = |at: usize| named(&format!("c{at}"), "say", json!({ "say": "slow" }));
    call_all(&mut world, view, 2, (0..MAX_RUNNING_CALLS).map(slow).collect(), BatchMode::Parallel);
    world.settle();
    assert_eq!(world.runner.wanted.len(), 60 + MAX_RUNNING_CALLS);
    let session = bench_session(&world);
    answer(&mut world, view, 3, session, Decision::AllowOnce);
    assert!(world.runner.done.is_empty(), "what was allowed now waits for its place");
    cancel(&mut world, view, 4, "c0");
    world.settle();
    assert_eq!(world.runner.done.len(), 1);
}

#[test]
fn a_view_that_goes_takes_its_calls_along() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::AllowOnce);
    call(&mut world, view, 3, run("two", "make"));
    let later = vec![named("three", "say", json!({ "say": "slow" })), named("four", "say", json!({}))];
    call_all(&mut world, view, 4, later, BatchMode::Sequential);
    world.settle();
    world.disconnect(view);
    world.settle();
    assert!(world.runner.is_idle());
    assert!(world.disk.sessions[&session].calls.values().all(|row| row.end.is_some()));
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 0);
    world.connect(view);
    call(&mut world, view, 5, named("four", "say", json!({})));
    assert_eq!(code(&outcome(&world, view, 5)), None, "the name is free again");
}

#[test]
fn a_disk_that_refuses_answers_every_call_and_lets_nothing_happen() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, wants("say", json!({})));
    let calls =
        vec![named("one", "say", json!({})), run("two", "make"), named("three", "say", json!({ "say": "slow" }))];
    call_all(&mut world, view, 2, calls, BatchMode::Parallel);
    while world.run_errand() {}
    world.fail_commit();
    let all = outcomes(&world, view, 2).expect("everybody is answered at once");
    assert!(all.iter().all(|outcome| code(outcome) == Some(ToolCode::ExecutionError)));
    world.settle();
    call(&mut world, view, 3, wants("say", json!({})));
    assert_eq!(code(&outcome(&world, view, 3)), Some(ToolCode::ExecutionError), "it is being read again");
    call(&mut world, view, 4, wants("say", json!({})));
    assert_eq!(code(&outcome(&world, view, 4)), None);
    assert!(world.runner.done.is_empty());
}

#[test]
fn after_a_crash_open_calls_have_failed_their_executions_are_unknown_and_their_questions_expired() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::AllowOnce);
    call(&mut world, view, 3, run("two", "make"));
    world.restart();
    world.settle();
    let bodies = world.bodies(session);
    let unknown = |body: &&Body| matches!(body, Body::ExecutionEnded { end: ExecutionEnd::Unknown {}, .. });
    assert_eq!(bodies.iter().filter(unknown).count(), 1);
    let expired = |body: &&Body| matches!(body, Body::ApprovalResolved { resolution: Resolution::Expired, .. });
    assert_eq!(bodies.iter().filter(expired).count(), 1);
    for row in world.disk.sessions[&session].calls.values() {
        assert_eq!(row.end.as_ref().map(|end| end.success), Some(Success::No));
    }
    let failed = |body: &&Body| matches!(body, Body::ToolCallUpdate { call } if call.status == ToolStatus::Failed);
    assert_eq!(bodies.iter().filter(failed).count(), 2);
    let length = bodies.len();
    world.restart();
    world.settle();
    assert_eq!(world.log(session).len(), length, "once");
    world.reconnect(view);
    world.settle();
    world.assert_whole();
}

#[test]
fn stopping_ends_every_call() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::AllowOnce);
    let later = vec![named("three", "say", json!({ "say": "slow" })), named("four", "say", json!({}))];
    call_all(&mut world, view, 3, later, BatchMode::Sequential);
    world.settle();
    world.handle(Input::Stop);
    world.settle();
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::Cancelled));
    let all = outcomes(&world, view, 3).unwrap();
    assert!(all.iter().all(|outcome| code(outcome) == Some(ToolCode::Cancelled)));
    call_all(&mut world, view, 4, vec![wants("say", json!({}))], BatchMode::Parallel);
    assert!(matches!(world.views[view].answers.last(), Some(Told::ToolsCalled { outcomes: Err(_), .. })));
}

#[test]
fn closing_or_deleting_the_bench_cancels_what_is_open_there() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::AllowOnce);
    call(&mut world, view, 3, run("two", "make"));
    world.command(view, Command::DeleteSession { session });
    world.settle();
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::Cancelled));
    assert_eq!(code(&outcome(&world, view, 3)), Some(ToolCode::Cancelled));
    assert!(!world.disk.sessions.contains_key(&session));
    assert!(world.runner.is_idle());
    call(&mut world, view, 4, wants("say", json!({})));
    assert_eq!(code(&outcome(&world, view, 4)), None);
    assert_ne!(bench_session(&world), session);
}

#[test]
fn the_list_of_calls_is_the_stores_and_bounded() {
    let (mut world, view) = bench();
    for at in 1..=3 {
        world.advance(1);
        call(&mut world, view, at, wants(if at == 2 { "note" } else { "say" }, json!({})));
    }
    let list = |tool: Option<&str>, before, limit| Command::ListCalls {
        request: RequestNo(limit as u64 + 10),
        tool: tool.map(Into::into),
        before,
        limit,
    };
    world.command(view, list(Some("say"), None, 1));
    let Some(Told::Calls { calls: Ok(rows), next: Some(next), .. }) = world.views[view].answers.last().cloned() else {
        panic!("a list comes")
    };
    assert_eq!(rows.len(), 1);
    world.command(view, list(Some("say"), Some(next), 2));
    let Some(Told::Calls { calls: Ok(rest), next: None, .. }) = world.views[view].answers.last().cloned() else {
        panic!("the rest comes")
    };
    assert!(rest.len() == 1 && rest[0].asked < rows[0].asked);
}
