//! Parameters checked by the schemas of tools: every finding, in plain words, within bounds of time and memory whatever
//! the schema and the parameters are. Fetches nothing; carries nothing out.
//!
//! | module | owns |
//! | --- | --- |
//! | `shape` | what a schema may hold, and what checking by it costs at most |
//! | `measure` | how large a value is |
//! | `findings` | what a check found, in our codes and words |
//! | `known` | the checks of the tools that were called last |

mod findings;
mod known;
mod measure;
mod shape;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};
use switchboard_types::limits::{MAX_DEFINITION_BYTES, MAX_PARAMETER_BYTES};
use switchboard_types::{ErrandCode, ErrandFailure, ToolDefinition};

pub(super) use known::Known;
pub(super) use measure::measure;

/// Values within values, of parameters and of definitions.
const MAX_DEPTH: usize = 64;
/// Steps of one check: how much is checked, times what each of it costs at most.
const MAX_STEPS: u64 = 200_000_000;
/// Steps of a check that lists every finding; of more, only the first is told.
const MAX_LISTED_STEPS: u64 = 100_000;
/// Bytes of parameters that cost as much as one value.
const BYTES_A_STEP: usize = 64;
/// A pattern of a schema once it is compiled.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// The compiled check of one tool's parameters.
#[derive(Debug)]
pub struct Check {
    validator: Validator,
    shape: shape::Shape,
}

/// Whether a definition is one that calls can be checked by; if not, why.
///
/// # Errors
/// In plain words, for whoever wrote the definition.
pub fn check_definition(definition: &ToolDefinition) -> Result<(), String> {
    Check::of(definition).map(drop)
}

impl Check {
    /// Compiles a definition's schema.
    ///
    /// # Errors
    /// In plain words, for whoever wrote the definition.
    pub fn of(definition: &ToolDefinition) -> Result<Self, String> {
        let schema = schema_of(definition);
        let size = measure(&schema);
        if size.bytes > MAX_DEFINITION_BYTES || size.depth > MAX_DEPTH {
            return Err(format!(
                "the schema has {} bytes and is {} deep; {MAX_DEFINITION_BYTES} bytes and {MAX_DEPTH} are possible",
                size.bytes, size.depth
            ));
        }
        let shape = shape::Shape::of(&schema)?;
        let schema = shape.closed(schema);
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
        let options = jsonschema::options().with_pattern_options(patterns).should_validate_formats(true).offline();
        match options.build(&schema) {
            Ok(validator) => Ok(Self { validator, shape }),
            Err(error) => Err(findings::unsound(&error)),
        }
    }

    /// Every finding about the parameters, as a failure.
    ///
    /// # Errors
    /// The parameters are too much, or not what the schema wants.
    pub fn check(&self, parameters: &Value) -> Result<(), ErrandFailure> {
        let size = measure(parameters);
        let steps = self.shape.cost().saturating_mul((size.values + size.bytes / BYTES_A_STEP) as u64);
        if size.bytes > MAX_PARAMETER_BYTES || size.depth > MAX_DEPTH || steps > MAX_STEPS {
            let message = format!(
                "the parameters have {} bytes in {} values, {} deep; that is more than can be checked ({MAX_PARAMETER_BYTES} \
                 bytes, {MAX_DEPTH} deep, and less for a schema that is costly); send less at once",
                size.bytes, size.values, size.depth
            );
            return Err(ErrandFailure::new(ErrandCode::TooLarge, message));
        }
        if self.validator.is_valid(parameters) {
            return Ok(());
        }
        let list = if steps <= MAX_LISTED_STEPS {
            findings::all(self.validator.iter_errors(parameters))
        } else if self.shape.has_alternatives() {
            findings::unlisted()
        } else {
            findings::all(self.validator.validate(parameters).err())
        };
        Err(findings::failure(list))
    }
}

/// The schema of a definition; three of the four types have one of their own.
fn schema_of(definition: &ToolDefinition) -> Value {
    match definition {
        ToolDefinition::Function { function } => match &function.parameters {
            // A function that says nothing takes nothing.
            Value::Null => json!({"type": "object"}),
            other => other.clone(),
        },
        ToolDefinition::Custom { .. } => json!({
            "type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"],
        }),
        ToolDefinition::LocalShell {} => json!({
            "type": "object",
            "properties": {
                "command": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "workdir": {"type": "string"},
                "timeout_ms": {"type": "integer", "minimum": 1},
                "env": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["command"],
        }),
        ToolDefinition::WebSearch {} => json!({
            "type": "object", "properties": {"query": {"type": "string", "minLength": 1}}, "required": ["query"],
        }),
    }
}

#[cfg(test)]
mod tests;
