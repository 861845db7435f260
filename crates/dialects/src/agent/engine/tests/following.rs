//! Streams: order, repeats, holes, refusals, ends, silence.

use switchboard_types::{Source, Text};

use super::*;

#[test]
fn an_event_is_taken_once_with_its_own_name_and_all_that_it_says() {
    let mut stage = Stage::open(&none());
    stage.event(1, "assistant_delta", &json!({"message_id":"m","text":"a\nb"}));
    stage.event(1, "assistant_delta", &json!({"message_id":"m","text":"a\nb"}));
    let source = Source {
        id: SourceId::from("u1"),
        seq: Some(1),
        name: "assistant_delta".to_owned(),
        rest: r#"{"message_id":"m"}"#.to_owned(),
        turn: Some(1),
        at: Some(Time(5_000)),
    };
    assert_eq!(stage.said(), vec![Word::Sourced { session: S, source, said: Said::Text(Text::from("a\nb")) }]);
}

#[test]
fn an_unknown_event_is_kept_as_it_came() {
    let mut stage = Stage::open(&none());
    stage.event(1, "ctree_node", &json!({"x":[1,{"y":null}]}));
    let said = stage.said();
    let [Word::Sourced { source, said: Said::Nothing, .. }] = &said[..] else { panic!("{said:?}") };
    assert_eq!((source.name.as_str(), source.rest.as_str()), ("ctree_node", r#"{"x":[1,{"y":null}]}"#));
}

#[test]
fn a_stream_that_breaks_is_read_on_from_the_last_event_ever_later() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    stage.text(2);
    stage.words.clear();
    for (attempt, wait) in [250, 1_000, 2_000, 5_000, 5_000].into_iter().enumerate() {
        stage.hear(Heard::Ended(StreamEnd::Broken("reset".to_owned())));
        let opens = stage.opens();
        stage.pass(wait - 1);
        assert_eq!(stage.opens(), opens, "attempt {attempt} came too early");
        stage.pass(1);
        assert_eq!(stage.opens(), opens + 1, "attempt {attempt} did not come");
        assert_eq!(stage.last_open(), ("/v1/sessions/e1/events".to_owned(), Some("u2".to_owned())));
    }
    let way = stage.way();
    let retries: Vec<u32> =
        way.iter().filter(|way| way.status == ConnectionStatus::Error).map(|way| way.retries).collect();
    assert_eq!(retries, [1, 2, 3, 4, 5]);
    assert_eq!(way[0].last_error.as_deref(), Some("reset"));
    stage.opened();
    stage.text(3);
    assert_eq!(statuses(&stage.way()).last(), Some(&(ConnectionStatus::Connected, 0, false)));
    stage.hear(Heard::Ended(StreamEnd::Broken("reset".to_owned())));
    let opens = stage.opens();
    stage.pass(250);
    assert_eq!(stage.opens(), opens + 1, "an event makes the wait short again");
}

#[test]
fn a_hole_is_healed_by_reading_again_and_nothing_is_doubled() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    stage.text(4);
    assert_eq!(stage.last_open(), ("/v1/sessions/e1/events?replay=true".to_owned(), None));
    assert_eq!(stage.taken(), vec![Ok(1)]);
    stage.opened();
    assert_eq!(statuses(&stage.way()).last(), Some(&(ConnectionStatus::Connected, 0, true)));
    (1..=5).for_each(|seq| stage.text(seq));
    let words = stage.words.clone();
    assert_eq!(stage.taken(), [2, 3, 4, 5].map(Ok));
    stage.words = words;
    assert_eq!(statuses(&stage.way()).last(), Some(&(ConnectionStatus::Connected, 0, false)));
}

#[test]
fn a_hole_that_stays_is_told_before_what_follows_it() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    stage.text(4);
    stage.opened();
    [1, 4, 5].into_iter().for_each(|seq| stage.text(seq));
    assert_eq!(stage.taken(), vec![Ok(1), Err((Some(2), Some(3))), Ok(4), Ok(5)]);
    stage.pass(11_000);
    assert_eq!(statuses(&stage.way()).last(), Some(&(ConnectionStatus::Connected, 0, false)));
}

#[test]
fn neighbours_in_the_wrong_order_come_in_the_right_one() {
    let mut stage = Stage::open(&none());
    [1, 3, 2].into_iter().for_each(|seq| {
        if stage.stream.is_some() {
            stage.text(seq)
        }
    });
    stage.opened();
    (1..=4).for_each(|seq| stage.text(seq));
    assert_eq!(stage.taken(), [1, 2, 3, 4].map(Ok));
}

