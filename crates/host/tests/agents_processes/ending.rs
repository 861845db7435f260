//! How agents are ended: politely first, then not, and always with all that they started.

use switchboard_host::agents::Graces;
use switchboard_host::link::{AgentOrder, EndHow};
use switchboard_types::LifeId;

use super::stage::{DEADLINE, Stage, gone, patient, plain, quick, soon};

const READY: &str = r#"echo '{"type":"error","message":"ready"}'"#;

async fn ended_politely(stage: &mut Stage, script: &str) -> String {
    let orders = stage.script(script);
    stage.until(|_| true).await;
    orders.send(AgentOrder::End(EndHow::Gracefully)).await.unwrap();
    stage.hear_out().await.1
}

#[tokio::test]
async fn an_agent_that_exits_when_its_input_ends_gets_no_signal() {
    let mut stage = Stage::new(patient(), 16);
    let message = ended_politely(&mut stage, &format!("{READY}; cat >/dev/null; exit 6")).await;
    assert_eq!(message, "agent `x` was ended by the host: it exited with code 6");
}

#[tokio::test]
async fn an_agent_that_only_heeds_sigterm_gets_one() {
    let mut stage = Stage::new(Graces { terminated: DEADLINE, ..quick() }, 16);
    let script = format!("trap 'exit 7' TERM; {READY}; while :; do sleep 0.05; done");
    let message = ended_politely(&mut stage, &script).await;
    assert_eq!(message, "agent `x` was ended by the host: it exited with code 7");
}

#[tokio::test]
async fn a_stubborn_agent_is_killed_in_the_end() {
    let mut stage = Stage::new(quick(), 16);
    let script = format!("trap '' TERM; {READY}; while :; do sleep 1000; done");
    let message = ended_politely(&mut stage, &script).await;
    assert_eq!(message, "agent `x` was ended by the host: it was ended by signal 9 (SIGKILL)");
}

#[tokio::test]
async fn an_agent_takes_its_whole_group_with_it() {
    let mut stage = Stage::new(patient(), 16);
    let _orders = stage.script("sleep 1000 & echo $! > child; exit 0");
    let (_, message) = stage.hear_out().await;
    assert_eq!(message, "agent `x` exited with code 0 before it said anything");
    gone(stage.number_in("child").await).await;
}

#[tokio::test]
async fn an_agent_that_forks_and_exits_is_over_and_so_is_its_fork() {
    let mut stage = Stage::new(quick(), 16);
    let script = format!("( {READY}; echo $$ > leader; while :; do sleep 0.05; done ) & echo $! > fork; exit 2");
    let _orders = stage.script(&script);
    let (_, message) = stage.hear_out().await;
    assert!(message.starts_with("agent `x` exited with code 2"), "{message}");
    gone(stage.number_in("fork").await).await;
}

#[tokio::test]
async fn a_shutdown_leaves_nothing_running_even_if_nobody_listens() {
    let stage = Stage::new(quick(), 1);
    let scripts = [
        "echo $$ > a; exec cat",
        "trap '' TERM; echo $$ > b; while :; do sleep 1000; done",
        r#"echo $$ > c; while :; do echo '{"type":"error","message":"more"}'; done"#,
        "sleep 1000 & echo $! > d; wait",
    ];
    let lives: Vec<_> = scripts
        .iter()
        .zip(1..)
        .map(|(script, life)| stage.agents.spawn(LifeId(life), &plain(["/bin/sh", "-c", script]), &stage.workspace()))
        .collect();
    let mut pids = Vec::new();
    for file in ["a", "b", "c", "d"] {
        pids.push(stage.number_in(file).await);
    }
    soon(stage.agents.shutdown()).await;
    for pid in pids {
        gone(pid).await;
    }
    let left: Vec<_> = std::fs::read_dir(stage.data.path().join("children")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    drop(lives);
}
