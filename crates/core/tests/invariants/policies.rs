//! Approvals that guard what the host does: edited commands, answers for the session and by rule, time limits, who is told,
//! and an agent's own questions under the same policy.

use serde_json::json;
use switchboard_core::{Host, Input, RequestId, Settings, Trust};
use switchboard_types::{
    AnsweredBy, Approval, ApprovalKind, Ask, BatchMode, Body, Command, Console, Containment, Decision, Effect, Errand,
    Mode, Network, OptionKind, PolicyChange, RequestNo, Resolution, Rule, RuleEffect, RuleWhat, Run, RunAs, SessionId,
    Severity, Told, ToolCode, ToolRequest, Word,
};

use super::tools::{
    answer, bench, bench_session, bench_tab, call, call_all, code, function, named, outcome, outcomes, run, tools,
};
use super::world::World;

fn open(world: &World, session: SessionId) -> Approval {
    world.host.state(session).unwrap().approvals().next().expect("a question is open").approval.clone()
}

fn edit(world: &mut World, view: usize, request: u64, session: SessionId, line: &str) {
    let approval = open(world, session).id;
    let (request, decision, command) = (RequestNo(request), Decision::AllowOnce, Some(line.to_owned()));
    world.command(view, Command::Answer { request, session, approval, decision, command });
}

fn answered(world: &World, view: usize, request: u64) -> Result<(Resolution, AnsweredBy), ToolCode> {
    let told = world.views[view].answers.iter().find_map(|told| match told {
        Told::Answered { request: of, result } if of.0 == request => Some(result.clone()),
        _ => None,
    });
    told.expect("it is answered").map_err(|failure| failure.code)
}

#[test]
fn an_edited_command_is_made_ready_anew_and_run_as_it_was_edited() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    let asked = open(&world, session);
    edit(&mut world, view, 2, session, "make all");
    world.settle();
    assert_eq!(answered(&world, view, 2), Ok((Resolution::AllowOnce, AnsweredBy::You)));
    let resolved = world.bodies(session).into_iter().find_map(|body| match body {
        Body::ApprovalResolved { command, .. } => Some(command),
        _ => None,
    });
    assert_eq!(resolved, Some(Some("make all".to_owned())));
    let (run_as, network, execution) = &world.runner.done[0];
    assert_eq!((*run_as, *network), (RunAs::Shown, Network::Open));
    assert_eq!((execution.command.as_deref(), execution.approval.as_ref()), (Some("make all"), Some(&asked.id)));
    assert_eq!(world.runner.plans(), 0);
    world.end_commands();
    world.settle();
    assert_eq!(code(&outcome(&world, view, 1)), None);
}

#[test]
fn an_edit_that_is_worse_than_what_was_shown_is_asked_about_again() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    let first = open(&world, session);
    edit(&mut world, view, 2, session, "rm -rf / --no-preserve-root");
    world.settle();
    assert!(world.runner.done.is_empty());
    let second = open(&world, session);
    assert!(second.severity > first.severity && second.id != first.id);
    assert_eq!(second.command.as_deref(), Some("rm -rf / --no-preserve-root"));
    answer(&mut world, view, 3, session, Decision::Deny);
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::Denied));
}

#[test]
fn an_edit_can_be_cancelled_and_makes_sense_or_is_refused() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    edit(&mut world, view, 2, session, "  ");
    assert_eq!(answered(&world, view, 2), Err(ToolCode::ValidationError));
    let approval = open(&world, session).id;
    let (decision, command) = (Decision::AllowSession, Some("make all".to_owned()));
    world.command(view, Command::Answer { request: RequestNo(3), session, approval, decision, command });
    assert_eq!(answered(&world, view, 3), Err(ToolCode::ValidationError));
    edit(&mut world, view, 4, session, "make all");
    assert!(super::tools::cancel(&mut world, view, 5, "one"));
    world.settle();
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::Cancelled));
    assert!(world.runner.done.is_empty());
    assert_eq!(world.runner.plans(), 0);
    call(&mut world, view, 6, named("two", "write_file", json!({ "path": "a" })));
    edit(&mut world, view, 7, session, "make");
    assert_eq!(answered(&world, view, 7), Err(ToolCode::ValidationError), "there is no command");
}

