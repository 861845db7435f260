//! Files: patterns, protected paths, and how bad a change could be.

use switchboard_core::policy::{check_patterns, default_patterns, is_protected};
use switchboard_types::limits::MAX_PATTERNS;
use switchboard_types::{
    EditFacts, Facts, Patterns, Place, RuleEffect, RuleWhat, SessionPolicy, Severity, Unasked, Verdict,
};

use super::world::{World, edit, line};

fn patterns(list: &[(&str, Unasked)]) -> Patterns {
    Patterns(list.iter().map(|(glob, unasked)| ((*glob).to_owned(), *unasked)).collect())
}

fn with_session(list: &[(&str, Unasked)]) -> World {
    World { session: SessionPolicy { patterns: Some(patterns(list)), ..SessionPolicy::default() }, ..World::default() }
}

#[test]
fn by_default_everything_may_be_changed_but_what_is_sensitive() {
    for path in ["src/main.rs", "README.md", ".gitignore", "a/b/c/.hidden", "environment.rs", "AGENTS.md"] {
        assert_eq!(World::default().decide(&edit(path)), Verdict::Allow, "{path}");
    }
    let sensitive = [
        "package.json",
        "web/package.json",
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "tsconfig.json",
        "jsconfig.json",
        "Dockerfile",
        "docker-compose.yml",
        "docker-compose.prod.yaml",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        "PACKAGE.JSON",
        "dockerfile",
        ".env",
        ".env.local",
        "deploy/.env.production",
        "keys/server.pem",
        "tls.key",
        "a.pfx",
        "b.p12",
        "app.secrets.json",
    ];
    for path in sensitive {
        let judgement = World::default().judge(&edit(path));
        assert_eq!(judgement.decision, Verdict::Ask, "{path}");
        assert!(judgement.severity >= Severity::High, "{path}");
    }
    assert_eq!(check_patterns(&default_patterns()), Ok(()));
}

#[test]
fn a_file_is_as_bad_as_its_name_says() {
    let cases = [
        ("src/main.rs", Severity::Medium),
        ("environment.rs", Severity::Medium),
        ("monkey.rs", Severity::Medium),
        (".env", Severity::Critical),
        ("deploy/.env.production", Severity::Critical),
        ("secrets.yml", Severity::Critical),
        ("config/secret.json", Severity::Critical),
        ("a.secrets.json", Severity::Critical),
        ("keys/server.pem", Severity::Critical),
        ("id_rsa", Severity::Critical),
        ("id_ed25519.pub", Severity::Critical),
        (".git/hooks/pre-commit", Severity::Critical),
        (".git/config", Severity::Critical),
        ("vendor/lib/.git/hooks/post-checkout", Severity::Critical),
        (".switchboard/config.toml", Severity::Critical),
        (".git/HEAD", Severity::High),
        (".git", Severity::High),
        (".github/workflows/ci.yml", Severity::High),
        (".vscode/settings.json", Severity::High),
        ("home/.bashrc", Severity::High),
        ("package.json", Severity::High),
        (".npmrc", Severity::High),
        ("tsconfig.json", Severity::High),
        ("Dockerfile", Severity::High),
    ];
    for (path, severity) in cases {
        assert_eq!(World::default().judge(&edit(path)).severity, severity, "{path}");
    }
}

#[test]
fn the_last_pattern_that_matches_decides() {
    let world = with_session(&[
        ("**/*", Unasked::MayNot),
        ("docs/**", Unasked::May),
        ("docs/secret/*", Unasked::MayNot),
        ("*.md", Unasked::May),
    ]);
    let cases = [
        ("src/main.rs", Verdict::Ask),
        ("docs/a.txt", Verdict::Allow),
        ("docs/a/b.txt", Verdict::Allow),
        ("docs/secret/a.txt", Verdict::Ask),
        ("docs/secret/a.md", Verdict::Allow),
        ("DOCS/A.TXT", Verdict::Allow),
        ("docs/.hidden", Verdict::Allow),
        ("deep/down/README.MD", Verdict::Allow),
    ];
    for (path, verdict) in cases {
        assert_eq!(world.decide(&edit(path)), verdict, "{path}");
    }
}

