//! Changes of files that an editor shows: the answer waits for it, but not for long.

use serde_json::json;
use switchboard_core::Input;
use switchboard_types::{
    Body, Command, Effect, FileAnswer, FileRequest, RequestNo, SessionAnswer, SessionRequest, ToolCode, ToolFailure,
};

use super::super::tools::{bench, bench_session, function};
use super::super::world::World;
use super::{answer, ask};

/// A world where a view asks for a change, number 1, and the edges have looked; and an editor, if it lends anything.
fn looked(lends: Option<Effect>) -> (World, usize, usize) {
    let (mut world, view) = bench();
    let editor = world.view();
    if let Some(effect) = lends {
        let tools = vec![(function("editor_open_diff"), effect)];
        world.command(editor, Command::LendTools { request: RequestNo(1), tools });
    }
    let session = world.open(view, "tab");
    let what = FileRequest::Diff { path: "a.rs".to_owned(), before: None, after: None };
    ask(&mut world, view, 1, SessionRequest::Files { session, what });
    let (link, request, _) = world.files.pop().expect("it is looked at");
    let (path, diff) = ("a.rs".to_owned(), "+x".to_owned());
    let found = FileAnswer::Diff { path, change: None, diff, opened: false };
    world.handle(Input::FilesDone { link, request, result: Ok(Box::new(found)) });
    (world, view, editor)
}

/// Whether the change is open in an editor, once there is an answer.
fn opened(world: &World, view: usize) -> Option<bool> {
    match answer(world, view, 1)? {
        Ok(SessionAnswer::Files(answer)) => match *answer {
            FileAnswer::Diff { opened, diff, .. } if diff == "+x" => Some(opened),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_change_is_shown_by_the_editor_that_lends_what_it_takes_and_the_answer_waits_for_it() {
    for (result, is_open) in [(Ok(json!({})), true), (Err(ToolFailure::new(ToolCode::ExecutionError, "no")), false)] {
        let (mut world, view, editor) = looked(Some(Effect::Reads));
        world.settle();
        assert_eq!(opened(&world, view), None);
        let (call, tool) = world.views[editor].lent_calls.remove(0);
        assert_eq!(tool.as_str(), "editor_open_diff");
        let input = world.bodies(bench_session(&world)).into_iter().find_map(|body| match body {
            Body::ToolCall { call } => call.input,
            _ => None,
        });
        assert_eq!(input, Some(json!({ "path": "a.rs", "diff": "+x" })));
        world.command(editor, Command::LentResult { call, result });
        world.settle();
        assert_eq!(opened(&world, view), Some(is_open));
        world.advance(5_000);
        world.settle();
        world.assert_whole();
    }
}

#[test]
fn without_such_an_editor_the_answer_is_there_at_once() {
    let (world, view, _) = looked(None);
    assert_eq!(opened(&world, view), Some(false));
}

#[test]
fn an_editor_that_is_slow_or_that_nobody_consents_to_keeps_the_answer_back_for_five_seconds() {
    for effect in [Effect::Reads, Effect::Acts] {
        let (mut world, view, editor) = looked(Some(effect));
        world.settle();
        world.advance(4_999);
        world.settle();
        assert_eq!(opened(&world, view), None);
        world.advance(1);
        assert_eq!(opened(&world, view), Some(false));
        world.settle();
        // What it says now is too late.
        if let Some((call, _)) = world.views[editor].lent_calls.pop() {
            world.command(editor, Command::LentResult { call, result: Ok(json!({})) });
        }
        world.settle();
        world.assert_whole();
    }
}

#[test]
fn an_editor_that_goes_does_not_keep_the_answer_back() {
    let (mut world, view, editor) = looked(Some(Effect::Reads));
    world.settle();
    world.disconnect(editor);
    world.settle();
    assert_eq!(opened(&world, view), Some(false));
}
