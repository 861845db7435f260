//! What can be fetched as a whole, by its path.

use std::io::Read as _;

use serde_json::{Value, json};
use switchboard_host::files::{Opened, open_artifact};
use switchboard_types::{Body, FileAnswer, RejectCode, SessionId};

use crate::stage::{Stage, code};

fn fetched(opened: Opened) -> (String, &'static str, Option<u64>, Vec<u8>) {
    let Opened { name, mime, size, mut reader } = opened;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    (name, mime, size, bytes)
}

#[test]
fn an_event_is_fetched_whole_however_large_it_is() {
    let mut stage = Stage::new();
    let large = "x".repeat(3 * 1024 * 1024);
    stage.log(&[Body::Unknown { name: "big".into(), raw: large.clone() }, Body::Text { text: "é\n\"".into() }]);
    let (name, mime, size, bytes) = fetched(open_artifact(&stage.place(), "events/2.json").unwrap());
    assert_eq!((name.as_str(), mime, size), ("session-1-event-2.json", "application/json", Some(bytes.len() as u64)));
    let event: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        event,
        json!({"seq": 2, "time": 9, "turn": 1, "body": {"type": "unknown", "name": "big", "raw": large}})
    );
    let told = FileAnswer::Artifact {
        name: "session-1-event-2.json".into(),
        mime: "application/json".into(),
        size: bytes.len() as u64,
        url: "link to events/2.json".into(),
    };
    assert_eq!(stage.artifact("events/2.json"), Ok(told));
    for missing in [
        "events/0.json",
        "events/4.json",
        "events/-1.json",
        "events/+2.json",
        "events/2",
        "events/.json",
        "",
        "x",
        "events/99999999999999999999.json",
    ] {
        assert_eq!(code(stage.artifact(missing)), RejectCode::NotFound, "{missing}");
    }
}

#[test]
fn the_log_is_fetched_as_lines_of_json() {
    let mut stage = Stage::new();
    let words: Vec<Body> =
        (0..3000).map(|number| Body::Text { text: format!("{number} {}", "y".repeat(500)).as_str().into() }).collect();
    stage.log(&words);
    let (name, mime, size, bytes) = fetched(open_artifact(&stage.place(), "log.jsonl").unwrap());
    assert_eq!((name.as_str(), mime, size), ("session-1.jsonl", "application/x-ndjson", None));
    let seqs: Vec<u64> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=3001).collect::<Vec<_>>());
    let FileAnswer::Artifact { size, .. } = stage.artifact("log.jsonl").unwrap() else { panic!("no artifact") };
    assert_eq!(size, bytes.len() as u64);
    let nobody = switchboard_host::files::FilePlace { session: SessionId(9), ..stage.place() };
    for path in ["log.jsonl", "events/1.json"] {
        assert_eq!(open_artifact(&nobody, path).err().unwrap().code, RejectCode::NotFound);
    }
}

#[test]
fn no_file_is_given_a_type_that_a_browser_would_run() {
    let stage = Stage::new();
    let cases: [(&str, &[u8], &str); 7] = [
        ("page.html", b"<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8"),
        ("image.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "text/plain; charset=utf-8"),
        ("code.js", b"alert(1)", "text/plain; charset=utf-8"),
        ("lib.wasm", b"\0asm\x01\0\0\0", "application/octet-stream"),
        ("doc.pdf", b"%PDF-1.7", "application/octet-stream"),
        ("wide.txt", b"\xff\xfe<\0s\0c\0r\0", "application/octet-stream"),
        ("dot.png", b"\x89PNG\r\n\x1a\n", "image/png"),
    ];
    for (name, content, wanted) in cases {
        stage.put(&format!("sub/{name}"), content);
        let (told, mime, size, bytes) = fetched(open_artifact(&stage.place(), &format!("files/sub/{name}")).unwrap());
        assert_eq!((told.as_str(), mime, size), (name, wanted, Some(content.len() as u64)));
        assert_eq!(bytes, content);
    }
    assert_eq!(code(stage.artifact("files/missing")), RejectCode::NotFound);
    assert_eq!(code(stage.artifact("files/sub")), RejectCode::BadMessage);
    assert_eq!(code(stage.artifact("files/")), RejectCode::BadMessage);
}

#[test]
fn only_what_was_uploaded_for_the_session_is_among_its_attachments() {
    let stage = Stage::new();
    assert_eq!(code(stage.artifact("attachments/att-1")), RejectCode::NotFound);
    std::fs::create_dir_all(stage.beside("data/attachments/1/folder")).unwrap();
    std::fs::create_dir_all(stage.beside("data/attachments/2")).unwrap();
    std::fs::write(stage.beside("data/attachments/1/att-1"), "uploaded").unwrap();
    std::fs::write(stage.beside("data/attachments/2/att-2"), "another's").unwrap();
    std::fs::write(stage.beside("data/token"), "canary").unwrap();
    let (.., bytes) = fetched(open_artifact(&stage.place(), "attachments/att-1").unwrap());
    assert_eq!(bytes, b"uploaded");
    for other in ["att-2", "../2/att-2", "../../token", "folder", ".", "..", "", "/etc/passwd", "att-1/", "x\0"] {
        assert_eq!(code(stage.artifact(&format!("attachments/{other}"))), RejectCode::NotFound, "{other:?}");
    }
}
