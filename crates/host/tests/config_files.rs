//! Configuration files as people write them: what holds, and that what is wrong is named by file, line and key.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is to stop")]

use std::path::Path;

use switchboard_host::agents::{AgentKind, EnvValue, ProcessPer, SecretName};
use switchboard_host::config::{Asked, Config, ConfigError, Durability, Startup, Stillness};
use switchboard_types::AgentName;

fn read(text: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    Config::read(Some((file, Asked::ByName)))
}

/// The line, the key and the message of what is wrong.
fn wrong(text: &str) -> (usize, Option<String>, String) {
    match read(text) {
        Err(ConfigError::Wrong { line, key, message, .. }) => (line, key, message),
        other => panic!("it was to be wrong: {other:?}\n{text}"),
    }
}

const ALL_KINDS: &str = r#"
default_agent = "small"
durability = "normal"
startup_slow_ms = 100
startup_timeout_ms = 200
stall_seconds = 5
idle_unload_minutes = 0

[server]
allowed_origins = ["chrome-extension://abc"]
allowed_hosts = ["box.local"]

[agents.claude]
kind = "acp"
command = ["npx", "-y", "agent"]
env = { KEY = { secret = "anthropic" }, LOG = "info" }
inherit = ["HTTPS_PROXY"]
process = "shared"
record = true

[agents.backend]
kind = "apex"
command = ["python3"]
config = { depth = 3 }

[agents.engine]
kind = "engine"
url = "http://127.0.0.1:9099"
secret = "engine"

[agents.small]
kind = "plain"
command = ["./agent.sh"]

[agents.local]
kind = "model"
base_url = "http://127.0.0.1:11434"
model = "qwen3:8b"
"#;

#[test]
fn every_kind_of_agent_is_understood() {
    let config = read(ALL_KINDS).unwrap();
    assert_eq!(config.durability, Durability::Normal);
    assert_eq!(config.startup, Startup { slow_ms: 100, timeout_ms: 200 });
    assert_eq!(config.stillness, Stillness { stall_ms: 5_000, idle_ms: None });
    assert_eq!(config.server.allowed_origins, ["chrome-extension://abc"]);
    assert_eq!(config.default_agent(), AgentName::from("small"));
    let kinds: Vec<_> = config.agents().map(|spec| (spec.name.to_string(), spec.kind.word())).collect();
    let expected = [
        ("demo", "plain"),
        ("backend", "apex"),
        ("claude", "acp"),
        ("engine", "engine"),
        ("local", "model"),
        ("small", "plain"),
    ];
    assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)));
    let claude = config.agents().find(|spec| spec.name.as_str() == "claude").unwrap();
    let AgentKind::Acp(process) = claude.kind else { panic!("it is an ACP agent") };
    assert_eq!((process.per, process.record), (ProcessPer::Shared, true));
    assert_eq!(process.env["KEY"], EnvValue::Secret(SecretName::of_user("anthropic")));
    assert_eq!(process.env["LOG"], EnvValue::Plain("info".into()));
    assert!(!format!("{process:?}").contains("\"info\""), "values are not shown");
}

#[test]
fn agents_of_every_kind_are_given_out() {
    let config = read(ALL_KINDS).unwrap();
    assert!(config.agent(&"small".into()).is_ok());
    assert!(config.agent(&"demo".into()).is_ok());
    assert!(config.agent(&"claude".into()).is_ok());
    assert!(config.agent(&"engine".into()).is_ok());
    assert!(config.agent(&"local".into()).is_ok());
    let unknown = config.agent(&"nobody".into()).unwrap_err().to_string();
    assert!(unknown.contains("no agent `nobody`") && unknown.contains("`small`"), "{unknown}");
}

#[test]
fn nothing_configured_means_the_demo_agent() {
    let config = Config::read(None).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(config.default_agent(), AgentName::from("demo"));
    assert_eq!(config.startup, Startup { slow_ms: 10_000, timeout_ms: 30_000 });
    assert_eq!(config.stillness, Stillness { stall_ms: 40_000, idle_ms: Some(1_800_000) });
    let absent = Path::new("/nowhere/config.toml");
    assert_eq!(Config::read(Some((absent.into(), Asked::AsUsual))).unwrap(), config);
    let error = Config::read(Some((absent.into(), Asked::ByName))).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/config.toml: cannot be read: "), "{error}");
}

