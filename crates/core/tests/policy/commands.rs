//! How commands are read: the steps that can be run without a shell, the files that are touched, the variables that count.

use switchboard_core::policy::{Join, MAX_COMMANDS, MAX_LINE_BYTES, Redirect, RedirectTo, Touch, read_argv, read_line};
use switchboard_types::{CommandFacts, Severity, Verdict};

use super::world::{World, argv, command};

fn words(line: &str) -> Vec<Vec<String>> {
    let reading = read_line(line);
    assert_eq!(reading.doubts, Vec::<String>::new(), "{line}");
    reading.steps.iter().map(|step| reading.commands[step.command].words.clone()).collect()
}

#[test]
fn words_are_read_as_a_shell_reads_them() {
    let cases: [(&str, &[&str]); 10] = [
        ("ls -l", &["ls", "-l"]),
        ("  ls\t-l  ", &["ls", "-l"]),
        ("echo 'a b' \"c d\" e\\ f", &["echo", "a b", "c d", "e f"]),
        ("echo a'b'\"c\"d", &["echo", "abcd"]),
        ("echo '' \"\"", &["echo", "", ""]),
        ("echo '$HOME `x` *'", &["echo", "$HOME `x` *"]),
        ("echo \"a\\\"b\\\\c\\d\"", &["echo", "a\"b\\c\\d"]),
        ("git show HEAD~1 HEAD^", &["git", "show", "HEAD~1", "HEAD^"]),
        ("echo a#b x=y", &["echo", "a#b", "x=y"]),
        ("echo é 🦀", &["echo", "é", "🦀"]),
    ];
    for (line, expected) in cases {
        assert_eq!(words(line), [expected], "{line}");
    }
}

#[test]
fn steps_say_how_they_are_joined_and_where_their_output_goes() {
    let reading = read_line("a && b || c; d | e > out 2>&1 < in");
    assert_eq!(reading.doubts, Vec::<String>::new());
    let joins: Vec<Join> = reading.steps.iter().map(|step| step.join).collect();
    assert_eq!(joins, [Join::First, Join::And, Join::Or, Join::Then, Join::Pipe]);
    let expected = [
        Redirect { fd: 1, to: RedirectTo::Write("out".to_owned()) },
        Redirect { fd: 2, to: RedirectTo::Same(1) },
        Redirect { fd: 0, to: RedirectTo::Read("in".to_owned()) },
    ];
    assert_eq!(reading.steps[4].redirects, expected);
    let appended = read_line("a 2>> log &> all");
    let expected = [
        Redirect { fd: 2, to: RedirectTo::Append("log".to_owned()) },
        Redirect { fd: 1, to: RedirectTo::Write("all".to_owned()) },
        Redirect { fd: 2, to: RedirectTo::Same(1) },
    ];
    assert_eq!(appended.steps[0].redirects, expected);
}

#[test]
fn a_doubt_leaves_no_steps() {
    let long = format!("echo {}", "x".repeat(MAX_LINE_BYTES));
    let many = vec!["true"; MAX_COMMANDS + 1].join(";");
    for line in ["ls $X", "ls\n", "ls &", "(ls)", "ls *", "ls 'x", "", "cd x", &long, &many] {
        let reading = read_line(line);
        assert!(!reading.doubts.is_empty() && reading.steps.is_empty(), "{line}: {reading:?}");
    }
    assert!(read_argv(&[]).steps.is_empty());
    assert!(read_argv(&["ls".to_owned(), "a\u{0}b".to_owned()]).steps.is_empty());
}

#[test]
fn the_files_that_are_touched_are_known() {
    let cases: [(&str, &[&str], &[&str]); 20] = [
        ("echo x > a", &["a"], &[]),
        ("cat < a", &[], &["a"]),
        ("tee a b", &["a", "b"], &[]),
        ("sed -i s/x/y/ a b", &["a", "b"], &[]),
        ("sed -n 1p a", &[], &["a"]),
        ("cp a b", &["b", "b/a"], &["a"]),
        ("cp -t dir a b", &["dir", "dir/a", "dir/b"], &["a", "b"]),
        ("cp --target-directory=dir a", &["dir", "dir/a"], &["a"]),
        ("mv a b", &["b", "b/a", "a"], &[]),
        ("dd if=a of=b", &["b"], &["a"]),
        ("ln -s x/y", &["./y"], &["x/y"]),
        ("curl -o out u", &["out"], &[]),
        ("curl -oout u", &["out"], &[]),
        ("curl -O http://h/a/b.txt?x", &["b.txt"], &[]),
        ("wget -O out u", &["out"], &[]),
        ("wget http://h/b.txt", &["b.txt"], &[]),
        ("tar -xf a.tar -C dir", &["dir", "a.tar"], &[]),
        ("unzip a.zip -d dir", &["dir"], &[]),
        ("grep -e x a b", &[], &["a", "b"]),
        ("sh -c 'echo x > a'", &["a"], &[]),
    ];
    for (line, writes, reads) in cases {
        let reading = read_line(line);
        let of = |touch: Touch| {
            reading
                .targets
                .iter()
                .filter(|target| target.touch == touch)
                .map(|target| target.path.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!((of(Touch::Writes), of(Touch::Reads)), (writes.to_vec(), reads.to_vec()), "{line}");
    }
}

#[test]
fn what_cannot_be_read_is_searched_for_files_too() {
    for line in [
        "echo $X > .git/config",
        "(echo x > .git/config)",
        "$(echo x > .git/config)",
        "if true; then echo x > .git/config; fi",
        "echo x > .git/config &",
        "ls\ncp a .git/config",
    ] {
        let judgement = World { granted: true, ..World::default() }.judge(&super::world::line(line));
        assert_eq!((judgement.severity, judgement.decision), (Severity::Critical, Verdict::Ask), "{line}");
    }
}

#[test]
fn words_without_a_shell_mean_themselves() {
    assert_eq!(World::auto().decide(&argv(&["echo", "$(rm -rf x)", "; reboot", "*"])), Verdict::Allow);
    assert_eq!(World::auto().judge(&argv(&["rm", "-rf", "x"])).severity, Severity::Critical);
    assert_eq!(World::auto().judge(&argv(&["sh", "-c", "rm -rf x"])).severity, Severity::Critical);
    assert_eq!(World::auto().judge(&argv(&["env", "sudo", "ls"])).severity, Severity::High);
    assert_eq!(World::auto().decide(&argv(&["ls", "a\nb"])), Verdict::Ask);
    assert_eq!(World::auto().decide(&argv(&[])), Verdict::Ask);
}

#[test]
fn variables_and_what_cannot_be_seen_in_them_count() {
    let with = |name: &str, value: &str| {
        let env = vec![(name.to_owned(), value.to_owned())];
        World::auto().judge(&command(CommandFacts { line: Some("ls".to_owned()), env, ..CommandFacts::default() }))
    };
    let plain = with("CI", "1");
    assert_eq!((plain.severity, plain.decision), (Severity::Low, Verdict::Allow));
    for name in ["PATH", "LD_PRELOAD", "GIT_SSH_COMMAND", "NODE_OPTIONS", "BASH_ENV", "ld_preload"] {
        let judgement = with(name, "x");
        assert_eq!((judgement.severity, judgement.decision), (Severity::High, Verdict::Ask), "{name}");
    }
    assert_eq!(with("FOO", "x").decision, Verdict::Ask);
    assert_eq!(with("CI", "\u{202e}").severity, Severity::High);
}
