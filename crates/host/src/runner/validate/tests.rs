//! Each code, each type of tool, and schemas that mean harm.

use serde_json::{Value, json};
use switchboard_types::{CustomTool, ErrandCode, FunctionTool, ToolDefinition, ToolName};

use super::{Check, check_definition};

fn function(parameters: Value) -> ToolDefinition {
    let (name, description) = (ToolName::new("t"), String::new());
    ToolDefinition::Function { function: FunctionTool { name, description, parameters, strict: None } }
}

fn found(schema: Value, parameters: Value) -> Vec<(String, Value)> {
    found_by(&function(schema), &parameters)
}

fn found_by(definition: &ToolDefinition, parameters: &Value) -> Vec<(String, Value)> {
    let check = Check::of(definition).unwrap();
    let findings = check.check(parameters).map_or_else(|failure| failure.findings, |()| Vec::new());
    for finding in &findings {
        assert!(finding.message.contains(&finding.parameter), "{finding:?}");
    }
    let mut all: Vec<_> =
        findings.into_iter().map(|found| (found.parameter, serde_json::to_value(found.code).unwrap())).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

fn one(parameter: &str, code: &str) -> Vec<(String, Value)> {
    vec![(parameter.to_owned(), json!(code))]
}

#[test]
fn each_keyword_has_its_code() {
    let of = |schema: Value, value: Value| {
        found(json!({"type": "object", "properties": {"x": schema}}), json!({"x": value}))
    };
    let cases = [
        (json!({"type": "string"}), json!(1), "TYPE_MISMATCH"),
        (json!({"type": "integer"}), json!(1.5), "TYPE_MISMATCH"),
        (json!({"type": "string"}), json!(null), "NULL_VALUE"),
        (json!({"type": ["string", "array"]}), json!(null), "NULL_VALUE"),
        (json!({"enum": ["a", "b"]}), json!("c"), "ENUM_MISMATCH"),
        (json!({"const": 1}), json!(2), "ENUM_MISMATCH"),
        (json!({"minimum": 1}), json!(0), "OUT_OF_RANGE"),
        (json!({"maximum": 1}), json!(2), "OUT_OF_RANGE"),
        (json!({"exclusiveMinimum": 1}), json!(1), "OUT_OF_RANGE"),
        (json!({"exclusiveMaximum": 1}), json!(1), "OUT_OF_RANGE"),
        (json!({"multipleOf": 5}), json!(7), "OUT_OF_RANGE"),
        (json!({"minLength": 2}), json!("é"), "OUT_OF_RANGE"),
        (json!({"maxLength": 1}), json!("ab"), "OUT_OF_RANGE"),
        (json!({"minItems": 1}), json!([]), "OUT_OF_RANGE"),
        (json!({"maxItems": 0}), json!([1]), "OUT_OF_RANGE"),
        (json!({"minProperties": 1}), json!({}), "OUT_OF_RANGE"),
        (json!({"maxProperties": 0}), json!({"a": 1}), "OUT_OF_RANGE"),
        (json!({"contains": {"type": "string"}}), json!([1]), "OUT_OF_RANGE"),
        (json!({"pattern": "^a+$"}), json!("b"), "PATTERN_MISMATCH"),
        (json!({"format": "date"}), json!("yesterday"), "PATTERN_MISMATCH"),
        (json!({"format": "uri"}), json!("no uri"), "PATTERN_MISMATCH"),
        (json!({"uniqueItems": true}), json!([1, 1]), "PATTERN_MISMATCH"),
        (json!({"not": {"type": "string"}}), json!("s"), "PATTERN_MISMATCH"),
        (json!(false), json!("s"), "UNKNOWN_PARAMETER"),
    ];
    for (schema, value, code) in cases {
        assert_eq!(of(schema.clone(), value), one("x", code), "{schema}");
    }
}

#[test]
fn every_finding_is_told_with_a_readable_place() {
    let item = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
        "additionalProperties": false});
    let schema = json!({"type": "object", "required": ["url", "mode"],
        "properties": {"url": {"type": "string"}, "mode": {"enum": ["a"]}, "items": {"type": "array", "items": item},
            "odd name": {"type": "string"}}});
    let parameters = json!({"mode": "b", "extra": 1, "more": 2, "odd name": 3,
        "items": [{"name": "n"}, {}, {"name": 7, "x": 1}]});
    let expected = [
        ("\"odd name\"", "TYPE_MISMATCH"),
        ("extra", "UNKNOWN_PARAMETER"),
        ("items[1].name", "REQUIRED"),
        ("items[2].name", "TYPE_MISMATCH"),
        ("items[2].x", "UNKNOWN_PARAMETER"),
        ("mode", "ENUM_MISMATCH"),
        ("more", "UNKNOWN_PARAMETER"),
        ("url", "REQUIRED"),
    ];
    assert_eq!(found(schema, parameters), expected.map(|(at, code)| (at.to_owned(), json!(code))));
}

