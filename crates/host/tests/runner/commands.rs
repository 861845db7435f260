//! Commands made ready and run: what is shown is what runs, in the folder that was shown, with nothing of the host's secrets.

use std::fs;

use switchboard_types::{ApprovalKind, Errand, ErrandCode, ExecutionEnd, Prepared, Run, TerminalWish};

use super::stage::{Stage, code, command, exited, link, script_of};

async fn shown(stage: &mut Stage, run: Run) -> Prepared {
    stage.prepare(Errand::Run(run)).await.unwrap().1
}

#[tokio::test]
async fn a_command_is_shown_just_as_it_would_run() {
    let mut stage = Stage::patient();
    fs::create_dir(stage.path("sub")).unwrap();
    let mut run = command(["printf", "%s\\n", "two words", "\u{202e}x", "a\nb"]);
    run.env = vec![("CI".into(), "1".into()), ("NOTE".into(), "it's".into())];
    run.cwd = Some("sub".into());
    let prepared = shown(&mut stage, run).await;
    assert_eq!(
        prepared,
        Prepared {
            kind: ApprovalKind::Command,
            title: r"run printf '%s\n' 'two words' $'\u202ex' $'a\nb'".into(),
            command: Some(r"CI=1 NOTE='it'\''s' printf '%s\n' 'two words' $'\u202ex' $'a\nb'".into()),
            cwd: Some(format!("{}/sub", stage.workspace())),
            path: None,
            diff: None,
            change: None,
            facts: prepared.facts.clone(),
            digest: prepared.digest.clone(),
            scope: format!("run:{}", prepared.digest),
        }
    );
}

#[tokio::test]
async fn a_whole_line_runs_in_a_shell_and_is_said_to() {
    let mut stage = Stage::patient();
    let prepared = shown(&mut stage, command(["echo one && echo two | tr o 0"])).await;
    assert_eq!(prepared.title, "run in a shell: echo one && echo two | tr o 0");
    assert_eq!(prepared.command.as_deref(), Some("echo one && echo two | tr o 0"));
    let terminal = stage.run(command(["echo one && echo two | tr o 0"])).await;
    assert_eq!(stage.output_at_end(&terminal).await, "one\ntw0\n");
    // Without anything for a shell in it, it is a program; with arguments it always is.
    assert_eq!(shown(&mut stage, command(["true"])).await.title, "run true");
    assert_eq!(code(stage.prepare(Errand::Run(command(["echo one", "two"]))).await), Some(ErrandCode::NotFound));
}

#[tokio::test]
async fn a_program_whose_name_has_spaces_is_no_line() {
    let mut stage = Stage::patient();
    stage.put("my tool", "#!/bin/sh\necho tool\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(stage.path("my tool"), mode).unwrap();
    assert_eq!(shown(&mut stage, command(["./my tool"])).await.title, "run './my tool'");
    let terminal = stage.run(command(["./my tool"])).await;
    assert_eq!(stage.output_at_end(&terminal).await, "tool\n");
}

#[tokio::test]
async fn the_digest_binds_words_variables_and_folder() {
    let mut stage = Stage::patient();
    fs::create_dir(stage.path("sub")).unwrap();
    let base = || command(["echo", "a", "b"]);
    let with = |change: fn(&mut Run)| {
        let mut run = base();
        change(&mut run);
        run
    };
    let runs = [
        base(),
        command(["echo", "a b"]),
        command(["echo", "ab"]),
        with(|run| run.env = vec![("A".into(), "1".into())]),
        with(|run| run.env = vec![("A".into(), "2".into())]),
        with(|run| run.args.extend(["A".into(), "1".into()])),
        with(|run| run.cwd = Some("sub".into())),
    ];
    let mut digests = Vec::new();
    for run in runs {
        digests.push(shown(&mut stage, run).await.digest);
    }
    assert_eq!(shown(&mut stage, with(|run| run.cwd = Some("./sub/..".into()))).await.digest, digests[0]);
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
}

#[tokio::test]
async fn it_runs_where_it_was_shown_with_no_input_and_no_secrets() {
    let mut stage = Stage::patient();
    fs::create_dir(stage.path("sub")).unwrap();
    let mut run = script_of("pwd -P; env | sort | cut -d= -f1 | tr '\\n' ' '; echo; echo $SET; cat; echo end");
    run.cwd = Some(stage.path("sub").to_str().unwrap().to_owned());
    run.env = vec![("SET".into(), "first".into()), ("SET".into(), "last".into())];
    let terminal = stage.run(run).await;
    let output = stage.output_at_end(&terminal).await;
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines[0], format!("{}/sub", stage.workspace()));
    let known = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "TZ", "SET", "PWD", "OLDPWD", "SHLVL", "_"];
    let extra: Vec<_> = lines[1]
        .split(' ')
        .filter(|name| {
            !name.is_empty() && !known.contains(name) && !name.starts_with("LC_") && !name.starts_with("SWITCHBOARD_")
        })
        .collect();
    assert_eq!(extra, Vec::<&str>::new());
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the host itself knows more than that");
    assert_eq!(lines[2..], ["last", "end"]);
}

