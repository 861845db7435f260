//! Files written for agents: what is shown is what is done, whole or not at all, and only if nothing has changed meanwhile.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use switchboard_host::runner::limits::MAX_WRITE_BYTES;
use switchboard_types::{ApprovalKind, EditFacts, ErrandCode, ErrandResult, ExecutionEnd, Facts, Place, Prepared};

use super::stage::{Answer, Stage, code, leftovers, link};

fn edit(path: &str, names: u64) -> Facts {
    Facts::Edit(EditFacts { place: Place::Inside(path.to_owned()), names })
}

fn written(bytes: u64) -> (ExecutionEnd, Answer) {
    (ExecutionEnd::Written { bytes }, Ok(ErrandResult::Written { bytes }))
}

#[tokio::test]
async fn a_change_is_shown_before_it_is_made() {
    let mut stage = Stage::patient();
    stage.put("src/main.rs", "fn main() {}\n");
    let (errand, shown) = stage.prepare_write("src/main.rs", "fn main() { run() }\n").await.unwrap();
    assert_eq!(shown.digest.len(), 64);
    assert_eq!(
        shown,
        Prepared {
            kind: ApprovalKind::Edit,
            title: "write src/main.rs".into(),
            command: None,
            cwd: None,
            path: Some("src/main.rs".into()),
            diff: Some(
                "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-fn main() {}\n+fn main() { run() }\n".into()
            ),
            change: shown.change.clone(),
            facts: edit("src/main.rs", 1),
            digest: shown.digest.clone(),
            scope: "write:src/main.rs".into(),
        }
    );
    assert_eq!(stage.text("src/main.rs"), "fn main() {}\n");
    assert_eq!(stage.perform(errand).await, written(20));
    assert_eq!(stage.text("src/main.rs"), "fn main() { run() }\n");
    assert_eq!(leftovers(&stage.path("src")), Vec::<String>::new());
}

#[tokio::test]
async fn a_new_file_gets_its_folders() {
    let mut stage = Stage::patient();
    let path = stage.path("a/b/new.txt").to_str().unwrap().to_owned();
    let (errand, shown) = stage.prepare_write(&path, "hello\n").await.unwrap();
    assert_eq!((shown.title.as_str(), shown.path.as_deref()), ("create a/b/new.txt", Some("a/b/new.txt")));
    assert_eq!(shown.diff.as_deref(), Some("--- /dev/null\n+++ b/a/b/new.txt\n@@ -0,0 +1 @@\n+hello\n"));
    assert!(!stage.path("a").exists());
    assert_eq!(stage.perform(errand).await, written(6));
    assert_eq!(stage.text("a/b/new.txt"), "hello\n");
}

#[tokio::test]
async fn the_digest_binds_path_before_and_after() {
    let mut stage = Stage::patient();
    stage.put("a", "1");
    stage.put("b", "1");
    let mut digests = Vec::new();
    for (path, content) in [("a", "2"), ("a", "3"), ("b", "2"), ("c", "2")] {
        digests.push(stage.prepare_write(path, content).await.unwrap().1.digest);
    }
    assert_eq!(stage.prepare_write("./a", "2").await.unwrap().1.digest, digests[0]);
    stage.put("a", "0");
    digests.push(stage.prepare_write("a", "2").await.unwrap().1.digest);
    stage.put("c", "");
    digests.push(stage.prepare_write("c", "2").await.unwrap().1.digest);
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
}

