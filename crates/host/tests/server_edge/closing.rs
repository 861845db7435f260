//! The ends of links: each is told once, and the view can read why.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use switchboard_host::link::{CloseReason, Outgoing, ViewInput};
use switchboard_types::Seq;
use switchboard_types::limits::MAX_FRAME_BYTES;
use tokio::io::AsyncWriteExt as _;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::world::{World, close_code, hear, page, say};

#[tokio::test]
async fn a_message_over_the_limit_ends_the_link_with_1009_that_the_view_can_read() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    view.send(Message::text("x".repeat(MAX_FRAME_BYTES + 1_000_000))).await.unwrap();
    assert_eq!(close_code(&mut view).await, 1009);
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn a_message_at_the_limit_is_read() {
    let mut world = World::new().await;
    let (mut view, _, _outbox) = world.view().await;
    view.send(Message::text("x".repeat(MAX_FRAME_BYTES))).await.unwrap();
    assert_eq!(hear(&mut view).await["code"], json!("BadJson"));
}

#[tokio::test]
async fn fragments_count_together() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    let half = vec![b'x'; MAX_FRAME_BYTES / 2 + 1];
    let first = Frame::message(half.clone(), OpCode::Data(Data::Text), false);
    let second = Frame::message(half, OpCode::Data(Data::Continue), true);
    view.send(Message::Frame(first)).await.unwrap();
    view.send(Message::Frame(second)).await.unwrap();
    assert_eq!(close_code(&mut view).await, 1009);
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn text_that_is_not_utf8_ends_the_link_with_1007() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    let frame = Frame::message(vec![b'{', 0xff, 0xfe, b'}'], OpCode::Data(Data::Text), true);
    view.send(Message::Frame(frame)).await.unwrap();
    assert_eq!(close_code(&mut view).await, 1007);
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn a_frame_without_mask_ends_the_link_with_1002() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    view.get_mut().write_all(&[0x81, 2, b'{', b'}']).await.unwrap();
    assert_eq!(close_code(&mut view).await, 1002);
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn a_view_that_vanishes_within_a_frame_is_noticed() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    view.get_mut().write_all(&[0x81, 0x80 | 100, 1, 2, 3, 4, b'x']).await.unwrap();
    drop(view);
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn a_view_that_vanishes_while_it_is_written_to_is_noticed() {
    let mut world = World::new().await;
    let (view, link, outbox) = world.view().await;
    let shared = page(Seq(1), &[&"x".repeat(1_000_000)]);
    let feeding = tokio::spawn(async move { while outbox.send(Outgoing::Events(shared.clone())).await.is_ok() {} });
    let ViewInput::Drained { .. } = world.input().await else { panic!("nothing was written") };
    drop(view);
    loop {
        match world.input().await {
            ViewInput::Drained { .. } => {}
            ViewInput::Closed { link: closed } => break assert_eq!(closed, link),
            other => panic!("{other:?}"),
        }
    }
    feeding.await.unwrap();
}

#[tokio::test]
async fn a_view_that_says_goodbye_gets_its_answer() {
    let mut world = World::new().await;
    let (mut view, link, _outbox) = world.view().await;
    view.close(None).await.unwrap();
    assert_eq!(view.next().await.unwrap().unwrap(), Message::Close(None));
    assert!(view.next().await.is_none());
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn the_host_closes_a_link_after_what_it_sent_before() {
    let mut world = World::new().await;
    let (mut view, link, outbox) = world.view().await;
    outbox.send(Outgoing::Events(page(Seq(1), &["last words"]))).await.unwrap();
    outbox.send(Outgoing::Close(CloseReason::TooSlow)).await.unwrap();
    assert_eq!(hear(&mut view).await["index"], json!(1));
    assert_eq!(close_code(&mut view).await, 1008);
    drop(view);
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn a_link_that_the_host_lets_go_of_is_closed() {
    let mut world = World::new().await;
    let (mut view, link, outbox) = world.view().await;
    drop(outbox);
    assert_eq!(close_code(&mut view).await, 1001);
    assert_eq!(world.closed().await, link);
}

#[tokio::test]
async fn a_blocked_link_that_the_host_lets_go_of_ends() {
    let mut world = World::new().await;
    let (_view, link, outbox) = world.view().await;
    let shared = page(Seq(1), &[&"x".repeat(1_000_000)]);
    for _ in 0..16 {
        outbox.send(Outgoing::Events(shared.clone())).await.unwrap();
    }
    drop(outbox);
    loop {
        match world.input().await {
            ViewInput::Drained { .. } => {}
            ViewInput::Closed { link: closed } => break assert_eq!(closed, link),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_stop_closes_links_with_1001_finishes_requests_and_takes_nobody_new() {
    let mut world = World::new().await;
    let (mut view, link, outbox) = world.view().await;
    let home = tempfile::tempdir().unwrap();
    let body = json!({"root": home.path()}).to_string();
    let asked = tokio::spawn(world.post("/control/workspace", &body).send(world.address));
    let ViewInput::AddWorkspace { answer, .. } = world.input().await else { panic!("no workspace") };

    world.stop.send(true).unwrap();
    outbox.send(Outgoing::Close(CloseReason::GoingAway)).await.unwrap();
    assert_eq!(close_code(&mut view).await, 1001);
    drop(view);
    assert_eq!(world.closed().await, link);
    answer.send(()).unwrap();
    assert_eq!(asked.await.unwrap().status, 200);
    world.running.await.unwrap();
    assert!(tokio::net::TcpStream::connect(world.address).await.is_err());
    assert_eq!((world.metrics.links_open.get(), world.metrics.connections_open.get()), (0, 0));
}

#[tokio::test]
async fn a_view_whose_host_is_gone_is_told_to_come_again() {
    let mut world = World::new().await;
    let (mut view, _, _outbox) = world.view().await;
    world.inputs.close();
    say(&mut view, r#"{"type": "new-tab", "tabId": "t"}"#).await;
    assert_eq!(close_code(&mut view).await, 1001);
}
