//! What a view wants of settings, carried out: model servers of both kinds and broken ones, and a token that goes to the one
//! place that it is for.

use std::path::Path;

use switchboard_host::config::{Asked, Config};
use switchboard_host::secrets::{MODEL_SERVER, Secrets};
use switchboard_host::settings::Clerk;
use switchboard_types::{
    Reject, RejectCode, SecretText, Settings, SettingsAnswer, SettingsRequest, SettingsScope, WorkspaceRoot,
};
use tempfile::TempDir;

use super::server::{Answer, Server};

pub(crate) const TOKEN: &str = "canary-of-the-model-server-2c81";
pub(crate) const TAGS: &str =
    r#"{"models": [{"name": "llama", "size": 4700000000}, {"name": "bad\u0007name"}, {"nome": 1}, {"name": "qwen"}]}"#;
pub(crate) const MODELS: &str = r#"{"object": "list", "data": [{"id": "gpt"}]}"#;

pub(crate) struct Home {
    pub(crate) folder: TempDir,
    /// What the variable says.
    pub(crate) ollama_host: Option<String>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), ollama_host: None }
    }

    pub(crate) fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("config.toml")
    }

    pub(crate) fn settings(&self) -> Settings {
        Config::read(Some((self.file(), Asked::AsUsual))).unwrap().settings
    }

    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::within(self.folder.path())
    }

    pub(crate) async fn wants(&self, what: SettingsRequest) -> Result<SettingsAnswer, Reject> {
        let user = Config::read(Some((self.file(), Asked::AsUsual))).unwrap();
        let (file, secrets) = (Some(self.file()), self.secrets());
        let (trusted, ollama_host) = (vec![WorkspaceRoot::from("/trusted")], self.ollama_host.clone());
        let done = Clerk { file, user, trusted, secrets, ollama_host }.carry_out(what).await;
        assert!(!format!("{done:?}").contains("canary"), "{done:?}");
        done
    }

    async fn tests(&self, base_url: Option<&str>) -> (bool, String, Vec<String>) {
        let wanted = SettingsRequest::Test { base_url: base_url.map(str::to_owned) };
        match self.wants(wanted).await.unwrap() {
            SettingsAnswer::Tested { success, message, models } => (success, message, models),
            other => panic!("{other:?} answers no test"),
        }
    }

    pub(crate) async fn keeps(&self, token: &str, base_url: Option<&str>) -> Result<SettingsAnswer, Reject> {
        let (token, base_url) = (SecretText(token.to_owned()), base_url.map(str::to_owned));
        self.wants(SettingsRequest::SaveToken { token, base_url }).await
    }
}

#[tokio::test]
async fn servers_of_both_kinds_are_found_with_their_models_and_an_address_that_worked_is_saved() {
    let (tags, models) = (
        Server::start(|path| if path == "/api/tags" { Answer::Says(200, TAGS) } else { Answer::Says(404, "") }),
        Server::start(|path| if path == "/v1/models" { Answer::Says(200, MODELS) } else { Answer::Says(404, "") }),
    );
    let home = Home::new();
    let (success, message, found) = home.tests(Some(&tags.url())).await;
    assert!(success && message.contains("2 models"), "{message}");
    assert_eq!(found, ["llama", "qwen"]);
    assert_eq!(home.settings().base_url, Some(tags.url()));
    let versioned = format!("{}/v1", models.url());
    let (success, _, found) = home.tests(Some(&versioned)).await;
    assert_eq!((success, found), (true, vec!["gpt".to_owned()]));
    assert_eq!(home.settings().base_url, Some(versioned));
    assert_eq!(models.paths(), ["/api/tags", "/v1/models"]);
    assert!(home.tests(None).await.0, "the address of the settings");
    assert!(!tags.heard().to_lowercase().contains("authorization"));
}

