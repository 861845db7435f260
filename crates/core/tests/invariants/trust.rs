//! In an untrusted workspace only the demo agent starts.

use switchboard_core::{EndHow, Input, RequestId, Trust};
use switchboard_types::{Command, RejectCode};

use super::world::{World, workspace};

fn small(tab: &str) -> Command {
    Command::OpenTab { tab: tab.into(), agent: Some("small".into()), workspace: None, seen: Default::default() }
}

#[test]
fn an_untrusted_workspace_starts_only_the_demo_agent() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, small("tab"));
    world.settle();
    assert!(world.lives.is_empty());
    assert_eq!(world.views[view].refused[0].code, RejectCode::WorkspaceUntrusted);
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.views[view].refused[1].code, RejectCode::WorkspaceUntrusted);
    assert!(world.views[view].refused[1].message.contains("switchboard trust"));
    assert!(world.lives.is_empty());
    world.open(view, "demo tab");
    assert_eq!(world.lives.values().next().unwrap().agent, "demo");
}

#[test]
fn trust_counts_once_it_is_durable_and_survives_a_restart() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, small("tab"));
    world.settle();
    world.handle(Input::Trust { workspace: workspace(Trust::Trusted), request: RequestId(1) });
    assert!(world.trust_answers.is_empty());
    world.settle();
    assert_eq!(world.trust_answers, vec![Ok(())]);
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.prompted.len(), 1);
    world.restart();
    world.reconnect(view);
    world.prompt(view, "tab", "two");
    world.settle();
    assert_eq!(world.prompted.len(), 2);
}

#[test]
fn trust_that_could_not_be_kept_does_not_count() {
    let mut world = World::new();
    let view = world.view();
    world.handle(Input::Trust { workspace: workspace(Trust::Trusted), request: RequestId(1) });
    world.fail_commit();
    assert_eq!(world.trust_answers, vec![Err("disk full".to_owned())]);
    world.command(view, small("tab"));
    world.settle();
    assert!(world.lives.is_empty());
}

#[test]
fn distrust_ends_the_agents_of_the_workspace_at_once() {
    let mut world = World::new();
    let view = world.view();
    world.handle(Input::Trust { workspace: workspace(Trust::Trusted), request: RequestId(1) });
    world.settle();
    world.command(view, small("tab"));
    world.settle();
    let life = world.life();
    world.handle(Input::Trust { workspace: workspace(Trust::Untrusted), request: RequestId(2) });
    assert_eq!(world.lives[&life].ending, Some(EndHow::Gracefully));
    world.settle();
    world.prompt(view, "tab", "one");
    assert_eq!(world.views[view].refused.last().unwrap().code, RejectCode::WorkspaceUntrusted);
}
