//! Who may come in: the token, the cookie that stands for it, and the one-time codes that set the cookie. Keeps no secret
//! in the clear and reads no request.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::secret::{Fingerprint, Secret, derive};

/// Characters that a token must have: fewer than a random token's, so that people may choose their own, but not few.
const MIN_TOKEN_CHARS: usize = 32;
/// Random bytes of a login code.
const CODE_BYTES: usize = 32;
/// How long a login code is good.
const CODE_LIFE: Duration = Duration::from_secs(10 * 60);
/// Login codes that wait to be used; with one more, the oldest is dropped.
const MAX_CODES: usize = 64;
/// Characters of a data folder's id.
const MAX_DATA_ID_CHARS: usize = 64;
/// How long a browser stays logged in.
const COOKIE_SECONDS: u64 = 30 * 24 * 60 * 60;

/// Why there is no access.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AccessError {
    /// The token could be guessed, or cannot travel in a header.
    #[error(
        "the token must be {MIN_TOKEN_CHARS} or more letters, digits, '-', '.' or '_'; delete its file to get a new one"
    )]
    WeakToken,
    /// The id cannot be part of a cookie's name.
    #[error("a data folder's id must be 1 to {MAX_DATA_ID_CHARS} letters, digits, '-' or '_'")]
    BadDataId,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    NoRandom(#[source] getrandom::Error),
}

/// A data folder's id. It names the cookie, since browsers share cookies between all ports of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataId(String);

impl DataId {
    /// Takes letters, digits, `-` and `_`.
    pub fn new(id: impl Into<String>) -> Result<Self, AccessError> {
        let id = id.into();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if id.is_empty() || id.len() > MAX_DATA_ID_CHARS || !id.chars().all(fits) {
            return Err(AccessError::BadDataId);
        }
        Ok(Self(id))
    }
}

/// The credentials that this host takes.
pub struct Access {
    token: Fingerprint,
    cookie_name: String,
    cookie_value: Secret,
    cookie: Fingerprint,
    // Held for a walk over a few codes, never over an await.
    codes: Mutex<VecDeque<Code>>,
}

struct Code {
    fingerprint: Fingerprint,
    good_until: Instant,
}

impl Access {
    /// Access by this token, for the host of this data folder.
    pub fn new(token: &Secret, data: &DataId) -> Result<Self, AccessError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if token.reveal().len() < MIN_TOKEN_CHARS || !token.reveal().chars().all(fits) {
            return Err(AccessError::WeakToken);
        }
        let cookie_value = derive("switchboard cookie v1", token);
        Ok(Self {
            token: Fingerprint::of(token.reveal().as_bytes()),
            cookie_name: format!("switchboard-{}", data.0),
            cookie: Fingerprint::of(cookie_value.as_bytes()),
            cookie_value: Secret::new(cookie_value),
            codes: Mutex::default(),
        })
    }

    /// A fresh login code. Good once, for ten minutes.
    pub fn new_code(&self, now: Instant) -> Result<Secret, AccessError> {
        let code = Secret::random(CODE_BYTES).map_err(AccessError::NoRandom)?;
        let fingerprint = Fingerprint::of(code.reveal().as_bytes());
        let mut codes = self.codes();
        while codes.len() >= MAX_CODES {
            codes.pop_front();
        }
        codes.push_back(Code { fingerprint, good_until: now + CODE_LIFE });
        Ok(code)
    }

    /// Uses a login code up; whether it was good.
    pub(crate) fn redeem(&self, code: &str, now: Instant) -> bool {
        let mut codes = self.codes();
        codes.retain(|known| now < known.good_until);
        let found = codes.iter().position(|known| known.fingerprint.matches(code.as_bytes()));
        found.and_then(|at| codes.remove(at)).is_some()
    }

    pub(crate) fn is_token(&self, presented: &str) -> bool {
        self.token.matches(presented.as_bytes())
    }

    pub(crate) fn is_cookie(&self, presented: &str) -> bool {
        self.cookie.matches(presented.as_bytes())
    }

    pub(crate) fn cookie_name(&self) -> &str {
        &self.cookie_name
    }

    /// The `Set-Cookie` of a successful login.
    pub(crate) fn set_cookie(&self) -> String {
        let (name, value) = (&self.cookie_name, self.cookie_value.reveal());
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_SECONDS}")
    }

    fn codes(&self) -> MutexGuard<'_, VecDeque<Code>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("cookie_name", &self.cookie_name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        Access::new(&Secret::new("t".repeat(64)), &DataId::new("d1").unwrap()).unwrap()
    }

    #[test]
    fn a_code_is_good_once() {
        let (access, now) = (access(), Instant::now());
        let code = access.new_code(now).unwrap();
        assert!(access.redeem(code.reveal(), now));
        assert!(!access.redeem(code.reveal(), now));
        assert!(!access.redeem("", now));
    }

    #[test]
    fn a_code_is_good_for_ten_minutes_and_no_longer() {
        let (access, now) = (access(), Instant::now());
        let (first, second) = (access.new_code(now).unwrap(), access.new_code(now).unwrap());
        assert!(access.redeem(first.reveal(), now + CODE_LIFE - Duration::from_millis(1)));
        assert!(!access.redeem(second.reveal(), now + CODE_LIFE));
    }

    #[test]
    fn the_oldest_code_gives_way_when_there_are_too_many() {
        let (access, now) = (access(), Instant::now());
        let codes: Vec<Secret> = (0..=MAX_CODES).map(|_| access.new_code(now).unwrap()).collect();
        let good: Vec<bool> = codes.iter().map(|code| access.redeem(code.reveal(), now)).collect();
        let expected: Vec<bool> = (0..=MAX_CODES).map(|at| at > 0).collect();
        assert_eq!(good, expected);
    }

    #[test]
    fn the_cookie_is_not_the_token_and_neither_stands_for_the_other() {
        let access = access();
        let token = "t".repeat(64);
        let cookie = access.cookie_value.reveal();
        assert!(access.is_token(&token) && access.is_cookie(cookie));
        assert!(!access.is_token(cookie) && !access.is_cookie(&token));
        assert!(!access.set_cookie().contains(&token));
    }

    #[test]
    fn a_weak_token_and_an_odd_data_id_are_refused() {
        let data = DataId::new("d1").unwrap();
        for token in ["", "short", &"sp ace".repeat(10)] {
            assert_eq!(Access::new(&Secret::new(token), &data).err(), Some(AccessError::WeakToken));
        }
        for id in ["", "a b", "a;b", "é", &"x".repeat(65)] {
            assert_eq!(DataId::new(id), Err(AccessError::BadDataId));
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!("{:?}", access());
        assert_eq!(shown, "Access { cookie_name: \"switchboard-d1\", .. }");
    }
}
