//! Secrets stay where they belong: one of its own kind in every place where the host holds one, and then every place is
//! searched that a view, a page, a log, a metric, an error or a listing can be read from.
//!
//! What an agent itself says is its own word: it is shown and kept as it came. So the agents here say nothing of what they
//! were granted; one of them says all that it can see without having been granted anything.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::host::{Host, Place, eventually, shell_agent};
use super::view::View;

/// Each is found nowhere but where it was put.
const GRANTED: &str = "canary-granted-3f9a1c77";
const PASSED_ON: &str = "canary-passed-on-8d21b0e4";
const OF_THE_HOST: &str = "canary-of-the-host-51c6d2aa";
const USERINFO: &str = "canary-userinfo-e07b9f13";
const CONFIGURED: &str = "canary-configured-c4487be0";
const OF_THE_ENGINE: &str = "canary-of-the-engine-9b02f6dd";
const KEPT: &str = "canary-kept-77d1e35c";
const OF_THE_MODELS: &str = "canary-of-the-models-2e6f40b1";

/// Says that it is there, and nothing else.
const TRUSTED_WITH_MUCH: &str = r#"say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"chunk\":\"done\"}"
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\"}""#;

/// Says everything that it can see, and complains about it, too.
const NOSY: &str = r#"seen=$(env | tr '\n"\\' '   ')
      echo "complaint: $seen" >&2
      say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"chunk\":\"$seen\"}"
      say "{\"type\":\"error\",\"sessionId\":\"$id\",\"message\":\"$seen\"}""#;

fn place() -> Place {
    let granted = format!(
        "env = {{ API_KEY = \"{GRANTED}\", PROXY = \"http://user:{USERINFO}@proxy.example:1/\" }}\n\
         inherit = [\"PASSED_ON\"]\nrecord = true\n"
    );
    let place = Place::new().with_agent("granted", &shell_agent(TRUSTED_WITH_MUCH)).with_config(&granted);
    // What cannot start complains, and must not complain with what it was given.
    let broken = format!(
        "\n[agents.broken]\nkind = \"plain\"\ncommand = [\"./not-there\"]\nenv = {{ TOKEN = \"{CONFIGURED}\" }}\n\
         \n[agents.dying]\nkind = \"acp\"\ncommand = [\"false\"]\nenv = {{ TOKEN = \"{CONFIGURED}\" }}\n"
    );
    place.with_agent("nosy", &shell_agent(NOSY)).with_config("record = true\n").with_config(&broken).trusted()
}

/// An engine that repeats every header that it gets: in its answers, its refusals and its events. The secret that it got.
struct Parrot {
    port: u16,
    heard: std::sync::Arc<std::sync::Mutex<String>>,
}

impl Parrot {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let parrot = Self { port: listener.local_addr().unwrap().port(), heard: Default::default() };
        let heard = std::sync::Arc::clone(&parrot.heard);
        std::thread::spawn(move || {
            for peer in listener.incoming().flatten() {
                let heard = std::sync::Arc::clone(&heard);
                // Whoever leaves early has heard enough.
                std::thread::spawn(move || drop(Self::answer(&peer, &heard)));
            }
        });
        parrot
    }

    fn answer(mut peer: &TcpStream, heard: &std::sync::Mutex<String>) -> std::io::Result<()> {
        let mut reader = BufReader::new(peer.try_clone()?);
        let (mut head, mut length) = (String::new(), 0);
        while reader.read_line(&mut head)? > 2 {
            let last = head.lines().last().unwrap_or_default().to_ascii_lowercase();
            length = last.strip_prefix("content-length: ").and_then(|size| size.parse().ok()).unwrap_or(length);
        }
        reader.read_exact(&mut vec![0; length])?;
        heard.lock().unwrap().push_str(&head);
        let said = head.replace(['\r', '\n', '"'], " ");
        let line = head.lines().next().unwrap_or_default();
        let (status, body) = if line.starts_with("POST /v1/sessions ") {
            ("201 Created", json!({"session_id": "p1", "status": "running", "echo": said}))
        } else if line.contains("/events") {
            let event = |seq: u32, kind: &str, payload: serde_json::Value| {
                let data = json!({"id": seq.to_string(), "seq": seq, "type": kind, "session_id": "p1", "turn": 1,
                    "timestamp_ms": 1, "protocol_version": "1.0", "payload": payload});
                format!("id: {seq}\ndata: {data}\n\n")
            };
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            peer.write_all(head.as_bytes())?;
            peer.write_all(event(1, "warning", json!({"message": said})).as_bytes())?;
            peer.write_all(event(2, "assistant_delta", json!({"message_id": "x", "text": said})).as_bytes())?;
            peer.write_all(event(3, "something.new", json!({"echo": said})).as_bytes())?;
            peer.write_all(event(4, "error", json!({"code": "x", "message": said})).as_bytes())?;
            // Open until the caller leaves.
            reader.read_to_end(&mut Vec::new())?;
            return Ok(());
        } else if line.contains("/v1/health") {
            ("200 OK", json!({"status": "ok", "protocol_version": "1.0", "engine_version": said}))
        } else {
            ("500 Internal Server Error", json!({"code": "boom", "message": said, "details": {"echo": said}}))
        };
        let body = body.to_string();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n");
        peer.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
    }
}

