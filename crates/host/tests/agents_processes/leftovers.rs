//! What a dead host leaves: its children die with it, and the next host ends the rest, but nobody else.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use std::os::unix::process::CommandExt;
use switchboard_host::agents::children::Fate;
use switchboard_host::agents::{Leftover, end_leftovers};
use switchboard_types::LifeId;

use super::stage::{Stage, gone, number_in, patient, plain, runs, until};

/// Says where the host that is to be killed keeps its data.
const VICTIM: &str = "SWITCHBOARD_TEST_VICTIM";

/// Not a test by itself: the next one runs it in a process of its own, and kills that.
#[tokio::test]
async fn a_host_to_be_killed() {
    let Ok(folder) = std::env::var(VICTIM) else { return };
    let stage = Stage::new(patient(), 16);
    let script = format!(
        "sleep 1000 & cd '{folder}' && echo $! > grandchild && echo $$ > child
         ( setsid sh -c 'echo $$ > stray; sleep 1000 & echo $! > nephew; wait' & ); wait"
    );
    let _orders = stage.agents.spawn(LifeId(1), &plain(["/bin/sh", "-c", &script]), &stage.workspace());
    std::fs::write(Path::new(&folder).join("data"), stage.data.path().to_str().unwrap()).unwrap();
    std::future::pending().await
}

#[tokio::test]
async fn children_die_with_a_killed_host_and_the_next_start_ends_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers::a_host_to_be_killed", "--nocapture"])
        .env(VICTIM, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let child = number_in(&folder.path().join("child")).await;
    let grandchild = number_in(&folder.path().join("grandchild")).await;
    let stray = number_in(&folder.path().join("stray")).await;
    let nephew = number_in(&folder.path().join("nephew")).await;
    let data = std::fs::read_to_string(folder.path().join("data")).unwrap();
    let data = Path::new(&data);
    until(|| data.join("children").join(child.to_string()).exists().then_some(())).await;
    host.kill().unwrap();
    host.wait().unwrap();
    gone(child).await;
    assert!(runs(grandchild) && runs(stray) && runs(nephew));
    let stranger = Sleeper::start();
    let done = end_leftovers(data);
    let ended = |pid, fate| Leftover { pid, agent: "x".into(), fate };
    assert!(done.contains(&ended(child, Fate::GroupEnded)), "{done:?}");
    assert!(done.contains(&ended(stray, Fate::StrayEnded)), "{done:?}");
    for pid in [grandchild, stray, nephew] {
        gone(pid).await;
    }
    assert!(runs(stranger.pid()));
    assert_eq!(end_leftovers(data), vec![]);
    std::fs::remove_dir_all(data).unwrap();
}

struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("1000").process_group(0).spawn().unwrap())
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap()
    }

    fn field(&self, number: usize) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(number - 3).unwrap().parse().unwrap()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_record(data: &Path, sleeper: &Sleeper, start: u64, boot: &str) {
    let folder = data.join("children");
    std::fs::create_dir_all(&folder).unwrap();
    let (pid, session) = (sleeper.pid(), sleeper.field(6));
    let record = serde_json::json!({ "pid": pid, "start": start, "session": session, "boot": boot, "agent": "old" });
    std::fs::write(folder.join(pid.to_string()), record.to_string()).unwrap();
}

#[test]
fn only_the_very_process_that_was_written_down_is_ended() {
    let data = tempfile::tempdir().unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot = boot.trim();
    let mut sleeper = Sleeper::start();
    let (pid, start) = (sleeper.pid(), sleeper.field(22));
    let leftover = |fate| vec![Leftover { pid, agent: "old".into(), fate }];

    write_record(data.path(), &sleeper, start - 1, boot);
    assert_eq!(end_leftovers(data.path()), leftover(Fate::Recycled));
    write_record(data.path(), &sleeper, start, "another boot");
    assert_eq!(end_leftovers(data.path()), leftover(Fate::Gone));
    assert!(runs(pid));

    write_record(data.path(), &sleeper, start, boot);
    assert_eq!(end_leftovers(data.path()), leftover(Fate::Ended));
    sleeper.0.wait().unwrap();
    assert!(!runs(pid));
}

#[test]
fn a_record_that_makes_no_sense_harms_nobody() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("children");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, content) in [
        ("1", r#"{"pid":1,"start":0,"session":0,"boot":"","agent":"x"}"#),
        ("0", r#"{"pid":0,"start":0,"session":0,"boot":"","agent":"x"}"#),
        ("-1", r#"{"pid":-1,"start":0,"session":0,"boot":"","agent":"x"}"#),
        ("77", "not JSON"),
        ("78", r#"{"pid":79,"start":0,"session":0,"boot":"","agent":"x"}"#),
    ] {
        std::fs::write(folder.join(name), content).unwrap();
    }
    assert!(end_leftovers(data.path()).iter().all(|leftover| leftover.fate == Fate::Gone));
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}
