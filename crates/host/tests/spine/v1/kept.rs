//! What is kept of uploads, file by file, without a host.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use switchboard_host::attachments::{Attachment, AttachmentError, Attachments, MAX_FILE_BYTES, MAX_FILES};
use switchboard_types::SessionId;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

fn keep(attachments: &Attachments, name: &str, bytes: &[u8]) -> Result<Attachment, AttachmentError> {
    let mut arriving = attachments.begin(SessionId(7), name)?;
    bytes.chunks(1024 * 1024).try_for_each(|chunk| arriving.add(chunk))?;
    arriving.finish()
}

#[test]
fn what_was_uploaded_goes_with_a_prompt_and_goes_with_its_session() {
    let data = tempfile::tempdir().unwrap();
    let attachments = Attachments::within(data.path());
    let text = keep(&attachments, "../a/notes.md", "é".as_bytes()).unwrap();
    let picture = keep(&attachments, "p.png", PNG).unwrap();
    assert_eq!((text.name.as_str(), text.size), ("notes.md", 2));
    let ids = [text.id.clone(), picture.id.clone()];
    let items = attachments.resolve(SessionId(7), &ids).unwrap();
    assert_eq!((items[0].path.as_deref(), items[0].content.as_deref()), (Some("notes.md"), Some("é")));
    let image = items[1].image.as_ref().unwrap();
    assert_eq!((image.mime.as_str(), image.data.as_str()), ("image/png", "iVBORw0KGgpyZXN0"));
    let path = data.path().join("attachments/7").join(&text.id);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(attachments.resolve(SessionId(8), &ids), Err(AttachmentError::Unknown(_))));
    let half = data.path().join("attachments/7/att-0000000000.part");
    fs::write(&half, "half").unwrap();
    attachments.sweep(|session| session == SessionId(7));
    assert!(path.exists() && !half.exists());
    attachments.sweep(|_| false);
    assert!(!path.exists());
    attachments.forget(SessionId(7)).unwrap();
    attachments.forget(SessionId(7)).unwrap();
    assert!(!path.exists());
}

#[test]
fn ids_lead_nowhere_else_and_what_no_agent_reads_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let attachments = Attachments::within(data.path());
    let binary = keep(&attachments, "b.bin", &[0, 159, 146, 150]).unwrap();
    let refused = attachments.resolve(SessionId(7), &[binary.id]);
    assert!(matches!(refused, Err(AttachmentError::Unreadable(name)) if name == "b.bin"));
    for id in ["", "att-", "att-../../token", "att-00000000000", "../7", "att-zzzzzzzzzz", "att-0000000000"] {
        let found = attachments.resolve(SessionId(7), &[id.to_owned()]);
        assert!(matches!(found, Err(AttachmentError::Unknown(_))), "{id}");
    }
}

#[test]
fn there_is_a_limit_to_each_to_all_and_to_their_number_and_half_a_file_is_none() {
    let data = tempfile::tempdir().unwrap();
    let attachments = Attachments::within(data.path());
    let large = vec![b'x'; usize::try_from(MAX_FILE_BYTES).unwrap()];
    let mut over = large.clone();
    over.push(b'x');
    assert!(matches!(keep(&attachments, "over", &over), Err(AttachmentError::TooLarge)));
    for _ in 0..4 {
        keep(&attachments, "large", &large).unwrap();
    }
    assert!(matches!(keep(&attachments, "more", b"x"), Err(AttachmentError::TooMuch)));
    for _ in 4..MAX_FILES {
        keep(&attachments, "empty", b"").unwrap();
    }
    assert!(matches!(keep(&attachments, "more", b""), Err(AttachmentError::TooMany)));
    let files = fs::read_dir(data.path().join("attachments/7")).unwrap().count();
    assert_eq!(files, 2 * MAX_FILES);
}
