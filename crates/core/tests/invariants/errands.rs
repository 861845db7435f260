//! What agents ask the host to do: shown first, recorded before it happens, done at most once, answered exactly once.

use switchboard_types::limits::MAX_OPEN_ERRANDS;
use switchboard_types::{
    Ask, Body, Command, Console, Decision, Errand, ErrandCode, ErrandFailure, ErrandResult, ExecutionEnd, RejectCode,
    Run, SessionId, Word,
};

use super::runner::is_code;
use super::world::World;

fn write() -> Errand {
    Errand::Write { path: "/w/a".to_owned(), content: "text".to_owned() }
}

fn run() -> Errand {
    Errand::Run(Run {
        program: "make".to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
        output_limit: None,
        console: Console::Pipes,
    })
}

fn wants(world: &mut World, session: SessionId, name: &str, what: Errand) {
    let life = world.life();
    world.words(life, vec![Word::Errand { session, errand: name.into(), what }]);
    world.settle();
}

fn working() -> (World, usize, SessionId) {
    let (mut world, view, session) = World::with_own();
    world.prompt(view, "tab", "one");
    world.settle();
    (world, view, session)
}

fn decide(world: &mut World, view: usize, session: SessionId, decision: Decision) {
    let state = world.host.state(session).unwrap();
    let approval = state.approvals().next().expect("a question is open").approval.id.clone();
    world.command(view, Command::Decide { tab: "tab".into(), approval, decision, command: None, option: None });
    world.settle();
}

fn answers(world: &World) -> Vec<(String, Result<ErrandResult, ErrandFailure>)> {
    let asks = world.lives.values().flat_map(|life| &life.asks);
    let done = asks.filter_map(|ask| match ask {
        Ask::ErrandDone { errand, result, .. } => Some((errand.to_string(), result.clone())),
        _ => None,
    });
    done.collect()
}

fn kinds(world: &World, session: SessionId) -> Vec<&'static str> {
    let named = world.bodies(session).into_iter().filter_map(|body| match body {
        Body::ApprovalAsked { .. } => Some("asked"),
        Body::ApprovalResolved { .. } => Some("resolved"),
        Body::ExecutionStarted { .. } => Some("started"),
        Body::ExecutionOutput { .. } => Some("output"),
        Body::ExecutionEnded { .. } => Some("ended"),
        Body::TurnEnded { .. } => Some("turn ended"),
        _ => None,
    });
    named.collect()
}

fn ends(world: &World, session: SessionId) -> Vec<ExecutionEnd> {
    let ends = world.bodies(session).into_iter().filter_map(|body| match body {
        Body::ExecutionEnded { end, .. } => Some(end),
        _ => None,
    });
    ends.collect()
}

#[test]
fn invariant_4_a_write_is_asked_recorded_done_and_answered_in_this_order() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", write());
    assert_eq!(kinds(&world, session), ["asked"]);
    assert_eq!(answers(&world), vec![]);
    decide(&mut world, view, session, Decision::AllowOnce);
    assert_eq!(kinds(&world, session), ["asked", "resolved", "started", "ended"]);
    assert_eq!(answers(&world), vec![("e1".to_owned(), Ok(ErrandResult::Written { bytes: 4 }))]);
}

#[test]
fn a_read_is_served_without_a_question_and_without_a_turn() {
    let (mut world, _, session) = World::with_own();
    let read = Errand::Read { path: "/w/a".to_owned(), line: None, limit: None };
    wants(&mut world, session, "e1", read);
    assert_eq!(answers(&world), vec![("e1".to_owned(), Ok(ErrandResult::Read { content: "text".to_owned() }))]);
    assert_eq!(kinds(&world, session), [""; 0]);
}

#[test]
fn invariant_11_nothing_is_written_or_run_while_no_turn_runs() {
    let (mut world, _, session) = World::with_own();
    wants(&mut world, session, "e1", run());
    assert!(is_code(&answers(&world)[0].1, ErrandCode::Denied));
    assert_eq!(kinds(&world, session), [""; 0]);
}

#[test]
fn what_is_denied_is_not_done_and_its_plan_is_forgotten() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", write());
    decide(&mut world, view, session, Decision::Deny);
    assert_eq!(kinds(&world, session), ["asked", "resolved"]);
    assert!(is_code(&answers(&world)[0].1, ErrandCode::Denied));
    assert_eq!(world.runner.plans(), 0);
}

#[test]
fn what_was_allowed_for_the_session_is_not_asked_again_but_recorded_each_time() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", write());
    decide(&mut world, view, session, Decision::AllowSession);
    wants(&mut world, session, "e2", write());
    assert_eq!(kinds(&world, session), ["asked", "resolved", "started", "ended", "started", "ended"]);
    let other = Errand::Write { path: "/w/b".to_owned(), content: "text".to_owned() };
    wants(&mut world, session, "e3", other);
    assert_eq!(kinds(&world, session).last(), Some(&"asked"));
}

