//! What holds for JSON-RPC whatever the peer does: every request gets exactly one answer, what is written is read again, and
//! nothing panics. Never names an example.

#![expect(clippy::unwrap_used, reason = "all of this is test code")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_dialects::jsonrpc::{
    Code, Debt, Envelope, Failure, Owed, Pending, Reader, Refusal, Stray, codes, read, write,
};

const MAX_OPEN: usize = 4;

/// What a peer, or we, may do next. Ids and places are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    WeAsk,
    /// The peer answers under an id, asked for or not, once or again.
    PeerAnswers {
        id: u8,
        fails: bool,
    },
    PeerAsks {
        id: String,
    },
    WeAnswer {
        which: usize,
        fails: bool,
    },
    WeGiveUp {
        id: u8,
    },
    PeerDies,
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("\"1\"".to_owned()),
        Just("1.0".to_owned()),
        Just("null".to_owned()),
        (2..9_u8).prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| json!(text).to_string()),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::WeAsk),
        4 => (0..12_u8, any::<bool>()).prop_map(|(id, fails)| Step::PeerAnswers { id, fails }),
        4 => any_id().prop_map(|id| Step::PeerAsks { id }),
        4 => (any::<usize>(), any::<bool>()).prop_map(|(which, fails)| Step::WeAnswer { which, fails }),
        1 => (0..12_u8).prop_map(|id| Step::WeGiveUp { id }),
        1 => Just(Step::PeerDies),
    ]
}

/// Both books of one peer, beside the simplest account of what they should say.
struct Books {
    pending: Pending<u64>,
    owed: Owed,
    debts: Vec<Debt>,
    /// How often each of our requests came to its end.
    ends: BTreeMap<u64, usize>,
    asked: u64,
    /// How many answers each id of the peer is to get, and has got.
    wanted: BTreeMap<String, usize>,
    given: BTreeMap<String, usize>,
}

impl Books {
    fn new() -> Self {
        Self {
            pending: Pending::with_max(MAX_OPEN),
            owed: Owed::with_max(MAX_OPEN),
            debts: Vec::new(),
            ends: BTreeMap::new(),
            asked: 0,
            wanted: BTreeMap::new(),
            given: BTreeMap::new(),
        }
    }

    fn open(&self) -> usize {
        self.ends.values().filter(|ends| **ends == 0).count()
    }

    fn end(&mut self, request: u64) {
        *self.ends.get_mut(&request).unwrap() += 1;
    }

    fn ask(&mut self) {
        match self.pending.open(self.asked + 1) {
            Ok(id) => {
                self.asked += 1;
                assert_eq!(id.number(), self.asked);
                self.ends.insert(self.asked, 0);
            }
            Err(full) => assert_eq!((full.refused, self.open()), (self.asked + 1, MAX_OPEN)),
        }
    }

