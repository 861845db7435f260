//! Secrets in a real keyring: GNOME's, on a session bus of its own, with a home of its own. Without these two programs the test
//! fails; `cargo xtask test` installs them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const VALUE: &str = "canary-in-the-keyring-71d0";
/// Everybody on this bus may do everything.
const POLICY: &str = "<policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
    <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy>";
const PATIENCE: Duration = Duration::from_secs(60);

/// A desktop: a bus, and a keyring that is open.
struct Desktop {
    folder: TempDir,
    address: String,
    bus: Child,
    keyring: Option<Child>,
}

impl Desktop {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "run"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        // Without a folder of services nobody is started by the bus itself.
        let config = folder.path().join("bus.conf");
        let listen = format!("<listen>unix:dir={}</listen>", folder.path().join("run").display());
        std::fs::write(&config, format!("<busconfig><type>session</type>{listen}{POLICY}</busconfig>")).unwrap();
        let mut bus = Command::new("dbus-daemon");
        let named = format!("--config-file={}", config.display());
        let bus = bus.args([&named, "--nofork", "--print-address=1"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut bus = bus.spawn().expect("dbus-daemon; `cargo xtask test` installs it");
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let mut desktop = Self { folder, address: address.trim().to_owned(), bus, keyring: None };
        desktop.unlock();
        desktop
    }

    fn unlock(&mut self) {
        let mut command = Command::new("gnome-keyring-daemon");
        command.args(["--foreground", "--unlock", "--components=secrets"]);
        self.environment(&mut command);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("gnome-keyring-daemon; `cargo xtask test` installs it");
        child.stdin.take().unwrap().write_all(b"password").unwrap();
        self.keyring = Some(child);
        let deadline = Instant::now() + PATIENCE;
        while !self.says(&["secrets", "list"]).contains("New secrets go to the keyring of your desktop.") {
            assert!(Instant::now() < deadline, "no keyring: {}", self.says(&["secrets", "list"]));
        }
    }

    fn end_keyring(&mut self) {
        let mut keyring = self.keyring.take().unwrap();
        keyring.kill().unwrap();
        keyring.wait().unwrap();
    }

    fn environment(&self, command: &mut Command) {
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address).env("HOME", self.folder.path().join("home"));
        command.env("XDG_RUNTIME_DIR", self.folder.path().join("run")).env("NO_COLOR", "1");
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME").env_remove("SWITCHBOARD_KEYRING");
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self, arguments: &[&str], input: &str, change: impl FnOnce(&mut Command)) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        command.args(arguments).arg("--data").arg(self.data());
        self.environment(&mut command);
        change(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that wants no input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
        assert!(!said.contains("canary"), "{arguments:?} says {said}");
        (out.status.code(), said)
    }

    fn says(&self, arguments: &[&str]) -> String {
        self.run(arguments, "", |_| {}).1
    }

    /// All that is on the disk, the keyring's own file included.
    fn disk(&self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut folders = vec![self.data(), self.folder.path().join("home")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    std::fs::File::open(entry.path()).unwrap().read_to_end(&mut all).unwrap();
                }
            }
        }
        all
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in self.keyring.iter_mut().chain([&mut self.bus]) {
            // Already gone where the test ended it.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn has_canary(bytes: &[u8]) -> bool {
    bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes())
}

#[test]
fn where_a_keyring_runs_secrets_are_in_it_and_in_no_file() {
    let mut desktop = Desktop::start();
    let (code, said) = desktop.run(&["secrets", "set", "one"], VALUE, |_| {});
    assert!(code == Some(0) && said.contains("stored in the keyring of your desktop"), "{said}");
    assert!(!has_canary(&desktop.disk()), "the value lies on the disk");
    let listed = desktop.says(&["secrets", "list"]);
    assert!(listed.contains("one  bound to nothing yet, in the keyring"), "{listed}");
    assert!(listed.contains("New secrets go to the keyring of your desktop."), "{listed}");

    // It comes back where it is wanted: an agent's variable.
    let workspace = desktop.folder.path().join("home");
    std::fs::create_dir_all(workspace.join(".config/switchboard")).unwrap();
    let seen = workspace.join("seen");
    let script = format!("printf %s \"$KEY\" > '{}'", seen.display());
    let config = format!(
        "[agents.a]\nkind = \"plain\"\ncommand = [\"sh\", \"-c\", {script:?}]\nenv = {{ KEY = {{ secret = \"one\" }} }}\n"
    );
    std::fs::write(workspace.join(".config/switchboard/config.toml"), config).unwrap();
    let wanted = ["agents", "check", "a", "--workspace", workspace.to_str().unwrap()];
    desktop.run(&["trust", workspace.to_str().unwrap()], "", |_| {});
    let (_, said) = desktop.run(&wanted, "", |_| {});
    assert_eq!(std::fs::read_to_string(&seen).unwrap_or_default(), VALUE, "{said}");
    std::fs::remove_file(&seen).unwrap();

    // Without its keyring it is not to be had, and that is said; new ones go to the file.
    desktop.end_keyring();
    let (_, said) = desktop.run(&wanted, "", |_| {});
    assert!(said.contains("in the keyring of your desktop") && !seen.exists(), "{said}");
    let (code, said) = desktop.run(&["secrets", "remove", "one"], "", |_| {});
    assert!(code == Some(1) && said.contains("unlock it"), "{said}");
    let (_, said) = desktop.run(&["secrets", "set", "two"], "kept-in-the-file", |_| {});
    assert!(said.contains("secrets.json") && said.contains("not encrypted"), "{said}");
    let doctor = desktop.says(&["doctor"]);
    assert!(doctor.contains("some are in the keyring"), "{doctor}");

    // With it, both are listed, and what is removed is gone.
    desktop.unlock();
    let listed = desktop.says(&["secrets", "list", "--json"]);
    assert!(listed.contains(r#""kept":"keyring""#) && listed.contains(r#""kept":"file""#), "{listed}");
    assert_eq!(desktop.run(&["secrets", "remove", "one"], "", |_| {}).0, Some(0));
    assert!(!desktop.says(&["secrets", "list"]).contains("one "));
}

#[test]
fn a_keyring_that_is_switched_off_is_not_asked() {
    let desktop = Desktop::start();
    let off = |command: &mut Command| {
        command.env("SWITCHBOARD_KEYRING", "off");
    };
    let (_, said) = desktop.run(&["secrets", "set", "one"], "a-value", off);
    assert!(said.contains("secrets.json"), "{said}");
    let (_, said) = desktop.run(&["secrets", "list"], "", off);
    assert!(said.contains("in the file") && said.contains("SWITCHBOARD_KEYRING is off"), "{said}");
}
