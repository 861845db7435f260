//! Which files may be changed without a question: ordered globs, of which the last that matches decides, and how bad a
//! change could be by the file's name. Looks at names only.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use switchboard_types::limits::MAX_PATTERNS;
use switchboard_types::{Patterns, Severity, Unasked};

use crate::policy::protected::{Guard, guard};
use crate::policy::text::{folded, folded_part, shown};

/// A longer glob is refused.
const MAX_GLOB_BYTES: usize = 1024;

/// What asks where nobody has set anything else.
const SENSITIVE: &[&str] = &[
    ".env*",
    "**/.vscode/*.json",
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "*.pem",
    "*.key",
    "*.pfx",
    "*.p12",
    "tsconfig.json",
    "jsconfig.json",
    "Dockerfile",
    "docker-compose*.yml",
    "docker-compose*.yaml",
    "**/.github/workflows/*",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "*.secrets.*",
];

/// The patterns that hold where nobody has set others: everything may be changed, but for what holds secrets or settings.
#[must_use]
pub fn default_patterns() -> Patterns {
    let all = [("**/*".to_owned(), Unasked::May)];
    let sensitive = SENSITIVE.iter().map(|glob| ((*glob).to_owned(), Unasked::MayNot));
    Patterns(all.into_iter().chain(sensitive).collect())
}

/// Whether a list of patterns can be used as it stands.
///
/// # Errors
/// What is wrong with it, in plain words.
pub fn check_patterns(patterns: &Patterns) -> Result<(), String> {
    if patterns.0.len() > MAX_PATTERNS {
        return Err(format!("{} patterns are over the limit of {MAX_PATTERNS}; join some of them", patterns.0.len()));
    }
    patterns.0.iter().try_for_each(|(glob, _)| check_glob(glob))
}

/// Whether a glob can be used.
///
/// # Errors
/// What is wrong with it, in plain words.
pub fn check_glob(glob: &str) -> Result<(), String> {
    check_size(glob)?;
    built(glob).map(|_| ()).map_err(|error| format!("the pattern {} is not a glob: {}", shown(glob), error.kind()))
}

fn check_size(glob: &str) -> Result<(), String> {
    match glob.len() {
        0 => Err("an empty pattern matches nothing; write `**/*` for every file".to_owned()),
        size if size > MAX_GLOB_BYTES => {
            Err(format!("a pattern of {size} bytes is over the limit of {MAX_GLOB_BYTES}"))
        }
        _ => Ok(()),
    }
}

/// A glob as it is matched: folded, and about names wherever they stand if it has no slash.
fn built(glob: &str) -> Result<globset::Glob, globset::Error> {
    let folded = folded(glob);
    let anywhere = if folded.contains('/') { folded } else { format!("**/{folded}") };
    let anchored = anywhere.trim_start_matches('/');
    GlobBuilder::new(anchored).literal_separator(true).backslash_escape(true).build()
}

/// Patterns made ready to be asked about any number of files.
pub(crate) struct Matcher {
    set: GlobSet,
    /// For each glob of the set, where it stands in the list and what it says.
    says: Vec<(usize, Unasked)>,
    /// Where the last one stands that is no glob: it matches everything, and asks.
    broken: Option<usize>,
}

impl Matcher {
    /// Makes patterns ready. What cannot be used asks.
    pub(crate) fn new(patterns: &Patterns) -> Self {
        let mut set = GlobSetBuilder::new();
        let (mut says, mut broken) = (Vec::new(), None);
        for (at, (glob, unasked)) in patterns.0.iter().enumerate() {
            match built(glob) {
                Ok(built) if at < MAX_PATTERNS && check_size(glob).is_ok() => {
                    set.add(built);
                    says.push((at, *unasked));
                }
                _ => broken = Some(at),
            }
        }
        match set.build() {
            Ok(set) => Self { set, says, broken },
            Err(_) => Self { set: GlobSet::empty(), says: Vec::new(), broken: Some(0) },
        }
    }

    /// What the last pattern that matches says of a file; none if no pattern matches.
    pub(crate) fn decide(&self, path: &str) -> Option<Unasked> {
        let matched = self
            .set
            .matches(folded_path(path))
            .into_iter()
            .filter_map(|at| self.says.get(at))
            .max_by_key(|(at, _)| *at);
        match (matched, self.broken) {
            (Some((at, unasked)), broken) if broken.is_none_or(|broken| broken < *at) => Some(*unasked),
            (None, None) => None,
            (Some(_) | None, _) => Some(Unasked::MayNot),
        }
    }
}

/// Whether one glob matches a path from the workspace's folder.
pub(crate) fn matches(glob: &str, path: &str) -> bool {
    built(glob).is_ok_and(|glob| glob.compile_matcher().is_match(folded_path(path)))
}

/// A glob that matches one path only.
pub(crate) fn exactly(path: &str) -> String {
    // The slash in front keeps a name at the top from standing for that name everywhere.
    format!("/{}", globset::escape(path))
}

fn folded_path(path: &str) -> String {
    path.split('/').map(folded_part).collect::<Vec<_>>().join("/")
}

/// How bad a change of a file could be by its name, and why.
pub(crate) fn severity(path: &str) -> (Severity, &'static str) {
    match guard(path) {
        Some(Guard::Runs) => return (Severity::Critical, "what this file says can be run later without a question"),
        Some(Guard::Settings) => {
            return (Severity::High, "this file belongs to the settings of a program that can run others");
        }
        None => {}
    }
    let folded = folded_path(path);
    let name = folded.rsplit('/').next().unwrap_or_default();
    let is_registry = matches!(name, ".npmrc" | ".yarnrc" | ".yarnrc.yml");
    if holds_secrets(name) || (!is_registry && crate::policy::severity::is_secret(path)) {
        return (Severity::Critical, "files of this name hold secrets");
    }
    if is_registry || says_what_runs(name) {
        return (Severity::High, "files of this name say what is installed, built or run");
    }
    (Severity::Medium, "it changes a file in the workspace")
}

fn holds_secrets(name: &str) -> bool {
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default();
    name.starts_with(".env")
        || matches!(stem, "secret" | "secrets")
        || name.split('.').skip(1).any(|part| part == "secrets" || part == "secret")
        || ["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"].contains(&stem)
        || [".pem", ".key", ".pfx", ".p12"].iter().any(|ending| name.ends_with(ending))
}

fn says_what_runs(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "package.json",
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "tsconfig.json",
        "jsconfig.json",
        "dockerfile",
    ];
    NAMES.contains(&name) || (name.starts_with("docker-compose") && (name.ends_with(".yml") || name.ends_with(".yaml")))
}
