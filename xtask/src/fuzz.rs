//! `cargo xtask fuzz`: builds the targets of `crates/fuzz` with libFuzzer and runs them. Knows nothing of what they promise.
//!
//! The coverage that libFuzzer follows comes from a pass of LLVM that a stable compiler has too, so no nightly toolchain is
//! needed; libFuzzer itself is compiled from its crate, so a C++ compiler is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use switchboard_fuzz::TARGETS;

use crate::cargo::cargo;
use crate::storm::target_folder;

const USAGE: &str = "\
usage: cargo xtask fuzz [TARGET…] [--seconds N]

Feeds each target (all of them, if none is named) for N seconds (60, if not said) with what its corpus below testdata/fuzz
leads to, and stops at the first find: a panic, a hang of 5 s, or more than 1 GiB of memory.
";
/// How long each target runs unless it is told otherwise.
const SECONDS: u64 = 60;
/// Input that is longer teaches nothing that shorter does not.
const MAX_INPUT_BYTES: usize = 32 * 1024;
/// What LLVM must add for libFuzzer to see which way was taken.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    targets: Vec<&'static str>,
    seconds: u64,
}

/// Builds and runs what was asked for.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    let names = TARGETS.iter().map(|target| target.name).collect::<Vec<_>>();
    let wanted = match wanted(arguments, &names) {
        Ok(wanted) => wanted,
        Err(why) => {
            eprint!("{why}{USAGE}\nThe targets are: {}\n", names.join(", "));
            return Ok(ExitCode::from(2));
        }
    };
    let folder = target_folder(root, std::env::var_os("CARGO_TARGET_DIR")).join("fuzz");
    let program = build(root, &folder)?;
    for name in wanted.targets {
        println!("fuzz: {name}, for {} s", wanted.seconds);
        if !fuzz(root, &folder, &program, name, wanted.seconds)? {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn wanted(arguments: &[String], names: &[&'static str]) -> Result<Wanted, String> {
    let mut wanted = Wanted { targets: Vec::new(), seconds: SECONDS };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let number = rest.next().and_then(|number| number.parse().ok()).filter(|seconds| *seconds > 0);
            wanted.seconds = number.ok_or("--seconds needs a number of at least 1\n\n")?;
        } else if argument == "--help" || argument == "-h" {
            return Err(String::new());
        } else {
            let known = names.iter().find(|name| *name == argument);
            wanted.targets.push(known.ok_or_else(|| format!("there is no target {argument:?}\n\n"))?);
        }
    }
    if wanted.targets.is_empty() {
        wanted.targets = names.to_vec();
    }
    Ok(wanted)
}

/// Builds the fuzzer and says where it is.
fn build(root: &Path, folder: &Path) -> Result<PathBuf> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let found = Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        bail!(
            "libFuzzer is C++ and {compiler:?} cannot be run: install a C++ compiler (on Debian: apt-get install g++) \
             or name one in CXX"
        );
    }
    let triple = host_triple()?;
    let mut build = cargo(root);
    build.args(["build", "--release", "--package", "switchboard-fuzz", "--bin", "fuzz"]);
    // With a target named, the flags do not reach build scripts and macros, which have no fuzzer to call.
    build.args(["--features", "engine", "--target", &triple]).env("RUSTFLAGS", COVERAGE.join(" "));
    build.env("CARGO_TARGET_DIR", folder).env("CARGO_PROFILE_RELEASE_LTO", "off");
    build.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true").env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
    build.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only").env("CARGO_PROFILE_RELEASE_STRIP", "none");
    if !build.status().context("cargo could not be started")?.success() {
        bail!("the fuzzer could not be built; what stands above says why");
    }
    Ok(folder.join(triple).join("release").join("fuzz"))
}

fn host_triple() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("rustc could not be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` does not say which machine it is for")
}

/// Runs one target; whether nothing was found.
fn fuzz(root: &Path, folder: &Path, program: &Path, name: &str, seconds: u64) -> Result<bool> {
    let (corpus, finds) = (folder.join("corpus").join(name), folder.join("finds").join(name));
    for folder in [&corpus, &finds] {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let mut prefix: OsString = "-artifact_prefix=".into();
    prefix.push(&finds);
    prefix.push("/");
    let mut fuzzer = Command::new(program);
    fuzzer.env("SWITCHBOARD_FUZZ_TARGET", name).arg(prefix);
    // What is new goes to the first folder, so the one that is kept in the repository stays as it is.
    fuzzer.arg(&corpus).arg(root.join("testdata/fuzz").join(name));
    fuzzer.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={MAX_INPUT_BYTES}"));
    fuzzer.args(["-timeout=5", "-rss_limit_mb=1024", "-print_final_stats=1", "-use_value_profile=1"]);
    let status = fuzzer.status().context("the fuzzer could not be started")?;
    if !status.success() {
        eprintln!(
            "fuzz: {name} has a find. Its input lies in {}; make it small, put it into testdata/fuzz/{name} under a name that \
             says what it is, and `cargo test -p switchboard-fuzz` shows it again",
            finds.display()
        );
    }
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Result<Wanted, String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        wanted(&arguments, &["lines", "jsonrpc"])
    }

    #[test]
    fn targets_and_seconds_are_read_in_any_order() {
        assert_eq!(asked(&[]), Ok(Wanted { targets: vec!["lines", "jsonrpc"], seconds: SECONDS }));
        let both = Ok(Wanted { targets: vec!["jsonrpc"], seconds: 5 });
        assert_eq!(asked(&["jsonrpc", "--seconds", "5"]), both);
        assert_eq!(asked(&["--seconds", "5", "jsonrpc"]), both);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(asked(&["pigeon"]), Err("there is no target \"pigeon\"\n\n".to_owned()));
        for arguments in [&["--seconds"][..], &["--seconds", "x"], &["--seconds", "0"]] {
            assert_eq!(asked(arguments), Err("--seconds needs a number of at least 1\n\n".to_owned()));
        }
    }
}
