//! Protected places of a workspace: not made, edited, replaced, linked to or moved away by any command.

use switchboard_types::RunAs;

use super::stage::{Stage, link};

/// Attempts on a file of a protected folder that is there. None may leave a trace.
const ATTEMPTS: &[&str] = &[
    "echo evil > D/new",
    "echo evil >> D/file",
    "mkdir -p D/hooks && echo evil > D/hooks/pre-commit",
    "echo evil > other; mv -f other D/file",
    "echo evil > other; mv -f other D",
    "mkdir fake; echo evil > fake/file; mv -T fake D",
    "mv D aside && mkdir D && echo evil > D/file",
    "mv D aside; mv aside D; echo evil >> D/file",
    "rm -rf D; mkdir D; echo evil > D/file",
    "ln -s D way; echo evil >> way/file",
    "ln D/file twin && echo evil >> twin",
    "ln -sf /nowhere D/file",
    "chmod 777 D D/file; echo evil >> D/file",
    "umount D; mount -o remount,rw D; unshare -Urm sh -c 'mount -o remount,rw,bind D; umount D; echo evil >> D/file'",
];

#[tokio::test]
async fn a_protected_folder_that_is_there_stays_as_it_is() {
    let mut stage = Stage::new();
    for folder in [".git", ".vscode", ".idea", ".switchboard", ".claude", ".github/workflows", "sub/.git"] {
        for attempt in ATTEMPTS {
            stage.put(&format!("{folder}/file"), "good\n");
            let script = attempt.replace('D', folder);
            let ran = stage.script(&format!("{script}; exit 0")).await;
            assert_eq!(stage.text(&format!("{folder}/file")).as_deref(), Some("good\n"), "{script}: {ran:?}");
            let inside: Vec<_> =
                std::fs::read_dir(stage.path(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert_eq!(inside, [stage.path(&format!("{folder}/file"))], "{script}: {ran:?}");
            for name in ["other", "fake", "aside", "way", "twin"] {
                let path = stage.path(name);
                let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
            }
        }
    }
}

#[tokio::test]
async fn a_protected_folder_that_is_not_there_cannot_be_made() {
    let mut stage = Stage::new();
    stage.put(".github/keep", "");
    for folder in
        [".git", ".vscode", ".idea", ".switchboard", ".claude", ".codex", ".gemini", ".cursor", ".github/workflows"]
    {
        let ran = stage.script(&format!("mkdir -p {folder}; echo evil > {folder}/tasks.json && echo made")).await;
        assert!(!ran.output.contains("made"), "{folder}: {ran:?}");
        let ran = stage.script(&format!("mkdir x; echo evil > x/y; mv -T x {folder} && echo made; rm -rf x")).await;
        assert!(!ran.output.contains("made"), "{folder}: {ran:?}");
    }
    // Nothing stays of what kept them out.
    assert_eq!(names(&stage, ""), [".github"]);
    assert_eq!(names(&stage, ".github"), ["keep"]);
}

#[tokio::test]
async fn what_keeps_a_name_from_being_taken_stays_until_the_last_command_has_ended() {
    let mut stage = Stage::new();
    let script =
        super::stage::sh("while ! [ -e go ]; do sleep 0.01; done; mkdir -p .vscode; echo evil > .vscode/x; exit 0");
    let long = stage.start(script, RunAs::Shown, switchboard_types::Network::Closed).await;
    assert!(stage.script("true").await.worked());
    assert!(stage.path(".vscode").is_dir());
    stage.put("go", "");
    let ran = stage.ran(&long).await;
    assert!(ran.output.contains("Read-only"), "{ran:?}");
    assert_eq!(names(&stage, ""), ["go"]);
}

#[tokio::test]
async fn a_protected_file_that_comes_up_is_put_aside_and_told() {
    let mut stage = Stage::new();
    for name in [".envrc", ".mcp.json", ".ENVRC", "x.code-workspace", ".gitlab-ci.yml", ".Git", ".husky"] {
        let ran = stage.script(&format!("echo evil > {name}")).await;
        assert!(ran.worked() && ran.output.contains(&format!("`{name}` came up")), "{name}: {ran:?}");
        assert!(!stage.path(name).exists(), "{name}");
        assert_eq!(stage.text(&format!("{name}.held-back")).as_deref(), Some("evil\n"), "{name}");
    }
    let ran = stage.script("mkdir -p .github/workflows; echo evil > .github/workflows/x.yml").await;
    assert!(ran.output.contains("`.github/workflows` came up"), "{ran:?}");
    assert!(!stage.path(".github/workflows").exists());
}

#[tokio::test]
async fn a_protected_file_that_is_there_stays_as_it_is() {
    let mut stage = Stage::new();
    for name in [".envrc", ".mcp.json", "x.code-workspace"] {
        stage.put(name, "good\n");
        let attempts = format!(
            "echo evil >> {name}; echo evil > new; mv -f new {name}; rm -f {name}; ln -f new {name}; ln -sf new {name}; \
             ln {name} twin && echo evil >> twin; exit 0"
        );
        let ran = stage.script(&attempts).await;
        assert_eq!(stage.text(name).as_deref(), Some("good\n"), "{name}: {ran:?}");
    }
}

#[tokio::test]
async fn a_protected_link_leads_where_it_led() {
    let mut stage = Stage::new();
    stage.put("settings/file", "good\n");
    link("settings", stage.path(".vscode"));
    let ran =
        stage.script("echo evil >> .vscode/file; rm .vscode; mkdir .vscode; echo evil > .vscode/file; exit 0").await;
    assert_eq!(stage.text(".vscode/file").as_deref(), Some("good\n"), "{ran:?}");
    assert_eq!(std::fs::read_link(stage.path(".vscode")).unwrap(), std::path::Path::new("settings"));
    assert_eq!(stage.text(".vscode.held-back/file").as_deref(), Some("evil\n"));
}

#[tokio::test]
async fn a_repository_within_the_workspace_cannot_be_put_in_anothers_place() {
    let mut stage = Stage::new();
    stage.put("sub/.git/config", "good\n");
    let ran = stage.script("mv sub gone; mkdir -p sub/.git; echo evil > sub/.git/config").await;
    assert!(ran.output.contains("`sub/.git` came up"), "{ran:?}");
    assert_eq!(stage.text("sub/.git/config"), None);
    assert_eq!(stage.text("gone/.git/config").as_deref(), Some("good\n"));
}

#[tokio::test]
async fn git_writes_to_its_repository_only_when_a_person_has_seen_it() {
    let mut stage = Stage::new();
    repository(&stage, ".");
    stage.put("file", "x");
    let judged = stage.words(&["git", "add", "file"], RunAs::Judged).await;
    assert!(!judged.worked(), "{judged:?}");
    let shown = stage.words(&["git", "add", "file"], RunAs::Shown).await;
    assert!(shown.worked(), "{shown:?}");
    let commit = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"];
    let shown = stage.words(&commit, RunAs::Shown).await;
    assert!(shown.worked(), "{shown:?}");
    // What git runs stays as it is even then.
    let before = stage.text(".git/config");
    let shown = stage.words(&["git", "config", "core.fsmonitor", "evil"], RunAs::Shown).await;
    assert!(!shown.worked(), "{shown:?}");
    let shown = stage.words(&["git", "-c", "alias.add=x", "branch", "--set-upstream-to", "evil"], RunAs::Shown).await;
    assert!(!shown.worked(), "{shown:?}");
    assert_eq!(stage.text(".git/config"), before);
}

#[tokio::test]
async fn what_git_runs_stays_as_it_is_while_git_writes() {
    let mut stage = Stage::new();
    repository(&stage, ".");
    stage.put("file", "x");
    let before = stage.text(".git/config");
    // What git runs, a filter of the person's own settings for instance, has all that git has.
    let evil = "!echo evil > .git/hooks/pre-commit; echo evil >> .git/config; mv .git/hooks .git/h; mv .git gone; \
                rm -f .git/config; echo evil > .git/info/attributes; mv .git/info .git/i; mkdir .git/info; \
                echo evil > .git/info/attributes; echo evil > .git/commondir; mkdir -p .git/modules/x; true";
    let alias = format!("alias.evil={evil}");
    let ran = stage.words(&["git", "-c", &alias, "stash", "list"], RunAs::Shown).await;
    assert!(ran.worked(), "{ran:?}");
    let ran = stage
        .words(
            &[
                "git",
                "-c",
                &format!("core.editor=sh -c '{}' x", evil.trim_start_matches('!')),
                "commit",
                "--allow-empty",
            ],
            RunAs::Shown,
        )
        .await;
    assert!(ran.output.contains("Read-only") || ran.output.contains("busy"), "{ran:?}");
    assert_eq!(stage.text(".git/config"), before);
    assert_eq!(stage.text(".git/info/attributes"), None, "{ran:?}");
    assert_eq!(stage.text(".git/commondir"), None, "{ran:?}");
    assert_eq!(stage.text(".git/hooks/pre-commit"), None, "{ran:?}");
    assert!(!stage.path(".git/modules").exists(), "{ran:?}");
}

#[tokio::test]
async fn a_further_working_tree_writes_to_its_repository_and_a_false_one_to_nothing() {
    let mut stage = Stage::new();
    let main = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let git = |folder: &std::path::Path, words: &[&str]| {
        let mut command = std::process::Command::new("git");
        let own = ["-c", "user.name=x", "-c", "user.email=x@x"];
        assert!(command.arg("-C").arg(folder).args(own).args(words).status().unwrap().success(), "{words:?}");
    };
    git(main.path(), &["init", "-q"]);
    git(main.path(), &["commit", "-qm", "x", "--allow-empty"]);
    let tree = stage.path("tree");
    git(main.path(), &["worktree", "add", "-q", tree.to_str().unwrap()]);
    stage.put("tree/file", "x");
    let mut add = super::stage::run(&["git", "add", "file"]);
    add.cwd = Some("tree".into());
    let execution = stage.start(add.clone(), RunAs::Shown, switchboard_types::Network::Closed).await;
    let ran = stage.ran(&execution).await;
    assert!(ran.worked(), "{ran:?}");
    // The repository does not know this one.
    let victim = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    git(victim.path(), &["init", "-q"]);
    stage.put("false/.git", &format!("gitdir: {}/.git\n", victim.path().display()));
    stage.put("false/file", "x");
    add.cwd = Some("false".into());
    let execution = stage.start(add, RunAs::Shown, switchboard_types::Network::Closed).await;
    let ran = stage.ran(&execution).await;
    assert!(!ran.worked(), "{ran:?}");
    assert!(!victim.path().join(".git/index").exists());
}

fn repository(stage: &Stage, at: &str) {
    let made = std::process::Command::new("git").args(["init", "-q"]).arg(stage.path(at)).status().unwrap();
    assert!(made.success());
}

fn names(stage: &Stage, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(stage.path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
