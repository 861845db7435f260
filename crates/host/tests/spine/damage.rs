//! A damaged file under the real program: what is lost is told as a gap, what is left is shown, other tabs serve.

use serde_json::{Value, json};

use super::host::Place;

/// Wipes bytes in the middle of what the demo agent counted.
fn damage(place: &Place) {
    let mut bytes = std::fs::read(place.database()).unwrap();
    // A record that lies across two pages of the file is not found by its text; the next one is.
    let find = |number: u32| {
        let marker = format!("\u{1}{number} ");
        bytes.windows(marker.len()).position(|window| window == marker.as_bytes())
    };
    let at = (20_000..20_010).find_map(find).expect("the text is in the file");
    bytes[at..at + 64].fill(0);
    std::fs::write(place.database(), bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_log_is_told_as_a_gap_and_everything_else_is_there() {
    let place = Place::new();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("hurt").await;
    view.open("whole").await;
    view.prompt("hurt", "m1", "demo: fast 40000").await;
    let done = |m: &Value| m["type"] == "response-complete" && m["tabId"] == "hurt";
    view.wait_for("hurt is done", done).await;
    view.prompt("whole", "m1", "demo: echo unharmed").await;
    view.wait_for("whole is done", |m| m["type"] == "response-complete" && m["tabId"] == "whole").await;
    assert_eq!(host.stop(), Some(0));
    damage(&place);

    let host = place.serve();
    let mut again = host.view().await;
    again.send(json!({"type": "webview-ready", "lastSeenIndex": {"hurt": -1, "whole": -1}})).await;
    let gap = again.wait_type("gap").await;
    assert_eq!(gap["tabId"], "hurt");
    again.wait_for("hurt is shown to its end", done).await;
    let (from, to) = (gap["from"].as_i64().unwrap(), gap["to"].as_i64().unwrap());
    assert!(1 < from && from <= to && gap.get("index").is_none(), "{gap}");
    let kept: Vec<Value> =
        view.indexed("hurt").into_iter().filter(|m| !(from..=to).contains(&m["index"].as_i64().unwrap())).collect();
    assert_eq!(again.indexed("hurt"), kept, "all that is not in the gap, unchanged");
    assert!(kept.len() > 30_000, "the loss is small: {}", kept.len());
    assert_eq!(again.indexed("whole"), view.indexed("whole"));
    again.prompt("hurt", "m2", "demo: echo goes on").await;
    again.wait_done("m2").await;
    again.assert_increasing();
}

#[tokio::test]
async fn a_file_that_is_no_database_is_set_aside_and_the_host_serves() {
    let place = Place::new();
    assert_eq!(place.serve().stop(), Some(0));
    std::fs::write(place.database(), vec![b'x'; 100_000]).unwrap();
    let host = place.serve();
    let mut view = host.view().await;
    view.open("tab").await;
    let names = std::fs::read_dir(place.data()).unwrap();
    let aside =
        names.filter_map(|name| name.ok()?.file_name().into_string().ok()).find(|name| name.contains("damaged"));
    assert!(aside.is_some(), "the file is kept: {}", host.log());
}
