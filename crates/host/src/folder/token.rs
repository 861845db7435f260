//! The host's token and the folder's id: random, private, the same across restarts. Never shown by `Debug`.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::place::{FolderError, Lasts, open_private, write_fresh};

/// 256 bits in hex.
const TOKEN_CHARS: usize = 64;
/// 64 bits in hex; it need not be secret, only different.
const ID_CHARS: usize = 16;

/// What a caller must show to be let in.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub(super) fn kept_in(file: &Path) -> Result<Self, FolderError> {
        kept(file, TOKEN_CHARS).map(Self)
    }

    /// The token itself. It goes to its owner's terminal or into a header, and nowhere else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Tells this data folder from others, as in the cookie's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderId(String);

impl FolderId {
    pub(super) fn kept_in(file: &Path) -> Result<Self, FolderError> {
        kept(file, ID_CHARS).map(Self)
    }

    /// The id as text, lower-case hex.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads so many hex digits from the file; makes the file first if it is not there.
fn kept(file: &Path, chars: usize) -> Result<String, FolderError> {
    if fs::symlink_metadata(file).is_err() {
        make(file, &random_hex(chars)?).map_err(FolderError::io(file))?;
    }
    let mut text = String::new();
    let mut limited = open_private(file)?.take(chars as u64 + 2);
    limited.read_to_string(&mut text).map_err(|_| FolderError::Damaged(file.to_owned()))?;
    let text = text.trim_end();
    if text.len() != chars || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(FolderError::Damaged(file.to_owned()));
    }
    Ok(text.to_owned())
}

/// Puts the file in its place whole or not at all; if another process was faster, its file stays.
fn make(file: &Path, text: &str) -> io::Result<()> {
    let fresh = write_fresh(file, format!("{text}\n").as_bytes(), Lasts::ForGood)?;
    let linked = fs::hard_link(&fresh, file);
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn random_hex(chars: usize) -> Result<String, FolderError> {
    use std::fmt::Write as _;

    let mut bytes = vec![0; chars / 2];
    getrandom::fill(&mut bytes).map_err(|error| FolderError::io(Path::new("/dev/urandom"))(error.into()))?;
    let mut hex = String::with_capacity(chars);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}
