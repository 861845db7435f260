//! Paths that nobody changes without a person's word, each time: what stands there runs by itself, or says what runs. They
//! are known by their names at any depth, whether or not they exist. Looks at names only.

use crate::policy::text::folded_part;

/// Folders, with all that is in them; a file of that name likewise (`.git` is one in a worktree).
const FOLDERS: &[&str] = &[
    ".git",
    ".vscode",
    ".idea",
    ".switchboard",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".kimi",
    ".opencode",
    ".windsurf",
    ".roo",
    ".cline",
    ".continue",
    ".zed",
    ".kiro",
    ".amazonq",
    ".devcontainer",
    ".husky",
    ".githooks",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".github/workflows",
    ".github/actions",
    ".gitlab/ci",
    ".ssh",
    ".gnupg",
    ".config/git",
    ".config/fish",
    ".cargo",
];
/// Files.
const FILES: &[&str] = &[
    ".envrc",
    ".gitmodules",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".mcp.json",
    "mcp.json",
    ".clinerules",
    ".cursorrules",
    ".windsurfrules",
    ".aider.conf.yml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".gvimrc",
    ".tmux.conf",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".pam_environment",
];
/// Endings.
const ENDINGS: &[&str] = &[".code-workspace"];
/// Names that git runs in a folder `hooks`, wherever its own folder lies.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];
/// What is run, or says what is run, without anybody asking once more.
const RUN_AT_ONCE: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/modules",
    ".git/worktrees",
    ".git/info",
    ".switchboard",
    ".husky",
    ".githooks",
    ".envrc",
];

/// Why a path is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It is run later without a question.
    Runs,
    /// It holds the settings of a program that runs things.
    Settings,
}

/// Whether a path, from the workspace's folder or absolute, is protected.
pub(crate) fn guard(path: &str) -> Option<Guard> {
    let parts: Vec<String> =
        path.split(['/', '\\']).map(folded_part).filter(|part| !part.is_empty()).map(long_name).collect();
    let name = parts.last().map_or("", String::as_str);
    let is_hook = parts.len() > 1
        && parts.iter().rev().nth(1).is_some_and(|folder| folder == "hooks")
        && HOOKS.contains(&name.split('.').next().unwrap_or_default());
    if is_hook || RUN_AT_ONCE.iter().any(|place| lies_in(&parts, place)) {
        return Some(Guard::Runs);
    }
    let is_bare = parts.iter().any(|part| part.len() > 4 && part.ends_with(".git"));
    let is_settings = is_bare
        || FOLDERS.iter().any(|place| lies_in(&parts, place))
        || FILES.contains(&name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending));
    is_settings.then_some(Guard::Settings)
}

/// The name behind the short form that some file systems give to long ones.
fn long_name(part: String) -> String {
    const SHORT: &[(&str, &str)] = &[
        ("git~1", ".git"),
        ("vscode~1", ".vscode"),
        ("idea~1", ".idea"),
        ("switch~1", ".switchboard"),
        ("claude~1", ".claude"),
    ];
    SHORT.iter().find(|(short, _)| *short == part).map_or(part, |(_, long)| (*long).to_owned())
}

/// Whether the parts hold those of the place, one after the other.
fn lies_in(parts: &[String], place: &str) -> bool {
    let place: Vec<&str> = place.split('/').collect();
    parts.windows(place.len()).any(|window| window.iter().zip(&place).all(|(part, wanted)| part == wanted))
}
