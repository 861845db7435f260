//! One frame to one envelope, in one pass. Strict in what would change the meaning, lenient in what real peers leave out.

use std::borrow::Cow;

use switchboard_types::limits::MAX_FRAME_BYTES;

use super::fault::{Fault, Form};
use super::id::IdRef;
use super::oddity::{Oddities, Oddity};
use super::refusal::{Refusal, Refused};
use crate::json::{Fields, FieldsError};

/// Bytes of a method's name.
pub const MAX_METHOD_BYTES: usize = 256;

/// The members of an envelope, those of streamed text first.
const MEMBERS: [&str; 6] = ["jsonrpc", "method", "params", "id", "result", "error"];

/// What a frame is. Everything raw is JSON text that lies within the frame, so `Bytes::slice_ref` shares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Envelope<'a> {
    /// The peer asks and waits for an answer.
    Request {
        /// To be repeated in the answer.
        id: IdRef<'a>,
        /// What it asks for.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a str>,
    },
    /// The peer tells something and waits for nothing.
    Notification {
        /// What it tells.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a str>,
    },
    /// The peer answers.
    Result {
        /// Which request.
        id: IdRef<'a>,
        /// Any JSON; null if the peer left it out.
        result: &'a str,
    },
    /// The peer answers that it cannot.
    Error {
        /// Which request; none if the peer could not tell.
        id: Option<IdRef<'a>>,
        /// What went wrong.
        fault: Fault<'a>,
    },
}

/// An envelope, and what was odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<'a> {
    /// What the frame is.
    pub envelope: Envelope<'a>,
    /// What was borne.
    pub oddities: Oddities,
}

/// Reads the frames of one peer and says each oddity once, since a peer that has one has it in every frame.
#[derive(Debug, Default)]
pub struct Reader {
    told: Oddities,
}

impl Reader {
    /// For a peer that has said nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one frame; the oddities are those that this peer has not shown before.
    pub fn read<'a>(&mut self, frame: &'a [u8]) -> Result<Read<'a>, Refused> {
        let mut read = read(frame)?;
        read.oddities = read.oddities.without(self.told);
        self.told.add_all(read.oddities);
        Ok(read)
    }
}

/// Reads one frame.
pub fn read(frame: &[u8]) -> Result<Read<'_>, Refused> {
    if frame.len() > MAX_FRAME_BYTES {
        return Err(Refused::unknown(Refusal::TooLarge { size: frame.len() }));
    }
    let not_json = |reason: String| Refused::unknown(Refusal::NotJson { reason });
    let json = std::str::from_utf8(frame).map_err(|error| not_json(error.to_string()))?;
    let fields = Fields::read(json, &MEMBERS).map_err(|error| no_object(json, error))?;
    Members { fields, oddities: Oddities::default() }.read()
}

/// Tells broken JSON, arrays and the rest apart.
fn no_object(json: &str, error: FieldsError) -> Refused {
    let reason = match error {
        FieldsError::NotAnObject { reason } => reason,
        FieldsError::TooDeep => return Refused::unknown(Refusal::TooDeep),
        FieldsError::Twice { name } => return Refused::unknown(Refusal::Twice { name }),
    };
    let why = match serde_json::from_str::<serde::de::IgnoredAny>(json) {
        Err(broken) => Refusal::NotJson { reason: broken.to_string() },
        Ok(_) if json.trim_ascii_start().starts_with('[') => Refusal::Batch,
        Ok(_) => Refusal::NotAnObject { reason },
    };
    Refused::unknown(why)
}

/// An envelope that is being understood.
struct Members<'a> {
    fields: Fields<'a, { MEMBERS.len() }>,
    oddities: Oddities,
}

impl<'a> Members<'a> {
    fn read(mut self) -> Result<Read<'a>, Refused> {
        if let Some(fault) = self.fields.fault() {
            let why = match fault {
                FieldsError::Twice { name } => Refusal::Twice { name },
                FieldsError::TooDeep | FieldsError::NotAnObject { .. } => Refusal::TooDeep,
            };
            return Err(self.refused(why));
        }
        match self.fields.given("jsonrpc") {
            Some("\"2.0\"") => {}
            Some(_) => self.oddities.add(Oddity::OtherVersion),
            None => self.oddities.add(Oddity::NoVersion),
        }
        let envelope = if self.fields.given("method").is_some() { self.call() } else { self.answer() }?;
        Ok(Read { envelope, oddities: self.oddities })
    }

    fn call(&mut self) -> Result<Envelope<'a>, Refused> {
        if self.fields.raw("result").or(self.fields.raw("error")).is_some() {
            return Err(self.refused(Refusal::AsksAndAnswers));
        }
        let method = self.fields.name("method").ok().filter(|method| method.len() <= MAX_METHOD_BYTES);
        let Some(method) = method else { return Err(self.refused(Refusal::BadMethod)) };
        let params = self.fields.raw("params");
        if params.is_some_and(|params| !params.starts_with(['{', '['])) {
            return Err(self.refused(Refusal::BadParams));
        }
        let Some(id) = self.fields.given("id") else { return Ok(Envelope::Notification { method, params }) };
        let Some(id) = IdRef::from_json(id) else { return Err(self.refused(Refusal::BadId)) };
        if id.is_null() {
            self.oddities.add(Oddity::NullId);
        }
        Ok(Envelope::Request { id, method, params })
    }

    fn answer(&mut self) -> Result<Envelope<'a>, Refused> {
        let (result, error) = (self.fields.given("result"), self.fields.raw("error"));
        let id = match self.fields.given("id") {
            // Only what names nobody's request and says nothing is no answer at all.
            None if result.is_none() && error.is_none() => return Err(Refused::unknown(Refusal::Empty)),
            None => None,
            Some(id) => Some(IdRef::from_json(id).ok_or_else(|| Refused::answer_itself(Refusal::BadId))?),
        };
        if let Some(error) = error {
            if result.is_some_and(|result| result != "null") {
                self.oddities.add(Oddity::ResultAndError);
            }
            let (fault, form) = Fault::from_json(error);
            if form == Form::Odd {
                self.oddities.add(Oddity::OddError);
            }
            return Ok(Envelope::Error { id: id.filter(|id| !id.is_null()), fault });
        }
        let id = id.filter(|id| !id.is_null()).ok_or_else(|| Refused::answer_itself(Refusal::BadId))?;
        if result.is_none() {
            self.oddities.add(Oddity::NoResult);
        }
        Ok(Envelope::Result { id, result: result.unwrap_or("null") })
    }

    /// Refuses what was meant as a call, under its id where that can be read.
    fn refused(&self, why: Refusal) -> Refused {
        if self.fields.given("method").is_none() && self.fields.given("result").or(self.fields.given("error")).is_some()
        {
            return Refused::answer_itself(why);
        }
        Refused::request(why, self.fields.given("id").and_then(IdRef::from_json))
    }
}

#[cfg(test)]
mod tests;