#[test]
fn the_first_answer_wins_whichever_way_it_comes_and_the_others_are_told() {
    let (mut world, view) = bench();
    let other = world.view();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    let approval = open(&world, session).id;
    let answer = |request: u64, decision| Command::Answer {
        request: RequestNo(request),
        session,
        approval: approval.clone(),
        decision,
        command: None,
    };
    world.command(view, answer(2, Decision::AllowOnce));
    world.command(other, answer(3, Decision::Deny));
    assert!(world.views[other].answers.is_empty(), "nothing is on the disk");
    world.settle();
    assert_eq!(answered(&world, view, 2), Ok((Resolution::AllowOnce, AnsweredBy::You)));
    assert_eq!(answered(&world, other, 3), Ok((Resolution::AllowOnce, AnsweredBy::Before)));
    let tab = bench_tab(&world);
    world.command(other, Command::Decide { tab, approval, decision: Decision::Deny, command: None, option: None });
    assert!(world.views[other].refused[0].message.contains("allowed once"));
    let nowhere = Command::Answer {
        request: RequestNo(4),
        session: SessionId(99),
        approval: "a1".into(),
        decision: Decision::Deny,
        command: None,
    };
    world.command(other, nowhere);
    assert_eq!(answered(&world, other, 4), Err(ToolCode::ValidationError));
    assert_eq!(world.runner.done.len(), 1);
}

#[test]
fn an_answer_that_the_disk_refuses_is_not_pretended() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    let approval = open(&world, session).id;
    let (request, decision) = (RequestNo(2), Decision::AllowOnce);
    world.command(view, Command::Answer { request, session, approval, decision, command: None });
    world.fail_commit();
    assert_eq!(answered(&world, view, 2), Err(ToolCode::ExecutionError));
    world.settle();
    assert!(world.runner.done.is_empty());
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::ExecutionError));
}

#[test]
fn what_is_allowed_for_the_session_lasts_over_a_restart_and_says_why_nobody_was_asked() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, named("one", "write_file", json!({ "path": "a" })));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::AllowSession);
    world.restart();
    world.handle(Input::Tools(tools()));
    world.reconnect(view);
    call(&mut world, view, 3, named("two", "write_file", json!({ "path": "a" })));
    assert_eq!(code(&outcome(&world, view, 3)), None);
    let (run_as, _, execution) = world.runner.done.last().unwrap();
    assert!(execution.approval.is_none() && execution.unasked.is_some());
    assert_eq!(*run_as, RunAs::Shown);
    call(&mut world, view, 4, named("three", "write_file", json!({ "path": "b" })));
    assert_eq!(outcomes(&world, view, 4), None, "another file is another question");
}

/// An agent calls a lent tool and a person is asked.
fn asked_for_lent() -> (World, usize, SessionId) {
    let (mut world, view, session) = World::with_own();
    world.handle(Input::Tools(tools()));
    let lent = vec![(function("navigate"), Effect::Acts)];
    world.command(view, Command::LendTools { request: RequestNo(90), tools: lent });
    world.prompt(view, "tab", "one");
    world.settle();
    lent_call(&mut world, session, "t1");
    (world, view, session)
}

fn lent_call(world: &mut World, session: SessionId, call: &str) {
    let life = world.life();
    let tool = "navigate".to_owned();
    world.words(life, vec![Word::ToolCall { session, call: call.into(), tool, parameters: json!({}) }]);
    world.settle();
}

#[test]
fn an_answer_by_rule_stores_what_was_shown_and_holds_once_it_is_durable() {
    let (mut world, view, session) = asked_for_lent();
    world.command(view, Command::WatchRules {});
    let offered = open(&world, session).rule;
    assert_eq!(offered, Some(RuleWhat::Tool { tool: "navigate".into() }));
    let approval = open(&world, session).id;
    let (tab, decision) = ("tab".into(), Decision::AllowRule);
    world.command(view, Command::Decide { tab, approval, decision, command: None, option: None });
    assert!(world.disk.rules.is_empty());
    world.settle();
    let [Rule { id, workspace, effect, what, .. }] = world.disk.rules.as_slice() else { panic!("one rule") };
    assert_eq!((workspace.as_ref().unwrap().as_str(), *effect), ("/w", RuleEffect::Allow));
    assert_eq!(Some(what), offered.as_ref());
    assert!(id.as_str().len() == 9 && id.as_str().starts_with('r'));
    let lists = world.views[view].answers.iter().filter(|told| matches!(told, Told::Rules { .. })).count();
    assert_eq!(lists, 2);
    let named = world
        .bodies(session)
        .into_iter()
        .any(|body| matches!(body, Body::ApprovalResolved { rule: Some(rule), .. } if rule == *id));
    assert!(named, "the log says which rule it was");
    let id = id.clone();
    lent_call(&mut world, session, "t2");
    assert_eq!(world.views[view].lent_calls.len(), 2, "nobody is asked again");
    let unasked = world.bodies(session).into_iter().filter_map(|body| match body {
        Body::ExecutionStarted { execution } => execution.unasked,
        _ => None,
    });
    assert!(unasked.last().unwrap().contains(id.as_str()));
    world.command(view, Command::RemoveRule { rule: id });
    lent_call(&mut world, session, "t3");
    assert_eq!(world.views[view].lent_calls.len(), 2, "what was taken out holds no longer");
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 1);
}

