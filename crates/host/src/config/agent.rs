//! An agent's table, checked by its kind: what the kind needs is there, what it does not know is refused.

use std::collections::BTreeMap;
use std::ops::Range;

use switchboard_types::AgentName;
use switchboard_types::limits::MAX_ID_BYTES;
use toml::{Spanned, Value};

use super::file::{AgentTable, KindWord, ProcessWord};
use super::place::{ConfigError, Source};
use crate::agents::{AgentKind, AgentSpec, EnvValue, ProcessPer, ProcessSpec, SecretName, WantedBy};

type Found<T> = Result<T, ConfigError>;

/// Makes the agent that a table describes.
pub(super) fn read(
    source: Source<'_>,
    by: WantedBy,
    name: &Spanned<String>,
    table: Spanned<AgentTable>,
) -> Found<AgentSpec> {
    check_name(source, name)?;
    // A table that has its own header covers only that, so what is missing is said at the name.
    let place = name.span();
    let table = Table { source, by, place, table: table.into_inner() };
    let kind = table.table.kind.as_ref().ok_or_else(|| table.missing("kind"))?;
    let kind = match *kind.get_ref() {
        KindWord::Plain => AgentKind::Plain(table.process(KindWord::Plain)?),
        KindWord::Acp => AgentKind::Acp(table.process(KindWord::Acp)?),
        KindWord::Apex => AgentKind::Apex { process: table.process(KindWord::Apex)?, config: table.config()? },
        KindWord::Engine => table.engine()?,
        KindWord::Model => table.model()?,
    };
    Ok(AgentSpec { name: AgentName::new(name.get_ref().as_str()), kind })
}

fn check_name(source: Source<'_>, name: &Spanned<String>) -> Found<()> {
    let text = name.get_ref();
    if text == AgentName::DEMO {
        return Err(source.wrong(name.span(), "the name `demo` is taken by the built-in agent; choose another"));
    }
    if text == AgentName::BENCH {
        let message = "the name `bench` is taken by the place where a person calls tools; choose another";
        return Err(source.wrong(name.span(), message));
    }
    if text.is_empty() || text.len() > MAX_ID_BYTES || text.chars().any(char::is_control) {
        let message = format!("an agent's name has 1 to {MAX_ID_BYTES} bytes and no control characters");
        return Err(source.wrong(name.span(), message));
    }
    Ok(())
}

struct Table<'a> {
    source: Source<'a>,
    by: WantedBy,
    place: Range<usize>,
    table: AgentTable,
}

