//! Questions of agents elsewhere: a person is always asked, here or there, and the answer reaches the agent whatever becomes of
//! the host.

use switchboard_core::Input;
use switchboard_types::{
    Approval, ApprovalId, ApprovalKind, Ask, Body, Command, Decision, Resolution, SessionId, Severity, Trust, Word,
};

use super::super::world::{World, workspace};
use super::{asks, done, ends, of_source, prompted, said, say, sources, with_far};

fn wanted(session: SessionId, n: u64, name: &str) -> Word {
    let mut approval = Approval::new(name.into(), ApprovalKind::Command, "run rm", Severity::Low);
    approval.command = Some("rm -rf /".to_owned());
    said(session, n, Word::ApprovalWanted { session, approval })
}

#[test]
fn questions_are_put_to_a_person_whatever_the_policy_says_and_stay_open_over_a_restart() {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), wanted(session, 2, "q7")]);
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 1, "not denied by us");
    world.restart();
    world.settle();
    world.reconnect(view);
    world.settle();
    let life = world.life();
    // Whoever reads the agent's own log knows the question by the agent's name.
    let approval = ApprovalId::from("q7");
    let decide =
        Command::Decide { tab: "tab".into(), approval, decision: Decision::AllowOnce, command: None, option: None };
    world.command(view, decide);
    world.settle();
    let answered = |ask: &Ask| matches!(ask, Ask::ApprovalAnswer { approval, answer, .. } if approval.as_str() == "q7" && answer.resolution() == Resolution::AllowOnce);
    assert_eq!(asks(&world, life).iter().filter(|ask| answered(ask)).count(), 1);
    world.assert_whole();
}

#[test]
fn an_answer_that_the_agent_may_not_have_heard_is_said_again_after_a_restart() {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), wanted(session, 2, "q7")]);
    let approval = ApprovalId::from("q7");
    let decide = Command::Decide { tab: "tab".into(), approval, decision: Decision::Deny, command: None, option: None };
    world.command(view, decide);
    world.settle();
    let answers = |world: &World| {
        let all = world.lives.values().flat_map(|life| life.asks.clone());
        all.filter(|ask| matches!(ask, Ask::ApprovalAnswer { .. })).count()
    };
    world.restart();
    world.settle();
    assert_eq!(answers(&world), 1);
    let settled = Word::ApprovalSettled { session, approval: "q7".into(), resolution: Resolution::Deny };
    say(&mut world, vec![said(session, 3, settled), done(session, 4)]);
    world.restart();
    world.settle();
    assert_eq!(answers(&world), 0, "its turn is over");
    assert_eq!(sources(&world, session), [1, 2, 3, 4]);
}

#[test]
fn a_question_that_was_answered_there_first_is_resolved_here_and_not_answered_again() {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), wanted(session, 2, "q7")]);
    let settled = Word::ApprovalSettled { session, approval: "q7".into(), resolution: Resolution::AllowOnce };
    say(&mut world, vec![said(session, 3, settled)]);
    let event = of_source(&world, session, 3);
    assert!(matches!(event.body, Body::ApprovalResolved { resolution: Resolution::AllowOnce, .. }));
    assert_eq!(world.host.state(session).unwrap().approvals().count(), 0);
    let life = world.life();
    assert!(!asks(&world, life).iter().any(|ask| matches!(ask, Ask::ApprovalAnswer { .. })));
    let approval = ApprovalId::from("q7");
    let decide = Command::Decide { tab: "tab".into(), approval, decision: Decision::Deny, command: None, option: None };
    world.command(view, decide);
    world.settle();
    assert_eq!(world.views[view].refused.len(), 1);
}

#[test]
fn distrust_cuts_the_way_and_trust_opens_it_again() {
    let (mut world, view, session) = with_far();
    say(&mut world, vec![prompted(session, 1, "theirs"), wanted(session, 2, "q7")]);
    let workspace = workspace(Trust::Untrusted);
    world.handle(Input::Trust { workspace, request: switchboard_core::RequestId(2) });
    world.settle();
    assert!(world.lives.is_empty());
    let decide = Command::Decide {
        tab: "tab".into(),
        approval: "q7".into(),
        decision: Decision::AllowOnce,
        command: None,
        option: None,
    };
    world.command(view, decide);
    assert_eq!(world.views[view].refused.len(), 1, "no answer leaves an untrusted workspace");
    world.trust();
    world.settle();
    assert_eq!(world.lives.len(), 1);
    assert_eq!(ends(&world, session), []);
}
