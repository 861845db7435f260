//! Tables in Markdown of what a JSON Schema describes, in the words of its descriptions. Knows the part of JSON Schema that
//! our own types make, and stops at anything else.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

const DEFINITIONS: &str = "#/$defs/";
/// A description with fewer words says no more than the field's name.
const WORTH_WORDS: usize = 3;

/// How the variants of a union are told apart, and where their fields are.
struct Tag {
    name: &'static str,
    /// The member that holds the fields, where they do not stand beside the tag.
    content: Option<&'static str>,
}

const TAGS: [Tag; 4] = [
    Tag { name: "type", content: None },
    Tag { name: "method", content: Some("params") },
    Tag { name: "method", content: Some("result") },
    Tag { name: "topic", content: Some("payload") },
];

/// Where the fields are of what is known by its title.
const CONTENTS: [&str; 2] = ["result", "error"];

/// A row for each name and what is to be said of it.
pub(super) fn pairs(name: &str, meaning: &str, rows: &[(&str, &str)]) -> String {
    let mut table = format!("| {name} | {meaning} |\n| --- | --- |\n");
    for (name, meaning) in rows {
        table += &format!("| `{name}` | {meaning} |\n");
    }
    table
}

/// A row for each variant of a tagged union: its type, its fields, what it means.
pub(super) fn variants(schema: &Value, union: &Value) -> Result<String> {
    let choices = union.get("oneOf").or_else(|| union.get("anyOf"));
    let variants = choices.and_then(Value::as_array).context("it is no union")?;
    let fits = |tag: &&Tag| {
        let has = |name: &str| variants.iter().any(|variant| variant["properties"].get(name).is_some());
        has(tag.name) && tag.content.is_none_or(has)
    };
    let tag = TAGS.iter().find(fits).context("a union without a tag")?;
    let (head, nothing) = (tag.content.unwrap_or("fields"), Value::Object(Map::new()));
    let mut table = format!("| {} | {head} | what it means |\n| --- | --- | --- |\n", tag.name);
    for variant in variants {
        let members = &variant["properties"];
        // What is known by its fields alone has a title instead.
        let name = match (members[tag.name]["const"].as_str(), variant["title"].as_str()) {
            (Some(name), _) => format!("`{name}`"),
            (None, Some(title)) => title.to_owned(),
            (None, None) => bail!("a variant without its type: {variant}"),
        };
        let fields = match tag.content {
            None => Fields::read(schema, variant, &[tag.name])?,
            Some(content) => {
                let mut contents = std::iter::once(content).chain(CONTENTS);
                Fields::read(schema, contents.find_map(|content| members.get(content)).unwrap_or(&nothing), &[])?
            }
        };
        table += &format!("| {name} | {} | {} |\n", fields.list, fields.meaning(variant)?);
    }
    Ok(table)
}

/// A row for each named shape that both directions use, but for those that are only a string or a number by another name.
pub(super) fn shapes(schema: &Value) -> Result<String> {
    let mut table = String::from("| shape | what is in it | what it means |\n| --- | --- | --- |\n");
    for (name, shape) in definitions(schema) {
        if scalar(shape).is_some() {
            continue;
        }
        let (within, meaning) = if let Some(words) = words(shape) {
            let list: Vec<_> = words.iter().map(|(word, _)| format!("`\"{word}\"`")).collect();
            let explained = words.iter().filter(|(_, meaning)| !meaning.is_empty());
            let explained: String =
                explained.map(|(word, meaning)| format!(" `{word}`: {}", lowered(meaning))).collect();
            (list.join(", "), format!("{}{explained}", described(shape)))
        } else if shape.get("oneOf").is_some() {
            ("one of several, by its `type`".to_owned(), described(shape))
        } else {
            let fields = Fields::read(schema, shape, &[])?;
            (fields.list.clone(), fields.meaning(shape)?)
        };
        table += &format!("| `{name}` | {within} | {} |\n", meaning.trim());
    }
    Ok(table)
}

/// A named shape of either direction.
pub(super) fn definition<'a>(schema: &'a Value, name: &str) -> Result<&'a Value> {
    definitions(schema).remove(name).with_context(|| format!("the schema has no part and no shape `{name}`"))
}

