//! How commands end: politely first, then not, always with all that they started, and never waiting for somebody who left.

use switchboard_host::agents::Graces;
use switchboard_types::{ErrandNews, ErrandOrder, ErrandResult, ExecutionEnd, Exit, TerminalWish};

use super::stage::{SESSION, Stage, exited, gone, number, patient, quick, signalled, soon, until};

#[tokio::test]
async fn a_command_that_ignores_sigterm_is_killed_after_its_grace() {
    let mut stage = Stage::quick();
    let terminal = stage.script("trap '' TERM; echo $$ > pid; while :; do sleep 1000; done").await;
    let pid = stage.number_in("pid").await;
    assert_eq!(stage.wish(&terminal, TerminalWish::Kill).await, Ok(ErrandResult::Killed));
    assert_eq!(stage.end(&terminal).await, signalled("SIGKILL"));
    gone(pid).await;
}

#[tokio::test]
async fn a_command_that_heeds_sigterm_ends_in_its_own_way() {
    let mut stage = Stage::patient();
    let terminal = stage.script("trap 'echo bye; exit 9' TERM; echo $$ > pid; while :; do sleep 0.01; done").await;
    stage.number_in("pid").await;
    stage.wish(&terminal, TerminalWish::Kill).await.unwrap();
    assert_eq!(stage.end(&terminal).await, ExecutionEnd::Exited { code: 9 });
    assert!(stage.output_at_end(&terminal).await.contains("bye\n"));
}

#[tokio::test]
async fn what_a_command_started_ends_with_it() {
    let mut stage = Stage::patient();
    let terminal = stage.script("sleep 1000 & echo $! > child; echo said; exit 0").await;
    let child = stage.number_in("child").await;
    // The child holds the pipe, and the graces are longer than any test: only its own end lets this go on.
    assert_eq!(stage.end(&terminal).await, ExecutionEnd::Exited { code: 0 });
    assert_eq!(stage.output_at_end(&terminal).await, "said\n");
    gone(child).await;
}

#[tokio::test]
async fn somebody_who_left_the_group_and_holds_the_pipe_is_ended_too() {
    let mut stage = Stage::quick();
    let script =
        "setsid sh -c 'echo $$ > escaped; exec sleep 1000' & while ! [ -s escaped ]; do :; done; echo said; exit 4";
    let terminal = stage.script(script).await;
    assert_eq!(stage.wish(&terminal, TerminalWish::Wait).await, exited(4));
    assert_eq!(stage.output_at_end(&terminal).await, "said\n");
    gone(stage.number_in("escaped").await).await;
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_commands_and_answers_its_waits() {
    let mut stage = Stage::quick();
    let terminal = stage.script("echo $$ > pid; exec sleep 1000").await;
    let pid = stage.number_in("pid").await;
    let wait = stage.order_wish(&terminal, TerminalWish::Wait);
    stage.runner.order(ErrandOrder::EndAll { session: SESSION });
    assert_eq!(stage.done(wait).await, Ok(ErrandResult::Exited(Exit::Signal("SIGTERM".into()))));
    assert_eq!(stage.end(&terminal).await, signalled("SIGTERM"));
    gone(pid).await;
    // The agent may still look at what it wrote.
    assert_eq!(stage.output_at_end(&terminal).await, "");
    assert_eq!(stage.wish(&terminal, TerminalWish::Release).await, Ok(ErrandResult::Released));
}

#[tokio::test]
async fn the_end_of_another_session_ends_nothing_here() {
    let mut stage = Stage::quick();
    let terminal = stage.script("exec sleep 1000").await;
    stage.runner.order(ErrandOrder::EndAll { session: switchboard_types::SessionId(2) });
    let still = stage.wish(&terminal, TerminalWish::Output).await;
    assert!(matches!(still, Ok(ErrandResult::Output { exit: None, .. })), "{still:?}");
}

const SCRIPTS: [&str; 4] = [
    "echo $$ > a; exec sleep 1000",
    "trap '' TERM; echo $$ > b; while :; do sleep 1000; done",
    "echo $$ > c; while :; do echo more; done",
    "sleep 1000 & echo $! > d; wait",
];

async fn started(stage: &mut Stage) -> Vec<i32> {
    let mut pids = Vec::new();
    for (script, file) in SCRIPTS.into_iter().zip(["a", "b", "c", "d"]) {
        stage.script(script).await;
        pids.push(stage.number_in(file).await);
    }
    pids
}

fn records(stage: &Stage) -> usize {
    std::fs::read_dir(stage.data.path().join("children")).unwrap().count()
}

#[tokio::test]
async fn a_shutdown_leaves_nothing_running_and_answers_what_is_open() {
    let mut stage = Stage::quick();
    let pids = started(&mut stage).await;
    assert_eq!(records(&stage), SCRIPTS.len());
    let terminals: Vec<_> =
        (0..4).map(|at| switchboard_types::ExecutionId::from(format!("x{}", at + 1).as_str())).collect();
    let waits: Vec<_> = terminals.iter().map(|terminal| stage.order_wish(terminal, TerminalWish::Wait)).collect();
    let children = stage.data.path().join("children");
    let data = std::mem::replace(&mut stage.data, tempfile::tempdir().unwrap());
    let rest = stage.shutdown().await;
    for pid in pids {
        gone(pid).await;
    }
    assert_eq!(std::fs::read_dir(children).unwrap().count(), 0);
    drop(data);
    let ends = rest.iter().filter(|news| matches!(news, ErrandNews::Ended { .. })).count();
    assert_eq!(ends, SCRIPTS.len());
    for wait in waits {
        let answers: Vec<_> =
            rest.iter().filter(|news| matches!(news, ErrandNews::Done { errand, .. } if *errand == wait)).collect();
        assert!(matches!(answers[..], [ErrandNews::Done { result: Ok(ErrandResult::Exited(_)), .. }]), "{answers:?}");
    }
}

#[tokio::test]
async fn a_shutdown_leaves_nothing_running_even_if_nobody_listens() {
    let mut stage = Stage::new(quick(), 8);
    let pids = started(&mut stage).await;
    let Stage { runner, inbox, data, root, .. } = stage;
    soon(runner.shutdown()).await;
    for pid in pids {
        gone(pid).await;
    }
    drop((inbox, data, root));
}

#[tokio::test]
async fn a_runner_that_is_dropped_ends_what_it_started() {
    let mut stage = Stage::new(Graces { terminated: quick().terminated, ..patient() }, 1024);
    let terminal = stage.script("echo $$ > pid; exec sleep 1000").await;
    let pid = stage.number_in("pid").await;
    let Stage { runner, inbox, data, root, .. } = stage;
    drop((runner, inbox));
    gone(pid).await;
    until(|| number(&root.path().join("pid"))).await;
    drop((terminal, data));
}
