//! The loop as a whole, through nothing but its public face: a scripted model, a workspace in memory, virtual time.

#![expect(clippy::expect_used, reason = "a test that cannot go on must fail")]

mod worker {
    mod asking;
    mod cancel;
    mod commands;
    mod costs;
    mod faults;
    mod folding;
    mod limits;
    mod properties;
    mod resume;
    mod room;
    mod tasks;
    mod tools;
    mod watch;
    mod workspace;
}