fn serve(place: &Place) -> Host {
    place.serve_with(|command| {
        command.env("PASSED_ON", PASSED_ON).env("HOST_API_TOKEN", OF_THE_HOST).env("SWITCHBOARD_LOG", "debug");
    })
}

/// Stores a secret as people do.
fn keep(place: &Place, name: &str, value: &str) {
    let mut command = place.command(&["secrets", "set", name]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(!format!("{out:?}").contains(value));
}

/// Everything that was read anywhere, with the name of the place.
struct Sinks {
    seen: Vec<(String, Vec<u8>)>,
}

impl Sinks {
    fn add(&mut self, place: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.seen.push((place.into(), bytes.into()));
    }

    fn assert_free_of(&self, secrets: &[&str]) {
        for (place, bytes) in &self.seen {
            for secret in secrets {
                let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!found, "{secret} is in {place}");
            }
        }
    }
}

/// Asks every door, rightly and wrongly.
fn doors(host: &Host, sinks: &mut Sinks) {
    let bearer = host.bearer();
    let page = host.get("/", &bearer);
    let asset = page.0.split('"').find(|part| part.starts_with("/assets/")).unwrap_or("/assets/none").to_owned();
    sinks.add("the page", page.0);
    let wrong = format!("Authorization: Bearer {}\r\n", "0".repeat(64));
    for path in ["/", &asset, "/metrics", "/healthz", "/login", "/login?code=wrong", "/no/such", "/ws/tabs", "/wire/1"]
    {
        for (who, headers) in [("us", bearer.as_str()), ("a stranger", wrong.as_str()), ("nobody", "")] {
            sinks.add(format!("{path} for {who}"), host.get(path, headers).0);
        }
    }
    for path in
        ["/wire/99", "/control/session?id=99", "/control/log?id=1&after=0", "/control/sessions", "/control/rules"]
    {
        sinks.add(path, host.get(path, &bearer).0);
    }
    sinks.add("/control/configuration", host.get("/control/configuration", &bearer).0);
    sinks.add(
        "another Host",
        host.http(&format!("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n{bearer}\r\n")).0,
    );
    let post = |path: &str, body: &str| {
        let (own, size) = (host.address(), body.len());
        let head = format!("POST {path} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\nContent-Length: {size}\r\n");
        host.http(&format!("{head}{bearer}\r\n{body}")).0
    };
    for (path, body) in
        [("/control/trust", "{"), ("/control/workspace", "{}"), ("/metrics", ""), ("/control/delete", "{\"id\":99}")]
    {
        sinks.add(format!("POST {path}"), post(path, body));
    }
}

/// Talks through a view's dialect; all that it was told.
async fn talk_tabs(host: &Host, sinks: &mut Sinks) {
    let mut view = host.view().await;
    for (tab, agent) in
        [("granted", "granted"), ("nosy", "nosy"), ("broken", "broken"), ("dying", "dying"), ("none", "none")]
    {
        view.send(json!({"type": "new-tab", "tabId": tab, "agent": agent})).await;
        view.prompt(tab, &format!("{tab}-turn"), "say what you know").await;
    }
    for tab in ["granted", "nosy", "broken", "dying"] {
        view.wait_done(&format!("{tab}-turn")).await;
    }
    view.send_text("{broken").await;
    view.wait_error("bad_json").await;
    view.send(json!({"type": "restart-agent", "tabId": "dying"})).await;
    view.sync().await;
    let all = format!("{:?}", view.told);
    assert!(all.contains("SWITCHBOARD_LIFE"), "the nosy agent has said what it sees: {all}");
    sinks.add("the dialect tabs", all);
}

