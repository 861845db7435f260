//! However a command is dressed up, it is judged no milder than without the dress.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use switchboard_core::policy::read_line;
use switchboard_types::Verdict;

use super::corpus::{Case, corpus};
use super::world::{World, line};

/// How one word is written otherwise, with the same meaning.
#[derive(Clone, Copy, Debug)]
enum Quoting {
    Plain,
    Single,
    Double,
    Halves,
    Escaped,
}

/// What is put around a command.
#[derive(Clone, Copy, Debug)]
enum Around {
    Nothing,
    AndBefore,
    ThenBefore,
    ThenBehind,
    OrBehind,
    PipeBehind,
    Subshell,
    Group,
    ShellText,
    NewLineBefore,
    NewLineBehind,
    Negated,
    Background,
    Substituted,
    Conditional,
    Env,
    Redirected,
    Evaluated,
}

const AROUND: &[Around] = &[
    Around::Nothing,
    Around::AndBefore,
    Around::ThenBefore,
    Around::ThenBehind,
    Around::OrBehind,
    Around::PipeBehind,
    Around::Subshell,
    Around::Group,
    Around::ShellText,
    Around::NewLineBefore,
    Around::NewLineBehind,
    Around::Negated,
    Around::Background,
    Around::Substituted,
    Around::Conditional,
    Around::Env,
    Around::Redirected,
    Around::Evaluated,
];

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn quoted(word: &str, quoting: Quoting) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_@%+=:,./-".contains(sign);
    match quoting {
        Quoting::Plain if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        Quoting::Double if !word.contains(['"', '\\', '$', '`', '!']) => format!("\"{word}\""),
        Quoting::Halves if word.chars().count() > 1 && word.chars().all(is_plain) => {
            let half = word.chars().count() / 2;
            let (one, other): (String, String) = (word.chars().take(half).collect(), word.chars().skip(half).collect());
            format!("{one}'{other}'")
        }
        Quoting::Escaped
            if !word.is_empty() && word.chars().all(|sign| sign.is_ascii_graphic() && sign != '$' && sign != '`') =>
        {
            word.chars().flat_map(|sign| ['\\', sign]).collect()
        }
        _ => single(word),
    }
}

fn around(command: &str, around: Around) -> String {
    match around {
        Around::Nothing => command.to_owned(),
        Around::AndBefore => format!("true && {command}"),
        Around::ThenBefore => format!("ls;{command}"),
        Around::ThenBehind => format!("{command} ; ls"),
        Around::OrBehind => format!("{command}||true"),
        Around::PipeBehind => format!("{command} | cat"),
        Around::Subshell => format!("( {command} )"),
        Around::Group => format!("{{ {command}; }}"),
        Around::ShellText => format!("sh -c {}", single(command)),
        Around::NewLineBefore => format!("true\n{command}"),
        Around::NewLineBehind => format!("{command}\ntrue"),
        Around::Negated => format!("! {command}"),
        Around::Background => format!("{command} &"),
        Around::Substituted => format!("echo \"$({command})\""),
        Around::Conditional => format!("if true; then {command}; fi"),
        Around::Env => format!("env {command}"),
        Around::Redirected => format!("{command} > /dev/null 2>&1"),
        Around::Evaluated => format!("eval {}", single(command)),
    }
}

/// Flags that mean the same in another order, apart or joined: `-rf`, `-fr`, `-r -f`.
fn reflagged(words: &mut Vec<String>, how: u8) {
    let program =
        words.first().map(String::as_str).unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
    // Only where every letter is a flag of its own.
    if !matches!(program.as_str(), "rm" | "ls" | "chmod" | "chown" | "wc" | "cp" | "mkdir") {
        return;
    }
    let is_joined = |word: &String| {
        word.len() > 2
            && word.starts_with('-')
            && !word.starts_with("--")
            && word.chars().skip(1).all(char::is_alphabetic)
    };
    let Some(at) = words.iter().position(is_joined) else { return };
    let letters: Vec<char> = words[at].chars().skip(1).collect();
    match how % 3 {
        0 => words[at] = format!("-{}", letters.iter().rev().collect::<String>()),
        1 => {
            words.splice(at..=at, letters.iter().map(|letter| format!("-{letter}")));
        }
        _ => {
            let flag = words.remove(at);
            words.push(flag);
        }
    }
}