#[test]
fn an_engine_that_skips_all_the_time_is_not_asked_all_the_time() {
    let mut stage = Stage::open(&none());
    let opens = stage.opens();
    for round in 0..20_u64 {
        if stage.stream.is_none() {
            stage.pass(5_000);
            stage.opened();
        }
        stage.text(round * 10 + 1);
        if stage.stream.is_some() {
            stage.text(round * 10 + 5);
        }
    }
    assert!(stage.opens() - opens <= 21, "{} streams", stage.opens() - opens);
}

#[test]
fn a_window_that_is_exceeded_is_a_gap_and_the_stream_goes_on_with_what_there_is() {
    let mut stage = Stage::known(&none());
    stage.ask(open(Some("e1"), Elsewhere { upstream: Some(upstream(5)), ..Elsewhere::default() }));
    assert_eq!(stage.last_open(), ("/v1/sessions/e1/events".to_owned(), Some("u5".to_owned())));
    let body = json!({"code":"resume_window_exceeded","first_seq":9,"last_seq":11});
    stage.hear(Heard::Ended(StreamEnd::Refused(Response { status: 409, body: Bytes::from(body.to_string()) })));
    assert_eq!(stage.last_open(), ("/v1/sessions/e1/events?replay=true".to_owned(), None));
    stage.opened();
    [9, 10, 11, 12].into_iter().for_each(|seq| stage.text(seq));
    assert_eq!(stage.taken(), vec![Err((Some(6), Some(8))), Ok(9), Ok(10), Ok(11), Ok(12)]);
}

#[test]
fn an_unknown_cursor_costs_nothing_where_the_engine_still_has_what_follows() {
    let mut stage = Stage::known(&none());
    stage.ask(open(Some("e1"), Elsewhere { upstream: Some(upstream(5)), ..Elsewhere::default() }));
    let body = json!({"detail": {"code":"resume_window_exceeded","first_seq":1,"last_seq":7}});
    stage.hear(Heard::Ended(StreamEnd::Refused(Response { status: 409, body: Bytes::from(body.to_string()) })));
    stage.opened();
    (1..=8).for_each(|seq| stage.text(seq));
    assert_eq!(stage.taken(), [6, 7, 8].map(Ok));
}

#[test]
fn a_log_that_has_begun_anew_is_a_gap_and_is_read_whole() {
    for body in [json!({"first_seq":1,"last_seq":3}), json!({})] {
        let mut stage = Stage::known(&none());
        stage.ask(open(Some("e1"), Elsewhere { upstream: Some(upstream(5)), ..Elsewhere::default() }));
        stage.hear(Heard::Ended(StreamEnd::Refused(Response { status: 409, body: Bytes::from(body.to_string()) })));
        stage.opened();
        (1..=3).for_each(|seq| stage.text(seq));
        let taken = stage.taken();
        assert_eq!(taken[0], Err((None, None)), "{body}");
        // Without numbers nobody can know that the log is another one until it shows.
        assert_eq!(taken.len(), if body == json!({}) { 1 } else { 4 }, "{body}");
    }
}

#[test]
fn another_event_under_the_same_number_means_that_the_log_is_another_one() {
    let mut stage = Stage::known(&none());
    stage.ask(open(Some("e1"), Elsewhere { upstream: Some(upstream(2)), ..Elsewhere::default() }));
    let body = json!({"first_seq":1,"last_seq":3});
    stage.hear(Heard::Ended(StreamEnd::Refused(Response { status: 409, body: Bytes::from(body.to_string()) })));
    stage.opened();
    let other = |seq: u64| {
        let body = json!({"id": format!("new{seq}"), "seq": seq, "type": "x", "payload": {}});
        Heard::Event(SseEvent { data: Bytes::from(body.to_string()), ..SseEvent::default() })
    };
    stage.hear(other(1));
    stage.hear(other(2));
    stage.pass(1_000);
    stage.opened();
    (1..=3).for_each(|seq| stage.hear(other(seq)));
    assert_eq!(stage.taken(), vec![Err((None, None)), Ok(1), Ok(2), Ok(3)]);
}

