//! What frames are, by example.

use super::super::codes;
use super::super::fault::Code;
use super::*;

fn envelope(frame: &str) -> Envelope<'_> {
    read(frame.as_bytes()).unwrap().envelope
}

fn odd(frame: &str) -> Vec<Oddity> {
    read(frame.as_bytes()).unwrap().oddities.iter().collect()
}

/// Why a frame is refused, and the answer's id and code.
fn refused(frame: &[u8]) -> (Refusal, Option<(String, i64)>) {
    let refused = read(frame).unwrap_err();
    let answer = refused.answer().map(|answer| {
        let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["error"]["message"]), (&"2.0".into(), &refused.to_string().into()));
        (answer["id"].to_string(), answer["error"]["code"].as_i64().unwrap())
    });
    (refused.why, answer)
}

fn id(json: &str) -> IdRef<'_> {
    IdRef::from_json(json).unwrap()
}

#[test]
fn the_four_kinds_are_told_apart() {
    let method = || Cow::Borrowed("m");
    assert_eq!(
        envelope(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":[1]}}"#),
        Envelope::Request { id: id("\"a\""), method: method(), params: Some(r#"{"x":[1]}"#) }
    );
    assert_eq!(
        envelope(r#"{"jsonrpc":"2.0","method":"m","params":[ 1 ]}"#),
        Envelope::Notification { method: method(), params: Some("[ 1 ]") }
    );
    assert_eq!(envelope(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), Envelope::Result { id: id("1"), result: "null" });
    let fault = Fault { code: Code::Number(-1), message: "no".to_owned(), data: Some("{}") };
    assert_eq!(
        envelope(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{}}}"#),
        Envelope::Error { id: Some(id("1")), fault: fault.clone() }
    );
    assert_eq!(
        envelope(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no","data":{}}}"#),
        Envelope::Error { id: None, fault }
    );
}

#[test]
fn ids_stay_as_they_came() {
    for raw in ["1", "\"1\"", "1.0", "-7", "1e3", "\"\\u0031\"", "null"] {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{raw},"method":"m"}}"#);
        assert_eq!(envelope(&frame), Envelope::Request { id: id(raw), method: "m".into(), params: None });
    }
}

#[test]
fn what_real_peers_do_is_borne_and_said() {
    assert_eq!(odd(r#"{"jsonrpc":"2.0","method":"m","params":null}"#), []);
    assert_eq!(odd(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#), []);
    assert_eq!(odd(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#), []);
    assert_eq!(odd(r#"{"method":"m"}"#), [Oddity::NoVersion]);
    assert_eq!(odd(r#"{"jsonrpc":2.0,"method":"m"}"#), [Oddity::OtherVersion]);
    assert_eq!(odd(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#), [Oddity::NullId]);
    assert_eq!(odd(r#"{"jsonrpc":"2.0","id":1}"#), [Oddity::NoResult]);
    assert_eq!(envelope(r#"{"jsonrpc":"2.0","id":1}"#), Envelope::Result { id: id("1"), result: "null" });
    let both = r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#;
    assert_eq!(odd(both), [Oddity::ResultAndError]);
    assert!(matches!(envelope(both), Envelope::Error { .. }));
    assert_eq!(odd(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"NO","message":"m"}}"#), [Oddity::OddError]);
    let several = read(br#"{"error":"x","id":1}"#).unwrap().oddities.to_string();
    assert_eq!(several, "\"jsonrpc\":\"2.0\" is missing; an error is not {code: integer, message: string}");
}

#[test]
fn a_reader_says_each_oddity_once() {
    let mut reader = Reader::new();
    let mut odd = |frame: &'static str| reader.read(frame.as_bytes()).unwrap().oddities.iter().collect::<Vec<_>>();
    assert_eq!(odd(r#"{"method":"m"}"#), [Oddity::NoVersion]);
    assert_eq!(odd(r#"{"method":"m"}"#), []);
    assert_eq!(odd(r#"{"id":1}"#), [Oddity::NoResult]);
}

#[test]
fn what_is_no_envelope_is_refused_and_the_peer_is_told() {
    let (why, told) = refused(b"{\"method\":");
    assert!(matches!(why, Refusal::NotJson { .. }));
    assert_eq!(told, Some(("null".to_owned(), codes::PARSE_ERROR)));
    assert!(matches!(refused(b"\xff").0, Refusal::NotJson { .. }));
    assert!(matches!(refused(b"").0, Refusal::NotJson { .. }));
    for scalar in ["1", "\"a\"", "null", "true"] {
        assert!(matches!(refused(scalar.as_bytes()).0, Refusal::NotAnObject { .. }), "{scalar}");
    }
    let null = Some(("null".to_owned(), codes::INVALID_REQUEST));
    for batch in ["[]", " [1]", r#"[{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","method":"m"}]"#] {
        assert_eq!(refused(batch.as_bytes()), (Refusal::Batch, null.clone()), "{batch}");
    }
    assert_eq!(refused(b"{}"), (Refusal::Empty, null.clone()));
    let mine = Some(("7".to_owned(), codes::INVALID_REQUEST));
    assert_eq!(refused(br#"{"id":7,"method":1}"#), (Refusal::BadMethod, mine.clone()));
    assert_eq!(refused(br#"{"id":7,"method":"m","params":1}"#), (Refusal::BadParams, mine.clone()));
    assert_eq!(refused(br#"{"id":7,"method":"m","result":1}"#), (Refusal::AsksAndAnswers, mine.clone()));
    assert_eq!(refused(br#"{"id":7,"method":"m","method":"n"}"#), (Refusal::Twice { name: "method" }, mine.clone()));
    assert_eq!(refused(br#"{"id":[7],"method":"m"}"#), (Refusal::BadId, null));
    let deep = format!(r#"{{"id":7,"method":"m","params":{}{}}}"#, "[".repeat(128), "]".repeat(128));
    assert_eq!(refused(deep.as_bytes()), (Refusal::TooDeep, mine.clone()));
    let long = format!(r#"{{"id":7,"method":"{}"}}"#, "m".repeat(MAX_METHOD_BYTES + 1));
    assert_eq!(refused(long.as_bytes()), (Refusal::BadMethod, mine));
    let huge = vec![b' '; MAX_FRAME_BYTES + 1];
    assert_eq!(refused(&huge).0, Refusal::TooLarge { size: MAX_FRAME_BYTES + 1 });
}

#[test]
fn an_answer_is_never_answered() {
    assert_eq!(refused(br#"{"id":[1],"result":1}"#), (Refusal::BadId, None));
    assert_eq!(refused(br#"{"id":null,"result":1}"#), (Refusal::BadId, None));
    assert_eq!(refused(br#"{"result":1}"#), (Refusal::BadId, None));
    assert_eq!(refused(br#"{"id":1,"id":2,"error":"x"}"#), (Refusal::Twice { name: "id" }, None));
}
