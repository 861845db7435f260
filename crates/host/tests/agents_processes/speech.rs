//! What agents say and hear: all of it, in order, whatever its shape, and at the pace of who listens.

use switchboard_host::link::{AgentInput, AgentOrder, EndHow};
use switchboard_types::{Ask, SessionId};

use super::stage::{Stage, ask, is_done, open, patient, quick, soon, text, trouble, until};

#[tokio::test]
async fn a_turn_of_the_demo_agent_reaches_the_host_whole() {
    let mut stage = Stage::new(quick(), 4);
    let orders = stage.demo("demo: fast 5000").await;
    let words = stage.until(is_done).await;
    let expected: String = (1..=5000).map(|number| format!("{number} ")).collect();
    assert_eq!(text(&words), expected);
    orders.send(ask("demo: echo again")).await.unwrap();
    assert_eq!(text(&stage.until(is_done).await), "again");
}

#[tokio::test]
async fn a_line_of_ten_megabytes_is_one_word() {
    let mut stage = Stage::new(quick(), 4);
    let _orders = stage.demo("demo: long 10").await;
    let said = text(&stage.until(is_done).await);
    assert_eq!(said.len(), 10 * 1024 * 1024 + "That was a long line.".len());
}

#[tokio::test]
async fn a_line_over_the_limit_is_skipped_and_the_next_is_heard() {
    let mut stage = Stage::new(quick(), 4);
    let _orders = stage.demo("demo: long 20").await;
    assert_eq!(text(&stage.until(is_done).await), "That was a long line.");
}

#[tokio::test]
async fn noise_is_skipped_and_the_answer_is_heard() {
    let mut stage = Stage::new(quick(), 4);
    let _orders = stage.demo("demo: garbage").await;
    assert_eq!(text(&stage.until(is_done).await), "After all the noise, an answer.");
}

#[tokio::test]
async fn a_last_line_without_its_end_still_counts_and_half_a_message_does_not() {
    let mut stage = Stage::new(quick(), 4);
    let script = r#"printf '{"type":"error","message":"whole"}\n{"type":"error","message":"unended"}'"#;
    let _orders = stage.script(script);
    let (words, message) = stage.hear_out().await;
    assert_eq!(words, vec![trouble("whole"), trouble("unended")]);
    assert_eq!(message, "agent `x` exited with code 0");
    let _orders = stage.demo("demo: half").await;
    let (words, message) = stage.hear_out().await;
    assert_eq!(text(&words), "The next line is ");
    assert_eq!(message, "agent `demo` exited with code 0");
}

#[tokio::test]
async fn all_words_come_before_the_end_and_its_last_words_explain_it() {
    let mut stage = Stage::new(patient(), 1);
    let _orders = stage.demo("demo: crash 2000").await;
    let (words, message) = stage.hear_out().await;
    let expected: String = (1..=2000).map(|number| format!("{number} ")).collect();
    assert_eq!(text(&words), expected);
    assert_eq!(message, "agent `demo` exited with code 3; its last words: demo agent: I was told to crash");
}

#[tokio::test]
async fn a_flood_on_the_error_output_stops_nobody() {
    let mut stage = Stage::new(patient(), 4);
    let script = r#"i=0; while [ $i -lt 20000 ]; do echo "noise $i" >&2; i=$((i+1)); done
        echo '{"type":"error","message":"done"}'; exit 4"#;
    let _orders = stage.script(script);
    let (words, message) = stage.hear_out().await;
    assert_eq!(words, vec![trouble("done")]);
    assert!(message.starts_with("agent `x` exited with code 4; its last words: noise 19980\n"), "{message}");
    assert!(message.ends_with("\nnoise 19999"), "{message}");
}

#[tokio::test]
async fn error_output_reaches_the_host_line_by_line_escaped_and_before_the_end() {
    let mut stage = Stage::new(patient(), 4);
    let script =
        r#"printf 'first\nsec' >&2; echo '{"type":"error","message":"a word"}'; printf 'ond\n\n\033[31mred\nlast' >&2"#;
    let _orders = stage.script(script);
    let (words, errors, message) = stage.hear_all().await;
    assert_eq!(words, vec![trouble("a word")]);
    assert_eq!(errors, ["first", "second", "\\u{1b}[31mred", "last"]);
    assert!(message.ends_with("; its last words: first\nsecond\n\\u{1b}[31mred\nlast"), "{message}");
}