fn definitions(schema: &Value) -> BTreeMap<&str, &Value> {
    let directions = schema.as_object().into_iter().flat_map(Map::values);
    let found = directions.filter_map(|direction| direction["$defs"].as_object());
    found.flatten().map(|(name, shape)| (name.as_str(), shape)).collect()
}

/// The fields of an object, those that must be there first.
struct Fields {
    list: String,
    explained: String,
}

impl Fields {
    fn read(schema: &Value, object: &Value, left_out: &[&str]) -> Result<Self> {
        let empty = Map::new();
        let fields = object["properties"].as_object().unwrap_or(&empty);
        let needed: Vec<&str> = object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let optional = fields.keys().map(String::as_str).filter(|name| !needed.contains(name));
        let order: Vec<&str> = needed.iter().copied().chain(optional).filter(|name| !left_out.contains(name)).collect();
        let (mut list, mut explained) = (Vec::new(), String::new());
        for name in order {
            let field = fields.get(name).with_context(|| format!("`{name}` is needed and has no shape"))?;
            let mut json = json_type(schema, field).with_context(|| format!("field `{name}`"))?;
            let mark = if needed.contains(&name) { "" } else { "?" };
            // Where a field may be left out, it may be null too; that goes without saying.
            if mark.is_empty() && is_nullable(field) {
                json += " or null";
            }
            list.push(format!("`{name}{mark}: {json}`"));
            let meaning = described(field);
            if meaning.split_whitespace().count() >= WORTH_WORDS {
                explained += &format!(" `{name}`: {}", lowered(&meaning));
            }
        }
        Ok(Self { list: list.join(", "), explained })
    }

    fn meaning(&self, object: &Value) -> Result<String> {
        let meaning = described(object);
        if meaning.is_empty() {
            bail!("a shape has no description: {object}");
        }
        Ok(format!("{meaning}{}", self.explained))
    }
}

