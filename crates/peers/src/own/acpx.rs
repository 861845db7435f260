//! Our own agent in the hands of a client that others have made: `acpx` starts `switchboard agent` itself, without a host, and
//! the model does what the prompts script. What it was shown is read from the client's own output.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{Other, note};
use crate::host::kill;
use crate::install::{node, npm};
use crate::model::{Model, NAME, ONLY_OPENAI};
use crate::run::Options;
use crate::trial::{Outcome, failed, passed, short};

pub(super) const PACKAGES: &[&str] = &["acpx@0.19.1"];

/// How long one call of the client may take.
const PATIENCE: Duration = Duration::from_secs(90);
const STEP: Duration = Duration::from_millis(50);
/// How long a cancelled turn may take to end.
const CANCEL: Duration = Duration::from_secs(10);
/// The agent's names for the client: the same program, asked to speak the one or the other way to the model.
const OPENAI: &str = "by-openai";
const OLLAMA: &str = "by-ollama";
const WORD: &str = "zebra-4711";

const ADD: &str = "add() {\n  echo $(($1 - $2))\n}\n";
const MENDED: &str = "add() {\n  echo $(($1 + $2))\n}\n";
const TEST: &str = ". ./add.sh\n[ \"$(add 2 3)\" = 5 ] && echo passed || { echo 'add 2 3 is wrong'; exit 1; }\n";

struct Stage {
    program: PathBuf,
    node: PathBuf,
    home: PathBuf,
    workspace: PathBuf,
    /// Names our agents' processes and nobody else's.
    address: String,
}

/// What a call of the client came to.
struct Called {
    code: Option<i32>,
    said: Vec<Value>,
    words: String,
}

pub(super) async fn tries(options: &Options) -> Result<Vec<(&'static str, Outcome)>> {
    let cache = std::path::absolute(&options.cache)?;
    let modules = npm(&cache.join(Other::Acpx.name()), PACKAGES).await.context("acpx cannot be installed")?;
    let folder = options.folder.join(Other::Acpx.name());
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let model = Model::start(0, Some(&folder.join("model.jsonl"))).await.context("the model cannot listen")?;
    let stage = Stage {
        program: modules.join(".bin/acpx"),
        node: node(&cache).await?,
        home: folder.join("home"),
        workspace: folder.join("workspace"),
        address: format!("http://{}", model.address),
    };
    stage.prepare(&options.program)?;
    let mut outcomes = Vec::new();
    let other = Other::Acpx;
    note(other, &mut outcomes, "task, all by acpx", stage.task(OPENAI, &[]).await);
    note(other, &mut outcomes, "task, by itself", stage.task(OLLAMA, &["--no-fs", "--no-terminal"]).await);
    note(other, &mut outcomes, "deny", stage.deny().await);
    note(other, &mut outcomes, "failing model", stage.failure().await);
    note(other, &mut outcomes, "resume", stage.resume().await);
    note(other, &mut outcomes, "mode", stage.mode().await);
    note(other, &mut outcomes, "model", stage.model().await);
    note(other, &mut outcomes, "list", stage.list().await);
    note(other, &mut outcomes, "cancel", stage.cancel().await);
    note(other, &mut outcomes, "end", stage.end().await);
    Ok(outcomes)
}

impl Stage {
    fn prepare(&self, program: &Path) -> Result<()> {
        let agent = |base: String| json!({"argv": [program, "agent", "--base-url", base, "--model", NAME]});
        let agents = json!({
            OPENAI: agent(format!("{}{ONLY_OPENAI}", self.address)), OLLAMA: agent(self.address.clone()),
        });
        for folder in [&self.home.join(".acpx"), &self.workspace] {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        std::fs::write(self.home.join(".acpx/config.json"), json!({ "agents": agents }).to_string())?;
        std::fs::write(self.workspace.join("test.sh"), TEST)?;
        // The client looks for the root of a repository.
        std::fs::create_dir_all(self.workspace.join(".git")).context("no workspace")
    }

    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let mut path = std::ffi::OsString::from(&self.node);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(&self.program);
        command.args(["--format", "json", "--cwd"]).arg(&self.workspace).args(arguments);
        command.env("HOME", &self.home).env("PATH", path).env_remove("XDG_STATE_HOME").env_remove("XDG_DATA_HOME");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Ok(command)
    }

    async fn call(&self, arguments: &[&str]) -> Result<Called> {
        let child = self.command(arguments)?.spawn().context("acpx cannot be started")?;
        read(child).await
    }

    /// A script for the model in a session of its own.
    async fn exec(&self, agent: &str, flags: &[&str], steps: &Value) -> Result<Called> {
        let prompt = format!("FAKE{steps}");
        self.call(&[flags, &[agent, "exec", &prompt]].concat()).await
    }

