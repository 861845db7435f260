//! The ways to sign in that an agent offers, each with exactly what a person has to do. Never signs in.

use serde::Deserialize;
use switchboard_types::{SignInBy, SignInMethod};

use super::AcpSettings;
use super::small::{MAX_LINE_CHARS, bearable, cut, fields, first_items, line, name};

/// Ways to sign in of one agent.
const MAX_METHODS: usize = 32;
/// Variables and arguments of one way.
const MAX_PARTS: usize = 32;

const FIELDS: [&str; 8] = ["id", "name", "description", "type", "vars", "args", "env", "_meta"];

/// A command that signs in, in a terminal.
#[derive(Debug, Deserialize)]
struct Terminal {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
}

/// Reads the list of ways; what is no way is left out.
pub(super) fn methods(raw: Option<&str>, settings: &AcpSettings) -> Vec<SignInMethod> {
    let items = raw.and_then(|raw| first_items(raw, MAX_METHODS)).unwrap_or_default();
    items.into_iter().filter_map(|item| method(item, settings)).collect()
}

fn method(raw: &str, settings: &AcpSettings) -> Option<SignInMethod> {
    let found = fields(raw, &FIELDS)?;
    let id = name(&found, "id").filter(|id| bearable(id))?;
    let title = line(&found, "name").unwrap_or_else(|| id.clone());
    let kind = line(&found, "type").unwrap_or_default();
    let in_meta = found.raw("_meta").and_then(|meta| fields(meta, &["terminal-auth"])?.raw("terminal-auth"));
    let (by, todo) = if kind == "env_var" {
        (SignInBy::Variable, variables(found.raw("vars"), settings))
    } else if let Some(meta) = in_meta {
        (SignInBy::Terminal, in_terminal(meta, settings))
    } else if kind == "terminal" {
        (SignInBy::Terminal, in_terminal(raw, settings))
    } else {
        (
            SignInBy::Agent,
            format!("choose “{title}”: the agent signs in by itself, perhaps with a page in your browser"),
        )
    };
    Some(SignInMethod { id, name: title, description: line(&found, "description"), by, todo })
}

fn variables(raw: Option<&str>, settings: &AcpSettings) -> String {
    let items = raw.and_then(|raw| first_items(raw, MAX_PARTS)).unwrap_or_default();
    let names: Vec<String> = items.into_iter().filter_map(variable).collect();
    let entries: Vec<String> = names.iter().map(|name| format!("{name} = \"…\"")).collect();
    let what = match entries.as_slice() {
        [] => "add the variable that the agent needs to `env`".to_owned(),
        entries => format!("add `env = {{ {} }}`", entries.join(", ")),
    };
    format!("{what} in `[agents.{}]` of the configuration, then start the agent again", settings.agent)
}

/// A variable's name: `{name}`, or the name itself.
fn variable(raw: &str) -> Option<String> {
    let named = fields(raw, &["name"]).and_then(|found| line(&found, "name"));
    let name = named.or_else(|| serde_json::from_str(raw).ok())?;
    name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_').then_some(name)
}

fn in_terminal(raw: &str, settings: &AcpSettings) -> String {
    let Ok(told) = serde_json::from_str::<Terminal>(raw) else {
        return "sign in with the agent's own command in a terminal, then try again".to_owned();
    };
    // Arguments alone are for the agent's own program.
    let program = told.command.map_or_else(|| settings.command.clone(), |command| vec![command]);
    let args = told.args.into_iter().take(MAX_PARTS);
    let words: Vec<String> = program.into_iter().chain(args).map(|word| shell_word(&word)).collect();
    format!("run `{}` in a terminal, then try again", cut(words.join(" "), MAX_LINE_CHARS))
}

/// A word as a shell takes it.
pub(super) fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> AcpSettings {
        AcpSettings::new("kimi", &["kimi".to_owned(), "acp".to_owned()], "0")
    }

    fn read(json: &str) -> Vec<(SignInBy, String)> {
        methods(Some(json), &settings()).into_iter().map(|method| (method.by, method.todo)).collect()
    }

    #[test]
    fn each_way_says_exactly_what_to_do() {
        let ways = r#"[{"id":"a","name":"Log in"},
            {"id":"b","type":"env_var","vars":[{"name":"CODEX_API_KEY"},{"name":"OTHER"}]},
            {"id":"c","type":"terminal","args":["--login"]},
            {"id":"d","_meta":{"terminal-auth":{"command":"/opt/my agent","args":["login"]}}}]"#;
        let wanted = [
            (SignInBy::Agent, "choose “Log in”: the agent signs in by itself, perhaps with a page in your browser"),
            (
                SignInBy::Variable,
                "add `env = { CODEX_API_KEY = \"…\", OTHER = \"…\" }` in `[agents.kimi]` of the configuration, then start \
                 the agent again",
            ),
            (SignInBy::Terminal, "run `kimi acp --login` in a terminal, then try again"),
            (SignInBy::Terminal, "run `'/opt/my agent' login` in a terminal, then try again"),
        ];
        assert_eq!(read(ways), wanted.map(|(by, todo)| (by, todo.to_owned())));
    }

    #[test]
    fn what_is_no_way_is_left_out_and_a_broken_one_still_says_something() {
        assert_eq!(read(r#"[1,{"name":"no id"},{"id":""}]"#), []);
        let broken = read(r#"[{"id":"a","type":"env_var","vars":7},{"id":"b","type":"terminal","args":7}]"#);
        assert!(broken[0].1.starts_with("add the variable that the agent needs to `env` in `[agents.kimi]`"));
        assert_eq!(broken[1].1, "sign in with the agent's own command in a terminal, then try again");
        assert_eq!(read("{}"), []);
    }
}