/// What a field holds, in a word or two.
fn json_type(schema: &Value, field: &Value) -> Result<String> {
    if let Some(name) = field["$ref"].as_str().and_then(|path| path.strip_prefix(DEFINITIONS)) {
        let shape = definition(schema, name)?;
        return Ok(scalar(shape).unwrap_or(name).to_owned());
    }
    if let Some(choices) = field["anyOf"].as_array() {
        let [choice] = choices.iter().filter(|choice| choice["type"] != "null").collect::<Vec<_>>()[..] else {
            bail!("several choices: {field}");
        };
        return json_type(schema, choice);
    }
    let types: Vec<&str> = field["type"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let [_, _, ..] = types.iter().filter(|name| **name != "null").collect::<Vec<_>>()[..] {
        return Ok(types.into_iter().filter(|name| *name != "null").collect::<Vec<_>>().join(" or "));
    }
    Ok(match plain_type(field) {
        None => "any".to_owned(),
        Some("array") => format!("{}[]", json_type(schema, &field["items"])?),
        Some("object") if field.get("properties").is_none() => {
            format!("map of {}", json_type(schema, &field["additionalProperties"])?)
        }
        Some("object") => bail!("a shape within a shape needs a name: {field}"),
        Some(scalar) => scalar.to_owned(),
    })
}

/// The type beside null, if one is named.
fn plain_type(shape: &Value) -> Option<&str> {
    match &shape["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        other => other.as_str(),
    }
}

fn is_nullable(field: &Value) -> bool {
    let listed = |list: &Value, of: fn(&Value) -> bool| list.as_array().is_some_and(|list| list.iter().any(of));
    listed(&field["type"], |name| name == "null") || listed(&field["anyOf"], |choice| choice["type"] == "null")
}

/// The type of a shape that is only a string or a number by another name.
fn scalar(shape: &Value) -> Option<&str> {
    let name = shape["type"].as_str().filter(|_| shape.get("enum").is_none())?;
    ["string", "integer", "number", "boolean"].contains(&name).then_some(name)
}

/// The words of an enumeration, with their meanings.
fn words(shape: &Value) -> Option<Vec<(String, String)>> {
    if let Some(words) = shape["enum"].as_array() {
        return words.iter().map(|word| Some((word.as_str()?.to_owned(), String::new()))).collect();
    }
    let choices = shape["oneOf"].as_array()?;
    let mut words = Vec::new();
    for choice in choices {
        match (choice["const"].as_str(), choice["enum"].as_array()) {
            (Some(word), _) => words.push((word.to_owned(), described(choice))),
            (None, Some(several)) => {
                words.extend(several.iter().filter_map(Value::as_str).map(|word| (word.to_owned(), String::new())));
            }
            (None, None) => return None,
        }
    }
    Some(words)
}

/// The description on one line, fit for a cell.
fn described(shape: &Value) -> String {
    let text = shape["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A sentence that goes on after a colon.
fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn made_up() -> Value {
        json!({"toHost": {
            "oneOf": [
                {
                    "description": "Says\nhello | or not.",
                    "properties": {
                        "type": {"const": "hello", "type": "string"},
                        "tab": {"$ref": "#/$defs/Tab", "description": "Which tab it is."},
                        "again": {"type": ["integer", "null"], "description": "How often."},
                        "mood": {"anyOf": [{"$ref": "#/$defs/Mood"}, {"type": "null"}]},
                        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                        "seen": {"type": ["object", "null"], "additionalProperties": {"type": "integer"}},
                        "extra": true,
                    },
                    "required": ["type", "tab", "mood"],
                },
                {"description": "Is over.", "properties": {"type": {"const": "bye"}}, "required": ["type"]},
            ],
            "$defs": {
                "Tab": {"type": "string", "description": "A tab."},
                "Mood": {"description": "A mood.", "oneOf": [
                    {"const": "good", "description": "All is well."},
                    {"enum": ["so", "bad"]},
                ]},
                "Item": {
                    "description": "An item.",
                    "type": "object",
                    "properties": {"n": {"type": "number"}},
                    "required": ["n"],
                },
            },
        }})
    }

    #[test]
    fn a_row_has_the_type_its_fields_and_what_the_descriptions_say() {
        let schema = made_up();
        let expected = "| type | fields | what it means |\n| --- | --- | --- |\n\
             | `hello` | `tab: string`, `mood: Mood or null`, `again?: integer`, `items?: Item[]`, \
             `seen?: map of integer`, `extra?: any` | Says hello \\| or not. `tab`: which tab it is. |\n\
             | `bye` |  | Is over. |\n";
        assert_eq!(variants(&schema, &schema["toHost"]).unwrap(), expected);
    }

    #[test]
    fn a_method_has_its_fields_in_its_params() {
        let said = json!({"toHost": {"oneOf": [
            {
                "description": "Asks.",
                "properties": {
                    "method": {"const": "ask"},
                    "params": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
                },
                "required": ["method", "params"],
            },
            {"description": "Is over.", "properties": {"method": {"const": "bye"}}, "required": ["method"]},
        ]}});
        let expected = "| method | params | what it means |\n| --- | --- | --- |\n\
             | `ask` | `n: number` | Asks. |\n| `bye` |  | Is over. |\n";
        assert_eq!(variants(&said, &said["toHost"]).unwrap(), expected);
    }

    #[test]
    fn a_shape_is_listed_unless_it_is_a_string_by_another_name() {
        let expected = "| shape | what is in it | what it means |\n| --- | --- | --- |\n\
             | `Item` | `n: number` | An item. |\n\
             | `Mood` | `\"good\"`, `\"so\"`, `\"bad\"` | A mood. `good`: all is well. |\n";
        assert_eq!(shapes(&made_up()).unwrap(), expected);
    }

    #[test]
    fn what_the_tables_cannot_show_is_an_error() {
        for field in [
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"type": "object", "properties": {}}),
            json!({"$ref": "#/$defs/Nobody"}),
        ] {
            assert!(json_type(&made_up(), &field).is_err(), "{field}");
        }
        let silent = json!({"oneOf": [{"properties": {"type": {"const": "x"}}, "required": ["type"]}]});
        assert!(variants(&made_up(), &silent).is_err());
    }
}
