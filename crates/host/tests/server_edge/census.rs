//! Every door of the table against every way to come in that must not work, and every way that must.

use switchboard_host::server::{Needs, ROUTES, Route};

use crate::http::{Answer, Request};
use crate::world::{ALLOWED_ORIGIN, TOKEN, World};

/// A path that leads to a door and to something behind it.
fn path_of(route: &Route, asset: &str) -> String {
    route.path.replace("/assets/{name}", asset).replace("{session}", "1")
}

/// A request for a door without any `Host`, `Origin` or credential.
fn bare(route: &Route, asset: &str) -> Request {
    let request = Request::new(route.method.as_str(), &path_of(route, asset));
    if route.path.starts_with("/ws/") { request.upgrade() } else { request.body("{}") }
}

fn let_in(answer: &Answer) -> bool {
    answer.status != 401 && answer.status != 403
}

/// What a door answers when nothing is presented: its own refusal of the missing code, or the guard's.
fn without_credential(route: &Route) -> u16 {
    match (route.needs, route.path) {
        (Needs::Nothing, "/login") => 403,
        (Needs::Nothing, _) => 200,
        (Needs::Token, _) => 401,
    }
}

#[test]
fn only_health_and_login_are_open() {
    let open: Vec<&str> = ROUTES.iter().filter(|route| route.needs == Needs::Nothing).map(|route| route.path).collect();
    assert_eq!(open, ["/login", "/healthz"]);
}

#[tokio::test]
async fn no_door_opens_without_a_good_credential() {
    let world = World::new().await;
    let asset = world.asset().await;
    for route in ROUTES {
        let wanted = without_credential(route);
        let none = bare(route, &asset).with("Host", &world.host()).send(world.address).await;
        assert_eq!(none.status, wanted, "{} without a token", route.path);
        let attempts = [
            ("Authorization", "Bearer wrong".to_owned()),
            ("Authorization", format!("Bearer {TOKEN}x")),
            ("Authorization", format!("Basic {TOKEN}")),
            ("Authorization", "Bearer ".to_owned()),
            ("Cookie", "switchboard-test=wrong".to_owned()),
            ("Cookie", format!("switchboard-test={TOKEN}")),
            ("Sec-WebSocket-Protocol", "switchboard.v1, bearer.wrong".to_owned()),
            ("Sec-WebSocket-Protocol", "switchboard.v1, bearer.".to_owned()),
            ("X-Token", TOKEN.to_owned()),
        ];
        for (name, value) in attempts {
            let answer = bare(route, &asset).with("Host", &world.host()).with(name, &value).send(world.address).await;
            assert_eq!(answer.status, wanted, "{} with {name}: {value}", route.path);
        }
    }
}

#[tokio::test]
async fn the_token_in_a_query_opens_nothing() {
    let world = World::new().await;
    let asset = world.asset().await;
    for route in ROUTES.iter().filter(|route| route.needs == Needs::Token) {
        for query in ["token", "access_token", "bearer", "code"] {
            let mut request = bare(route, &asset).with("Host", &world.host());
            request.target = format!("{}?{query}={TOKEN}", path_of(route, &asset));
            assert_eq!(request.send(world.address).await.status, 401, "{} with {query}", route.path);
        }
    }
}

#[tokio::test]
async fn a_host_that_is_not_ours_is_refused_at_every_door_even_with_the_token() {
    let world = World::new().await;
    let asset = world.asset().await;
    let port = world.address.port();
    let good = format!("Bearer {TOKEN}");
    for route in ROUTES {
        let foreign = [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            format!("127.0.0.1:{port}.evil.example"),
            "127.0.0.1".to_owned(),
        ];
        for host in foreign {
            let answer = bare(route, &asset).with("Host", &host).with("Authorization", &good).send(world.address).await;
            assert_eq!(answer.status, 403, "{} at {host}", route.path);
        }
        let missing = bare(route, &asset).with("Authorization", &good).send(world.address).await;
        assert_eq!(missing.status, 400, "{} without Host", route.path);
        let twice =
            bare(route, &asset).with("Host", &world.host()).with("Host", "evil.example").with("Authorization", &good);
        assert_eq!(twice.send(world.address).await.status, 400, "{} with two Hosts", route.path);
        let mut absolute = bare(route, &asset).with("Host", &world.host()).with("Authorization", &good);
        absolute.target = format!("http://evil.example{}", path_of(route, &asset));
        assert_eq!(absolute.send(world.address).await.status, 403, "{} by an absolute address", route.path);
    }
}

#[tokio::test]
async fn an_origin_that_is_neither_ours_nor_allowed_is_refused_at_every_door_even_with_the_token() {
    let world = World::new().await;
    let asset = world.asset().await;
    let good = format!("Bearer {TOKEN}");
    for route in ROUTES {
        let own = world.origin();
        let foreign = [
            "null",
            "http://evil.example",
            "https://127.0.0.1",
            "",
            "http://localhost:1",
            "file://",
            &format!("{own}/"),
            "*",
        ];
        for origin in foreign {
            let request =
                bare(route, &asset).with("Host", &world.host()).with("Origin", origin).with("Authorization", &good);
            assert_eq!(request.send(world.address).await.status, 403, "{} from {origin}", route.path);
        }
        let twice = bare(route, &asset).with("Host", &world.host()).with("Origin", &own).with("Origin", &own);
        assert_eq!(twice.with("Authorization", &good).send(world.address).await.status, 403, "{} from two", route.path);
    }
}