#[tokio::test]
async fn what_is_wrong_with_a_server_is_said_in_words_and_nothing_is_saved() {
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let other = Server::start(|_| Answer::Says(200, TAGS));
    let lured = other.url();
    let servers = [
        (Server::start(|_| Answer::Says(401, "<echo>")), "wants a token"),
        (Server::start(|path| Answer::Says(if path == "/api/tags" { 403 } else { 404 }, "")), "wants a token"),
        (Server::start(|_| Answer::Says(404, "")), "neither /api/tags nor /v1/models"),
        (Server::start(|_| Answer::Says(500, "boom")), "status 500"),
        (Server::start(|_| Answer::Says(200, "<html>hello</html>")), "no model server"),
        (Server::start(|_| Answer::Says(200, r#"{"models": 5, "data": {}}"#)), "no model server"),
        (Server::start(move |_| Answer::Leads(lured.clone())), "not followed"),
    ];
    let home = Home::new();
    for (server, why) in &servers {
        let (success, message, models) = home.tests(Some(&server.url())).await;
        assert!(!success && message.contains(why) && models.is_empty(), "{why}: {message}");
    }
    let (success, message, _) = home.tests(Some(&format!("http://{dead}"))).await;
    assert!(!success && message.contains("nothing listens there"), "{message}");
    assert_eq!(other.heard(), "", "nothing is followed elsewhere");
    assert_eq!(home.settings(), Settings::default());
    for wrong in ["localhost:1", "ftp://x", "http://u:p@h", "http://h?x=1"] {
        let refused = home.wants(SettingsRequest::Test { base_url: Some(wrong.to_owned()) }).await.unwrap_err();
        assert_eq!(refused.code, RejectCode::BadMessage, "{wrong}: {refused}");
    }
    let nowhere = home.wants(SettingsRequest::Test { base_url: None }).await.unwrap_err();
    assert!(nowhere.message.contains("set the address"), "{nowhere}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(|_| Answer::Hangs);
    let home = Home::new();
    let (success, message, _) = home.tests(Some(&server.url())).await;
    assert!(!success && message.contains("within 10 s"), "{message}");
}

#[tokio::test]
async fn a_token_goes_to_the_one_origin_that_it_was_saved_for() {
    let guarded =
        || Server::start(|path| if path == "/api/tags" { Answer::Says(200, TAGS) } else { Answer::Says(404, "") });
    let (own, other) = (guarded(), guarded());
    let home = Home::new();
    let nowhere = home.keeps(TOKEN, None).await.unwrap_err();
    assert!(nowhere.message.contains("set the address"), "{nowhere}");
    assert_eq!(home.keeps(TOKEN, Some(&own.url())).await.unwrap(), SettingsAnswer::Token { has_token: true });
    assert_eq!(home.secrets().find(MODEL_SERVER).unwrap().unwrap().bound, Some(own.url()));
    assert!(home.tests(Some(&format!("{}/", own.url()))).await.0);
    assert!(own.heard().contains(&format!("Bearer {TOKEN}")), "the server gets its token");
    // Even where the other address becomes the user's own by the test.
    assert!(home.tests(Some(&other.url())).await.0);
    assert!(home.tests(None).await.0);
    assert!(!other.heard().contains("canary"), "{}", other.heard());
    assert_eq!(home.keeps("", None).await.unwrap(), SettingsAnswer::Token { has_token: false });
    assert_eq!(home.secrets().find(MODEL_SERVER).unwrap(), None);
    for unfit in ["two\nlines".to_owned(), "x".repeat(64 * 1024 + 1)] {
        let refused = home.keeps(&unfit, Some(&own.url())).await.unwrap_err();
        assert_eq!(refused.code, RejectCode::BadMessage, "{refused}");
    }
}

#[tokio::test]
async fn a_refused_token_and_one_that_is_withheld_are_told_apart_and_never_repeated() {
    let parrot = Server::start(|_| Answer::Says(401, "<echo>"));
    let home = Home::new();
    home.keeps(TOKEN, Some(&parrot.url())).await.unwrap();
    let (success, message, _) = home.tests(Some(&parrot.url())).await;
    assert!(!success && message.contains("does not take the stored token"), "{message}");
    let other = Server::start(|_| Answer::Says(401, "<echo>"));
    let (_, message, _) = home.tests(Some(&other.url())).await;
    assert!(message.contains("wants a token") && message.contains("was not sent"), "{message}");
    assert!(!other.heard().contains("canary"));
    // One that is stored by hand belongs to nobody before the user's own address wants it.
    home.secrets().set(MODEL_SERVER, &switchboard_host::server::Secret::new(TOKEN)).unwrap();
    let (_, message, _) = home.tests(Some(&other.url())).await;
    assert!(message.contains("bound to no address yet"), "{message}");
    assert!(!other.heard().contains("canary"));
}

#[tokio::test]
async fn settings_are_saved_for_the_user_and_for_a_trusted_workspace_only() {
    let home = Home::new();
    let change = Settings { max_iterations: Some(7), ..Settings::default() };
    let save = |scope: SettingsScope, change: &Settings| SettingsRequest::Save {
        scope,
        change: Box::new(change.clone()),
        unset: Vec::new(),
    };
    assert_eq!(home.wants(save(SettingsScope::User, &change)).await.unwrap(), SettingsAnswer::Saved {});
    assert_eq!(home.settings(), change);
    let root = WorkspaceRoot::from(home.folder.path().to_str().unwrap());
    let refused = home.wants(save(SettingsScope::Workspace(root), &change)).await.unwrap_err();
    assert_eq!(refused.code, RejectCode::WorkspaceUntrusted);
    assert!(!Path::new(home.folder.path()).join(".switchboard").exists());
    let wrong = Settings { max_iterations: Some(5_000), ..Settings::default() };
    let refused = home.wants(save(SettingsScope::User, &wrong)).await.unwrap_err();
    assert_eq!((refused.code, home.settings()), (RejectCode::BadMessage, change));
    assert!(refused.message.contains("maxIterations"), "{refused}");
}
