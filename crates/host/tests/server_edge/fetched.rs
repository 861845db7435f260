//! Links to what a session has: short-lived, for whoever has the token, saved and never shown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_host::files::FilePlace;
use switchboard_host::store::Store;
use switchboard_types::{SessionId, Trust};

use crate::world::{TOKEN, World};

fn place(world: &World, folder: &std::path::Path) -> FilePlace {
    let store = Arc::downgrade(&(Arc::clone(&world.store) as Arc<dyn Store>));
    let root = folder.canonicalize().unwrap().to_str().unwrap().into();
    FilePlace { session: SessionId(1), root, trust: Trust::Untrusted, data: "/nowhere".into(), store }
}

#[tokio::test]
async fn a_link_is_followed_more_than_once_with_the_token_only_and_is_never_shown_as_a_page() {
    let world = World::new().await.attended();
    let folder = tempfile::tempdir().unwrap();
    let script = "<script>alert(1)</script>\n".repeat(10_000);
    std::fs::write(folder.path().join("päge \"1\".html"), &script).unwrap();
    let link = world.artifacts.link(&place(&world, folder.path()), "files/päge \"1\".html", Instant::now()).unwrap();
    assert!(link.starts_with("/artifact/") && link.len() == "/artifact/".len() + 64, "{link}");
    let good = format!("Bearer {TOKEN}");
    for _ in 0..2 {
        let answer = world.get(&link).with("Authorization", &good).send(world.address).await;
        assert_eq!((answer.status, answer.body == script), (200, true));
        let headers = [
            ("content-type", "text/plain; charset=utf-8"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            (
                "content-disposition",
                "attachment; filename=\"p_ge__1_.html\"; filename*=UTF-8''p%C3%A4ge%20%221%22.html",
            ),
        ];
        for (name, value) in headers {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
        assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    }
    assert_eq!(world.get(&link).send(world.address).await.status, 401);
    let cookie = world.cookie().await;
    assert_eq!(world.get(&link).with("Cookie", &cookie).send(world.address).await.status, 200);
    // What is there is looked up when the link is followed.
    std::fs::remove_file(folder.path().join("päge \"1\".html")).unwrap();
    let gone = world.get(&link).with("Authorization", &good).send(world.address).await;
    assert_eq!((gone.status, gone.body.contains("\"code\":\"not_found\"")), (404, true));
}

#[tokio::test]
async fn a_link_is_gone_after_five_minutes_and_the_oldest_goes_when_there_are_too_many() {
    let world = World::new().await.attended();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "a").unwrap();
    let place = place(&world, folder.path());
    let now = Instant::now();
    let good = format!("Bearer {TOKEN}");
    let status = async |link: &str| world.get(link).with("Authorization", &good).send(world.address).await.status;
    let Some(old) = now.checked_sub(Duration::from_secs(5 * 60)) else { return };
    let stale = world.artifacts.link(&place, "files/a", old).unwrap();
    assert_eq!(status(&stale).await, 404);
    let first = world.artifacts.link(&place, "files/a", now).unwrap();
    assert_eq!(status(&first).await, 200);
    let others: Vec<String> = (0..1024).map(|_| world.artifacts.link(&place, "files/a", now).unwrap()).collect();
    assert_eq!((status(&first).await, status(&others[0]).await), (404, 200));
    assert_eq!(status("/artifact/0123456789").await, 404);
}
