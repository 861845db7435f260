//! libFuzzer around one target, which the environment names. `cargo xtask fuzz` builds and starts it; by hand it is of no use.

#![no_main]
#![expect(missing_docs, reason = "the macro's own items have none")]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use switchboard_fuzz::{Target, target};

/// The variable that names the target.
const NAME: &str = "SWITCHBOARD_FUZZ_TARGET";

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var(NAME).unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("{NAME} names no target: {name:?}"))
});

fuzz_target!(|data: &[u8]| (TARGET.run)(data));