async fn talk_others(host: &Host, sinks: &mut Sinks) {
    let mut tools = View::connect_in("tools", host.address(), host.token()).await;
    tools.send(json!({"type": "GET_TOOLS", "requestId": "1"})).await;
    let shell = json!({"toolName": "run_terminal_command", "parameters": {"command": "env", "timeout": "wrong"}});
    tools.send(json!({"type": "EXECUTE_TOOL", "requestId": "2", "request": shell})).await;
    tools.send(json!({"type": "NO_SUCH", "requestId": "3"})).await;
    tools.wait_for("the last answer", |told| told["requestId"] == "3").await;
    sinks.add("the dialect tools", format!("{:?}", tools.told));
    let mut own = View::connect_in("switchboard", host.address(), host.token()).await;
    own.send(json!({"type": "hello", "version": "test", "seats": []})).await;
    own.send(json!({"type": "no-such-type"})).await;
    own.next().await;
    own.next().await;
    sinks.add("the dialect switchboard", format!("{:?}", own.told));
}

/// Reads an answer until it says something, or ends.
fn streamed(host: &Host, path: &str, until: &str) -> String {
    let mut socket = TcpStream::connect(host.address()).unwrap();
    socket.set_read_timeout(Some(super::host::PATIENCE)).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{}\r\n", host.address(), host.bearer());
    socket.write_all(head.as_bytes()).unwrap();
    let (mut text, mut buffer) = (String::new(), vec![0; 64 * 1024]);
    while !text.contains(until) {
        let got = socket.read(&mut buffer).unwrap();
        assert!(got > 0, "{path} ended before {until}: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..got]));
    }
    text
}

/// What the doors say that know sessions by their ids: the dialect `bb`, HTTP, and its stream.
async fn talk_by_id(host: &Host, sinks: &mut Sinks) {
    let mut bb = View::connect_in("bb", host.address(), host.token()).await;
    let ask = |id: &str, method: &str, params: serde_json::Value| json!({"v": 1, "kind": "req", "id": id, "method": method, "params": params});
    bb.send(ask("list", "bb.init", json!({}))).await;
    let listed = bb.wait_for("who is there", |told| told["id"] == "list").await["result"].clone();
    for agent in ["granted", "nosy"] {
        let known = listed["sessions"].as_array().unwrap().iter().find(|session| session["agent"] == agent);
        let session = known.unwrap_or_else(|| panic!("{listed}"))["sessionId"].as_str().unwrap();
        for (method, params) in [
            ("bb.selectSession", json!({"sessionId": session})),
            ("bb.listFiles", json!({"sessionId": session, "path": ".."})),
            ("bb.openDiff", json!({"sessionId": session, "filePath": "none"})),
            ("bb.downloadArtifact", json!({"sessionId": session, "artifactPath": "log.jsonl"})),
            ("bb.command", json!({"sessionId": session, "command": "no_such"})),
            ("bb.noSuch", json!({})),
        ] {
            let id = format!("{agent} {method}");
            bb.send(ask(&id, method, params)).await;
            let answer = bb.wait_for(method, |told| told["id"] == id.as_str()).await;
            if let Some(url) = answer["result"]["url"].as_str() {
                sinks.add("an artifact", host.get(url, &host.bearer()).0);
            }
        }
        over_http(host, session, sinks);
    }
    let ends = |told: &[serde_json::Value]| format!("{told:?}").matches("run_finished").count();
    while ends(&bb.told) < 2 {
        assert!(bb.next().await.is_some(), "the link ended: {:?}", bb.told);
    }
    let all = format!("{:?}", bb.told);
    assert!(all.contains("SWITCHBOARD_LIFE"), "what the nosy agent has said comes here, too: {all}");
    sinks.add("the dialect bb", all);
}

/// Reads everything that `/v1` has of a session, and of one that is not there.
fn over_http(host: &Host, session: &str, sinks: &mut Sinks) {
    let bearer = host.bearer();
    let doors = switchboard_host::server::ROUTES.iter().filter(|route| route.path.starts_with("/v1/"));
    let reading: Vec<_> = doors.filter(|route| route.method == "GET").map(|route| route.path).collect();
    assert!(reading.contains(&"/v1/sessions/{session}/events"), "{reading:?}");
    for door in reading {
        let path = door.replace("{session}", session);
        if door.ends_with("/events") {
            sinks.add("the stream of /v1", streamed(host, &format!("{path}?replay=true"), "run_finished"));
            sinks.add("a cursor that is none", host.get(&format!("{path}?from_id=9:9"), &bearer).0);
        } else {
            sinks.add(path.clone(), host.get(&path, &bearer).0);
        }
        sinks.add(format!("{door} of nobody"), host.get(&door.replace("{session}", "99"), &bearer).0);
    }
}

/// Runs the command line; both its outputs.
fn commands(place: &Place, sinks: &mut Sinks) {
    let asked: [&[&str]; 13] = [
        &["sessions", "list", "--json"],
        &["sessions", "show", "1"],
        &["sessions", "export", "1"],
        &["sessions", "export", "2"],
        &["inspect", "1", "--json"],
        &["inspect", "2", "--json"],
        &["doctor", "--json"],
        &["doctor"],
        &["agents", "list", "--json"],
        &["agents", "check", "granted", "--json"],
        &["agents", "check", "dying", "--json"],
        &["agents", "check", "broken"],
        &["rules", "list", "--json"],
    ];
    for arguments in asked {
        let mut command = place.command(arguments);
        command.env("PASSED_ON", PASSED_ON).env("HOST_API_TOKEN", OF_THE_HOST).env("SWITCHBOARD_LOG", "debug");
        let out = command.output().unwrap();
        sinks.add(format!("{arguments:?}"), [out.stdout, out.stderr].concat());
    }
}

/// The files of the data folder. A secret may be in a file of its own, which only its owner can read.
fn stored(folder: &Path, own: &[&str], sinks: &mut Sinks) {
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path, sort) = (entry.path(), entry.file_type().unwrap());
            if sort.is_dir() {
                folders.push(path);
            } else if sort.is_file() {
                if own.iter().any(|name| entry.file_name() == *name) {
                    let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                    assert_eq!(mode, 0o600, "{}", path.display());
                } else {
                    // What is gone meanwhile holds nothing.
                    sinks.add(path.display().to_string(), std::fs::read(&path).unwrap_or_default());
                }
            }
        }
    }
}

