//! A running server with nothing behind it but a queue that the test reads. Answers nothing by itself.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use switchboard_host::attachments::Attachments;
use switchboard_host::clock::Clock;
use switchboard_host::link::{INBOX_MESSAGES, Outgoing, SharedPage, ViewInput};
use switchboard_host::server::{Access, Artifacts, DataId, Doors, MakeDialect, Metrics, Secret, Server};
use switchboard_host::store::{MemoryStore, Store};
use switchboard_host::wire::{WireFolder, Writer};
use switchboard_types::limits::LINK_WINDOW_BYTES;
use switchboard_types::{
    Body, Command, Epoch, LinkId, PageBuilder, Reject, RejectCode, Seq, TabId, Text, Time, Told, TurnNames,
};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::dialect::stand_in;
use crate::http::Request;

pub(crate) const TOKEN: &str = "4f1c0f6f1c0ffee04f1c0f6f1c0ffee04f1c0f6f1c0ffee04f1c0f6f1c0ffee0";
pub(crate) const ALLOWED_ORIGIN: &str = "chrome-extension://friend";

/// Bytes that a link need not report: few enough that the host reads on all the same.
pub(crate) const UNREPORTED_BYTES: usize = LINK_WINDOW_BYTES / 4;

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) login: String,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) artifacts: Arc<Artifacts>,
    pub(crate) inputs: mpsc::Receiver<ViewInput>,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) running: JoinHandle<()>,
}

