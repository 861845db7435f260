//! A caller of the HTTP door, by hand: what goes out is exactly what a test says, and a stream is read byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::host::{Host, PATIENCE};

/// Whoever calls a host.
pub(crate) struct Caller {
    address: String,
    token: String,
}

/// What a request was answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The JSON of an answer that must have this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() { Value::Null } else { self.json() }
    }
}

impl Caller {
    pub(crate) fn new(host: &Host) -> Self {
        Self { address: host.address().to_owned(), token: host.token().to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.raw("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.raw("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    pub(crate) fn delete(&self, path: &str) -> Reply {
        self.raw("DELETE", path, &[], b"")
    }

    /// A session of the demo agent; its path.
    pub(crate) fn open(&self) -> String {
        let created = self.post("/v1/sessions", &serde_json::json!({ "agent": "demo" })).expect(201);
        format!("/v1/sessions/{}", created["session_id"].as_str().unwrap())
    }

    /// Files, each as name and bytes, as a browser's form sends them.
    pub(crate) fn upload(&self, session: &str, files: &[(&str, &[u8])]) -> Reply {
        let mut body = Vec::new();
        for (name, bytes) in files {
            let head = format!(
                "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--edge--\r\n");
        self.raw(
            "POST",
            &format!("{session}/attachments"),
            &[("Content-Type", "multipart/form-data; boundary=edge")],
            &body,
        )
    }

    pub(crate) fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut reader = self.begin(method, path, headers, body);
        let (status, headers) = head(&mut reader);
        let mut reply = Reply { status, headers, body: Vec::new() };
        if reply.header("transfer-encoding") == Some("chunked") {
            Chunks { reader, left: Left::Unknown }.read_to_end(&mut reply.body).unwrap();
        } else if let Some(length) = reply.header("content-length").map(|length| length.parse().unwrap()) {
            reader.take(length).read_to_end(&mut reply.body).unwrap();
        }
        reply
    }

    /// A session's events; `query` stands behind the path, and `last` is what was seen last.
    pub(crate) fn events(&self, session: &str, query: &str, last: Option<&str>) -> Result<Stream, Reply> {
        let headers: Vec<(&str, &str)> = last.into_iter().map(|last| ("Last-Event-ID", last)).collect();
        let mut reader = self.begin("GET", &format!("{session}/events{query}"), &headers, b"");
        let (status, headers) = head(&mut reader);
        if status == 200 {
            let kind = headers.iter().find(|(name, _)| name == "content-type").unwrap();
            assert_eq!(kind.1, "text/event-stream");
            return Ok(Stream { lines: BufReader::new(Chunks { reader, left: Left::Unknown }), comments: Vec::new() });
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        let length = reply.header("content-length").unwrap().parse().unwrap();
        reader.take(length).read_to_end(&mut reply.body).unwrap();
        Err(reply)
    }

    fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> BufReader<TcpStream> {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n",
            self.address,
            self.token,
            body.len()
        );
        headers.iter().for_each(|(name, value)| request += &format!("{name}: {value}\r\n"));
        request += "\r\n";
        socket.write_all(request.as_bytes()).unwrap();
        // A host that refuses early may have closed its ear by now.
        let _ = socket.write_all(body);
        BufReader::new(socket)
    }
}

fn head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let status = lines.first().expect("an answer").split_whitespace().nth(1).unwrap().parse().unwrap();
    let header =
        |line: &String| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    (status, lines.iter().skip(1).filter_map(header).collect())
}

enum Left {
    Unknown,
    Bytes(usize),
    Nothing,
}

/// The bytes of a chunked body.
struct Chunks {
    reader: BufReader<TcpStream>,
    left: Left,
}

impl Read for Chunks {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.left {
                Left::Nothing => return Ok(0),
                Left::Unknown => {
                    let mut line = String::new();
                    if self.reader.read_line(&mut line)? == 0 {
                        return Err(std::io::ErrorKind::UnexpectedEof.into());
                    }
                    let size = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
                    self.left = if size == 0 { Left::Nothing } else { Left::Bytes(size) };
                }
                Left::Bytes(left) => {
                    let most = left.min(room.len());
                    let read = self.reader.read(&mut room[..most])?;
                    if read == 0 {
                        return Err(std::io::ErrorKind::UnexpectedEof.into());
                    }
                    self.left = Left::Bytes(left - read);
                    if left == read {
                        let mut end = String::new();
                        self.reader.read_line(&mut end)?;
                        self.left = Left::Unknown;
                    }
                    return Ok(read);
                }
            }
        }
    }
}

/// A stream of events as it comes.
pub(crate) struct Stream {
    lines: BufReader<Chunks>,
    /// The comments that came so far.
    pub(crate) comments: Vec<String>,
}

impl Stream {
    /// The next event; none when the stream has ended as it should, an error when it was cut off.
    pub(crate) fn try_next(&mut self) -> std::io::Result<Option<Value>> {
        let (mut id, mut data) = (None, None);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let line = line.trim_end_matches('\n');
            if let Some(comment) = line.strip_prefix(": ") {
                self.comments.push(comment.to_owned());
            } else if let Some(value) = line.strip_prefix("id: ") {
                id = Some(value.to_owned());
            } else if let Some(value) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str::<Value>(value).unwrap());
            } else if line.is_empty() {
                if let Some(data) = data.take() {
                    assert_eq!(Some(data["id"].as_str().unwrap()), id.as_deref(), "an event has one id");
                    return Ok(Some(data));
                }
            } else {
                panic!("no line of a stream of events: {line:?}");
            }
        }
    }

    pub(crate) fn next(&mut self) -> Option<Value> {
        self.try_next().unwrap()
    }

    /// Events up to the first one of this type.
    pub(crate) fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.next().unwrap_or_else(|| panic!("the stream ended before {kind}: {events:?}"));
            let found = event["type"] == kind;
            events.push(event);
            if found {
                return events;
            }
        }
    }
}

/// The answer's text in these events.
pub(crate) fn answer_in(events: &[Value]) -> String {
    let deltas = events.iter().filter(|event| event["type"] == "assistant_delta");
    deltas.map(|event| event["payload"]["text"].as_str().unwrap()).collect()
}

/// These events are a contiguous piece of one log; its first and its last number.
#[track_caller]
pub(crate) fn contiguous(events: &[Value]) -> (u64, u64) {
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    let (first, last) = (*seqs.first().unwrap(), *seqs.last().unwrap());
    assert_eq!(seqs, (first..=last).collect::<Vec<u64>>());
    (first, last)
}