#[tokio::test]
async fn no_secret_of_the_host_or_of_an_agent_reaches_a_view_a_page_a_log_a_metric_or_an_error() {
    let place = place();
    let host = serve(&place);
    let token = host.token().to_owned();
    let mut sinks = Sinks { seen: Vec::new() };
    talk_tabs(&host, &mut sinks).await;
    talk_others(&host, &mut sinks).await;
    talk_by_id(&host, &mut sinks).await;
    doors(&host, &mut sinks);
    let recorded = || std::fs::read_dir(place.data().join("wire")).is_ok_and(|files| files.count() >= 2);
    eventually("the records of both wires", recorded);
    commands(&place, &mut sinks);
    stored(&place.data(), &["token"], &mut sinks);
    sinks.add("the log", host.log());
    assert!(host.log().contains("DEBUG"), "the log says much: {}", host.log());
    // Whatever else they may see of each other, this is the nosy agent's whole world.
    sinks.assert_free_of(&[&token, GRANTED, PASSED_ON, OF_THE_HOST, USERINFO, CONFIGURED]);
    assert_eq!(host.stop(), Some(0));
    let mut after = Sinks { seen: Vec::new() };
    stored(&place.data(), &["token"], &mut after);
    after.assert_free_of(&[&token, GRANTED, PASSED_ON, OF_THE_HOST, USERINFO, CONFIGURED]);
}

