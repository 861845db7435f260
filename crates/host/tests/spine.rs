//! The whole spine, from an agent's pipe to a WebSocket: the real program, real child processes, real sockets, a real
//! database. Nothing here is replaced, and nothing sleeps: every wait is for a condition.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]

mod spine {
    mod acp;
    mod acp_sdk;
    mod agents;
    mod apex;
    mod asked;
    mod bad_agents;
    mod bad_views;
    mod bb;
    mod bench;
    mod chat;
    mod checker;
    mod configuration;
    mod damage;
    mod doors;
    mod engine;
    mod host;
    mod isolation;
    mod lent;
    mod model;
    mod page;
    mod restart;
    mod settings;
    mod slow_view;
    mod tabs;
    mod tools;
    mod trust;
    mod v1;
    mod view;
    mod wire;
}
