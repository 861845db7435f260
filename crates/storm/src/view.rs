//! A view of the dialect `tabs` over a real WebSocket, with a journal of all that it was shown. Judges nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::check::Shown;
use crate::host::{Host, PATIENCE, Trouble};

/// Orders that may wait for a link.
const ORDERS: usize = 64;
/// What fits into the socket of a view that is slow, so that it is full soon.
const NARROW_BYTES: u32 = 4096;

/// How much fits on the way to a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Usual,
    Narrow,
}

/// Whether a view answers questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// It does, at once.
    Given,
    /// It leaves that to others.
    Left,
}

/// What a link is told to do.
#[derive(Debug)]
enum Order {
    Say(String),
    StopReading,
    ReadOn,
    Hide,
    Show,
    Leave,
}

/// What a link has seen so far, for whoever waits for it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) chunks: u64,
    /// Steps on the way of commands.
    pub(crate) steps: u64,
    pub(crate) first: Option<Instant>,
    pub(crate) queued: BTreeSet<String>,
    pub(crate) done: BTreeSet<String>,
    /// The tabs of the newest list, and how many lists came.
    pub(crate) tabs: Vec<String>,
    pub(crate) lists: u64,
    pub(crate) is_over: bool,
}

/// All that one link was shown, in order.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// What the view said that it has of each tab it is seated at.
    pub(crate) after: BTreeMap<String, u64>,
    pub(crate) shown: BTreeMap<String, Vec<Shown>>,
    /// Errors, gaps and resets, as they came.
    pub(crate) odd: Vec<String>,
    /// Shown while the host knew that the view was hidden.
    pub(crate) while_hidden: Vec<String>,
    pub(crate) bytes: u64,
    /// Prompts that it was shown as queued, and as over.
    pub(crate) queued: BTreeSet<String>,
    pub(crate) done: BTreeSet<String>,
}

/// A live link; its journal comes when it ends.
#[derive(Debug)]
pub(crate) struct Link {
    orders: mpsc::Sender<Order>,
    seen: watch::Receiver<Seen>,
    task: JoinHandle<Journal>,
}

impl Link {
    /// Connects, and seats the view after what it has of each tab.
    pub(crate) async fn open(
        host: &Host,
        width: Width,
        answers: Answers,
        after: BTreeMap<String, u64>,
        first_words: Vec<Value>,
    ) -> Result<Self, Trouble> {
        let refused = |error: &dyn std::fmt::Display| Trouble::Program(format!("a view cannot connect: {error}"));
        let mut request =
            format!("ws://{}/ws/tabs", host.address).into_client_request().map_err(|error| refused(&error))?;
        let bearer = format!("Bearer {}", host.token).parse().map_err(|_| refused(&"the token is no header"))?;
        request.headers_mut().insert("Authorization", bearer);
        let stream = connect(&host.address, width).await.map_err(Trouble::io("a view cannot connect"))?;
        let shaken = tokio::time::timeout(PATIENCE, client_async(request, stream)).await;
        let (socket, _) = shaken.map_err(|late| refused(&late))?.map_err(|error| refused(&error))?;
        let (orders, inbox) = mpsc::channel(ORDERS);
        let (tell, seen) = watch::channel(Seen::default());
        let journal = Journal { after, ..Journal::default() };
        let reader = Reader { socket, journal, tell, eyes: Eyes::Open, reads: true, answers, answer: None };
        let link = Self { orders, seen, task: tokio::spawn(reader.run(inbox)) };
        for words in first_words {
            link.say(words).await;
        }
        Ok(link)
    }

    async fn order(&self, order: Order) {
        // A link whose host is dead needs no orders.
        let _ = self.orders.send(order).await;
    }

    pub(crate) async fn say(&self, words: Value) {
        self.order(Order::Say(words.to_string())).await;
    }

    pub(crate) async fn hide(&self) {
        self.order(Order::Hide).await;
    }

    pub(crate) async fn show(&self) {
        self.order(Order::Show).await;
    }

    pub(crate) async fn stop_reading(&self) {
        self.order(Order::StopReading).await;
    }

    pub(crate) async fn read_on(&self) {
        self.order(Order::ReadOn).await;
    }

    /// Waits until something holds; says whether it did in time.
    pub(crate) async fn wait(&self, patience: Duration, holds: impl Fn(&Seen) -> bool) -> bool {
        let mut seen = self.seen.clone();
        let waited = tokio::time::timeout(patience, seen.wait_for(|seen| holds(seen))).await;
        matches!(waited, Ok(Ok(_)))
    }

    pub(crate) fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.seen.borrow())
    }

    /// Leaves at once, without a word, whatever is still on its way.
    pub(crate) async fn leave(self) -> Journal {
        self.order(Order::Leave).await;
        self.journal().await
    }

    /// Reads to the end of a link whose host is dead.
    pub(crate) async fn read_out(self) -> Journal {
        self.order(Order::ReadOn).await;
        self.journal().await
    }

    async fn journal(self) -> Journal {
        let end = tokio::time::timeout(PATIENCE, self.task).await;
        let lost =
            |why: &str| Journal { odd: vec![format!("the journal of a view is lost: {why}")], ..Journal::default() };
        match end {
            Ok(Ok(journal)) => journal,
            Ok(Err(error)) => lost(&error.to_string()),
            Err(_) => lost("its link did not end though the host is dead"),
        }
    }
}

