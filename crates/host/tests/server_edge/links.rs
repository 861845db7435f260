//! What passes through a live link, both ways.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use switchboard_dialects::view::ViewDialect;
use switchboard_dialects::view::ViewKind;
use switchboard_host::link::{Outgoing, ViewInput};
use switchboard_types::{Command, Prompt, Reject, Seq, TabId, Time, Told, TurnName, WorkspaceRoot};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::dialect::StandIn;
use crate::world::{UNREPORTED_BYTES, World, hear, page, say};

#[tokio::test]
async fn commands_arrive_in_order_and_what_is_told_comes_back() {
    let mut world = World::new().await;
    let (mut view, link, outbox) = world.view().await;
    for text in ["one", "two"] {
        say(&mut view, &json!({"type": "prompt", "tabId": "t", "messageId": text, "text": text}).to_string()).await;
    }
    for text in ["one", "two"] {
        let prompt = Prompt { text: text.to_owned(), context: Vec::new() };
        let wanted = Command::Prompt { tab: TabId::from("t"), name: TurnName::from(text), prompt };
        assert_eq!(world.command().await, (link, wanted));
    }
    outbox.send(Outgoing::Told(Box::new(Told::Tabs { tabs: Vec::new() }))).await.unwrap();
    let shared = page(Seq(1), &["a", "b\n\"c\""]);
    outbox.send(Outgoing::Events(shared)).await.unwrap();
    outbox.send(Outgoing::Told(Box::new(Told::Reset { tab: TabId::from("t") }))).await.unwrap();
    let mut heard = Vec::new();
    for _ in 0..4 {
        heard.push(hear(&mut view).await);
    }
    let event = |index: u64, text: &str| json!({"tabId": "t", "index": index, "body": {"type": "text", "text": text}});
    let wanted = [
        json!({"type": "tabs-restored"}),
        event(1, "a"),
        event(2, "b\n\"c\""),
        json!({"type": "tab-reset", "tabId": "t"}),
    ];
    assert_eq!(heard, wanted);
}