/// The words of a command that can be written otherwise: one without operators, redirections and variables.
fn words_of(case: &Case) -> Option<Vec<String>> {
    let reading = read_line(&case.command);
    let [only] = reading.steps.as_slice() else { return None };
    let simple = reading.commands.first()?;
    let is_bare = simple.assignments.is_empty() && only.redirects.is_empty();
    // An odd name may be a flag after a double dash; moving flags would change what it means.
    (is_bare && !simple.words.iter().any(|word| word == "--")).then(|| simple.words.clone())
}

fn any_quoting() -> impl Strategy<Value = Quoting> {
    prop_oneof![
        Just(Quoting::Plain),
        Just(Quoting::Single),
        Just(Quoting::Double),
        Just(Quoting::Halves),
        Just(Quoting::Escaped),
    ]
}

/// Whether a dress changes what a command means, not only how it looks: a line break in the middle of an open quote, say.
fn can_be_put_around(command: &str) -> bool {
    let torn = ["&&", "||", "|", "unclosed", "#", "(", ")", "<<", "; ;", "\\\n"];
    !command.trim().is_empty()
        && command.len() < 2000
        && !torn.iter().any(|sign| command.contains(sign))
        && !command.contains('\n')
}

/// Whether something can be put around what was put around a command before, and the command still runs.
fn keeps_its_meaning(first: Around, second: Around) -> bool {
    let ends_lines = matches!(first, Around::Background | Around::NewLineBehind | Around::NewLineBefore);
    // `env` takes a program, and none of the shell's own words.
    let is_no_program = matches!(first, Around::Negated | Around::Group | Around::Subshell | Around::Conditional);
    !(ends_lines || is_no_program && matches!(second, Around::Env))
}

fn check(case: &Case, dressed: &str) -> Result<(), TestCaseError> {
    let facts = line(dressed);
    let auto = World::auto().judge(&facts);
    prop_assert!(
        auto.severity >= case.severity,
        "{:?} is {:?}, and {:?} only {:?}",
        case.command,
        case.severity,
        dressed,
        auto.severity
    );
    if case.auto == Verdict::Ask {
        prop_assert_eq!(auto.decision, Verdict::Ask, "{:?} is asked, and {:?} is not", &case.command, dressed);
    }
    Ok(())
}

fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let rng_seed = if std::env::var_os("PROPTEST_RNG_SEED").is_some() { usual.rng_seed } else { RngSeed::Fixed(7) };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { usual.cases } else { 800 };
    ProptestConfig { failure_persistence: None, rng_seed, cases, ..usual }
}

proptest! {
    // The same dresses each time; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` try others.
    #![proptest_config(config())]

    #[test]
    fn no_dress_lowers_a_severity(
        which in any::<Index>(), quoting in proptest::collection::vec(any_quoting(), 12), blanks in proptest::collection::vec(1..4_usize, 12),
        how in any::<u8>(), first in proptest::sample::select(AROUND), second in proptest::sample::select(AROUND),
    ) {
        let corpus = corpus();
        let case = which.get(corpus);
        let mut dressed = case.command.clone();
        if let Some(mut words) = words_of(case) {
            reflagged(&mut words, how);
            dressed.clear();
            for (at, word) in words.iter().enumerate() {
                let quoting = if at == 0 && word.contains('=') { Quoting::Single } else { quoting[at % 12] };
                dressed.push_str(&quoted(word, quoting));
                dressed.push_str(&" ".repeat(blanks[at % 12]));
            }
        }
        check(case, &dressed)?;
        if can_be_put_around(&case.command) {
            let once = around(dressed.trim_end(), first);
            check(case, &once)?;
            if keeps_its_meaning(first, second) {
                check(case, &around(&once, second))?;
            }
        }
    }
}

#[test]
fn every_command_bears_many_a_dress() {
    let mut wrong = Vec::new();
    for (at, case) in corpus().iter().enumerate().filter(|(_, case)| can_be_put_around(&case.command)) {
        // Each command with some of them, each of them with many commands; chance tries the rest.
        for one in AROUND.iter().skip(at % 4).step_by(4) {
            if let Err(error) = check(case, &around(&case.command, *one)) {
                wrong.push(error.to_string());
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
