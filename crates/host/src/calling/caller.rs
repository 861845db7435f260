//! Requests to one origin, an engine's or a model server's. The token goes to that origin and stands in no error; nothing is followed elsewhere, and no proxy
//! and no cookie is used.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper_util::rt::TokioIo;
use switchboard_dialects::agent::engine::{AnswerTo, Failure, Method, Payload, Request, Response, Sent};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::address::{Address, Scheme};
use super::hush::Hush;
use super::upload::multipart;
use crate::server::Secret;

/// How long it may take until the far machine answers.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a request may take.
const REQUEST: Duration = Duration::from_secs(30);
/// Bytes of an answer.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// The header that a stream is read on by.
const LAST_EVENT_ID: &str = "last-event-id";

/// Who talks to one origin.
pub(crate) struct Caller {
    address: Address,
    token: Option<HeaderValue>,
    hush: Hush,
    tls: Option<TlsConnector>,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("origin", &self.address.origin()).finish_non_exhaustive()
    }
}

type Sender = http1::SendRequest<Full<Bytes>>;

impl Caller {
    /// The error is for a person.
    pub(crate) fn new(address: Address, token: Option<&Secret>) -> Result<Self, String> {
        let bearer = |token: &Secret| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
                .map_err(|_| "its secret holds what no header may; store it again".to_owned())?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        };
        let hush = Hush::new(token);
        let token = token.map(bearer).transpose()?;
        let tls = match address.scheme {
            Scheme::Plain => None,
            Scheme::Tls => Some(trusting()?),
        };
        Ok(Self { address, token, hush, tls })
    }

    /// Makes a request.
    pub(crate) async fn call(&self, request: Request) -> Result<Response, Failure> {
        let unsent = |message: String| Failure { sent: Sent::No, message };
        let perhaps = |message: String| Failure { sent: Sent::Perhaps, message };
        let asked = self.request(&request).map_err(|error| unsent(error.to_string()))?;
        let mut sender = self.connect().await.map_err(unsent)?;
        let answer = async {
            let response = sender.send_request(asked).await.map_err(|error| perhaps(broke(&error)))?;
            let status = response.status().as_u16();
            let body = whole(response.into_body(), MAX_ANSWER_BYTES).await.map_err(perhaps)?;
            Ok(Response { status, body: self.hush.body(body) })
        };
        let late = |_| perhaps(format!("there was no answer within {} s", REQUEST.as_secs()));
        timeout(REQUEST, answer).await.map_err(late)?
    }

    /// Opens an event stream.
    pub(crate) async fn open(&self, path: &str, last_id: Option<&str>) -> Result<hyper::Response<Incoming>, String> {
        let mut builder = self.head(hyper::Method::GET, path).header(ACCEPT, "text/event-stream");
        builder = builder.header(CACHE_CONTROL, "no-store");
        if let Some(last_id) = last_id {
            let value = HeaderValue::from_bytes(last_id.as_bytes());
            builder =
                builder.header(LAST_EVENT_ID, value.map_err(|_| "the last event's id fits no header".to_owned())?);
        }
        let asked = builder.body(Full::new(Bytes::new())).map_err(|error| error.to_string())?;
        let mut sender = self.connect().await?;
        let late = |_| format!("there was no answer within {} s", REQUEST.as_secs());
        timeout(REQUEST, sender.send_request(asked)).await.map_err(late)?.map_err(|error| broke(&error))
    }

    /// Posts JSON and gives the answer as soon as it begins. How long that may take, and the body after it, is the caller's
    /// business; whoever lets go of either ends the link.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> Result<hyper::Response<Incoming>, Failure> {
        let unsent = |message: String| Failure { sent: Sent::No, message };
        let head = self.head(hyper::Method::POST, path).header(CONTENT_TYPE, "application/json");
        let head = head.header(ACCEPT, "text/event-stream, application/x-ndjson, application/json");
        let asked = head.body(Full::new(Bytes::from(body))).map_err(|error| unsent(error.to_string()))?;
        let mut sender = self.connect().await.map_err(unsent)?;
        let perhaps = |error: hyper::Error| Failure { sent: Sent::Perhaps, message: broke(&error) };
        sender.send_request(asked).await.map_err(perhaps)
    }

    /// What takes the token out of what the far end says.
    pub(crate) fn hush(&self) -> &Hush {
        &self.hush
    }

    fn head(&self, method: hyper::Method, path: &str) -> hyper::http::request::Builder {
        let agent = concat!("switchboard/", env!("CARGO_PKG_VERSION"));
        let builder = hyper::Request::builder().method(method).uri(self.address.path(path));
        let builder = builder.header(HOST, self.address.authority()).header(USER_AGENT, agent);
        match &self.token {
            Some(token) => builder.header(AUTHORIZATION, token.clone()),
            None => builder,
        }
    }

    fn request(&self, request: &Request) -> Result<hyper::Request<Full<Bytes>>, io::Error> {
        let method = match request.method {
            Method::Get => hyper::Method::GET,
            Method::Post => hyper::Method::POST,
            Method::Delete => hyper::Method::DELETE,
        };
        let wanted = match request.answer {
            AnswerTo::Dialect => "application/json",
            AnswerTo::Shelf { .. } => "*/*",
        };
        let head = self.head(method, &request.path).header(ACCEPT, wanted);
        let (head, body) = match &request.payload {
            Payload::None => (head, Vec::new()),
            Payload::Json(body) => (head.header(CONTENT_TYPE, "application/json"), body.clone()),
            Payload::Upload(files) => {
                let made = multipart(files)?;
                (head.header(CONTENT_TYPE, made.mime), made.body)
            }
        };
        head.body(Full::new(Bytes::from(body))).map_err(io::Error::other)
    }

    async fn connect(&self) -> Result<Sender, String> {
        let late = |_| format!("nothing answers within {} s", CONNECT.as_secs());
        timeout(CONNECT, self.connect_now()).await.map_err(late)?
    }

    async fn connect_now(&self) -> Result<Sender, String> {
        let host = self.address.bare_host();
        let socket = TcpStream::connect((host, self.address.port)).await.map_err(|error| no_way(&error))?;
        let _ = socket.set_nodelay(true);
        match &self.tls {
            None => shake_hands(socket).await,
            Some(tls) => {
                let name = ServerName::try_from(host.to_owned()).map_err(|_| "its host is no name".to_owned())?;
                let socket = tls.connect(name, socket).await.map_err(|error| format!("no safe way to it: {error}"))?;
                shake_hands(socket).await
            }
        }
    }
}

async fn shake_hands(socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Sender, String> {
    let (sender, link) = http1::handshake(TokioIo::new(socket)).await.map_err(|error| broke(&error))?;
    // It ends with the answer, or when whoever asked lets go of it.
    tokio::spawn(async move {
        let _ = link.await;
    });
    Ok(sender)
}

/// The certificates that this machine trusts.
fn trusting() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err("this machine has no certificates to trust; install `ca-certificates`".to_owned());
    }
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// A body as a whole, within bounds.
pub(crate) async fn whole(mut body: Incoming, max: usize) -> Result<Bytes, String> {
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| broke(&error))?.into_data() else { continue };
        if read.len() + data.len() > max {
            return Err(format!("its answer is over {max} bytes"));
        }
        read.extend_from_slice(&data);
    }
    Ok(Bytes::from(read))
}

/// Why a request or a stream broke, without where it went.
pub(crate) fn broke(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("the link broke: {error}: {source}"),
        None => format!("the link broke: {error}"),
    }
}

fn no_way(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there; is it running?".to_owned(),
        _ => error.to_string(),
    }
}
