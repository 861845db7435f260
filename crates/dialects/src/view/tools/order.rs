//! Which requests are open, and in which order their answers leave: those with an id as they come, those without in the order of
//! the requests. Bounded in requests and bytes, whatever the view does.

use std::collections::{BTreeMap, VecDeque};

use serde_json::value::RawValue;
use switchboard_types::RequestNo;

/// Requests of one link that have no answer yet, or one that waits for its place.
pub const MAX_OPEN_REQUESTS: usize = 1024;
/// Bytes of answers that wait for their place.
pub(super) const MAX_HELD_BYTES: usize = 64 * 1024 * 1024;
/// Refusals for too many open requests that wait for one place.
const MAX_REPEATS: u32 = 65_536;

/// A request's id as it came, to be repeated as it was.
pub(super) type RequestId = Box<RawValue>;

/// A request that is open.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Option<RequestId>,
    pub(super) kind: Kind,
}

/// What sort of answer a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One call.
    One,
    /// Several calls.
    Batch,
    /// Anything else; what is told says it all.
    Other,
}

/// The open requests of one link.
#[derive(Debug, Default)]
pub(super) struct Order {
    last: u64,
    open: BTreeMap<RequestNo, Request>,
    /// Those without an id, the oldest first.
    line: VecDeque<Place>,
    /// How many of the open ones have an id.
    named: usize,
    /// Bytes of answers that wait.
    held: usize,
}

/// A place in the line.
#[derive(Debug)]
struct Place {
    request: RequestNo,
    answer: Option<Vec<u8>>,
    /// How often the answer leaves: refusals that are all the same share a place.
    times: u32,
}

impl Order {
    /// Whether no more requests can be taken.
    pub(super) fn is_full(&self) -> bool {
        self.named + self.line.len() >= MAX_OPEN_REQUESTS
    }

    /// Notes a request.
    pub(super) fn open(&mut self, request: Request) -> RequestNo {
        self.last += 1;
        let number = RequestNo(self.last);
        match request.id {
            Some(_) => self.named += 1,
            None => self.line.push_back(Place { request: number, answer: None, times: 1 }),
        }
        self.open.insert(number, request);
        number
    }

    /// A request whose answer is there; none if it has had one.
    pub(super) fn close(&mut self, request: RequestNo) -> Option<Request> {
        let closed = self.open.remove(&request)?;
        self.named -= usize::from(closed.id.is_some());
        Some(closed)
    }

    /// What sort of answer a request gets; none if it has had it.
    pub(super) fn kind(&self, request: RequestNo) -> Option<Kind> {
        self.open.get(&request).map(|request| request.kind)
    }

    /// Whether an answer without an id may leave now.
    pub(super) fn is_next(&self, request: RequestNo) -> bool {
        self.line.front().is_none_or(|first| first.request == request)
    }

    /// Whether an answer of so many bytes may wait.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.held + bytes <= MAX_HELD_BYTES
    }

    /// Gives an answer its place, and lets go of all that need not wait any more.
    pub(super) fn answer(&mut self, request: RequestNo, answer: &[u8], message: &mut dyn FnMut(&[u8])) {
        let Ok(at) = self.line.binary_search_by_key(&request, |place| place.request) else { return };
        if at == 0 {
            self.line.pop_front();
            message(answer);
            return self.release(message);
        }
        if let Some(place) = self.line.get_mut(at) {
            place.answer = Some(answer.to_vec());
            self.held += answer.len();
        }
    }

    /// A refusal's answer, in its place after all that was asked before.
    pub(super) fn refuse(&mut self, answer: &[u8], message: &mut dyn FnMut(&[u8])) {
        if self.line.is_empty() {
            return message(answer);
        }
        let full = self.is_full();
        if let Some(place) = self.line.back_mut().filter(|place| full && place.answer.as_deref() == Some(answer)) {
            if place.times < MAX_REPEATS {
                place.times += 1;
            } else {
                // Nobody who waits for answers gets here.
                message(answer);
            }
            return;
        }
        self.last += 1;
        self.held += answer.len();
        self.line.push_back(Place { request: RequestNo(self.last), answer: Some(answer.to_vec()), times: 1 });
    }

    fn release(&mut self, message: &mut dyn FnMut(&[u8])) {
        while let Some(place) = self.line.pop_front_if(|place| place.answer.is_some()) {
            let answer = place.answer.unwrap_or_default();
            self.held -= answer.len();
            (0..place.times).for_each(|_| message(&answer));
        }
    }
}