pub(crate) type View = WebSocketStream<TcpStream>;

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_dialect(stand_in).await
    }

    /// Somebody takes what comes in from now on, and answers what must be answered.
    pub(crate) fn attended(mut self) -> Self {
        let mut inputs = std::mem::replace(&mut self.inputs, mpsc::channel(1).1);
        tokio::spawn(async move {
            // Kept, since a link whose outbox is gone is closed.
            let (mut kept, mut outboxes) = (Vec::new(), HashMap::new());
            while let Some(input) = inputs.recv().await {
                match input {
                    ViewInput::Configuration { answer } => drop(answer.send(Vec::new())),
                    ViewInput::Opened { link, outbox } => drop(outboxes.insert(link, outbox)),
                    ViewInput::Command { link, command: Command::Session { request, .. } } => {
                        let result = Err(Reject::new(RejectCode::NotFound, "there is no such session"));
                        let told = Box::new(Told::Answer { request, result });
                        outboxes[&link].try_send(Outgoing::Told(told)).unwrap();
                    }
                    other => kept.push(other),
                }
            }
        });
        self
    }

    pub(crate) async fn with_dialect(dialects: MakeDialect) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (inbox, inputs) = mpsc::channel(INBOX_MESSAGES);
        let metrics = Arc::new(Metrics::default());
        let store = Arc::new(MemoryStore::new(|_| {}));
        let artifacts = Arc::new(Artifacts::default());
        let doors = Doors {
            access: Access::new(&Secret::new(TOKEN), &DataId::new("test").unwrap()).unwrap(),
            allowed_hosts: vec!["friend.example".to_owned()],
            allowed_origins: vec![ALLOWED_ORIGIN.to_owned(), "null".to_owned()],
            inbox,
            metrics: Arc::clone(&metrics),
            library: std::sync::Weak::new(),
            store: Arc::downgrade(&(Arc::clone(&store) as Arc<dyn Store>)),
            artifacts: Arc::clone(&artifacts),
            // Nothing is ever recorded here, so nothing is made there.
            recorder: Writer::start(WireFolder::within(&std::env::temp_dir()), Clock::start()).unwrap().recorder(),
            attachments: Attachments::within(&std::env::temp_dir().join("switchboard-no-attachments")),
            dialects,
        };
        let server = Server::new(listener, doors).unwrap();
        let (address, login) = (server.address(), server.login_link(Instant::now()).unwrap());
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(server.run(stopped));
        Self { address, login, metrics, store, artifacts, inputs, stop, running }
    }

    /// The path of one file that the page loads.
    pub(crate) async fn asset(&self) -> String {
        let page = self.get("/").with("Authorization", &format!("Bearer {TOKEN}")).send(self.address).await;
        let path = page.body.split('"').find(|part| part.starts_with("/assets/"));
        path.unwrap().to_owned()
    }

    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn login_target(&self) -> String {
        self.login.strip_prefix(&self.origin()).unwrap().to_owned()
    }

    /// Logs in as a browser does; the cookie that it then sends.
    pub(crate) async fn cookie(&self) -> String {
        let answer = self.get(&self.login_target()).send(self.address).await;
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    pub(crate) fn get(&self, target: &str) -> Request {
        Request::new("GET", target).with("Host", &self.host())
    }

    pub(crate) fn post(&self, target: &str, body: &str) -> Request {
        let request = Request::new("POST", target).with("Host", &self.host());
        request.with("Authorization", &format!("Bearer {TOKEN}")).body(body)
    }

    pub(crate) async fn input(&mut self) -> ViewInput {
        self.inputs.recv().await.unwrap()
    }

    /// A view at `/ws/tabs`, and the host's side of it.
    pub(crate) async fn view(&mut self) -> (View, LinkId, mpsc::Sender<Outgoing>) {
        let mut request = format!("ws://{}/ws/tabs", self.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
        // A small buffer, so that a view that does not read is soon noticed.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 * 1024).unwrap();
        let stream = socket.connect(self.address).await.unwrap();
        let (view, _) = tokio_tungstenite::client_async(request, stream).await.unwrap();
        match self.input().await {
            ViewInput::Opened { link, outbox } => (view, link, outbox),
            other => panic!("no link was opened: {other:?}"),
        }
    }

    pub(crate) async fn command(&mut self) -> (LinkId, Command) {
        match self.input().await {
            ViewInput::Command { link, command } => (link, command),
            other => panic!("no command: {other:?}"),
        }
    }

    /// Event bytes that the link says have left, until less than it may keep to itself is missing.
    pub(crate) async fn drained(&mut self, of: LinkId, wanted: usize) {
        let mut sum = 0;
        while sum + UNREPORTED_BYTES <= wanted {
            match self.input().await {
                ViewInput::Drained { link, bytes } if link == of => sum += bytes,
                other => panic!("not drained: {other:?}"),
            }
        }
        assert!(sum <= wanted, "{sum} bytes are said to have left where {wanted} were sent");
    }

    pub(crate) async fn closed(&mut self) -> LinkId {
        match self.input().await {
            ViewInput::Closed { link } => link,
            other => panic!("not closed: {other:?}"),
        }
    }
}

pub(crate) async fn say(view: &mut View, text: &str) {
    view.send(Message::text(text)).await.unwrap();
}

pub(crate) async fn hear(view: &mut View) -> Value {
    match view.next().await.unwrap().unwrap() {
        Message::Text(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("no text: {other:?}"),
    }
}

/// The close code that the view reads, and nothing before it.
pub(crate) async fn close_code(view: &mut View) -> u16 {
    match view.next().await.unwrap().unwrap() {
        Message::Close(Some(frame)) => frame.code.into(),
        other => panic!("no close frame: {other:?}"),
    }
}

/// A page of streamed text, one event a piece.
pub(crate) fn page(first: Seq, pieces: &[&str]) -> Arc<SharedPage> {
    let mut builder = PageBuilder::new(first);
    for piece in pieces {
        builder.push(Time(0), None, &Body::Text { text: Text::from(*piece) });
    }
    let page = Arc::new(builder.take().unwrap());
    let names = TurnNames::new(Vec::new());
    Arc::new(SharedPage {
        tab: TabId::from("t"),
        page,
        names,
        epoch: Epoch(1),
        home: Default::default(),
        frames: Default::default(),
        events: Default::default(),
    })
}