    fn peer_answers(&mut self, id: u8, fails: bool) {
        let (id, before) = (u64::from(id), self.pending.len());
        let member = if fails { r#""error":{"code":-1,"message":"no"}"# } else { r#""result":{}"# };
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},{member}}}"#);
        let read = read(frame.as_bytes()).unwrap();
        let (Envelope::Result { id: named, .. } | Envelope::Error { id: Some(named), .. }) = read.envelope else {
            panic!("{frame} is no answer")
        };
        match self.pending.take(named) {
            Ok(waiting) => {
                assert_eq!(waiting, id);
                self.end(id);
            }
            Err(Stray::Unknown { .. }) => assert!(id == 0 || id > self.asked),
            Err(Stray::Again { .. }) => assert_eq!(self.ends[&id], 1),
        }
        assert_eq!(self.pending.len() + usize::from(before > self.open()), before);
    }

    fn peer_asks(&mut self, id: &str) {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let Envelope::Request { id: named, .. } = read(frame.as_bytes()).unwrap().envelope else { panic!("{frame}") };
        *self.wanted.entry(id.to_owned()).or_default() += 1;
        match self.owed.accept(named) {
            Ok(debt) => self.debts.push(debt),
            Err(refused) => {
                let taken = self.debts.iter().any(|debt| debt.id().as_json() == id);
                assert_eq!(matches!(refused.why, Refusal::IdTaken { .. }), taken);
                assert!(taken || self.debts.len() == MAX_OPEN);
                self.count(&refused.answer().unwrap());
            }
        }
    }

    fn answer(&mut self, which: usize, fails: bool) {
        if self.debts.is_empty() {
            return;
        }
        let debt = self.debts.swap_remove(which % self.debts.len());
        let answer = if fails {
            self.owed.error(debt, &Failure::new(codes::INTERNAL_ERROR, "no"))
        } else {
            self.owed.result(debt, &json!({}))
        };
        self.count(&answer);
    }

    /// Reads an answer of ours as the peer would.
    fn count(&mut self, answer: &[u8]) {
        let text = std::str::from_utf8(answer).unwrap();
        let fields: BTreeMap<&str, &serde_json::value::RawValue> = serde_json::from_str(text).unwrap();
        *self.given.entry(fields["id"].get().to_owned()).or_default() += 1;
    }

    fn end_all(&mut self) {
        for (_, request) in self.pending.take_all() {
            self.end(request);
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::WeAsk => self.ask(),
            Step::PeerAnswers { id, fails } => self.peer_answers(id, fails),
            Step::PeerAsks { id } => self.peer_asks(&id),
            Step::WeAnswer { which, fails } => self.answer(which, fails),
            Step::WeGiveUp { id } => {
                let known = self.pending.iter().find(|(open, _)| open.number() == u64::from(id)).map(|(open, _)| open);
                if let Some(request) = known.and_then(|open| self.pending.abandon(open)) {
                    self.end(request);
                }
            }
            Step::PeerDies => self.end_all(),
        }
        assert_eq!((self.pending.len(), self.owed.len()), (self.open(), self.debts.len()));
        assert!(self.pending.len() <= MAX_OPEN && self.owed.len() <= MAX_OPEN);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{0,4}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// Text that is nearly an envelope.
fn near_envelope() -> impl Strategy<Value = String> {
    let names = proptest::sample::select(&["jsonrpc", "id", "method", "params", "result", "error", "x"][..]);
    let value = prop_oneof![
        Just("\"2.0\"".to_owned()),
        Just("{\"code\":-32000,\"message\":\"m\"}".to_owned()),
        any_id(),
        any_value().prop_map(|value| value.to_string()),
        "[\\[\\]{}\",:0-9a-z\\\\ ]{0,8}",
    ];
    let members = proptest::collection::vec((names, value), 0..7);
    members.prop_map(|members| {
        let members: Vec<_> = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

/// Whatever is read is made of the frame's own bytes, and a refusal's answer is JSON that we would read ourselves.
fn reads(frame: &[u8]) {
    match Reader::new().read(frame) {
        Ok(read) => {
            let raw = match read.envelope {
                Envelope::Request { id, params, .. } => vec![Some(id.as_json()), params],
                Envelope::Notification { params, .. } => vec![params],
                Envelope::Result { id, result } => {
                    let left_out = result == "null";
                    vec![Some(id.as_json()), (!left_out).then_some(result)]
                }
                Envelope::Error { id, fault } => vec![id.map(|id| id.as_json()), fault.data],
            };
            for part in raw.into_iter().flatten() {
                assert!(frame.as_ptr_range().contains(&part.as_ptr()));
                serde_json::from_str::<serde::de::IgnoredAny>(part).unwrap();
            }
        }
        Err(refused) => {
            if let Some(answer) = refused.answer() {
                assert!(matches!(read(&answer).unwrap().envelope, Envelope::Error { .. }));
            }
        }
    }
}

proptest! {
    #[test]
    fn every_request_gets_exactly_one_answer(steps in proptest::collection::vec(any_step(), 0..200)) {
        let mut books = Books::new();
        for step in steps {
            books.step(step);
        }
        books.end_all();
        while !books.debts.is_empty() {
            books.answer(0, false);
        }
        prop_assert!(books.ends.values().all(|ends| *ends == 1));
        prop_assert_eq!(&books.wanted, &books.given);
    }

    #[test]
    fn what_we_write_is_read_again(method in "[a-zA-Z$/é\"\\\\]{1,40}", params in any_value(), id in any_id()) {
        let named = params.is_object() || params.is_array();
        match write::notification(&method, &params) {
            Ok(frame) => {
                let read = read(&frame).unwrap();
                prop_assert!(read.oddities.is_empty());
                let Envelope::Notification { method: read_method, params: raw } = read.envelope else {
                    return Err(TestCaseError::fail("no notification"));
                };
                prop_assert_eq!(&*read_method, &*method);
                prop_assert_eq!(raw.map(|raw| serde_json::from_str(raw).unwrap()), named.then(|| params.clone()));
            }
            Err(_) => prop_assert!(!named && !params.is_null()),
        }
        let question = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let Envelope::Request { id: named, .. } = read(question.as_bytes()).unwrap().envelope else { panic!() };
        let mut owed = Owed::with_max(1);
        let debt = owed.accept(named).unwrap();
        let answer = owed.result(debt, &params);
        if id != "null" {
            let Envelope::Result { id: answered, result } = read(&answer).unwrap().envelope else { panic!() };
            prop_assert_eq!((answered.as_json(), serde_json::from_str::<Value>(result).unwrap()), (&*id, params.clone()));
        }
        let debt = owed.accept(named).unwrap();
        let failure = Failure::new(-32003, method.clone()).with_data(params.clone());
        let answer = owed.error(debt, &failure);
        let Envelope::Error { id: answered, fault } = read(&answer).unwrap().envelope else { panic!() };
        prop_assert_eq!(answered.map(|id| id.as_json().to_owned()), (id != "null").then_some(id));
        prop_assert_eq!((fault.code, fault.message), (Code::Number(-32003), method));
        let data = fault.data.map_or(Value::Null, |data| serde_json::from_str(data).unwrap());
        prop_assert_eq!(data, params);
    }

    #[test]
    fn nothing_panics_on_bytes(frame in proptest::collection::vec(any::<u8>(), 0..200)) {
        reads(&frame);
    }

    #[test]
    fn nothing_panics_on_what_is_nearly_an_envelope(frame in near_envelope(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        reads(frame.as_bytes());
        let mut frame = frame.into_bytes();
        let at = at.index(frame.len());
        frame[at] = byte;
        reads(&frame);
    }
}
