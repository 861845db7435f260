//! The checker can fail: doctored journals, logs, accounts and files, each with the exact finding that it must give.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod checker {
    mod doctored;
    mod files;
    mod journals;
    mod runs;
    mod turns;
}
