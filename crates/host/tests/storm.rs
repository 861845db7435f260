//! A short storm against the program as it is built for tests: every mode at least once. `cargo xtask storm` runs a long one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use switchboard_storm::{Keep, Mode, Options, run};
use tokio::sync::watch;

const ROUNDS: u64 = 13;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_doubled_reordered_or_shown_too_early_in_a_short_storm() {
    let options = Options {
        program: PathBuf::from(env!("CARGO_BIN_EXE_switchboard")),
        folder: std::env::temp_dir(),
        seed: 20_260_101,
        from: 0,
        rounds: ROUNDS,
        rounds_per_world: ROUNDS,
        only: Vec::new(),
        keep: Keep::Failed,
    };
    let (_stop, stopped) = watch::channel(false);
    let outcome = run(&options, &stopped, &mut |_| {}).await;
    assert!(outcome.failure.is_none(), "{:#?}", outcome.failure);
    let modes: BTreeSet<Mode> = outcome.tally.rounds.keys().copied().collect();
    assert_eq!(modes, BTreeSet::from(Mode::ALL));
    assert_eq!(outcome.tally.total(), ROUNDS);
    // A storm in which nobody saw or asked anything would find nothing either.
    assert!(outcome.tally.events > 10_000 && outcome.tally.prompts > ROUNDS, "{:?}", outcome.tally);
}
