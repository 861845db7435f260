//! The HTTP door of the real program, from the outside: requests as anybody's library makes them, streams as anybody reads
//! them, held against what the door says of itself. Nothing is replaced, and nothing sleeps: every wait is for a condition.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]

mod v1 {
    mod caller;
    mod chain;
    mod contract;
    #[expect(dead_code, reason = "shared with other tests, which need more of it")]
    #[path = "../spine/host.rs"]
    mod host;
    mod requests;
    mod streams;
    mod uploads;
    #[expect(dead_code, reason = "shared with other tests, which need more of it")]
    #[path = "../spine/view.rs"]
    mod view;
}
