//! What a server refuses, and what is wrong with a server, in words that a person can act on. Never repeats a token, never shows
//! markup, and never more than a few lines.

mod advice;
mod judge;
mod words;

pub(super) use words::{Complaint, clean, plain};

use self::advice::advice;
use self::judge::judge;
use crate::trouble::{Trouble, TroubleKind};

/// Whom was asked, and how.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The address, as the person wrote it.
    pub base_url: &'a str,
    /// The model that was asked for.
    pub model: &'a str,
    /// Whether a token was sent.
    pub had_token: bool,
    /// The models that the server has, as far as they are known.
    pub models: &'a [String],
}

/// Why a server has answered with something else than an answer: its status, its `Retry-After`, and what it said.
#[must_use]
pub fn refused(about: &About<'_>, status: u16, retry_after: Option<&str>, body: &[u8]) -> Trouble {
    let complaint = Complaint::body(body);
    let fault = judge(status, &complaint);
    // A date would need a clock.
    let seconds = retry_after.and_then(|value| value.trim().parse::<u64>().ok());
    Trouble {
        kind: fault.kind(),
        message: advice(fault, status, Some(about), &complaint),
        retry_after_ms: seconds.map(|seconds| seconds.saturating_mul(1000)),
    }
}

/// Why there is no server at all: nobody answers, the name is unknown, the link cannot be made safe.
#[must_use]
pub fn unreachable(about: &About<'_>, reason: &str) -> Trouble {
    let message = advice::nobody(about, &clean(&words::without_tokens(reason), 200));
    Trouble { kind: TroubleKind::NoServer, message, retry_after_ms: None }
}

impl Complaint {
    /// What it means where no status came with it: in the middle of an answer.
    pub(super) fn trouble(&self) -> Trouble {
        let status = self.status.unwrap_or(0);
        let fault = judge(status, self);
        Trouble { kind: fault.kind(), message: advice(fault, status, None, self), retry_after_ms: None }
    }
}
