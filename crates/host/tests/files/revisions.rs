//! How a file differs between revisions of its repository, and that nothing of the repository's runs for it.

use std::os::unix::fs::PermissionsExt as _;

use switchboard_types::{FileAnswer, RejectCode, Trust};

use crate::stage::{Stage, code};

/// A repository with two commits: `a.txt` changes from one to two, `gone.txt` is only in the first.
fn repository() -> Stage {
    let stage = Stage::new();
    stage.git(&["init", "-q", "-b", "main"]);
    stage.put("a.txt", "one\n");
    stage.put("gone.txt", "was here\n");
    stage.put("sub/b.txt", "b\n");
    stage.git(&["add", "."]);
    stage.git(&["commit", "-q", "-m", "first"]);
    stage.put("a.txt", "two\n");
    std::fs::remove_file(stage.path("gone.txt")).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-q", "-m", "second"]);
    stage
}

#[test]
fn revisions_are_compared_with_each_other_and_with_the_file_as_it_is() {
    let stage = repository();
    stage.put("a.txt", "three\n");
    stage.put("sub/b.txt", "b\n");
    let change = |from: &str, to: &str| format!("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-{from}\n+{to}\n");
    assert_eq!(stage.diff_text("a.txt", Some("HEAD~1"), Some("HEAD")), change("one", "two"));
    assert_eq!(stage.diff_text("a.txt", Some("main"), None), change("two", "three"));
    assert_eq!(stage.diff_text("a.txt", None, Some("HEAD~1")), change("two", "one"));
    assert_eq!(stage.diff_text("sub/b.txt", Some("HEAD"), None), "");
    let removed = "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-was here\n";
    assert_eq!(stage.diff_text("gone.txt", Some("HEAD~1"), None), removed);
    stage.put("new.txt", "new\n");
    assert_eq!(stage.diff_text("new.txt", Some("HEAD"), None), "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n");
    match stage.diff("a.txt", Some("HEAD"), None).unwrap() {
        FileAnswer::Diff { change: Some(change), opened: false, .. } => {
            assert_eq!((change.added, change.removed), (1, 1))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_workspace_within_a_repository_sees_its_own_files() {
    let stage = repository();
    stage.put("sub/b.txt", "changed\n");
    let root = stage.path("sub").to_str().unwrap().into();
    let place = switchboard_host::files::FilePlace { root, ..stage.place() };
    let ask = |path: &str| {
        let what = switchboard_types::FileRequest::Diff { path: path.into(), before: Some("HEAD".into()), after: None };
        switchboard_host::files::answer(&place, &what, |_, _| panic!("nothing is linked"))
    };
    match ask("b.txt").unwrap() {
        FileAnswer::Diff { diff, .. } => assert_eq!(diff, "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+changed\n"),
        other => panic!("{other:?}"),
    }
    assert_eq!(code(ask("../a.txt")), RejectCode::BadMessage);
}

#[test]
fn what_is_wrong_is_said_each_in_its_own_words() {
    let mut stage = repository();
    let long = "x".repeat(300);
    for wrong in ["", "-p", "--output=x", "HEAD:a.txt", "a..b", "a b", "x\ny", "^HEAD", "a*", long.as_str()] {
        assert_eq!(code(stage.diff("a.txt", Some(wrong), None)), RejectCode::BadMessage, "{wrong:?}");
        assert_eq!(code(stage.diff("a.txt", None, Some(wrong))), RejectCode::BadMessage, "{wrong:?}");
    }
    assert_eq!(code(stage.diff("a.txt", Some("no-such"), None)), RejectCode::NotFound);
    assert_eq!(code(stage.diff("missing.txt", Some("HEAD"), None)), RejectCode::NotFound);
    assert_eq!(code(stage.diff("sub", Some("HEAD"), None)), RejectCode::BadMessage);
    stage.trust = Trust::Untrusted;
    assert_eq!(code(stage.diff("a.txt", Some("HEAD"), None)), RejectCode::WorkspaceUntrusted);
    let bare = Stage::new();
    bare.put("a.txt", "x");
    let told = bare.diff("a.txt", Some("HEAD"), None).unwrap_err();
    assert_eq!(told.code, RejectCode::NotFound);
    assert!(told.message.contains("no git repository"), "{told}");
}

#[test]
fn what_is_too_large_or_no_text_is_told_in_numbers() {
    let stage = repository();
    stage.put("large", vec![b'x'; 9 * 1024 * 1024]);
    stage.put("picture", b"\x89PNG\0\xff");
    stage.git(&["add", "."]);
    stage.git(&["commit", "-q", "-m", "third"]);
    assert_eq!(code(stage.diff("large", Some("HEAD"), None)), RejectCode::TooLarge);
    assert_eq!(stage.diff_text("picture", Some("HEAD"), None), "");
    stage.put("picture", b"\x89PNG\0\xff\xff");
    let told = stage.diff_text("picture", Some("HEAD"), None);
    assert_eq!(told, "The file is no text, so its change is not shown.\nBefore: 6 bytes. After: 7 bytes.\n");
}

#[test]
fn nothing_that_a_hostile_repository_names_is_run() {
    let stage = repository();
    let canary = stage.beside("canary");
    let evil = stage.path("evil.sh");
    std::fs::write(&evil, format!("#!/bin/sh\necho ran \"$0\" \"$@\" >> {}\nexit 1\n", canary.display())).unwrap();
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.to_str().unwrap();
    stage.put(".gitattributes", "* diff=evil filter=evil merge=evil\n");
    let hooks = stage.path(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-index-change", "post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman"] {
        std::fs::copy(evil, hooks.join(hook)).unwrap();
    }
    let settings = format!(
        "[core]\n\tfsmonitor = {evil}\n\tpager = {evil}\n\teditor = {evil}\n\tsshCommand = {evil}\n\tgitProxy = {evil}\n\
         \thooksPath = {hooks}\n\taskPass = {evil}\n\talternateRefsCommand = {evil}\n\trepositoryformatversion = 1\n\
         [pager]\n\tcat-file = {evil}\n\trev-parse = {evil}\n\tls-tree = {evil}\n\
         [alias]\n\tcat-file = !{evil}\n\tls-tree = !{evil}\n\trev-parse = !{evil}\n\
         [diff]\n\texternal = {evil}\n[diff \"evil\"]\n\ttextconv = {evil}\n\tcommand = {evil}\n\
         [filter \"evil\"]\n\tsmudge = {evil}\n\tclean = {evil}\n\tprocess = {evil}\n\trequired = true\n\
         [credential]\n\thelper = !{evil}\n[gpg]\n\tprogram = {evil}\n\
         [uploadpack]\n\tpackObjectsHook = {evil}\n\
         [extensions]\n\tpartialClone = origin\n\
         [protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n\
         [remote \"origin\"]\n\turl = ext::{evil} %S\n\tpromisor = true\n\tvcs = evil\n\tuploadpack = {evil}\n\
         \tpartialclonefilter = blob:none\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
        hooks = hooks.display(),
    );
    let config = std::fs::read_to_string(stage.path(".git/config")).unwrap();
    std::fs::write(stage.path(".git/config"), format!("{config}{settings}")).unwrap();
    stage.put("a.txt", "three\n");
    let change = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+three\n";
    assert_eq!(stage.diff_text("a.txt", Some("HEAD"), None), change);
    assert!(!canary.exists(), "{}", std::fs::read_to_string(&canary).unwrap());
    // An object that is not here would be fetched from the remote that promises it.
    for entry in
        ["f7", "56", "81"].iter().filter_map(|of| std::fs::read_dir(stage.path(&format!(".git/objects/{of}"))).ok())
    {
        entry.flatten().for_each(|object| std::fs::remove_file(object.path()).unwrap());
    }
    let told = stage.diff("a.txt", Some("HEAD"), None).unwrap_err();
    assert_eq!(told.code, RejectCode::Conflict, "{told}");
    assert!(!canary.exists(), "{}", std::fs::read_to_string(&canary).unwrap());
    // The same repository does harm where nobody takes care, so the test can fail.
    let careless = std::process::Command::new("git")
        .current_dir(stage.path(""))
        .args(["-c", "protocol.ext.allow=always", "cat-file", "blob", "HEAD:a.txt"])
        .output()
        .unwrap();
    assert!(!careless.status.success());
    assert!(canary.exists(), "{}", String::from_utf8_lossy(&careless.stderr));
}