    /// Read, search, edit with consent, run the tests, read the failure, mend, done.
    async fn task(&self, agent: &str, flags: &[&str]) -> Result<Outcome> {
        std::fs::write(self.workspace.join("add.sh"), ADD)?;
        let edit = |old: &str, new: &str| json!({"do": "edit", "path": "add.sh", "old": old, "new": new});
        let steps = json!([
            {"do": "plan", "items": [["mend add", "in_progress"]]},
            {"do": "tool", "name": "search", "input": {"pattern": "add\\(\\)"}},
            {"do": "read", "path": "add.sh"},
            edit("$1 * $2", "$1 + $2"),
            edit("$1 - $2", "$1 * $2"),
            {"do": "shell", "cmd": "sh test.sh"},
            edit("$1 * $2", "$1 + $2"),
            {"do": "shell", "cmd": "sh test.sh"},
            {"do": "say", "text": "add is mended"},
        ]);
        let called = self.exec(agent, &[&["--approve-all"], flags].concat(), &steps).await?;
        let found = std::fs::read_to_string(self.workspace.join("add.sh")).unwrap_or_default();
        let asks = called.count("session/request_permission");
        let done = called.updates("tool_call_update");
        let ends = |wanted: &str| done.iter().filter(|update| update["status"] == wanted).count();
        let says = |words: &str| done.iter().any(|update| update.to_string().contains(words));
        let by_client = (called.count("fs/write_text_file"), called.count("terminal/create"));
        let wanted = if flags.is_empty() { (2, 2) } else { (0, 0) };
        let plan = called.updates("plan").first().map(|plan| plan["entries"][0]["content"].clone());
        Ok(if let Err(why) = called.ended("end_turn") {
            failed(why)
        } else if called.text() != "add is mended" {
            failed(format!("said {:?}", short(&called.text())))
        } else if found != MENDED {
            failed(format!("on disk is {:?}", short(&found)))
        } else if asks != 4 {
            failed(format!("asked {asks} times"))
        } else if by_client != wanted {
            failed(format!("{by_client:?} writes and commands went through the client"))
        } else if plan != Some(json!("mend add")) {
            failed(format!("its plan is {plan:?}"))
        } else if (ends("completed"), ends("failed")) != (6, 2) {
            failed(format!("{} calls completed, {} failed", ends("completed"), ends("failed")))
        } else if !says("add 2 3 is wrong") || !says("add.sh:1:") {
            failed("what the search or the tests say is not shown")
        } else {
            passed(format!("8 calls, asks {asks} times"))
        })
    }

    async fn deny(&self) -> Result<Outcome> {
        std::fs::write(self.workspace.join("add.sh"), ADD)?;
        let steps = json!([
            {"do": "edit", "path": "add.sh", "old": "$1 - $2", "new": "$1 + $2"},
            {"do": "shell", "cmd": "touch denied.txt"},
            {"do": "say", "text": "after the denial"},
        ]);
        let called = self.exec(OPENAI, &["--deny-all"], &steps).await?;
        let found = std::fs::read_to_string(self.workspace.join("add.sh")).unwrap_or_default();
        Ok(if found != ADD || self.workspace.join("denied.txt").exists() {
            failed("it was done all the same")
        } else if called.count("session/request_permission") == 0 {
            failed("it was not asked for")
        } else if let Err(why) = called.ended("end_turn") {
            failed(why)
        } else if called.text() != "after the denial" {
            failed(format!("said {:?}", short(&called.text())))
        } else {
            passed("goes on; acpx denies the reading before an edit too")
        })
    }

    async fn failure(&self) -> Result<Outcome> {
        let called = self.exec(OPENAI, &[], &json!([{"do": "error", "status": 400}])).await?;
        let words = called.said.iter().find_map(|said| said["error"]["message"].as_str());
        Ok(match words {
            Some(words) if words.contains("400") && words.contains(&self.address) && called.code != Some(0) => {
                passed("says where and what")
            }
            other => failed(format!("{:?}: {other:?}", called.code)),
        })
    }

    /// The agent dies between two prompts; the client starts it again and it knows what was said.
    async fn resume(&self) -> Result<Outcome> {
        self.call(&["--ttl", "60", OLLAMA, "sessions", "new"]).await?;
        let first = format!("The word is {WORD}. FAKE{}", json!([{"do": "say", "text": "noted"}]));
        let called = self.call(&["--ttl", "60", OLLAMA, "prompt", &first]).await?;
        if called.text() != "noted" {
            return Ok(failed(format!("the first prompt: {}", called.all())));
        }
        let agents = self.agents();
        if agents.is_empty() {
            return Ok(failed("the agent does not live on between prompts"));
        }
        agents.iter().copied().for_each(kill);
        self.until(|stage| stage.agents().iter().all(|pid| !agents.contains(pid))).await;
        let again = format!("FAKE{}", json!([{"do": "recall", "word": WORD}]));
        let called = self.call(&["--ttl", "60", OLLAMA, "prompt", &again]).await?;
        let way = ["session/resume", "session/load"].into_iter().find(|method| called.count(method) > 0);
        Ok(if !called.text().contains(&format!("I remember {WORD}")) {
            failed(format!("has forgotten ({way:?}): {}", called.all()))
        } else {
            passed(format!("killed, {}", way.unwrap_or("not said how")))
        })
    }

