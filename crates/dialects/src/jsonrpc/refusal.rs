//! Why a frame is no envelope, and what the peer is told. The stream goes on. Never answers what is itself an answer.

use switchboard_types::limits::{MAX_FRAME_BYTES, MAX_JSON_DEPTH};
use thiserror::Error;

use super::codes;
use super::envelope::MAX_METHOD_BYTES;
use super::fault::Failure;
use super::id::{Id, IdRef, MAX_ID_JSON_BYTES};
use super::write;

/// What is wrong with a frame or a request.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// It is over the limit.
    #[error("{size} bytes are over the limit of {MAX_FRAME_BYTES}")]
    TooLarge {
        /// Its bytes.
        size: usize,
    },
    /// It is no JSON.
    #[error("not JSON: {reason}")]
    NotJson {
        /// What the parser says.
        reason: String,
    },
    /// It is an array.
    #[error("batches are not taken: send each request and notification in a frame of its own")]
    Batch,
    /// It is JSON, but neither an object nor an array.
    #[error("not a JSON object: {reason}")]
    NotAnObject {
        /// What the parser says.
        reason: String,
    },
    /// It nests too deep.
    #[error("nested deeper than {MAX_JSON_DEPTH}")]
    TooDeep,
    /// A member of the envelope is given twice.
    #[error("`{name}` is given twice")]
    Twice {
        /// Its name.
        name: &'static str,
    },
    /// The id is no id.
    #[error("`id` must be a string or a number of at most {MAX_ID_JSON_BYTES} bytes")]
    BadId,
    /// The method is no name.
    #[error("`method` must be a string of at most {MAX_METHOD_BYTES} bytes")]
    BadMethod,
    /// The params are neither named nor listed.
    #[error("`params` must be an object or an array")]
    BadParams,
    /// It asks and answers at once.
    #[error("`method` stands beside `result` or `error`")]
    AsksAndAnswers,
    /// It neither asks nor answers.
    #[error("there is no `method`, no `result` and no `error`")]
    Empty,
    /// The peer has not been answered yet under this id.
    #[error("the id {id} is that of a request which is not answered yet")]
    IdTaken {
        /// The id.
        id: Id,
    },
    /// The peer has too many requests open.
    #[error("{max} requests wait for their answers already; ask again when some have come")]
    TooMany {
        /// How many may be open.
        max: usize,
    },
}

/// A refused frame.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{why}")]
pub struct Refused {
    /// Why.
    pub why: Refusal,
    to: To,
}

/// Whom an answer would go to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum To {
    /// Nobody: the frame was an answer itself.
    Nobody,
    /// The peer, but it cannot be said for which request.
    Unknown,
    Request(Id),
}

impl Refused {
    /// A frame of which nothing can be said.
    pub(super) fn unknown(why: Refusal) -> Self {
        Self { why, to: To::Unknown }
    }

    pub(super) fn request(why: Refusal, id: Option<IdRef<'_>>) -> Self {
        Self { why, to: id.map_or(To::Unknown, |id| To::Request(id.to_id())) }
    }

    pub(super) fn answer_itself(why: Refusal) -> Self {
        Self { why, to: To::Nobody }
    }

    /// The code that fits.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self.why {
            Refusal::NotJson { .. } => codes::PARSE_ERROR,
            Refusal::TooLarge { .. }
            | Refusal::Batch
            | Refusal::NotAnObject { .. }
            | Refusal::TooDeep
            | Refusal::Twice { .. }
            | Refusal::BadId
            | Refusal::BadMethod
            | Refusal::BadParams
            | Refusal::AsksAndAnswers
            | Refusal::Empty
            | Refusal::IdTaken { .. }
            | Refusal::TooMany { .. } => codes::INVALID_REQUEST,
        }
    }

    /// What the peer is to be told; none if the frame was an answer, which nothing may follow.
    #[must_use]
    pub fn answer(&self) -> Option<Vec<u8>> {
        let failure = Failure::new(self.code(), self.why.to_string());
        match &self.to {
            To::Nobody => None,
            To::Unknown => Some(write::error(None, &failure)),
            To::Request(id) => Some(write::error(Some(id), &failure)),
        }
    }
}
