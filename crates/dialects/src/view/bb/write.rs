//! Results, errors and topics into messages, each checked by its schema in builds for tests.

use serde::Serialize;

use super::asked::Method;
use super::check::{Checks, Outward};
use super::said::{ConnectionShape, ErrorShape, StateShape};
use super::schema::Topic;

/// Bytes of the scratch that a link keeps between writes; more is for rare large messages.
pub(super) const KEEP_SCRATCH_BYTES: usize = 64 * 1024;

/// Everything that a write needs.
pub(super) struct Out<'a> {
    pub(super) checks: &'a Checks,
    pub(super) scratch: &'a mut Vec<u8>,
    pub(super) message: &'a mut dyn FnMut(&[u8]),
}

impl Out<'_> {
    /// The good answer to a request.
    pub(super) fn result(&mut self, id: &str, method: Method, result: &impl Serialize) {
        self.answer(id, br#","ok":true,"result":"#, result, Outward::Result(method));
    }

    /// The other one.
    pub(super) fn error(&mut self, id: &str, error: &ErrorShape) {
        self.answer(id, br#","ok":false,"error":"#, error, Outward::Error);
    }

    fn answer(&mut self, id: &str, middle: &[u8], shape: &impl Serialize, outward: Outward) {
        self.scratch.clear();
        self.scratch.extend_from_slice(br#"{"v":1,"kind":"res","id":"#);
        // Strings and maps with string keys always have a JSON text, and a vector takes all of it.
        let _ = serde_json::to_writer(&mut *self.scratch, id);
        self.scratch.extend_from_slice(middle);
        let _ = serde_json::to_writer(&mut *self.scratch, shape);
        self.scratch.push(b'}');
        self.send(outward);
    }

    pub(super) fn state(&mut self, state: &StateShape) {
        self.topic(Topic::State, |out| {
            let _ = serde_json::to_writer(out, state);
        });
    }

    pub(super) fn connection(&mut self, connection: &ConnectionShape) {
        self.topic(Topic::Connection, |out| {
            let _ = serde_json::to_writer(out, connection);
        });
    }

    /// A topic whose payload somebody puts.
    pub(super) fn topic(&mut self, topic: Topic, put: impl FnOnce(&mut Vec<u8>)) {
        self.scratch.clear();
        self.scratch.extend_from_slice(br#"{"v":1,"kind":"evt","topic":""#);
        self.scratch.extend_from_slice(topic.name().as_bytes());
        self.scratch.extend_from_slice(br#"","payload":"#);
        put(self.scratch);
        self.scratch.push(b'}');
        self.send(Outward::Payload(topic));
    }

    fn send(&mut self, outward: Outward) {
        if cfg!(debug_assertions) {
            let fault = self.checks.fault(outward, self.scratch);
            debug_assert!(fault.is_none(), "{}", fault.unwrap_or_default());
        }
        (self.message)(self.scratch);
    }
}
