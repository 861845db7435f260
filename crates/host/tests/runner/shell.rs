//! `run_terminal_command`: what it gives, what it talks to, and that nothing of it stays once it is to end.

use std::fs;

use serde_json::{Value, json};
use switchboard_types::{
    Errand, ErrandCode, ErrandNews, ErrandOrder, ErrandResult, ExecutionEnd, Facts, Place, Prepared, TerminalWish,
};

use super::stage::{SESSION, Stage, code, link, signalled};
use super::tools::{call_of, serve};

fn run_of(parameters: Value) -> Errand {
    call_of("run_terminal_command", parameters)
}

async fn run(stage: &mut Stage, parameters: Value) -> (ExecutionEnd, Value) {
    let (errand, _) = stage.prepare(run_of(parameters)).await.unwrap();
    let (end, answer) = stage.perform(errand).await;
    match answer {
        Ok(ErrandResult::Tool { mut data }) => {
            assert!(data["durationMs"].is_u64(), "{data}");
            data.as_object_mut().unwrap().remove("durationMs");
            (end, data)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_command_gives_its_code_and_both_outputs_at_its_end() {
    for mut stage in Stage::both() {
        let (errand, shown) = stage.prepare(run_of(json!({"command": "true"}))).await.unwrap();
        assert_eq!(shown.title, "run in a shell: true");
        stage.runner.order(ErrandOrder::Drop { errand });
        let asked = json!({"command": "echo one; echo two >&2; echo $X; cat; exit 3", "env": {"X": "three"}});
        let (end, data) = run(&mut stage, asked).await;
        assert_eq!(end, ExecutionEnd::Exited { code: 3 });
        assert_eq!(data, json!({"exitCode": 3, "output": "one\ntwo\nthree\n"}));
        let streamed: String = stage
            .aside
            .iter()
            .filter_map(|news| match news {
                ErrandNews::Output { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(streamed, "one\ntwo\nthree\n");
        let (end, data) = run(&mut stage, json!({"command": "kill -KILL $$"})).await;
        assert_eq!(end, signalled("SIGKILL"));
        assert_eq!(data, json!({"exitCode": null, "signal": "SIGKILL", "output": ""}));
    }
}

#[tokio::test]
async fn of_much_output_both_ends_are_kept() {
    for mut stage in Stage::both() {
        let asked = json!({"command": "echo first; seq 1 200000; echo last", "maxOutputBytes": 100});
        let (_, data) = run(&mut stage, asked).await;
        let output = data["output"].as_str().unwrap();
        assert!(output.starts_with("first\n1\n2\n") && output.ends_with("200000\nlast\n"), "{output}");
        let written = "first\n".len()
            + (1..=200_000).map(|number: u32| format!("{number}\n").len()).sum::<usize>()
            + "last\n".len();
        assert_eq!(data["truncated"], json!({"head": 50, "tail": 50, "leftOut": written - 100}));
        assert!(output.contains(&format!("[… {} bytes left out …]", written - 100)), "{output}");
        let (_, data) = run(&mut stage, json!({"command": "echo x", "maxOutputBytes": 0})).await;
        assert_eq!(data["truncated"], json!({"head": 0, "tail": 0, "leftOut": 2}));
    }
}

#[tokio::test]
async fn nobody_looks_at_it_again_once_it_has_answered() {
    let mut stage = Stage::patient();
    let (errand, _) = stage.prepare(run_of(json!({"command": "echo x"}))).await.unwrap();
    let execution = stage.order_perform(errand);
    stage.done(errand).await.unwrap();
    stage.end(&execution).await;
    assert_eq!(code(stage.wish(&execution, TerminalWish::Output).await), Some(ErrandCode::NotFound));
}

#[tokio::test]
async fn it_has_a_terminal_of_its_size_if_asked() {
    for mut stage in Stage::both() {
        let script = "tty; test -t 0 && test -t 1 && test -t 2 && echo all; stty size; echo $TERM; exit 4";
        let asked = json!({"command": script, "pty": true, "columns": 123, "rows": 45});
        let (end, data) = run(&mut stage, asked).await;
        assert_eq!(end, ExecutionEnd::Exited { code: 4 });
        let lines: Vec<_> = data["output"].as_str().unwrap().lines().collect();
        assert!(lines[0].starts_with("/dev/pts/") || lines[0] == "/dev/console", "{lines:?}");
        assert_eq!(lines[1..4], ["all", "45 123", "xterm-256color"]);
        let (_, data) = run(&mut stage, json!({"command": "tty; test -t 1 || echo no; exit 0"})).await;
        assert_eq!(data["output"], "not a tty\nno\n");
    }
}

#[tokio::test]
async fn a_stop_leaves_nothing_behind() {
    for mut stage in Stage::both() {
        for (pty, script) in [
            (false, "trap '' TERM; echo $$ > a; sleep 86421"),
            (false, "setsid sh -c 'echo $$ > a; trap \"\" TERM HUP; while :; do sleep 86421; done' & wait"),
            (
                false,
                "(setsid sh -c '(echo $$ > a; exec sleep 86421) &' &) ; while ! [ -s a ]; do :; done; exec sleep 86422",
            ),
            (true, "trap '' HUP TERM; echo $$ > a; while :; do sleep 86421; done"),
            (true, "nohup setsid sh -c 'echo $$ > a; exec sleep 86421' & sleep 86422"),
        ] {
            let _ = fs::remove_file(stage.path("a"));
            let pid_file = json!({"command": script, "pty": pty});
            let (errand, _) = stage.prepare(run_of(pid_file)).await.unwrap();
            let execution = stage.order_perform(errand);
            stage.number_in("a").await;
            stage.runner.order(ErrandOrder::Stop { errand });
            assert_eq!(stage.end(&execution).await, signalled("SIGKILL"), "{script}");
            assert_eq!(code(stage.done(errand).await), Some(ErrandCode::Cancelled), "{script}");
            assert_eq!(sleepers(), Vec::<String>::new(), "{script}");
        }
    }
}

/// Processes of this test that still run, whatever they are called behind walls.
fn sleepers() -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let lines = all.filter_map(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.contains("sleep 86421") || line.contains("sleep 86422")).then_some((pid, line))
    });
    let ours = lines.filter(|(pid, _)| super::stage::runs(pid.parse().unwrap()) && descends_from_us(pid));
    ours.map(|(_, line)| line).collect()
}

fn descends_from_us(pid: &str) -> bool {
    let mut pid = pid.to_owned();
    while pid != "1" && pid != "0" {
        if pid == std::process::id().to_string() {
            return true;
        }
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let Some(parent) = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) else {
            return false;
        };
        pid = parent.to_owned();
    }
    false
}

#[tokio::test]
async fn a_search_and_what_waits_are_stopped_too() {
    let mut stage = Stage::patient();
    for folder in 0..60 {
        for file in 0..50 {
            stage.put(&format!("d{folder}/f{file}"), "some text\n".repeat(200));
        }
    }
    // More than run at once, so that some only wait for their turn.
    let searches: Vec<_> = (0..6)
        .map(|_| stage.serve(SESSION, call_of("search_workspace", json!({"query": "(x+x+)+y", "regex": true}))))
        .collect();
    for errand in &searches {
        stage.runner.order(ErrandOrder::Stop { errand: *errand });
    }
    for errand in searches {
        assert_eq!(code(stage.done(errand).await), Some(ErrandCode::Cancelled));
    }
    // A stop for what is over, or was never there, changes nothing.
    stage.runner.order(ErrandOrder::Stop { errand: switchboard_types::ErrandId(4711) });
    assert!(serve(&mut stage, "list_files", json!({"depth": 1})).await.is_ok());
}

#[tokio::test]
async fn a_stop_while_it_is_made_ready_or_waits_does_not_do_it() {
    let mut stage = Stage::patient();
    let (errand, _) = stage.prepare(call_of("write_file", json!({"path": "a", "content": "x"}))).await.unwrap();
    // What only waits for a person stays: it is dropped, not stopped.
    stage.runner.order(ErrandOrder::Stop { errand });
    assert!(stage.perform(errand).await.1.is_ok());
    let errand = stage.order_prepare(call_of("write_file", json!({"path": "b", "content": "x"})));
    stage.runner.order(ErrandOrder::Stop { errand });
    if let Err(failure) = stage.prepared(errand).await {
        assert_eq!(failure.code, ErrandCode::Cancelled);
    }
    assert!(!stage.path("b").exists());
}

fn facts(shown: &Prepared) -> &switchboard_types::CommandFacts {
    match &shown.facts {
        Facts::Command(facts) => facts,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_folder_of_a_command_is_where_it_really_is() {
    let mut stage = Stage::patient();
    let outside = tempfile::tempdir().unwrap();
    stage.put("sub/x", "");
    link(outside.path(), stage.path("out"));
    link("sub", stage.path("in"));
    let evil = format!("{}-evil", stage.workspace());
    fs::create_dir(&evil).unwrap();
    for cwd in ["/", "..", "out", "sub/../..", &evil, "/proc/self/cwd/../.."] {
        let asked = run_of(json!({"command": "pwd", "cwd": cwd}));
        assert_eq!(code(stage.prepare(asked).await), Some(ErrandCode::Outside), "{cwd}");
    }
    fs::remove_dir(evil).unwrap();
    for cwd in ["sub", "in", "./in/../sub"] {
        let (_, shown) = stage.prepare(run_of(json!({"command": "pwd", "cwd": cwd}))).await.unwrap();
        assert_eq!(shown.cwd.as_deref(), Some(format!("{}/sub", stage.workspace()).as_str()));
        assert_eq!(facts(&shown).cwd_place, Place::Inside("sub".into()), "{cwd}");
        assert_eq!(facts(&shown).line.as_deref(), Some("pwd"));
    }
}

#[tokio::test]
async fn a_program_is_known_by_its_file_and_bound_to_it() {
    let mut stage = Stage::patient();
    let executable = |stage: &Stage, path: &str, text: &str| {
        stage.put(path, text);
        fs::set_permissions(stage.path(path), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    executable(&stage, "tool.sh", "#!/bin/sh\necho one\n");
    link("tool.sh", stage.path("alias"));
    let words = |words: &[&str]| super::stage::command_of(words);
    let (_, shown) = stage.prepare(Errand::Run(words(&["./alias", "x"]))).await.unwrap();
    let program = &facts(&shown).programs[0];
    assert_eq!((program.name.as_str(), &program.place), ("./alias", &Place::Inside("tool.sh".into())));
    assert_eq!(program.path.as_deref(), Some(format!("{}/tool.sh", stage.workspace()).as_str()));
    let (_, shown) = stage.prepare(Errand::Run(words(&["env", "x"]))).await.unwrap();
    let program = &facts(&shown).programs[0];
    assert!(matches!(&program.place, Place::Outside(path) if Some(path) == program.path.as_ref()), "{program:?}");
    // Another file under the same name is another command.
    let run = || Errand::Run(words(&["./tool.sh"]));
    let (errand, before) = stage.prepare(run()).await.unwrap();
    executable(&stage, "tool.sh", "#!/bin/sh\necho ran > ran\n");
    let (_, after) = stage.prepare(run()).await.unwrap();
    assert_ne!((before.digest, before.scope), (after.digest, after.scope));
    assert_eq!(code(stage.perform(errand).await.1), Some(ErrandCode::Changed));
    assert!(!stage.path("ran").exists());
}

#[tokio::test]
async fn what_a_line_runs_and_touches_is_looked_up() {
    let mut stage = Stage::patient();
    stage.put(".git/config", "");
    link(".git", stage.path("innocent"));
    stage.put("sub/x", "");
    let command = "cp x ../innocent/config && cat x | tee ../new/file /etc/motd > ../innocent/hooks/pre-commit";
    let (_, shown) = stage.prepare(run_of(json!({"command": command, "cwd": "sub"}))).await.unwrap();
    let facts = facts(&shown);
    let names: Vec<_> = facts.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!(names, ["cp", "cat", "tee"]);
    for program in &facts.programs {
        let file = fs::canonicalize(program.path.as_deref().unwrap()).unwrap();
        assert_eq!(program.place, Place::Outside(file.to_str().unwrap().to_owned()));
    }
    let place = |written: &str| {
        let found = facts.targets.iter().find(|target| target.written == written);
        found.unwrap_or_else(|| panic!("{written} is not in {:?}", facts.targets)).place.clone()
    };
    let inside = |path: &str| Place::Inside(path.to_owned());
    assert_eq!(place("../innocent/config"), inside(".git/config"));
    assert_eq!(place("../innocent/hooks/pre-commit"), inside(".git/hooks/pre-commit"));
    assert_eq!(place("../new/file"), inside("new/file"));
    assert_eq!(place("/etc/motd"), Place::Outside("/etc/motd".into()));
    // What the facts say of each is in the order of the reading, which the judge goes by.
    let reading = switchboard_core::policy::read_line(command);
    let written: Vec<_> = reading.targets.iter().map(|target| target.path.as_str()).collect();
    assert_eq!(facts.targets.iter().map(|target| target.written.as_str()).collect::<Vec<_>>(), written);
    assert_eq!(facts.programs.len(), reading.commands.len());
}
