//! The judge of commands: whatever stands in a line, it says something and why, and it lets nothing run by itself that it
//! cannot have read.

use switchboard_core::Trust;
use switchboard_core::policy::{Question, judge, look_up, read, read_argv};
use switchboard_types::{
    Asker, CommandFacts, Facts, Judgement, Place, ProgramFacts, SessionPolicy, Severity, TargetFacts, Verdict,
};

/// The whole input is one line; its words, split at blanks, are judged as words without a shell too.
pub(crate) fn run(data: &[u8]) {
    let line = String::from_utf8_lossy(data).into_owned();
    let as_line = judged(CommandFacts { line: Some(line.clone()), ..CommandFacts::default() });
    if as_line.decision == Verdict::Allow {
        assert!(as_line.severity <= Severity::Medium, "{line:?} is {:?} and runs by itself", as_line.severity);
        assert!(!is_live(&line), "{line:?} runs by itself, and only a shell knows what it means");
        assert!(line.len() <= 8 * 1024, "{} bytes run by themselves", line.len());
        assert!(runs_as_read(&line), "{line:?} runs by itself without having been read");
    }
    let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
    assert_eq!(read_argv(&argv).commands.first().map(|simple| &simple.words), Some(&argv));
    judged(CommandFacts { argv, ..CommandFacts::default() });
}

/// Judges with everything on that a session can switch on, on a machine where every program is there.
fn judged(mut facts: CommandFacts) -> Judgement {
    "/w".clone_into(&mut facts.cwd);
    facts.cwd_place = Place::Inside(String::new());
    let reading = read(&facts);
    let program = |name: &str| {
        let path = format!("/usr/bin/{name}");
        ProgramFacts { name: name.to_owned(), path: Some(path.clone()), place: Place::Outside(path) }
    };
    let target = |path: &str| TargetFacts { written: path.to_owned(), place: Place::Inside(path.to_owned()) };
    look_up(&mut facts, &reading, program, target);
    let session = SessionPolicy { auto_commands: true, auto_edits: true, ..SessionPolicy::default() };
    let facts = Facts::Command(Box::new(facts));
    let judgement = judge(&Question {
        facts: &facts,
        asker: Asker::Agent,
        session: &session,
        patterns: None,
        rules: &[],
        granted: false,
        trust: Trust::Trusted,
    });
    assert!(!judgement.reasons.is_empty(), "no reason");
    assert!(judgement.severity < Severity::Critical || judgement.decision == Verdict::Ask, "critical is not asked");
    judgement
}

/// Whether what would run without a shell is there.
fn runs_as_read(line: &str) -> bool {
    let reading = switchboard_core::policy::read_line(line);
    reading.doubts.is_empty() && !reading.steps.is_empty() && reading.steps.len() <= 32
}

/// A second, simpler look: signs that only a shell gives a meaning, outside single quotes.
fn is_live(line: &str) -> bool {
    let (mut single, mut double, mut escaped) = (false, false, false);
    for sign in line.chars() {
        if escaped {
            escaped = false;
            continue;
        }
        match sign {
            '\'' if !double => single = !single,
            _ if single => {}
            '"' => double = !double,
            '\\' => escaped = true,
            '$' | '`' | '\n' | '\r' | '\0' => return true,
            '(' | ')' | '{' | '}' | '*' | '?' | '[' if !double => return true,
            _ => {}
        }
    }
    single || double || escaped
}
