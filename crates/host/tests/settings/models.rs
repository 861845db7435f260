//! From nothing to an agent with a model: servers of this machine are found, and a model is put to work in the user's own file,
//! without touching the rest of it.

use std::fs;

use switchboard_host::agents::{AgentKind, AgentSpec, SecretName};
use switchboard_host::config::{Asked, Config};
use switchboard_types::{
    AgentName, ModelServer, RejectCode, ServedModel, ServerKind, Settings, SettingsAnswer, SettingsRequest,
    SettingsScope, Unset,
};

use super::chores::{Home, MODELS, TAGS, TOKEN};
use super::server::{Answer, Server};

impl Home {
    fn named(host: &str) -> Self {
        Self { ollama_host: Some(host.to_owned()), ..Self::new() }
    }

    async fn finds(&self) -> (Vec<ModelServer>, String) {
        match self.wants(SettingsRequest::FindServers {}).await.unwrap() {
            SettingsAnswer::Servers { servers, message } => (servers, message),
            other => panic!("{other:?} answers no search"),
        }
    }

    async fn uses(&self, base_url: &str, model: &str) -> AgentName {
        let wanted = SettingsRequest::UseModel { base_url: base_url.to_owned(), model: model.to_owned() };
        match self.wants(wanted).await.unwrap() {
            SettingsAnswer::InUse { agent } => agent,
            other => panic!("{other:?} puts nothing to work"),
        }
    }

