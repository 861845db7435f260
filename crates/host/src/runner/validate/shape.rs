//! What a schema may hold, and what checking by it costs at most. A schema comes from whoever lends a tool: one that
//! refers to itself in a circle, or doubles its work with every step, is refused before it is used. Checks no parameters.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::MAX_DEPTH;

/// Checks by one schema that one value can be worth at most.
const MAX_COST: u64 = 20_000;
/// Patterns of one schema.
const MAX_PATTERNS: usize = 64;
/// Keywords whose work cannot be told beforehand, or that lead to another schema.
const REFUSED: &[&str] = &[
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "$anchor",
    "$vocabulary",
    "unevaluatedProperties",
    "unevaluatedItems",
];
/// Keywords that only the whole schema may have.
const ONLY_AT_THE_TOP: &[&str] = &["$id", "id", "$schema"];

/// Keywords with a list of schemas, one, or a map of them, for the very value.
const FOR_IT: &[&str] =
    &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "$ref"];
/// The same for the values in it, where each value meets at most one schema of the keyword.
const FOR_ONE_IN_IT: &[&str] = &["properties", "prefixItems", "items"];
/// The same, where a value may meet them all.
const FOR_ALL_IN_IT: &[&str] =
    &["patternProperties", "additionalProperties", "propertyNames", "additionalItems", "contains"];
/// Keywords whose schemas are held by name.
const MAPS: &[&str] = &["properties", "patternProperties", "dependentSchemas", "dependencies"];

/// What is known of a schema.
#[derive(Debug)]
pub(super) struct Shape {
    cost: u64,
    has_alternatives: bool,
    /// Names of parameters that are known somewhere, and patterns of such names.
    names: Vec<String>,
    patterns: Vec<String>,
}

/// One schema of the whole.
#[derive(Debug, Default)]
struct Node {
    /// What it costs by itself.
    own: u64,
    /// Schemas for the same value.
    same: Vec<usize>,
    /// Schemas for values in it.
    within: Vec<usize>,
}

/// All schemas of the whole, each once.
#[derive(Default)]
struct Graph<'a> {
    nodes: Vec<Node>,
    schemas: Vec<&'a Value>,
    places: HashMap<*const Value, usize>,
    patterns: usize,
    has_alternatives: bool,
}

impl Shape {
    /// Looks at a schema; says why it cannot be used.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let Value::Object(top) = schema else { return Err("the schema must be an object".to_owned()) };
        match top.get("type") {
            None => {}
            Some(Value::String(kind)) if kind == "object" => {}
            Some(other) => {
                return Err(format!("the schema's type must be \"object\", since parameters are; it is {other}"));
            }
        }
        let mut graph = Graph::default();
        graph.add(schema, schema)?;
        // Grows while it is walked through.
        let mut at = 0;
        while let Some(found) = graph.schemas.get(at).copied() {
            graph.look(schema, found, at)?;
            at += 1;
        }
        let order = graph.in_order()?;
        let cost = graph.cost(&order)?;
        let (names, patterns) = graph.known_names();
        Ok(Self { cost, has_alternatives: graph.has_alternatives, names, patterns })
    }

    /// Checks that one value is worth at most.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    /// Whether what is wrong is told by what is wrong with each of several schemas.
    pub(super) fn has_alternatives(&self) -> bool {
        self.has_alternatives
    }

    /// The schema in which unknown parameters are wrong, unless it says otherwise, or names none at all: that takes anything.
    pub(super) fn closed(&self, mut schema: Value) -> Value {
        let Value::Object(top) = &mut schema else { return schema };
        let names_some = top.contains_key("properties") || !self.names.is_empty() || !self.patterns.is_empty();
        if top.contains_key("additionalProperties") || !names_some {
            return schema;
        }
        top.insert("additionalProperties".to_owned(), Value::Bool(false));
        for (keyword, names) in [("properties", &self.names), ("patternProperties", &self.patterns)] {
            let known = top.entry(keyword).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(known) = known {
                for name in names {
                    known.entry(name.as_str()).or_insert(Value::Bool(true));
                }
            }
        }
        schema
    }
}

