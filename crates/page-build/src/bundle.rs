//! The page's sources, and the bundle that Vite makes of them. Writes to the folder it is given and nowhere else.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::PageError;
use crate::install::Workshop;
use crate::tools::run;

/// What the page is made of, besides the packages.
const ROOTS: &[&str] =
    &["index.html", "package-lock.json", "package.json", "tsconfig.json", "ui", "vite.config.ts", "wire"];
/// Sources that only tests read.
const TEST_ENDING: &str = ".test.ts";

/// Every file that the page is made of, sorted. A new file is no reason to build anew until one of these names it.
///
/// # Errors
/// If `web` cannot be read.
pub fn sources(web: &Path) -> Result<Vec<PathBuf>, PageError> {
    let mut found = Vec::new();
    for root in ROOTS {
        collect(&web.join(root), &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), PageError> {
    if path.is_dir() {
        for entry in fs::read_dir(path).map_err(PageError::file(path))? {
            collect(&entry.map_err(PageError::file(path))?.path(), found)?;
        }
    } else if !path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.ends_with(TEST_ENDING)) {
        found.push(path.to_path_buf());
    }
    Ok(())
}

/// Bundles the page into a folder of its own, which is emptied first.
///
/// # Errors
/// If Vite fails; the error has what it said.
pub fn bundle(workshop: &Workshop, out: &Path) -> Result<(), PageError> {
    let mut vite = workshop.tool("vite/bin/vite.js");
    vite.args(["build", "--logLevel", "warn", "--emptyOutDir", "--outDir"]).arg(out);
    run(vite, "node", "Mend what it says, or, if packages seem broken, delete web/node_modules and try again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_what_the_page_is_made_of_and_nothing_that_comes_and_goes() {
        let web = tempfile::tempdir().unwrap();
        for path in
            ["ui/part/a.ts", "ui/part/a.test.ts", "wire/w.ts", "node_modules/x/index.js", "tests/b.ts", ".npmrc"]
        {
            let path = web.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = sources(web.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(web.path()).unwrap().to_str().unwrap()).collect();
        // A root that is missing is named, too: Cargo then looks again once it is there.
        let wanted = [
            "index.html",
            "package-lock.json",
            "package.json",
            "tsconfig.json",
            "ui/part/a.ts",
            "vite.config.ts",
            "wire/w.ts",
        ];
        assert_eq!(names, wanted);
    }
}
