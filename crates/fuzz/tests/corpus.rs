//! Feeds every target its corpus, mutations of it and noise, without any fuzzer. A find becomes a file in the corpus.

#![expect(clippy::unwrap_used, reason = "all of this is test code")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use switchboard_fuzz::{TARGETS, target};

/// A file of a corpus larger than this is no example but a load.
const MAX_EXAMPLE_BYTES: u64 = 16 * 1024;

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// One change of an example.
#[derive(Clone, Debug)]
enum Change {
    Set { at: Index, byte: u8 },
    Remove { at: Index, count: usize },
    Insert { at: Index, bytes: Vec<u8> },
    Repeat { at: Index, count: usize },
    Append { other: Index },
}

/// Bytes that mean something to one reader or another.
const TOKENS: [&[u8]; 14] = [
    b"\n",
    b"\r\n\r\n",
    b"Content-Length: ",
    b"99999999999999999999",
    b"\xff\xff\xff\xff",
    b"{",
    b"}",
    b"\"",
    b"\\u",
    b"\\ud800",
    b"null",
    b"[[[[[[[[[[[[[[[[",
    b"\"id\":1",
    b"!",
];

fn any_change() -> impl Strategy<Value = Change> {
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..8),
        proptest::sample::select(&TOKENS[..]).prop_map(<[u8]>::to_vec),
    ];
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set { at, byte }),
        (any::<Index>(), 1..16_usize).prop_map(|(at, count)| Change::Remove { at, count }),
        (any::<Index>(), bytes).prop_map(|(at, bytes)| Change::Insert { at, bytes }),
        (any::<Index>(), 1..200_usize).prop_map(|(at, count)| Change::Repeat { at, count }),
        any::<Index>().prop_map(|other| Change::Append { other }),
    ]
}

fn change(data: &mut Vec<u8>, corpus: &[(PathBuf, Vec<u8>)], change: &Change) {
    let place = |at: &Index| at.index(data.len() + 1);
    match change {
        Change::Set { at, byte } => {
            let at = place(at);
            if let Some(slot) = data.get_mut(at) {
                *slot = *byte;
            }
        }
        Change::Remove { at, count } => {
            let at = place(at);
            data.drain(at..(at + count).min(data.len()));
        }
        Change::Insert { at, bytes } => {
            let at = place(at);
            data.splice(at..at, bytes.iter().copied());
        }
        Change::Repeat { at, count } => {
            let at = place(at);
            let byte = data.get(at).copied().unwrap_or(b'[');
            data.splice(at..at, std::iter::repeat_n(byte, *count));
        }
        Change::Append { other } => data.extend_from_slice(&other.get(corpus).1),
    }
}

#[test]
fn every_target_bears_its_corpus() {
    for target in TARGETS {
        let corpus = corpus(target.name);
        assert!(!corpus.is_empty(), "{} has no corpus", target.name);
        for (path, data) in corpus {
            let size = data.len() as u64;
            assert!(size <= MAX_EXAMPLE_BYTES, "{} has {size} bytes; make it smaller", path.display());
            (target.run)(&data);
        }
    }
}

#[test]
fn every_corpus_has_its_target() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(target(name.to_str().unwrap()).is_some(), "{name:?} is the corpus of no target");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_target_bears_noise(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        for target in TARGETS {
            (target.run)(&data);
        }
    }

    #[test]
    fn every_target_bears_what_is_nearly_right(
        example in any::<Index>(), changes in proptest::collection::vec(any_change(), 1..8),
    ) {
        for target in TARGETS {
            let corpus = corpus(target.name);
            let mut data = example.get(&corpus).1.clone();
            for one in &changes {
                change(&mut data, &corpus, one);
            }
            (target.run)(&data);
        }
    }
}
