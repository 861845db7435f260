//! A view over a real WebSocket, with a journal of everything that it was told.

use std::collections::BTreeMap;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::host::PATIENCE;

/// A view. What it was told stays in `told`, in order.
pub(crate) struct View {
    pub(crate) socket: WebSocketStream<TcpStream>,
    pub(crate) told: Vec<Value>,
    /// How far `wait_for` has looked.
    looked: usize,
}

impl View {
    pub(crate) async fn connect(address: &str, token: &str) -> Self {
        Self::connect_in("tabs", address, token).await
    }

    pub(crate) async fn connect_in(dialect: &str, address: &str, token: &str) -> Self {
        let mut request = format!("ws://{address}/ws/{dialect}").into_client_request().unwrap();
        request.headers_mut().insert("Authorization", format!("Bearer {token}").parse().unwrap());
        let stream = TcpStream::connect(address).await.unwrap();
        let (socket, _) = client_async(request, stream).await.unwrap();
        Self { socket, told: Vec::new(), looked: 0 }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: impl Into<String>) {
        self.socket.send(Message::text(text.into())).await.unwrap();
    }

    /// The next message; none when the host has closed the link.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("a message in time")?;
            match frame {
                Ok(Message::Text(text)) => {
                    let value: Value = serde_json::from_str(&text).expect("JSON");
                    self.told.push(value.clone());
                    return Some(value);
                }
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Messages as they came, up to the one with this text in it; for streams too long to be taken apart.
    pub(crate) async fn raw_until(&mut self, marker: &str) -> Vec<String> {
        let mut raw = Vec::new();
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("a message in time");
            let Some(Ok(Message::Text(text))) = frame else { panic!("the link ended before {marker}") };
            raw.push(text.as_str().to_owned());
            if text.contains(marker) {
                return raw;
            }
        }
    }

    /// The first message, not looked at before, for which the condition holds; what comes before it is passed over.
    pub(crate) async fn wait_for(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            while self.looked < self.told.len() {
                self.looked += 1;
                if holds(&self.told[self.looked - 1]) {
                    return self.told[self.looked - 1].clone();
                }
            }
            if self.next().await.is_none() {
                panic!("the link ended before {what}; told: {:#?}", self.told);
            }
        }
    }

    pub(crate) async fn wait_type(&mut self, kind: &str) -> Value {
        self.wait_for(kind, |message| message["type"] == kind).await
    }

    pub(crate) async fn wait_error(&mut self, code: &str) -> Value {
        self.wait_for(code, |message| message["type"] == "error" && message["error"]["code"] == code).await
    }

    pub(crate) async fn wait_done(&mut self, message_id: &str) -> Value {
        let done = |m: &Value| m["type"] == "response-complete" && m["messageId"] == message_id;
        // A turn ends once, so it does not matter what was waited for since.
        if let Some(past) = self.told.iter().find(|message| done(message)) {
            return past.clone();
        }
        self.wait_for(message_id, done).await
    }

    pub(crate) async fn open(&mut self, tab: &str) -> Value {
        self.send(json!({"type": "new-tab", "tabId": tab})).await;
        let opened = |m: &Value| m["type"] == "tab-opened" && m["tabId"] == tab;
        self.wait_for("tab-opened", opened).await
    }

    pub(crate) async fn prompt(&mut self, tab: &str, message_id: &str, text: &str) {
        self.send(json!({"type": "prompt", "tabId": tab, "messageId": message_id, "text": text})).await;
    }

    /// Everything that was sent to this link so far has arrived when the answer to this has.
    pub(crate) async fn sync(&mut self) {
        self.send(json!({"type": "webview-ready"})).await;
        self.wait_type("tabs-restored").await;
    }

    /// How the host closed the link.
    pub(crate) async fn close_code(&mut self) -> Option<CloseCode> {
        loop {
            match tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("an end in time")? {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code),
                Ok(Message::Text(text)) => self.told.push(serde_json::from_str(&text).unwrap()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// The indexed messages of a tab, in order.
    pub(crate) fn indexed(&self, tab: &str) -> Vec<Value> {
        let indexed = self.told.iter().filter(|message| message["tabId"] == tab && message["index"].is_u64());
        indexed.cloned().collect()
    }

    pub(crate) fn last_index(&self, tab: &str) -> i64 {
        self.indexed(tab).last().map_or(-1, |message| message["index"].as_i64().unwrap())
    }

    /// All text of one answer.
    pub(crate) fn text(&self, message_id: &str) -> String {
        let chunks = self.told.iter().filter(|m| m["type"] == "response-chunk" && m["messageId"] == message_id);
        chunks.map(|chunk| chunk["chunk"].as_str().unwrap()).collect()
    }

    /// The last seen index of every tab, as a view that reconnects sends it.
    pub(crate) fn seen(&self) -> Value {
        let mut seen = BTreeMap::new();
        for message in &self.told {
            if let (Some(tab), Some(index)) = (message["tabId"].as_str(), message["index"].as_u64()) {
                seen.insert(tab.to_owned(), index);
            }
        }
        json!(seen)
    }

    pub(crate) fn assert_increasing(&self) {
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        for message in &self.told {
            if let (Some(tab), Some(index)) = (message["tabId"].as_str(), message["index"].as_u64()) {
                let before = last.insert(tab.to_owned(), index);
                assert!(before < Some(index), "{tab} went from {before:?} to {index}");
            }
        }
    }
}
