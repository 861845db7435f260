//! The chores of the page: its type check, its format, its tests, and a live one to work on. Builds nothing that Cargo's own
//! build does not build.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use switchboard_page_build::install;

use crate::steps::{Ended, cargo, run, test_environment};
use crate::system;

const TSC: &str = "typescript/bin/tsc";
const PRETTIER: &str = "prettier/bin/prettier.cjs";
const VITE: &str = "vite/bin/vite.js";
const VITEST: &str = "vitest/vitest.mjs";

/// The types of all that is TypeScript, tests included.
pub(crate) fn types(root: &Path) -> Result<Ended> {
    run(tool(root, TSC, &["--noEmit"])?)
}

/// Prettier's opinion, taken as it is.
pub(crate) fn format(root: &Path) -> Result<Ended> {
    run(tool(root, PRETTIER, &["--check", "."])?)
}

/// The tests that need no browser.
pub(crate) fn unit(root: &Path) -> Result<Ended> {
    run(vitest(root, "unit")?)
}

/// The tests in a real browser, against the very program that the Rust tests ran against.
pub(crate) fn browser(root: &Path) -> Result<Ended> {
    in_browser(root, &[], &[])
}

/// Pictures of the page's main states, for people to look at.
pub(crate) fn screenshots(root: &Path) -> Result<ExitCode> {
    Ok(match in_browser(root, &["states"], &[])? {
        Ended::Passed => ExitCode::SUCCESS,
        Ended::Failed { code } => ExitCode::from(code),
    })
}

/// The page from its sources, live, joined to a host that runs already.
pub(crate) fn live(root: &Path) -> Result<ExitCode> {
    println!(
        "The page follows its sources. Log in at the running host first (`switchboard open`), in the same browser."
    );
    println!("A host elsewhere than at http://127.0.0.1:7171 is named by SWITCHBOARD_URL.");
    let status = tool(root, VITE, &[])?.status().context("node could not be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The tests in a real browser, all or only these files, with what else they are to know.
pub(crate) fn in_browser(root: &Path, files: &[&str], more: &[(&str, &Path)]) -> Result<Ended> {
    // The same units as the Rust tests use, so that after them this builds nothing.
    let built = cargo(root, &["test", "--workspace", "--all-targets", "--no-run", "--quiet"])?;
    if built != Ended::Passed {
        return Ok(built);
    }
    let built_in = built_in()?;
    let program = built_in.join("debug/switchboard");
    ensure!(
        program.is_file(),
        "{} is missing although Cargo has built it; is the target folder elsewhere?",
        program.display()
    );
    let mut tests = vitest(root, "browser")?;
    tests.args(files);
    tests.env("SWITCHBOARD_PROGRAM", program).env("SWITCHBOARD_CHROMIUM", system::chromium()?);
    tests.env("SWITCHBOARD_SCREENSHOTS", built_in.join("screenshots"));
    test_environment(&mut tests);
    tests.envs(more.iter().copied());
    run(tests)
}

/// The target folder: this very program lies in it, in the folder of its profile.
pub(crate) fn built_in() -> Result<PathBuf> {
    let own = std::env::current_exe().context("the chores cannot find themselves")?;
    own.ancestors()
        .nth(2)
        .map(Path::to_path_buf)
        .context("the chores lie in no target folder; start them as `cargo xtask`")
}

fn vitest(root: &Path, project: &str) -> Result<Command> {
    tool(root, VITEST, &["run", "--project", project])
}

/// A tool of the page's packages, which are installed first. Other builds may go on while it runs.
fn tool(root: &Path, path: &str, arguments: &[&str]) -> Result<Command> {
    let mut command = install(&root.join("web"))?.tool(path);
    command.args(arguments);
    Ok(command)
}
