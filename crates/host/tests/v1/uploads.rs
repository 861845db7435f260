//! Files at the HTTP door: uploads that go with a prompt, the workspace's files, downloads.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::caller::Caller;
use super::host::{Place, eventually};

#[test]
fn what_is_uploaded_goes_with_a_prompt_and_goes_with_its_session() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let uploaded =
        caller.upload(&session, &[("notes.md", b"# Notes"), ("pic.png", b"\x89PNG\r\n\x1a\nxyz")]).expect(200);
    let ids: Vec<&str> =
        uploaded["attachments"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(
        (&uploaded["attachments"][0]["name"], &uploaded["attachments"][0]["size"]),
        (&json!("notes.md"), &json!(7))
    );
    caller.post(&format!("{session}/input"), &json!({ "content": "look", "attachments": ids })).expect(202);
    let log = caller.get(&format!("{session}/download?artifact=log.jsonl")).text();
    let queued = log.lines().find(|line| line.contains("promptQueued")).unwrap();
    assert!(queued.contains("# Notes") && queued.contains("iVBORw0KGgp4eXo="), "{queued}");
    let back = caller.get(&format!("{session}/download?artifact=attachments/{}", ids[0]));
    assert_eq!((back.status, back.text().as_str()), (200, "# Notes"));

    let folder = place.data().join("attachments").join(session.rsplit('/').next().unwrap());
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    caller.delete(&session).expect(204);
    eventually("the attachments are gone", || !folder.exists());
}

#[test]
fn uploads_have_limits_and_other_forms_are_refused() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let large = vec![b'x'; 16 * 1024 * 1024 + 1];
    assert_eq!(caller.upload(&session, &[("large", &large)]).expect(413)["code"], "too_large");
    let many: Vec<(&str, &[u8])> = (0..33).map(|_| ("f", b"x".as_slice())).collect();
    assert_eq!(caller.upload(&session, &many).expect(413)["code"], "too_large");
    assert_eq!(caller.upload(&session, &[]).expect(400)["code"], "bad_request");
    let attachments = format!("{session}/attachments");
    assert_eq!(caller.post(&attachments, &json!({})).expect(415)["code"], "unsupported_media_type");
    assert_eq!(caller.upload("/v1/sessions/999", &[("f", b"x")]).expect(404)["code"], "not_found");
    let broken = [("Content-Type", "multipart/form-data; boundary=edge")];
    assert_eq!(caller.raw("POST", &attachments, &broken, b"--edge\r\nno form").expect(400)["code"], "bad_request");
    let other = caller.open();
    let binary = caller.upload(&other, &[("b.bin", &[0, 159, 146])]).expect(200)["attachments"][0]["id"].clone();
    let sent = caller.post(&format!("{other}/input"), &json!({ "content": "x", "attachments": [binary] }));
    assert_eq!(sent.expect(415)["code"], "unsupported_media_type");
}

#[test]
fn files_of_the_workspace_are_shown_and_nothing_else_is() {
    let place = Place::new();
    std::fs::create_dir(place.workspace().join("src")).unwrap();
    let lines: String = (1..=500).map(|line| format!("line {line}\n")).collect();
    std::fs::write(place.workspace().join("src/a.txt"), &lines).unwrap();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let top = caller.get(&format!("{session}/files?path=")).expect(200);
    assert_eq!((&top["entries"][0]["name"], &top["entries"][0]["kind"]), (&json!("src"), &json!("directory")));
    let below = caller.get(&format!("{session}/files?path=src")).expect(200);
    assert_eq!(
        (&below["entries"][0]["path"], &below["entries"][0]["size"]),
        (&json!("src/a.txt"), &json!(lines.len()))
    );
    let path = format!("{session}/files/content?path=src/a.txt&head_lines=2&tail_lines=1");
    let part = caller.get(&path).expect(200);
    assert_eq!((&part["truncated"], &part["total_lines"]), (&json!(true), &json!(500)));
    assert!(part["content"].as_str().unwrap().contains("line 500"), "{part}");
    let whole = caller.get(&format!("{session}/download?artifact=files/src/a.txt"));
    assert_eq!((whole.status, whole.text() == lines), (200, true));
    assert!(whole.header("content-disposition").unwrap().starts_with("attachment"));
    for outside in ["../x", "/etc/passwd", "src/../../x"] {
        let refused = caller.get(&format!("{session}/files/content?path={outside}")).expect(400);
        assert_eq!(refused["code"], "bad_request", "{outside}");
    }
    assert_eq!(caller.get(&format!("{session}/files/content?path=none")).expect(404)["code"], "not_found");
    assert_eq!(caller.get(&format!("{session}/files/content")).expect(400)["code"], "bad_request");
    assert_eq!(caller.get(&format!("{session}/download?artifact=nothing")).expect(404)["code"], "not_found");
}
