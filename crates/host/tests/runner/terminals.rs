//! What may be asked of a command that runs or has ended, by whom, and how much of it at once.

use switchboard_host::runner::limits::{MAX_OPEN_WISHES, MAX_TERMINALS};
use switchboard_types::{Errand, ErrandCode, ErrandNews, ErrandResult, ExecutionId, SessionId, TerminalWish};

use super::stage::{Stage, code, command, exited, gone, signalled, until};

#[tokio::test]
async fn every_wait_is_answered_at_the_end_and_after_it() {
    let mut stage = Stage::quick();
    let terminal = stage.script("until [ -e go ]; do sleep 0.01; done; exit 3").await;
    let waits = [(); 3].map(|()| stage.order_wish(&terminal, TerminalWish::Wait));
    stage.wish(&terminal, TerminalWish::Output).await.unwrap();
    stage.put("go", "");
    for errand in waits {
        assert_eq!(stage.done(errand).await, exited(3));
    }
    assert_eq!(stage.wish(&terminal, TerminalWish::Wait).await, exited(3));
}

#[tokio::test]
async fn a_killed_command_can_still_be_looked_at_and_killed_again() {
    let mut stage = Stage::quick();
    let terminal = stage.script("echo hello; exec sleep 1000").await;
    stage.find(|news| matches!(news, ErrandNews::Output { .. }).then_some(())).await;
    assert_eq!(stage.wish(&terminal, TerminalWish::Kill).await, Ok(ErrandResult::Killed));
    assert_eq!(stage.end(&terminal).await, signalled("SIGTERM"));
    assert_eq!(stage.output_at_end(&terminal).await, "hello\n");
    assert_eq!(stage.wish(&terminal, TerminalWish::Kill).await, Ok(ErrandResult::Killed));
    assert_eq!(stage.wish(&terminal, TerminalWish::Release).await, Ok(ErrandResult::Released));
    for wish in [TerminalWish::Output, TerminalWish::Wait, TerminalWish::Kill, TerminalWish::Release] {
        assert_eq!(code(stage.wish(&terminal, wish).await), Some(ErrandCode::NotFound));
    }
}

#[tokio::test]
async fn letting_a_command_go_ends_it_and_answers_who_waits_first() {
    let mut stage = Stage::quick();
    let terminal = stage.script("echo $$ > pid; exec sleep 1000").await;
    let pid = stage.number_in("pid").await;
    let wait = stage.order_wish(&terminal, TerminalWish::Wait);
    let release = stage.order_wish(&terminal, TerminalWish::Release);
    let late = stage.order_wish(&terminal, TerminalWish::Wait);
    assert_eq!(code(stage.done(late).await), Some(ErrandCode::NotFound));
    stage.done(release).await.unwrap();
    let order: Vec<_> = stage
        .aside
        .iter()
        .map(|news| match news {
            ErrandNews::Done { errand, .. } => Some(*errand),
            _ => None,
        })
        .collect();
    assert_eq!(order, [None, Some(wait)], "{:?}", stage.aside);
    assert_eq!(stage.end(&terminal).await, signalled("SIGTERM"));
    gone(pid).await;
}

#[tokio::test]
async fn another_sessions_command_is_not_there() {
    let mut stage = Stage::quick();
    let terminal = stage.script("exec sleep 1000").await;
    for wish in [TerminalWish::Output, TerminalWish::Kill, TerminalWish::Release, TerminalWish::Wait] {
        let errand = stage.serve(SessionId(2), Errand::Terminal { terminal: terminal.clone(), wish });
        assert_eq!(code(stage.done(errand).await), Some(ErrandCode::NotFound));
    }
    let unknown = ExecutionId::from("never");
    assert_eq!(code(stage.wish(&unknown, TerminalWish::Output).await), Some(ErrandCode::NotFound));
    assert!(matches!(stage.wish(&terminal, TerminalWish::Output).await, Ok(ErrandResult::Output { exit: None, .. })));
}

#[tokio::test]
async fn only_so_many_commands_run_and_the_oldest_that_has_ended_makes_room() {
    let mut stage = Stage::quick();
    let ended = stage.run(command(["true"])).await;
    stage.end(&ended).await;
    let mut running = Vec::new();
    for _ in 1..MAX_TERMINALS {
        running.push(stage.run(command(["sleep", "1000"])).await);
    }
    assert!(stage.wish(&ended, TerminalWish::Output).await.is_ok());
    running.push(stage.run(command(["sleep", "1000"])).await);
    assert_eq!(code(stage.wish(&ended, TerminalWish::Output).await), Some(ErrandCode::NotFound));
    assert_eq!(code(stage.prepare(Errand::Run(command(["true"]))).await), Some(ErrandCode::TooLarge));
    stage.wish(&running[0], TerminalWish::Release).await.unwrap();
    stage.run(command(["true"])).await;
    let rest = stage.shutdown().await;
    let ends = rest.iter().filter(|news| matches!(news, ErrandNews::Ended { .. })).count();
    assert_eq!(ends, MAX_TERMINALS + 1, "each that was started and not waited for has its end");
}

#[tokio::test]
async fn only_so_many_wait_and_the_others_are_told() {
    let mut stage = Stage::new(super::stage::quick(), 1024);
    let terminal = stage.script("exec sleep 1000").await;
    let mut refused = 0;
    for _ in 0..MAX_OPEN_WISHES {
        stage.order_wish(&terminal, TerminalWish::Wait);
        // Taken one by one, so that the queue to the terminal never is what is full.
        stage.wish(&terminal, TerminalWish::Output).await.unwrap();
    }
    let over = stage.order_wish(&terminal, TerminalWish::Wait);
    refused += usize::from(code(stage.done(over).await) == Some(ErrandCode::TooLarge));
    assert_eq!(refused, 1);
    assert_eq!(stage.wish(&terminal, TerminalWish::Kill).await, Ok(ErrandResult::Killed));
    let answered = |stage: &Stage| stage.aside.iter().filter(|news| matches!(news, ErrandNews::Done { .. })).count();
    until(|| (answered(&stage) == MAX_OPEN_WISHES).then_some(())).await;
}
