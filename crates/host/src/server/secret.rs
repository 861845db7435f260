//! Secrets that cannot be printed by accident, and their comparison in constant time. Knows nothing of requests.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Text that must reach no log, no error and no view.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret that was read from its file.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A fresh secret of `bytes` random bytes, in hexadecimal digits.
    pub fn random(bytes: usize) -> Result<Self, getrandom::Error> {
        Ok(Self(random_hex(bytes)?))
    }

    /// The secret itself, for the few places that must write it down.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What is kept of a secret to recognise it again.
#[derive(Clone, Copy)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of(text: &[u8]) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Whether `text` is the secret. Takes as long for a near miss as for a far one.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.0.ct_eq(&Self::of(text).0).into()
    }
}

/// A value that proves to hold the secret without being it.
pub(crate) fn derive(label: &str, secret: &Secret) -> String {
    let mut hash = Sha256::new();
    hash.update(label.as_bytes());
    hash.update([0]);
    hash.update(secret.reveal().as_bytes());
    hex(&hash.finalize())
}

/// Random bytes in hexadecimal digits.
pub(crate) fn random_hex(bytes: usize) -> Result<String, getrandom::Error> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)?;
    Ok(hex(&random))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown_by_debug() {
        assert_eq!(format!("{:?}", Some(Secret::new("canary"))), "Some(Secret)");
    }

    #[test]
    fn only_the_secret_itself_matches_its_fingerprint() {
        let fingerprint = Fingerprint::of(b"abc");
        let matching: Vec<&str> =
            ["abc", "abd", "ab", "abcd", ""].into_iter().filter(|text| fingerprint.matches(text.as_bytes())).collect();
        assert_eq!(matching, ["abc"]);
    }

    #[test]
    fn a_derived_value_depends_on_label_and_secret_and_hides_the_secret() {
        let secret = Secret::new("canary");
        let derived = derive("cookie", &secret);
        assert_eq!(derived.len(), 64);
        assert!(!derived.contains("canary"));
        assert_ne!(derived, derive("other", &secret));
        assert_ne!(derived, derive("cookie", &Secret::new("canary2")));
    }

    #[test]
    fn hex_writes_two_digits_a_byte() {
        assert_eq!(hex(&[0, 0x0f, 0xa0, 0xff]), "000fa0ff");
    }
}
