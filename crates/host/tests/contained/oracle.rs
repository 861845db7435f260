//! What runs is what was named: commands that need no question, watched by strace, which tells every program that the system
//! starts. Beside them only what holds them in may run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use switchboard_core::policy::{Question, judge};
use switchboard_types::{
    Asker, ErrandNews, ErrandOrder, Facts, Network, RunAs, SessionPolicy, Trust, Verdict, WorkspaceRoot,
};

use super::stage::{SESSION, Stage, run};

/// Where the test within strace writes what was named.
const NAMED: &str = "SWITCHBOARD_TEST_NAMED";
/// Our own program behind the walls.
const INNER: &str = "/dev/switchboard/start";

/// Lines that need no question where a person has said that commands which only look need none, and how many programs each
/// starts.
const LINES: &[(&str, usize)] = &[
    ("ls", 1),
    ("ls -la sub", 1),
    ("cat file", 1),
    ("head -n 1 file", 1),
    ("wc -l file", 1),
    ("grep -n a file", 1),
    ("echo '$(touch evil)' '; touch evil'", 1),
    ("pwd", 1),
    ("ls && cat file", 2),
    ("ls nothing || cat file", 2),
    ("ls; cat file; wc file", 3),
    ("cat file | grep a | wc -l", 3),
    ("cat file | sort | uniq | head -n 3", 4),
    ("ls && cat file | wc -l; echo end", 4),
    ("false && ls", 0),
    ("true || ls", 0),
    ("cat sub/inside", 1),
    ("stat file", 1),
    ("sort file", 1),
    ("date", 1),
];

#[test]
fn nothing_runs_but_what_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let (told, named) = (folder.path().join("told"), folder.path().join("named"));
    let watched = Command::new("strace")
        .args(["-f", "-qq", "-s", "4096", "-e", "trace=execve,execveat", "-e", "signal=none", "-o"])
        .arg(&told)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "oracle::watched", "--ignored", "--test-threads=1", "--nocapture"])
        .env(NAMED, &named)
        .output()
        .expect("strace is installed: these tests say nothing without it");
    let said = String::from_utf8_lossy(&watched.stdout);
    assert!(
        watched.status.success() && said.contains("1 passed"),
        "{said} {}",
        String::from_utf8_lossy(&watched.stderr)
    );
    let named: Vec<Value> =
        std::fs::read_to_string(named).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ran = started(&std::fs::read_to_string(told).unwrap());
    assert_eq!((named.len(), ran.len()), (LINES.len(), LINES.len()), "{ran:?}");
    for ((named, ran), (line, count)) in named.iter().zip(&ran).zip(LINES) {
        assert_eq!(named["line"], *line);
        assert_eq!(named["decision"], "allow", "{named}");
        let mut allowed: Vec<PathBuf> =
            named["programs"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().into()).collect();
        for program in ran {
            let real = program.canonicalize().unwrap_or_else(|_| program.clone());
            let at = allowed.iter().position(|one| *one == real);
            assert!(at.is_some(), "`{line}` ran {}, which nobody named: {named}", program.display());
            allowed.remove(at.unwrap());
        }
        assert_eq!(ran.len(), *count, "`{line}` ran {ran:?}");
    }
}

#[tokio::test]
#[ignore = "run by the test before it, within strace"]
async fn watched() {
    let Some(file) = std::env::var_os(NAMED) else { return };
    let mut stage = Stage::new();
    stage.put("file", "b\na\nb\n");
    stage.put("sub/inside", "x\n");
    let session = SessionPolicy { auto_commands: true, ..SessionPolicy::default() };
    let mut named = String::new();
    for (line, _) in LINES {
        let (errand, facts) = facts(&mut stage, line).await;
        let question = Question {
            facts: &facts,
            asker: Asker::Agent,
            session: &session,
            patterns: None,
            rules: &[],
            granted: false,
            trust: Trust::Trusted,
        };
        let decision = match judge(&question).decision {
            Verdict::Allow => "allow".to_owned(),
            Verdict::Ask | Verdict::Deny => format!("{:?}", judge(&question)),
        };
        let Facts::Command(command) = &facts else { panic!("{facts:?}") };
        let programs: Vec<_> = command.programs.iter().filter_map(|program| program.path.clone()).collect();
        named += &json!({"line": line, "decision": decision, "programs": programs}).to_string();
        named.push('\n');
        let execution = stage.perform(errand, RunAs::Judged, Network::Closed).await.unwrap();
        stage.end(&execution).await;
        assert_eq!(stage.text("evil"), None);
    }
    std::fs::write(file, named).unwrap();
}

async fn facts(stage: &mut Stage, line: &str) -> (switchboard_types::ErrandId, Facts) {
    let errand = stage.errand();
    let root = WorkspaceRoot::from(stage.path("").to_str().unwrap());
    let what = switchboard_types::Errand::Run(run(&[line]));
    stage.runner.order(ErrandOrder::Prepare { errand, session: SESSION, root, what });
    let prepared = stage
        .find(|news| match news {
            ErrandNews::Prepared { errand: of, result } if *of == errand => Some(result.clone()),
            _ => None,
        })
        .await;
    (errand, prepared.unwrap().facts)
}

/// The programs that each command started: all that came up between one start of bubblewrap for a script and the next, but
/// bubblewrap and our own program.
fn started(told: &str) -> Vec<Vec<PathBuf>> {
    let mut all: Vec<Vec<PathBuf>> = Vec::new();
    let mut unfinished: BTreeMap<&str, &str> = BTreeMap::new();
    for line in told.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        let call = if call.starts_with("<... exec") {
            if !call.contains(") = 0") {
                continue;
            }
            unfinished.remove(process).unwrap_or_default()
        } else if call.contains("<unfinished ...>") {
            unfinished.insert(process, call);
            continue;
        } else if call.ends_with(" = 0") {
            call
        } else {
            continue;
        };
        let program = call.split('"').nth(1).map(Path::new).unwrap_or_else(|| panic!("{line}"));
        if program.file_name().is_some_and(|name| name == "bwrap") {
            if call.contains("--bind-fd") {
                all.push(Vec::new());
            }
        } else if program != Path::new(INNER)
            && let Some(last) = all.last_mut()
        {
            last.push(program.to_owned());
        }
    }
    all
}
