//! The definitions of tools that a view lends, read with every finding. Whether a name is free is for the host to say.

use serde_json::Value;
use switchboard_types::limits::MAX_DEFINITION_BYTES;
use switchboard_types::{CustomTool, Effect, FindingCode, FunctionTool, ToolDefinition, ToolName};

use super::check::Members;

/// The types of tools.
#[derive(Clone, Copy)]
enum Sort {
    Function,
    Custom,
    LocalShell,
    WebSearch,
}

const SORTS: [(&str, Sort); 4] = [
    ("function", Sort::Function),
    ("custom", Sort::Custom),
    ("local_shell", Sort::LocalShell),
    ("web_search", Sort::WebSearch),
];

/// One tool and what a call of it can do, as its lender says.
pub(super) fn tool(tool: &mut Members<'_>) -> Option<(ToolDefinition, Effect)> {
    let reads = tool.optional_flag("readOnly");
    let annotations = tool.optional_object("annotations").unwrap_or_default();
    let place = tool.place("annotations");
    let hinted = tool.within(place, annotations).optional_flag("readOnlyHint");
    let definition = match tool.word("type", &SORTS)? {
        Sort::Function => function(tool)?,
        Sort::Custom => custom(tool)?,
        Sort::LocalShell => ToolDefinition::LocalShell {},
        Sort::WebSearch => ToolDefinition::WebSearch {},
    };
    let size = serde_json::to_vec(&definition).map_or(usize::MAX, |json| json.len());
    if size > MAX_DEFINITION_BYTES {
        let message = format!("must have at most {MAX_DEFINITION_BYTES} bytes of JSON, not {size}");
        tool.wrong("function", FindingCode::OutOfRange, message);
    }
    Some((definition, if reads || hinted { Effect::Reads } else { Effect::Acts }))
}

fn function(tool: &mut Members<'_>) -> Option<ToolDefinition> {
    let (members, place) = (tool.object("function")?, tool.place("function"));
    let mut function = tool.within(place, members);
    let name = name(&mut function);
    let description = function.text("description");
    let parameters = function.object("parameters");
    let strict = function.optional("strict").and_then(|strict| strict.as_bool());
    let parameters = Value::Object(parameters?);
    Some(ToolDefinition::Function {
        function: FunctionTool { name: name?, description: description?, parameters, strict },
    })
}

fn custom(tool: &mut Members<'_>) -> Option<ToolDefinition> {
    let (members, place) = (tool.object("custom")?, tool.place("custom"));
    let mut custom = tool.within(place, members);
    let name = name(&mut custom);
    let description = custom.text("description");
    let format = custom.optional("format");
    Some(ToolDefinition::Custom { custom: CustomTool { name: name?, description: description?, format } })
}

fn name(members: &mut Members<'_>) -> Option<ToolName> {
    let name = members.id("name")?;
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.:/".contains(letter));
    if !plain {
        let message = "must be made of ASCII letters, digits and the signs _ - . : /";
        members.wrong("name", FindingCode::PatternMismatch, message);
    }
    plain.then(|| ToolName::new(name))
}