#[test]
fn alternatives_tell_what_is_wrong_with_the_one_that_fits_best() {
    let schema = json!({"properties": {"x": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]},
        "y": {"oneOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}, {"type": "array"}]},
        "z": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}});
    assert_eq!(found(schema.clone(), json!({"x": "ab"})), one("x", "OUT_OF_RANGE"));
    assert_eq!(found(schema.clone(), json!({"x": 1})), one("x", "TYPE_MISMATCH"));
    assert_eq!(found(schema.clone(), json!({"y": {"a": "s"}})), one("y.a", "TYPE_MISMATCH"));
    assert_eq!(found(schema.clone(), json!({"y": {}})), one("y.a", "REQUIRED"));
    assert_eq!(found(schema.clone(), json!({"z": null})), one("z", "NULL_VALUE"));
    assert_eq!(found(schema, json!({"x": null, "y": [], "z": 1})), []);
    let both = json!({"properties": {"x": {"oneOf": [{"minimum": 1}, {"minimum": 2}]}}});
    assert_eq!(found(both, json!({"x": 3})), one("x", "TYPE_MISMATCH"));
}

#[test]
fn a_parameter_that_is_not_known_is_wrong_unless_the_schema_says_otherwise() {
    let properties = json!({"a": {"type": "string"}});
    let with =
        |additional: Value| json!({"type": "object", "properties": properties, "additionalProperties": additional});
    let plain = json!({"type": "object", "properties": properties});
    assert_eq!(found(plain, json!({"b": 1})), one("b", "UNKNOWN_PARAMETER"));
    assert_eq!(found(with(json!(false)), json!({"b": 1})), one("b", "UNKNOWN_PARAMETER"));
    assert_eq!(found(with(json!(true)), json!({"b": 1})), []);
    assert_eq!(found(with(json!({"type": "string"})), json!({"b": 1})), one("b", "TYPE_MISMATCH"));
    assert_eq!(found(json!({"type": "object", "properties": {}}), json!({"b": 1})), one("b", "UNKNOWN_PARAMETER"));
    // Whoever names no parameter at all takes any.
    assert_eq!(found(Value::Null, json!({"b": 1})), []);
    assert_eq!(found(json!({"type": "object"}), json!({"b": 1})), []);
    assert_eq!(found(json!({}), json!({})), []);
    let joined = json!({"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"b": {"type": "integer"}}}],
        "$defs": {"a": {"properties": {"a": {"type": "string"}}, "patternProperties": {"^x-": true}}}});
    assert_eq!(found(joined.clone(), json!({"a": "s", "b": 1, "x-y": 2})), []);
    assert_eq!(
        found(joined, json!({"a": 1, "c": 1})),
        [("a".to_owned(), json!("TYPE_MISMATCH")), ("c".to_owned(), json!("UNKNOWN_PARAMETER")),]
    );
    // Deeper down only what the schema says counts.
    let deep = json!({"properties": {"o": {"type": "object", "properties": {}}}});
    assert_eq!(found(deep, json!({"o": {"anything": 1}})), []);
}

#[test]
fn the_other_types_of_tools_take_what_they_are_known_to_take() {
    let custom = ToolDefinition::Custom {
        custom: CustomTool { name: ToolName::new("c"), description: String::new(), format: None },
    };
    assert_eq!(found_by(&custom, &json!({"input": "x"})), []);
    assert_eq!(found_by(&custom, &json!({})), one("input", "REQUIRED"));
    let shell = ToolDefinition::LocalShell {};
    let good = json!({"command": ["ls", "-l"], "workdir": ".", "timeout_ms": 5, "env": {"A": "b"}});
    assert_eq!(found_by(&shell, &good), []);
    assert_eq!(found_by(&shell, &json!({"command": ["ls", 1]})), one("command[1]", "TYPE_MISMATCH"));
    assert_eq!(found_by(&shell, &json!({"command": "ls"})), one("command", "TYPE_MISMATCH"));
    assert_eq!(found_by(&ToolDefinition::WebSearch {}, &json!({"query": null})), one("query", "NULL_VALUE"));
    for wrong in [json!([]), json!("x"), json!(null)] {
        let code = if wrong.is_null() { "NULL_VALUE" } else { "TYPE_MISMATCH" };
        assert_eq!(found_by(&custom, &wrong), one("parameters", code));
    }
}

