//! Files, and tables within pages, that are made from the code: written by `cargo xtask codegen`, checked by the step
//! `codegen`. Of what it writes it reads only where the tables stand, so an edit by hand does not survive.

mod covered;
mod pages;
mod tables;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use switchboard_dialects::view::switchboard;

/// One file and what must be in it.
struct Made {
    path: &'static str,
    text: fn(found: Option<&str>) -> Result<String>,
}

const FILES: &[Made] = &[
    Made { path: "web/wire/switchboard.ts", text: |_| Ok(switchboard::typescript()) },
    Made { path: "docs/agents/apex.md", text: pages::filled },
    Made { path: "docs/agents/acp.md", text: pages::filled },
    Made { path: "docs/agents/plain.md", text: pages::filled },
    Made { path: "docs/views/tabs.md", text: pages::filled },
    Made { path: "docs/views/tools.md", text: pages::filled },
    Made { path: "docs/views/bb.md", text: pages::filled },
    Made { path: "docs/views/chat.md", text: pages::filled },
    Made { path: "docs/views/switchboard.md", text: pages::filled },
];

/// Writes every file that is not as it should be.
pub(crate) fn write(root: &Path) -> Result<ExitCode> {
    for made in FILES {
        let path = root.join(made.path);
        let found = std::fs::read_to_string(&path).ok();
        let text = (made.text)(found.as_deref()).with_context(|| format!("{} cannot be made", made.path))?;
        if found.is_some_and(|found| found == text) {
            continue;
        }
        let folder = path.parent().context("a file lies in a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        println!("wrote {}", made.path);
    }
    Ok(ExitCode::SUCCESS)
}

/// Says of every file that is not as it should be what to do.
pub(crate) fn check(root: &Path) -> Vec<String> {
    FILES.iter().filter_map(|made| stale(root, made)).collect()
}

fn stale(root: &Path, made: &Made) -> Option<String> {
    let found = std::fs::read_to_string(root.join(made.path)).ok();
    match (made.text)(found.as_deref()) {
        Ok(text) if found.is_some_and(|found| found == text) => None,
        Ok(_) => Some(format!("{} is not what the code makes; run `cargo xtask codegen`", made.path)),
        Err(error) => Some(format!("{} cannot be made: {error:#}", made.path)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use switchboard_dialects::view::ViewKind;

    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn a_file_that_was_edited_by_hand_is_found_and_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        for made in FILES.iter().filter(|made| made.path.ends_with(".md")) {
            let page = folder.path().join(made.path);
            std::fs::create_dir_all(page.parent().unwrap()).unwrap();
            std::fs::copy(root().join(made.path), page).unwrap();
        }
        write(folder.path()).unwrap();
        assert_eq!(check(folder.path()), Vec::<String>::new());
        for made in FILES {
            let path = folder.path().join(made.path);
            let text = std::fs::read_to_string(&path).unwrap();
            // Somewhere in what is made: at the end of a file, or of a page's last table.
            let (before, after) = text.rsplit_once("<!-- end -->").unwrap_or((&text, ""));
            let end = if after.is_empty() { "" } else { "<!-- end -->" };
            std::fs::write(&path, format!("{before}mine\n{end}{after}")).unwrap();
            assert_eq!(check(folder.path()).len(), 1, "{}", made.path);
            write(folder.path()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_page_without_tables_cannot_be_made() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(folder.path()).is_err());
        assert!(check(folder.path()).iter().all(|stale| !stale.contains("run `cargo")), "{:?}", check(folder.path()));
    }

    #[test]
    fn every_view_dialect_has_a_page_with_both_its_directions() {
        for kind in ViewKind::ALL {
            let page = format!("docs/views/{}.md", kind.name());
            assert!(FILES.iter().any(|made| made.path == page), "{page} is not made");
            let text = std::fs::read_to_string(root().join(&page)).unwrap();
            for direction in ["viewToHost", "hostToView"] {
                assert!(text.contains(&format!(": {} {direction} -->", kind.name())), "{page} lacks {direction}");
            }
        }
    }
}
