//! Streams of events: resumed, replayed, live, shared, slow, and ended.

use serde_json::{Value, json};

use super::caller::{Caller, answer_in, contiguous};
use super::host::Place;

fn id(event: &Value) -> &str {
    event["id"].as_str().unwrap()
}

#[test]
fn a_stream_goes_on_after_any_event_and_over_a_restart_without_a_seam() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: fast 50" })).expect(202);
    let all = caller.events(&session, "?replay=true", None).unwrap().until("run_finished");
    assert_eq!(contiguous(&all).0, 1);
    for at in [0, 1, all.len() / 2, all.len() - 2] {
        let by_header = caller.events(&session, "", Some(id(&all[at]))).unwrap().until("run_finished");
        assert_eq!(by_header, all[at + 1..]);
        let query = format!("?from_id={}", id(&all[at]));
        assert_eq!(caller.events(&session, &query, None).unwrap().until("run_finished"), by_header);
        // A browser that reconnects asks for the same address again.
        assert_eq!(
            caller.events(&session, "?replay=true", Some(id(&all[at]))).unwrap().until("run_finished"),
            by_header
        );
    }
    host.kill_9();
    let host = place.serve();
    let caller = Caller::new(&host);
    let again = caller.events(&session, "?replay=true", None).unwrap().until("run_finished");
    assert_eq!(again, all, "the same events with the same ids");
}

#[test]
fn without_a_cursor_only_what_is_new_comes() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: echo old" })).expect(202);
    let old = caller.events(&session, "?replay=true", None).unwrap().until("run_finished");
    let mut live = caller.events(&session, "", None).unwrap();
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: echo new" })).expect(202);
    let new = live.until("run_finished");
    assert_eq!(answer_in(&new), "new");
    assert_eq!(contiguous(&new).0, contiguous(&old).1 + 1);
}

#[test]
fn a_cursor_that_the_log_cannot_honour_is_a_conflict_that_says_what_there_is() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: echo x" })).expect(202);
    let all = caller.events(&session, "?replay=true", None).unwrap().until("run_finished");
    let (epoch, last) = id(all.last().unwrap()).split_once(':').unwrap();
    let beyond = format!("{epoch}:{}", last.parse::<u64>().unwrap() + 1);
    let other_life = format!("{:016x}:1", u64::from_str_radix(epoch, 16).unwrap() ^ 1);
    for cursor in [beyond.as_str(), &other_life, "17", "8c7a6f1e-uuid", "?"] {
        for (query, header) in
            [(format!("?from_id={}", cursor.replace('?', "%3F")), None), (String::new(), Some(cursor))]
        {
            let refused = caller.events(&session, &query, header).err().unwrap().expect(409);
            assert_eq!(refused["code"], "resume_window_exceeded", "{cursor}");
            assert_eq!(
                (&refused["first_seq"], &refused["last_seq"]),
                (&json!(1), &json!(last.parse::<u64>().unwrap()))
            );
        }
    }
    assert_eq!(caller.events("/v1/sessions/999", "", None).err().unwrap().expect(404)["code"], "not_found");
    assert_eq!(caller.events("/v1/sessions/999", "", Some("17")).err().unwrap().expect(404)["code"], "not_found");
    assert_eq!(caller.events(&session, "?replay=maybe", None).err().unwrap().expect(400)["code"], "bad_request");
}

#[test]
fn readers_do_not_disturb_each_other_and_one_that_does_not_read_costs_nobody() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    // Nobody reads from this one until the end.
    let mut slow = caller.events(&session, "?replay=true", None).unwrap();
    let mut quick = caller.events(&session, "?replay=true", None).unwrap();
    caller.post(&format!("{session}/input"), &json!({ "content": "demo: flood 8" })).expect(202);
    let first = quick.until("run_finished");
    assert!(answer_in(&first).len() >= 8 * 1024 * 1024);
    assert_eq!(slow.until("run_finished"), first);
    assert_eq!(contiguous(&first).0, 1);
}

#[test]
fn a_stream_says_that_it_is_there_and_ends_with_the_host() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    let mut stream = caller.events(&session, "", None).unwrap();
    // The first comes at once, the second when it was silent for fifteen seconds.
    let reader = std::thread::spawn(move || {
        while stream.next().is_some() {}
        stream.comments
    });
    super::host::eventually("a sign of life, then the end", || {
        host.get("/metrics", &host.bearer()).body().contains("switchboard_view_links_open 1")
    });
    assert_eq!(host.stop(), Some(0));
    let comments = reader.join().unwrap();
    assert_eq!(comments.first().map(String::as_str), Some("switchboard"));
    assert!(comments.last().unwrap().contains("ended this stream"), "{comments:?}");
}

#[test]
fn what_belongs_to_no_turn_has_none_and_unknown_things_have_names() {
    let place = Place::new();
    let host = place.serve();
    let caller = Caller::new(&host);
    let session = caller.open();
    caller.post(&format!("{session}/input"), &json!({ "content": "hello" })).expect(202);
    let events = caller.events(&session, "?replay=true", None).unwrap().until("run_finished");
    assert_eq!((&events[0]["type"], &events[0]["turn"]), (&json!("switchboard.session_opened"), &Value::Null));
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    for kind in ["user_message", "turn_start", "assistant.reasoning.delta", "switchboard.plan", "assistant_delta"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
}
