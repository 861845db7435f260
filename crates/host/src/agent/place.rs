//! The workspace's folder as a session has it: paths in it, and nothing out of it. Opens nothing.

use std::path::{Component, Path, PathBuf};

use switchboard_types::WorkspaceRoot;

/// Where a session works.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// As the client names it.
    pub(super) given: PathBuf,
    /// Without links.
    real: PathBuf,
    /// The same, for the readers that are shared with the host.
    pub(super) root: WorkspaceRoot,
    /// The folder of our own state, which is for no model.
    pub(super) own: PathBuf,
}

impl Place {
    /// The error is for a person.
    pub(super) fn open(given: &Path, own: &Path) -> Result<Self, String> {
        if !given.is_absolute() {
            return Err(format!("`cwd` must be an absolute path, and is `{}`", given.display()));
        }
        let real = given.canonicalize().map_err(|error| format!("the folder `{}`: {error}", given.display()))?;
        if !real.is_dir() {
            return Err(format!("`{}` is not a folder", given.display()));
        }
        let Some(root) = real.to_str().map(WorkspaceRoot::from) else {
            return Err(format!("the folder `{}` has a name that is not UTF-8", given.display()));
        };
        let own = own.canonicalize().unwrap_or_else(|_| own.to_owned());
        Ok(Self { given: given.to_owned(), real, root, own })
    }

    /// The whole path of what a model names; an error for a person if it leads out.
    pub(super) fn whole(&self, asked: &str) -> Result<PathBuf, String> {
        let outside = || {
            format!(
                "`{asked}` leads out of the workspace `{}`; only what is in it can be reached",
                self.given.display()
            )
        };
        if asked.contains('\0') {
            return Err("a path holds no zero byte".to_owned());
        }
        let joined = self.given.join(if asked.is_empty() { "." } else { asked });
        let mut whole = PathBuf::new();
        for part in joined.components() {
            match part {
                Component::ParentDir => {
                    whole.pop();
                }
                Component::CurDir => {}
                part => whole.push(part),
            }
        }
        let is_within = whole.starts_with(&self.given) || whole.starts_with(&self.real);
        if is_within { Ok(whole) } else { Err(outside()) }
    }

    /// Whether there is nothing at a path.
    pub(super) fn lacks(&self, whole: &Path) -> bool {
        matches!(whole.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_within_the_folder_however_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::open(folder.path(), Path::new("/own")).unwrap();
        let at = |asked: &str| place.whole(asked).map(|path| path.strip_prefix(folder.path()).unwrap().to_owned());
        for (asked, found) in [("a/b", "a/b"), ("./a/../b", "b"), ("", ""), (".", "")] {
            assert_eq!(at(asked), Ok(PathBuf::from(found)));
        }
        assert_eq!(at(&folder.path().join("x").display().to_string()), Ok(PathBuf::from("x")));
        for asked in ["..", "../x", "/etc/passwd", "a/../../x", "a\0"] {
            assert!(place.whole(asked).is_err(), "{asked}");
        }
    }
}
