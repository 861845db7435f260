//! The folder's claims: private, steady, and held by one.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn open_up(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_folder_and_its_files_are_private() {
    let base = tempfile::tempdir().unwrap();
    let folder = Folder::open(&base.path().join("deep/er")).unwrap();
    let (token, id) = (folder.token().unwrap(), folder.id().unwrap());
    assert_eq!(mode(folder.path()), 0o700);
    assert_eq!(mode(&base.path().join("deep")), 0o700);
    assert_eq!((mode(&folder.file("token")), mode(&folder.file("id"))), (0o600, 0o600));
    assert_eq!((token.reveal().len(), id.as_str().len()), (64, 16));
    assert_eq!(format!("{token:?}"), "Token(…)");
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing else is left: {names:?}");
}

#[test]
fn the_token_survives_and_differs_between_folders() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = |path: &Path| Folder::open(path).unwrap().token().unwrap();
    assert_eq!(token(one.path()), token(one.path()));
    assert_ne!(token(one.path()), token(two.path()));
}

#[test]
fn a_token_that_others_could_read_is_closed() {
    let base = tempfile::tempdir().unwrap();
    let folder = Folder::open(base.path()).unwrap();
    let token = folder.token().unwrap();
    open_up(&folder.file("token"), 0o644);
    assert_eq!(folder.token().unwrap(), token);
    assert_eq!(mode(&folder.file("token")), 0o600);
}

#[test]
fn a_token_that_is_a_link_or_damaged_is_refused() {
    let base = tempfile::tempdir().unwrap();
    let folder = Folder::open(base.path()).unwrap();
    fs::write(base.path().join("elsewhere"), "a".repeat(64)).unwrap();
    symlink(base.path().join("elsewhere"), folder.file("token")).unwrap();
    assert!(matches!(folder.token(), Err(FolderError::Io { .. })));
    fs::remove_file(folder.file("token")).unwrap();
    for damaged in ["", "short", &"z".repeat(64), &"a".repeat(65)] {
        fs::write(folder.file("token"), damaged).unwrap();
        assert!(matches!(folder.token(), Err(FolderError::Damaged(_))), "{damaged}");
    }
}

#[test]
fn an_open_folder_is_closed_if_it_is_ours_and_refused_if_that_is_not_clear() {
    let base = tempfile::tempdir().unwrap();
    open_up(base.path(), 0o755);
    let folder = Folder::open(base.path()).unwrap();
    assert_eq!(mode(base.path()), 0o700, "an empty one is ours to close");
    folder.id().unwrap();
    open_up(base.path(), 0o750);
    Folder::open(base.path()).unwrap();
    assert_eq!(mode(base.path()), 0o700, "one with our id is ours to close");
    fs::remove_file(folder.file("id")).unwrap();
    fs::write(folder.file("thesis.txt"), "").unwrap();
    open_up(base.path(), 0o755);
    assert!(matches!(Folder::open(base.path()), Err(FolderError::OpenToOthers(_))));
    assert_eq!(mode(base.path()), 0o755, "somebody's folder is left as it was");
}

#[test]
fn a_link_to_a_folder_is_followed_to_where_it_leads() {
    let base = tempfile::tempdir().unwrap();
    let (real, link) = (base.path().join("real"), base.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    assert_eq!(Folder::open(&link).unwrap().path(), real.canonicalize().unwrap());
    assert_eq!(mode(&real), 0o700);
    fs::write(base.path().join("file"), "").unwrap();
    assert!(Folder::open(&base.path().join("file")).is_err());
}

#[test]
fn one_host_holds_a_folder_and_others_learn_who() {
    let base = tempfile::tempdir().unwrap();
    let folder = Folder::open(base.path()).unwrap();
    assert_eq!(running_host(&folder), None);
    let lease = Lease::take(&folder).unwrap();
    assert_eq!(running_host(&folder), None, "it does not listen yet");
    let us = std::process::id();
    let Err(LeaseError::Held(held)) = Lease::take(&folder) else { panic!("it is held") };
    assert_eq!(held, HeldBy { pid: Some(us), url: None });
    lease.announce("http://127.0.0.1:1").unwrap();
    assert_eq!(
        running_host(&folder),
        Some(Running { pid: us, url: "http://127.0.0.1:1".into(), version: env!("CARGO_PKG_VERSION").into() })
    );
    let Err(LeaseError::Held(held)) = Lease::take(&folder) else { panic!("it is held") };
    assert_eq!(held.to_string(), format!("process {us}, which listens at http://127.0.0.1:1"));
    drop(lease);
    assert_eq!(running_host(&folder), None);
    assert!(!folder.file("host.json").exists());
    Lease::take(&folder).unwrap();
}

#[test]
fn what_a_dead_host_wrote_is_not_believed() {
    let base = tempfile::tempdir().unwrap();
    let folder = Folder::open(base.path()).unwrap();
    fs::write(folder.file("host.json"), r#"{"pid":1,"url":"http://127.0.0.1:1"}"#).unwrap();
    assert_eq!(running_host(&folder), None, "nobody holds the lock");
    let _lease = Lease::take(&folder).unwrap();
    assert_eq!(running_host(&folder), None, "the new host has not said where it listens");
}