    fn config(&self) -> Config {
        Config::read(Some((self.file(), Asked::AsUsual))).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn kind(&self, name: &str) -> AgentKind {
        self.config().configured(&name.into()).unwrap().kind.clone()
    }
}

fn ollama() -> Server {
    Server::start(|path| if path == "/api/tags" { Answer::Says(200, TAGS) } else { Answer::Says(404, "") })
}

fn model(base_url: &str, model: &str, secret: Option<&str>) -> AgentKind {
    let secret = secret.map(SecretName::of_user);
    AgentKind::Model { base_url: base_url.to_owned(), model: model.to_owned(), secret, settings: serde_json::json!({}) }
}

#[tokio::test]
async fn ollama_is_found_where_its_variable_says_and_gets_no_token() {
    let server = ollama();
    // As a server is told to listen everywhere.
    let home = Home::named(&server.url().replace("http://127.0.0.1", "0.0.0.0"));
    home.keeps(TOKEN, Some(&server.url())).await.unwrap();
    let (servers, message) = home.finds().await;
    let models = vec![
        ServedModel { name: "llama".to_owned(), size: Some(4_700_000_000) },
        ServedModel { name: "qwen".to_owned(), size: None },
    ];
    assert_eq!(servers, [ModelServer { base_url: server.url(), kind: ServerKind::Ollama, models }]);
    assert!(message.contains("Ollama answers") && message.contains("2 models"), "{message}");
    assert!(!server.heard().to_lowercase().contains("authorization"), "{}", server.heard());
    assert_eq!(home.settings(), Settings::default(), "looking changes nothing");
    let other = Server::start(|path| Answer::Says(if path == "/v1/models" { 200 } else { 404 }, MODELS));
    let (servers, _) = Home::named(&other.url()).finds().await;
    assert_eq!(servers[0].kind, ServerKind::OpenAi);
}

#[tokio::test]
async fn what_is_not_found_is_said_with_the_place_and_another_machine_is_not_asked() {
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (servers, message) = Home::named(&dead.to_string()).finds().await;
    assert!(servers.is_empty() && message.contains(&format!("http://{dead}")), "{message}");
    assert!(message.contains("nothing listens there"), "{message}");
    let slow = Server::start(|_| Answer::Hangs);
    let (_, message) = Home::named(&slow.url()).finds().await;
    assert!(message.contains("within 2 s"), "{message}");
    // An address of documentation: whoever asked it would wait.
    let (servers, message) = Home::named("192.0.2.1:11434").finds().await;
    assert!(servers.is_empty() && message.contains("another machine"), "{message}");
    let (_, message) = Home::named("ftp://x").finds().await;
    assert!(message.contains("OLLAMA_HOST holds no address"), "{message}");
}

#[tokio::test]
async fn a_model_is_put_to_work_from_nothing_and_again_without_a_change() {
    let home = Home::new();
    assert_eq!(home.uses("http://127.0.0.1:11434", "qwen").await.as_str(), "local");
    let written = "default_agent = \"local\"\n\n[settings]\nbase_url = \"http://127.0.0.1:11434\"\nagent_model = \"qwen\"\n\n\
                   [agents.local]\nkind = \"model\"\nbase_url = \"http://127.0.0.1:11434\"\nmodel = \"qwen\"\n";
    assert_eq!(home.text(), written);
    assert_eq!(home.kind("local"), model("http://127.0.0.1:11434", "qwen", None));
    assert_eq!(home.uses(" http://127.0.0.1:11434 ", "qwen").await.as_str(), "local");
    assert_eq!(home.text(), written);
    let settings = home.settings();
    assert_eq!(
        (settings.base_url.as_deref(), settings.agent_model.as_deref()),
        (Some("http://127.0.0.1:11434"), Some("qwen"))
    );
}

#[tokio::test]
async fn an_agent_that_is_there_is_changed_with_its_comments_and_another_kind_keeps_its_name() {
    let home = Home::new();
    let before = "# Mine.\ndefault_agent = \"demo\" # for now\n\n[agents.local] # at home\nkind = \"model\"\nbase_url = \"http://127.0.0.1:1\" # old\nmodel = \"a\"\n\n[agents.z]\nkind = \"plain\"\ncommand = [\"z\"]\n# end\n";
    fs::write(home.file(), before).unwrap();
    assert_eq!(home.uses("http://127.0.0.1:2", "b").await.as_str(), "local");
    let after = home.text();
    let expected = before
        .replace("\"demo\"", "\"local\"")
        .replace("http://127.0.0.1:1", "http://127.0.0.1:2")
        .replace("\"a\"", "\"b\"");
    assert!(after.starts_with(&expected), "{after}");
    assert!(
        after.ends_with("# end\n\n[settings]\nbase_url = \"http://127.0.0.1:2\"\nagent_model = \"b\"\n"),
        "{after}"
    );
    for inline in [
        "agents = { local = { kind = \"plain\", command = [\"x\"] } }\n",
        "default_agent = \"local\"\n[agents]\nlocal = { kind = \"plain\", command = [\"x\"] }\n",
    ] {
        fs::write(home.file(), inline).unwrap();
        let others = home.config().agents().collect::<Vec<AgentSpec>>();
        assert_eq!(home.uses("http://127.0.0.1:2", "b").await.as_str(), "local-2", "{inline}");
        assert_eq!(home.kind("local-2"), model("http://127.0.0.1:2", "b", None), "{inline}");
        assert_eq!(home.uses("http://127.0.0.1:2", "c").await.as_str(), "local-2", "{inline}");
        let now = home.config().agents().filter(|spec| spec.name.as_str() != "local-2").collect::<Vec<_>>();
        assert_eq!(now, others);
        // A default that somebody has chosen stays.
        let default = if inline.starts_with("default_agent") { "local" } else { "local-2" };
        assert_eq!(home.config().default_agent().as_str(), default, "{}", home.text());
    }
}

#[tokio::test]
async fn the_token_goes_with_the_agent_only_to_the_place_that_it_is_stored_for() {
    let home = Home::new();
    let (here, there) = ("http://127.0.0.1:2", "http://127.0.0.1:3");
    home.keeps(TOKEN, Some(here)).await.unwrap();
    home.uses(&format!("{here}/v1"), "a").await;
    assert_eq!(home.kind("local"), model("http://127.0.0.1:2/v1", "a", Some("model-server")));
    home.uses(there, "a").await;
    assert_eq!(home.kind("local"), model(there, "a", None), "it is not for that place");
    home.uses(here, "a").await;
    home.keeps("", None).await.unwrap();
    home.uses(here, "a").await;
    assert_eq!(home.kind("local"), model(here, "a", None), "it is forgotten");
    // One that a person has named stays with its place.
    fs::write(
        home.file(),
        home.text()
            .replace("model = \"a\"\n", "model = \"a\"\nsecret = \"own\"\n")
            .replace("agent_model = \"a\"\nsecret = \"own\"\n", "agent_model = \"a\"\n"),
    )
    .unwrap();
    home.keeps(TOKEN, Some(here)).await.unwrap();
    home.uses(here, "b").await;
    assert_eq!(home.kind("local"), model(here, "b", Some("own")));
    home.uses(there, "b").await;
    assert_eq!(home.kind("local"), model(there, "b", None));
}

#[tokio::test]
async fn what_cannot_be_put_to_work_is_refused_and_nothing_is_written() {
    let home = Home::new();
    let long = "m".repeat(257);
    for (base_url, model) in [
        ("localhost:1", "a"),
        ("http://u:p@h", "a"),
        ("", "a"),
        ("http://127.0.0.1:1", ""),
        ("http://127.0.0.1:1", "two\nlines"),
        ("http://127.0.0.1:1", long.as_str()),
    ] {
        let wanted = SettingsRequest::UseModel { base_url: base_url.to_owned(), model: model.to_owned() };
        let refused = home.wants(wanted).await.unwrap_err();
        assert_eq!(refused.code, RejectCode::BadMessage, "{base_url} {model}: {refused}");
    }
    assert!(!home.file().exists());
    fs::write(home.file(), "agents = 5\n").unwrap();
    let user = Config::default();
    let clerk = switchboard_host::settings::Clerk {
        file: Some(home.file()),
        user,
        trusted: Vec::new(),
        secrets: home.secrets(),
        ollama_host: None,
    };
    let wanted = SettingsRequest::UseModel { base_url: "http://127.0.0.1:1".to_owned(), model: "a".to_owned() };
    let refused = clerk.carry_out(wanted).await.unwrap_err();
    assert!(refused.code == RejectCode::Conflict && refused.message.contains("mend that first"), "{refused}");
    assert_eq!(home.text(), "agents = 5\n");
}

#[tokio::test]
async fn a_temperature_can_be_taken_out_again() {
    let home = Home::new();
    fs::write(home.file(), "[settings]\ntemperature = 0.7 # warm\nmax_iterations = 3\n").unwrap();
    let wanted = SettingsRequest::Save {
        scope: SettingsScope::User,
        change: Box::new(Settings { max_iterations: Some(4), ..Settings::default() }),
        unset: vec![Unset::Temperature],
    };
    assert_eq!(home.wants(wanted).await.unwrap(), SettingsAnswer::Saved {});
    assert_eq!(home.text(), "[settings]\nmax_iterations = 4\n");
}
