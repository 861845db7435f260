//! The file of secrets: read as a whole, replaced as a whole, by one program at a time. Refuses a file that others can read.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};

use super::{MAX_NAME_BYTES, MAX_SECRET_BYTES, MAX_SECRETS, SecretError};

/// A file with every secret as large as it may be.
const MAX_FILE_BYTES: u64 = (MAX_SECRETS * (MAX_SECRET_BYTES + 8 * MAX_NAME_BYTES)) as u64;

/// The version of a file that names secrets whose values are in the keyring.
const IN_KEYRING: u32 = 2;

/// A secret as it is kept.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    /// None if it is in the keyring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bound: Option<String>,
}

/// All of them, by name.
pub(super) type All = BTreeMap<String, Kept>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    version: u32,
    secrets: All,
}

/// Reads all; none if there is no file.
pub(super) fn read(path: &Path) -> Result<All, SecretError> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(All::new()),
        Err(error) => return Err(error.into()),
    };
    let found = file.metadata()?;
    if !found.is_file() || found.permissions().mode() & 0o077 != 0 {
        let message =
            format!("`{}` can be read by others; `chmod 600` it, and think of its secrets as known", path.display());
        return Err(io::Error::other(message).into());
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    // What the parser says of a wrong file could repeat a secret.
    let unreadable =
        || io::Error::other(format!("`{}` is damaged; remove it and store the secrets again", path.display()));
    let whole: Whole = serde_json::from_str(&text).map_err(|_| unreadable())?;
    if !(1..=IN_KEYRING).contains(&whole.version) {
        return Err(unreadable().into());
    }
    Ok(whole.secrets)
}

/// Changes them while nobody else does.
pub(super) fn change<T>(
    path: &Path,
    change: impl FnOnce(&mut All) -> Result<T, SecretError>,
) -> Result<T, SecretError> {
    let lock = private().create(true).truncate(false).open(path.with_extension("lock"))?;
    flock(&lock, FlockOperation::LockExclusive).map_err(io::Error::from)?;
    let mut all = read(path)?;
    let changed = change(&mut all)?;
    let fresh = path.with_extension("new");
    let mut file = private().create(true).truncate(true).open(&fresh)?;
    let version = if all.values().all(|kept| kept.value.is_some()) { 1 } else { IN_KEYRING };
    let text = serde_json::to_string_pretty(&Whole { version, secrets: all }).map_err(io::Error::from)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    drop(lock);
    Ok(changed)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600).custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default());
    options
}
