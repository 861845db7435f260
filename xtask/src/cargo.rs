//! The cargo that started us, for whatever is built. Builds nothing itself.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Cargo in the project's folder. All that is built is built by one toolchain, and with what it would be built with by hand:
/// what cargo has said of this crate would make build scripts that look at it run again, and all that needs them.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_a_crate(name)) {
        command.env_remove(name);
    }
    command
}

fn is_of_a_crate(name: &OsStr) -> bool {
    let beginnings = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_"];
    name.to_str().is_some_and(|name| beginnings.iter().any(|beginning| name.starts_with(beginning)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_of_this_crate_is_not_handed_on() {
        // Cargo has said it to this test too.
        let command = cargo(Path::new("/"));
        let taken = |name: &str| command.get_envs().any(|(found, value)| found == name && value.is_none());
        assert!(taken("CARGO_MANIFEST_DIR") && taken("CARGO_PKG_NAME") && taken("CARGO_PKG_VERSION_MAJOR"));
        assert!(!is_of_a_crate(OsStr::new("CARGO_TARGET_DIR")) && !is_of_a_crate(OsStr::new("CARGO")));
    }
}
