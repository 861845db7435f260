//! The tokens of a model's answer as bytes of a stream, as OpenAI's servers write them. Never does I/O of its own.

use std::io::{Result, Write};

/// The only model.
pub const MODEL: &str = "bench";
/// What every token says.
pub const TOKEN: &str = "word ";
/// Begins every token's event, and nothing else.
pub const EVENT: &[u8] = b"data: {\"id\"";
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
/// Bytes that are written at once.
const BLOCK_BYTES: usize = 64 * 1024;

/// Writes an answer of so many tokens to a question of so many bytes, with its head and the counts.
pub fn stream(count: u64, asked_bytes: usize, out: &mut impl Write) -> Result<()> {
    out.write_all(HEAD)?;
    let event = format!(
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"{MODEL}\",\
         \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{TOKEN}\"}},\"finish_reason\":null}}]}}\n\n"
    );
    let mut block = Vec::with_capacity(BLOCK_BYTES + event.len());
    for _ in 0..count {
        block.extend_from_slice(event.as_bytes());
        if block.len() >= BLOCK_BYTES {
            out.write_all(&block)?;
            block.clear();
        }
    }
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    // As tokens of words are: four bytes each.
    let asked = asked_bytes / 4;
    let usage =
        format!("data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":{asked},\"completion_tokens\":{count}}}}}\n\n");
    block.extend_from_slice(format!("{end}{usage}data: [DONE]\n\n").as_bytes());
    out.write_all(&block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_as_many_events_as_tokens() {
        let mut written = Vec::new();
        stream(1000, 40, &mut written).unwrap();
        assert_eq!(memchr::memmem::find_iter(&written, EVENT).count(), 1000);
        assert!(written.ends_with(b"data: [DONE]\n\n"));
    }
}
