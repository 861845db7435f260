//! The table of troubles on the page about agents: each is caused, and the program says what the table says.

use std::os::unix::fs::PermissionsExt;

use super::pages::{only, rows_below, spans};
use super::stage::Stage;

const OPENS: &str = r#"#!/bin/sh
echo "ready when you are"
while read -r line; do
  case $line in
    *'"new-session"'*) echo '{"type":"session-created","sessionId":"s"}' ;;
    *'"process-prompt"'*) echo '{"type":"response-chunk","sessionId":"s","text":"hi"}'; ACTION ;;
  esac
done
"#;

/// A view that asks each agent once, and one of them again and again, and prints all that it is told.
const PROBE: &str = r#"
const [address, token, ...agents] = process.argv.slice(2);
const link = new WebSocket(address, ["switchboard.v1", `bearer.${token}`]);
const say = (message) => link.send(JSON.stringify(message));
const left = new Map(agents.map((agent) => [agent, agent === "dies" ? 6 : 1]));
const ask = (agent) => say({ type: "prompt", tabId: agent, messageId: `${agent}${left.get(agent)}`, text: "hello" });
const done = (agent) => {
  left.set(agent, left.get(agent) - 1);
  if (left.get(agent) > 0) ask(agent);
  else if ([...left.values()].every((more) => more <= 0)) console.log("all asked");
};
link.onopen = () => agents.forEach((agent) => (say({ type: "new-tab", tabId: agent, agent }), ask(agent)));
link.onmessage = ({ data }) => {
  const told = JSON.parse(data);
  console.log(told.message ?? "", told.error?.message ?? "", told.detail?.message ?? "");
  if (told.type === "response-complete" || (told.type === "error" && told.messageId)) done(told.tabId);
};
"#;

const CONFIG: &str = r#"
startup_slow_ms = 300
startup_timeout_ms = 1000
[agents.plainfile]
kind = "plain"
command = ["./plainfile.sh"]
[agents.absent]
kind = "plain"
command = ["./absent.sh"]
[agents.nowhere]
kind = "plain"
command = ["no-such-program-anywhere"]
[agents.shebang]
kind = "plain"
command = ["./shebang.sh"]
[agents.deaf]
kind = "plain"
command = ["./deaf.sh"]
[agents.dies]
kind = "plain"
command = ["./dies.sh"]
[agents.noisy]
kind = "plain"
command = ["./noisy.sh"]
[agents.usage]
kind = "plain"
command = ["./usage.sh"]
[agents.killed]
kind = "plain"
command = ["./killed.sh"]
[agents.mute]
kind = "plain"
command = ["./mute.sh"]
[agents.broken]
kind = "apex"
command = ["./broken.sh"]
[agents.secretive]
kind = "plain"
command = ["./noisy.sh"]
env = { KEY = { secret = "mine" } }
"#;

/// Everything that the program says when all goes wrong that the table speaks of.
fn all_that_is_said() -> String {
    let complete = r#"echo '{"type":"response-complete","sessionId":"s"}'"#;
    let stage = Stage::new()
        .with_program("plainfile.sh", OPENS)
        .with_program("shebang.sh", "#!/no/such/interpreter\n")
        .with_program("deaf.sh", "#!/bin/sh\ncat > /dev/null\n")
        .with_program("dies.sh", "#!/bin/sh\necho 'the key is missing' >&2\nexit 7\n")
        .with_program("noisy.sh", &OPENS.replace("ACTION", complete))
        .with_program("usage.sh", "#!/bin/sh\necho 'usage: usage.sh --serve'\nexit 2\n")
        .with_program("killed.sh", &OPENS.replace("ACTION", "kill -KILL $$"))
        .with_program("broken.sh", "#!/bin/sh\nprintf 'I am up\\nContent-Length: much\\r\\n\\r\\n'\ncat > /dev/null\n")
        .with_program("mute.sh", "#!/bin/sh\nexec >&-\nexec sleep 1000\n")
        .with("probe.mjs", PROBE);
    let plain = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(stage.workspace().join("plainfile.sh"), plain).unwrap();
    std::fs::write(stage.config(), CONFIG).unwrap();
    let host = stage.serve("127.0.0.1:0");
    let command = only("docs/views/tabs.md", "sh").text.trim().replace("view.mjs", "probe.mjs");
    let mut untrusted = stage.shell(&host, &format!("{command} noisy"));
    untrusted.says("all asked", 1);
    stage.run(&["trust"]);
    let agents = "plainfile absent nowhere shebang deaf dies noisy usage killed mute broken secretive nobody";
    let mut probe = stage.shell(&host, &format!("{command} {agents}"));
    probe.says("all asked", 1);
    let log = host.log();
    drop(host);
    std::fs::write(stage.config(), "[agents.x]\nkind = \"plain\"\n").unwrap();
    let refused = stage.switchboard(&["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    format!("{}\n{}\n{log}\n{}", untrusted.said, probe.said, String::from_utf8_lossy(&refused.stderr))
}

#[test]
fn the_troubles_of_the_table_are_what_the_program_says() {
    let said = all_that_is_said();
    let rows = rows_below("docs/agents.md", "When something is wrong");
    assert!(rows.len() >= 10, "{rows:?}");
    for row in rows {
        assert!(!spans(&row[0]).is_empty(), "{row:?} quotes nothing");
        // The parts between what differs from case to case.
        for part in spans(&row[0]).into_iter().flat_map(|span| span.split('…')).map(str::trim) {
            assert!(said.contains(part), "nobody says {part:?}:\n{said}");
        }
    }
}
