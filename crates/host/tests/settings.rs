//! What people set at a view: in the files, carried out against real model servers, and its token in a real keyring.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]

mod settings {
    mod chores;
    mod files;
    mod keyring;
    mod models;
    mod server;
}
