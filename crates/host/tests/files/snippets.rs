//! The beginning and the end of a file: whole characters, whole counts, and no waiting.

use std::io::Write as _;

use switchboard_types::{FileAnswer, RejectCode};

use crate::stage::{Stage, code};

const ALL: (usize, usize, usize) = (200, 80, 80_000);

fn snippet(path: &str, content: &str, truncated: bool, bytes: usize, lines: u64) -> FileAnswer {
    FileAnswer::Snippet {
        path: path.to_owned(),
        content: content.to_owned(),
        truncated,
        total_bytes: bytes as u64,
        total_lines: lines,
        binary: false,
    }
}

fn shown(stage: &Stage, cut: (usize, usize, usize)) -> (String, bool) {
    match stage.read("f", cut).unwrap() {
        FileAnswer::Snippet { content, truncated, binary: false, .. } => (content, truncated),
        other => panic!("no text: {other:?}"),
    }
}

#[test]
fn a_file_that_fits_is_shown_as_it_is() {
    let stage = Stage::new();
    let cases = [("", 0), ("one", 1), ("one\n", 1), ("one\r\ntwo\r\n", 2), ("\n\n\n", 3), ("é\u{feff}🦀", 1)];
    for (content, lines) in cases {
        stage.put("f", content);
        assert_eq!(stage.read("f", ALL), Ok(snippet("f", content, false, content.len(), lines)), "{content:?}");
        assert_eq!(stage.read("./f", ALL), Ok(snippet("f", content, false, content.len(), lines)), "{content:?}");
    }
}

#[test]
fn what_is_left_out_between_head_and_tail_is_said_in_lines() {
    let stage = Stage::new();
    let text: String = (1..=10).map(|line| format!("line {line}\r\n")).collect();
    stage.put("f", &text);
    let cases = [
        ((2, 1, 999), "line 1\r\nline 2\r\n… 7 lines left out …\nline 10\r\n", true),
        ((2, 0, 999), "line 1\r\nline 2\r\n… 8 lines left out …\n", true),
        ((0, 2, 999), "… 8 lines left out …\nline 9\r\nline 10\r\n", true),
        ((0, 0, 999), "… 10 lines left out …\n", true),
        (
            (5, 4, 999),
            "line 1\r\nline 2\r\nline 3\r\nline 4\r\nline 5\r\n… 1 line left out …\nline 7\r\nline 8\r\nline 9\r\nline 10\r\n",
            true,
        ),
        ((5, 5, 999), text.as_str(), false),
        ((10, 10, 999), text.as_str(), false),
        ((usize::MAX, usize::MAX, usize::MAX), text.as_str(), false),
    ];
    for (cut, content, truncated) in cases {
        assert_eq!(stage.read("f", cut), Ok(snippet("f", content, truncated, text.len(), 10)), "{cut:?}");
    }
}

#[test]
fn no_character_is_cut_whatever_the_room_is() {
    let stage = Stage::new();
    let text = "aé€🦀".repeat(40);
    stage.put("f", &text);
    for room in 0..text.len() + 2 {
        let (content, truncated) = shown(&stage, (1, 1, room));
        assert_eq!(truncated, room < text.len(), "{room}");
        if !truncated {
            assert_eq!(content, text);
            continue;
        }
        let (head, rest) = content.split_once('…').unwrap();
        let (said, tail) = rest.split_once("…\n").unwrap();
        let head = head.strip_suffix('\n').unwrap_or(head);
        assert!(text.starts_with(head) && text.ends_with(tail), "{room}: {content}");
        assert!(head.len() + tail.len() <= room, "{room}");
        assert!(head.len() + tail.len() + 8 > room, "{room}: little of the room is wasted");
        let left_out = text.len() - head.len() - tail.len();
        // Without a single character, a whole line is left out.
        let wanted = if left_out == text.len() {
            "1 line".to_owned()
        } else {
            format!("{left_out} byte{}", if left_out == 1 { "" } else { "s" })
        };
        assert_eq!(said.trim(), format!("{wanted} left out"), "{room}");
    }
}

#[test]
fn what_is_no_text_is_said_to_be_and_not_shown() {
    let stage = Stage::new();
    let mut late = "text\n".repeat(40_000).into_bytes();
    late.push(0xff);
    let cases: [(&[u8], bool); 6] = [
        (b"a\0b", true),
        (b"\x89PNG\r\n\x1a\n", true),
        (b"caf\xe9\n", true),
        (b"half \xe2\x82", true),
        (&late, true),
        ("ünï".as_bytes(), false),
    ];
    for (content, binary) in cases {
        stage.put("f", content);
        match stage.read("f", (1, 1, 100)).unwrap() {
            FileAnswer::Snippet { content: shown, binary: told, total_bytes, total_lines, .. } => {
                assert_eq!((told, total_bytes), (binary, content.len() as u64));
                assert_eq!((shown.is_empty(), total_lines == 0), (binary, binary));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn pipes_sockets_folders_and_what_is_not_there_are_refused_at_once() {
    let stage = Stage::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, stage.path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(stage.path("socket")).unwrap();
    std::fs::create_dir(stage.path("folder")).unwrap();
    for name in ["pipe", "socket", "folder", "folder/", "."] {
        assert_eq!(code(stage.read(name, ALL)), RejectCode::BadMessage, "{name}");
    }
    assert_eq!(code(stage.read("missing", ALL)), RejectCode::NotFound);
}

#[test]
fn of_a_very_large_file_the_ends_are_shown_and_the_first_part_is_counted() {
    let stage = Stage::new();
    let counted = 64 * 1024 * 1024;
    let mut file = std::io::BufWriter::new(std::fs::File::create(stage.path("f")).unwrap());
    // Lines of 64 bytes, so that the counted part ends with one.
    let line = format!("{:063}\n", 7);
    for _ in 0..counted / 64 + 1000 {
        file.write_all(line.as_bytes()).unwrap();
    }
    file.write_all("the end é\n".as_bytes()).unwrap();
    drop(file);
    let bytes = counted + 64_000 + 11;
    let left_out = bytes - 64 - 11;
    let content = format!("{line}… {left_out} bytes left out …\nthe end é\n");
    assert_eq!(stage.read("f", (1, 1, 4096)), Ok(snippet("f", &content, true, bytes, counted as u64 / 64)));
}

#[test]
fn a_file_that_grows_shrinks_and_vanishes_meanwhile_harms_nobody() {
    let stage = Stage::new();
    let path = stage.path("f");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                std::fs::write(&path, "line é\n".repeat(round % 3000)).unwrap();
                if round % 5 == 0 {
                    std::fs::remove_file(&path).unwrap();
                }
            }
        });
        for _ in 0..300 {
            match stage.read("f", (3, 3, 100)) {
                Ok(FileAnswer::Snippet { .. }) => {}
                Ok(other) => panic!("{other:?}"),
                Err(reject) => assert_eq!(reject.code, RejectCode::NotFound, "{reject}"),
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
