//! The user's file, changed by program: what was written by hand stays, and nothing that is wrong is ever written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is to stop")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use switchboard_host::agents::known;
use switchboard_host::agents::{AgentKind, AgentSpec, ProcessPer, ProcessSpec};
use switchboard_host::config::edit::{AlsoRemoved, EditError, add, remove};
use switchboard_host::config::{Asked, Config};
use tempfile::TempDir;

struct Home {
    folder: TempDir,
}

impl Home {
    fn with(text: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(home.file(), text).unwrap();
        home
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }
}

fn acp(name: &str, command: &[&str]) -> AgentSpec {
    let process = ProcessSpec { per: ProcessPer::Session, ..ProcessSpec::new(command.iter().copied()) };
    AgentSpec { name: name.into(), kind: AgentKind::Acp(process) }
}

const BY_HAND: &str = "\
# Mine.
default_agent = 'small'   # for now

[agents.small] # tiny
kind = 'plain'
command = [
  './agent.py', # here
]

[server]
allowed_hosts = ['box.local']
# The end.
";

#[test]
fn what_was_written_by_hand_stays_as_it_was() {
    let home = Home::with(BY_HAND);
    add(&home.file(), &acp("near", &["near", "--acp"])).unwrap();
    let added = "\n[agents.near]\nkind = \"acp\"\ncommand = [\"near\", \"--acp\"]\n";
    assert_eq!(home.text(), format!("{BY_HAND}{added}"));
    assert_eq!(remove(&home.file(), &"small".into()).unwrap(), AlsoRemoved::Default);
    let others = "\n[server]\nallowed_hosts = ['box.local']\n# The end.\n";
    assert_eq!(home.text(), format!("{others}{added}"));
}

#[test]
fn every_well_known_agent_can_be_added_and_is_understood() {
    let home = Home::with("");
    for known in known::all() {
        add(&home.file(), &known.find(None).spec()).unwrap();
    }
    let config = Config::read(Some((home.file(), Asked::ByName))).unwrap();
    assert_eq!(config.agents().count(), known::all().len() + 1);
    assert!(home.text().starts_with("[agents.claude]\n"), "{}", home.text());
}

#[test]
fn a_file_that_is_not_there_is_made_for_its_owner_alone() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config/switchboard/config.toml");
    add(&file, &acp("near", &["near"])).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let names: Vec<_> = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["config.toml"], "nothing is left beside it");
}

#[test]
fn a_link_and_its_rights_stay() {
    let home = Home::with("# dotfiles\n");
    fs::set_permissions(home.file(), fs::Permissions::from_mode(0o640)).unwrap();
    let link = home.folder.path().join("link.toml");
    std::os::unix::fs::symlink(home.file(), &link).unwrap();
    add(&link, &acp("near", &["near"])).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(home.file()).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(home.text().starts_with("# dotfiles\n") && home.text().contains("[agents.near]"), "{}", home.text());
}

#[test]
fn a_name_that_is_taken_or_absent_is_said_with_what_to_do() {
    let home = Home::with(BY_HAND);
    let taken = add(&home.file(), &acp("small", &["x"])).unwrap_err();
    assert!(matches!(taken, EditError::Taken { .. }) && taken.to_string().contains("agents remove small"), "{taken}");
    let absent = remove(&home.file(), &"nobody".into()).unwrap_err().to_string();
    assert!(absent.contains("no agent `nobody`") && absent.contains("`small`"), "{absent}");
    assert_eq!(home.text(), BY_HAND);
}

#[test]
fn the_default_goes_with_its_agent() {
    let home = Home::with(BY_HAND);
    assert_eq!(remove(&home.file(), &"small".into()).unwrap(), AlsoRemoved::Default);
    assert!(!home.text().contains("default_agent") && home.text().contains("# The end."), "{}", home.text());
    assert!(Config::read(Some((home.file(), Asked::ByName))).is_ok());
}

#[test]
fn a_file_that_is_wrong_is_left_alone() {
    for text in ["agents = 1\n", "this is no TOML\n", "[agents.x]\nkind = \"plain\"\n"] {
        let home = Home::with(text);
        let error = add(&home.file(), &acp("near", &["near"])).unwrap_err();
        assert!(matches!(error, EditError::Wrong(_)) && error.to_string().contains("line 1"), "{error}");
        assert_eq!(home.text(), text);
    }
}

#[test]
fn a_name_that_would_be_wrong_is_never_written() {
    for (name, command) in [("demo", "x"), ("", "x"), ("a\nb", "x"), ("good", "")] {
        let home = Home::with(BY_HAND);
        let error = add(&home.file(), &acp(name, &[command])).unwrap_err();
        assert!(matches!(error, EditError::WouldBeWrong(_)), "{error}");
        assert_eq!(home.text(), BY_HAND);
    }
    let home = Home::with(BY_HAND);
    add(&home.file(), &acp("with \"quotes\" and ] brackets", &["x"])).unwrap();
    assert!(Config::read(Some((home.file(), Asked::ByName))).is_ok(), "{}", home.text());
}

#[test]
fn other_ways_to_write_a_table_are_carried_on_or_refused() {
    for text in [
        "agents = { small = { kind = \"plain\", command = [\"x\"] } }\n",
        "agents.small.kind = \"plain\"\nagents.small.command = [\"x\"]\n",
        "[agents]\nsmall = { kind = \"plain\", command = [\"x\"] }\n",
    ] {
        let home = Home::with(text);
        match add(&home.file(), &acp("near", &["near"])) {
            Ok(()) => {
                let config = Config::read(Some((home.file(), Asked::ByName))).unwrap();
                assert_eq!(config.agents().count(), 3, "{}", home.text());
                remove(&home.file(), &"near".into()).unwrap();
            }
            Err(EditError::ByHand { .. }) => {}
            Err(other) => panic!("{other}"),
        }
        let config = Config::read(Some((home.file(), Asked::ByName))).unwrap();
        assert_eq!(config.agents().count(), 2, "{}", home.text());
    }
}
