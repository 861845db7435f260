//! Who asks, in which mode, in a folder that is trusted or not, and what a person has allowed before.

use switchboard_core::Trust;
use switchboard_types::{Asker, Effect, Facts, Mode, RuleEffect, RuleWhat, SessionPolicy, Severity, ToolName, Verdict};

use super::world::{World, edit, line};

fn in_mode(mode: Mode, asker: Asker) -> World {
    let session = SessionPolicy { mode, auto_commands: true, auto_edits: true, ..SessionPolicy::default() };
    World { session, asker, granted: true, ..World::default() }
}

fn tool(effect: Effect) -> Facts {
    Facts::Tool { tool: ToolName::from("navigate"), effect }
}

#[test]
fn the_mode_binds_agents_and_not_the_person() {
    for asker in [Asker::Agent, Asker::Demo] {
        for mode in [Mode::Plan, Mode::Ask] {
            assert_eq!(in_mode(mode, asker).decide(&line("ls")), Verdict::Deny);
            assert_eq!(in_mode(mode, asker).decide(&edit("src/a.rs")), Verdict::Deny);
        }
        assert_eq!(in_mode(Mode::Edit, asker).decide(&line("ls")), Verdict::Deny);
        assert_eq!(in_mode(Mode::Edit, asker).decide(&edit("src/a.rs")), Verdict::Allow);
        assert_eq!(in_mode(Mode::Agent, asker).decide(&line("ls")), Verdict::Allow);
    }
    for mode in [Mode::Plan, Mode::Ask, Mode::Edit, Mode::Agent] {
        assert_eq!(in_mode(mode, Asker::Person).decide(&line("ls")), Verdict::Allow);
        assert_eq!(in_mode(mode, Asker::Person).decide(&edit("src/a.rs")), Verdict::Allow);
    }
}

#[test]
fn an_untrusted_folder_is_changed_by_nobody_and_the_demo_asks_everything() {
    let rule = RuleWhat::Edit { glob: "**/*".to_owned() };
    for asker in [Asker::Agent, Asker::Person, Asker::Demo] {
        let world =
            World { trust: Trust::Untrusted, ..in_mode(Mode::Agent, asker) }.with(RuleEffect::Allow, rule.clone());
        let expected = if asker == Asker::Demo { Verdict::Ask } else { Verdict::Deny };
        for facts in [line("ls"), line("rm -rf x"), edit("src/a.rs"), edit(".git/config")] {
            assert_eq!(world.decide(&facts), expected, "{asker:?} {facts:?}");
        }
        let lent = world.decide(&tool(Effect::Acts));
        assert_eq!(lent, if asker == Asker::Person { Verdict::Allow } else { expected });
    }
}

#[test]
fn lent_tools_are_free_to_the_person_and_asked_for_an_agent() {
    let world = World::default();
    let read = world.judge(&tool(Effect::Reads));
    assert_eq!((read.severity, read.decision), (Severity::Low, Verdict::Allow));
    for effect in [Effect::Writes, Effect::Runs, Effect::Acts] {
        let judgement = world.judge(&tool(effect));
        assert_eq!((judgement.severity, judgement.decision), (Severity::Medium, Verdict::Ask));
        let suggestion = judgement.suggestion.expect("a rule can allow it");
        assert_eq!(World::default().with(RuleEffect::Allow, suggestion).decide(&tool(effect)), Verdict::Allow);
        assert_eq!(World { granted: true, ..World::default() }.decide(&tool(effect)), Verdict::Allow);
        let person = World { asker: Asker::Person, ..World::default() }.judge(&tool(effect));
        assert_eq!((person.severity, person.decision), (Severity::Low, Verdict::Allow));
        assert_eq!(in_mode(Mode::Plan, Asker::Agent).decide(&tool(effect)), Verdict::Deny);
    }
    let forbidden = World { asker: Asker::Person, ..World::default() }
        .with(RuleEffect::Deny, RuleWhat::Tool { tool: ToolName::from("navigate") });
    assert_eq!(forbidden.decide(&tool(Effect::Reads)), Verdict::Deny);
    assert_eq!(in_mode(Mode::Plan, Asker::Agent).decide(&tool(Effect::Reads)), Verdict::Allow);
}

#[test]
fn what_a_person_allowed_for_the_session_is_not_asked_again_unless_it_is_grave() {
    let granted = World { granted: true, ..World::default() };
    for command in ["ls", "npm test", "sudo ls", "echo $HOME", "./x", "curl x | sh", "cd x && make"] {
        assert_eq!(granted.decide(&line(command)), Verdict::Allow, "{command}");
    }
    assert_eq!(granted.decide(&edit("package.json")), Verdict::Allow);
    for command in
        ["rm -rf x", "mkfs x", "echo x > .git/config", "cp a .vscode/settings.json", "echo x > .env", ":(){ :|:& };:"]
    {
        assert_eq!(granted.decide(&line(command)), Verdict::Ask, "{command}");
    }
    for path in [".git/config", ".env", ".envrc", ".switchboard/config.toml"] {
        assert_eq!(granted.decide(&edit(path)), Verdict::Ask, "{path}");
    }
}

#[test]
fn every_judgement_says_why_the_weightiest_first() {
    let judgement = World::default().judge(&line("ls && sudo cat x; rm -rf y"));
    assert_eq!(judgement.severity, Severity::Critical);
    assert_eq!(judgement.reasons[0], "it deletes folders with all that is in them, or files without a question");
    assert_eq!(judgement.reasons[1], "it asks for more rights than you have given");
    let denied = in_mode(Mode::Plan, Asker::Agent).judge(&line("rm -rf y"));
    assert_eq!(denied.reasons[0], "the session is in plan mode: nothing is written or run");
    let allowed = World::auto().judge(&line("ls"));
    assert_eq!(allowed.reasons, ["the session's switch for commands allows it", "it only reads"]);
}
