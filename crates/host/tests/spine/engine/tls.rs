//! Engines behind `https`: a certificate that this machine trusts, and one that it does not.

use std::path::PathBuf;

use rcgen::CertifiedKey;
use serde_json::json;

use super::super::host::Place;
use super::stand::Engine;

/// An engine with a certificate for a name, where that certificate lies, and a place whose agent `e` it is.
fn engine(folder: &tempfile::TempDir, name: &str) -> (Engine, PathBuf, Place) {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    let engine = Engine::start(&["--tls", certificate.to_str().unwrap(), key.to_str().unwrap()]);
    let table = format!("\n[agents.e]\nkind = \"engine\"\nurl = \"https://localhost:{}\"\n", engine.port);
    (engine, certificate, Place::new().with_config(&table).trusted())
}

#[tokio::test]
async fn an_engine_with_a_certificate_that_this_machine_trusts_is_used_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, certificate, place) = engine(&folder, "localhost");
    let host = place.serve_with(|command| {
        command.env("SSL_CERT_FILE", &certificate);
    });
    let mut view = host.view().await;
    view.send(json!({"type": "new-tab", "tabId": "t", "agent": "e"})).await;
    view.prompt("t", "m", "say 3").await;
    let done = view.wait_done("m").await;
    assert_eq!(done["reason"], "completed", "{done}; the host says: {}", host.log());
}

#[tokio::test]
async fn a_certificate_that_nobody_trusts_or_for_another_name_is_refused_in_words() {
    for (name, is_trusted) in [("localhost", false), ("elsewhere.example", true)] {
        let folder = tempfile::tempdir().unwrap();
        let (engine, certificate, place) = engine(&folder, name);
        let other = folder.path().join("other.pem");
        let CertifiedKey { cert, .. } = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&other, cert.pem()).unwrap();
        let trusted = if is_trusted { certificate } else { other };
        let check = place.command(&["agents", "check", "e"]).env("SSL_CERT_FILE", trusted).output().unwrap();
        let said = String::from_utf8_lossy(&check.stdout).into_owned() + &String::from_utf8_lossy(&check.stderr);
        assert!(!check.status.success() && said.contains("certificate"), "{name}: {said}");
        drop(engine);
    }
}