#[tokio::test]
async fn a_folder_of_a_command_must_be_inside_and_stay_what_it_was() {
    let mut stage = Stage::patient();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(stage.path("sub")).unwrap();
    stage.put("file", "x");
    link(outside.path(), stage.path("out"));
    let cases = [
        ("/", ErrandCode::Outside),
        ("..", ErrandCode::Outside),
        ("out", ErrandCode::Outside),
        ("nowhere", ErrandCode::NotFound),
        ("file", ErrandCode::Invalid),
    ];
    for (cwd, expected) in cases {
        let mut run = command(["pwd"]);
        run.cwd = Some(cwd.into());
        assert_eq!(code(stage.prepare(Errand::Run(run)).await), Some(expected), "{cwd}");
    }
    let mut run = script_of("echo ran > here");
    run.cwd = Some("sub".into());
    let (errand, _) = stage.prepare(Errand::Run(run)).await.unwrap();
    fs::remove_dir(stage.path("sub")).unwrap();
    link(outside.path(), stage.path("sub"));
    let (end, answer) = stage.perform(errand).await;
    assert!(matches!(end, ExecutionEnd::Failed { .. }), "{end:?}");
    assert_eq!(code(answer), Some(ErrandCode::Changed));
    assert!(!outside.path().join("here").exists());
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let mut stage = Stage::patient();
    let env = |name: &str, value: &str| Run { env: vec![(name.into(), value.into())], ..command(["true"]) };
    let cases = [
        (command([""]), ErrandCode::Invalid),
        (command(["  "]), ErrandCode::Invalid),
        (command(["echo", "a\0b"]), ErrandCode::Invalid),
        (env("", "x"), ErrandCode::Invalid),
        (env("A=B", "x"), ErrandCode::Invalid),
        (env("A", "\0"), ErrandCode::Invalid),
        (command(["no-such-program-anywhere"]), ErrandCode::NotFound),
        (command(["./nothing"]), ErrandCode::NotFound),
        (command(["echo", &"x".repeat(100_000)]), ErrandCode::TooLarge),
    ];
    for (run, expected) in cases {
        let shown = format!("{run:.80?}");
        assert_eq!(code(stage.prepare(Errand::Run(run)).await), Some(expected), "{shown}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_start_ends_at_once() {
    let mut stage = Stage::patient();
    stage.put("bad", "#!/nowhere/interpreter\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(stage.path("bad"), mode).unwrap();
    let (errand, _) = stage.prepare(Errand::Run(command(["./bad"]))).await.unwrap();
    let execution = stage.order_perform(errand);
    let early = stage.order_wish(&execution, TerminalWish::Wait);
    let end = stage.end(&execution).await;
    assert!(matches!(end, ExecutionEnd::Failed { .. }), "{end:?}");
    assert_eq!(code(stage.done(errand).await), Some(ErrandCode::Failed));
    assert_eq!(code(stage.done(early).await), Some(ErrandCode::NotFound));
    assert_eq!(code(stage.wish(&execution, TerminalWish::Output).await), Some(ErrandCode::NotFound));
}

#[tokio::test]
async fn an_end_is_told_by_code_or_signal() {
    let mut stage = Stage::patient();
    let terminal = stage.script("exit 7").await;
    assert_eq!(stage.end(&terminal).await, ExecutionEnd::Exited { code: 7 });
    assert_eq!(stage.wish(&terminal, TerminalWish::Wait).await, exited(7));
    let terminal = stage.script("kill -SEGV $$").await;
    assert_eq!(stage.end(&terminal).await, super::stage::signalled("SIGSEGV"));
}
