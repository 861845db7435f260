//! What always holds, held against the real host in virtual time. No test here sleeps, and none replaces the host.

mod invariants {
    mod agents;
    mod apart_and_bounded;
    mod approvals;
    mod continuous;
    mod durable;
    mod random;
    mod restart;
    mod trust;
    mod turns;
    mod world;
}
