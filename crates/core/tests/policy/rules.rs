//! Rules: what they match, what they cannot lift, and which one is suggested.

use switchboard_core::policy::{check_rule, describe};
use switchboard_types::{
    ArgPattern, CommandFacts, Facts, Place, ProgramFacts, RuleEffect, RuleWhat, Severity, ToolName, Verdict,
};

use super::corpus::corpus;
use super::world::{ROOT, World, argv, edit, line};

fn is(arg: &str) -> ArgPattern {
    ArgPattern::Is { arg: arg.to_owned() }
}

fn rule(program: &str, args: &[ArgPattern], cwd: &str) -> RuleWhat {
    RuleWhat::Command { program: format!("/usr/bin/{program}"), args: args.to_vec(), cwd: cwd.to_owned() }
}

fn allow(program: &str, args: &[ArgPattern]) -> World {
    World::default().with(RuleEffect::Allow, rule(program, args, ROOT))
}

#[test]
fn a_rule_matches_program_arguments_and_folder() {
    let world = allow("npm", &[is("run"), is("build")]);
    for (command, verdict) in [
        ("npm run build", Verdict::Allow),
        ("npm  'run' \"build\"", Verdict::Allow),
        ("npm run", Verdict::Ask),
        ("npm run build now", Verdict::Ask),
        ("npm run test", Verdict::Ask),
        ("/usr/bin/npm run build", Verdict::Allow),
        ("./npm run build", Verdict::Ask),
        ("yarn run build", Verdict::Ask),
        ("npm run build; ls", Verdict::Ask),
        ("npm run build && npm run build", Verdict::Allow),
        ("npm run build | cat", Verdict::Ask),
        ("npm run build $X", Verdict::Ask),
        ("npm run build &", Verdict::Ask),
        ("PATH=. npm run build", Verdict::Ask),
        ("npm run build > out.txt", Verdict::Allow),
        ("npm run build > package.json", Verdict::Ask),
        ("npm run build > ../x", Verdict::Ask),
        ("npm run build > .git/config", Verdict::Ask),
        ("(npm run build)", Verdict::Ask),
        ("npm run build\nnpm run build", Verdict::Ask),
    ] {
        assert_eq!(world.decide(&line(command)), verdict, "{command}");
    }
    assert_eq!(world.decide(&argv(&["npm", "run", "build"])), Verdict::Allow);
    assert_eq!(world.judge(&line("npm run build")).rule.map(|id| id.as_str().to_owned()), Some("r1".to_owned()));
}

#[test]
fn a_folder_counts_part_by_part() {
    for (cwd, verdict) in [
        ("/", Verdict::Allow),
        ("/w", Verdict::Allow),
        ("/w/", Verdict::Allow),
        ("/w/sub", Verdict::Ask),
        ("/wx", Verdict::Ask),
        ("w", Verdict::Ask),
        ("/x/../w", Verdict::Ask),
    ] {
        let world = World::default().with(RuleEffect::Allow, rule("make", &[], cwd));
        assert_eq!(world.decide(&line("make")), verdict, "{cwd}");
    }
}

#[test]
fn one_and_any_number_of_arguments_can_be_left_open() {
    let one = allow("make", &[is("-C"), ArgPattern::Any {}]);
    assert_eq!(one.decide(&line("make -C x")), Verdict::Allow);
    assert_eq!(one.decide(&line("make -C --eval=x")), Verdict::Ask, "a flag is not any argument");
    assert_eq!(one.decide(&line("make -C")), Verdict::Ask);
    assert_eq!(one.decide(&line("make -C x y")), Verdict::Ask);
    let rest = allow("make", &[is("test"), ArgPattern::Rest {}]);
    assert_eq!(rest.decide(&line("make test")), Verdict::Allow);
    assert_eq!(rest.decide(&line("make test -k a b")), Verdict::Allow);
    assert_eq!(rest.decide(&line("make all")), Verdict::Ask);
    let amiss = allow("make", &[ArgPattern::Rest {}, is("test")]);
    assert_eq!(amiss.decide(&line("make a test")), Verdict::Ask, "what leaves all open must come last");
}

#[test]
fn every_command_of_a_line_needs_its_rule() {
    let world = allow("make", &[ArgPattern::Rest {}]).with(RuleEffect::Allow, rule("npm", &[is("test")], ROOT));
    assert_eq!(world.decide(&line("make && npm test")), Verdict::Allow);
    assert_eq!(world.decide(&line("make; npm test | make x")), Verdict::Allow);
    assert_eq!(world.decide(&line("make && npm install")), Verdict::Ask);
    assert_eq!(world.decide(&line("make && rm -rf x")), Verdict::Ask);
}

