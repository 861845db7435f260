//! What no command may see: secrets of the person, and the host's own folders. Looks at names only.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where people keep keys and tokens, below their home. Files that are settings as well, such as `.npmrc`, are not here: without
/// them programs do something else than the person expects.
const OF_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/switchboard",
    ".config/op",
    ".local/share/keyrings",
    ".local/share/switchboard",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".cursor",
    ".kimi",
    ".qwen",
    ".config/opencode",
    ".local/share/opencode",
    ".config/goose",
    ".mozilla",
    ".config/chromium",
    ".config/google-chrome",
];

/// Everything that is hidden and there, without links. What lies in another that is hidden is left out.
pub(super) fn all(home: Option<&Path>, own: &Path, wanted: &[PathBuf], runtime: Option<&Path>) -> Vec<PathBuf> {
    let of_home = home.into_iter().flat_map(|home| OF_HOME.iter().map(move |name| home.join(name)));
    let named = [own.to_owned()].into_iter().chain(wanted.iter().cloned()).chain(runtime.map(Path::to_owned));
    let there: BTreeSet<PathBuf> = of_home.chain(named).filter_map(|path| path.canonicalize().ok()).collect();
    // In order, a folder comes before what is in it.
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in there {
        if path != Path::new("/") && !kept.iter().any(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}
