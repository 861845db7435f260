//! Rules and what a person sets: stored with the answer, in force once durable, taken out at once, told to whoever watches.

use serde_json::json;
use switchboard_core::{Input, RequestId};
use switchboard_types::{
    ArgPattern, Body, Command, Containment, Decision, Mode, Patterns, PolicyChange, RejectCode, Rule, RuleEffect,
    RuleId, RuleWhat, SessionPolicy, Told, ToolCode, Unasked,
};

use super::tools::{bench, bench_session, call, code, named, outcome};
use super::world::World;

fn rule(id: &str) -> Rule {
    let what = RuleWhat::Command {
        program: "/usr/bin/make".to_owned(),
        args: vec![ArgPattern::Rest {}],
        cwd: "/w".to_owned(),
    };
    Rule {
        id: id.into(),
        workspace: None,
        effect: RuleEffect::Allow,
        what,
        created: switchboard_types::Time(1),
        origin: "by hand".to_owned(),
    }
}

/// Two rules are stored, and a view watches.
fn ruled() -> (World, usize) {
    let (mut world, view) = bench();
    world.disk.rules = vec![rule("r1"), rule("r2")];
    world.restart();
    world.reconnect(view);
    world.command(view, Command::WatchRules {});
    (world, view)
}

fn told(world: &World, view: usize) -> Vec<Vec<RuleId>> {
    let lists = world.views[view].answers.iter().filter_map(|told| match told {
        Told::Rules { rules } => Some(rules.iter().map(|rule| rule.id.clone()).collect()),
        _ => None,
    });
    lists.collect()
}

#[test]
fn a_rule_that_is_taken_out_is_told_once_it_is_off_the_disk() {
    let (mut world, view) = ruled();
    world.command(view, Command::RemoveRule { rule: "r1".into() });
    assert_eq!(told(&world, view).len(), 1);
    world.settle();
    assert_eq!(told(&world, view), [vec![RuleId::from("r1"), "r2".into()], vec!["r2".into()]]);
    world.command(view, Command::RemoveRule { rule: "r1".into() });
    assert_eq!(world.views[view].refused.last().unwrap().code, RejectCode::BadMessage);
    world.handle(Input::RemoveRule { rule: "r1".into(), request: RequestId(8) });
    world.handle(Input::RemoveRule { rule: "r2".into(), request: RequestId(9) });
    world.handle(Input::RemoveRule { rule: "r2".into(), request: RequestId(10) });
    world.settle();
    assert_eq!(world.removed, [Ok(false), Ok(true), Ok(true)]);
    assert!(world.disk.rules.is_empty());
}

#[test]
fn a_disk_that_refuses_leaves_the_rule_and_says_so() {
    let (mut world, view) = ruled();
    world.handle(Input::RemoveRule { rule: "r1".into(), request: RequestId(8) });
    world.command(view, Command::RemoveRule { rule: "r2".into() });
    world.fail_commit();
    world.fail_commit();
    assert_eq!(world.removed, [Err("disk full".to_owned())]);
    assert_eq!(world.views[view].refused.last().unwrap().code, RejectCode::Internal);
    assert_eq!(told(&world, view).last().unwrap().len(), 2);
}

