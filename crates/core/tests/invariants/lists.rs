//! Lists, history and deletion: what a view that watches everything is told, and that it is told nothing that is not
//! durable.

use switchboard_core::{Input, RequestId, Trust};
use switchboard_types::limits::LINK_WINDOW_BYTES;
use switchboard_types::{
    AgentState, Body, Command, HistoryPlace, RejectCode, Seen, Seq, SessionId, Status, Time, Word,
};

use super::world::{World, open_tab, workspace};

fn watching(world: &mut World) -> usize {
    let view = world.view();
    world.command(view, Command::Watch { seen: Vec::new() });
    world.settle();
    view
}

fn reopen(tab: &str, session: SessionId) -> Command {
    Command::OpenSession { tab: tab.into(), session, seen: Seen::default() }
}

#[test]
fn a_watching_view_sees_sessions_come_change_and_close() {
    let mut world = World::new();
    let (watcher, worker) = (watching(&mut world), world.view());
    let session = world.open(worker, "tab");
    let shown = |world: &World| world.views[watcher].sessions[&session].clone();
    assert_eq!((shown(&world).status, shown(&world).agent_state), (Status::Idle, AgentState::Ready));
    world.prompt(worker, "tab", "one");
    world.settle();
    assert_eq!((shown(&world).status, shown(&world).title.as_str()), (Status::Running, "prompt one"));
    world.prompt(worker, "tab", "two");
    world.settle();
    assert_eq!(shown(&world).queued, 1);
    world.complete(session);
    world.settle();
    world.complete(session);
    world.settle();
    assert_eq!((shown(&world).status, shown(&world).queued), (Status::Idle, 0));
    world.command(worker, Command::CloseTab { tab: "tab".into() });
    world.settle();
    assert_eq!(shown(&world).tab, None);
    assert!(world.views[watcher].journal.is_empty(), "no event of a session that it is not seated at");
}

#[test]
fn a_list_shows_a_prompt_only_once_it_is_durable() {
    let mut world = World::new();
    let worker = world.view();
    let session = world.open(worker, "tab");
    world.prompt(worker, "tab", "one");
    let late = world.view();
    world.command(late, Command::Watch { seen: Vec::new() });
    assert_eq!(world.views[late].sessions[&session].status, Status::Idle);
    world.settle();
    assert_eq!(world.views[late].sessions[&session].status, Status::Running);
}

#[test]
fn the_state_of_an_agent_that_is_slow_to_start_or_has_ended_is_shown() {
    let mut world = World::new();
    let view = watching(&mut world);
    world.command(view, open_tab("tab", 0));
    while world.commit() || world.drain() {}
    let state = |world: &World| world.views[view].sessions.values().next().unwrap().agent_state;
    assert_eq!(state(&world), AgentState::Starting);
    world.advance(11_000);
    while world.commit() || world.drain() {}
    assert_eq!(state(&world), AgentState::Slow);
    world.settle();
    assert_eq!(state(&world), AgentState::Ready);
    let life = world.life();
    world.exit(life);
    while world.commit() || world.drain() {}
    assert_eq!(state(&world), AgentState::Exited);
}

#[test]
fn a_watching_view_that_does_not_read_is_told_the_last_state_and_not_every_one() {
    let mut world = World::new();
    let (watcher, worker) = (watching(&mut world), world.view());
    let session = world.open(worker, "tab");
    world.settle();
    world.views[watcher].reads = false;
    for name in 0..1_000 {
        world.prompt(worker, "tab", &name.to_string());
        world.settle();
        world.complete(session);
        world.settle();
    }
    let undrained = world.views[watcher].undrained;
    assert!(undrained <= LINK_WINDOW_BYTES + 1024, "{undrained} bytes wait for it");
    world.views[watcher].reads = true;
    world.settle();
    assert_eq!(world.views[watcher].sessions[&session].status, Status::Idle);
}

#[test]
fn trust_is_asked_for_by_a_view_and_told_to_all_that_watch() {
    let mut world = World::new();
    let (one, other) = (watching(&mut world), watching(&mut world));
    let root = workspace(Trust::Untrusted).root;
    world.command(one, Command::Trust { root: root.clone(), trust: Trust::Trusted });
    assert_eq!(world.trust_wanted, vec![(root.clone(), Trust::Trusted)]);
    world.handle(Input::Trust { workspace: workspace(Trust::Trusted), request: RequestId(1) });
    assert_eq!(world.views[other].workspaces[&root].trust, Trust::Untrusted);
    world.settle();
    for view in [one, other] {
        assert_eq!(world.views[view].workspaces[&root].trust, Trust::Trusted);
    }
}

