//! The one-time link, the cookie and the page.

use crate::http::Request;
use crate::world::{TOKEN, World};

#[tokio::test]
async fn a_login_link_works_once_and_sets_a_cookie_that_is_not_the_token() {
    let world = World::new().await;
    let looked_at = Request::new("HEAD", &world.login_target()).with("Host", &world.host()).send(world.address).await;
    assert_eq!((looked_at.status, looked_at.header("set-cookie")), (204, None));

    let first = world.get(&world.login_target()).send(world.address).await;
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").unwrap();
    assert!(cookie.starts_with("switchboard-test=") && !cookie.contains(TOKEN), "{cookie}");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{part} in {cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");

    let second = world.get(&world.login_target()).send(world.address).await;
    assert_eq!((second.status, second.header("set-cookie")), (403, None));
    assert!(second.body.contains("switchboard open"));
}

#[tokio::test]
async fn crafted_links_lead_nowhere_and_leak_nothing() {
    let world = World::new().await;
    let code = world.login_target();
    let code = code.strip_prefix("/login?code=").unwrap();
    let crafted = [
        "/login",
        "/login?",
        "/login?code=",
        "/login?code=%00",
        "/login?code=x&next=//evil.example",
        "/login?next=https://evil.example&url=//evil.example",
        "/login?Code=x",
        "/?ws=ws://evil.example&gatewayUrl=ws://evil.example",
    ];
    for target in crafted {
        let answer = world.get(target).send(world.address).await;
        let whole = format!("{:?}", answer);
        assert!(answer.status == 403 || answer.status == 401, "{target}: {}", answer.status);
        assert!(answer.header("location").is_none() && answer.header("set-cookie").is_none(), "{target}");
        assert!(!whole.contains("evil.example") && !whole.contains(TOKEN) && !whole.contains(code), "{target}");
    }
    let good = world.get(&format!("/login?next=//evil.example&code={code}")).send(world.address).await;
    assert_eq!((good.status, good.header("location")), (303, Some("/")));
}

#[tokio::test]
async fn a_browser_that_is_not_logged_in_is_told_what_to_run() {
    let world = World::new().await;
    let answer = world.get("/").send(world.address).await;
    assert_eq!((answer.status, answer.header("content-type")), (401, Some("text/html; charset=utf-8")));
    assert!(answer.body.contains("switchboard open") && !answer.body.contains("<script"));
    let elsewhere = world.get("/metrics").send(world.address).await;
    assert_eq!((elsewhere.status, elsewhere.header("content-type")), (401, Some("application/json")));
    assert!(elsewhere.body.contains("\"code\":\"unauthorized\"") && elsewhere.body.contains("switchboard open"));
}

#[tokio::test]
async fn the_page_runs_only_what_carries_its_own_nonce() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let mut nonces = Vec::new();
    for _ in 0..2 {
        let page = world.get("/").with("Cookie", &cookie).send(world.address).await;
        assert_eq!(page.status, 200);
        let policy = page.header("content-security-policy").unwrap().to_owned();
        let nonce = policy.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap().to_owned();
        for part in [
            "default-src 'none'",
            &format!("style-src 'nonce-{nonce}'"),
            "connect-src 'self'",
            "img-src 'self' data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{part} in {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        // Whatever the page loads or runs carries the nonce; nothing that runs stands in the page itself.
        for tag in page.body.split('<').filter(|tag| tag.starts_with("script") || tag.contains("/assets/")) {
            assert!(tag.contains(&format!("nonce=\"{nonce}\"")) && tag.contains("=\"/assets/"), "{tag}");
        }
        assert_eq!(page.body.matches("<style").count(), 0);
        for forbidden in ["__NONCE__", "innerHTML", " style=", "onclick=", "javascript:", TOKEN] {
            assert!(!page.body.contains(forbidden), "{forbidden}");
        }
        nonces.push(nonce);
    }
    assert!(nonces[0] != nonces[1] && nonces[0].len() == 32);
}

#[tokio::test]
async fn what_the_page_loads_is_there_with_its_type_and_may_be_kept() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let page = world.get("/").with("Cookie", &cookie).send(world.address).await;
    let paths: Vec<&str> = page.body.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert!(!paths.is_empty(), "{}", page.body);
    for path in paths {
        let asset = world.get(path).with("Cookie", &cookie).send(world.address).await;
        let kind = if path.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
        assert_eq!((asset.status, asset.header("content-type")), (200, Some(kind)), "{path}");
        assert_eq!(asset.header("cache-control"), Some("private, max-age=31536000, immutable"), "{path}");
        assert!(!asset.body.is_empty() && !asset.body.contains(TOKEN), "{path}");
    }
}
