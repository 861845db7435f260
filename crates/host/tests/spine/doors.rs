//! The doors of the running program: token, login, cookie, Host and Origin, health and metrics, the page.

use std::io::{BufRead, BufReader};

use super::host::{Answer, Host, Place};

/// Every door of the program, with what it answers to somebody who may come in.
const DOORS: [(&str, &str, u16); 14] = [
    ("GET", "/", 200),
    ("GET", "/healthz", 200),
    ("GET", "/login", 403),
    ("GET", "/metrics", 200),
    ("GET", "/ws/tabs", 101),
    ("GET", "/ws/tools", 101),
    ("GET", "/ws/bb", 101),
    ("GET", "/ws/chat", 101),
    ("GET", "/artifact/0123", 404),
    ("POST", "/control/artifact", 200),
    ("POST", "/control/login", 200),
    ("POST", "/control/trust", 400),
    ("POST", "/control/workspace", 400),
    ("GET", "/no/such/door", 404),
];

const UPGRADE: &str =
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

fn ask(host: &Host, method: &str, path: &str, host_name: &str, headers: &str) -> Answer {
    let (upgrade, connection) = if path.starts_with("/ws") { (UPGRADE, "Upgrade") } else { ("", "close") };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host_name}\r\nConnection: {connection}\r\nContent-Length: 0\r\n{upgrade}{headers}\r\n"
    );
    // An upgraded connection stays open, so only the head is read.
    use std::io::Write;
    let mut socket = std::net::TcpStream::connect(host.address()).unwrap();
    socket.set_read_timeout(Some(super::host::PATIENCE)).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut head = String::new();
    let mut lines = BufReader::new(socket);
    while lines.read_line(&mut head).unwrap() > 2 {}
    Answer(head)
}

#[test]
fn every_door_checks_token_host_and_origin_before_anything_else() {
    let place = Place::new();
    let host = place.serve();
    let (own, bearer) = (host.address().to_owned(), host.bearer());
    for (method, path, welcome) in DOORS {
        let open = path == "/healthz" || path == "/login";
        let status = |name: &str, headers: &str| ask(&host, method, path, name, headers).status();
        let what = format!("{method} {path}");
        assert_eq!(status(&own, &bearer), welcome, "{what} with the token");
        let stranger = if open { welcome } else { 401 };
        assert_eq!(status(&own, ""), stranger, "{what} without a token");
        let wrong = format!("Authorization: Bearer {}\r\n", "0".repeat(64));
        assert_eq!(status(&own, &wrong), stranger, "{what} with a wrong token");
        for name in ["evil.example", "127.0.0.1.evil.example", "localhost", "evil.example:80"] {
            assert_eq!(status(name, &bearer), 403, "{what} at the Host {name}");
        }
        for origin in ["http://evil.example", "null", "https://127.0.0.1", "file://"] {
            let headers = format!("{bearer}Origin: {origin}\r\n");
            assert_eq!(status(&own, &headers), 403, "{what} from the Origin {origin}");
        }
        let ours = format!("{bearer}Origin: {}\r\n", host.url());
        assert_eq!(status(&own, &ours), welcome, "{what} from our own Origin");
    }
}

