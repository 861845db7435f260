//! Lives of real processes that speak in frames with a header, by a dialect made for these tests.

use bytes::Bytes;
use switchboard_dialects::agent::Noise;
use switchboard_dialects::framing::FramingKind;
use switchboard_types::{Time, Word};

use super::*;
use crate::agents::children::Children;

/// Each message is a word; it is greeted first and told to go last.
struct Framed;

impl AgentDialect for Framed {
    fn framing(&self) -> FramingKind {
        FramingKind::ContentLength
    }

    fn begin(&mut self, _now: Time, messages: &mut Vec<Vec<u8>>) {
        messages.push(b"hello".to_vec());
    }

    fn read(&mut self, _now: Time, frame: &Bytes, said: &mut Vec<Word>) -> Result<(), Noise> {
        let message = String::from_utf8_lossy(frame).into_owned();
        if message == "nonsense" {
            return Err(Noise { reason: "it is nonsense".to_owned() });
        }
        said.push(Word::Trouble { message });
        Ok(())
    }

    fn ask(&mut self, _now: Time, _ask: Ask, _messages: &mut Vec<Vec<u8>>) {}

    fn farewell(&mut self, messages: &mut Vec<Vec<u8>>) {
        messages.push(b"go".to_vec());
    }
}

struct Scene {
    _data: tempfile::TempDir,
    /// What it started would die with it.
    _spawner: Spawner,
    orders: mpsc::Sender<AgentOrder>,
    inbox: mpsc::Receiver<AgentInput>,
    ended: tokio::task::JoinHandle<String>,
    _stop: watch::Sender<bool>,
}

async fn scene(script: &str, graces: Graces) -> Scene {
    let data = tempfile::tempdir().unwrap();
    let spawner = Spawner::start(tokio::runtime::Handle::current(), Children::within(data.path()).unwrap()).unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    let born = spawner.clone().spawn(command, Vec::new(), "x".to_owned()).await.unwrap();
    let ((heard, inbox), (orders, ordered)) = (mpsc::channel(64), mpsc::channel(64));
    let (_stop, stop) = watch::channel(false);
    let around = Around {
        inbox: heard,
        orders: ordered,
        stop,
        clock: Clock::start(),
        graces,
        taping: Taping::Off,
        secrets: Secrets::within(std::path::Path::new("/nowhere")),
        data: "/nowhere".into(),
        shelf: std::sync::Arc::default(),
    };
    let spec = AgentSpec::demo(Path::new("/x"));
    let life = Life::new(LifeId(1), &spec, born, Box::new(Framed), around);
    Scene { _data: data, _spawner: spawner, orders, inbox, ended: tokio::spawn(life.run()), _stop }
}

fn patient() -> Graces {
    let long = Duration::from_secs(60);
    Graces { bidden_farewell: long, input_closed: long, terminated: long, left_behind: long, drained: long }
}

/// All that it says, and the message about its end.
async fn hear_out(scene: Scene) -> (Vec<String>, String) {
    let Scene { mut inbox, ended, orders, _spawner, .. } = scene;
    let mut said = Vec::new();
    while let Some(input) = inbox.recv().await {
        if let AgentInput::Words { words, .. } = input {
            said.extend(words.into_iter().map(|word| match word {
                Word::Trouble { message } => message,
                other => panic!("it says nothing else: {other:?}"),
            }));
        }
    }
    drop(orders);
    (said, ended.await.unwrap())
}

#[tokio::test]
async fn it_is_greeted_first_in_its_framing_and_its_frames_are_heard() {
    let script = r#"head -c 26 >&2; printf 'Content-Length: 3\r\n\r\noneContent-Length: 3\r\n\r\ntwo'; exit 3"#;
    let (said, message) = hear_out(scene(script, patient()).await).await;
    assert_eq!(said, ["one", "two"]);
    assert_eq!(message, "agent `demo` exited with code 3; its last words: Content-Length: 5\nhello");
}

#[tokio::test]
async fn noise_between_frames_is_skipped_and_a_frame_of_nonsense_too() {
    let script = r#"echo "starting up"; printf 'Content-Length: 8\r\n\r\nnonsenseContent-Length: 3\r\n\r\ntwo'"#;
    let (said, message) = hear_out(scene(script, patient()).await).await;
    assert_eq!(said, ["two"]);
    assert_eq!(message, "agent `demo` exited with code 0");
}

#[tokio::test]
async fn a_length_that_cannot_be_right_ends_the_process_with_that_message() {
    let cases = [
        ("Content-Length: much", "the header Content-Length is not one number: \"much\""),
        ("Content-Length: 99999999999", "message of 99999999999 bytes is over the limit of 16777216"),
    ];
    for (header, fault) in cases {
        let script = format!(r"printf 'Content-Length: 3\r\n\r\none{header}\r\n\r\n'; cat >&2; exit 4");
        let (said, message) = hear_out(scene(&script, patient()).await).await;
        assert_eq!(said, ["one"]);
        let expected = format!("agent `demo` was ended, since its output cannot be read: {fault}; its last words: ");
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.ends_with("go"), "it was told to go: {message}");
    }
}

#[tokio::test]
async fn a_header_without_an_end_ends_the_process() {
    let script = r"printf 'Content-Length: 3\r\n'; while :; do printf 'X-More: 1234567890\r\n'; done";
    let graces = Graces { bidden_farewell: Duration::ZERO, ..patient() };
    let (_, message) = hear_out(scene(script, graces).await).await;
    let fault = "the header has no end within 8192 bytes";
    assert_eq!(message, format!("agent `demo` was ended, since its output cannot be read: {fault}"));
}

#[tokio::test]
async fn half_a_frame_before_an_exit_is_said() {
    let script = r"printf 'Content-Length: 20\r\n\r\nhalf'; exit 0";
    let (said, message) = hear_out(scene(script, patient()).await).await;
    assert_eq!(said, Vec::<String>::new());
    let fault = "the stream ended after 4 of 20 bytes of a message";
    assert_eq!(message, format!("agent `demo` exited with code 0 before it said anything; {fault}"));
}

#[tokio::test]
async fn a_graceful_end_bids_farewell_then_closes_the_input() {
    let script = r#"printf 'Content-Length: 2\r\n\r\nup'; all=$(cat); case $all in *go) exit 9;; esac; exit 1"#;
    let mut scene = scene(script, patient()).await;
    while !matches!(scene.inbox.recv().await, Some(AgentInput::Words { .. })) {}
    scene.orders.send(AgentOrder::End(EndHow::Gracefully)).await.unwrap();
    let (_, message) = hear_out(scene).await;
    assert_eq!(message, "agent `demo` was ended by the host: it exited with code 9");
}