#[test]
fn a_closed_session_comes_out_of_history_with_everything_and_goes_on() {
    let mut world = World::new();
    let view = watching(&mut world);
    let session = world.open(view, "tab");
    world.prompt(view, "tab", "one");
    world.settle();
    world.chunk(session, "answer");
    world.complete(session);
    world.settle();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    world.restart();
    world.reconnect(view);
    world.command(view, reopen("again", session));
    world.settle();
    assert_eq!(world.views[view].seen("again"), world.log(session));
    assert_eq!(world.bodies(session).last(), Some(&Body::SessionReopened {}));
    world.prompt(view, "again", "two");
    world.settle();
    assert_eq!(world.prompted.len(), 2);
    world.restart();
    world.reconnect(view);
    world.settle();
    world.assert_whole();
    assert!(world.host.open_tabs().any(|(tab, id)| tab.as_str() == "again" && id == session));
}

#[test]
fn a_session_that_has_a_tab_is_shown_under_that_one() {
    let mut world = World::new();
    let (one, other) = (world.view(), world.view());
    let session = world.open(one, "tab");
    world.command(other, reopen("mine", session));
    world.settle();
    assert_eq!(world.views[other].seen("tab"), world.log(session));
    assert!(world.views[other].seen("mine").is_empty());
}

#[test]
fn two_views_that_reopen_a_session_at_once_share_one_tab() {
    let mut world = World::new();
    let (one, other) = (world.view(), world.view());
    let session = world.open(one, "tab");
    world.command(one, Command::CloseTab { tab: "tab".into() });
    world.settle();
    world.command(one, reopen("first", session));
    world.command(other, reopen("second", session));
    world.settle();
    assert_eq!(world.views[one].seen("first"), world.log(session));
    assert_eq!(world.views[other].seen("first"), world.log(session));
}

#[test]
fn what_is_not_there_cannot_be_reopened() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, reopen("tab", SessionId(99)));
    world.settle();
    assert_eq!(world.views[view].refused[0].code, RejectCode::UnknownTab);
    world.open(view, "closed");
    world.command(view, Command::CloseTab { tab: "closed".into() });
    world.settle();
    world.open(view, "taken");
    world.command(view, reopen("taken", SessionId(1)));
    world.settle();
    assert_eq!(world.views[view].refused[1].code, RejectCode::BadMessage);
}

#[test]
fn deleting_stops_what_runs_then_deletes_and_then_says_so() {
    let mut world = World::new();
    let (view, watcher) = (world.view(), watching(&mut world));
    let session = world.open(view, "tab");
    world.prompt(view, "tab", "one");
    world.settle();
    world.handle(Input::Delete { session, request: RequestId(7) });
    world.commit();
    assert!(world.delete_answers.is_empty(), "not before it is durable");
    assert!(world.bodies(session).contains(&Body::SessionClosed {}));
    world.settle();
    assert_eq!(world.delete_answers, vec![Ok(())]);
    assert!(!world.disk.sessions.contains_key(&session));
    assert_eq!(world.views[watcher].gone, vec![session]);
    let life = world.life();
    assert!(!world.lives[&life].opened.contains(&session), "the agent session is closed");
    world.words(life, vec![Word::turn_done(session, None)]);
    world.settle();
    assert!(!world.disk.sessions.contains_key(&session), "a late word brings nothing back");
    world.open(view, "another");
    world.assert_whole();
}

#[test]
fn a_deletion_that_the_disk_refuses_is_told_and_can_be_tried_again() {
    let mut world = World::new();
    let view = watching(&mut world);
    let session = world.open(view, "tab");
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    world.command(view, Command::DeleteSession { session });
    world.fail_commit();
    assert_eq!(world.views[view].refused[0].code, RejectCode::Internal);
    assert!(world.views[view].gone.is_empty());
    world.command(view, Command::DeleteSession { session });
    world.settle();
    assert_eq!(world.views[view].gone, vec![session]);
}

#[test]
fn a_session_that_is_being_deleted_is_not_brought_back_by_whoever_opens_it() {
    let mut world = World::new();
    let view = world.view();
    let session = world.open(view, "tab");
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    world.command(view, reopen("again", session));
    world.command(view, Command::DeleteSession { session });
    world.command(view, reopen("again", session));
    world.settle();
    assert!(!world.disk.sessions.contains_key(&session));
    assert_eq!(world.host.open_tabs().count(), 0);
    assert_eq!(world.views[view].refused.len(), 2);
}

#[test]
fn history_comes_in_parts_the_last_used_first() {
    let mut world = World::new();
    let view = world.view();
    for n in 1..=5_u64 {
        world.advance(1_000);
        world.open(view, &format!("tab {n}"));
    }
    world.command(view, Command::History { before: None, limit: 2 });
    let (first, next) = world.views[view].history.take().unwrap();
    assert_eq!(first.iter().map(|row| row.session.0).collect::<Vec<_>>(), vec![5, 4]);
    world.command(view, Command::History { before: next, limit: 10 });
    let (rest, next) = world.views[view].history.take().unwrap();
    assert_eq!(rest.iter().map(|row| row.session.0).collect::<Vec<_>>(), vec![3, 2, 1]);
    assert_eq!(next, None);
    let nowhere = Some(HistoryPlace { updated: Time(0), session: SessionId(0) });
    world.command(view, Command::History { before: nowhere, limit: 0 });
    assert_eq!(world.views[view].history.take().unwrap().0, vec![]);
}

