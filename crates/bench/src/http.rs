//! As much of HTTP as the servers of the bench need: a request is read, a small answer is written. Knows no route.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Result, bail};
use serde_json::Value;

/// The longest body that is read; a model is sent its whole conversation each time.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its path, with the query.
    pub path: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// Answers with JSON.
pub fn answer(mut peer: &TcpStream, status: &str, value: &Value) -> Result<()> {
    let body = value.to_string();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    peer.write_all(format!("{head}{body}").as_bytes())?;
    Ok(())
}

/// The next request of a connection; none when it is over.
pub fn read(reader: &mut BufReader<TcpStream>) -> Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { bail!("no request: {line}") };
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? <= 2 {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    if length > MAX_BODY_BYTES {
        bail!("a body of {length} bytes");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { method, path, body }))
}
