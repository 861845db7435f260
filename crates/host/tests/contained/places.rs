//! What a command can reach: its workspace and nothing else to write to, no secrets, no network unless it is allowed.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use switchboard_types::{Network, RunAs};

use super::stage::{Stage, fence, run, sh, wanted};

#[tokio::test]
async fn the_workspace_can_be_written_to_and_nothing_else() {
    let mut stage = Stage::new();
    let evil = format!("{}-evil", stage.path("").display().to_string().trim_end_matches('/'));
    std::fs::create_dir(&evil).unwrap();
    let home = std::env::var("HOME").unwrap();
    let ran = stage
        .script(&format!(
            "mkdir sub && echo in > sub/file || exit 1
             for at in /etc/evil {home}/evil {evil}/x ../evil /usr/bin/evil /var/evil; do
               echo x > $at && echo wrote $at
             done 2>/dev/null
             exit 0"
        ))
        .await;
    let left = std::fs::read_dir(&evil).unwrap().count();
    std::fs::remove_dir_all(&evil).unwrap();
    assert!(ran.worked(), "{ran:?}");
    assert_eq!(stage.text("sub/file").as_deref(), Some("in\n"));
    assert_eq!(left, 0);
    for at in ["/etc/evil".to_owned(), format!("{home}/evil"), "/usr/bin/evil".to_owned(), "/var/evil".to_owned()] {
        assert!(!std::path::Path::new(&at).exists(), "{at}: {ran:?}");
        assert!(!ran.output.contains(&format!("wrote {at}")), "{ran:?}");
    }
}

#[tokio::test]
async fn further_folders_can_be_written_to_if_a_person_says_so() {
    let more = tempfile::tempdir().unwrap();
    let mut wanted = wanted();
    wanted.writable = vec![more.path().to_owned()];
    let mut stage = Stage::within(fence(wanted));
    let ran = stage.script(&format!("echo x > {}/file", more.path().display())).await;
    assert!(ran.worked(), "{ran:?}");
    assert!(more.path().join("file").exists());
}

#[tokio::test]
async fn files_for_a_moment_are_the_commands_own() {
    let mut stage = Stage::new();
    let name = format!("switchboard-test-{}", std::process::id());
    let script = format!("echo $TMPDIR; echo x > /tmp/{name} && cat /tmp/{name}; echo y > /var/tmp/{name}; ls -A /run");
    let ran = stage.script(&script).await;
    assert_eq!((ran.output.as_str(), ran.worked()), ("/tmp\nx\n", true));
    assert!(!std::path::Path::new("/tmp").join(&name).exists());
    assert!(!std::path::Path::new("/var/tmp").join(&name).exists());
}

#[tokio::test]
async fn the_hosts_own_folder_is_not_there() {
    // Where the workspace is the folder around it, and where it is not.
    let around = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir_in(around.path()).unwrap();
    std::fs::write(data.path().join("token"), "very secret").unwrap();
    let token = data.path().join("token");
    let mut inside = Stage::of(fence(wanted()), data, around);
    let script =
        format!("cat {0}; ls -A {1}; echo x > {0}; echo end", token.display(), token.parent().unwrap().display());
    let ran = inside.script(&script).await;
    assert!(!ran.output.contains("very secret") && ran.output.contains("end"), "{ran:?}");
    assert!(!ran.output.contains("\ntoken\n"), "{ran:?}");
    let mut elsewhere = Stage::new();
    std::fs::write(elsewhere.data.path().join("token"), "very secret").unwrap();
    let ran = elsewhere.script(&format!("cat {}/token; echo end", elsewhere.data.path().display())).await;
    assert!(!ran.output.contains("very secret") && ran.output.contains("end"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(token).unwrap(), "very secret");
}

/// A folder that commands see unless it is hidden: not where every command has files of its own.
fn seen_folder() -> tempfile::TempDir {
    let home = std::env::var("HOME").unwrap_or_default();
    let own = |place: &&str| ["/tmp", "/var/tmp", "/run"].iter().all(|own| !Path::new(place).starts_with(own));
    let places = [env!("CARGO_TARGET_TMPDIR"), home.as_str(), env!("CARGO_MANIFEST_DIR")];
    let found = places.into_iter().filter(own).find_map(|place| tempfile::tempdir_in(place).ok());
    found.expect("some folder outside of those for files of a moment")
}

#[tokio::test]
async fn what_is_to_be_hidden_is_hidden() {
    let secrets = seen_folder();
    std::fs::write(secrets.path().join("key"), "very secret").unwrap();
    std::fs::write(secrets.path().join("file"), "also secret").unwrap();
    let (folder, file) = (secrets.path().join("folder"), secrets.path().join("file"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::rename(secrets.path().join("key"), folder.join("key")).unwrap();
    let mut wanted = wanted();
    let script = format!("cat {}/key {}; echo end", folder.display(), file.display());
    let mut open = Stage::new();
    assert!(open.script(&script).await.output.contains("very secretalso secret"));
    wanted.hidden = vec![folder, file];
    let mut stage = Stage::within(fence(wanted));
    let ran = stage.script(&script).await;
    assert!(!ran.output.contains("secret\n") && !ran.output.contains("very secret"), "{ran:?}");
}

#[tokio::test]
async fn no_other_process_can_be_seen_and_no_right_is_left() {
    let mut stage = Stage::new();
    let ran =
        stage.script("grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status; ls /proc | grep -c '^[0-9]'").await;
    let lines: Vec<&str> = ran.output.lines().collect();
    let [effective, bound, no_new, count] = lines.as_slice() else { panic!("{ran:?}") };
    assert!(effective.ends_with("\t0000000000000000") && bound.ends_with("\t0000000000000000"), "{ran:?}");
    assert!(no_new.ends_with("\t1"), "{ran:?}");
    assert!(count.parse::<u32>().unwrap() < 10, "{ran:?}");
}

#[tokio::test]
async fn variables_of_a_command_do_nothing_to_what_holds_it_in() {
    let mut stage = Stage::new();
    let mut set = sh("echo $LD_PRELOAD $A; env | grep -c SWITCHBOARD_LIFE");
    set.env = vec![("LD_PRELOAD".into(), "/nowhere/evil.so".into()), ("A".into(), "b=c".into())];
    let execution = stage.start(set, RunAs::Shown, Network::Closed).await;
    let ran = stage.ran(&execution).await;
    // The loader complains once for each program of the command, and for no other.
    assert!(ran.output.contains("/nowhere/evil.so b=c"), "{ran:?}");
    assert!(!ran.output.contains("bwrap") && !ran.output.contains("switchboard/start"), "{ran:?}");
}

#[tokio::test]
async fn the_network_is_there_only_if_it_is_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let mut asked = [0; 1];
        let _ = peer.read(&mut asked);
        peer.write_all(b"answer\n").unwrap();
    });
    let script = format!(
        "import socket\ns = socket.create_connection(('127.0.0.1', {port}), 5)\ns.send(b'x')\nprint(s.recv(99).decode())"
    );
    let mut stage = Stage::new();
    let closed = stage.start(run(&["python3", "-c", &script]), RunAs::Shown, Network::Closed).await;
    let closed = stage.ran(&closed).await;
    assert!(!closed.worked() && !closed.output.contains("answer"), "{closed:?}");
    let open = stage.start(run(&["python3", "-c", &script]), RunAs::Shown, Network::Open).await;
    let open = stage.ran(&open).await;
    assert!(open.worked() && open.output.contains("answer"), "{open:?}");
    serving.join().unwrap();
}