#[test]
fn a_cursor_of_another_life_of_the_log_starts_anew() {
    let mut world = World::new();
    let view = watching(&mut world);
    let session = world.open(view, "tab");
    let epoch = world.views[view].sessions[&session].epoch;
    let mut foreign = epoch;
    foreign.0 ^= 1;
    for (epoch, resets) in [(epoch, 0), (foreign, 1)] {
        world.connect(view);
        world.views[view].journal.clear();
        let seen = Seen { seq: if resets == 0 { Seq(0) } else { Seq(1) }, epoch: Some(epoch) };
        world.command(view, Command::Watch { seen: vec![("tab".into(), seen)] });
        world.settle();
        assert_eq!(world.views[view].resets.len(), resets);
        assert_eq!(world.views[view].seen("tab"), world.log(session));
    }
}

#[test]
fn a_view_that_left_a_tab_is_told_nothing_more_of_it() {
    let mut world = World::new();
    let (one, other) = (world.view(), world.view());
    let session = world.open(one, "tab");
    world.command(other, open_tab("tab", 0));
    world.settle();
    world.command(other, Command::LeaveTab { tab: "tab".into() });
    let before = world.views[other].seen("tab").len();
    world.prompt(one, "tab", "one");
    world.settle();
    assert_eq!(world.views[other].seen("tab").len(), before);
    assert_eq!(world.views[one].seen("tab"), world.log(session));
}

#[test]
fn a_ping_is_answered() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, Command::Ping { number: 41 });
    assert_eq!(world.views[view].pongs, vec![41]);
}

#[test]
fn a_session_that_is_just_being_closed_is_reopened_once_that_is_on_the_disk() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, open_tab("tab", 0));
    world.settle();
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.command(view, reopen("again", SessionId(1)));
    assert_eq!(world.views[view].refused[0].code, RejectCode::Internal);
    world.settle();
    world.command(view, reopen("again", SessionId(1)));
    world.settle();
    assert_eq!(world.views[view].seen("again"), world.log(SessionId(1)));
    world.assert_whole();
}

#[test]
fn a_session_whose_reopening_could_not_be_kept_is_listed_as_the_disk_has_it() {
    let mut world = World::new();
    let view = world.view();
    world.open(view, "tab");
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    world.command(view, reopen("again", SessionId(1)));
    while world.commits.is_empty() {
        assert!(world.reload(), "the session is read from the disk");
    }
    world.fail_commit();
    let late = watching(&mut world);
    world.assert_whole();
    let seen = Seq(world.views[view].seen("again").len() as u64).into();
    world.command(view, Command::OpenSession { tab: "again".into(), session: SessionId(1), seen });
    world.settle();
    world.assert_whole();
    assert!(world.views[late].journal.is_empty());
}

#[test]
fn deleting_what_is_not_there_yet_does_not_delete_what_comes() {
    let mut world = World::new();
    let view = world.view();
    world.command(view, Command::DeleteSession { session: SessionId(1) });
    let session = world.open(view, "tab");
    assert_eq!(session, SessionId(1));
    assert!(world.disk.sessions.contains_key(&session));
    assert_eq!(world.views[view].refused[0].code, RejectCode::Internal);
}

#[test]
fn a_session_that_the_disk_has_refused_is_read_anew_before_it_is_deleted() {
    let mut world = World::new();
    let view = watching(&mut world);
    let session = world.open(view, "tab");
    world.prompt(view, "tab", "one");
    world.fail_commit();
    world.command(view, Command::DeleteSession { session });
    world.settle();
    assert_eq!(world.views[view].gone, vec![session]);

    let session = world.open(view, "another");
    world.prompt(view, "another", "one");
    world.fail_commit();
    world.command(view, Command::DeleteSession { session });
    while world.commits.is_empty() {
        assert!(world.reload(), "the session is read from the disk");
    }
    world.fail_commit();
    assert_eq!(world.views[view].gone.len(), 1);
    assert!(
        world.host.open_tabs().any(|(tab, _)| tab.as_str() == "another"),
        "what could not be deleted is still there"
    );
}

#[test]
fn a_session_that_was_closed_to_be_deleted_is_listed_as_closed_when_it_cannot_be() {
    let mut world = World::new();
    let view = watching(&mut world);
    let session = world.open(view, "tab");
    world.command(view, Command::DeleteSession { session });
    world.commit();
    world.fail_commit();
    world.settle();
    assert_eq!(world.views[view].sessions[&session].tab, None);
    world.assert_whole();
}
