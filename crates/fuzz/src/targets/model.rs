//! What servers of models send, and what models write: how the bytes are cut changes nothing, an answer ends once, and nothing grows
//! beyond what came.

use switchboard_agent::said::{End, Said};
use switchboard_agent::server::text_calls::{Found, Reader};
use switchboard_agent::server::{Answer, Close, Flavor, MAX_CALLS};
use switchboard_agent::talk::{Arguments, Calling};

/// The first byte chooses whose stream it is, how tools are called and how the link ends; the second how the rest is cut.
pub(crate) fn stream(data: &[u8]) {
    let [choice, cut, bytes @ ..] = data else { return };
    let flavor = if choice & 1 == 0 { Flavor::OpenAi } else { Flavor::Ollama };
    let calling = if choice & 2 == 0 { Calling::Native } else { Calling::Text };
    let close = if choice & 4 == 0 { Close::Clean } else { Close::Broken("gone".to_owned()) };
    let whole = hear(flavor, calling, &close, &[bytes]);
    let cut: Vec<&[u8]> = bytes.chunks(usize::from(*cut).max(1)).collect();
    assert_eq!(whole, hear(flavor, calling, &close, &cut), "how the bytes are cut has changed what they say");
    check(&whole, bytes.len());
}

fn hear(flavor: Flavor, calling: Calling, close: &Close, pieces: &[&[u8]]) -> Vec<Said> {
    let mut answer = Answer::new(flavor, calling);
    let mut said: Vec<Said> = pieces.iter().flat_map(|piece| answer.read(piece)).collect();
    said.extend(answer.end(close.clone()));
    assert!(answer.end(close.clone()).is_empty(), "the end is said once");
    said
}

fn check(said: &[Said], bytes: usize) {
    assert_eq!(said.iter().filter(|said| matches!(said, Said::End(_))).count(), 1, "one end");
    let (mut calls, mut spoken) = (0, 0);
    for each in said {
        match each {
            Said::Text(text) | Said::Thought(text) => spoken += text.len(),
            Said::Call(_) => calls += 1,
            Said::Used(_) => {}
            Said::End(End::Failed(trouble)) => {
                assert!(!trouble.message.contains(char::is_control), "{:?} cannot be shown", trouble.message);
            }
            Said::End(_) => {}
        }
    }
    assert!(matches!(said.last(), Some(Said::End(_))), "the end is the last");
    assert!(calls <= MAX_CALLS, "{calls} calls");
    // What is no UTF-8 becomes a character of three bytes; a mark that was left out may come back.
    assert!(spoken <= bytes * 3 + 64, "{spoken} bytes were said of {bytes}");
}

/// The first byte chooses how the text is cut.
pub(crate) fn text(data: &[u8]) {
    let [cut, bytes @ ..] = data else { return };
    let text = String::from_utf8_lossy(bytes);
    let whole = find(std::iter::once(text.as_ref()));
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters.chunks(usize::from(*cut).max(1)).map(|piece| piece.iter().collect()).collect();
    assert_eq!(whole, find(pieces.iter().map(String::as_str)), "how the text is cut has changed what is in it");
    let kept = |found: &Found| match found {
        Found::Text(text) | Found::Call { arguments: Arguments::Broken(text), .. } => text.len(),
        Found::Call { arguments: Arguments::Object(_), .. } => 0,
    };
    let kept: usize = whole.iter().map(kept).sum();
    assert!(kept <= text.len(), "{kept} bytes came out of {}", text.len());
    let is_plain = !text.contains(['<', '[', '{', '`', '~']);
    assert!(!is_plain || kept == text.len(), "plain text is given as it is");
}

/// What is found, text in as few pieces as can be.
fn find<'a>(pieces: impl Iterator<Item = &'a str>) -> Vec<Found> {
    let mut reader = Reader::default();
    let mut all: Vec<Found> = pieces.flat_map(|piece| reader.read(piece)).collect();
    all.extend(reader.end());
    assert!(reader.give_up().is_none(), "something is held back for good");
    let mut joined: Vec<Found> = Vec::new();
    for each in all {
        match (joined.last_mut(), each) {
            (Some(Found::Text(before)), Found::Text(more)) => before.push_str(&more),
            (_, each) => joined.push(each),
        }
    }
    joined
}
