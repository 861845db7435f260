//! What always holds, held against the real host in virtual time. No test here sleeps, and none replaces the host.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]

mod invariants {
    mod agents;
    mod agents_calls;
    mod apart_and_bounded;
    mod approvals;
    mod calls;
    mod continuous;
    mod desk;
    mod disk;
    mod durable;
    mod elsewhere;
    mod errands;
    mod lending;
    mod life;
    mod lists;
    mod looks;
    mod making;
    mod policies;
    mod random;
    mod random_far;
    mod restart;
    mod room;
    mod rules;
    mod runner;
    mod seams;
    mod sleep;
    mod tools;
    mod trust;
    mod turns;
    mod view;
    mod watched;
    mod world;
}
