//! Puts the page into the program: bundles `web/` into Cargo's own folder, again only when one of its sources changed. Writes
//! nothing into the sources but `web/node_modules`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context as _, Result, bail};
use switchboard_page_build::{bundle, install, sources, table};

/// Set to `stub`, it builds the program without Node and without its page: enough for checks and for Rust's own tests.
const CHOICE: &str = "SWITCHBOARD_PAGE";

fn main() -> ExitCode {
    match put_page() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the page could not be built: {error:#}");
            eprintln!("To build the program without its page, set {CHOICE}=stub.");
            ExitCode::FAILURE
        }
    }
}

fn put_page() -> Result<()> {
    println!("cargo::rerun-if-env-changed={CHOICE}");
    println!("cargo::rerun-if-changed=build.rs");
    let own = folder("CARGO_MANIFEST_DIR")?;
    let out = folder("OUT_DIR")?;
    let page = match env::var_os(CHOICE) {
        None => real_page(&own, &out)?,
        Some(choice) if choice == "stub" => stub_page(&own),
        Some(other) => bail!("{CHOICE} is {other:?}; it is either not set or `stub`"),
    };
    fs::write(out.join("page.rs"), table(&page)?).context("the table of the page cannot be written")
}

fn real_page(own: &Path, out: &Path) -> Result<PathBuf> {
    let web = own.join("../../web").canonicalize().context("the folder `web` is missing")?;
    for source in sources(&web)? {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let page = out.join("page");
    bundle(&install(&web)?, &page)?;
    Ok(page)
}

fn stub_page(own: &Path) -> PathBuf {
    let stub = own.join("assets/stub");
    println!("cargo::rerun-if-changed={}", stub.display());
    stub
}

fn folder(name: &str) -> Result<PathBuf> {
    env::var_os(name).map(PathBuf::from).with_context(|| format!("{name} is not set; Cargo sets it for build scripts"))
}