#[test]
fn the_login_link_works_once_and_sets_a_cookie_that_is_not_the_token() {
    let place = Place::new();
    let host = place.serve();
    let login = host.ready["login"].as_str().unwrap().strip_prefix(host.url()).unwrap().to_owned();
    let first = host.get(&login, "");
    assert_eq!(first.status(), 303);
    let cookie = first.header("set-cookie").unwrap();
    for wanted in ["HttpOnly", "SameSite=Strict", "switchboard-"] {
        assert!(cookie.contains(wanted), "{cookie}");
    }
    assert!(!cookie.contains(host.token()), "the token stays south");
    assert_eq!(host.get(&login, "").status(), 403, "a second use fails");
    let pair = cookie.split(';').next().unwrap();
    let page = host.get("/", &format!("Cookie: {pair}\r\n"));
    assert_eq!(page.status(), 200);
    assert!(!page.0.contains(host.token()), "nor in the page");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("nonce-"), "{policy}");
    // The cookie alone opens no WebSocket and changes nothing without our own Origin.
    let cookie = format!("Cookie: {pair}\r\n");
    let own = host.address().to_owned();
    assert_eq!(ask(&host, "GET", "/ws/tabs", &own, &cookie).status(), 403);
    let with_origin = format!("{cookie}Origin: {}\r\n", host.url());
    assert_eq!(ask(&host, "GET", "/ws/tabs", &own, &with_origin).status(), 101);
    assert_eq!(ask(&host, "POST", "/control/login", &own, &cookie).status(), 403);
}

#[test]
fn a_websocket_that_cannot_set_headers_brings_its_token_as_a_subprotocol() {
    let place = Place::new();
    let host = place.serve();
    let own = host.address().to_owned();
    let headers = format!("Sec-WebSocket-Protocol: switchboard.v1, bearer.{}\r\n", host.token());
    let answer = ask(&host, "GET", "/ws/tabs", &own, &headers);
    assert_eq!(answer.status(), 101);
    assert_eq!(answer.header("sec-websocket-protocol"), Some("switchboard.v1"));
    let wrong = "Sec-WebSocket-Protocol: switchboard.v1, bearer.nonsense\r\n";
    assert_eq!(ask(&host, "GET", "/ws/tabs", &own, wrong).status(), 401);
}

#[test]
fn a_page_without_a_cookie_says_what_to_do() {
    let place = Place::new();
    let host = place.serve();
    let page = host.get("/", "Accept: text/html\r\n");
    assert_eq!(page.status(), 401);
    assert!(page.body().contains("switchboard open"), "{}", page.0);
}

#[test]
fn an_allowed_origin_comes_in_with_the_token_and_not_with_the_cookie_alone() {
    let place = Place::new().with_config("[server]\nallowed_origins = [\"chrome-extension://abc\"]\n");
    let host = place.serve();
    let own = host.address().to_owned();
    let headers = format!("{}Origin: chrome-extension://abc\r\n", host.bearer());
    assert_eq!(ask(&host, "GET", "/ws/tabs", &own, &headers).status(), 101);
    let login = host.ready["login"].as_str().unwrap().strip_prefix(host.url()).unwrap().to_owned();
    let answer = host.get(&login, "");
    let pair = answer.header("set-cookie").unwrap().split(';').next().unwrap();
    let headers = format!("Cookie: {pair}\r\nOrigin: chrome-extension://abc\r\n");
    assert_eq!(ask(&host, "GET", "/ws/tabs", &own, &headers).status(), 403);
}

#[tokio::test]
async fn health_and_metrics_tell_how_it_goes() {
    let place = Place::new();
    let host = place.serve();
    assert_eq!(host.get("/healthz", "").status(), 200);
    let mut view = host.view().await;
    view.open("tab").await;
    view.prompt("tab", "m1", "demo: fast 10").await;
    view.wait_done("m1").await;
    let metrics = host.get("/metrics", &host.bearer());
    let events = metrics.body().lines().find(|line| line.contains("events_total ") && !line.starts_with('#')).unwrap();
    let events: u64 = events.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(events >= 14, "{}", metrics.body());
}

#[test]
fn open_prints_a_fresh_link_and_fails_with_5_where_no_host_runs() {
    let place = Place::new();
    let out = place.command(&["open", "--json"]).output().unwrap();
    assert_eq!(out.status.code(), Some(5));
    let host = place.serve();
    let out = place.command(&["open", "--json"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let line: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let path = line["login"].as_str().unwrap().strip_prefix(host.url()).unwrap().to_owned();
    assert_eq!(host.get(&path, "").status(), 303);
}
