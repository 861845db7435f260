//! A view that never reads while 200,000 chunks come: bounded memory, nobody else is slowed, then all of them in order.

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
    quick.wait_done("m1").await;
    let grown = host.memory_kib().saturating_sub(before);
    // The log of this turn is about 10 MB; what stands for the stalled view is a window, not a backlog.
    assert!(grown < 64 * 1024, "the host grew by {grown} KiB");
    stalled.wait_done("m1").await;
    assert_eq!(stalled.indexed("tab"), quick.indexed("tab"));
    let chunks = stalled.told.iter().filter(|m| m["type"] == "response-chunk" && m["messageId"] == "m1").count();
    assert_eq!(chunks, CHUNKS);
    checker::check_whole(&checker::log_of_tab(&place.database(), "tab"), &stalled.indexed("tab"));
}
