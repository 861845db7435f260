//! Lock files name packages and digests, not the machine that some developer downloaded from. Reads no other file.

use crate::tidy::report::Report;
use crate::tidy::tree::Tree;

/// The line that Cargo itself writes for every crate, wherever it came from.
const CARGO_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// Looks for download hosts in all lock files.
pub(crate) fn check(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts().filter(|(path, _)| is_lock_file(path)) {
        for (at, line) in text.lines().enumerate().map(|(at, line)| (at, line.trim())) {
            // The address of a package's funding page, alone or in a list, is not where it is downloaded from.
            let is_page = line.starts_with("\"url\":") || line.starts_with("\"https://");
            if line.contains("://") && line != CARGO_SOURCE && !is_page {
                let what = "a lock file names a download host; make it again against the plain registry, \
                     for npm with `omit-lockfile-registry-resolved=true`";
                report.find(path, at + 1, what);
            }
        }
    }
}

fn is_lock_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".lock")
        || name.ends_with("-lock.json")
        || name.ends_with("-lock.yaml")
        || name == "npm-shrinkwrap.json"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::made_up::assert_places;

    #[test]
    fn a_download_host_in_a_lock_file_is_found() {
        let cargo = format!("name = \"a\"\n{CARGO_SOURCE}\nsource = \"registry+https://mirror.example/index\"\n");
        let npm = "{\n\"resolved\": \"https://registry.example/a.tgz\",\n\"url\": \"https://fund.example\",\n\"https://also.example\"\n}\n";
        let files =
            [("Cargo.lock", cargo.as_str()), ("web/package-lock.json", npm), ("a.md", "https://elsewhere.example")];
        assert_places(check, &files, &["Cargo.lock:3", "web/package-lock.json:2"]);
    }
}
