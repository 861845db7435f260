//! What a folder holds: names in order, bounded, and nothing of what lies outside or is the host's own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use switchboard_types::{FileAnswer, FileEntry, FileEntryKind, RejectCode};

use crate::stage::{Stage, code};

fn entry(name: &str, path: &str, kind: FileEntryKind, size: Option<u64>) -> FileEntry {
    FileEntry { name: name.to_owned(), path: path.to_owned(), kind, size }
}

#[test]
fn a_folder_is_listed_folders_first_and_links_are_named_not_followed() {
    let stage = Stage::new();
    stage.put("b.txt", "12345");
    stage.put("Z/inner.txt", "1");
    stage.put("a/deep/x", "1");
    stage.put(".hidden", "");
    symlink("/etc", stage.path("outside")).unwrap();
    symlink("a", stage.path("inside")).unwrap();
    let _socket = UnixListener::bind(stage.path("socket")).unwrap();
    std::fs::write(stage.path("").join(OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    let all = FileAnswer::Entries {
        entries: vec![
            entry("Z", "Z", FileEntryKind::Directory, None),
            entry("a", "a", FileEntryKind::Directory, None),
            entry(".hidden", ".hidden", FileEntryKind::File, Some(0)),
            entry("b.txt", "b.txt", FileEntryKind::File, Some(5)),
            entry("bad\u{fffd}", "bad\u{fffd}", FileEntryKind::Other, None),
            entry("inside", "inside", FileEntryKind::Symlink, None),
            entry("outside", "outside", FileEntryKind::Symlink, None),
            entry("socket", "socket", FileEntryKind::Other, None),
        ],
        truncated: false,
    };
    for whole in ["", ".", "./"] {
        assert_eq!(stage.list(whole), Ok(all.clone()), "{whole:?}");
    }
    let below = FileAnswer::Entries {
        entries: vec![entry("deep", "a/deep", FileEntryKind::Directory, None)],
        truncated: false,
    };
    // A link that stays within the workspace leads to where it points.
    for folder in ["a", "a/", "./a", "inside"] {
        assert_eq!(stage.list(folder), Ok(below.clone()), "{folder}");
    }
}

#[test]
fn a_folder_with_too_many_entries_says_that_there_are_more() {
    let stage = Stage::new();
    for number in 0..2001 {
        stage.put(&format!("many/{number:05}"), "");
    }
    std::fs::create_dir(stage.path("many/zz-folder")).unwrap();
    let FileAnswer::Entries { entries, truncated } = stage.list("many").unwrap() else { panic!("no entries") };
    assert_eq!((entries.len(), truncated), (2000, true));
    assert_eq!((entries[0].name.as_str(), entries[1].name.as_str()), ("zz-folder", "00000"));
}

#[test]
fn no_way_out_of_the_workspace_is_a_path_here() {
    let stage = Stage::new();
    std::fs::create_dir(stage.beside("secret")).unwrap();
    std::fs::write(stage.beside("secret/key"), "canary").unwrap();
    stage.put("sub/file", "x");
    symlink(stage.beside("secret"), stage.path("absolute")).unwrap();
    symlink("../secret", stage.path("relative")).unwrap();
    symlink("../../secret/key", stage.path("sub/key")).unwrap();
    let inside = stage.path("sub").to_str().unwrap().to_owned();
    let ways = [
        "..",
        "../secret",
        "sub/..",
        "sub/../sub",
        "./..",
        "/",
        "/etc",
        "/etc/passwd",
        inside.as_str(),
        "absolute",
        "absolute/key",
        "relative",
        "relative/key",
        "sub/key",
        "sub//file",
        "//",
        "a\0b",
        "sub/../../secret/key",
    ];
    for way in ways {
        assert_eq!(code(stage.list(way)), RejectCode::BadMessage, "listing {way:?}");
        assert_eq!(code(stage.read(way, (9, 9, 999))), RejectCode::BadMessage, "reading {way:?}");
        assert_eq!(code(stage.diff(way, Some("HEAD"), None)), RejectCode::BadMessage, "comparing {way:?}");
        let fetched = code(stage.artifact(&format!("files/{way}")));
        assert_eq!(fetched, RejectCode::BadMessage, "fetching {way:?}");
    }
    for (way, told) in
        [("missing", RejectCode::NotFound), ("sub/file/x", RejectCode::NotFound), ("sub/file", RejectCode::BadMessage)]
    {
        assert_eq!(code(stage.list(way)), told, "{way}");
    }
    assert_eq!(code(stage.list(&"x/".repeat(4000))), RejectCode::TooLarge);
}

#[test]
fn the_hosts_own_folder_is_no_part_of_a_workspace_that_holds_it() {
    let stage = Stage::new();
    std::fs::write(stage.beside("data/token"), "canary").unwrap();
    stage.put("file", "x");
    symlink("data", stage.beside("alias")).unwrap();
    let place = switchboard_host::files::FilePlace {
        root: stage.beside("").to_str().unwrap().trim_end_matches('/').into(),
        ..stage.place()
    };
    let ask = |what: switchboard_types::FileRequest| {
        switchboard_host::files::answer(&place, &what, |_, _| panic!("nothing is linked"))
    };
    let list = |path: &str| ask(switchboard_types::FileRequest::List { path: path.to_owned() });
    let FileAnswer::Entries { entries, .. } = list("").unwrap() else { panic!("no entries") };
    assert_eq!(entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["workspace", "alias"]);
    for way in ["data", "alias", "./data"] {
        assert_eq!(code(list(way)), RejectCode::BadMessage, "{way}");
        let read = switchboard_types::FileRequest::Read { path: format!("{way}/token"), cut: Default::default() };
        assert_eq!(code(ask(read)), RejectCode::BadMessage, "{way}");
        let fetched = switchboard_types::FileRequest::Artifact { path: format!("files/{way}/token") };
        assert_eq!(code(ask(fetched)), RejectCode::BadMessage, "{way}");
    }
}