impl<'a> Graph<'a> {
    /// The place of a schema; one that does nothing but refer is the one that it refers to.
    fn add(&mut self, whole: &'a Value, schema: &'a Value) -> Result<usize, String> {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            match schema.as_object() {
                Some(fields) if fields.contains_key("$ref") && !does_more_than_refer(fields) => {
                    schema = referred(whole, fields)?;
                }
                Some(_) | None => return Ok(self.place(schema)),
            }
        }
        Err("its $refs lead in a circle".to_owned())
    }

    fn place(&mut self, schema: &'a Value) -> usize {
        let next = self.schemas.len();
        let at = *self.places.entry(std::ptr::from_ref(schema)).or_insert(next);
        if at == next {
            self.schemas.push(schema);
            self.nodes.push(Node::default());
        }
        at
    }

    fn look(&mut self, whole: &'a Value, schema: &'a Value, at: usize) -> Result<(), String> {
        let Value::Object(fields) = schema else {
            return if schema.is_boolean() {
                Ok(())
            } else {
                Err("a schema must be an object or a boolean".to_owned())
            };
        };
        refuse(fields, at)?;
        let mut node = Node { own: own_cost(fields), ..Node::default() };
        for keyword in FOR_IT {
            self.has_alternatives |= matches!(*keyword, "anyOf" | "oneOf") && fields.contains_key(*keyword);
            if *keyword == "$ref" && fields.contains_key("$ref") {
                node.same.push(self.add(whole, referred(whole, fields)?)?);
                continue;
            }
            for inner in schemas_of(fields, keyword) {
                node.same.push(self.add(whole, inner)?);
            }
        }
        for keyword in FOR_ONE_IN_IT {
            for inner in schemas_of(fields, keyword) {
                let inner = self.add(whole, inner)?;
                if !node.within.contains(&inner) {
                    node.within.push(inner);
                }
            }
        }
        for keyword in FOR_ALL_IN_IT {
            for inner in schemas_of(fields, keyword) {
                node.within.push(self.add(whole, inner)?);
            }
        }
        self.patterns += usize::from(fields.contains_key("pattern"));
        self.patterns += fields.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        if self.patterns > MAX_PATTERNS {
            return Err(format!("it has more than {MAX_PATTERNS} patterns"));
        }
        if let Some(place) = self.nodes.get_mut(at) {
            *place = node;
        }
        Ok(())
    }

    /// All schemas, each before those that it has for the same value.
    fn in_order(&self) -> Result<Vec<usize>, String> {
        let mut left: Vec<usize> = vec![0; self.nodes.len()];
        for inner in self.nodes.iter().flat_map(|node| &node.same) {
            if let Some(left) = left.get_mut(*inner) {
                *left += 1;
            }
        }
        let mut order: Vec<usize> = (0..left.len()).filter(|at| left.get(*at) == Some(&0)).collect();
        let mut done = 0;
        while let Some(node) = order.get(done).and_then(|at| self.nodes.get(*at)) {
            done += 1;
            for inner in &node.same {
                if let Some(left) = left.get_mut(*inner) {
                    *left -= 1;
                    if *left == 0 {
                        order.push(*inner);
                    }
                }
            }
        }
        if order.len() == self.nodes.len() { Ok(order) } else { Err("its $refs lead in a circle".to_owned()) }
    }

    /// The most that one value can cost, however deep it lies: how often each schema can be met there.
    fn cost(&self, order: &[usize]) -> Result<u64, String> {
        let mut met = vec![0_u64; self.nodes.len()];
        if let Some(top) = met.first_mut() {
            *top = 1;
        }
        let mut most = 0;
        for _ in 0..=MAX_DEPTH {
            let mut within = vec![0_u64; self.nodes.len()];
            let mut cost = 0_u64;
            for at in order {
                let (Some(node), Some(times)) = (self.nodes.get(*at), met.get(*at).copied()) else { continue };
                cost = cost.saturating_add(times.saturating_mul(node.own));
                for inner in &node.same {
                    add_to(&mut met, *inner, times);
                }
                for inner in &node.within {
                    add_to(&mut within, *inner, times);
                }
            }
            most = most.max(cost);
            if most > MAX_COST {
                return Err(format!(
                    "checking one value by it could take more than {MAX_COST} steps; it repeats itself too often"
                ));
            }
            met = within;
        }
        Ok(most.max(1))
    }

    /// What the whole knows of parameters by name, wherever in it that is said.
    fn known_names(&self) -> (Vec<String>, Vec<String>) {
        let (mut names, mut patterns) = (Vec::new(), Vec::new());
        let (mut open, mut seen) = (vec![0], Vec::new());
        while let Some(at) = open.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            let fields = self.schemas.get(at).and_then(|schema| schema.as_object());
            for (keyword, known) in [("properties", &mut names), ("patternProperties", &mut patterns)] {
                let named = fields.and_then(|fields| fields.get(keyword)).and_then(Value::as_object);
                known.extend(named.into_iter().flat_map(Map::keys).cloned());
            }
            open.extend(self.nodes.get(at).into_iter().flat_map(|node| node.same.iter().copied()));
        }
        (names, patterns)
    }
}

fn add_to(counts: &mut [u64], at: usize, times: u64) {
    if let Some(count) = counts.get_mut(at) {
        *count = count.saturating_add(times);
    }
}

fn does_more_than_refer(fields: &Map<String, Value>) -> bool {
    let only_tells = |name: &String| {
        let tells = ["$ref", "$comment", "title", "description", "default", "examples", "deprecated"];
        tells.contains(&name.as_str())
    };
    !fields.keys().all(only_tells)
}

fn refuse(fields: &Map<String, Value>, at: usize) -> Result<(), String> {
    let refused = REFUSED.iter().chain(if at == 0 { &[] } else { ONLY_AT_THE_TOP });
    match refused.into_iter().find(|keyword| fields.contains_key(**keyword)) {
        Some(keyword) => Err(format!("it uses {keyword}, which is not supported there; say it in another way")),
        None => Ok(()),
    }
}

/// The schema that a `$ref` leads to, within the same whole.
fn referred<'a>(whole: &'a Value, fields: &Map<String, Value>) -> Result<&'a Value, String> {
    let Some(Value::String(to)) = fields.get("$ref") else { return Err("a $ref must be a string".to_owned()) };
    let within = to.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
    let Some(pointer) = within.filter(|pointer| !pointer.contains('%')) else {
        return Err(format!("the $ref {to:?} leads elsewhere; only those of the form \"#/…\" are followed"));
    };
    whole.pointer(pointer).ok_or_else(|| format!("there is nothing at the $ref {to:?}"))
}

/// The schemas that a keyword holds.
fn schemas_of<'a>(fields: &'a Map<String, Value>, keyword: &str) -> Vec<&'a Value> {
    match fields.get(keyword) {
        None => Vec::new(),
        Some(Value::Array(all)) => all.iter().collect(),
        // A list there names what must be there too, and is no schema.
        Some(Value::Object(all)) if MAPS.contains(&keyword) => all.values().filter(|inner| !inner.is_array()).collect(),
        Some(one) => vec![one],
    }
}

/// What a schema costs without those in it.
fn own_cost(fields: &Map<String, Value>) -> u64 {
    let options = fields.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
    let required = fields.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    1 + (options + required) as u64 / 4
}
