//! What the configuration says of tools: what holds, what is wrong, and that a workspace's file only makes it stricter.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is to stop")]

use switchboard_core::NetworkFor;
use switchboard_host::config::{Asked, Config, ConfigError, Holding, HoldingMode};
use switchboard_types::{Patterns, Unasked};

fn read(text: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    Config::read(Some((file, Asked::ByName)))
}

fn over(user: &str, workspace: &str) -> Result<Config, ConfigError> {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(".switchboard")).unwrap();
    std::fs::write(root.path().join(".switchboard/config.toml"), workspace).unwrap();
    read(user).unwrap().in_trusted_workspace(root.path())
}

fn pattern(glob: &str, ask: bool) -> String {
    format!("[[edits.patterns]]\nglob = \"{glob}\"\nask = {ask}\n")
}

const ALL: &str = r#"
[containment]
mode = "required"
network = "always"
writable = ["/var/cache/build"]

[approvals]
timeout = 90

[[edits.patterns]]
glob = "**/*"
ask = true

[[edits.patterns]]
glob = "docs/**"
ask = false
"#;

#[test]
fn what_is_said_of_tools_is_understood() {
    let tools = read(ALL).unwrap().tools;
    let holding =
        Holding { mode: HoldingMode::Required, network: NetworkFor::All, writable: vec!["/var/cache/build".into()] };
    assert_eq!((&tools.holding, tools.approval_ms), (&holding, 90_000));
    let patterns = Patterns(vec![("**/*".to_owned(), Unasked::MayNot), ("docs/**".to_owned(), Unasked::May)]);
    assert_eq!(tools.patterns(), Some(patterns));
    let nothing = read("").unwrap().tools;
    assert_eq!((nothing.holding.clone(), nothing.approval_ms, nothing.patterns()), (Holding::default(), 0, None));
    assert_eq!((nothing.holding.mode, nothing.holding.network), (HoldingMode::Auto, NetworkFor::Approved));
}

#[test]
fn what_is_wrong_is_named_by_line_and_key() {
    let many = pattern("a", true).repeat(257);
    let cases = [
        ("[containment]\nmode = \"maybe\"\n", 2, "containment.mode", "unknown variant `maybe`"),
        ("[containment]\nnetwork = true\n", 2, "containment.network", "wanted string"),
        ("[containment]\nwalls = 1\n", 2, "containment.walls", "unknown field `walls`"),
        ("[containment]\nwritable = [\"cache\"]\n", 2, "containment.writable", "whole path from `/` on"),
        ("[containment]\nwritable = [\"/\"]\n", 2, "containment.writable", "not `/` itself"),
        ("[containment]\nwritable = [\"/a/../b\"]\n", 2, "containment.writable", "without `..`"),
        ("[approvals]\ntimeout = 9999999\n", 2, "approvals.timeout", "0 means never"),
        ("[approvals]\ntimeout = -1\n", 2, "approvals.timeout", "-1"),
        ("[edits]\npatterns = 3\n", 2, "edits.patterns", "expected a sequence"),
        ("[[edits.patterns]]\nask = true\n", 1, "edits.patterns", "`glob` is missing"),
        ("[[edits.patterns]]\nglob = \"a\"\n", 1, "edits.patterns", "`ask` is missing"),
        ("[[edits.patterns]]\nglob = \"a{b\"\nask = true\n", 2, "edits.patterns.glob", "is not a glob"),
        (
            "[[edits.patterns]]\nglob = \"/etc/**\"\nask = true\n",
            2,
            "edits.patterns.glob",
            "from the workspace's folder on",
        ),
        ("[[edits.patterns]]\nglob = \"\"\nask = true\n", 2, "edits.patterns.glob", "from the workspace's folder on"),
        ("[[edits.patterns]]\nglob = \"a\"\nask = \"no\"\n", 3, "edits.patterns.ask", "expected a boolean"),
        (many.as_str(), 769, "edits.patterns", "256 patterns at most"),
        ("[agents.bench]\nkind = \"plain\"\ncommand = [\"x\"]\n", 1, "agents.bench", "where a person calls tools"),
    ];
    for (text, line, key, expected) in cases {
        match read(text) {
            Err(ConfigError::Wrong { line: at, key: found, message, .. }) => {
                let start: String = text.chars().take(80).collect();
                assert_eq!((at, found.as_deref()), (line, Some(key)), "{start}: {message}");
                assert!(message.contains(expected), "{start}: {message}");
            }
            other => panic!("it was to be wrong: {other:?}\n{text}"),
        }
    }
}

#[test]
fn a_workspace_makes_things_stricter() {
    let stricter = format!("[containment]\nmode = \"required\"\nnetwork = \"never\"\n{}", pattern("src/**", true));
    let user = pattern("**/*", false);
    let config = over(&user, &stricter).unwrap();
    assert_eq!((config.tools.holding.mode, config.tools.holding.network), (HoldingMode::Required, NetworkFor::None));
    let patterns = vec![("**/*".to_owned(), Unasked::May), ("src/**".to_owned(), Unasked::MayNot)];
    assert_eq!((config.tools.patterns(), config.left_out), (Some(Patterns(patterns)), vec![]));
    // Where the user has no patterns, those that are built in come before the workspace's, not instead of nothing.
    let Some(Patterns(patterns)) = over("", &stricter).unwrap().tools.patterns() else { panic!("there are patterns") };
    assert_eq!(patterns.first(), Some(&("**/*".to_owned(), Unasked::May)));
    assert!(patterns.contains(&("*.pem".to_owned(), Unasked::MayNot)), "{patterns:?}");
    assert_eq!(patterns.last(), Some(&("src/**".to_owned(), Unasked::MayNot)));
}

#[test]
fn what_would_make_things_looser_in_a_workspace_is_left_out_and_said() {
    let looser = format!(
        "[containment]\nmode = \"off\"\nnetwork = \"always\"\nwritable = [\"/home\"]\n{}{}",
        pattern("**/.env", false),
        pattern("a/**", true),
    );
    let user = "[containment]\nmode = \"required\"\nnetwork = \"never\"\n";
    for user in ["", user] {
        let before = read(user).unwrap().tools;
        let config = over(user, &looser).unwrap();
        assert_eq!(config.tools.holding, before.holding);
        let Some(Patterns(patterns)) = config.tools.patterns() else { panic!("there are patterns") };
        assert!(!patterns.contains(&("**/.env".to_owned(), Unasked::May)), "{patterns:?}");
        let notes = config.left_out;
        assert_eq!(notes.len(), 4, "{notes:?}");
        for (note, place) in notes.iter().zip(["line 2", "line 3", "line 4", "line 7"]) {
            assert!(
                note.contains(".switchboard/config.toml") && note.contains(place) && note.contains("left out"),
                "{note}"
            );
        }
    }
    // What the user wants anyway is no reason to say anything.
    assert_eq!(
        over("", "[containment]\nmode = \"auto\"\nnetwork = \"approved\"\n").unwrap().left_out,
        Vec::<String>::new()
    );
}

#[test]
fn a_workspace_may_not_say_how_long_a_question_waits_and_its_mistakes_are_mistakes() {
    let error = over("", "[approvals]\ntimeout = 1\n").unwrap_err().to_string();
    assert!(error.contains("only the user's own file") && error.contains("key `approvals"), "{error}");
    for text in ["[containment]\nwritable = [\"x\"]\n", "[[edits.patterns]]\nglob = \"{\"\nask = false\n"] {
        assert!(over("", text).is_err(), "{text}");
    }
}
