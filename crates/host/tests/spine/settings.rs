//! Settings through the whole spine: changed by hand or at a view, told to every view and to agents, in force in the host; and a
//! token that goes to its server and is seen nowhere else.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::host::{Host, Place, eventually, shell_agent};
use super::view::View;

const TOKEN: &str = "canary-of-the-settings-5b90e1";

async fn page(host: &Host) -> View {
    let mut view = View::connect_in("switchboard", host.address(), host.token()).await;
    view.send(json!({"type": "hello", "version": "test", "seats": []})).await;
    view.wait_type("welcome").await;
    view.send(json!({"type": "watchSettings"})).await;
    view
}

async fn settings(view: &mut View, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let told = view.wait_for(what, |told| told["type"] == "settings" && holds(&told["settings"])).await;
    told["settings"].clone()
}

/// A model server that repeats what it hears in every answer, and says what it heard.
fn parrot() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, heard) = (format!("http://{}", listener.local_addr().unwrap()), Arc::new(Mutex::new(String::new())));
    let hears = Arc::clone(&heard);
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            let mut head = String::new();
            let mut reader = BufReader::new(peer.try_clone().unwrap());
            while reader.read_line(&mut head).unwrap_or(0) > 2 {}
            hears.lock().unwrap().push_str(&head);
            let echo = head.split_once("earer ").map_or("", |(_, rest)| rest.lines().next().unwrap_or_default());
            let body = json!({"models": [{"name": "llama"}, {"name": echo}], "echo": head}).to_string();
            // Whoever leaves early has heard enough.
            let _ =
                write!(peer, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        }
    });
    (url, heard)
}

