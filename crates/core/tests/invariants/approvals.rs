//! Approvals as a concept: asked in the log, answered once, gone with their turn.

use switchboard_types::Status;
use switchboard_types::{
    Approval, ApprovalId, ApprovalKind, Ask, Body, Command, Decision, RejectCode, Resolution, SessionId, Severity, Word,
};

use super::world::World;

fn wanted(session: SessionId, id: &str) -> Word {
    let approval = Approval {
        command: Some("ls".to_owned()),
        reason: "it runs a program".to_owned(),
        ..Approval::new(id.into(), ApprovalKind::Command, "run it", Severity::Low)
    };
    Word::ApprovalWanted { session, approval }
}

fn asked() -> (World, usize, SessionId, ApprovalId) {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    let life = world.life();
    world.words(life, vec![wanted(session, "theirs")]);
    world.settle();
    let approval = world.host.state(session).unwrap().approvals().next().unwrap().approval.id.clone();
    (world, view, session, approval)
}

fn decide(approval: &ApprovalId, decision: Decision) -> Command {
    Command::Decide { tab: "tab".into(), approval: approval.clone(), decision, command: None, option: None }
}

fn answer(world: &World) -> Option<Resolution> {
    let life = world.life();
    world.lives[&life].asks.iter().find_map(|ask| match ask {
        Ask::ApprovalAnswer { approval, answer, .. } if approval.as_str() == "theirs" => Some(answer.resolution()),
        _ => None,
    })
}

#[test]
fn the_first_answer_wins_and_the_second_is_told_so() {
    let (mut world, view, session, approval) = asked();
    assert_eq!(world.host.state(session).unwrap().status(), Status::AwaitingApproval);
    world.command(view, decide(&approval, Decision::AllowOnce));
    world.command(view, decide(&approval, Decision::Deny));
    world.settle();
    assert_eq!(answer(&world), Some(Resolution::AllowOnce));
    let refused = world.views[view].refused.last().unwrap();
    assert_eq!(refused.code, RejectCode::BadMessage);
    assert!(refused.message.contains("allowed once"), "{}", refused.message);
    let resolved = world.bodies(session).iter().filter(|body| matches!(body, Body::ApprovalResolved { .. })).count();
    assert_eq!(resolved, 1);
}

#[test]
fn no_answer_reaches_the_agent_before_it_is_durable() {
    let (mut world, view, _, approval) = asked();
    world.command(view, decide(&approval, Decision::AllowOnce));
    assert_eq!(answer(&world), None);
    world.commit();
    assert_eq!(answer(&world), Some(Resolution::AllowOnce));
}

#[test]
fn cancelling_the_turn_denies_what_is_open() {
    let (mut world, view, _, _) = asked();
    world.command(view, Command::Cancel { tab: "tab".into(), name: "one".into() });
    world.settle();
    assert_eq!(answer(&world), Some(Resolution::Deny));
    world.assert_whole();
}

#[test]
fn deny_and_stop_also_cancels_the_turn() {
    let (mut world, view, session, approval) = asked();
    world.command(view, decide(&approval, Decision::DenyStop));
    world.settle();
    assert_eq!(answer(&world), Some(Resolution::DenyStop));
    assert!(world.host.state(session).unwrap().is_cancelling());
}

#[test]
fn an_edited_command_is_refused_where_the_agent_runs_it_itself() {
    let (mut world, view, session, approval) = asked();
    let command = Some("rm -rf /".to_owned());
    world.command(
        view,
        Command::Decide { tab: "tab".into(), approval, decision: Decision::AllowOnce, command, option: None },
    );
    world.settle();
    assert_eq!(world.views[view].refused[0].code, RejectCode::BadMessage);
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 1);
}

#[test]
fn a_restart_expires_what_was_open() {
    let (mut world, view, session, approval) = asked();
    world.restart();
    world.settle();
    let resolution = Resolution::Expired;
    let expired = Body::ApprovalResolved { approval, resolution, option: None, command: None, rule: None };
    assert!(world.bodies(session).contains(&expired));
    world.reconnect(view);
    world.settle();
    world.assert_whole();
}

#[test]
fn whoever_attaches_while_the_turn_lives_sees_the_question() {
    let (mut world, _, session, approval) = asked();
    let late = world.view();
    world.command(late, super::world::open_tab("tab", 0));
    world.settle();
    let shown = world.views[late]
        .seen("tab")
        .iter()
        .any(|event| matches!(&event.body, Body::ApprovalAsked { approval: a } if a.id == approval));
    assert!(shown, "session {session}");
}

#[test]
fn a_question_outside_a_turn_is_denied_at_once() {
    let (mut world, _, session) = World::with_tab();
    let life = world.life();
    world.words(life, vec![wanted(session, "theirs")]);
    world.settle();
    assert_eq!(answer(&world), Some(Resolution::Deny));
}