#[test]
fn a_question_that_nobody_answers_in_time_is_over() {
    let mut world = World::new();
    world.host = Host::new(Settings { approval_ms: 60_000, ..Settings::default() }, 7);
    world.know_workspace();
    world.trust();
    world.handle(Input::Tools(tools()));
    let view = world.view();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    assert_eq!(open(&world, session).expires, Some(world.now.after_ms(60_000)));
    world.advance(59_999);
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 1);
    world.advance(1);
    world.settle();
    let failure = outcome(&world, view, 1).result.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (ToolCode::Denied, "nobody answered within 60 s"));
    assert_eq!(world.runner.plans(), 0);
}

#[test]
fn who_is_told_of_questions_hears_of_those_of_the_bench_and_of_its_own_sessions_once() {
    let (mut world, view) = bench();
    let other = world.view();
    call(&mut world, view, 1, run("one", "make"));
    world.command(other, Command::WatchApprovals { request: RequestNo(1) });
    world.command(other, Command::WatchApprovals { request: RequestNo(2) });
    assert_eq!(world.views[other].questions.len(), 1, "what is open comes at once");
    call_all(&mut world, view, 2, vec![run("two", "make all")], BatchMode::Parallel);
    while world.run_errand() {}
    assert_eq!(world.views[other].questions.len(), 1, "not before it is durable");
    world.settle();
    assert_eq!(world.views[other].questions.len(), 2);
    assert!(world.views[view].questions.is_empty(), "whoever does not want it is not told");
    world.command(view, super::world::open_own("tab"));
    world.settle();
    let session = world.session_of("tab");
    let mine = ToolRequest { session: Some(session), ..run("three", "make") };
    call(&mut world, view, 3, mine);
    assert_eq!(world.views[other].questions.len(), 2, "that session is not its own");
    call(&mut world, other, 4, ToolRequest { session: Some(session), ..named("four", "say", json!({})) });
    assert_eq!(world.views[other].questions.len(), 3);
}

/// A turn runs, and the agent asks for its own consent.
fn permission(approval: Approval) -> (World, usize, SessionId) {
    let (mut world, view, session) = World::with_own();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.words(life, vec![Word::ApprovalWanted { session, approval }]);
    world.settle();
    (world, view, session)
}

fn wanted_command(line: &str) -> Approval {
    let options = [("yes", OptionKind::AllowOnce), ("no", OptionKind::RejectOnce)];
    let option = |(id, kind): (&str, OptionKind)| switchboard_types::ApprovalOption {
        id: id.to_owned(),
        name: id.to_owned(),
        kind,
    };
    Approval {
        command: Some(line.to_owned()),
        cwd: Some("/w".to_owned()),
        reason: "the agent says so".to_owned(),
        options: options.into_iter().map(option).collect(),
        ..Approval::new("theirs".into(), ApprovalKind::Command, "run it", Severity::Low)
    }
}

fn decide(world: &mut World, view: usize, session: SessionId, decision: Decision) {
    let (tab, approval) = ("tab".into(), open(world, session).id);
    world.command(view, Command::Decide { tab, approval, decision, command: None, option: None });
    world.settle();
}

fn errand(world: &mut World, session: SessionId, name: &str, line: &str) {
    let life = world.life();
    let what = Errand::Run(Run {
        program: line.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
        output_limit: None,
        console: Console::Pipes,
    });
    world.words(life, vec![Word::Errand { session, errand: name.into(), what }]);
    world.settle();
}

#[test]
fn an_agents_own_question_is_never_allowed_unasked_and_says_what_we_think_of_it() {
    let (world, _, session) = permission(wanted_command("make"));
    let asked = open(&world, session);
    assert!(asked.severity >= Severity::Medium, "ours is the higher one");
    assert!(asked.reason.starts_with("the agent says so; "), "{}", asked.reason);
    assert!(asked.rule.is_none() && !asked.editable);
}

