//! What commands write: in order, decoded, the last of it for the agent, the first of it for the log, and never too much.

use switchboard_host::runner::limits::{DEFAULT_OUTPUT_BYTES, MAX_OUTPUT_BYTES};
use switchboard_types::limits::MAX_LOGGED_OUTPUT_BYTES;
use switchboard_types::{Cut, ErrandNews, ErrandResult, ExecutionId, Exit, TerminalWish};

use super::stage::{Answer, SESSION, Stage, number, script_of};

/// All that went to the log until the end, and the end.
async fn logged(stage: &mut Stage, wanted: &ExecutionId) -> Vec<String> {
    let mut pieces = Vec::new();
    loop {
        let piece = stage
            .find(|news| match news {
                ErrandNews::Output { session: SESSION, execution, text } if execution == wanted => {
                    Some(Some(text.clone()))
                }
                ErrandNews::Ended { execution, .. } if execution == wanted => Some(None),
                _ => None,
            })
            .await;
        match piece {
            Some(text) => pieces.push(text),
            None => return pieces,
        }
    }
}

fn output(text: &str, cut: Cut, exit: Option<Exit>) -> Answer {
    Ok(ErrandResult::Output { text: text.to_owned(), cut, exit })
}

#[tokio::test]
async fn both_outputs_come_in_order_to_the_log_and_to_the_agent() {
    let mut stage = Stage::patient();
    let terminal = stage.script("echo one; echo two >&2; echo three; echo four >&2").await;
    assert_eq!(logged(&mut stage, &terminal).await.concat(), "one\ntwo\nthree\nfour\n");
    let all = output("one\ntwo\nthree\nfour\n", Cut::Whole, Some(Exit::Code(0)));
    assert_eq!(stage.wish(&terminal, TerminalWish::Output).await, all);
}

#[tokio::test]
async fn output_is_seen_while_the_command_runs() {
    let mut stage = Stage::quick();
    let terminal = stage.script("echo ready; exec sleep 1000").await;
    let seen = stage
        .find(|news| match news {
            ErrandNews::Output { text, .. } => Some(text.clone()),
            _ => None,
        })
        .await;
    assert_eq!(seen, "ready\n");
    let waits = stage.order_wish(&terminal, TerminalWish::Wait);
    assert_eq!(stage.wish(&terminal, TerminalWish::Output).await, output("ready\n", Cut::Whole, None));
    stage.wish(&terminal, TerminalWish::Kill).await.unwrap();
    assert_eq!(stage.done(waits).await, Ok(ErrandResult::Exited(Exit::Signal("SIGTERM".into()))));
}

#[tokio::test]
async fn characters_split_between_reads_stay_whole_and_bad_bytes_are_marked() {
    let mut stage = Stage::patient();
    // Each byte is its own write, and the reader is given time to read it alone.
    let script = r"for byte in 303 251 360 237 246 200 377 303; do printf '\'$byte; sleep 0.01; done";
    let terminal = stage.script(script).await;
    assert_eq!(logged(&mut stage, &terminal).await.concat(), "é🦀\u{fffd}\u{fffd}");
    let all = output("é🦀\u{fffd}\u{fffd}", Cut::Whole, Some(Exit::Code(0)));
    assert_eq!(stage.wish(&terminal, TerminalWish::Output).await, all);
}

#[tokio::test]
async fn the_agent_gets_the_last_bytes_from_a_whole_character_on() {
    let mut stage = Stage::patient();
    for (limit, text, cut) in
        [(0, "", Cut::Short), (5, "éé", Cut::Short), (6, "ééé", Cut::Whole), (7, "ééé", Cut::Whole)]
    {
        let mut run = script_of("printf ééé");
        run.output_limit = Some(limit);
        let terminal = stage.run(run).await;
        stage.end(&terminal).await;
        let answer = stage.wish(&terminal, TerminalWish::Output).await;
        assert_eq!(answer, output(text, cut, Some(Exit::Code(0))), "limit {limit}");
    }
}

#[tokio::test]
async fn a_flood_is_cut_for_the_log_and_for_the_agent() {
    let mut stage = Stage::patient();
    let mut run = script_of("head -c 104857600 /dev/zero | tr '\\0' x; printf END");
    run.output_limit = Some(u64::MAX);
    let large = stage.run(run).await;
    let log = logged(&mut stage, &large).await;
    let bytes: usize = log.iter().map(String::len).sum();
    assert!(bytes <= MAX_LOGGED_OUTPUT_BYTES && bytes > MAX_LOGGED_OUTPUT_BYTES - 1024, "{bytes}");
    assert!(log.last().unwrap().ends_with("the rest is only for the agent]\n"), "{:?}", log.last());
    assert!(log.iter().all(|piece| piece.len() <= 32 * 1024));
    let Ok(ErrandResult::Output { text, cut, .. }) = stage.wish(&large, TerminalWish::Output).await else { panic!() };
    assert_eq!((text.len() as u64, cut, text.ends_with("xEND")), (MAX_OUTPUT_BYTES, Cut::Short, true));
    let usual = stage.script("head -c 3000000 /dev/zero | tr '\\0' x").await;
    stage.end(&usual).await;
    let Ok(ErrandResult::Output { text, .. }) = stage.wish(&usual, TerminalWish::Output).await else { panic!() };
    assert_eq!(text.len() as u64, DEFAULT_OUTPUT_BYTES);
}

#[test]
fn a_flood_costs_no_memory_beyond_what_is_kept() {
    // In a process of its own, since the others of this one need memory too.
    let this = std::env::current_exe().unwrap();
    let alone = ["--exact", "output::a_flood_alone", "--ignored", "--test-threads=1"];
    let output = std::process::Command::new(this).args(alone).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
#[ignore = "run by the test before it, alone"]
async fn a_flood_alone() {
    let before = most_memory();
    let mut stage = Stage::patient();
    let flood = stage.script("head -c 104857600 /dev/zero | tr '\\0' x").await;
    stage.end(&flood).await;
    let grown = most_memory() - before;
    assert!(grown < 16 * 1024 * 1024, "{grown} bytes more than before");
}

/// The most memory that this process ever had in use, in bytes.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn a_host_that_takes_no_news_makes_the_command_wait_not_the_memory_grow() {
    let mut stage = Stage::new(super::stage::quick(), 1);
    let script = "line=$(head -c 1023 /dev/zero | tr '\\0' x); i=0; while [ $i -lt 200 ]; do echo $line; i=$((i+1)); echo $i > count; done";
    let terminal = stage.script(script).await;
    // The command stands still once the pipe and the few pieces in between are full.
    let path = stage.path("count");
    let mut last = (0, 0);
    super::stage::until(|| {
        let now = number(&path)?;
        last = if now == last.0 { (now, last.1 + 1) } else { (now, 0) };
        (last.1 > 200).then_some(())
    })
    .await;
    assert!(last.0 < 200, "it was never made to wait");
    let log = logged(&mut stage, &terminal).await.concat();
    assert_eq!(log, ("x".repeat(1023) + "\n").repeat(200));
}
