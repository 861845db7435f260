//! A model server that answers as a test wants, and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What is answered to a path.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A status and a body.
    Says(u16, &'static str),
    /// Elsewhere.
    Leads(String),
    /// Nothing, for ever.
    Hangs,
}

/// A server on a port of its own.
pub(crate) struct Server {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { port: listener.local_addr().unwrap().port(), heard: Arc::default() };
        let (heard, answer) = (Arc::clone(&server.heard), Arc::new(answer));
        std::thread::spawn(move || {
            for peer in listener.incoming().flatten() {
                let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
                // Whoever leaves early has heard enough.
                std::thread::spawn(move || drop(serve(peer, &heard, answer.as_ref())));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All that was asked so far, whole.
    pub(crate) fn heard(&self) -> String {
        self.heard.lock().unwrap().join("\n")
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|head| head.split_whitespace().nth(1).unwrap_or_default().to_owned()).collect()
    }
}

fn serve(mut peer: TcpStream, heard: &Mutex<Vec<String>>, answer: &dyn Fn(&str) -> Answer) -> std::io::Result<()> {
    let mut reader = BufReader::new(peer.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    heard.lock().unwrap().push(head.clone());
    let (status, body, more) = match answer(&path) {
        Answer::Says(status, "<echo>") => (status, head, String::new()),
        Answer::Says(status, body) => (status, body.to_owned(), String::new()),
        Answer::Leads(to) => (302, String::new(), format!("Location: {to}\r\n")),
        Answer::Hangs => {
            // Until the caller leaves.
            std::io::copy(&mut reader, &mut std::io::sink())?;
            return Ok(());
        }
    };
    let length = body.len();
    write!(peer, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{more}Connection: close\r\n\r\n{body}")
}
