//! Settings, the token, the model server, maintenance, and the first run.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::{Value, json};

use super::super::host::Place;
use super::Screen;

/// Requests that a test does not look at.
const MAX_REQUESTS: usize = 64;

/// A model server that has two models; every request to it, as it came.
fn model_server() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (seen, requests) = mpsc::sync_channel(MAX_REQUESTS);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let Ok(mut socket) = socket else { return };
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match socket.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => request.extend_from_slice(&piece[..count]),
                }
            }
            let body = r#"{"models":[{"name":"small:1b"},{"name":"large:70b"}]}"#;
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            // The other side may be gone already.
            let _ = socket.write_all(format!("{head}{body}").as_bytes());
            let _ = seen.send(String::from_utf8_lossy(&request).into_owned());
        }
    });
    (address, requests)
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_stored_checked_and_pushed_to_every_view() {
    let place = Place::new();
    let host = place.serve();
    let (mut screen, mut other) = (Screen::start(&place, &host).await, Screen::start(&place, &host).await);
    let patterns = "{\"**/*\": true, \".env\": false}";
    let settings = json!({"maxIterations": 12, "agentModel": "small:1b", "temperature": 0.3, "toolTimeout": 20_000, "sensitiveFilePatterns": patterns});
    screen.say(json!({"type": "saveSettings", "settings": settings})).await;
    for one in [&mut screen, &mut other] {
        let told = one.wait("settingsUpdate").await;
        assert_eq!(
            (&told["settings"]["maxIterations"], &told["settings"]["agentModel"]),
            (&json!(12), &json!("small:1b")),
            "{told}"
        );
        assert_eq!((&told["settings"]["temperature"], &told["hasToken"]), (&json!(0.3), &json!(false)), "{told}");
        let files = told["settings"]["sensitiveFilePatterns"].as_str().unwrap();
        assert!(files.find("**/*") < files.find(".env"), "{files}");
    }
    // What is not named stays.
    screen.say(json!({"type": "saveSettings", "settings": {"maxIterations": 13}})).await;
    let told = screen.wait("settingsUpdate").await;
    assert_eq!(
        (&told["settings"]["maxIterations"], &told["settings"]["agentModel"]),
        (&json!(13), &json!("small:1b")),
        "{told}"
    );
    // What cannot be is refused, and nothing changes.
    for wrong in [json!({"temperature": 9}), json!({"sensitiveFilePatterns": "["}), json!({"maxIterations": 100_000})] {
        screen.say(json!({"type": "saveSettings", "settings": wrong})).await;
        screen.wait("showError").await;
    }
    // They are on the disk, and the next view is told them at once.
    host.kill_9();
    let host = place.serve();
    let again = Screen::start(&place, &host).await;
    assert_eq!(again.told("init")[0]["settings"]["maxIterations"], 13, "{:#?}", again.told("init"));
    screen.covers(&["> saveSettings", "< settingsUpdate"]);
    other.covers(&["< settingsUpdate"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_run_leads_to_the_settings_and_later_ones_do_not() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let navigate = screen.told("navigateToSettings");
    assert_eq!(navigate.len(), 1);
    assert_eq!(navigate[0]["isFirstRun"], true);
    screen.say(json!({"type": "saveSettings", "settings": {"maxIterations": 5}})).await;
    screen.wait("settingsUpdate").await;
    let later = Screen::start(&place, &host).await;
    assert!(later.told("navigateToSettings").is_empty());
    screen.covers(&["< navigateToSettings"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_server_is_tested_and_an_address_that_works_is_kept() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    // Nobody listens there.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    screen.say(json!({"type": "testConnection", "baseUrl": format!("http://{gone}")})).await;
    let failed = screen.wait("connectionTestResult").await;
    assert_eq!((&failed["success"], failed.get("models")), (&json!(false), None), "{failed}");
    assert!(!failed["message"].as_str().unwrap().is_empty());
    let (address, _requests) = model_server();
    screen.say(json!({"type": "testConnection", "baseUrl": address})).await;
    let worked = screen.wait("connectionTestResult").await;
    assert_eq!((&worked["success"], &worked["models"]), (&json!(true), &json!(["small:1b", "large:70b"])), "{worked}");
    let kept = |told: &Value| told["type"] == "settingsUpdate" && told["settings"]["baseUrl"] == address.as_str();
    screen.wait_where("the address", kept).await;
    screen.say(json!({"type": "testConnection"})).await;
    assert_eq!(screen.wait("connectionTestResult").await["success"], true);
    screen.covers(&["> testConnection", "< connectionTestResult"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_its_own_server_and_to_nobody_else() {
    const TOKEN: &str = "tok-5f1c9a0e77d24b";
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let ((own, requests), (other, others)) = (model_server(), model_server());
    screen.say(json!({"type": "testConnection", "baseUrl": own})).await;
    screen.wait("connectionTestResult").await;
    assert!(!requests.recv().unwrap().contains(TOKEN));
    screen.say(json!({"type": "saveBearerToken", "token": TOKEN, "testAfterSave": true, "baseUrl": own})).await;
    assert_eq!(screen.wait("bearerTokenSaved").await["hasToken"], true);
    assert_eq!(screen.wait("connectionTestResult").await["success"], true);
    assert!(requests.recv().unwrap().contains(&format!("Bearer {TOKEN}")));
    // Another origin gets none.
    screen.say(json!({"type": "testConnection", "baseUrl": other})).await;
    screen.wait("connectionTestResult").await;
    assert!(!others.recv().unwrap().contains(TOKEN));
    // A token that cannot be read is repeated to nobody.
    screen.view.send_text(format!(r#"{{"type":"saveBearerToken","token":["{TOKEN}"]}}"#)).await;
    screen.wait("showError").await;
    screen.view.send_text(format!(r#"{{"type":"saveBearerToken","token":"{TOKEN}""#)).await;
    screen.wait("showError").await;
    let mut later = Screen::start(&place, &host).await;
    later.say(json!({"type": "saveBearerToken", "token": ""})).await;
    assert_eq!(later.wait("bearerTokenSaved").await["hasToken"], false);
    for screen in [&screen, &later] {
        assert!(screen.view.told.iter().all(|told| !told.to_string().contains(TOKEN)));
    }
    assert!(!host.log().contains(TOKEN), "{}", host.log());
    screen.covers(&["> saveBearerToken", "< bearerTokenSaved"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn maintenance_and_a_rebuild_say_what_they_did_and_lose_nothing() {
    let place = Place::new();
    let host = place.serve();
    let mut screen = Screen::start(&place, &host).await;
    let answer = screen.answer("demo: echo a pangolin passes").await;
    screen.say(json!({"type": "runDbMaintenance"})).await;
    let kept = screen.wait("dbMaintenanceResult").await;
    assert_eq!(kept["success"], true, "{kept}");
    assert!(kept["deletedSessions"].is_u64() && kept["deletedMessages"].is_u64(), "{kept}");
    screen.say(json!({"type": "recreateMessagesTable"})).await;
    let made = screen.wait("recreateMessagesResult").await;
    assert_eq!(made["success"], true, "{made}");
    assert!(made["message"].as_str().unwrap().contains("messages of"), "{made}");
    let session = screen.session.clone();
    let messages = screen.load(&session).await;
    assert_eq!(messages.as_array().unwrap().last().unwrap()["content"], answer.as_str());
    screen.covers(&[
        "> runDbMaintenance",
        "> recreateMessagesTable",
        "< dbMaintenanceResult",
        "< recreateMessagesResult",
    ]);
}
