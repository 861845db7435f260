//! How commands behind walls end: by themselves, asked, or by force, always with all that they started.

use switchboard_types::{Console, ErrandOrder, ErrandResult, ExecutionEnd, Network, RunAs, TerminalWish};

use super::stage::{Stage, bearing, sh, until};

#[tokio::test]
async fn codes_and_signals_come_through() {
    let mut stage = Stage::new();
    for code in [0, 1, 7, 125, 126, 127, 137, 143, 255] {
        assert_eq!(stage.script(&format!("exit {code}")).await.end, ExecutionEnd::Exited { code });
    }
    for (signal, name) in [("SEGV", "SIGSEGV"), ("TERM", "SIGTERM"), ("KILL", "SIGKILL"), ("INT", "SIGINT")] {
        let ran = stage.script(&format!("kill -{signal} $$")).await;
        assert_eq!(ran.end, ExecutionEnd::Signalled { signal: name.to_owned() });
    }
}

#[tokio::test]
async fn what_it_says_comes_in_order_and_it_hears_nothing() {
    let mut stage = Stage::new();
    let ran = stage.script("echo one; echo two >&2; cat; echo three").await;
    assert_eq!(ran.output, "one\ntwo\nthree\n");
    // Nor is it handed a folder that would lead around the walls.
    let ran = stage.script("for file in /proc/self/fd/*; do [ -d $file ] && readlink $file; done; exit 0").await;
    assert_eq!(ran.output, "");
}

#[tokio::test]
async fn a_terminal_is_the_commands_own() {
    let mut stage = Stage::new();
    let mut run = sh("test -t 0 && test -t 1 && test -t 2 && stty size && echo own > /dev/tty");
    run.console = Console::Pty { columns: 91, rows: 17 };
    let execution = stage.start(run, RunAs::Shown, Network::Closed).await;
    let ran = stage.ran(&execution).await;
    assert_eq!((ran.output.replace('\r', "").as_str(), ran.worked()), ("17 91\nown\n", true));
}

#[tokio::test]
async fn a_command_at_a_terminal_ends_with_all_that_it_started() {
    let word = format!("97{}", std::process::id());
    let mut stage = Stage::impatient();
    let mut run = sh(&format!("trap '' TERM HUP; setsid sleep {word} & sleep {word}"));
    run.console = Console::Pty { columns: 80, rows: 24 };
    let execution = stage.start(run, RunAs::Shown, Network::Closed).await;
    until(|| (bearing(&word).len() >= 2).then_some(())).await;
    assert_eq!(stage.wish(&execution, TerminalWish::Kill).await, ErrandResult::Killed);
    stage.end(&execution).await;
    assert_eq!(bearing(&word), Vec::<i32>::new());
}

#[tokio::test]
async fn what_is_to_stop_at_once_stops_at_once() {
    let word = format!("96{}", std::process::id());
    let mut stage = Stage::new();
    let script = format!("trap '' TERM; setsid sleep {word} & sleep {word}");
    let errand = stage.prepare(sh(&script)).await.unwrap();
    let execution = stage.perform(errand, RunAs::Shown, Network::Closed).await.unwrap();
    until(|| (bearing(&word).len() >= 2).then_some(())).await;
    // The grace between request and force is longer than any test here.
    stage.runner.order(ErrandOrder::Stop { errand });
    stage.end(&execution).await;
    assert_eq!(bearing(&word), Vec::<i32>::new());
}

#[tokio::test]
async fn a_command_that_heeds_a_request_ends_in_its_own_way() {
    let mut stage = Stage::new();
    let script = sh("trap 'echo bye; exit 9' TERM; echo up > up; while :; do sleep 0.01; done");
    let execution = stage.start(script, RunAs::Shown, Network::Closed).await;
    until(|| stage.text("up").filter(|text| !text.is_empty())).await;
    assert_eq!(stage.wish(&execution, TerminalWish::Kill).await, ErrandResult::Killed);
    let ran = stage.ran(&execution).await;
    assert_eq!(ran.end, ExecutionEnd::Exited { code: 9 });
    assert!(ran.output.ends_with("bye\n"), "{ran:?}");
}

#[tokio::test]
async fn nothing_stays_of_a_command_that_has_ended() {
    let mut stage = Stage::new();
    let ways = [
        "sleep {} &",
        "setsid sleep {} &",
        "setsid sh -c 'sleep {} & sleep {} &' &",
        "(setsid sh -c '(setsid sleep {} &) &' &) &",
        "nohup sleep {} > /dev/null 2>&1 &",
        "trap '' TERM HUP; env -i sleep {} &",
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let word = format!("99{}{number}", std::process::id());
        let ran = stage.script(&format!("{}\nsleep 0.05; exit 3", way.replace("{}", &word))).await;
        assert_eq!(ran.end, ExecutionEnd::Exited { code: 3 }, "{way}: {ran:?}");
        assert_eq!(bearing(&word), Vec::<i32>::new(), "{way}");
    }
}

#[tokio::test]
async fn nothing_stays_of_a_command_that_is_ended_by_force() {
    let word = format!("98{}", std::process::id());
    let mut stage = Stage::impatient();
    let script =
        format!("trap '' TERM; setsid sleep {word} & setsid sh -c 'sleep {word} &' & echo up > up; sleep {word}");
    let execution = stage.start(sh(&script), RunAs::Shown, Network::Closed).await;
    until(|| (bearing(&word).len() >= 3).then_some(())).await;
    let Stage { runner, data, root, .. } = stage;
    // Dropped, it has no time for requests.
    drop(runner);
    until(|| bearing(&word).is_empty().then_some(())).await;
    drop((execution, data, root));
}
