//! When git may write to a repository: a person has seen a command of git that does. Looks at words only, and at where the
//! repository is.

use std::path::{Path, PathBuf};

use switchboard_core::policy::{Reading, Simple};

/// Subcommands that write to the repository.
const WRITING: &[&str] = &[
    "add",
    "am",
    "apply",
    "bisect",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "fetch",
    "gc",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
    "update-index",
    "update-ref",
    "worktree",
    "write-tree",
    "commit-tree",
    "read-tree",
    "prune",
    "repack",
    "replace",
    "reflog",
    "rerere",
    "sparse-checkout",
    "init",
];
/// Options of git itself that are followed by a word of theirs.
const WITH_A_WORD: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

/// The entry `.git` that the command may write to, if it is git that writes: that of the repository that it runs in.
pub(crate) fn writes(reading: &Reading, root: &Path, cwd: &Path) -> Option<PathBuf> {
    if !reading.commands.iter().any(is_writing) {
        return None;
    }
    let folders = cwd.ancestors().map(|folder| root.join(folder).join(".git"));
    folders.into_iter().find(|entry| std::fs::symlink_metadata(entry).is_ok())
}

fn is_writing(simple: &Simple) -> bool {
    let mut words = simple.words.iter().map(String::as_str);
    let name = words.next().unwrap_or_default();
    if Path::new(name).file_name().is_none_or(|name| name != "git") {
        return false;
    }
    while let Some(word) = words.next() {
        if WITH_A_WORD.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return WRITING.contains(&word);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use switchboard_core::policy::read_argv;

    use super::*;

    fn writing(words: &[&str]) -> bool {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        read_argv(&words).commands.iter().any(is_writing)
    }

    #[test]
    fn git_writes_when_its_subcommand_does() {
        for words in [&["git", "commit", "-m", "x"][..], &["/usr/bin/git", "-C", "sub", "-c", "a=b", "add", "."]] {
            assert!(writing(words), "{words:?}");
        }
        for words in [&["git", "status"][..], &["git", "-c", "commit", "log"], &["git"], &["echo", "git", "commit"]] {
            assert!(!writing(words), "{words:?}");
        }
    }
}
