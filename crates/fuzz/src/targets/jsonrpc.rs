//! JSON-RPC: whatever is read lies within the frame and is JSON, whatever is refused gets an answer that can be read, and what
//! is written again says the same.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use switchboard_dialects::jsonrpc::{Envelope, Failure, IdRef, Owed, Pending, Read, read, write};

pub(crate) fn run(frame: &[u8]) {
    match read(frame) {
        Ok(Read { envelope, .. }) => {
            for part in parts(&envelope) {
                assert!(serde_json::from_str::<IgnoredAny>(part).is_ok(), "{part:?} is no JSON");
            }
            again(&envelope);
        }
        Err(refused) => {
            let Some(answer) = refused.answer() else { return };
            let read = read(&answer).map(|read| read.envelope);
            assert!(matches!(read, Ok(Envelope::Error { .. })), "{read:?} answers a refusal");
        }
    }
}

fn parts<'a>(envelope: &Envelope<'a>) -> Vec<&'a str> {
    match envelope {
        Envelope::Request { id, params, .. } => [Some(id.as_json()), *params].into_iter().flatten().collect(),
        Envelope::Notification { params, .. } => params.iter().copied().collect(),
        Envelope::Result { id, result } => vec![id.as_json(), *result],
        Envelope::Error { id, fault } => id.map(IdRef::as_json).into_iter().chain(fault.data).collect(),
    }
}

/// Says it again in our own words and compares.
fn again(envelope: &Envelope<'_>) {
    match envelope {
        Envelope::Request { id, .. } => {
            let mut owed = Owed::with_max(1);
            let Ok(debt) = owed.accept(*id) else { panic!("the first request is refused") };
            assert!(owed.accept(*id).is_err(), "a request is open twice");
            let answer = owed.error(debt, &Failure::new(-32603, "no"));
            let Ok(Read { envelope: Envelope::Error { id: answered, .. }, .. }) = read(&answer) else {
                panic!("the answer is no answer")
            };
            assert_eq!(answered.map(IdRef::as_json), (!id.is_null()).then_some(id.as_json()));
            assert!(owed.is_empty());
        }
        Envelope::Notification { method, params } => {
            let raw: Option<&RawValue> = params.and_then(|params| serde_json::from_str(params).ok());
            let Ok(frame) = write::notification(method, &raw) else { panic!("params are refused") };
            assert_eq!(read(&frame).ok().map(|read| read.envelope), Some(envelope.clone()));
        }
        Envelope::Result { id, .. } | Envelope::Error { id: Some(id), .. } => {
            let mut pending = Pending::with_max(1);
            assert!(pending.open(()).is_ok());
            let ours = pending.take(*id).is_ok();
            assert_eq!(ours, id.as_json() == "1", "{id} is taken for 1");
            assert!(pending.take(*id).is_err(), "an answer is taken twice");
        }
        Envelope::Error { id: None, .. } => {}
    }
}
