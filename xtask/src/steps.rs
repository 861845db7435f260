//! The steps of `cargo xtask test`, in order, each with its time. Never goes on after a step that failed.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{codegen, system, tidy, web};

/// One thing that must pass.
struct Step {
    name: &'static str,
    run: fn(&Path) -> Result<Ended>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    Failed { code: u8 },
}

/// All steps share the dev profile, the workspace's features and the one real page, so nothing is built twice for another
/// step's sake. What is quick to fail comes first.
const STEPS: &[Step] = &[
    Step { name: "fmt", run: |root| cargo(root, &["fmt", "--all", "--check"]) },
    Step { name: "tidy", run: tidy_step },
    Step { name: "codegen", run: codegen_step },
    Step { name: "web-types", run: web::types },
    Step { name: "web-format", run: web::format },
    Step { name: "web-unit", run: web::unit },
    Step {
        name: "clippy",
        run: |root| cargo(root, &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]),
    },
    Step { name: "tests", run: tests_step },
    Step { name: "doctests", run: |root| cargo(root, &["test", "--workspace", "--doc"]) },
    Step { name: "browser", run: web::browser },
];

/// Runs the wanted steps, or all of them if none is named.
pub(crate) fn test(root: &Path, wanted: &[String]) -> Result<ExitCode> {
    let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    if let Some(stranger) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no step `{stranger}`; the steps are {}", known.join(", "));
    }
    let chosen = |step: &&Step| wanted.is_empty() || wanted.iter().any(|name| name == step.name);
    let steps: Vec<&Step> = STEPS.iter().filter(chosen).collect();
    let ended = run_in_order(root, &steps)?;
    print!("{}", summary(&steps, &ended));
    Ok(match ended.last() {
        Some((Ended::Failed { code }, _)) => ExitCode::from(*code),
        Some((Ended::Passed, _)) | None => ExitCode::SUCCESS,
    })
}

/// Runs the steps until one fails; what it returns may be shorter than what it was given.
fn run_in_order(root: &Path, steps: &[&Step]) -> Result<Vec<(Ended, Duration)>> {
    let mut done = Vec::new();
    for step in steps {
        println!("\n=== {} ===", step.name);
        let start = Instant::now();
        let ended = (step.run)(root).with_context(|| format!("step `{}` could not be run", step.name))?;
        let took = start.elapsed();
        println!("=== {}: {}, {:.1} s ===", step.name, word(ended), took.as_secs_f64());
        done.push((ended, took));
        if ended != Ended::Passed {
            break;
        }
    }
    Ok(done)
}

fn summary(steps: &[&Step], ended: &[(Ended, Duration)]) -> String {
    let mut text = String::from("\n=== summary ===\n");
    for (at, step) in steps.iter().enumerate() {
        text += &match ended.get(at) {
            Some((ended, took)) => format!("{:<10} {:>8.1} s  {}\n", step.name, took.as_secs_f64(), word(*ended)),
            None => format!("{:<10} {:>10}  not run\n", step.name, "-"),
        };
    }
    let total: Duration = ended.iter().map(|(_, took)| *took).sum();
    text += &format!("{:<10} {:>8.1} s\n", "total", total.as_secs_f64());
    for (step, (how, _)) in steps.iter().zip(ended) {
        if let Ended::Failed { code } = how {
            text += &format!("step `{}` failed with exit code {code}\n", step.name);
        }
    }
    text
}

fn word(ended: Ended) -> &'static str {
    match ended {
        Ended::Passed => "passed",
        Ended::Failed { .. } => "FAILED",
    }
}

fn tidy_step(root: &Path) -> Result<Ended> {
    Ok(if tidy::run(root)? == ExitCode::SUCCESS { Ended::Passed } else { Ended::Failed { code: 1 } })
}

fn codegen_step(root: &Path) -> Result<Ended> {
    let stale = codegen::check(root);
    for what in &stale {
        println!("{what}");
    }
    Ok(if stale.is_empty() { Ended::Passed } else { Ended::Failed { code: 1 } })
}

