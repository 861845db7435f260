//! What is not run at all: without walls where they are required, with false ones, or when something is not what was shown.

use std::os::unix::fs::PermissionsExt;

use switchboard_host::runner::contain::{self, Fence, Mode, Wanted};
use switchboard_types::{Containment, ErrandCode, ErrandFailure, Network, RunAs};

use super::stage::{Stage, fence, link, run, sh, wanted};

async fn refused(stage: &mut Stage, change: impl FnOnce(&Stage), cwd: Option<&str>, words: &[&str]) -> ErrandFailure {
    let mut run = run(words);
    run.cwd = cwd.map(str::to_owned);
    let errand = stage.prepare(run).await.unwrap();
    change(stage);
    stage.perform(errand, RunAs::Shown, Network::Closed).await.unwrap_err()
}

#[tokio::test]
async fn where_walls_are_required_and_cannot_be_had_nothing_runs() {
    let required = Wanted { mode: Mode::Required, ..wanted() };
    let fence = contain::probe(required, Some("/nowhere".as_ref()));
    assert!(matches!(fence.told(), Containment::Missing { reason } if reason.contains("apt install bubblewrap")));
    let mut stage = Stage::within(fence);
    let failure = refused(&mut stage, |_| {}, None, &["touch", "ran"]).await;
    assert_eq!(failure.code, ErrandCode::Denied);
    assert!(failure.message.contains("apt install bubblewrap"), "{failure:?}");
    assert!(!stage.path("ran").exists());
}

#[tokio::test]
async fn a_bubblewrap_that_anybody_could_have_put_there_is_not_used() {
    let mut stage = Stage::new();
    stage.put("bwrap", "#!/bin/sh\ntouch \"$(dirname \"$0\")/used\"\necho bubblewrap 9.9.9 --bind-fd\n");
    std::fs::set_permissions(stage.path("bwrap"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::join_paths(
        [stage.path("")].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let fence = contain::probe(wanted(), Some(&path));
    assert!(matches!(fence.told(), Containment::Works { by } if !by.contains("9.9.9")), "{:?}", fence.told());
    let alone = contain::probe(wanted(), Some(stage.path("").as_os_str()));
    assert!(matches!(alone.told(), Containment::None { reason } if reason.contains("others than root")));
    assert!(!stage.path("used").exists());
    // Nor does a command find it by its own PATH.
    let mut run = sh("true");
    run.env = vec![("PATH".into(), format!("{}:/usr/bin:/bin", stage.path("").display()))];
    let execution = stage.start(run, RunAs::Shown, Network::Closed).await;
    assert!(stage.ran(&execution).await.worked());
    assert!(!stage.path("used").exists());
}

#[tokio::test]
async fn walls_that_do_not_stand_any_more_let_nothing_run_bare() {
    // The program that is started behind the walls is gone since the trial.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("switchboard");
    std::fs::copy(env!("CARGO_BIN_EXE_switchboard"), &program).unwrap();
    let fence = fence(Wanted { program: Some(program.clone()), ..Wanted::default() });
    let mut stage = Stage::within(fence);
    assert!(stage.script("true").await.worked());
    std::fs::remove_file(&program).unwrap();
    let failure = refused(&mut stage, |_| {}, None, &["touch", "ran"]).await;
    assert_eq!(failure.code, ErrandCode::Failed);
    assert!(failure.message.contains("could not be held in, so it was not run: bwrap: "), "{failure:?}");
    assert!(!stage.path("ran").exists());
    assert_eq!(std::fs::read_dir(stage.path("")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_that_was_swapped_is_not_run_in() {
    let mut stage = Stage::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(stage.path("sub")).unwrap();
    let swap = |stage: &Stage| {
        std::fs::rename(stage.path("sub"), stage.path("old")).unwrap();
        link(outside.path(), stage.path("sub"));
    };
    let failure = refused(&mut stage, swap, Some("sub"), &["touch", "ran"]).await;
    assert_eq!(failure.code, ErrandCode::Changed);
    assert!(!outside.path().join("ran").exists() && !stage.path("old/ran").exists());
}

#[tokio::test]
async fn a_program_that_was_swapped_is_not_run() {
    let mut stage = Stage::new();
    let write = |stage: &Stage, text: &str| {
        stage.put("tool", text);
        std::fs::set_permissions(stage.path("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    };
    write(&stage, "#!/bin/sh\necho good\n");
    assert_eq!(stage.words(&["./tool"], RunAs::Shown).await.output, "good\n");
    let failure = refused(&mut stage, |stage| write(stage, "#!/bin/sh\necho evil > evil\n"), None, &["./tool"]).await;
    assert_eq!(failure.code, ErrandCode::Changed);
    assert!(!stage.path("evil").exists());
}

#[tokio::test]
async fn a_program_that_cannot_start_says_so() {
    let mut stage = Stage::new();
    stage.put("bad", "#!/nowhere/interpreter\n");
    std::fs::set_permissions(stage.path("bad"), PermissionsExt::from_mode(0o755)).unwrap();
    let failure = refused(&mut stage, |_| {}, None, &["./bad"]).await;
    assert_eq!(failure.code, ErrandCode::Failed);
    assert!(failure.message.contains("No such file"), "{failure:?}");
}

#[tokio::test]
async fn without_walls_it_is_said_and_commands_run() {
    let mut stage = Stage::within(Fence::none("a test wants it so"));
    assert_eq!(stage.script("echo bare").await.output, "bare\n");
}