#[tokio::test]
async fn a_file_that_changed_after_it_was_shown_is_not_written() {
    let mut stage = Stage::patient();
    stage.put("edited", "shown");
    stage.put("removed", "shown");
    stage.put("folder", "shown");
    let mut errands = Vec::new();
    for path in ["edited", "removed", "folder", "made", "deep/made"] {
        errands.push(stage.prepare_write(path, "new").await.unwrap().0);
    }
    stage.put("edited", "other");
    fs::remove_file(stage.path("removed")).unwrap();
    fs::remove_file(stage.path("folder")).unwrap();
    fs::create_dir(stage.path("folder")).unwrap();
    stage.put("made", "by another");
    stage.put("deep/made", "by another");
    for errand in errands {
        let (end, answer) = stage.perform(errand).await;
        assert!(matches!(end, ExecutionEnd::Failed { .. }), "{end:?}");
        assert_eq!(code(answer), Some(ErrandCode::Changed));
    }
    assert_eq!((stage.text("edited").as_str(), stage.text("made").as_str()), ("other", "by another"));
    assert!(!stage.path("removed").exists());
    assert_eq!(leftovers(stage.root.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_folder_swapped_for_a_link_leads_nowhere() {
    let mut stage = Stage::patient();
    let outside = tempfile::tempdir().unwrap();
    stage.put("src/a.txt", "inside");
    stage.put("src/deep/b.txt", "inside");
    stage.put(".git/hooks/sample", "x");
    fs::write(outside.path().join("a.txt"), "inside").unwrap();
    let (existing, _) = stage.prepare_write("src/a.txt", "new").await.unwrap();
    let (fresh, _) = stage.prepare_write("src/new.txt", "new").await.unwrap();
    let (deep, _) = stage.prepare_write("src/deep/new.txt", "new").await.unwrap();
    fs::rename(stage.path("src"), stage.path("moved")).unwrap();
    link(outside.path(), stage.path("src"));
    assert_eq!(code(stage.perform(existing).await.1), Some(ErrandCode::Changed));
    assert_eq!(code(stage.perform(fresh).await.1), Some(ErrandCode::Changed));
    // A link to another folder of the workspace is another place too.
    fs::remove_file(stage.path("src")).unwrap();
    fs::create_dir(stage.path("src")).unwrap();
    link("../.git/hooks", stage.path("src/deep"));
    assert_eq!(code(stage.perform(deep).await.1), Some(ErrandCode::Changed));
    let names =
        |folder: &std::path::Path| fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names(outside.path()), ["a.txt"]);
    assert_eq!(names(&stage.path(".git/hooks")), ["sample"]);
    assert_eq!(fs::read_to_string(outside.path().join("a.txt")).unwrap(), "inside");
}

#[tokio::test]
async fn the_race_for_a_folder_is_never_won() {
    let mut stage = Stage::patient();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(stage.path("at")).unwrap();
    link(outside.path(), stage.path("link"));
    let (at, other) = (stage.path("at"), stage.path("link"));
    let over = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let over = over.clone();
        move || {
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &at, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    let mut written = 0;
    for number in 0..300 {
        let Ok((errand, _)) = stage.prepare_write(&format!("at/f{number}"), "x").await else { continue };
        written += usize::from(stage.perform(errand).await.1.is_ok());
    }
    over.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert!(written > 0, "the race was never run");
}

#[tokio::test]
async fn nothing_is_written_outside_or_where_no_file_can_be() {
    let mut stage = Stage::patient();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "x").unwrap();
    fs::create_dir(stage.path("folder")).unwrap();
    stage.put("file", "x");
    link(outside.path(), stage.path("out"));
    link(outside.path().join("file"), stage.path("outfile"));
    link("nowhere", stage.path("dangling"));
    link(outside.path().join("nowhere"), stage.path("danglingout"));
    assert!(std::process::Command::new("mkfifo").arg(stage.path("fifo")).status().unwrap().success());
    let cases = [
        ("../x", ErrandCode::Outside),
        ("/etc/x", ErrandCode::Outside),
        ("out/new", ErrandCode::Outside),
        ("out/file", ErrandCode::Outside),
        ("outfile", ErrandCode::Outside),
        ("new/../../x", ErrandCode::Invalid),
        ("dangling", ErrandCode::Invalid),
        ("folder", ErrandCode::Invalid),
        ("new/", ErrandCode::Invalid),
        ("fifo", ErrandCode::Invalid),
        (".", ErrandCode::Invalid),
        ("file/below", ErrandCode::NotFound),
    ];
    for (path, expected) in cases {
        assert_eq!(code(stage.prepare_write(path, "new").await), Some(expected), "{path}");
    }
    assert!(stage.prepare_write("danglingout", "new").await.is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    let large = "x".repeat(MAX_WRITE_BYTES + 1);
    assert_eq!(code(stage.prepare_write("large", &large).await), Some(ErrandCode::TooLarge));
}

#[tokio::test]
async fn a_link_inside_is_followed_and_the_real_file_is_shown() {
    let mut stage = Stage::patient();
    stage.put(".git/hooks/pre-commit", "#!/bin/sh\n");
    link(".git/hooks/pre-commit", stage.path("harmless.txt"));
    let (errand, shown) = stage.prepare_write("harmless.txt", "#!/bin/sh\nid\n").await.unwrap();
    assert_eq!((shown.title.as_str(), shown.facts), ("write .git/hooks/pre-commit", edit(".git/hooks/pre-commit", 1)));
    stage.perform(errand).await.1.unwrap();
    assert!(stage.path("harmless.txt").symlink_metadata().unwrap().is_symlink());
    assert_eq!(stage.text(".git/hooks/pre-commit"), "#!/bin/sh\nid\n");
}

#[tokio::test]
async fn the_mode_stays_and_other_names_of_the_file_keep_the_old_bytes() {
    let mut stage = Stage::patient();
    stage.put("run.sh", "old");
    fs::set_permissions(stage.path("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(stage.path("run.sh"), stage.path("twin")).unwrap();
    stage.write("run.sh", "new").await.1.unwrap();
    assert_eq!(fs::metadata(stage.path("run.sh")).unwrap().mode() & 0o7777, 0o751);
    assert_eq!((stage.text("run.sh").as_str(), stage.text("twin").as_str()), ("new", "old"));
}

#[tokio::test]
async fn a_large_or_binary_file_is_replaced_with_a_short_word_on_its_change() {
    let mut stage = Stage::patient();
    fs::File::create(stage.path("large")).unwrap().set_len(20 * 1024 * 1024).unwrap();
    stage.put("binary", b"\xff\xfe");
    for path in ["large", "binary"] {
        let (errand, shown) = stage.prepare_write(path, "small\n").await.unwrap();
        let diff = shown.diff.unwrap();
        assert!(diff.starts_with("The file is too large or no text"), "{diff}");
        stage.perform(errand).await.1.unwrap();
        assert_eq!(stage.text(path), "small\n");
    }
    let many: String = (0..300_000).map(|line| format!("{line}\n")).collect();
    let diff = stage.prepare_write("many", &many).await.unwrap().1.diff.unwrap();
    assert!(diff.starts_with("The file is too large to show its change"), "{diff}");
}

#[tokio::test]
async fn deceptive_names_are_shown_for_what_they_are() {
    let mut stage = Stage::patient();
    let (_, shown) = stage.prepare_write("exe.\u{202e}txt", "x").await.unwrap();
    assert_eq!(shown.title, "create exe.\\u{202e}txt");
    assert_eq!(shown.path.as_deref(), Some("exe.\\u{202e}txt"));
}
