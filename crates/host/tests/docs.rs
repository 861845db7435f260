//! What the documentation shows is what the program does: whole programs are taken out of the pages and run against the real
//! host, and every other example is held against the reader or the schema that it is about. Lacks nothing in silence: without
//! Python or Node a test fails.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod docs {
    mod blocks;
    mod claims;
    mod pages;
    mod programs;
    mod schema;
    mod stage;
    mod troubles;
}
