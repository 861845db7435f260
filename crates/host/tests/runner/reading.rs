//! Files read for agents: text, by lines, within bounds, and nothing outside.

use std::fs;

use switchboard_host::runner::limits::MAX_READ_BYTES;
use switchboard_types::{ErrandCode, WorkspaceRoot};

use super::stage::{Stage, code, content, link};

#[tokio::test]
async fn a_file_is_read_whole_or_by_lines() {
    let mut stage = Stage::patient();
    stage.put("src/a.txt", "one\ntwo\r\nthré\nfour");
    let whole = content("one\ntwo\r\nthré\nfour");
    assert_eq!(stage.read("src/a.txt", None, None).await, whole);
    assert_eq!(stage.read("./src/../src/a.txt", None, None).await, whole);
    let absolute = stage.path("src/a.txt").to_str().unwrap().to_owned();
    assert_eq!(stage.read(&absolute, Some(1), None).await, whole);
    assert_eq!(stage.read("src/a.txt", Some(2), Some(2)).await, content("two\r\nthré\n"));
    assert_eq!(stage.read("src/a.txt", Some(4), Some(9)).await, content("four"));
    assert_eq!(stage.read("src/a.txt", Some(5), None).await, content(""));
    assert_eq!(stage.read("src/a.txt", None, Some(0)).await, content(""));
    assert_eq!(code(stage.read("src/a.txt", Some(0), None).await), Some(ErrandCode::Invalid));
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let mut stage = Stage::patient();
    stage.put("file", "x");
    for path in ["nothing", "no/such/file", "file/below"] {
        assert_eq!(code(stage.read(path, None, None).await), Some(ErrandCode::NotFound), "{path}");
    }
    for path in ["", ".", "a\0b"] {
        assert_eq!(code(stage.read(path, None, None).await), Some(ErrandCode::Invalid), "{path:?}");
    }
    let long = "x/".repeat(3000);
    assert_eq!(code(stage.read(&long, None, None).await), Some(ErrandCode::TooLarge));
}

#[tokio::test]
async fn no_path_leads_out_of_the_workspace() {
    let mut stage = Stage::patient();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    fs::create_dir(stage.path("sub")).unwrap();
    link(outside.path(), stage.path("link"));
    link(outside.path().join("secret"), stage.path("sub/file"));
    link("../../../../../../../../etc/passwd", stage.path("sub/relative"));
    link("/proc/self/root", stage.path("rootlink"));
    link("/proc/self/cwd", stage.path("cwdlink"));
    let beside = format!("{}-evil/x", stage.root.path().display());
    let absolute = outside.path().join("secret").to_str().unwrap().to_owned();
    let up = format!("{}/../../etc/passwd", stage.root.path().display());
    let paths = [
        "../../etc/passwd",
        "../../../../../../../etc/passwd",
        "sub/../../x",
        "/etc/passwd",
        "link/secret",
        "sub/file",
        "sub/relative",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "rootlink/etc/passwd",
        "cwdlink/Cargo.toml",
        "/",
        "..",
        &beside,
        &absolute,
        &up,
    ];
    for path in paths {
        let failure = stage.read(path, None, None).await.unwrap_err();
        assert_eq!(failure.code, ErrandCode::Outside, "{path}: {}", failure.message);
        assert!(failure.message.contains(path), "{path}: {}", failure.message);
    }
}

#[tokio::test]
async fn links_that_stay_inside_and_other_spellings_of_the_folder_are_fine() {
    let mut stage = Stage::patient();
    stage.put("real/a.txt", "hello");
    link("real", stage.path("relative"));
    link(stage.path("real"), stage.path("absolute"));
    link(stage.path("real/a.txt"), stage.path("file"));
    let elsewhere = tempfile::tempdir().unwrap();
    link(stage.root.path(), elsewhere.path().join("spelling"));
    let spelled = elsewhere.path().join("spelling/real/a.txt").to_str().unwrap().to_owned();
    let up = format!("{0}/real/../real/a.txt", stage.root.path().display());
    for path in ["relative/a.txt", "absolute/a.txt", "file", &spelled, &up] {
        assert_eq!(stage.read(path, None, None).await, content("hello"), "{path}");
    }
}

