//! A link of our own to the running host, as any view has one. Knows no dialect.

use futures_util::{SinkExt, StreamExt};
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderValue};
use switchboard_types::limits::MAX_FRAME_BYTES;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::control::Control;
use super::exit::{Exit, Failure};

/// What the host says may be larger than what it takes: a message that it took comes back with more around it.
const MAX_HEARD_BYTES: usize = 4 * MAX_FRAME_BYTES;

/// A link to the host.
pub(super) type Socket = WebSocketStream<TcpStream>;

/// Opens a link to a dialect's door.
pub(super) async fn open(control: &Control, dialect: &str) -> Result<Socket, Failure> {
    let at = control.authority();
    let gone =
        |error: &dyn std::fmt::Display| Failure::unreachable(format!("the host at {at} cannot be reached: {error}"));
    let stream = TcpStream::connect(at).await.map_err(|error| gone(&error))?;
    // Messages are small and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let mut request = format!("ws://{at}/ws/{dialect}").into_client_request().map_err(|error| gone(&error))?;
    let mut bearer =
        HeaderValue::from_str(&format!("Bearer {}", control.token().reveal())).map_err(|error| gone(&error))?;
    bearer.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, bearer);
    let config =
        WebSocketConfig::default().max_message_size(Some(MAX_HEARD_BYTES)).max_frame_size(Some(MAX_HEARD_BYTES));
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((socket, _)) => Ok(socket),
        Err(WsError::Http(answer)) => Err(refused(answer.status(), dialect)),
        Err(error) => Err(gone(&error)),
    }
}

fn refused(status: StatusCode, dialect: &str) -> Failure {
    match status {
        StatusCode::NOT_FOUND => Failure::unreachable(format!(
            "the running host does not speak `{dialect}`; it is another version, restart it"
        )),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Failure::new(Exit::Denied, "the running host does not take the token of this data folder")
        }
        other => Failure::unreachable(format!("the host refuses the link: {other}")),
    }
}

/// What came over a link.
pub(super) enum Heard {
    /// A message.
    Text(tokio_tungstenite::tungstenite::Utf8Bytes),
    /// Nothing for us.
    Nothing,
    /// The link is over; why, for a person.
    Over(String),
}

/// Sorts out what came.
pub(super) fn heard(message: Option<Result<Message, WsError>>) -> Heard {
    match message {
        Some(Ok(Message::Text(text))) => Heard::Text(text),
        Some(Ok(Message::Close(Some(frame)))) => Heard::Over(match frame.code {
            CloseCode::Away => "the host has stopped; start it again with `switchboard`".to_owned(),
            CloseCode::Size => format!("a message was over the limit of {MAX_FRAME_BYTES} bytes"),
            CloseCode::Policy => "the host gave up on a link that asks faster than it reads the answers".to_owned(),
            code => format!("the host has closed the link ({code})"),
        }),
        Some(Ok(Message::Close(None))) => Heard::Over("the host has closed the link".to_owned()),
        Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Heard::Nothing,
        Some(Err(error)) => Heard::Over(format!("the host is gone: {error}")),
        None => Heard::Over("the host is gone; start it again with `switchboard`".to_owned()),
    }
}

/// The next thing that came.
pub(super) async fn hear(socket: &mut Socket) -> Heard {
    heard(socket.next().await)
}

/// Says one message.
pub(super) async fn say(socket: &mut Socket, message: String) -> Result<(), Failure> {
    socket
        .send(Message::text(message))
        .await
        .map_err(|error| Failure::unreachable(format!("the host is gone: {error}")))
}
