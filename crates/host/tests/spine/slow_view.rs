//! A view that never reads while 200,000 chunks come: bounded memory, nobody else is slowed, then all of them in order.

use serde_json::Value;

use super::checker;
use super::host::Place;

const CHUNKS: usize = 200_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_that_never_reads_costs_a_cursor_and_gets_everything_later() {
    let place = Place::new();
    let host = place.serve();
    let (mut stalled, mut quick) = (host.view().await, host.view().await);
    stalled.open("tab").await;
    quick.open("tab").await;
    quick.prompt("tab", "warm up", "demo: fast 1000").await;
    quick.wait_done("warm up").await;
    let before = host.memory_kib();
    quick.prompt("tab", "m1", &format!("demo: fast {CHUNKS}")).await;
    let done = "\"type\":\"response-complete\",\"tabId\":\"tab\"";
    let told = quick.raw_until(done).await;
    let grown = host.memory_kib().saturating_sub(before);
    // The log of this turn is several megabytes; what stands for the stalled view is a window, not a backlog.
    assert!(grown < 64 * 1024, "the host grew by {grown} KiB");
    stalled.wait_done("warm up").await;
    assert_eq!(stalled.raw_until(done).await, told, "all of it, in order");
    assert_eq!(told.iter().filter(|message| message.contains("\"response-chunk\"")).count(), CHUNKS);
    let journal: Vec<Value> = told.iter().map(|message| serde_json::from_str(message).unwrap()).collect();
    let warm_up = stalled.last_index("tab") as u64;
    checker::check_after(&checker::log_of_tab(&place.database(), "tab"), warm_up, &journal);
}