#[test]
fn what_the_mode_forbids_is_rejected_at_once_with_the_reason() {
    let (mut world, view, session) = World::with_own();
    let change = PolicyChange { mode: Some(Mode::Plan), ..PolicyChange::default() };
    world.command(view, Command::SetPolicy { tab: "tab".into(), change });
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.words(life, vec![Word::ApprovalWanted { session, approval: wanted_command("make") }]);
    world.settle();
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 0);
    let answer = world.lives[&life].asks.iter().find_map(|ask| match ask {
        Ask::ApprovalAnswer { answer, .. } => Some(answer.clone()),
        _ => None,
    });
    let option = Some("no".to_owned());
    assert_eq!(answer, Some(switchboard_types::Answer::Decided { resolution: Resolution::Deny, option }));
    let said = |body: &Body| matches!(body, Body::Status { message, .. } if message.contains("plan"));
    assert!(world.bodies(session).iter().any(said));
    errand(&mut world, session, "e1", "make");
    assert!(world.runner.done.is_empty(), "and nothing runs");
}

#[test]
fn a_consent_counts_once_for_the_same_thing_in_the_same_turn() {
    let (mut world, view, session) = permission(wanted_command("make"));
    let asked = open(&world, session).id;
    decide(&mut world, view, session, Decision::AllowOnce);
    errand(&mut world, session, "e1", "make other");
    assert_eq!(world.runner.done.len(), 0, "it is something else");
    decide(&mut world, view, session, Decision::Deny);
    errand(&mut world, session, "e2", "make");
    assert_eq!(world.runner.done.len(), 1);
    assert_eq!(world.runner.done[0].2.approval, Some(asked));
    errand(&mut world, session, "e3", "make");
    assert_eq!(world.runner.done.len(), 1, "it is used up");
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 1);
}

#[test]
fn a_consent_is_gone_with_its_turn_and_a_denial_is_none() {
    let (mut world, view, session) = permission(wanted_command("make"));
    decide(&mut world, view, session, Decision::AllowOnce);
    world.complete(session);
    world.prompt(view, "tab", "two");
    world.settle();
    errand(&mut world, session, "e1", "make");
    assert!(world.runner.done.is_empty());
    decide(&mut world, view, session, Decision::Deny);
    let life = world.life();
    world.words(life, vec![Word::ApprovalWanted { session, approval: wanted_command("make") }]);
    world.settle();
    decide(&mut world, view, session, Decision::Deny);
    errand(&mut world, session, "e2", "make");
    assert!(world.runner.done.is_empty());
}

#[test]
fn a_consent_to_a_change_of_a_file_counts_for_just_that_change() {
    let change = |diff: &str| Approval {
        path: Some("/w/a".to_owned()),
        diff: Some(diff.to_owned()),
        ..Approval::new("theirs".into(), ApprovalKind::Edit, "write a", Severity::Low)
    };
    for (diff, times) in [("diff of /w/a", 1), ("another diff", 0)] {
        let (mut world, view, session) = permission(change(diff));
        decide(&mut world, view, session, Decision::AllowOnce);
        let life = world.life();
        let what = Errand::Write { path: "/w/a".to_owned(), content: "text".to_owned() };
        world.words(life, vec![Word::Errand { session, errand: "e1".into(), what }]);
        world.settle();
        assert_eq!(world.runner.done.len(), times, "{diff}");
    }
}

#[test]
fn distrust_ends_what_runs_and_an_answer_that_comes_later_allows_nothing() {
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::AllowOnce);
    call(&mut world, view, 3, run("two", "make"));
    world.handle(Input::Trust { workspace: super::world::workspace(Trust::Untrusted), request: RequestId(9) });
    world.settle();
    for request in [1, 3] {
        assert_eq!(code(&outcome(&world, view, request)), Some(ToolCode::WorkspaceUntrusted));
    }
    assert!(world.runner.is_idle());
    let (mut world, view) = bench();
    call(&mut world, view, 1, run("one", "make"));
    let missing = Containment::Missing { reason: "bwrap is gone".to_owned() };
    world.handle(Input::Containment(missing));
    let session = bench_session(&world);
    answer(&mut world, view, 2, session, Decision::AllowOnce);
    assert_eq!(code(&outcome(&world, view, 1)), Some(ToolCode::Denied));
    assert!(world.runner.done.is_empty());
}