#[test]
fn an_engine_that_refuses_even_to_begin_again_is_an_error_and_no_loop() {
    let mut stage = Stage::known(&none());
    stage.ask(open(Some("e1"), Elsewhere { upstream: Some(upstream(5)), ..Elsewhere::default() }));
    let refused = || Response { status: 409, body: Bytes::from_static(b"{}") };
    let opens = stage.opens();
    for _ in 0..10 {
        stage.hear(Heard::Ended(StreamEnd::Refused(refused())));
        stage.pass(5_000);
    }
    assert_eq!(stage.opens() - opens, 10);
    assert_eq!(stage.taken(), vec![Err((None, None))], "the gap is told once");
}

#[test]
fn a_clean_end_is_no_error_and_no_loop() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    stage.words.clear();
    let opens = stage.opens();
    for _ in 0..6 {
        stage.hear(Heard::Ended(StreamEnd::Clean));
        stage.answer("/v1/sessions/e1", 200, &json!({"status":"running"}));
        stage.pass(5_000);
        stage.opened();
    }
    assert_eq!(stage.opens() - opens, 6);
    let way = stage.way();
    assert!(way.iter().all(|way| way.status != ConnectionStatus::Error && way.retries == 0), "{way:?}");
}

#[test]
fn a_session_that_is_over_is_left_alone_until_it_is_asked() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    stage.hear(Heard::Ended(StreamEnd::Clean));
    stage.answer("/v1/sessions/e1", 200, &json!({"status":"completed"}));
    let opens = stage.opens();
    stage.pass(600_000);
    assert_eq!(stage.opens(), opens);
    stage.ask(prompt("t1", "go on"));
    assert_eq!((stage.opens(), stage.last_open().1.as_deref()), (opens + 1, Some("u1")));
}

#[test]
fn silence_after_a_sign_of_life_means_that_the_link_is_dead() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    let opens = stage.opens();
    stage.pass(3_600_000);
    assert_eq!(stage.opens(), opens, "without signs of life silence says nothing");
    stage.hear(Heard::Comment);
    stage.pass(44_999);
    assert!(stage.stream.is_some());
    stage.pass(1);
    assert!(stage.stream.is_none());
    let told = stage.way();
    assert!(told.last().unwrap().last_error.as_deref().unwrap().contains("45 s"), "{told:?}");
    stage.pass(250);
    assert_eq!(stage.opens(), opens + 1);
}

#[test]
fn a_turn_without_a_word_has_its_stream_opened_again() {
    let mut stage = Stage::open(&none());
    stage.ask(prompt("t1", "hi"));
    stage.answer("/v1/sessions/e1/input", 202, &json!({}));
    let opens = stage.opens();
    stage.pass(120_300);
    assert_eq!(stage.opens(), opens + 1);
}

#[test]
fn a_session_that_the_engine_has_lost_is_told_and_ended() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    stage.words.clear();
    stage.hear(Heard::Ended(StreamEnd::Broken("reset".to_owned())));
    stage.pass(250);
    stage.hear(Heard::Ended(StreamEnd::Refused(Response { status: 404, body: Bytes::new() })));
    let said = stage.said();
    assert!(matches!(said[0], Word::Gap { from: None, to: None, .. }), "{said:?}");
    assert!(matches!(said[1], Word::SessionEnded { .. }), "{said:?}");
    stage.ask(Ask::OpenSession {
        session: S,
        cwd: WorkspaceRoot::from("/w"),
        resume: None,
        past: Past::Spoken,
        elsewhere: Some(Box::new(Elsewhere { upstream: Some(upstream(1)), ..Elsewhere::default() })),
    });
    stage.answer("/v1/sessions", 201, &json!({"session_id":"e2"}));
    stage.opened();
    stage.text(1);
    assert_eq!(stage.taken(), vec![Ok(1)], "a new session there is read from its start");
}

#[test]
fn noise_on_a_stream_is_said_to_be_noise_and_harms_nothing() {
    let mut stage = Stage::open(&none());
    stage.text(1);
    let stream = stage.stream.unwrap();
    for data in ["garbage", "[]", "{}", "{\"type\":\"x\"}", "\u{0}"] {
        let event = SseEvent { data: Bytes::copy_from_slice(data.as_bytes()), ..SseEvent::default() };
        assert!(stage.engine.heard(stage.now, stream, Heard::Event(event)).is_err(), "{data}");
    }
    stage.text(2);
    assert_eq!(stage.taken(), [1, 2].map(Ok));
}
