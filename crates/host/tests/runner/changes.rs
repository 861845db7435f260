//! Tools that change files: shown first as data, done exactly, refused where it is not clear what is meant, and known for
//! where the file really is, whatever it is called.

use std::fs;

use serde_json::{Value, json};
use switchboard_types::{
    DiffLine, EditFacts, ErrandCode, ErrandFailure, ErrandId, ErrandResult, ExecutionEnd, Facts, Place, Prepared,
};

use super::stage::{Stage, code, link};
use super::tools::call_of;

async fn prepare(stage: &mut Stage, name: &str, parameters: Value) -> Result<(ErrandId, Prepared), ErrandFailure> {
    stage.prepare(call_of(name, parameters)).await
}

async fn write(stage: &mut Stage, path: &str) -> Result<(ErrandId, Prepared), ErrandFailure> {
    prepare(stage, "write_file", json!({"path": path, "content": "new\n"})).await
}

fn inside(path: &str, names: u64) -> Facts {
    Facts::Edit(EditFacts { place: Place::Inside(path.to_owned()), names })
}

#[tokio::test]
async fn a_file_is_written_once_it_was_shown() {
    let mut stage = Stage::patient();
    let (errand, shown) = write(&mut stage, "a/b.txt").await.unwrap();
    assert_eq!((shown.title.as_str(), &shown.facts), ("create a/b.txt", &inside("a/b.txt", 0)));
    let change = shown.change.unwrap();
    assert_eq!(change.hunks[0].lines, [DiffLine::Added { text: "new".into() }]);
    let (end, answer) = stage.perform(errand).await;
    assert_eq!(end, ExecutionEnd::Written { bytes: 4 });
    let data = json!({"path": "a/b.txt", "created": true, "bytes": 4});
    assert_eq!(answer, Ok(ErrandResult::Tool { data }));
    assert_eq!(stage.text("a/b.txt"), "new\n");
    let (errand, _) = write(&mut stage, "a/b.txt").await.unwrap();
    let data = json!({"path": "a/b.txt", "created": false, "bytes": 4});
    assert_eq!(stage.perform(errand).await.1, Ok(ErrandResult::Tool { data }));
}

#[tokio::test]
async fn a_text_is_replaced_exactly() {
    let mut stage = Stage::patient();
    stage.put("src/a.rs", "fn one() {}\nfn two() {}\n");
    let edit = json!({"path": "src/a.rs", "oldText": "fn two()", "newText": "fn three()"});
    let (errand, shown) = prepare(&mut stage, "edit_file", edit).await.unwrap();
    let lines = [
        DiffLine::Same { text: "fn one() {}".into() },
        DiffLine::Removed { text: "fn two() {}".into() },
        DiffLine::Added { text: "fn three() {}".into() },
    ];
    assert_eq!(shown.change.unwrap().hunks[0].lines, lines);
    let data = json!({"path": "src/a.rs", "replacements": 1, "bytes": 26});
    assert_eq!(stage.perform(errand).await.1, Ok(ErrandResult::Tool { data }));
    assert_eq!(stage.text("src/a.rs"), "fn one() {}\nfn three() {}\n");
    let all = json!({"path": "src/a.rs", "oldText": "fn ", "newText": "pub fn ", "replaceAll": true});
    let (errand, _) = prepare(&mut stage, "edit_file", all).await.unwrap();
    assert_eq!(stage.perform(errand).await.0, ExecutionEnd::Written { bytes: 34 });
    assert_eq!(stage.text("src/a.rs"), "pub fn one() {}\npub fn three() {}\n");
}

#[tokio::test]
async fn what_is_not_there_or_not_clear_is_not_replaced() {
    let mut stage = Stage::patient();
    stage.put("a", "x\ny\nx\n");
    stage.put("binary", b"x\xff");
    let edit = |path: &str, old: &str| json!({"path": path, "oldText": old, "newText": "z"});
    let failure = prepare(&mut stage, "edit_file", edit("a", "x")).await.unwrap_err();
    assert!(failure.message.contains("2 times, in lines 1, 3"), "{}", failure.message);
    for (path, old, expected) in [
        ("a", "nowhere", ErrandCode::Invalid),
        ("missing", "x", ErrandCode::NotFound),
        ("binary", "x", ErrandCode::Invalid),
        ("../a", "x", ErrandCode::Outside),
    ] {
        assert_eq!(code(prepare(&mut stage, "edit_file", edit(path, old)).await), Some(expected), "{path} {old}");
    }
    // Changed after it was shown.
    let (errand, _) = prepare(&mut stage, "edit_file", edit("a", "y")).await.unwrap();
    stage.put("a", "x\ny\nx\nmore\n");
    assert_eq!(code(stage.perform(errand).await.1), Some(ErrandCode::Changed));
    assert_eq!(stage.text("a"), "x\ny\nx\nmore\n");
}

/// Paths that no switch waives, and what they are called in other ways.
const PROTECTED: [&str; 8] = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".vscode/tasks.json",
    "x.code-workspace",
    ".idea/workspace.xml",
    ".envrc",
    ".github/workflows/ci.yml",
    ".switchboard/config.toml",
];