    async fn mode(&self) -> Result<Outcome> {
        let set = self.call(&[OLLAMA, "set-mode", "plan"]).await?;
        if set.code != Some(0) {
            return Ok(failed(set.all()));
        }
        let write = json!({"do": "tool", "name": "write_file", "input": {"path": "planned.txt", "content": "x"}});
        let prompt = format!("FAKE{}", json!([write, {"do": "say", "text": "so be it"}]));
        let called = self.call(&["--approve-all", OLLAMA, "prompt", &prompt]).await?;
        self.call(&[OLLAMA, "set-mode", "agent"]).await?;
        Ok(if self.workspace.join("planned.txt").exists() {
            failed("a file was written in the mode that changes nothing")
        } else if let Err(why) = called.ended("end_turn") {
            failed(why)
        } else {
            passed("plan writes nothing")
        })
    }

    async fn model(&self) -> Result<Outcome> {
        let set = self.call(&[OLLAMA, "set", "model", NAME]).await?;
        let wrong = self.call(&[OLLAMA, "set", "model", "nobody"]).await?;
        Ok(if set.code == Some(0) && wrong.code != Some(0) { passed("") } else { failed(set.all() + &wrong.all()) })
    }

    async fn list(&self) -> Result<Outcome> {
        let called = self.call(&[OLLAMA, "sessions", "list"]).await?;
        let listed = called.said.iter().find(|said| said["source"] == "agent");
        let names = listed.map(|listed| listed["sessions"].to_string()).unwrap_or_default();
        Ok(if names.contains(WORD) { passed("") } else { failed(called.all()) })
    }

    async fn cancel(&self) -> Result<Outcome> {
        let prompt = format!("FAKE{}", json!([{"do": "slow", "n": 600, "delay": 0.1}]));
        let running = self.command(&["--ttl", "60", OLLAMA, "prompt", &prompt])?.spawn()?;
        let running = tokio::spawn(read(running));
        let journal = self.workspace.with_file_name("model.jsonl");
        let is_asked = |_: &Self| std::fs::read_to_string(&journal).is_ok_and(|asked| asked.contains("slow"));
        self.until(is_asked).await;
        let cancelled = self.call(&[OLLAMA, "cancel"]).await?;
        let began = Instant::now();
        let Ok(called) = tokio::time::timeout(CANCEL, running).await else { return Ok(failed("no end")) };
        let called = called.context("the prompt cannot be waited for")??;
        Ok(match called.ended("cancelled") {
            Err(why) => failed(format!("{why}; {}", cancelled.all())),
            Ok(()) => passed(format!("{:.1} s after", began.elapsed().as_secs_f64())),
        })
    }

    async fn end(&self) -> Result<Outcome> {
        self.call(&[OLLAMA, "sessions", "close"]).await?;
        let ended = self.until(|stage| stage.agents().is_empty()).await;
        Ok(if ended { passed("") } else { failed(format!("{} agents are left", self.agents().len())) })
    }

    async fn until(&self, holds: impl Fn(&Self) -> bool) -> bool {
        let began = Instant::now();
        while began.elapsed() < CANCEL {
            if holds(self) {
                return true;
            }
            tokio::time::sleep(STEP).await;
        }
        false
    }

    /// The processes of our agent that were started for this trial: the address of its model is nobody else's.
    fn agents(&self) -> Vec<i32> {
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let is_ours = |pid: &i32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            words.get(1) == Some(&b"agent".as_slice())
                && words.get(3).is_some_and(|base| base.starts_with(self.address.as_bytes()))
        };
        numbers.filter(is_ours).collect()
    }
}

async fn read(child: tokio::process::Child) -> Result<Called> {
    let Ok(ended) = tokio::time::timeout(PATIENCE, child.wait_with_output()).await else {
        bail!("acpx did not end within {} s", PATIENCE.as_secs());
    };
    let ended = ended.context("acpx cannot be waited for")?;
    let out = String::from_utf8_lossy(&ended.stdout);
    let said = out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    Ok(Called { code: ended.status.code(), said, words })
}

impl Called {
    fn count(&self, method: &str) -> usize {
        self.said.iter().filter(|said| said["method"] == method).count()
    }

    fn updates(&self, kind: &str) -> Vec<&Value> {
        let updates = self.said.iter().map(|said| &said["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).collect()
    }

    fn text(&self) -> String {
        self.updates("agent_message_chunk").iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    fn ended(&self, wanted: &str) -> Result<(), String> {
        let reason = self.said.iter().find_map(|said| said["result"]["stopReason"].as_str());
        match reason {
            Some(reason) if reason == wanted => Ok(()),
            Some(reason) => Err(format!("ended {reason}")),
            None => Err(format!("no end: {}", self.all())),
        }
    }

    /// The end of what was said, for whoever has to find out.
    fn all(&self) -> String {
        let last = self.said.last().map(Value::to_string).unwrap_or_default();
        short(&format!("{} {last}", self.words.trim()))
    }
}
