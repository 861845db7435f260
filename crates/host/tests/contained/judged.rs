//! Commands that run unasked: without a shell, only what was named, in the order and under the conditions of the line.

use switchboard_types::{ErrandCode, ExecutionEnd, Network, RunAs};

use super::stage::{Ran, Stage, fence, run, wanted};
use switchboard_host::runner::contain::Fence;

async fn judged(stage: &mut Stage, line: &str) -> Ran {
    let execution = stage.start(run(&[line]), RunAs::Judged, Network::Closed).await;
    stage.ran(&execution).await
}

/// Lines, what they say, and what they end with.
const LINES: &[(&str, &str, i32)] = &[
    ("echo one", "one\n", 0),
    ("echo 'two  words' \"x\"y", "two  words xy\n", 0),
    ("echo '$HOME' '*'", "$HOME *\n", 0),
    ("true && echo yes", "yes\n", 0),
    ("false && echo no", "", 1),
    ("false || echo yes", "yes\n", 0),
    ("true || echo no; echo then", "then\n", 0),
    ("false && echo no || echo yes", "yes\n", 0),
    ("echo a; false; echo b", "a\nb\n", 0),
    ("echo b a | tr ' ' '\\n' | sort | head -n 1", "a\n", 0),
    ("false | true", "", 0),
    ("true | false", "", 1),
    ("cat sub/inside", "text\n", 0),
    ("cat < sub/inside", "text\n", 0),
    ("ls nothing 2>&1 | wc -l", "1\n", 0),
    ("echo x > made; cat made; echo y >> made; cat made", "x\nx\ny\n", 0),
    ("ls nothing 2> /dev/null", "", 2),
];

#[tokio::test]
async fn lines_mean_without_a_shell_what_they_mean_with_one() {
    for fence in [fence(wanted()), bare()] {
        let mut stage = Stage::within(fence);
        stage.put("sub/inside", "text\n");
        for (line, output, code) in LINES {
            let ran = judged(&mut stage, line).await;
            assert_eq!((ran.output.as_str(), &ran.end), (*output, &ExecutionEnd::Exited { code: *code }), "{line}");
        }
    }
}

#[tokio::test]
async fn what_only_a_shell_could_run_is_not_run_unasked() {
    let mut stage = Stage::new();
    for line in [
        "touch $(echo ran)",
        "touch ran &",
        "for i in a; do touch ran; done",
        "eval touch ran",
        "touch r*",
        "A=ran; touch $A",
    ] {
        let errand = stage.prepare(run(&[line])).await.unwrap();
        let failure = stage.perform(errand, RunAs::Judged, Network::Closed).await.unwrap_err();
        assert_eq!(failure.code, ErrandCode::Denied, "{line}: {failure:?}");
    }
    assert_eq!(stage.text("ran"), None);
}

#[tokio::test]
async fn a_redirection_leads_nowhere_else() {
    for fence in [fence(wanted()), bare()] {
        let mut stage = Stage::within(fence);
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("file"), "good").unwrap();
        let errand = stage.prepare(run(&["echo evil > way"])).await.unwrap();
        super::stage::link(outside.path().join("file"), stage.path("way"));
        let failed = stage.perform(errand, RunAs::Judged, Network::Closed).await;
        assert!(failed.is_err(), "{failed:?}");
        assert_eq!(std::fs::read_to_string(outside.path().join("file")).unwrap(), "good");
    }
}

/// No walls, but the program that runs lines.
fn bare() -> Fence {
    let off = switchboard_host::runner::contain::Mode::Off;
    switchboard_host::runner::contain::probe(switchboard_host::runner::contain::Wanted { mode: off, ..wanted() }, None)
}
