//! What sort of fault a complaint tells of, by its status and by the spellings that servers are known to have.

use super::words::Complaint;
use crate::trouble::TroubleKind;

/// A fault, by what a person can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Unwelcome,
    NoModel,
    /// The server has models, but none of them is loaded.
    NothingLoaded,
    TooLong,
    NoTools,
    NoImages,
    Busy,
    /// What was paid for is used up.
    Quota,
    Loading,
    /// The server has the model and cannot load it.
    Unloadable,
    /// Out of order.
    Ill,
    /// The machine is too small for the model.
    TooLarge,
    /// The model wrote a call that the server could not read.
    BadCall,
    /// There is nothing at that path.
    WrongPath,
    Other,
}

impl Fault {
    pub(super) fn kind(self) -> TroubleKind {
        match self {
            Self::Unwelcome => TroubleKind::Unwelcome,
            Self::NoModel | Self::NothingLoaded => TroubleKind::NoModel,
            Self::TooLong => TroubleKind::TooLong,
            Self::NoTools => TroubleKind::NoTools,
            Self::NoImages => TroubleKind::NoImages,
            Self::Busy => TroubleKind::Busy,
            Self::Loading | Self::Ill => TroubleKind::NotYet,
            Self::BadCall => TroubleKind::Garbage,
            Self::Quota | Self::Unloadable | Self::TooLarge | Self::WrongPath | Self::Other => TroubleKind::Refused,
        }
    }
}

const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "exceeds the available context size",
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "max context",
    "context the overflows",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "tokens to keep from the initial prompt",
    "reduce the length of the messages",
    "exceeds the maximum number of tokens",
    "request too large for model",
    "longer than the maximum model length",
    "max_model_len",
];
const NO_TOOLS: &[&str] = &[
    "does not support tools",
    "does not support tool",
    "not support function calling",
    "not support tool",
    "support tool use",
    "enable-auto-tool-choice",
    "tool-call-parser",
    "tools param requires --jinja",
    "tool calling is not supported",
    "tool use is not supported",
    "tools are not supported",
    "function calling is not enabled",
    "function calling is not supported",
];
const NO_IMAGES: &[&str] = &[
    "image input is not supported",
    "images are not supported",
    "not support image",
    "support image input",
    "not a multimodal model",
    "not support multimodal",
    "multimodal is not supported",
    "missing data required for image input",
    "image_url is only supported",
    "unknown variant `image_url`",
    "at most 0 image",
    "not support vision",
    "vision is not supported",
    "mmproj",
];
const NO_MODEL: &[&str] = &[
    "model_not_found",
    "model not found",
    "model not exist",
    "unknown model",
    "invalid model",
    "not a valid model",
    "try pulling it first",
    "no such model",
    "model_not_exist",
    "unknown_model",
];
const NOTHING_LOADED: &[&str] = &["no models loaded", "no model loaded", "no model is loaded"];
const UNWELCOME: &[&str] = &[
    "invalid_api_key",
    "invalid api key",
    "incorrect api key",
    "api key not valid",
    "missing api key",
    "no auth credentials",
    "unauthorized",
    "authentication",
];
const QUOTA: &[&str] = &[
    "insufficient_quota",
    "exceeded your current quota",
    "insufficient balance",
    "insufficient credits",
    "payment required",
];
const TOO_LARGE: &[&str] =
    &["requires more system memory", "out of memory", "insufficient memory", "not enough memory"];
const BAD_CALL: &[&str] = &["tool_use_failed", "error parsing tool call", "failed to parse tool call"];
/// Said of a model that will not load later either; the words for one that still loads are among them.
const UNLOADABLE: &[&str] = &[
    "error loading model",
    "failed to load model",
    "unable to load model",
    "cannot load model",
    "could not load model",
];
const LOADING: &[&str] =
    &["loading model", "model is loading", "currently loading", "is still loading", "server is starting"];
const BUSY: &[&str] =
    &["rate limit", "rate_limit", "too many requests", "overloaded", "server busy", "maximum pending requests"];

/// Said where no status can be.
const ILL: &[&str] = &[
    "server_error",
    "internal error",
    "internal server error",
    "error was encountered while running",
    "crashed",
    "runner process",
];

/// What sort of fault it is. A status of 0 is none.
pub(super) fn judge(status: u16, complaint: &Complaint) -> Fault {
    let all = complaint.all.as_str();
    let says = |spellings: &[&str]| spellings.iter().any(|spelling| all.contains(spelling));
    // What a server says is nearer to the truth than its status; but of a token only its status is certain.
    match status {
        401 | 403 | 407 => Fault::Unwelcome,
        402 => Fault::Quota,
        _ if says(QUOTA) => Fault::Quota,
        _ if says(TOO_LARGE) => Fault::TooLarge,
        _ if says(BAD_CALL) => Fault::BadCall,
        _ if says(NO_TOOLS) => Fault::NoTools,
        _ if says(NO_IMAGES) => Fault::NoImages,
        _ if says(NOTHING_LOADED) => Fault::NothingLoaded,
        _ if says(UNLOADABLE) => Fault::Unloadable,
        _ if says(LOADING) => Fault::Loading,
        413 => Fault::TooLong,
        429 | 529 => Fault::Busy,
        _ if says(TOO_LONG) => Fault::TooLong,
        _ if says(NO_MODEL) || names_no_model(all) => Fault::NoModel,
        0 | 400 if says(UNWELCOME) => Fault::Unwelcome,
        0 | 500.. if says(BUSY) => Fault::Busy,
        0 if says(ILL) => Fault::Ill,
        404 | 405 => Fault::WrongPath,
        408 | 425 | 500.. => Fault::Ill,
        _ => Fault::Other,
    }
}

/// `model 'x' not found`, `The model "x" does not exist`, and the like.
fn names_no_model(all: &str) -> bool {
    let Some((_, after)) = all.split_once("model") else { return false };
    ["not found", "does not exist", "doesn't exist", "is not available", "not loaded"]
        .iter()
        .any(|end| after.contains(end))
}
