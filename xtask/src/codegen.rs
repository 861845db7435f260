//! Files that are made from the code: written by `cargo xtask codegen`, checked by the step `codegen`. Never reads what it
//! writes, so an edit by hand does not survive.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use switchboard_dialects::view::switchboard;

/// One file and what must be in it.
struct Made {
    path: &'static str,
    text: fn() -> String,
}

const FILES: &[Made] = &[Made { path: "web/wire/switchboard.ts", text: switchboard::typescript }];

/// Writes every file that is not as it should be.
pub(crate) fn write(root: &Path) -> Result<ExitCode> {
    for made in FILES {
        let (path, text) = (root.join(made.path), (made.text)());
        if std::fs::read_to_string(&path).is_ok_and(|found| found == text) {
            continue;
        }
        let folder = path.parent().context("a file lies in a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        println!("wrote {}", made.path);
    }
    Ok(ExitCode::SUCCESS)
}

/// Names every file that is not as it should be.
pub(crate) fn check(root: &Path) -> Vec<&'static str> {
    let stale = |made: &&Made| !std::fs::read_to_string(root.join(made.path)).is_ok_and(|found| found == (made.text)());
    FILES.iter().filter(stale).map(|made| made.path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_edited_by_hand_is_found_and_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check(folder.path()).len(), FILES.len());
        write(folder.path()).unwrap();
        assert_eq!(check(folder.path()), Vec::<&str>::new());
        std::fs::write(folder.path().join(FILES[0].path), "// mine").unwrap();
        assert_eq!(check(folder.path()), vec![FILES[0].path]);
    }
}