#[tokio::test]
async fn the_token_of_an_engine_reaches_that_engine_and_nobody_else_whatever_the_engine_repeats() {
    let parrot = Parrot::start();
    let engines = format!(
        "\n[agents.parrot]\nkind = \"engine\"\nurl = \"http://127.0.0.1:{}\"\nsecret = \"engine\"\n\
         \n[agents.gone]\nkind = \"engine\"\nurl = \"http://127.0.0.1:1\"\nsecret = \"kept\"\n\
         \n[agents.elsewhere]\nkind = \"engine\"\nurl = \"http://localhost:2\"\nsecret = \"kept\"\n",
        parrot.port
    );
    let settings = "\n[settings]\nbase_url = \"http://127.0.0.1:3\"\n";
    let place = Place::new().with_config(&engines).with_config(settings).trusted();
    keep(&place, "model-server", OF_THE_MODELS);
    keep(&place, "engine", OF_THE_ENGINE);
    keep(&place, "kept", KEPT);
    let host = serve(&place);
    let mut sinks = Sinks { seen: Vec::new() };
    let mut view = host.view().await;
    for tab in ["parrot", "gone", "elsewhere"] {
        view.send(json!({"type": "new-tab", "tabId": tab, "agent": tab})).await;
        view.wait_for("a tab", |told| told["tabId"] == tab).await;
        if tab == "parrot" {
            let recorded = place.command(&["inspect", "1", "--record", "on"]).output().unwrap();
            assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
        }
        view.prompt(tab, &format!("{tab}-turn"), "repeat what you hear").await;
    }
    // What it repeats is kept, without the token.
    eventually("what the engine repeats", || {
        let out = place.command(&["sessions", "export", "1"]).output().unwrap();
        String::from_utf8_lossy(&out.stdout).matches("[removed]").count() >= 4
    });
    view.sync().await;
    let heard = || parrot.heard.lock().unwrap().clone();
    assert!(heard().contains(OF_THE_ENGINE), "the engine gets its token");
    assert!(!heard().contains(KEPT) && !heard().contains(OF_THE_MODELS) && !heard().contains(host.token()));
    let mut own = View::connect_in("switchboard", host.address(), host.token()).await;
    own.send(json!({"type": "hello", "version": "test", "seats": []})).await;
    own.send(json!({"type": "openTab", "tab": "parrot"})).await;
    own.wait_for("the end of the turn", |told| told.to_string().contains("did not take the prompt")).await;
    sinks.add("the dialect switchboard", format!("{:?}", own.told));
    doors(&host, &mut sinks);
    commands(&place, &mut sinks);
    for arguments in
        [&["agents", "check", "parrot", "--json"][..], &["agents", "check", "gone"], &["secrets", "list", "--json"]]
    {
        let out = place.command(arguments).output().unwrap();
        sinks.add(format!("{arguments:?}"), [out.stdout, out.stderr].concat());
    }
    sinks.add("the dialect tabs", format!("{:?}", view.told));
    sinks.add("the log", host.log());
    stored(&place.data(), &["token", "secrets.json"], &mut sinks);
    sinks.assert_free_of(&[host.token(), OF_THE_ENGINE, KEPT, OF_THE_MODELS]);
}

#[tokio::test]
async fn a_mistake_in_the_configuration_is_told_without_the_values_around_it() {
    let place = Place::new().trusted();
    let wrong = [
        format!("[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nenv = {{ K = \"{CONFIGURED}\", L = 5 }}\n"),
        format!("[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nenv = {{ K = \"{CONFIGURED}\" \n"),
        format!("[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nenv = [\"{CONFIGURED}\"]\n"),
        format!("[agents.a]\nkind = \"engine\"\nurl = \"http://user:{CONFIGURED}@127.0.0.1:1/\"\n"),
        format!("[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\ninherit = [\"K={CONFIGURED}\"]\n"),
    ];
    let host = serve(&place);
    let mut sinks = Sinks { seen: Vec::new() };
    for text in wrong {
        place.configure(&text);
        eventually("the mistake is noticed", || {
            host.get("/control/configuration", &host.bearer()).body().contains("config.toml")
        });
        doors(&host, &mut sinks);
        let mut own = View::connect_in("switchboard", host.address(), host.token()).await;
        own.send(json!({"type": "hello", "version": "test", "seats": []})).await;
        own.next().await;
        sinks.add("the dialect switchboard", format!("{:?}", own.told));
        for arguments in [&["doctor", "--json"][..], &["agents", "list", "--json"], &["agents", "check", "a", "--json"]]
        {
            let out = place.command(arguments).output().unwrap();
            sinks.add(format!("{arguments:?} for {text}"), [out.stdout, out.stderr].concat());
        }
    }
    sinks.add("the log", host.log());
    sinks.assert_free_of(&[CONFIGURED, host.token()]);
}