impl Table<'_> {
    fn missing(&self, key: &str) -> ConfigError {
        self.source.wrong(self.place.clone(), format!("`{key}` is missing"))
    }

    /// Refuses keys that belong to other kinds.
    fn only(&self, kind: &str, known: &[&str]) -> Found<()> {
        let table = &self.table;
        let spans = [
            ("command", table.command.as_ref().map(Spanned::span)),
            ("env", table.env.as_ref().map(Spanned::span)),
            ("inherit", table.inherit.as_ref().map(Spanned::span)),
            ("process", table.process.as_ref().map(Spanned::span)),
            ("record", table.record.as_ref().map(Spanned::span)),
            ("config", table.config.as_ref().map(Spanned::span)),
            ("url", table.url.as_ref().map(Spanned::span)),
            ("secret", table.secret.as_ref().map(Spanned::span)),
            ("base_url", table.base_url.as_ref().map(Spanned::span)),
            ("model", table.model.as_ref().map(Spanned::span)),
            ("config_path", table.config_path.as_ref().map(Spanned::span)),
            ("workspace", table.workspace.as_ref().map(Spanned::span)),
        ];
        for (key, span) in spans {
            if let Some(span) = span.filter(|_| !known.contains(&key)) {
                let known = known.join("`, `");
                let message = format!("an agent of kind `{kind}` has no `{key}`; it knows `kind`, `{known}`");
                return Err(self.source.wrong(span, message));
            }
        }
        Ok(())
    }

    fn process(&self, kind: KindWord) -> Found<ProcessSpec> {
        let (word, keys): (_, &[_]) = match kind {
            KindWord::Apex => ("apex", &["command", "env", "inherit", "process", "record", "config"]),
            KindWord::Acp => ("acp", &["command", "env", "inherit", "process", "record"]),
            KindWord::Plain | KindWord::Engine | KindWord::Model => {
                ("plain", &["command", "env", "inherit", "process", "record"])
            }
        };
        self.only(word, keys)?;
        let command = self.table.command.as_ref().ok_or_else(|| self.missing("command"))?;
        if command.get_ref().first().is_none_or(String::is_empty) {
            return Err(self.source.wrong(command.span(), "the command needs at least the name of a program"));
        }
        if command.get_ref().iter().any(|word| word.contains('\0')) {
            return Err(self.source.wrong(command.span(), "a word of a command cannot hold a NUL character"));
        }
        Ok(ProcessSpec {
            command: command.get_ref().clone(),
            env: self.env()?,
            inherit: self.inherit()?,
            per: self.per(kind)?,
            record: self.table.record.as_ref().is_some_and(|record| *record.get_ref()),
        })
    }

    fn per(&self, kind: KindWord) -> Found<ProcessPer> {
        let word = self.table.process.as_ref();
        match (kind, word.map(|word| *word.get_ref())) {
            (KindWord::Apex, Some(ProcessWord::Shared)) => Err(self.source.wrong(
                word.map(Spanned::span).unwrap_or_default(),
                "an agent of kind `apex` has one process per session; take this line out",
            )),
            (KindWord::Plain, Some(ProcessWord::Session)) => Err(self.source.wrong(
                word.map(Spanned::span).unwrap_or_default(),
                "an agent of kind `plain` has one process for all sessions; take this line out",
            )),
            (_, Some(ProcessWord::Shared)) | (KindWord::Plain, None) => Ok(ProcessPer::Shared),
            (_, Some(ProcessWord::Session)) | (_, None) => Ok(ProcessPer::Session),
        }
    }

    fn env(&self) -> Found<BTreeMap<String, EnvValue>> {
        let Some(env) = &self.table.env else { return Ok(BTreeMap::new()) };
        let read = |(name, value): (&Spanned<String>, &Spanned<Value>)| {
            self.check_variable(name)?;
            Ok((name.get_ref().clone(), self.value(value)?))
        };
        env.get_ref().iter().map(read).collect()
    }

    fn value(&self, value: &Spanned<Value>) -> Found<EnvValue> {
        match value.get_ref() {
            Value::String(text) if !text.contains('\0') => Ok(EnvValue::Plain(text.clone())),
            Value::Table(table) => match (table.get("secret"), table.len()) {
                (Some(Value::String(name)), 1) => Ok(EnvValue::Secret(SecretName { name: name.clone(), by: self.by })),
                _ => Err(self.source.wrong(value.span(), "a value is a text or { secret = \"NAME\" }")),
            },
            _ => Err(self.source.wrong(value.span(), "a value is a text or { secret = \"NAME\" }")),
        }
    }

    fn inherit(&self) -> Found<Vec<String>> {
        let Some(inherit) = &self.table.inherit else { return Ok(Vec::new()) };
        let read = |name: &Spanned<String>| self.check_variable(name).map(|()| name.get_ref().clone());
        inherit.get_ref().iter().map(read).collect()
    }

    fn check_variable(&self, name: &Spanned<String>) -> Found<()> {
        let text = name.get_ref();
        if text.is_empty() || text.contains(['=', '\0']) {
            return Err(self.source.wrong(name.span(), "a variable's name is not empty and holds no `=`"));
        }
        Ok(())
    }

    fn config(&self) -> Found<serde_json::Value> {
        let Some(config) = &self.table.config else { return Ok(serde_json::json!({})) };
        serde_json::to_value(config.get_ref()).map_err(|error| self.source.wrong(config.span(), error.to_string()))
    }

    fn engine(&self) -> Found<AgentKind> {
        self.only("engine", &["url", "secret", "config_path", "workspace"])?;
        let text = |value: &Option<Spanned<String>>| value.as_ref().map(|value| value.get_ref().clone());
        Ok(AgentKind::Engine {
            url: self.url("url", self.table.url.as_ref())?,
            secret: self.secret(),
            config_path: text(&self.table.config_path),
            workspace: text(&self.table.workspace),
        })
    }

    fn model(&self) -> Found<AgentKind> {
        self.only("model", &["base_url", "model", "secret"])?;
        let model = self.table.model.as_ref().ok_or_else(|| self.missing("model"))?;
        Ok(AgentKind::Model {
            base_url: self.url("base_url", self.table.base_url.as_ref())?,
            model: model.get_ref().clone(),
            secret: self.secret(),
            settings: serde_json::json!({}),
        })
    }

    fn secret(&self) -> Option<SecretName> {
        self.table.secret.as_ref().map(|name| SecretName { name: name.get_ref().clone(), by: self.by })
    }

    fn url(&self, key: &str, url: Option<&Spanned<String>>) -> Found<String> {
        let url = url.ok_or_else(|| self.missing(key))?;
        let rest = url.get_ref().strip_prefix("http://").or_else(|| url.get_ref().strip_prefix("https://"));
        let authority = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
        if authority.is_empty() || authority.contains('@') {
            let message = format!("`{key}` is an address that begins with http:// or https://, without a user name");
            return Err(self.source.wrong(url.span(), message));
        }
        Ok(url.get_ref().clone())
    }
}
