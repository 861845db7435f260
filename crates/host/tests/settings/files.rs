//! The settings in the user's file and in a workspace's: read with words for what is wrong, written without touching the rest.

use std::fs;
use std::path::PathBuf;

use switchboard_host::config::save::{to_users_file, to_workspaces_file};
use switchboard_host::config::{Asked, Config};
use switchboard_types::{Patterns, Settings, Temperature, Unasked};
use tempfile::TempDir;

struct Home {
    folder: TempDir,
}

impl Home {
    fn with(text: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.workspace().join(".switchboard")).unwrap();
        fs::write(home.file(), text).unwrap();
        home
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn workspaces_file(&self) -> PathBuf {
        self.workspace().join(".switchboard/config.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn config(&self) -> Config {
        Config::read(Some((self.file(), Asked::ByName))).unwrap()
    }

    fn error(&self) -> String {
        Config::read(Some((self.file(), Asked::ByName))).unwrap_err().to_string()
    }
}

fn patterns(all: &[(&str, Unasked)]) -> Option<Patterns> {
    Some(Patterns(all.iter().map(|(glob, word)| ((*glob).to_owned(), *word)).collect()))
}

const ALL: &str = "\
[settings]
base_url = 'http://127.0.0.1:11434'
agent_model = 'big'
ask_model = 'small'
edit_model = 'mid'
completion_model = 'tiny'
max_iterations = 25
tool_timeout = 60000
max_active_sessions = 3
temperature = 0.7

[[edits.patterns]]
glob = '**/*'
ask = false
";

fn all() -> Settings {
    Settings {
        base_url: Some("http://127.0.0.1:11434".to_owned()),
        agent_model: Some("big".to_owned()),
        ask_model: Some("small".to_owned()),
        edit_model: Some("mid".to_owned()),
        completion_model: Some("tiny".to_owned()),
        max_iterations: Some(25),
        tool_timeout: Some(60_000),
        max_active_sessions: Some(3),
        temperature: Some(Temperature(70)),
        sensitive_file_patterns: patterns(&[("**/*", Unasked::May)]),
    }
}

#[test]
fn every_setting_is_read_and_written_back_as_it_was() {
    let home = Home::with(ALL);
    assert_eq!(home.config().settings, all());
    to_users_file(&home.file(), &all(), &[]).unwrap();
    assert_eq!(home.text(), ALL, "what is the same is not touched");
    let fresh = Home::with("");
    to_users_file(&fresh.file(), &all(), &[]).unwrap();
    assert_eq!(fresh.config().settings, all());
}

#[test]
fn what_is_wrong_names_the_file_the_line_and_the_key() {
    for (line, key, why) in [
        ("base_url = 'localhost'", "base_url", "http://"),
        ("base_url = 'http://u:canary@h'", "base_url", "without a user name"),
        ("agent_model = ''", "agent_model", "1 to 256 bytes"),
        ("max_iterations = 0", "max_iterations", "1 to 1000"),
        ("max_iterations = -1", "max_iterations", "expected u64"),
        ("tool_timeout = 600001", "tool_timeout", "1 to 600000"),
        ("max_active_sessions = 'two'", "max_active_sessions", "expected u64"),
        ("temperature = 2.1", "temperature", "from 0 to 2"),
        ("temperature = nan", "temperature", "from 0 to 2"),
        ("hue = 1", "hue", "unknown field"),
    ] {
        let error = Home::with(&format!("# first\n[settings]\n{line}\n")).error();
        assert!(error.contains("config.toml, line 3") && error.contains(&format!("settings.{key}")), "{line}: {error}");
        assert!(error.contains(why) && !error.contains("canary"), "{line}: {error}");
    }
}

#[test]
fn a_change_touches_what_it_names_and_keeps_comments_and_order() {
    let home = Home::with(
        "# Mine.\n[settings] # people\nagent_model = 'big' # for work\nask_model = 'small'\n\n[agents.a] # one\nkind = 'plain'\ncommand = ['x']\n",
    );
    let change = Settings {
        agent_model: Some(" huge ".to_owned()),
        ask_model: Some(String::new()),
        max_active_sessions: Some(2),
        ..Settings::default()
    };
    to_users_file(&home.file(), &change, &[]).unwrap();
    let expected = "# Mine.\n[settings] # people\nagent_model = \"huge\" # for work\nmax_active_sessions = 2\n\n[agents.a] # one\nkind = 'plain'\ncommand = ['x']\n";
    assert_eq!(home.text(), expected);
    let ends = Home::with("default_agent = 'demo'\n# The end.\n");
    to_users_file(&ends.file(), &Settings { max_iterations: Some(1), ..Settings::default() }, &[]).unwrap();
    assert_eq!(ends.text(), "default_agent = 'demo'\n# The end.\n\n[settings]\nmax_iterations = 1\n");
    let gone = Settings { max_active_sessions: Some(0), agent_model: Some(String::new()), ..Settings::default() };
    to_users_file(&home.file(), &gone, &[]).unwrap();
    assert_eq!(home.config().settings, Settings::default());
}

#[test]
fn patterns_are_written_in_their_order_wherever_the_file_has_them() {
    let wanted = patterns(&[("**/*", Unasked::May), ("**/*.pem", Unasked::MayNot), ("a \"b\".txt", Unasked::May)]);
    for text in
        ["", "[edits]\n", "edits = { patterns = [] }\n", "[[edits.patterns]]\nglob = 'x'\nask = true\n", "[server]\n"]
    {
        let home = Home::with(text);
        let change = Settings { sensitive_file_patterns: wanted.clone(), ..Settings::default() };
        to_users_file(&home.file(), &change, &[]).unwrap();
        assert_eq!(home.config().tools.patterns(), wanted, "{text:?} became {}", home.text());
        let none = Settings { sensitive_file_patterns: patterns(&[]), ..Settings::default() };
        to_users_file(&home.file(), &none, &[]).unwrap();
        assert_eq!(home.config().tools.patterns(), None, "an empty list lets the built-in ones hold: {}", home.text());
    }
}

#[test]
fn what_would_be_wrong_is_not_written() {
    let home = Home::with("# as it is\n");
    let wrong = |change: Settings| to_users_file(&home.file(), &change, &[]).unwrap_err().to_string();
    let timeout = wrong(Settings { tool_timeout: Some(600_001), ..Settings::default() });
    assert!(timeout.contains("toolTimeout") && timeout.contains("1 to 600000"), "{timeout}");
    let glob =
        wrong(Settings { sensitive_file_patterns: patterns(&[("/etc/**", Unasked::May)]), ..Settings::default() });
    assert!(glob.contains("from the workspace's folder on"), "{glob}");
    assert_eq!(home.text(), "# as it is\n");
    fs::write(home.file(), "[settings\n").unwrap();
    let broken = wrong(Settings { max_iterations: Some(1), ..Settings::default() });
    assert!(broken.contains("mend that first"), "{broken}");
}

#[test]
fn a_workspaces_settings_hold_on_top_of_the_users_and_stay_in_their_own_file() {
    let home = Home::with(ALL);
    let user = home.config();
    let change = Settings {
        agent_model: Some("local".to_owned()),
        sensitive_file_patterns: patterns(&[("infra/**", Unasked::MayNot)]),
        ..Settings::default()
    };
    to_workspaces_file(&home.workspace(), &user, &change, &[]).unwrap();
    let config = user.in_trusted_workspace(&home.workspace()).unwrap();
    assert_eq!((&config.settings, &config.workspace_settings), (&all(), &change));
    let both = patterns(&[("**/*", Unasked::May), ("infra/**", Unasked::MayNot)]);
    let effective = Settings { agent_model: Some("local".to_owned()), sensitive_file_patterns: both.clone(), ..all() };
    assert_eq!(config.effective_settings(), effective);
    assert_eq!(config.tools.patterns(), both);
    assert_eq!(home.text(), ALL);
    let laxer = Settings { sensitive_file_patterns: patterns(&[("x", Unasked::May)]), ..Settings::default() };
    let error = to_workspaces_file(&home.workspace(), &user, &laxer, &[]).unwrap_err().to_string();
    assert!(error.contains("only have more files asked about"), "{error}");
}

#[test]
fn a_workspaces_file_that_leads_elsewhere_is_not_written() {
    let home = Home::with("");
    let elsewhere = home.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let change = Settings { max_iterations: Some(1), ..Settings::default() };
    let save =
        || to_workspaces_file(&home.workspace(), &home.config(), &change, &[]).map_err(|error| error.to_string());
    fs::write(elsewhere.join("config.toml"), "# theirs\n").unwrap();
    std::os::unix::fs::symlink(elsewhere.join("config.toml"), home.workspaces_file()).unwrap();
    assert!(save().unwrap_err().contains("leads out of the workspace"));
    fs::remove_dir_all(home.workspace().join(".switchboard")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.workspace().join(".switchboard")).unwrap();
    assert!(save().unwrap_err().contains("leads out of the workspace"));
    assert_eq!(fs::read_to_string(elsewhere.join("config.toml")).unwrap(), "# theirs\n");
    fs::remove_file(home.workspace().join(".switchboard")).unwrap();
    save().unwrap();
}
