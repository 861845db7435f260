//! Holds a value against a JSON Schema, as far as our own types make use of it. A keyword that it does not know is an error,
//! so nothing passes because it was not looked at.

use serde_json::{Map, Value};

const DEFINITIONS: &str = "#/$defs/";

/// Why a value is not what the schema says; none if it is.
pub(crate) fn fault(root: &Value, value: &Value) -> Option<String> {
    check(root, root, value).err()
}

fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let rules = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(rules) => rules,
        other => return Err(format!("a schema that is none: {other}")),
    };
    rules.iter().try_for_each(|(keyword, rule)| check_rule(root, rules, (keyword, rule), value))
}

fn check_rule(
    root: &Value,
    rules: &Map<String, Value>,
    (keyword, rule): (&str, &Value),
    value: &Value,
) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{value} is not {what} {rule}"));
    match keyword {
        "$schema" | "$defs" | "title" | "description" | "default" | "format" => Ok(()),
        "type" => match rule {
            Value::Array(types) if types.iter().any(|name| has_type(name, value)) => Ok(()),
            name if has_type(name, value) => Ok(()),
            _ => wrong("of type"),
        },
        "const" if rule == value => Ok(()),
        "const" => wrong("the constant"),
        "enum" if rule.as_array().is_some_and(|words| words.contains(value)) => Ok(()),
        "enum" => wrong("one of"),
        "minimum" if value.as_f64().zip(rule.as_f64()).is_none_or(|(value, least)| value >= least) => Ok(()),
        "minimum" => wrong("at least"),
        "maximum" if value.as_f64().zip(rule.as_f64()).is_none_or(|(value, most)| value <= most) => Ok(()),
        "maximum" => wrong("at most"),
        "$ref" => {
            let name = rule.as_str().and_then(|path| path.strip_prefix(DEFINITIONS));
            let target = name.and_then(|name| root["$defs"].get(name));
            check(root, target.ok_or_else(|| format!("{rule} leads nowhere"))?, value)
        }
        "oneOf" | "anyOf" => check_choices(root, keyword, rule, value),
        "prefixItems" => {
            let pairs = rule.as_array().into_iter().flatten().zip(value.as_array().into_iter().flatten());
            pairs.into_iter().try_for_each(|(rule, item)| check(root, rule, item))
        }
        "minItems" | "maxItems" => {
            let (length, bound) = (value.as_array().map(|list| list.len() as u64), rule.as_u64());
            let fits = |length: u64, bound: u64| if keyword == "minItems" { length >= bound } else { length <= bound };
            match length.zip(bound) {
                Some((length, bound)) if !fits(length, bound) => Err(format!("{value} has {length} items")),
                _ => Ok(()),
            }
        }
        "items" if rules.get("prefixItems").is_some() => Ok(()),
        "items" => value.as_array().into_iter().flatten().try_for_each(|item| check(root, rule, item)),
        "required" => {
            let missing = |name: &&Value| value.get(name.as_str().unwrap_or_default()).is_none();
            match rule.as_array().into_iter().flatten().find(missing).filter(|_| value.is_object()) {
                Some(name) => Err(format!("{value} has no {name}")),
                None => Ok(()),
            }
        }
        "properties" => {
            let shapes = rule.as_object().into_iter().flatten();
            let mut present = shapes.filter_map(|(name, shape)| Some((shape, value.get(name)?)));
            present.try_for_each(|(shape, field)| check(root, shape, field))
        }
        "additionalProperties" => {
            let known = |name: &str| rules.get("properties").is_some_and(|shapes| shapes.get(name).is_some());
            let mut others = value.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
            match rule {
                Value::Bool(false) => others.next().map_or(Ok(()), |(name, _)| Err(format!("{value} has `{name}`"))),
                shape => others.try_for_each(|(_, field)| check(root, shape, field)),
            }
        }
        unknown => Err(format!("the schema says `{unknown}`, which is not looked at here")),
    }
}

fn check_choices(root: &Value, keyword: &str, choices: &Value, value: &Value) -> Result<(), String> {
    let choices = choices.as_array().ok_or("a choice of nothing")?;
    let faults: Vec<String> = choices.iter().filter_map(|choice| check(root, choice, value).err()).collect();
    let fits = choices.len() - faults.len();
    if fits == 1 || (fits > 1 && keyword == "anyOf") {
        return Ok(());
    }
    // Of many variants the one with the right type says best what is wrong.
    let near = faults.iter().find(|fault| !fault.contains("is not the constant"));
    Err(format!("{value} fits {fits} of {} choices: {}", choices.len(), near.map_or("no such type", String::as_str)))
}

fn has_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
