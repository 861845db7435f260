//! What a long answer costs: bounded bytes however it comes, and a link that does not read gets the newest text, not all of them.

use std::time::Instant;

use serde_json::{Value, json};
use switchboard_dialects::view::chat::{MAX_STREAM_BYTES_PER_SECOND, MIN_CHUNK_MS};

use super::super::host::Place;
use super::Screen;

/// An agent that answers with a million bytes in ten thousand pieces.
const LONG: &str = r#"exec python3 -u -c '
import json, sys
def say(**said): print(json.dumps(said), flush=False)
for line in sys.stdin:
    got = json.loads(line)
    if got["type"] == "new-session":
        say(type="session-created", requestId=got["requestId"], sessionId="s")
    elif got["type"] == "process-prompt":
        for n in range(10000):
            say(type="response-chunk", sessionId="s", messageId=got["messageId"], chunk="%05d %s\n" % (n, "x" * 93))
        say(type="response-complete", sessionId="s", messageId=got["messageId"])
    sys.stdout.flush()
'
"#;
const PIECES: usize = 10_000;
const PIECE_BYTES: usize = 100;

fn place() -> Place {
    let place = Place::new().with_agent("long", LONG);
    let config = place.configuration();
    place.configure(&format!("default_agent = \"long\"\n{config}"));
    place.trusted()
}

fn whole() -> String {
    (0..PIECES).map(|n| format!("{n:05} {}\n", "x".repeat(93))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_bytes_cost_no_more_than_the_interval_allows() {
    let place = place();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let began = Instant::now();
    let answer = screen.answer("go").await;
    let took = began.elapsed();
    assert_eq!(answer.len(), PIECES * PIECE_BYTES);
    assert_eq!(answer, whole());
    let chunks = screen.told("streamChunk");
    let bytes: usize = chunks.iter().map(|chunk| chunk["content"].as_str().unwrap().len()).sum();
    // Escaped, each line is a byte longer than it reads.
    let length = PIECES * (PIECE_BYTES + 1);
    let allowed = MAX_STREAM_BYTES_PER_SECOND as f64 * took.as_secs_f64() + (2 * length) as f64;
    assert!((bytes as f64) <= allowed, "{bytes} bytes in {} texts and {took:?}; allowed {allowed}", chunks.len());
    assert!(chunks.len() as u128 <= took.as_millis() / u128::from(MIN_CHUNK_MS) + 2, "{} in {took:?}", chunks.len());
    // A text for each piece would have been a thousand times the answer.
    assert!(bytes < PIECES * PIECES * PIECE_BYTES / 2 / 10, "{bytes}");
    screen.covers(&["< streamChunk", "< finalMessage"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_does_not_read_skips_to_the_newest_text() {
    let place = place();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    screen.prompt("go").await;
    // Nothing is read here until the answer is on the disk, as another view sees.
    let mut other = Screen::open(&place, &host).await;
    other.ready(json!({"sessionId": screen.session})).await;
    let done = |told: &[Value]| told.iter().any(|one| one["type"] == "generationStopped");
    while !done(&other.view.told) {
        assert!(other.view.next().await.is_some());
    }
    assert!(host.memory_kib() < 512 * 1024, "{} KiB for a view that does not read", host.memory_kib());
    let last = screen.wait("finalMessage").await;
    assert_eq!(last["content"].as_str().unwrap(), whole());
    let chunks = screen.told("streamChunk");
    let bytes: usize = chunks.iter().map(|chunk| chunk["content"].as_str().unwrap().len()).sum();
    // What a socket holds of texts that nobody reads is a few of them, and the next one is the newest.
    assert!(bytes < 40 * PIECES * PIECE_BYTES, "{bytes} bytes in {} texts", chunks.len());
    screen.covers(&["< finalMessage"]);
}
