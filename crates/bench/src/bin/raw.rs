//! The raw limits: a child's pipe copied to sockets, a file sent to a socket, and a stream over HTTP copied to sockets. Looks
//! at no byte.
//!
//! Prints `{"port": N}` when it listens, and greets every view with one byte. A line on standard input is the arguments of
//! the next run of the agent, or, for a file, says that it is to be sent; a stream is copied as it comes. The end of standard
//! input ends it.

use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, Result, bail};
use rustix::fs::sendfile;

/// Bytes of one read; a pipe holds no more.
const READ_BYTES: usize = 64 * 1024;

type Views = Arc<Mutex<Vec<TcpStream>>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-raw: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let listener = TcpListener::bind("127.0.0.1:0").context("listen")?;
    let port = listener.local_addr()?.port();
    let views = Views::default();
    let arriving = Arc::clone(&views);
    thread::spawn(move || welcome(&listener, &arriving));
    if let [what, from, path] = words.as_slice()
        && what == "stream"
    {
        follow(from, path, &views)?;
    }
    println!("{}", serde_json::json!({ "port": port }));
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut views = views.lock().unwrap_or_else(PoisonError::into_inner);
        match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["relay", agent] => relay(agent, &line, &mut views)?,
            ["sendfile", file] => views.retain(|view| send(file, view).is_ok()),
            ["stream", ..] => {}
            _ => bail!("usage: bench-raw relay AGENT | sendfile FILE | stream PORT PATH"),
        }
    }
    Ok(())
}

fn welcome(listener: &TcpListener, views: &Views) {
    for mut view in listener.incoming().flatten() {
        let mut all = views.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that have left are noticed when somebody comes.
        all.retain(|view| !has_left(view));
        // Greeted with the list in hand: whoever was greeted is in it.
        if view.set_nodelay(true).and_then(|()| view.write_all(b".")).is_ok() {
            all.push(view);
        }
    }
}

fn has_left(view: &TcpStream) -> bool {
    let looked = view.set_nonblocking(true).and_then(|()| view.peek(&mut [0]));
    let left = !matches!(looked, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    view.set_nonblocking(false).is_err() || left
}

fn relay(agent: &str, load: &str, views: &mut Vec<TcpStream>) -> Result<()> {
    let mut child = Command::new(agent)
        .arg("lines")
        .args(load.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("the agent")?;
    let mut pipe = child.stdout.take().context("no pipe")?;
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let got = pipe.read(&mut buffer)?;
        if got == 0 {
            break;
        }
        let bytes = buffer.get(..got).unwrap_or_default();
        views.retain_mut(|view| view.write_all(bytes).is_ok());
    }
    child.wait()?;
    Ok(())
}

/// Copies what comes from a stream, its head included, to all views.
fn follow(port: &str, path: &str, views: &Views) -> Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse()?)).context("the stream")?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").as_bytes())?;
    let mut buffer = vec![0; READ_BYTES];
    // The first bytes say that it is followed.
    let _ = stream.peek(&mut buffer)?;
    let views = Arc::clone(views);
    thread::spawn(move || {
        while let Ok(got @ 1..) = stream.read(&mut buffer) {
            let bytes = buffer.get(..got).unwrap_or_default();
            views.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|view| view.write_all(bytes).is_ok());
        }
    });
    Ok(())
}

fn send(file: &str, view: &TcpStream) -> Result<()> {
    let file = File::open(file)?;
    let mut left = usize::try_from(file.metadata()?.len())?;
    while left > 0 {
        match sendfile(view, &file, None, left)? {
            0 => bail!("the file ended early"),
            sent => left -= sent,
        }
    }
    Ok(())
}