async fn connect(address: &str, width: Width) -> std::io::Result<TcpStream> {
    let address = address.parse().map_err(std::io::Error::other)?;
    let socket = TcpSocket::new_v4()?;
    if width == Width::Narrow {
        socket.set_recv_buffer_size(NARROW_BYTES)?;
    }
    socket.connect(address).await
}

/// Whether the host may show anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Eyes {
    Open,
    /// Closed, but the host may not know yet.
    Closing,
    /// Closed, and the host has answered something that came after.
    Closed,
}

struct Reader {
    socket: WebSocketStream<TcpStream>,
    journal: Journal,
    tell: watch::Sender<Seen>,
    eyes: Eyes,
    reads: bool,
    answers: Answers,
    /// To be said now.
    answer: Option<String>,
}

/// What every message may carry; the rest is looked at by the checker.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    tab_id: Option<Cow<'a, str>>,
    index: Option<u64>,
    #[serde(borrow)]
    message_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    approval_id: Option<Cow<'a, str>>,
}

impl Reader {
    async fn run(mut self, mut inbox: mpsc::Receiver<Order>) -> Journal {
        loop {
            let reads = self.reads;
            tokio::select! {
                order = inbox.recv() => match order {
                    Some(Order::Leave) | None => break,
                    Some(order) => self.obey(order).await,
                },
                frame = self.socket.next(), if reads => match frame {
                    Some(Ok(Message::Text(text))) => {
                        self.take(text.as_str());
                        if let Some(answer) = self.answer.take() {
                            self.say(answer).await;
                        }
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                    Some(Ok(_)) => {}
                },
            }
        }
        let Self { mut journal, tell, .. } = self;
        tell.send_modify(|seen| {
            seen.is_over = true;
            journal.queued = seen.queued.clone();
            journal.done = seen.done.clone();
        });
        journal
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Say(text) => self.say(text).await,
            Order::StopReading => self.reads = false,
            Order::ReadOn => self.reads = true,
            Order::Hide => {
                self.say(json!({"type": "visibility", "visible": false}).to_string()).await;
                // The answer to this comes after the host has heard that we are hidden.
                self.say(json!({"type": "webview-ready"}).to_string()).await;
                self.eyes = Eyes::Closing;
            }
            Order::Show => {
                self.eyes = Eyes::Open;
                self.say(json!({"type": "visibility", "visible": true}).to_string()).await;
            }
            Order::Leave => {}
        }
    }

    async fn say(&mut self, text: String) {
        // What a dead host does not take is said again to the next one.
        let _ = self.socket.send(Message::text(text)).await;
    }

    fn take(&mut self, text: &str) {
        self.journal.bytes += text.len() as u64;
        let Ok(head) = serde_json::from_str::<Head<'_>>(text) else {
            return self.journal.odd.push(text.to_owned());
        };
        if let (Some(tab), Some(index)) = (&head.tab_id, head.index) {
            if self.eyes == Eyes::Closed {
                self.journal.while_hidden.push(text.to_owned());
            }
            let shown = Shown { index, raw: text.to_owned() };
            match self.journal.shown.get_mut(tab.as_ref()) {
                Some(list) => list.push(shown),
                None => drop(self.journal.shown.insert(tab.to_string(), vec![shown])),
            }
            if let ("approval-request", Answers::Given, Some(approval)) =
                (head.kind.as_ref(), self.answers, &head.approval_id)
            {
                // One in five is denied; which one, the log's own numbers say.
                let number: u64 = approval.trim_start_matches('a').parse().unwrap_or(1);
                let decision = if number.is_multiple_of(5) { "deny" } else { "allow_once" };
                let answer =
                    json!({"type": "approval-response", "tabId": tab, "approvalId": approval, "decision": decision});
                self.answer = Some(answer.to_string());
            }
            return self.note(&head);
        }
        if head.kind == "tabs-restored" {
            if self.eyes == Eyes::Closing {
                self.eyes = Eyes::Closed;
            }
            return self.note_tabs(text);
        }
        self.journal.odd.push(text.to_owned());
    }

    fn note(&self, head: &Head<'_>) {
        let name = || head.message_id.as_deref().unwrap_or_default().to_owned();
        self.tell.send_modify(|seen| {
            seen.first.get_or_insert_with(Instant::now);
            match head.kind.as_ref() {
                "response-chunk" => seen.chunks += 1,
                "approval-request" | "approval-resolved" | "tool-call" | "tool-call-update" => seen.steps += 1,
                "prompt-queued" => drop(seen.queued.insert(name())),
                "response-complete" => drop(seen.done.insert(name())),
                _ => {}
            }
        });
    }

    fn note_tabs(&self, text: &str) {
        let list: Value = serde_json::from_str(text).unwrap_or_default();
        let tabs = list["tabs"].as_array().into_iter().flatten();
        let names = tabs.filter_map(|tab| tab["tabId"].as_str().map(str::to_owned)).collect();
        self.tell.send_modify(|seen| {
            seen.tabs = names;
            seen.lists += 1;
        });
    }
}