#[tokio::test]
async fn the_token_opens_every_door_from_home_and_from_allowed_places() {
    let world = World::new().await.attended();
    let asset = world.asset().await;
    let port = world.address.port();
    let good = format!("Bearer {TOKEN}");
    for route in ROUTES.iter().filter(|route| route.path != "/login") {
        for host in [world.host(), format!("LocalHost:{port}"), format!("[::1]:{port}"), "friend.example".to_owned()] {
            let answer = bare(route, &asset).with("Host", &host).with("Authorization", &good).send(world.address).await;
            assert!(let_in(&answer), "{} at {host}: {}", route.path, answer.status);
        }
        for origin in [world.origin(), ALLOWED_ORIGIN.to_owned()] {
            let request =
                bare(route, &asset).with("Host", &world.host()).with("Origin", &origin).with("Authorization", &good);
            let answer = request.send(world.address).await;
            assert!(let_in(&answer), "{} from {origin}: {}", route.path, answer.status);
        }
    }
}

#[tokio::test]
async fn with_the_cookie_alone_changes_and_upgrades_need_our_own_origin() {
    let world = World::new().await.attended();
    let asset = world.asset().await;
    let cookie = world.cookie().await;
    for route in ROUTES.iter().filter(|route| route.needs == Needs::Token) {
        let request = || bare(route, &asset).with("Host", &world.host()).with("Cookie", &format!("other=1; {cookie}"));
        let own = request().with("Origin", &world.origin()).send(world.address).await;
        assert!(let_in(&own), "{} from our own page: {}", route.path, own.status);
        let reads = route.method == "GET" && !route.path.starts_with("/ws/");
        for elsewhere in [request(), request().with("Origin", ALLOWED_ORIGIN)] {
            let answer = elsewhere.send(world.address).await;
            assert_eq!(answer.status != 403, reads, "{} from elsewhere: {}", route.path, answer.status);
        }
    }
}

#[tokio::test]
async fn the_subprotocol_opens_websockets_only_and_ours_is_selected() {
    let world = World::new().await;
    let asset = world.asset().await;
    let protocols = format!("switchboard.v1, bearer.{TOKEN}");
    for route in ROUTES.iter().filter(|route| route.needs == Needs::Token) {
        let request = bare(route, &asset).with("Host", &world.host()).with("Sec-WebSocket-Protocol", &protocols);
        let answer = request.send(world.address).await;
        let wanted = if route.path.starts_with("/ws/") { 101 } else { 401 };
        assert_eq!(answer.status, wanted, "{}", route.path);
        if wanted == 101 {
            assert_eq!(answer.header("sec-websocket-protocol"), Some("switchboard.v1"));
            assert_eq!(answer.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        }
    }
}

#[tokio::test]
async fn what_there_is_not_is_refused_before_it_is_missed() {
    let world = World::new().await;
    let paths =
        ["/nothing", "/ws/other", "/healthz/", "//healthz", "/login/x", "/HEALTHZ", "/%68ealthz", "/../healthz"];
    let below =
        ["/assets", "/assets/", "/assets/no-such.js", "/assets/../healthz", "/assets/x/y", "/assets/%2e%2e%2fx"];
    for path in paths.into_iter().chain(below) {
        let without = world.get(path).send(world.address).await;
        assert_eq!(without.status, 401, "{path}");
        let with = world.get(path).with("Authorization", &format!("Bearer {TOKEN}")).send(world.address).await;
        assert_eq!((with.status, with.body.contains("\"code\":\"not_found\"")), (404, true), "{path}");
    }
    let wrong = Request::new("DELETE", "/healthz").with("Host", &world.host());
    assert_eq!(wrong.send(world.address).await.status, 401);
    let wrong = Request::new("DELETE", "/healthz").with("Host", &world.host());
    let answer = wrong.with("Authorization", &format!("Bearer {TOKEN}")).send(world.address).await;
    assert_eq!((answer.status, answer.body.contains("method_not_allowed")), (405, true));
}

#[tokio::test]
async fn no_answer_opens_itself_to_other_origins_and_every_answer_is_sealed() {
    let world = World::new().await.attended();
    let asset = world.asset().await;
    for route in ROUTES {
        for credential in ["Bearer wrong".to_owned(), format!("Bearer {TOKEN}")] {
            let request = bare(route, &asset).with("Host", &world.host()).with("Origin", ALLOWED_ORIGIN);
            let answer = request.with("Authorization", &credential).send(world.address).await;
            assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")), "{}", route.path);
            // What carries its own digest in its name may be kept, by whoever was let in.
            let kept = route.path == "/assets/{name}" && answer.status == 200;
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cache-control", if kept { "private, max-age=31536000, immutable" } else { "no-store" }),
                ("cross-origin-resource-policy", "same-origin"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{} of {}", name, route.path);
            }
            assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
        }
    }
    let refusals = world.metrics.to_text();
    let guarded = ROUTES.iter().filter(|route| route.needs == Needs::Token).count();
    let counted = format!("switchboard_refusals_total{{kind=\"wrong_credential\"}} {guarded}\n");
    assert!(refusals.contains(&counted), "{refusals}");
}
