//! Daemons that agents leave outside their process group: found and ended with the life that they come from, and nobody else.

use std::process::{Child, Command};

use switchboard_host::agents::Graces;
use switchboard_host::link::{AgentOrder, EndHow};
use switchboard_types::LifeId;

use super::stage::{DEADLINE, Stage, gone, plain, quick, runs, soon, until};

/// Writes its number down and stays.
const STAY: &str = r"sh -c 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 1000'";

/// What a server that becomes a daemon does by the book: two forks, a session of its own, another folder, no pipes.
const BY_THE_BOOK: &str = r#"python3 -c '
import os, sys
place = os.getcwd()
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/"); os.umask(0)
null = os.open(os.devnull, os.O_RDWR)
for fd in range(3): os.dup2(null, fd)
with open(place + "/daemon.new", "w") as file: file.write("%d\n" % os.getpid())
os.rename(place + "/daemon.new", place + "/daemon")
os.execvp("sleep", ["sleep", "1000"])
'"#;

fn ways_to_stay() -> Vec<(&'static str, String)> {
    vec![
        ("setsid", format!("setsid {STAY} &")),
        ("two forks", format!("( ( {STAY} >/dev/null 2>&1 & ) )")),
        ("two forks and a session", format!("( setsid {STAY} </dev/null >/dev/null 2>&1 & )")),
        ("nohup", format!("nohup {STAY} >/dev/null 2>&1 &")),
        ("by the book", BY_THE_BOOK.to_owned()),
        ("no environment", format!("( env -i PATH=\"$PATH\" setsid {STAY} >/dev/null 2>&1 & )")),
        ("deaf to SIGTERM", format!("( setsid sh -c \"trap '' TERM; {}\" & )", STAY.replace('$', "\\$"))),
    ]
}

/// A script that has left a daemon once it says so.
fn leaves(way: &str, then: &str) -> String {
    format!("{way}\nwhile ! [ -s daemon ]; do :; done; echo '{{\"type\":\"error\",\"message\":\"ready\"}}'; {then}")
}

#[tokio::test]
async fn a_daemon_ends_with_an_agent_that_exits_by_itself() {
    for (name, way) in ways_to_stay() {
        let mut stage = Stage::new(quick(), 16);
        let _orders = stage.script(&leaves(&way, "exit 2"));
        let (_, message) = stage.hear_out().await;
        assert_eq!(message, "agent `x` exited with code 2", "{name}");
        let daemon = stage.number_in("daemon").await;
        assert!(!runs(daemon), "{name}: it is ended before the end is told");
    }
}

#[tokio::test]
async fn a_daemon_ends_with_an_agent_that_is_ended() {
    for how in [EndHow::Gracefully, EndHow::AtOnce] {
        for (name, way) in ways_to_stay() {
            let mut stage = Stage::new(quick(), 16);
            let orders = stage.script(&leaves(&way, "cat >/dev/null; exec sleep 1000"));
            stage.until(|_| true).await;
            let daemon = stage.number_in("daemon").await;
            assert!(runs(daemon), "{name}: it stays while the agent does");
            orders.send(AgentOrder::End(how)).await.unwrap();
            stage.hear_out().await;
            assert!(!runs(daemon), "{name}: it is ended before the end is told");
        }
    }
}

#[tokio::test]
async fn a_daemon_is_asked_before_it_is_killed() {
    let mut stage = Stage::new(Graces { left_behind: DEADLINE, ..quick() }, 16);
    let way = r#"( setsid sh -c "trap 'echo asked > asked; exit 0' TERM; echo \$\$ > daemon; while :; do sleep 0.05; done" & )"#;
    let _orders = stage.script(&leaves(way, "exit 0"));
    stage.hear_out().await;
    gone(stage.number_in("daemon").await).await;
    assert_eq!(std::fs::read_to_string(stage.root.path().join("asked")).unwrap(), "asked\n");
}

/// A process that no agent has started.
struct Stranger(Child);

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_daemon_of_another_life_and_strangers_are_left_alone() {
    let mut stage = Stage::new(quick(), 16);
    let other = tempfile::tempdir().unwrap();
    let stranger = Stranger(Command::new("sleep").arg("1000").spawn().unwrap());
    let script = leaves(&format!("( env -i PATH=\"$PATH\" setsid {STAY} & )"), "exec sleep 1000");
    let root = switchboard_types::WorkspaceRoot::from(other.path().to_str().unwrap());
    let _other = stage.agents.spawn(LifeId(2), &plain(["/bin/sh", "-c", &script]), &root);
    stage.until(|_| true).await;
    let others = super::stage::number_in(&other.path().join("daemon")).await;
    let orders = stage.script(&script);
    stage.until(|_| true).await;
    let own = stage.number_in("daemon").await;
    orders.send(AgentOrder::End(EndHow::AtOnce)).await.unwrap();
    stage.hear_out().await;
    assert!(!runs(own));
    assert!(runs(others), "another life's daemon lives on");
    assert!(runs(i32::try_from(stranger.0.id()).unwrap()), "and so does a process of nobody's");
    soon(stage.agents.shutdown()).await;
    assert!(!runs(others), "until that life ends");
    assert!(runs(i32::try_from(stranger.0.id()).unwrap()));
}

#[tokio::test]
async fn orphans_that_end_by_themselves_do_not_pile_up() {
    let mut stage = Stage::new(quick(), 16);
    let script = leaves("( sh -c 'echo $$ > daemon' & )", "cat >/dev/null");
    let _orders = stage.script(&script);
    stage.until(|_| true).await;
    let orphan = stage.number_in("daemon").await;
    let place = format!("/proc/{orphan}");
    until(|| (!std::path::Path::new(&place).exists()).then_some(())).await;
}

#[tokio::test]
async fn whoever_reaps_orphans_takes_no_agents_end_away() {
    let mut stage = Stage::new(quick(), 256);
    let script = "( true & ); ( true & ); exit 7";
    let lives: Vec<_> = (0..40)
        .map(|life| stage.agents.spawn(LifeId(life), &plain(["/bin/sh", "-c", script]), &stage.workspace()))
        .collect();
    for _ in &lives {
        let (_, message) = stage.hear_out().await;
        assert_eq!(message, "agent `x` exited with code 7 before it said anything");
    }
}