#[tokio::test]
async fn what_has_left_is_reported_by_the_quarter_window_and_less_than_that_not_at_all() {
    let mut world = World::new().await;
    let (mut view, link, outbox) = world.view().await;
    let few = page(Seq(1), &["a"]);
    outbox.send(Outgoing::Events(few.clone())).await.unwrap();
    assert_eq!(hear(&mut view).await["index"], json!(1));
    let much = page(Seq(2), &[&"x".repeat(UNREPORTED_BYTES)]);
    outbox.send(Outgoing::Events(much.clone())).await.unwrap();
    assert_eq!(hear(&mut view).await["index"], json!(2));
    let bytes = few.page.cost() + much.page.cost();
    match world.input().await {
        ViewInput::Drained { link: of, bytes: left } => assert_eq!((of, left), (link, bytes)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_bad_message_is_refused_and_the_link_lives() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    say(&mut view, "{broken").await;
    say(&mut view, r#"{"type": "strange"}"#).await;
    view.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(hear(&mut view).await["code"].as_str().unwrap().to_owned());
    }
    assert_eq!(codes, ["BadJson", "UnknownType", "BadMessage"]);
    say(&mut view, r#"{"type": "new-tab", "tabId": "t"}"#).await;
    let wanted = Command::OpenTab { tab: TabId::from("t"), agent: None, workspace: None, seen: Seq::START.into() };
    assert_eq!(world.command().await, (link, wanted));
    assert!(world.metrics.to_text().contains("switchboard_rejects_total{code=\"bad_message\"} 1\n"));
}

#[tokio::test]
async fn a_tabs_folder_is_resolved_before_the_host_sees_it() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    let home = tempfile::tempdir().unwrap();
    let real = home.path().canonicalize().unwrap();
    for wrong in ["relative", "/no/such/folder"] {
        say(&mut view, &json!({"type": "new-tab", "tabId": "t", "workspace": wrong}).to_string()).await;
        assert_eq!(hear(&mut view).await, json!({"type": "error", "tabId": "t", "code": "BadMessage"}), "{wrong}");
    }
    say(
        &mut view,
        &json!({"type": "new-tab", "tabId": "t", "workspace": real.join("..").join(real.file_name().unwrap())})
            .to_string(),
    )
    .await;
    let workspace = Some(WorkspaceRoot::from(real.to_str().unwrap()));
    let wanted = Command::OpenTab { tab: TabId::from("t"), agent: None, workspace, seen: Seq::START.into() };
    assert_eq!(world.command().await, (link, wanted));
}

static ENCODED: AtomicUsize = AtomicUsize::new(0);

struct Counting(StandIn);

impl ViewDialect for Counting {
    fn read(&mut self, now: Time, frame: &[u8]) -> Result<Command, Reject> {
        self.0.read(now, frame)
    }

    fn write(&mut self, now: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        ENCODED.fetch_add(1, Ordering::SeqCst);
        self.0.write(now, told, message);
    }
}

#[tokio::test]
async fn two_links_share_one_encoding() {
    let mut world = World::with_dialect(|_| Box::new(Counting(StandIn))).await;
    let (mut first, _, to_first) = world.view().await;
    let (mut second, _, to_second) = world.view().await;
    let shared = page(Seq(1), &["a", "b"]);
    for outbox in [&to_first, &to_second] {
        outbox.send(Outgoing::Events(shared.clone())).await.unwrap();
    }
    for view in [&mut first, &mut second] {
        assert_eq!([hear(view).await["index"].clone(), hear(view).await["index"].clone()], [json!(1), json!(2)]);
    }
    assert_eq!(ENCODED.load(Ordering::SeqCst), 1);
    assert!(shared.frames[ViewKind::Tabs as usize].get().is_some());
}

#[tokio::test]
async fn a_slow_reader_gets_everything_in_order_later_and_holds_up_nobody() {
    const PAGES: u64 = 60;
    let mut world = World::new().await;
    let (mut slow, slow_link, to_slow) = world.view().await;
    let (mut quick, quick_link, to_quick) = world.view().await;
    let piece = "x".repeat(100_000);
    let cost = page(Seq(1), &[&piece]).page.cost();
    // More than the sockets hold: the slow view's task blocks until the view reads.
    let feeding = tokio::spawn(async move {
        for seq in 1..=PAGES {
            to_slow.send(Outgoing::Events(page(Seq(seq), &[&piece]))).await.unwrap();
        }
        to_slow
    });
    let mut slow_drained = 0;
    say(&mut quick, r#"{"type": "new-tab", "tabId": "t"}"#).await;
    loop {
        match world.input().await {
            ViewInput::Drained { bytes, .. } => slow_drained += bytes,
            ViewInput::Command { link, .. } => break assert_eq!(link, quick_link),
            other => panic!("{other:?}"),
        }
    }
    to_quick.send(Outgoing::Told(Box::new(Told::Tabs { tabs: Vec::new() }))).await.unwrap();
    assert_eq!(hear(&mut quick).await, json!({"type": "tabs-restored"}));
    assert!(slow_drained < cost * usize::try_from(PAGES).unwrap());

    for seq in 1..=PAGES {
        assert_eq!(hear(&mut slow).await["index"], json!(seq));
    }
    let _outbox = feeding.await.unwrap();
    world.drained(slow_link, cost * usize::try_from(PAGES).unwrap() - slow_drained).await;
}

#[tokio::test]
async fn pings_are_answered_between_whole_frames() {
    let mut world = World::new().await;
    let (mut view, _, outbox) = world.view().await;
    for seq in 1..=20 {
        view.send(Message::Ping(Bytes::from_static(b"there?"))).await.unwrap();
        outbox.send(Outgoing::Events(page(Seq(seq), &["a"]))).await.unwrap();
    }
    let (mut pongs, mut indexes) = (0, Vec::new());
    while indexes.len() < 20 || pongs == 0 {
        match view.next().await.unwrap().unwrap() {
            Message::Pong(said) => {
                assert_eq!(said, Bytes::from_static(b"there?"));
                pongs += 1;
            }
            Message::Text(text) => {
                let heard: serde_json::Value = serde_json::from_str(&text).unwrap();
                indexes.push(heard["index"].as_u64().unwrap());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(indexes, (1..=20).collect::<Vec<u64>>());
}
