//! What real peers do against the specification and is borne all the same. Never a reason to refuse.

use std::fmt;

/// Something that the specification forbids and that we bear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// The member `jsonrpc` is missing.
    NoVersion,
    /// The member `jsonrpc` is not `"2.0"`.
    OtherVersion,
    /// A request's id is null, which leaves its answer without an address.
    NullId,
    /// An answer has neither result nor error; it counts as the result null.
    NoResult,
    /// An answer has both a result and an error; the error counts.
    ResultAndError,
    /// An error is not `{code: integer, message: string}`.
    OddError,
}

const ALL: [Oddity; 6] = [
    Oddity::NoVersion,
    Oddity::OtherVersion,
    Oddity::NullId,
    Oddity::NoResult,
    Oddity::ResultAndError,
    Oddity::OddError,
];

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoVersion => "\"jsonrpc\":\"2.0\" is missing",
            Self::OtherVersion => "`jsonrpc` is not \"2.0\"",
            Self::NullId => "a request has the id null",
            Self::NoResult => "an answer has neither result nor error",
            Self::ResultAndError => "an answer has both a result and an error",
            Self::OddError => "an error is not {code: integer, message: string}",
        })
    }
}

/// A set of oddities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities(u8);

impl Oddities {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Oddity> {
        ALL.into_iter().filter(move |oddity| self.0 & bit(*oddity) != 0)
    }

    pub(super) fn add(&mut self, oddity: Oddity) {
        self.0 |= bit(oddity);
    }

    pub(super) fn add_all(&mut self, others: Self) {
        self.0 |= others.0;
    }

    /// Those that are not among the others.
    pub(super) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

fn bit(oddity: Oddity) -> u8 {
    1 << oddity as u8
}

impl fmt::Display for Oddities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, oddity) in self.iter().enumerate() {
            write!(f, "{}{oddity}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
