//! Files that hold secrets, by the names that they usually have.

use crate::policy::text::folded_part;

const FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".switchboard",
    "keychains",
    ".gcloud",
];
const FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    "authorized_keys",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    ".htpasswd",
    "shadow",
    "gshadow",
    "sudoers",
    "docker.sock",
    "hosts.yml",
    ".bash_history",
    ".zsh_history",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "environ",
    "kcore",
    "logins.json",
    "cookies.sqlite",
    "wallet.dat",
    ".terraformrc",
    ".dockercfg",
];
const ENDINGS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn"];

/// Whether a path names something that usually holds secrets.
pub(crate) fn is_secret(path: &str) -> bool {
    // A flag may carry the path: `--file=.env`, `@.env`.
    let path = path.rsplit(['=', '@']).next().unwrap_or(path);
    let parts: Vec<String> = path.split(['/', '\\']).map(folded_part).collect();
    let name = parts.last().map_or("", String::as_str);
    parts.iter().any(|part| FOLDERS.contains(&part.as_str()))
        || FILES.contains(&name)
        || is_env(name)
        || ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// `.env` and its kin, but not the examples that are made to be read.
fn is_env(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    (rest.is_empty() || rest.starts_with('.')) && !matches!(rest, ".example" | ".sample" | ".template")
}
