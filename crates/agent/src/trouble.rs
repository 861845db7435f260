//! What goes wrong between us and a server, told so that a person can act on it.

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What sort.
    pub kind: TroubleKind,
    /// For a person: what happened, and what to do.
    pub message: String,
    /// How long the server wants to be left alone, in milliseconds, if it says.
    pub retry_after_ms: Option<u64>,
}

/// What sort of trouble, by what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// Nobody answers there.
    NoServer,
    /// It wants a token, or another one.
    Unwelcome,
    /// It does not have that model.
    NoModel,
    /// The conversation is longer than the model can read.
    TooLong,
    /// The model cannot call tools by the server's own way.
    NoTools,
    /// The model takes no pictures.
    NoImages,
    /// Too many requests: later.
    Busy,
    /// It is starting, or out of order for a while: later.
    NotYet,
    /// The stream broke off in the middle.
    BrokenOff,
    /// It said what makes no sense.
    Garbage,
    /// Whatever else it refused.
    Refused,
}

impl TroubleKind {
    /// Whether the same may work a little later.
    #[must_use]
    pub fn may_pass(self) -> bool {
        match self {
            Self::Busy | Self::NotYet | Self::BrokenOff => true,
            Self::NoServer | Self::Unwelcome | Self::NoModel | Self::TooLong => false,
            Self::NoTools | Self::NoImages | Self::Garbage | Self::Refused => false,
        }
    }
}