#[test]
fn a_person_sets_what_a_sessions_agent_may_do_and_it_lasts() {
    let (mut world, view, session) = World::with_own();
    let list = Patterns(vec![("**/*".to_owned(), Unasked::May), ("**/*.env".to_owned(), Unasked::MayNot)]);
    let change = PolicyChange {
        mode: Some(Mode::Plan),
        auto_commands: Some(true),
        auto_edits: None,
        patterns: Some(list.clone()),
    };
    world.command(view, Command::Watch { seen: Vec::new() });
    world.command(view, Command::SetPolicy { tab: "tab".into(), change: change.clone() });
    world.command(view, Command::SetPolicy { tab: "tab".into(), change });
    world.settle();
    let policy = SessionPolicy { mode: Mode::Plan, auto_commands: true, auto_edits: false, patterns: Some(list) };
    let changed = |body: &&Body| matches!(body, Body::PolicyChanged { .. });
    assert_eq!(world.bodies(session).iter().filter(changed).count(), 1, "the same again is no change");
    assert_eq!(world.views[view].sessions[&session].policy, policy);
    assert_eq!(world.disk.sessions[&session].row.as_ref().unwrap().keeps.policy, policy);
    world.restart();
    world.reconnect(view);
    let reset = PolicyChange { patterns: Some(Patterns::default()), ..PolicyChange::default() };
    world.command(view, Command::SetPolicy { tab: "tab".into(), change: reset });
    world.settle();
    let kept = &world.disk.sessions[&session].row.as_ref().unwrap().keeps.policy;
    assert_eq!(*kept, SessionPolicy { patterns: None, ..policy });
}

#[test]
fn patterns_that_cannot_be_read_are_refused_in_words() {
    let (mut world, view, session) = World::with_own();
    for glob in ["", "[", &"x".repeat(2000)] {
        let patterns = Some(Patterns(vec![(glob.to_owned(), Unasked::May)]));
        let change = PolicyChange { mode: Some(Mode::Ask), patterns, ..PolicyChange::default() };
        world.command(view, Command::SetPolicy { tab: "tab".into(), change });
    }
    let many = Patterns(vec![("a".to_owned(), Unasked::May); 257]);
    let change = PolicyChange { patterns: Some(many), ..PolicyChange::default() };
    world.command(view, Command::SetPolicy { tab: "tab".into(), change });
    world.settle();
    assert_eq!(world.views[view].refused.len(), 4);
    assert!(world.views[view].refused.iter().all(|reject| reject.message.contains("nothing was changed")));
    assert!(!world.bodies(session).iter().any(|body| matches!(body, Body::PolicyChanged { .. })));
}

#[test]
fn watchers_are_told_how_commands_are_held_in_and_of_each_change() {
    let (mut world, view) = bench();
    let works = Containment::Works { by: "bubblewrap 0.8.0".to_owned() };
    let missing = Containment::Missing { reason: "bwrap is not installed".to_owned() };
    world.handle(Input::Containment(works.clone()));
    world.command(view, Command::Watch { seen: Vec::new() });
    world.handle(Input::Containment(works.clone()));
    world.handle(Input::Containment(missing.clone()));
    assert_eq!(world.views[view].answers, [Told::Containment(works), Told::Containment(missing)]);
    call(&mut world, view, 1, super::tools::run("one", "make"));
    let denied = outcome(&world, view, 1).result.unwrap_err();
    assert_eq!(denied.code, ToolCode::Denied);
    assert!(denied.message.contains("bwrap is not installed"), "{}", denied.message);
    assert!(world.runner.done.is_empty());
}

#[test]
fn how_a_command_is_held_in_is_shown_and_recorded() {
    let (mut world, view) = bench();
    let none = Containment::None { reason: "no user namespaces".to_owned() };
    world.handle(Input::Containment(none.clone()));
    call(&mut world, view, 1, super::tools::run("one", "make"));
    let session = bench_session(&world);
    let open = world.host.state(session).unwrap().approvals().next().unwrap().approval.clone();
    assert_eq!((open.containment.as_ref(), open.editable), (Some(&none), true));
    super::tools::answer(&mut world, view, 2, session, Decision::AllowOnce);
    world.end_commands();
    world.settle();
    assert_eq!(world.runner.done[0].2.containment, Some(none));
    assert_eq!(outcome(&world, view, 1).metadata.unwrap()["contained"], json!(false));
    call(&mut world, view, 3, named("two", "say", json!({})));
    assert_eq!(code(&outcome(&world, view, 3)), None);
    assert_eq!(outcome(&world, view, 3).metadata.unwrap().get("contained"), None);
}
