//! `schema`: the JSON Schema of every message of a dialect. The list of dialects is kept elsewhere; here it is only shown.

use std::collections::BTreeMap;

use serde_json::Value;
use switchboard_dialects::agent::{acp, apex, plain};
use switchboard_dialects::view::ViewKind;

use super::args::{Cli, Format};
use super::exit::Failure;
use super::print;

/// The dialect for views of this name.
pub(super) fn view_dialect(name: &str) -> Result<ViewKind, Failure> {
    let found = ViewKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| no_dialect(name, &ViewKind::ALL.map(ViewKind::name)))
}

fn no_dialect(name: &str, known: &[&str]) -> Failure {
    Failure::usage(format!("there is no dialect `{name}`; there are: {}", known.join(", ")))
}

/// Prints one schema, or all of them as one object.
pub(super) fn run(cli: &Cli, dialect: Option<&str>) -> Result<(), Failure> {
    let mut all = BTreeMap::new();
    for kind in ViewKind::ALL {
        all.insert(kind.name().to_owned(), kind.schema());
    }
    all.insert("acp".to_owned(), acp::schema());
    all.insert("apex".to_owned(), apex::schema());
    all.insert("plain".to_owned(), plain::schema());
    let chosen = match dialect {
        None => Value::Object(all.into_iter().collect()),
        Some(name) => {
            let known: Vec<&str> = all.keys().map(String::as_str).collect();
            all.get(name).cloned().ok_or_else(|| no_dialect(name, &known))?
        }
    };
    match cli.format() {
        Format::Json => print::json(&chosen),
        // A value always has a JSON text.
        Format::Words => print::line(&serde_json::to_string_pretty(&chosen).unwrap_or_default()),
    }
    Ok(())
}