fn tests_step(root: &Path) -> Result<Ended> {
    system::need_python()?;
    system::need_walls()?;
    system::need_keyring()?;
    // Without fail-fast one run shows everything that is broken.
    if has_nextest(root) {
        cargo(root, &["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        println!("cargo-nextest is not installed; `cargo test` does the same, more slowly");
        cargo(root, &["test", "--workspace", "--all-targets", "--no-fail-fast"])
    }
}

fn has_nextest(root: &Path) -> bool {
    cargo_command(root)
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Result<Ended> {
    let mut command = cargo_command(root);
    command.args(arguments);
    run(command)
}

/// Runs a command with its words on the terminal.
pub(crate) fn run(mut command: Command) -> Result<Ended> {
    let program = command.get_program().to_owned();
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    println!("$ {} {}", Path::new(&program).file_name().unwrap_or(&program).display(), words.join(" "));
    let status = command.status().with_context(|| format!("{} could not be started", program.display()))?;
    Ok(match status.code() {
        Some(0) => Ended::Passed,
        // A code beyond a byte, or none because of a signal, is still a failure.
        code => Ended::Failed { code: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1) },
    })
}

fn cargo_command(root: &Path) -> Command {
    let mut command = crate::cargo::cargo(root);
    test_environment(&mut command);
    command
}

/// Tests sync real files thousands of times, and a slow disk would test our patience only; the one that is about syncs
/// brings its own disk.
pub(crate) fn test_environment(command: &mut Command) {
    if let Some(folder) = memory_folder(&std::fs::read_to_string("/proc/mounts").unwrap_or_default()) {
        command.env("TMPDIR", folder);
    }
    // The same tree gives the same answer. New sequences are looked for by a run with more cases and a seed of its own.
    if std::env::var_os(SEED).is_none() {
        command.env(SEED, "20260101");
    }
}

/// Where property tests look for the seed of their random inputs.
const SEED: &str = "PROPTEST_RNG_SEED";

/// A folder in memory from which programs may be run, where the system has one.
pub(crate) fn memory_folder(mounts: &str) -> Option<&'static str> {
    const FOLDER: &str = "/dev/shm";
    let mut options = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        (words.next()? == FOLDER && words.next()? == "tmpfs").then(|| words.next())?
    });
    let usable = |options: &str| !options.split(',').any(|option| option == "noexec" || option == "ro");
    options.next_back().filter(|options| usable(options)).map(|_| FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: Step = Step { name: "passes", run: |_| Ok(Ended::Passed) };
    const FAILS: Step = Step { name: "fails", run: |_| Ok(Ended::Failed { code: 101 }) };

    fn ends(steps: &[&Step]) -> Vec<Ended> {
        run_in_order(Path::new("."), steps).unwrap().into_iter().map(|(ended, _)| ended).collect()
    }

    #[test]
    fn memory_is_used_only_where_programs_can_be_run_from_it() {
        assert_eq!(memory_folder("tmpfs /dev/shm tmpfs rw,relatime 0 0\n"), Some("/dev/shm"));
        assert_eq!(memory_folder("tmpfs /dev/shm tmpfs rw,noexec 0 0\n"), None);
        assert_eq!(memory_folder("/dev/sda / ext4 rw 0 0\n"), None);
    }

    #[test]
    fn a_failing_step_stops_the_rest() {
        assert_eq!(ends(&[&PASSES, &FAILS, &PASSES]), vec![Ended::Passed, Ended::Failed { code: 101 }]);
    }

    #[test]
    fn the_summary_names_the_failed_step_its_code_and_what_was_not_run() {
        let second = Duration::from_secs(1);
        let ended = [(Ended::Passed, second), (Ended::Failed { code: 101 }, second)];
        let expected = "\n=== summary ===\n\
             passes          1.0 s  passed\n\
             fails           1.0 s  FAILED\n\
             passes              -  not run\n\
             total           2.0 s\n\
             step `fails` failed with exit code 101\n";
        assert_eq!(summary(&[&PASSES, &FAILS, &PASSES], &ended), expected);
    }

    #[test]
    fn a_step_that_does_not_exist_is_an_error_that_lists_those_that_do() {
        let error = test(Path::new("."), &["smoke".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("`smoke`") && error.contains("fmt, tidy, codegen, web-types"), "{error}");
    }

    #[test]
    fn a_command_that_fails_keeps_its_exit_code() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(cargo(here, &["no-such-subcommand"]).unwrap(), Ended::Failed { code: 101 });
    }
}
