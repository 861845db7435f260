//! A path that somebody sent, made a workspace's root: absolute, without links, an existing folder. Opens nothing in it.

use std::path::{Path, PathBuf};

use switchboard_types::WorkspaceRoot;
use thiserror::Error;

/// Bytes of a path that a peer may send.
const MAX_PATH_BYTES: usize = 4096;

/// Why a path is no workspace's root.
#[derive(Debug, Error)]
pub enum FolderError {
    /// It does not begin at the root, or is longer than any path.
    #[error("a workspace must be an absolute path of at most {MAX_PATH_BYTES} bytes")]
    NotAbsolute,
    /// It cannot be resolved.
    #[error("the folder {path} cannot be used: {source}")]
    Unreachable {
        /// The path as it was sent.
        path: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{path} is not a folder")]
    NotFolder {
        /// The path as it was sent.
        path: String,
    },
    /// Its real name cannot be carried in JSON.
    #[error("the real name of the folder {path} is not UTF-8")]
    NotUnicode {
        /// The path as it was sent.
        path: String,
    },
    /// The program ends.
    #[error("the host is stopping")]
    Stopping,
}

/// Resolves a folder's path off the async threads, since a file system may take its time.
pub async fn canonical_folder(path: &str) -> Result<WorkspaceRoot, FolderError> {
    if path.len() > MAX_PATH_BYTES || !Path::new(path).is_absolute() {
        return Err(FolderError::NotAbsolute);
    }
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || resolve(path)).await.unwrap_or(Err(FolderError::Stopping))
}

fn resolve(path: String) -> Result<WorkspaceRoot, FolderError> {
    let real = match PathBuf::from(&path).canonicalize() {
        Ok(real) => real,
        Err(source) => return Err(FolderError::Unreachable { path, source }),
    };
    if !real.is_dir() {
        return Err(FolderError::NotFolder { path });
    }
    match real.to_str() {
        Some(real) => Ok(WorkspaceRoot::from(real)),
        None => Err(FolderError::NotUnicode { path }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn links_and_dots_are_resolved_and_what_is_no_folder_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, home.path().join("link")).unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();

        for path in ["real", "link", "link/../real/.", "real/"] {
            let root = canonical_folder(&at(path)).await.unwrap();
            assert_eq!(root.as_str(), real.to_str().unwrap(), "{path}");
        }
        assert!(matches!(canonical_folder(&at("file")).await, Err(FolderError::NotFolder { .. })));
        assert!(matches!(canonical_folder(&at("none")).await, Err(FolderError::Unreachable { .. })));
        let long = format!("/{}", "x".repeat(MAX_PATH_BYTES));
        for path in ["", "real", "./real", "~/real", &long] {
            assert!(matches!(canonical_folder(path).await, Err(FolderError::NotAbsolute)), "{path}");
        }
    }
}