#[test]
fn no_rule_is_pretended_where_none_is_offered() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", run());
    decide(&mut world, view, session, Decision::AllowRule);
    assert_eq!(world.views[view].refused.last().unwrap().code, RejectCode::BadMessage);
    assert_eq!(kinds(&world, session), ["asked"]);
}

#[test]
fn a_cancelled_turn_takes_its_questions_back_and_ends_what_runs() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", run());
    decide(&mut world, view, session, Decision::AllowOnce);
    wants(&mut world, session, "e2", write());
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    world.settle();
    let life = world.life();
    let asks = &world.lives[&life].asks;
    let cancel = asks.iter().position(|ask| matches!(ask, Ask::Cancel { .. })).unwrap();
    let answered = asks.iter().position(|ask| matches!(ask, Ask::ErrandDone { errand, .. } if errand.as_str() == "e2"));
    assert!(cancel < answered.unwrap(), "the agent hears of the cancel first");
    assert!(
        is_code(&answers(&world)[1].1, ErrandCode::Cancelled) || is_code(&answers(&world)[1].1, ErrandCode::Denied)
    );
    assert_eq!(ends(&world, session), vec![ExecutionEnd::Signalled { signal: "SIGKILL".to_owned() }]);
    assert!(world.runner.is_idle());
}

#[test]
fn a_command_that_outlives_its_turn_is_ended_and_its_end_is_recorded() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", run());
    decide(&mut world, view, session, Decision::AllowOnce);
    world.complete(session);
    world.settle();
    assert_eq!(kinds(&world, session), ["asked", "resolved", "started", "output", "turn ended", "ended"]);
    let output = world.bodies(session).into_iter().find_map(|body| match body {
        Body::ExecutionEnded { output, .. } => Some(output),
        _ => None,
    });
    assert_eq!(output, Some(Some("out".to_owned())));
    assert!(world.runner.is_idle());
}

#[test]
fn invariant_4_after_a_crash_without_a_recorded_end_it_is_unknown_and_not_done_again() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", run());
    decide(&mut world, view, session, Decision::AllowOnce);
    world.restart();
    world.settle();
    assert_eq!(ends(&world, session), vec![ExecutionEnd::Unknown {}]);
    world.reconnect(view);
    world.settle();
    world.assert_whole();
}

#[test]
fn a_crash_between_the_turns_end_and_the_commands_end_is_not_forgotten() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", run());
    decide(&mut world, view, session, Decision::AllowOnce);
    world.complete(session);
    while world.commit() {}
    assert!(ends(&world, session).is_empty());
    world.restart();
    world.settle();
    assert_eq!(ends(&world, session), vec![ExecutionEnd::Unknown {}]);
}

#[test]
fn an_agent_that_dies_leaves_nothing_running_and_no_question_open() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", run());
    decide(&mut world, view, session, Decision::AllowOnce);
    wants(&mut world, session, "e2", write());
    let life = world.life();
    world.exit(life);
    world.settle();
    assert!(world.runner.is_idle());
    assert_eq!(world.runner.plans(), 0);
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 0);
    assert_eq!(ends(&world, session).len(), 1);
}

#[test]
fn what_the_agent_takes_back_is_not_asked_any_more() {
    let (mut world, _, session) = working();
    wants(&mut world, session, "e1", write());
    let life = world.life();
    world.words(life, vec![Word::ErrandDropped { session, errand: "e1".into() }]);
    world.settle();
    assert_eq!(kinds(&world, session), ["asked", "resolved"]);
    assert_eq!(answers(&world).len(), 1);
}

#[test]
fn invariant_9_errands_are_bounded_and_the_ones_too_many_are_answered() {
    let (mut world, _, session) = working();
    let life = world.life();
    let errand = |n: usize| Word::Errand { session, errand: format!("e{n}").as_str().into(), what: write() };
    world.words(life, (0..MAX_OPEN_ERRANDS + 3).map(errand).collect());
    world.settle();
    let refused = answers(&world);
    assert_eq!(refused.len(), 3);
    assert!(refused.iter().all(|(_, result)| is_code(result, ErrandCode::TooLarge)));
}

#[test]
fn a_disk_that_refuses_the_record_lets_nothing_happen() {
    let (mut world, view, session) = working();
    wants(&mut world, session, "e1", write());
    let approval = world.host.state(session).unwrap().approvals().next().unwrap().approval.id.clone();
    let decision = Decision::AllowOnce;
    world.command(view, Command::Decide { tab: "tab".into(), approval, decision, command: None, option: None });
    world.fail_commit();
    world.settle();
    assert_eq!(kinds(&world, session), ["asked"]);
    assert_eq!(world.runner.plans(), 0);
}