#[test]
fn what_is_high_needs_every_word_and_what_is_critical_is_lifted_by_nothing() {
    assert_eq!(allow("sudo", &[ArgPattern::Rest {}]).decide(&line("sudo ls")), Verdict::Ask);
    assert_eq!(allow("sudo", &[is("ls")]).decide(&line("sudo ls")), Verdict::Allow);
    assert_eq!(allow("rm", &[is("-rf"), is("x")]).decide(&line("rm -rf x")), Verdict::Ask);
    // Not even everything together.
    for case in corpus().iter().filter(|case| case.severity == Severity::Critical) {
        let program = case.command.split_whitespace().next().unwrap_or_default();
        let world = World::all_on()
            .with(RuleEffect::Allow, rule(program, &[ArgPattern::Rest {}], "/"))
            .with(RuleEffect::Allow, rule("sh", &[ArgPattern::Rest {}], "/"));
        assert_eq!(world.decide(&line(&case.command)), Verdict::Ask, "{}", case.command);
    }
}

#[test]
fn a_rule_that_forbids_stands_over_everything() {
    let world = World::all_on()
        .with(RuleEffect::Allow, rule("make", &[ArgPattern::Rest {}], "/"))
        .with(RuleEffect::Deny, rule("make", &[is("deploy")], "/"));
    assert_eq!(world.decide(&line("make")), Verdict::Allow);
    for command in [
        "make deploy",
        "ls && make deploy",
        "(make deploy)",
        "$(make deploy)",
        "env make deploy",
        "sh -c 'make deploy'",
        "ls\nmake deploy",
        "A=$B make deploy",
    ] {
        let judgement = world.judge(&line(command));
        assert_eq!(judgement.decision, Verdict::Deny, "{command}");
        assert!(judgement.reasons[0].contains("forbids running /usr/bin/make deploy"), "{judgement:?}");
    }
    let files = World::all_on().with(RuleEffect::Deny, RuleWhat::Edit { glob: "docs/**".to_owned() });
    assert_eq!(files.decide(&edit("docs/a.md")), Verdict::Deny);
    assert_eq!(files.decide(&edit("src/a.md")), Verdict::Allow);
    assert_eq!(files.decide(&line("echo x > docs/a.md")), Verdict::Deny);
}

#[test]
fn a_program_of_the_workspace_or_of_nowhere_is_allowed_by_no_rule_and_no_switch() {
    let with = |path: Option<&str>, place: Place| {
        let programs = vec![ProgramFacts { name: "ls".to_owned(), path: path.map(str::to_owned), place }];
        Facts::Command(Box::new(CommandFacts {
            line: Some("ls".to_owned()),
            cwd: ROOT.to_owned(),
            cwd_place: Place::Inside(String::new()),
            programs,
            ..CommandFacts::default()
        }))
    };
    let rule = |path: &str| RuleWhat::Command { program: path.to_owned(), args: Vec::new(), cwd: ROOT.to_owned() };
    let fine = with(Some("/usr/bin/ls"), Place::Outside("/usr/bin/ls".to_owned()));
    assert_eq!(World::auto().decide(&fine), Verdict::Allow);
    for facts in [
        with(Some("/w/ls"), Place::Inside("ls".to_owned())),
        with(None, Place::Unknown),
        with(Some("/x/ls"), Place::Unknown),
    ] {
        let world = World::auto().with(RuleEffect::Allow, rule("/w/ls")).with(RuleEffect::Allow, rule("/x/ls"));
        let judgement = world.judge(&facts);
        assert_eq!((judgement.decision, judgement.suggestion), (Verdict::Ask, None), "{facts:?}");
    }
}

#[test]
fn facts_that_do_not_fit_the_command_allow_nothing() {
    let Facts::Command(good) = line("ls > out.txt") else { panic!("a command") };
    assert_eq!(World::auto().decide(&Facts::Command(good.clone())), Verdict::Allow);
    let mut missing = good.clone();
    missing.programs.clear();
    let mut other = good.clone();
    other.programs[0].name = "cat".to_owned();
    let mut no_target = good.clone();
    no_target.targets.clear();
    let mut other_target = good.clone();
    other_target.targets[0].written = "elsewhere.txt".to_owned();
    let mut unknown = good.clone();
    unknown.targets[0].place = Place::Unknown;
    let mut elsewhere = good.clone();
    elsewhere.cwd_place = Place::Outside("/".to_owned());
    let mut steered = good;
    steered.env.push(("LD_PRELOAD".to_owned(), "x".to_owned()));
    for facts in [missing, other, no_target, other_target, unknown, elsewhere, steered] {
        assert_eq!(World::auto().decide(&Facts::Command(facts.clone())), Verdict::Ask, "{facts:?}");
    }
}