#[tokio::test]
async fn only_regular_files_are_read_and_nothing_is_waited_for() {
    let mut stage = Stage::patient();
    let made = std::process::Command::new("mkfifo").arg(stage.path("fifo")).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(stage.path("socket")).unwrap();
    fs::create_dir(stage.path("folder")).unwrap();
    link("circle", stage.path("circle"));
    for path in ["fifo", "socket", "folder", "circle"] {
        assert_eq!(code(stage.read(path, None, None).await), Some(ErrandCode::Invalid), "{path}");
    }
    link("/dev/zero", stage.path("zero"));
    for path in ["zero", "/dev/zero"] {
        assert_eq!(code(stage.read(path, None, None).await), Some(ErrandCode::Outside), "{path}");
    }
}

#[tokio::test]
async fn a_device_inside_the_workspace_is_no_file() {
    let mut stage = Stage::patient();
    let errand = stage.errand();
    let what = switchboard_types::Errand::Read { path: "zero".to_owned(), line: None, limit: None };
    let root = WorkspaceRoot::from("/dev");
    let session = super::stage::SESSION;
    stage.runner.order(switchboard_types::ErrandOrder::Serve { errand, session, root, what });
    assert_eq!(code(stage.done(errand).await), Some(ErrandCode::Invalid));
}

#[tokio::test]
async fn a_file_over_the_limit_is_read_by_lines_only() {
    let mut stage = Stage::patient();
    let file = fs::File::create(stage.path("large")).unwrap();
    file.set_len(100 * 1024 * 1024).unwrap();
    let failure = stage.read("large", None, None).await.unwrap_err();
    assert_eq!(failure.code, ErrandCode::TooLarge);
    assert!(
        failure.message.contains("104857600") && failure.message.contains("some of its lines"),
        "{}",
        failure.message
    );
    // It is one line, so a line of it is too large as well.
    assert_eq!(code(stage.read("large", Some(1), Some(1)).await), Some(ErrandCode::TooLarge));
    let line = "x".repeat(1023) + "\n";
    stage.put("lines", line.repeat(usize::try_from(MAX_READ_BYTES / 1024).unwrap() + 1));
    assert_eq!(code(stage.read("lines", None, None).await), Some(ErrandCode::TooLarge));
    assert_eq!(stage.read("lines", Some(10_000), Some(2)).await, content(&line.repeat(2)));
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    let mut stage = Stage::patient();
    stage.put("binary", b"\x7fELF\xff\xfe\n");
    let failure = stage.read("binary", None, None).await.unwrap_err();
    assert_eq!(failure.code, ErrandCode::Invalid);
    assert!(failure.message.contains("no text in UTF-8"), "{}", failure.message);
}

#[tokio::test]
async fn the_hosts_own_data_folder_is_for_no_agent() {
    let mut stage = Stage::patient();
    fs::write(stage.data.path().join("token"), "secret").unwrap();
    let root = WorkspaceRoot::from(stage.data.path().parent().unwrap().canonicalize().unwrap().to_str().unwrap());
    let name = stage.data.path().file_name().unwrap().to_str().unwrap().to_owned();
    for what in [
        switchboard_types::Errand::Read { path: format!("{name}/token"), line: None, limit: None },
        switchboard_types::Errand::Read { path: format!("./{name}/../{name}/token"), line: None, limit: None },
    ] {
        let errand = stage.errand();
        let (session, root) = (super::stage::SESSION, root.clone());
        stage.runner.order(switchboard_types::ErrandOrder::Serve { errand, session, root, what });
        assert_eq!(code(stage.done(errand).await), Some(ErrandCode::Denied));
    }
    let errand = stage.errand();
    let what = switchboard_types::Errand::Write { path: format!("{name}/new"), content: String::new() };
    let session = super::stage::SESSION;
    stage.runner.order(switchboard_types::ErrandOrder::Prepare { errand, session, root, what });
    assert_eq!(code(stage.prepared(errand).await), Some(ErrandCode::Denied));
}