#[test]
fn what_is_wrong_is_named_by_line_and_key() {
    let cases = [
        ("defualt_agent = \"x\"\n", 1, "defualt_agent", "unknown field `defualt_agent`"),
        ("\ndefault_agent = 3\n", 2, "default_agent", "expected a string"),
        ("\n\ndefault_agent = \"who\"\n", 3, "default_agent", "no agent `who`"),
        ("durability = \"some\"\n", 1, "durability", "unknown variant `some`"),
        ("startup_slow_ms = -1\n", 1, "startup_slow_ms", "-1"),
        ("startup_slow_ms = 50\nstartup_timeout_ms = 50\n", 2, "startup_timeout_ms", "must be more than"),
        ("startup_slow_ms = 40000\n", 1, "startup_slow_ms", "must be more than"),
        ("stall_seconds = 0\n", 1, "stall_seconds", "from 1 to"),
        ("idle_unload_minutes = 99999999\n", 1, "idle_unload_minutes", "0 means never"),
        ("[agents.a]\nkind = \"acp\"\ncommand = [\"x\"]\nrecord = 1\n", 4, "agents.a.record", "expected a boolean"),
        ("[agents.a]\nkind = \"engine\"\nurl = \"http://x\"\nrecord = true\n", 4, "agents.a.record", "has no `record`"),
        ("[server]\nport = 1\n", 2, "server.port", "unknown field `port`"),
        ("[server]\nallowed_origins = [\"https://*.x\"]\n", 2, "server.allowed_origins", "an origin is"),
        ("[server]\nallowed_origins = \"x\"\n", 2, "server.allowed_origins", "expected a sequence"),
        ("[agents.a]\ncommand = [\"x\"]\n", 1, "agents.a", "`kind` is missing"),
        ("[agents.a]\nkind = \"odd\"\n", 2, "agents.a.kind", "unknown variant `odd`"),
        ("[agents.a]\nkind = \"plain\"\n", 1, "agents.a", "`command` is missing"),
        ("[agents.a]\nkind = \"plain\"\ncommand = []\n", 3, "agents.a.command", "name of a program"),
        ("[agents.a]\nkind = \"plain\"\ncommand = \"x\"\n", 3, "agents.a.command", "expected a sequence"),
        ("[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nurl = \"http://x\"\n", 4, "agents.a.url", "has no `url`"),
        ("[agents.a]\nkind = \"plain\"\ncomand = [\"x\"]\n", 3, "agents.a.comand", "unknown field `comand`"),
        (
            "[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nenv = { A = 1 }\n",
            4,
            "agents.a.env.A",
            "a value is a text",
        ),
        (
            "[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nenv = { A = { secrt = \"s\" } }\n",
            4,
            "agents.a.env.A",
            "a value is a text",
        ),
        (
            "[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nenv = { \"A=B\" = \"\" }\n",
            4,
            "agents.a.env.A=B",
            "no `=`",
        ),
        ("[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\ninherit = [\"\"]\n", 4, "agents.a.inherit", "not empty"),
        (
            "[agents.a]\nkind = \"apex\"\ncommand = [\"x\"]\nprocess = \"shared\"\n",
            4,
            "agents.a.process",
            "per session",
        ),
        (
            "[agents.a]\nkind = \"plain\"\ncommand = [\"x\"]\nprocess = \"session\"\n",
            4,
            "agents.a.process",
            "for all sessions",
        ),
        (
            "[agents.a]\nkind = \"acp\"\ncommand = [\"x\"]\nprocess = \"both\"\n",
            4,
            "agents.a.process",
            "unknown variant",
        ),
        ("[agents.a]\nkind = \"engine\"\nurl = \"file:///etc\"\n", 3, "agents.a.url", "begins with http://"),
        ("[agents.a]\nkind = \"engine\"\nurl = \"http://u:p@x\"\n", 3, "agents.a.url", "without a user name"),
        ("[agents.a]\nkind = \"model\"\nbase_url = \"http://x\"\n", 1, "agents.a", "`model` is missing"),
        ("[agents.demo]\nkind = \"plain\"\ncommand = [\"x\"]\n", 1, "agents.demo", "taken by the built-in agent"),
    ];
    for (text, line, key, expected) in cases {
        let found = wrong(text);
        assert_eq!((found.0, found.1.as_deref()), (line, Some(key)), "{text}{}", found.2);
        assert!(found.2.contains(expected), "{text}{}", found.2);
    }
}

#[test]
fn broken_toml_is_named_by_its_line() {
    let (line, key, _) = wrong("default_agent = \"x\"\nthis is no TOML\n");
    assert_eq!((line, key), (2, None));
    let (line, _, message) = wrong("a = 1\n[agents.x]\n[agents.x]\n");
    assert!(line == 3 && message.contains("duplicate"), "{line} {message}");
}

#[test]
fn the_text_of_an_error_names_file_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "\ndurability = 3\n").unwrap();
    let error = Config::read(Some((file.clone(), Asked::ByName))).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}, line 2, key `durability`: ", file.display())), "{error}");
}

fn in_workspace(text: &str) -> Result<Config, ConfigError> {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(".switchboard")).unwrap();
    std::fs::write(root.path().join(".switchboard/config.toml"), text).unwrap();
    read("[agents.a]\nkind = \"plain\"\ncommand = [\"users\"]\n").unwrap().in_trusted_workspace(root.path())
}

#[test]
fn a_trusted_workspace_adds_agents_and_chooses_the_default() {
    let text = "default_agent = \"b\"\n[agents.b]\nkind = \"plain\"\ncommand = [\"own\"]\n";
    let config = in_workspace(text).unwrap();
    assert_eq!(config.default_agent(), AgentName::from("b"));
    assert!(config.agent(&"a".into()).is_ok() && config.agent(&"b".into()).is_ok());
    let bare = tempfile::tempdir().unwrap();
    assert_eq!(Config::default().in_trusted_workspace(bare.path()).unwrap(), Config::default());
}

#[test]
fn a_workspace_may_not_set_what_is_about_the_host() {
    for (text, key) in [
        ("[server]\nallowed_origins = [\"https://evil.example\"]\n", "server"),
        ("durability = \"normal\"\n", "durability"),
        ("startup_timeout_ms = 99999999\n", "startup_timeout_ms"),
        ("stall_seconds = 9\n", "stall_seconds"),
        ("idle_unload_minutes = 9\n", "idle_unload_minutes"),
    ] {
        let error = in_workspace(text).unwrap_err().to_string();
        assert!(error.contains("only the user's own file") && error.contains(&format!("key `{key}")), "{error}");
    }
}
