//! Which files are more than text: they hold secrets, or something runs because of them. Looks at names only.

use std::path::Path;

use switchboard_types::Severity;

/// Folders whose files are run, or say what is run, without anybody asking.
const RUN_AT_ONCE: &[&str] = &[".git/hooks", ".git/config", ".git/modules", ".switchboard", ".husky", ".githooks"];
/// Folders with secrets, or with settings of programs that run commands.
const FOLDERS: &[&str] = &[
    ".git",
    ".github/workflows",
    ".github/actions",
    ".circleci",
    ".vscode",
    ".idea",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".cargo",
    ".config",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".kimi",
    ".zed",
    ".devcontainer",
];
/// Files of the same sort.
const FILES: &[&str] = &[
    ".envrc",
    ".netrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".git",
    ".gitmodules",
    ".gitattributes",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".pre-commit-config.yaml",
    "azure-pipelines.yml",
    "jenkinsfile",
    ".mcp.json",
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
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".tmux.conf",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "authorized_keys",
    "known_hosts",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
];
/// Endings of the same sort.
const ENDINGS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".code-workspace", ".service", ".desktop"];

/// How bad it could be to write a file, and why. The path is the real one, from the workspace's folder.
pub(super) fn of_file(path: &Path) -> (Severity, &'static str) {
    let parts: Vec<String> = path.iter().map(|part| folded(&part.to_string_lossy())).collect();
    let name = parts.last().map_or("", String::as_str);
    if RUN_AT_ONCE.iter().any(|place| lies_in(&parts, place)) {
        return (Severity::Critical, "what this file says can be run later without a question");
    }
    if FOLDERS.iter().any(|place| lies_in(&parts, place)) {
        return (
            Severity::High,
            "this file belongs to the settings of a program, and may hold secrets or start something",
        );
    }
    let is_listed = FILES.contains(&name) || name.starts_with(".env") || ENDINGS.iter().any(|end| name.ends_with(end));
    if is_listed {
        return (Severity::High, "files of this name hold secrets or settings, or are run by others");
    }
    (Severity::Medium, "it changes a file in the workspace")
}

/// Whether the parts hold those of the place, one after the other; the last part counts too.
fn lies_in(parts: &[String], place: &str) -> bool {
    let place: Vec<&str> = place.split('/').collect();
    parts.windows(place.len()).any(|window| window.iter().zip(&place).all(|(part, wanted)| part == wanted))
}

/// As a file system that ignores case, or characters that nobody sees, would read it.
fn folded(part: &str) -> String {
    let seen = part.chars().filter(|character| !super::quote::is_hidden(*character));
    seen.flat_map(char::to_lowercase).collect::<String>().trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_more_than_text_are_known_by_their_names() {
        let cases = [
            ("src/main.rs", Severity::Medium),
            ("README.md", Severity::Medium),
            ("environment.rs", Severity::Medium),
            (".gitignore", Severity::Medium),
            (".env", Severity::High),
            ("deploy/.env.production", Severity::High),
            (".git/HEAD", Severity::High),
            (".git", Severity::High),
            (".github/workflows/ci.yml", Severity::High),
            ("keys/server.pem", Severity::High),
            ("home/.bashrc", Severity::High),
            (".vscode/settings.json", Severity::High),
            (".git/hooks/pre-commit", Severity::Critical),
            (".Git/Hooks/pre-commit", Severity::Critical),
            (".g\u{200c}it/hooks/pre-commit", Severity::Critical),
            ("vendor/lib/.git/hooks/post-checkout", Severity::Critical),
            (".git/config", Severity::Critical),
            (".switchboard/config.toml", Severity::Critical),
        ];
        for (path, severity) in cases {
            assert_eq!(of_file(Path::new(path)).0, severity, "{path}");
        }
    }
}