fn refused(schema: Value) -> String {
    check_definition(&function(schema)).unwrap_err()
}

#[test]
fn a_schema_that_is_none_is_refused_in_words() {
    let cases = [
        (json!({"type": "strin"}), "must be \"object\""),
        (json!({"properties": {"x": {"type": "strin"}}}), "/properties/x/type"),
        (json!({"properties": []}), "wrong at /properties"),
        (json!("x"), "must be an object"),
        (json!({"properties": {"x": {"pattern": "("}}}), "wrong at"),
        (json!({"properties": {"x": {"pattern": "(?=a)"}}}), "wrong at"),
        (json!({"properties": {"x": {"pattern": "((a{1,500}){1,500}){1,500}"}}}), "wrong at"),
        (json!({"properties": {"x": {"$ref": "#/nowhere"}}}), "nothing at the $ref"),
        (json!({"properties": {"x": {"$ref": "http://127.0.0.1:9/x.json"}}}), "leads elsewhere"),
        (json!({"properties": {"x": {"$ref": "file:///etc/passwd"}}}), "leads elsewhere"),
        (json!({"properties": {"x": {"$ref": "other.json"}}}), "leads elsewhere"),
        (json!({"properties": {"x": {"$id": "http://x/", "$ref": "#/$defs/y"}}, "$defs": {"y": {}}}), "uses $id"),
        (json!({"$schema": "http://127.0.0.1:9/schema"}), "wrong at"),
        (json!({"$dynamicRef": "#x"}), "uses $dynamicRef"),
    ];
    for (schema, expected) in cases {
        let why = refused(schema.clone());
        assert!(why.contains(expected), "{schema}: {why}");
    }
    assert!(refused(json!({"description": "x".repeat(70_000)})).contains("bytes"));
    let deep = (0..100).fold(json!({}), |inner, _| json!({"properties": {"x": inner}}));
    assert!(refused(deep).contains("deep"));
}

#[test]
fn schemas_that_would_never_end_are_refused_at_once() {
    assert!(refused(json!({"$ref": "#"})).contains("circle"));
    assert!(refused(json!({"allOf": [{"$ref": "#"}]})).contains("circle"));
    assert!(
        refused(json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}))
            .contains("circle")
    );
    // Each refers to the next twice: two to the power of their number.
    let mut doubled = json!({"$ref": "#/$defs/a0", "$defs": {}});
    for at in 0..60 {
        let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
        doubled["$defs"][format!("a{at}")] = json!({"allOf": [next, next]});
    }
    doubled["$defs"]["a60"] = json!({"type": "object"});
    assert!(refused(doubled).contains("repeats itself"));
    // The same with every step down.
    let down = json!({"properties": {"x": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
    assert!(refused(down).contains("repeats itself"));
    let any = json!({"properties": {"x": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"type": "null"}]}}});
    assert!(refused(any).contains("repeats itself"));
}

#[test]
fn a_schema_may_refer_to_itself_further_down() {
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"},
        "value": {"type": "integer"}}, "additionalProperties": false});
    assert_eq!(found(tree.clone(), json!({"left": {"right": {"value": 1}}})), []);
    assert_eq!(found(tree, json!({"left": {"right": {"value": "s"}}})), one("left.right.value", "TYPE_MISMATCH"));
}

#[test]
fn parameters_that_are_too_much_are_refused_or_told_shortly() {
    let check = Check::of(&function(json!({"properties": {"x": {"items": {"type": "string"}}}}))).unwrap();
    let code = |value: &Value| check.check(value).unwrap_err().code;
    assert_eq!(code(&json!({"x": ["y".repeat(9 * 1024 * 1024)]})), ErrandCode::TooLarge);
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(code(&json!({"x": deep})), ErrandCode::TooLarge);
    let many = check.check(&json!({"x": vec![json!(1); 1000]})).unwrap_err();
    assert_eq!((many.findings.len(), many.findings[99].parameter.as_str()), (100, "x[99]"));
    assert!(many.message.contains("more than 100 ways"), "{}", many.message);
    let most = check.check(&json!({"x": vec![json!(1); 800_000]})).unwrap_err();
    assert_eq!(most.findings[0].parameter, "x[0]");
    let either = json!({"properties": {"x": {"anyOf": [{"items": {"type": "string"}}, {"items": {"type": "null"}}]}}});
    let most = Check::of(&function(either)).unwrap().check(&json!({"x": vec![json!(1); 800_000]})).unwrap_err();
    assert!(most.findings[0].message.contains("too large to say where"), "{most:?}");
}