#[tokio::test]
async fn a_protected_file_is_known_for_what_it_is_whether_or_not_it_is_there() {
    let mut stage = Stage::patient();
    for path in PROTECTED {
        assert_eq!(write(&mut stage, path).await.unwrap().1.facts, inside(path, 0), "made: {path}");
        stage.put(path, "old");
        assert_eq!(write(&mut stage, path).await.unwrap().1.facts, inside(path, 1), "changed: {path}");
        let dotted = format!("./x/.././{path}");
        fs::create_dir_all(stage.path("x")).unwrap();
        assert_eq!(write(&mut stage, &dotted).await.unwrap().1.facts, inside(path, 1), "{dotted}");
        link(stage.path(path), stage.path("absolute"));
        link(path, stage.path("relative"));
        for name in ["absolute", "relative"] {
            let (_, shown) = write(&mut stage, name).await.unwrap();
            assert_eq!((shown.facts, shown.path.as_deref()), (inside(path, 1), Some(path)), "by a link: {path}");
            fs::remove_file(stage.path(name)).unwrap();
        }
        fs::hard_link(stage.path(path), stage.path("twin")).unwrap();
        let Facts::Edit(twin) = write(&mut stage, "twin").await.unwrap().1.facts else { panic!() };
        assert_eq!(twin.names, 2, "by another name: {path}");
        fs::remove_file(stage.path("twin")).unwrap();
    }
    // Names that only look alike are told as they are; what they fold to is the policy's to say.
    for odd in [".Git/hooks/x", ".GIT/config", ".vscode\u{200c}/x", "cafe\u{301}/.envrc", ".envrc."] {
        assert_eq!(write(&mut stage, odd).await.unwrap().1.facts, inside(odd, 0), "{odd:?}");
    }
}

#[tokio::test]
async fn a_swap_between_the_question_and_the_answer_is_noticed() {
    let mut stage = Stage::patient();
    for path in PROTECTED {
        stage.put(path, "old");
        // What was shown is harmless; then its name leads to something that is not.
        stage.put("harmless", "old");
        let (by_rename, _) = write(&mut stage, "harmless").await.unwrap();
        fs::rename(stage.path(path), stage.path("harmless")).unwrap();
        stage.put(path, "old");
        // The same bytes under the same name are what was shown; the protected name keeps its own.
        stage.perform(by_rename).await.1.unwrap();
        assert_eq!(stage.text(path), "old");
        fs::remove_file(stage.path("harmless")).unwrap();

        stage.put("harmless", "old");
        let (by_link, _) = write(&mut stage, "harmless").await.unwrap();
        fs::remove_file(stage.path("harmless")).unwrap();
        link(path, stage.path("harmless"));
        assert_eq!(code(stage.perform(by_link).await.1), Some(ErrandCode::Changed), "a link to {path}");
        fs::remove_file(stage.path("harmless")).unwrap();

        stage.put("harmless", "old");
        let (by_twin, _) = write(&mut stage, "harmless").await.unwrap();
        fs::remove_file(stage.path("harmless")).unwrap();
        fs::hard_link(stage.path(path), stage.path("harmless")).unwrap();
        // A file is replaced, never written into: the other name keeps the old bytes.
        let _ = stage.perform(by_twin).await;
        assert_eq!(stage.text(path), "old", "another name of {path}");
        fs::remove_file(stage.path("harmless")).unwrap();

        let folder = std::path::Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
        let Some(folder) = folder else { continue };
        let name = std::path::Path::new(path).file_name().unwrap().to_str().unwrap();
        stage.put(&format!("plain/{name}"), "old");
        let (by_folder, _) = write(&mut stage, &format!("plain/{name}")).await.unwrap();
        fs::remove_dir_all(stage.path("plain")).unwrap();
        link(folder, stage.path("plain"));
        assert_eq!(code(stage.perform(by_folder).await.1), Some(ErrandCode::Changed), "a folder for {path}");
        assert_eq!(stage.text(path), "old");
        fs::remove_file(stage.path("plain")).unwrap();
    }
}

#[tokio::test]
async fn a_repository_under_another_name_is_not_the_workspaces_own() {
    let mut stage = Stage::patient();
    stage.put(".repo/config", "x");
    let outside = |stage: &Stage, path: &str| {
        let place = Place::Outside(format!("{}/{path}", stage.workspace()));
        Facts::Edit(EditFacts { place, names: 1 })
    };
    for way in ["link", "file", "worktree"] {
        match way {
            "link" => link(".repo", stage.path(".git")),
            "file" => stage.put(".git", "gitdir: .repo\n"),
            _ => {
                stage.put("wt/commondir", "../.repo\n");
                stage.put(".git", format!("gitdir: {}/wt\n", stage.workspace()));
            }
        }
        let facts = write(&mut stage, ".repo/config").await.unwrap().1.facts;
        assert_eq!(facts, outside(&stage, ".repo/config"), "{way}");
        let _ = fs::remove_file(stage.path(".git"));
    }
    assert_eq!(write(&mut stage, ".repo/config").await.unwrap().1.facts, inside(".repo/config", 1));
}