#[tokio::test]
async fn a_backend_gets_the_settings_at_its_start_and_whenever_they_change() {
    let entry =
        "[agents.backend]\nkind = \"apex\"\ncommand = [\"python3\", \"-u\", \"backend.py\"]\nconfig = { level = 3 }\n";
    let place = Place::new().with_config(&format!("[settings]\nagent_model = \"big\"\n\n{entry}")).trusted();
    std::fs::write(place.workspace().join("backend.py"), include_str!("backends/apex.py")).unwrap();
    let heard = |method: &str| -> Vec<Value> {
        let journal = std::fs::read_to_string(place.workspace().join("heard.jsonl")).unwrap_or_default();
        let messages = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.filter(|message| message["method"] == method).map(|message| message["params"].clone()).collect()
    };
    let host = place.serve();
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "tab", "agent": "backend"})).await;
    view.prompt("tab", "m1", "short").await;
    view.wait_done("m1").await;
    assert_eq!(heard("initialize")[0]["initialConfig"], json!({"level": 3, "agentModel": "big"}));
    place.configure(&format!("[settings]\nagent_model = \"small\"\ntemperature = 0.5\n\n{entry}"));
    eventually("the new settings", || !heard("updateConfiguration").is_empty());
    let all = heard("updateConfiguration");
    assert!(all[0].to_string().contains(r#""agentModel":"small""#) && all[0].to_string().contains("0.5"), "{all:?}");
    assert!(all[0].to_string().contains(r#""level":3"#), "{all:?}");
}

#[tokio::test]
async fn so_many_turns_run_at_once_as_people_have_set() {
    // It answers when a file says so.
    let slow = r#"      while [ ! -e "go-$name" ]; do sleep 0.02; done
      say "{\"type\":\"response-chunk\",\"sessionId\":\"$id\",\"chunk\":\"done\"}"
      say "{\"type\":\"response-complete\",\"sessionId\":\"$id\"}""#;
    let names = ["one", "two"];
    let mut place = Place::new().with_config("[settings]\nmax_active_sessions = 1\n");
    for name in names {
        place = place.with_agent(name, &shell_agent(slow));
    }
    let place = place.trusted();
    let host = place.serve();
    let mut view = host.view().await;
    for name in names {
        view.send(json!({"type": "new-tab", "tabId": name, "agent": name})).await;
        view.prompt(name, &format!("m-{name}"), "hello").await;
    }
    let second = || std::fs::write(place.workspace().join("go-m-two"), "").unwrap();
    let first = || std::fs::write(place.workspace().join("go-m-one"), "").unwrap();
    // What it waits for is there, and still it does not begin before the other has ended.
    second();
    view.sync().await;
    assert_eq!(view.text("m-two"), "");
    first();
    assert_eq!(view.wait_done("m-one").await["reason"], "completed");
    assert_eq!(view.wait_done("m-two").await["reason"], "completed");
    let ends = view.told.iter().filter(|told| told["type"] == "response-complete");
    assert_eq!(ends.map(|told| &told["messageId"]).collect::<Vec<_>>(), ["m-one", "m-two"]);
}

#[tokio::test]
async fn settings_are_saved_by_a_view_told_to_all_and_kept_with_what_was_written_by_hand() {
    let place = Place::new().with_config("# Mine.\n").trusted();
    let host = place.serve();
    let (mut one, mut other) = (page(&host).await, page(&host).await);
    let first = settings(&mut one, "the settings", |_| true).await;
    assert_eq!((&first["firstRun"], &first["hasToken"]), (&json!(true), &json!(false)));
    let change = json!({"maxIterations": 7, "agentModel": "big"});
    one.send(json!({"type": "saveSettings", "request": 1, "change": change})).await;
    one.wait_for("the answer", |told| told["type"] == "done" && told["request"] == 1).await;
    for view in [&mut one, &mut other] {
        let told = settings(view, "the change", |all| all["user"] == change).await;
        assert_eq!(told["firstRun"], false);
    }
    assert_eq!(place.configuration(), "# Mine.\n\n[settings]\nagent_model = \"big\"\nmax_iterations = 7\n");
    one.send(json!({"type": "saveSettings", "request": 2, "change": {"maxIterations": 5000}})).await;
    let refused = one.wait_for("a refusal", |told| told["request"] == 2).await;
    assert!(refused.to_string().contains("maxIterations: it is a whole number from 1 to 1000"), "{refused}");
    // For the workspace, in its own file.
    let root = place.workspace().canonicalize().unwrap();
    let own = json!({"type": "saveSettings", "request": 3, "workspace": root, "change": {"agentModel": "near"}});
    one.send(own).await;
    settings(&mut other, "the workspace's", |all| all["workspaces"].to_string().contains("near")).await;
    let text = std::fs::read_to_string(place.workspace().join(".switchboard/config.toml")).unwrap();
    assert_eq!(text, "[settings]\nagent_model = \"near\"\n");
    // By hand.
    place.configure("[settings]\nask_model = \"hand\"\n");
    settings(&mut other, "what was written by hand", |all| all["user"] == json!({"askModel": "hand"})).await;
    place.command(&["untrust"]).output().unwrap();
    settings(&mut one, "no workspace's", |all| all["workspaces"] == json!([])).await;
}

#[tokio::test]
async fn a_token_that_a_view_saves_reaches_its_server_and_no_frame_log_metric_or_record() {
    let place = Place::new().with_agent("small", &shell_agent("")).with_config("record = true\n").trusted();
    let (url, heard) = parrot();
    let (elsewhere, lured) = parrot();
    let host = place.serve_with(|command| {
        command.env("SWITCHBOARD_LOG", "trace");
    });
    let (mut one, mut other) = (page(&host).await, page(&host).await);
    // A session whose wire is recorded is on the same link.
    one.send(json!({"type": "openTab", "tab": "tab", "agent": "small"})).await;
    one.send(json!({"type": "saveToken", "request": 1, "token": TOKEN, "baseUrl": url})).await;
    one.wait_for("that it is kept", |told| told["request"] == 1).await;
    one.send(json!({"type": "testModels", "request": 2, "baseUrl": url})).await;
    let tested = one.wait_for("the test", |told| told["request"] == 2).await;
    assert!(tested["success"] == true && tested.to_string().contains("llama"), "{tested}");
    let told = settings(&mut other, "that there is one", |all| all["hasToken"] == true).await;
    assert_eq!(told["user"]["baseUrl"], url);
    assert!(told["tokensIn"].as_str().unwrap().contains("secrets.json"), "{told}");
    one.send(json!({"type": "testModels", "request": 3, "baseUrl": elsewhere})).await;
    one.wait_for("the other test", |told| told["request"] == 3).await;
    settings(&mut other, "none for the other address", |all| all["hasToken"] == false).await;
    // One that cannot be kept is refused without its words.
    one.send(json!({"type": "saveToken", "request": 4, "token": format!("{TOKEN}\n"), "baseUrl": url})).await;
    let refused = one.wait_for("a refusal", |told| told["request"] == 4).await;
    one.send(json!({"type": "ping", "n": 9})).await;
    one.wait_type("pong").await;
    assert!(heard.lock().unwrap().contains(TOKEN), "the server gets its token");
    assert!(!lured.lock().unwrap().contains("canary"));
    let mut seen = vec![format!("{:?}{:?}{refused}", one.told, other.told), host.log()];
    assert!(host.log().contains("TRACE") || host.log().contains("DEBUG"));
    seen.push(host.get("/metrics", &host.bearer()).0);
    for arguments in [&["doctor"][..], &["secrets", "list"], &["sessions", "export", "1"], &["inspect", "1", "--json"]]
    {
        let out = place.command(arguments).output().unwrap();
        seen.push(String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned());
    }
    assert_eq!(host.stop(), Some(0));
    let mut folders = vec![place.data()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() != "secrets.json" {
                seen.push(String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned());
            }
        }
    }
    for text in seen {
        assert!(!text.contains(TOKEN), "the token is seen in {text}");
    }
}