#[test]
fn one_file_that_stands_for_many_programs_has_no_rules() {
    let busybox = "/bin/busybox";
    let facts = |name: &str| {
        let programs = vec![ProgramFacts {
            name: name.to_owned(),
            path: Some(busybox.to_owned()),
            place: Place::Outside(busybox.to_owned()),
        }];
        Facts::Command(Box::new(CommandFacts {
            argv: vec![name.to_owned(), "-v".to_owned()],
            cwd: ROOT.to_owned(),
            cwd_place: Place::Inside(String::new()),
            programs,
            ..CommandFacts::default()
        }))
    };
    let what = RuleWhat::Command { program: busybox.to_owned(), args: vec![is("-v")], cwd: ROOT.to_owned() };
    assert!(check_rule(RuleEffect::Allow, &what).is_err());
    let world = World::default().with(RuleEffect::Allow, what);
    assert_eq!(world.decide(&facts("make")), Verdict::Ask);
    assert_eq!(world.judge(&facts("make")).suggestion, None);
}

#[test]
fn the_suggestion_is_narrow_and_would_be_enough() {
    let judgement = World::default().judge(&line("npm run 'my build'"));
    let suggestion = judgement.suggestion.expect("a rule can allow it");
    assert_eq!(suggestion, rule("npm", &[is("run"), is("my build")], ROOT));
    assert_eq!(describe(&suggestion), "running /usr/bin/npm run \"my build\" in /w or below it");
    for case in corpus() {
        let facts = line(&case.command);
        let Some(suggestion) = World::default().judge(&facts).suggestion else { continue };
        assert!(case.severity < Severity::Critical, "{}", case.command);
        assert_eq!(check_rule(RuleEffect::Allow, &suggestion), Ok(()), "{}", case.command);
        let RuleWhat::Command { args, .. } = &suggestion else { panic!("{suggestion:?}") };
        assert!(args.iter().all(|arg| matches!(arg, ArgPattern::Is { .. })), "{suggestion:?}");
        let world = World::default().with(RuleEffect::Allow, suggestion);
        assert_eq!(world.decide(&facts), Verdict::Allow, "{}", case.command);
    }
    // What no rule can allow has no suggestion; of several commands the one that is missing is suggested.
    for command in ["ls $X", "rm -rf x", "./x", "ls > .git/config", "cd x", "make && npm test", "echo x > /etc/x"] {
        assert_eq!(World::default().judge(&line(command)).suggestion, None, "{command}");
    }
    assert_eq!(allow("make", &[]).judge(&line("make && npm test")).suggestion, Some(rule("npm", &[is("test")], ROOT)));
}

#[test]
fn edits_and_tools_have_their_rules() {
    let world = World::default().with(RuleEffect::Allow, RuleWhat::Edit { glob: "web/package.json".to_owned() });
    assert_eq!(world.decide(&edit("web/package.json")), Verdict::Allow);
    assert_eq!(world.decide(&edit("package.json")), Verdict::Ask);
    let suggestion = World::default().judge(&edit("package.json")).suggestion.expect("a rule can allow it");
    let world = World::default().with(RuleEffect::Allow, suggestion.clone());
    assert_eq!(world.decide(&edit("package.json")), Verdict::Allow);
    assert_eq!(world.decide(&edit("web/package.json")), Verdict::Ask, "{suggestion:?}");
    assert_eq!(World::default().judge(&edit("src/[a]*.pem")).suggestion, None);
    let odd = World::default().judge(&edit("[a]/package.json")).suggestion.expect("a rule can allow it");
    let world = World::default().with(RuleEffect::Allow, odd);
    assert_eq!(
        (world.decide(&edit("[a]/package.json")), world.decide(&edit("a/package.json"))),
        (Verdict::Allow, Verdict::Ask)
    );
}

#[test]
fn a_rule_that_makes_no_sense_is_refused_and_any_can_be_said_in_words() {
    let bad = [
        RuleWhat::Command { program: "ls".to_owned(), args: Vec::new(), cwd: ROOT.to_owned() },
        RuleWhat::Command { program: "/bin/ls".to_owned(), args: Vec::new(), cwd: "w".to_owned() },
        RuleWhat::Command { program: "/bin/ls".to_owned(), args: Vec::new(), cwd: "/w/..".to_owned() },
        RuleWhat::Command {
            program: "/bin/ls".to_owned(),
            args: vec![ArgPattern::Rest {}, is("x")],
            cwd: ROOT.to_owned(),
        },
        RuleWhat::Edit { glob: "[".to_owned() },
    ];
    for what in bad {
        assert!(check_rule(RuleEffect::Allow, &what).is_err(), "{what:?}");
    }
    let open = rule("make", &[is("-C"), ArgPattern::Any {}, ArgPattern::Rest {}], ROOT);
    assert_eq!(
        describe(&open),
        "running /usr/bin/make -C <any one argument> <any further arguments> in /w or below it"
    );
    assert_eq!(describe(&RuleWhat::Edit { glob: "docs/**".to_owned() }), "changing files that match docs/**");
    assert_eq!(describe(&RuleWhat::Tool { tool: ToolName::from("navigate") }), "calling the tool navigate");
    assert!(!describe(&rule("x", &[is("a\u{202e}b")], ROOT)).contains('\u{202e}'));
}
