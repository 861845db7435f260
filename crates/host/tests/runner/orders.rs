//! Orders and their answers: each gets exactly one, what is given up is not done, and nothing is done twice.

use switchboard_host::runner::limits::MAX_HELD_BYTES;
use switchboard_types::{
    Errand, ErrandCode, ErrandNews, ErrandOrder, ErrandResult, ExecutionEnd, ExecutionId, TerminalWish,
};

use super::stage::{SESSION, Stage, code, content, perform, script_of};

#[tokio::test]
async fn what_may_do_harm_is_not_served_unprepared() {
    let mut stage = Stage::patient();
    for what in [Errand::Write { path: "a".into(), content: "x".into() }, Errand::Run(script_of("echo ran > b"))] {
        let errand = stage.serve(SESSION, what);
        assert_eq!(code(stage.done(errand).await), Some(ErrandCode::Denied));
    }
    let read = Errand::Read { path: "a".into(), line: None, limit: None };
    assert_eq!(code(stage.prepare(read).await), Some(ErrandCode::Invalid));
    assert_eq!(std::fs::read_dir(stage.root.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_was_dropped_is_not_done() {
    let mut stage = Stage::patient();
    let (errand, _) = stage.prepare_write("a", "x").await.unwrap();
    stage.runner.order(ErrandOrder::Drop { errand });
    let (end, answer) = stage.perform(errand).await;
    assert!(matches!(end, ExecutionEnd::Failed { .. }), "{end:?}");
    assert_eq!(code(answer), Some(ErrandCode::Cancelled));
    // Also if it is dropped while it is still made ready.
    let errand = stage.order_prepare(Errand::Write { path: "b".into(), content: "x".into() });
    stage.runner.order(ErrandOrder::Drop { errand });
    stage.prepared(errand).await.unwrap();
    assert_eq!(code(stage.perform(errand).await.1), Some(ErrandCode::Cancelled));
    assert_eq!(std::fs::read_dir(stage.root.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn nothing_is_performed_twice() {
    let mut stage = Stage::patient();
    let (errand, _) = stage.prepare(Errand::Run(script_of("echo ran >> log"))).await.unwrap();
    let execution = stage.order_perform(errand);
    stage.order_perform(errand);
    let other = ExecutionId::from("other");
    stage.runner.order(perform(errand, SESSION, &other));
    assert!(matches!(stage.end(&other).await, ExecutionEnd::Failed { .. }));
    assert_eq!(stage.end(&execution).await, ExecutionEnd::Exited { code: 0 });
    assert_eq!(stage.text("log"), "ran\n");
    let rest = stage.shutdown().await;
    let good =
        rest.iter().filter(|news| matches!(news, ErrandNews::Done { result: Ok(ErrandResult::Running { .. }), .. }));
    assert_eq!(good.count(), 1);
    assert!(!rest.iter().any(|news| matches!(news, ErrandNews::Ended { .. })), "{rest:?}");
}

#[tokio::test]
async fn what_was_never_made_ready_is_not_performed() {
    let mut stage = Stage::patient();
    let errand = stage.errand();
    let (end, answer) = stage.perform(errand).await;
    assert!(matches!(end, ExecutionEnd::Failed { .. }), "{end:?}");
    assert_eq!(code(answer), Some(ErrandCode::Cancelled));
}

#[tokio::test]
async fn each_order_gets_one_answer_however_slow_the_host_is() {
    let mut stage = Stage::new(super::stage::quick(), 1);
    stage.put("a", "hello");
    let reads: Vec<_> =
        (0..200).map(|_| stage.serve(SESSION, Errand::Read { path: "a".into(), line: None, limit: None })).collect();
    let unknown: Vec<_> = (0..200).map(|_| stage.order_wish(&ExecutionId::from("x"), TerminalWish::Wait)).collect();
    for errand in reads {
        assert_eq!(stage.done(errand).await, content("hello"));
    }
    for errand in unknown {
        assert_eq!(code(stage.done(errand).await), Some(ErrandCode::NotFound));
    }
    assert_eq!(stage.shutdown().await, vec![]);
}

#[tokio::test]
async fn errands_over_the_limit_are_refused_until_others_are_done() {
    let mut stage = Stage::new(super::stage::quick(), 1024);
    let size = MAX_HELD_BYTES / 4 - 4096;
    let write = || Errand::Write { path: "large".into(), content: "x".repeat(size) };
    // This test does not let the desk have a turn meanwhile.
    let fit = [(); 4].map(|()| stage.order_prepare(write()));
    let over = stage.order_prepare(write());
    let why = |failure: switchboard_types::ErrandFailure| (failure.code, failure.message);
    let busy = "too much is waiting to be done already; try again later";
    assert_eq!(why(stage.prepared(over).await.unwrap_err()), (ErrandCode::TooLarge, busy.to_owned()));
    for errand in fit {
        let (code, message) = why(stage.prepared(errand).await.unwrap_err());
        assert!(code == ErrandCode::TooLarge && message.contains("can be written at once"), "{message}");
    }
    let (_, message) = why(stage.prepare(write()).await.unwrap_err());
    assert!(message.contains("can be written at once"), "{message}");
}