#[test]
fn the_sessions_patterns_stand_over_the_settings_and_those_over_the_defaults() {
    let settings = World { settings: Some(patterns(&[("src/**", Unasked::MayNot)])), ..World::default() };
    assert_eq!(settings.decide(&edit("src/a.rs")), Verdict::Ask);
    assert_eq!(settings.decide(&edit("package.json")), Verdict::Ask, "what no pattern is about is asked");
    let both = World { settings: settings.settings, ..with_session(&[("src/**", Unasked::May)]) };
    assert_eq!(both.decide(&edit("src/a.rs")), Verdict::Allow);
    assert_eq!(both.decide(&edit("README.md")), Verdict::Ask);
}

#[test]
fn what_is_no_glob_asks_and_is_refused_where_it_is_set() {
    let world = with_session(&[("**/*", Unasked::May), ("[", Unasked::May)]);
    assert_eq!(world.decide(&edit("src/a.rs")), Verdict::Ask);
    let later = with_session(&[("{a", Unasked::May), ("src/*", Unasked::May)]);
    assert_eq!(later.decide(&edit("src/a.rs")), Verdict::Allow);
    assert_eq!(later.decide(&edit("b")), Verdict::Ask);
    for bad in ["[", "{a", "", &"x".repeat(2000)] {
        assert!(check_patterns(&patterns(&[(bad, Unasked::May)])).is_err(), "{bad}");
    }
    let many = Patterns(vec![("a".to_owned(), Unasked::May); MAX_PATTERNS + 1]);
    assert!(check_patterns(&many).is_err());
}

#[test]
fn too_many_patterns_ask_whatever_the_last_of_them_says() {
    let mut many = vec![("x".to_owned(), Unasked::MayNot); MAX_PATTERNS];
    many.push(("**/*".to_owned(), Unasked::May));
    let session = SessionPolicy { patterns: Some(Patterns(many)), ..SessionPolicy::default() };
    assert_eq!(World { session, ..World::default() }.decide(&edit("src/a.rs")), Verdict::Ask);
}

/// Every protected path, whether or not it exists, in every dress.
#[test]
fn protected_paths_are_asked_each_time_whatever_is_set_and_however_they_are_written() {
    let protected = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".git/HEAD",
        ".git",
        ".vscode/tasks.json",
        ".vscode/deep/er.json",
        "app.code-workspace",
        ".idea/workspace.xml",
        ".envrc",
        ".bashrc",
        ".zshrc",
        ".profile",
        ".zshenv",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "Jenkinsfile",
        ".claude/settings.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/mcp.json",
        ".mcp.json",
        ".switchboard/config.toml",
        ".husky/pre-commit",
        ".devcontainer/devcontainer.json",
        "gitdir/hooks/pre-commit",
        "bare.git/config",
        ".ssh/authorized_keys",
        ".gitmodules",
    ];
    type Dress = (&'static str, fn(&str) -> String);
    let dresses: [Dress; 9] = [
        ("as it is", str::to_owned),
        ("upper case", str::to_uppercase),
        ("nested", |path| format!("vendor/lib/{path}")),
        ("hidden letter", |path| path.replacen('i', "i\u{200d}", 1).replacen('e', "e\u{200c}", 1)),
        ("hidden at its end", |path| format!("{path}\u{feff}")),
        ("dot at its end", |path| format!("{path}.")),
        ("blank at its end", |path| format!("{path} ")),
        ("dots within", |path| path.replacen('/', "./", 1)),
        ("a stream of it", |path| format!("{path}::$DATA")),
    ];
    for path in protected {
        for (dress, make) in dresses {
            let dressed = make(path);
            assert!(is_protected(&dressed), "{dressed} ({dress})");
            for names in [0, 1, 2] {
                let facts = Facts::Edit(EditFacts { place: Place::Inside(dressed.clone()), names });
                let mut world = World::all_on().with(RuleEffect::Allow, RuleWhat::Edit { glob: "**/*".to_owned() });
                world.session.patterns = Some(patterns(&[("**/*", Unasked::May)]));
                assert_eq!(world.decide(&facts), Verdict::Ask, "{dressed} ({dress})");
                assert_eq!(world.judge(&facts).suggestion, None);
            }
        }
    }
}