#[tokio::test]
async fn an_endless_flood_on_the_error_output_does_not_starve_its_words() {
    let mut stage = Stage::new(quick(), 1);
    let script = r#"while :; do echo noise >&2; done & flood=$!; i=0
        while [ $i -lt 100 ]; do i=$((i+1)); echo '{"type":"error","message":"'$i'"}'; done; read -r line; kill $flood; exit 5"#;
    let orders = stage.script(script);
    let words = stage.until(|word| *word == trouble("100")).await;
    assert_eq!(words.len(), 100);
    orders.send(open(stage.workspace())).await.unwrap();
    let (_, errors, message) = stage.hear_all().await;
    assert!(message.starts_with("agent `x` exited with code 5"), "{message}");
    let odd: Vec<_> = errors.iter().filter(|line| *line != "noise" && !line.contains("are left out here")).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[tokio::test]
async fn an_agent_is_not_read_faster_than_the_host_takes_its_words_and_can_be_ended_meanwhile() {
    let mut stage = Stage::new(quick(), 2);
    let orders = stage.script(r#"while :; do echo '{"type":"error","message":"more"}'; done"#);
    until(|| (stage.inbox.len() == 2).then_some(())).await;
    orders.send(AgentOrder::End(EndHow::AtOnce)).await.unwrap();
    soon(orders.closed()).await;
    let (words, message) = stage.hear_out().await;
    // What was in the pipe and in one read; far from what it could have said.
    assert!(words.len() < 100_000, "{}", words.len());
    assert_eq!(message, "agent `x` was ended by the host: it was ended by signal 9 (SIGKILL)");
}

#[tokio::test]
async fn nothing_is_lost_while_the_host_takes_no_words() {
    let mut stage = Stage::new(patient(), 1);
    let script = r#"i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo '{"type":"error","message":"'$i'"}'
        [ $i = 1000 ] && echo $i > progress; done; exit 0"#;
    let _orders = stage.script(script);
    // The inbox is full with the news of the start, so these lines wait in the pipe.
    assert_eq!(stage.number_in("progress").await, 1000);
    let (words, _) = stage.hear_out().await;
    assert_eq!(words, (1..=20_000).map(|number| trouble(&number.to_string())).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_agent_that_does_not_read_is_ended_with_that_message() {
    let mut stage = Stage::new(quick(), 16);
    let orders = stage.script("exec sleep 1000");
    for number in 0..20_000 {
        let session = SessionId(number);
        let ask = AgentOrder::Ask(Ask::open(session, stage.workspace()));
        if orders.send(ask).await.is_err() {
            break;
        }
    }
    let (_, message) = stage.hear_out().await;
    assert_eq!(message, "agent `x` does not read its input and was ended");
}

#[tokio::test]
async fn an_agent_that_closes_its_output_is_ended() {
    let mut stage = Stage::new(quick(), 16);
    let _orders = stage.script("exec >&-; exec sleep 1000");
    let (_, message) = stage.hear_out().await;
    assert_eq!(message, "agent `x` closed its output without exiting and was ended");
}

#[tokio::test]
async fn an_agent_that_closes_its_input_is_ended_when_it_is_asked() {
    let mut stage = Stage::new(quick(), 16);
    let orders = stage.script(r#"exec <&-; echo '{"type":"error","message":"deaf"}'; exec sleep 1000"#);
    stage.until(|_| true).await;
    orders.send(open(stage.workspace())).await.unwrap();
    let (_, message) = stage.hear_out().await;
    assert_eq!(message, "agent `x` closed its input without exiting and was ended");
}

#[tokio::test]
async fn two_lives_do_not_mix() {
    let mut stage = Stage::new(quick(), 16);
    let spec = super::stage::plain(["/bin/sh", "-c", "exit 0"]);
    let lives = [1, 2].map(switchboard_types::LifeId);
    let _orders = lives.map(|life| stage.agents.spawn(life, &spec, &stage.workspace()));
    let mut seen = Vec::new();
    for _ in 0..4 {
        match stage.next().await {
            AgentInput::Started { life } => seen.push((life, "started")),
            AgentInput::Ended { life, .. } => seen.push((life, "ended")),
            AgentInput::Words { .. } | AgentInput::Stderr { .. } | AgentInput::Taped { .. } => {
                panic!("it says nothing")
            }
        }
    }
    for life in lives {
        let own: Vec<_> = seen.iter().filter(|(of, _)| *of == life).map(|(_, what)| *what).collect();
        assert_eq!(own, ["started", "ended"]);
    }
}
