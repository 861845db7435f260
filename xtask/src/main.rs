//! The project's own chores, run as `cargo xtask <chore>`. Holds nothing that Switchboard itself needs to build or run.

mod bench;
mod cargo;
mod codegen;
mod fuzz;
mod newcomer;
mod peers;
mod steps;
mod storm;
mod system;
mod tidy;
mod web;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

const USAGE: &str = "\
usage: cargo xtask <chore>

  test [STEP…]   every check that must pass before a change is kept, or only the steps named
  bench [FLAG…]  ours, the raw limit and the peer side by side; --help says more
  tidy           the rules of the house that no compiler knows
  web            the page from its sources, live, joined to a host that runs already
  screenshots    pictures of the page's main states, below the target folder
  fuzz [TARGET…] feeds what reads foreign bytes with whatever breaks it; --help says more
  codegen        writes the files that are made from the code
  newcomer       a fresh clone, the README's first command, the link that it prints, a prompt, an answer
  peers [NAME…]  real agents, installed and driven through the program, offline; --help says more
  storm          kills, stops and starves the real program and checks that nothing is lost; --help says more
";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let root = repository_root()?;
    match arguments.split_first() {
        Some((chore, wanted)) if chore == "test" => steps::test(&root, wanted),
        Some((chore, arguments)) if chore == "storm" => storm::run(&root, arguments),
        Some((chore, arguments)) if chore == "peers" => peers::run(&root, arguments),
        Some((chore, wanted)) if chore == "fuzz" => fuzz::run(&root, wanted),
        Some((chore, wanted)) if chore == "bench" => bench::run(&root, wanted),
        Some((chore, [])) if chore == "tidy" => tidy::run(&root),
        Some((chore, [])) if chore == "web" => web::live(&root),
        Some((chore, [])) if chore == "screenshots" => web::screenshots(&root),
        Some((chore, [])) if chore == "newcomer" => newcomer::run(&root),
        Some((chore, [])) if chore == "codegen" => codegen::write(&root),
        Some((chore, [])) if chore == "help" || chore == "--help" || chore == "-h" => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprint!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

/// The folder above this crate. Cargo names the crate's folder when it runs us; what was compiled in serves a bare start.
fn repository_root() -> Result<PathBuf> {
    let own =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map(Path::to_path_buf).context("xtask lies in no folder; start it as `cargo xtask`")
}
