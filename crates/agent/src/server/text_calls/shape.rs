//! Whether a JSON value that a model wrote is a call, in one of the shapes that models write. Strict: what has other fields is none.

use serde_json::{Map, Value};

use crate::server::arguments;
use crate::talk::Arguments;

/// Names that the arguments go by.
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "args", "input"];
/// What else may stand beside them.
const BESIDE: [&str; 4] = ["id", "type", "index", "call_id"];

/// A call without an id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Arguments,
}

/// The calls that the value is: one object, or a list of them. None if anything of it is no call.
pub(super) fn calls(value: &Value) -> Option<Vec<Call>> {
    match value {
        Value::Array(values) if !values.is_empty() => values.iter().map(|value| call(value.as_object()?)).collect(),
        Value::Object(map) => match map.get("tool_calls").and_then(Value::as_array) {
            Some(values) if map.len() == 1 && !values.is_empty() => {
                values.iter().map(|value| call(value.as_object()?)).collect()
            }
            _ => call(map).map(|call| vec![call]),
        },
        _ => None,
    }
}

fn call(map: &Map<String, Value>) -> Option<Call> {
    let beside = |name: &str| BESIDE.contains(&name);
    if let Some(Value::Object(function)) = map.get("function") {
        return if map.keys().all(|name| name == "function" || beside(name)) { call(function) } else { None };
    }
    let named = |name: &&str| map.get(*name).is_some_and(Value::is_string);
    let key = ["name", "tool", "function"].into_iter().find(named)?;
    let given = ARGUMENTS.into_iter().find(|name| map.contains_key(*name));
    let known = |name: &str| name == key || Some(name) == given || beside(name);
    if !map.keys().all(|name| known(name)) || (given.is_none() && key != "name") || (given.is_none() && map.len() > 1) {
        return None;
    }
    let name = map.get(key)?.as_str()?.trim();
    if !is_name(name) {
        return None;
    }
    let arguments = given.and_then(|given| map.get(given)).map_or_else(|| arguments::of(&Value::Null), arguments::of);
    Some(Call { name: name.to_owned(), arguments })
}

/// Whether there is something that it would be called with.
pub(super) fn has_arguments(value: &Value) -> bool {
    let named = |value: &Value| ARGUMENTS.iter().any(|name| value.get(name).is_some());
    named(value) || value.get("function").is_some_and(named) || value.get("tool_calls").is_some()
}

/// Whether a tool can be called so.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |each: char| each.is_ascii_alphanumeric() || matches!(each, '_' | '-' | '.' | ':' | '/');
    !name.is_empty() && name.len() <= 128 && name.chars().all(fits)
}

/// What a call that cannot be read is called, as far as it can be told.
pub(super) fn name_in(text: &str) -> String {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("name") {
        let value = after.trim_start_matches(['"', '\'']).trim_start();
        let value =
            value.strip_prefix([':', '=']).map(str::trim_start).and_then(|value| value.strip_prefix(['"', '\'']));
        if let Some(name) = value.and_then(|value| value.split(['"', '\'']).next()).filter(|name| is_name(name)) {
            return name.to_owned();
        }
        rest = after;
    }
    let function = text.split_once("<function=").and_then(|(_, after)| after.split('>').next());
    function.filter(|name| is_name(name)).unwrap_or_default().to_owned()
}

/// Whether a text that breaks off is the beginning of a call and nothing else: its name, and then its arguments.
pub(super) fn begins_a_call(text: &str) -> bool {
    let after = |text: &str, word: &str| -> Option<String> {
        let rest = text.trim_start().strip_prefix('"')?.strip_prefix(word)?.strip_prefix('"')?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start().to_owned())
    };
    let found = || {
        let rest = after(text.trim_start().strip_prefix('{')?, "name")?;
        let (name, rest) = rest.strip_prefix('"')?.split_once('"')?;
        let rest = rest.trim_start().strip_prefix(',')?;
        let given = ARGUMENTS.into_iter().any(|word| after(rest, word).is_some());
        (is_name(name) && given).then_some(())
    };
    found().is_some()
}