#[test]
fn letters_put_together_in_another_way_are_the_same_letters() {
    let composed = with_session(&[("**/*", Unasked::May), ("caf\u{e9}/*", Unasked::MayNot)]);
    assert_eq!(composed.decide(&edit("cafe\u{301}/a")), Verdict::Ask);
    assert_eq!(composed.decide(&edit("CAF\u{c9}/a")), Verdict::Ask);
    // The long s and the Kelvin sign are an s and a k to a file system that ignores case.
    assert!(is_protected(".v\u{17f}code/settings.json"));
    assert!(is_protected(".hus\u{212a}y/pre-commit"));
    assert!(is_protected("GIT~1/config"));
    assert!(is_protected(".git\\hooks\\pre-commit"));
    for free in [
        "git/hooks.rs",
        ".gitignore",
        ".github/ISSUE_TEMPLATE.md",
        "src/vscode.rs",
        "profile",
        "digit",
        "AGENTS.md",
        "hooks/useState.ts",
        ".gitattributes",
    ] {
        assert!(!is_protected(free), "{free}");
    }
}

#[test]
fn the_switch_for_edits_lifts_what_is_sensitive_and_neither_secrets_nor_what_is_protected() {
    let world = World { session: SessionPolicy { auto_edits: true, ..SessionPolicy::default() }, ..World::default() };
    assert_eq!(world.decide(&edit("package.json")), Verdict::Allow);
    assert_eq!(world.decide(&edit("Dockerfile")), Verdict::Allow);
    assert_eq!(world.decide(&edit(".env")), Verdict::Ask);
    assert_eq!(world.decide(&edit(".git/config")), Verdict::Ask);
    assert_eq!(world.decide(&edit(".vscode/settings.json")), Verdict::Ask);
}

#[test]
fn a_file_with_several_names_asks_and_one_outside_is_refused() {
    let linked = Facts::Edit(EditFacts { place: Place::Inside("src/a.rs".to_owned()), names: 2 });
    assert_eq!(World::default().decide(&linked), Verdict::Ask);
    let auto = World { session: SessionPolicy { auto_edits: true, ..SessionPolicy::default() }, ..World::default() };
    assert_eq!(auto.decide(&linked), Verdict::Ask);
    for path in ["/etc/passwd", "../other/x", "/w-evil/x", "/"] {
        assert_eq!(World::all_on().decide(&edit(path)), Verdict::Deny, "{path}");
    }
    let unknown = Facts::Edit(EditFacts { place: Place::Unknown, names: 1 });
    assert_eq!(World::all_on().decide(&unknown), Verdict::Ask);
    let new = Facts::Edit(EditFacts { place: Place::Inside("src/new.rs".to_owned()), names: 0 });
    assert_eq!(World::default().decide(&new), Verdict::Allow);
}

#[test]
fn a_shell_gets_no_further_than_an_edit() {
    for path in ["package.json", ".env", ".git/hooks/x", ".vscode/settings.json", "Dockerfile", "keys/a.pem"] {
        for command in [
            "echo x > P",
            "echo x >> P",
            "tee P",
            "cp a P",
            "mv a P",
            "sed -i s/a/b/ P",
            "dd if=a of=P",
            "touch P",
            "ln -s a P",
            "truncate -s 0 P",
            "install a P",
            "echo x | tee -a P",
            "ls 2> P",
            "ls &> P",
        ] {
            let command = command.replace('P', path);
            assert_eq!(World::auto().decide(&line(&command)), Verdict::Ask, "{command}");
        }
    }
    // What the session says of files holds for the shell too.
    let mut world = World::auto();
    world.session.patterns = Some(patterns(&[("**/*", Unasked::May), ("docs/**", Unasked::MayNot)]));
    assert_eq!(world.decide(&line("echo x > docs/a")), Verdict::Ask);
    assert_eq!(world.decide(&line("echo x > src/a")), Verdict::Allow);
}
