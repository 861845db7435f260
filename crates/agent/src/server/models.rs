//! The models that a server has, and what it tells of them. What a server does not tell is none, and never guessed from a name.

use serde_json::{Map, Value, json};

use super::{Flavor, Post, arguments};

/// Models of a list that are read; no person chooses from more.
pub const MAX_MODELS: usize = 2000;
/// Where LM Studio tells of its models what its list as OpenAI has it leaves out, by GET.
pub const BESIDE_PATH: &str = "/api/v0/models";
/// The longest name of a model, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// A model, as far as its server tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// What it is asked for by.
    pub name: String,
    /// How many tokens it can read.
    pub context: Option<u32>,
    /// Whether it can call tools by the server's own way.
    pub tools: Option<bool>,
    /// Whether it takes pictures.
    pub images: Option<bool>,
    /// Whether it thinks before it answers.
    pub thinks: Option<bool>,
    /// How many bytes it has on the server's disk.
    pub size: Option<u64>,
}

/// Where the list is, by GET.
#[must_use]
pub fn list_path(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::OpenAi => "/v1/models",
        Flavor::Ollama => "/api/tags",
    }
}

/// Reads the list; none if it is none, so that what answers there is another sort of server. Models that only embed are left out where
/// the server says so.
#[must_use]
pub fn read_list(flavor: Flavor, body: &[u8]) -> Option<Vec<Model>> {
    let value = arguments::json(body)?;
    let entries = match flavor {
        Flavor::OpenAi => value.get("data").unwrap_or(&value).as_array().or_else(|| value.get("models")?.as_array())?,
        // Others answer here too, with both lists in one; they do not take Ollama's questions.
        Flavor::Ollama if value.get("data").is_some() => return None,
        Flavor::Ollama => value.get("models")?.as_array()?,
    };
    let mut models: Vec<Model> = Vec::new();
    for model in entries.iter().take(MAX_MODELS).filter_map(|entry| model(flavor, entry)) {
        if !models.iter().any(|known| known.name == model.name) {
            models.push(model);
        }
    }
    // llama.cpp tells abilities in a second list beside the first.
    let beside = value.get("models").and_then(Value::as_array).into_iter().flatten();
    for entry in beside.take(MAX_MODELS).filter_map(Value::as_object) {
        let found =
            models.iter_mut().find(|model| ["model", "name"].iter().any(|key| text(entry, key) == Some(&model.name)));
        if let Some(model) = found {
            let told = abilities(entry);
            model.tools = model.tools.or(told.tools);
            model.images = model.images.or(told.images);
            model.thinks = model.thinks.or(told.thinks);
        }
    }
    Some(models)
}

/// Adds what is told at [`BESIDE_PATH`] to a list that leaves it out. What makes no sense changes nothing.
pub fn read_beside(body: &[u8], models: &mut Vec<Model>) {
    let Some(value) = arguments::json(body) else { return };
    let Some(entries) = value.get("data").and_then(Value::as_array) else { return };
    for entry in entries.iter().take(MAX_MODELS).filter_map(Value::as_object) {
        let Some(name) = text(entry, "id") else { continue };
        if only_embeds(entry) {
            models.retain(|model| model.name != name);
        }
        if let Some(model) = models.iter_mut().find(|model| model.name == name) {
            let told = abilities(entry);
            model.context = model.context.or_else(|| context(entry));
            model.tools = model.tools.or(told.tools);
            model.images = model.images.or(told.images);
            model.thinks = model.thinks.or(told.thinks);
        }
    }
}

fn only_embeds(map: &Map<String, Value>) -> bool {
    text(map, "type").is_some_and(|kind| kind.starts_with("embedding"))
}

fn model(flavor: Flavor, entry: &Value) -> Option<Model> {
    let map = entry.as_object()?;
    let names: &[&str] = match flavor {
        Flavor::OpenAi => &["id", "model", "name"],
        Flavor::Ollama => &["model", "name"],
    };
    let name = names.iter().find_map(|key| text(map, key)).filter(|name| is_name(name))?;
    if only_embeds(map) {
        return None;
    }
    let size = map.get("size").and_then(Value::as_u64);
    Some(Model { name: name.to_owned(), context: context(map), size, ..abilities(map) })
}

fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES && !name.contains(|each: char| each.is_control() || each == '\u{202e}')
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    map.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// What the server gives comes before what the model was made for.
fn context(map: &Map<String, Value>) -> Option<u32> {
    let number =
        |value: &Value| value.as_u64().filter(|number| *number > 0).and_then(|number| u32::try_from(number).ok());
    let own = |key: &str| map.get(key).and_then(number);
    let within = |list: &str, key: &str| map.get(list).and_then(|list| list.get(key)).and_then(number);
    own("loaded_context_length")
        .or_else(|| own("max_model_len"))
        .or_else(|| within("meta", "n_ctx"))
        .or_else(|| within("top_provider", "context_length"))
        .or_else(|| own("context_window"))
        .or_else(|| own("context_length"))
        .or_else(|| own("max_context_length"))
        .or_else(|| within("meta", "n_ctx_train"))
}

/// What the model can do. A list of all abilities says no by leaving one out only where it is known to name it otherwise.
fn abilities(map: &Map<String, Value>) -> Model {
    let mut model = Model::default();
    match map.get("capabilities") {
        // Ollama, LM Studio and llama.cpp: a list.
        Some(Value::Array(list)) => {
            let has = |names: &[&str]| {
                list.iter().filter_map(Value::as_str).any(|each| names.contains(&each)).then_some(true)
            };
            model.tools = has(&["tools", "tool_use", "function_calling"]);
            model.images = has(&["vision", "multimodal", "image"]);
            model.thinks = has(&["thinking", "reasoning"]);
        }
        // Mistral: an object of yes and no.
        Some(Value::Object(each)) => {
            let says = |keys: &[&str]| keys.iter().find_map(|key| each.get(*key)?.as_bool());
            model.tools = says(&["function_calling", "tools", "trained_for_tool_use", "tool_use"]);
            model.images = says(&["vision", "images"]);
            model.thinks = says(&["reasoning", "thinking"]);
        }
        _ => {}
    }
    let lists =
        |list: &Value, word: &str| list.as_array().map(|list| list.iter().any(|each| each.as_str() == Some(word)));
    // OpenRouter.
    if let Some(list) = map.get("supported_parameters") {
        model.tools = model.tools.or_else(|| lists(list, "tools"));
        model.thinks = model.thinks.or_else(|| lists(list, "reasoning"));
    }
    if let Some(list) = map.get("architecture").and_then(|architecture| architecture.get("input_modalities")) {
        model.images = model.images.or_else(|| lists(list, "image"));
    }
    // LM Studio's own list.
    match text(map, "type") {
        Some("vlm") => model.images = Some(true),
        Some("llm") => model.images = model.images.or(Some(false)),
        _ => {}
    }
    model
}

/// How more is learned of one model, where there is a way.
#[must_use]
pub fn show(flavor: Flavor, model: &str) -> Option<Post> {
    match flavor {
        Flavor::OpenAi => None,
        Flavor::Ollama => {
            Some(Post { path: "/api/show".to_owned(), body: json!({"model": model}).to_string().into_bytes() })
        }
    }
}

/// Adds what Ollama shows of a model. What makes no sense changes nothing.
pub fn read_show(body: &[u8], model: &mut Model) {
    let Some(value) = arguments::json(body) else { return };
    let info = value.get("model_info").and_then(Value::as_object);
    let trained = info.and_then(|info| {
        let own = text(info, "general.architecture").and_then(|name| info.get(&format!("{name}.context_length")));
        own.or_else(|| info.iter().find(|(key, _)| key.ends_with(".context_length")).map(|(_, value)| value))?.as_u64()
    });
    let trained = trained.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
    // Whoever made the model up may have chosen less, for the sake of memory.
    let chosen = value.get("parameters").and_then(Value::as_str).and_then(|parameters| {
        let line = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
        line.trim().parse::<u32>().ok().filter(|number| *number > 0)
    });
    model.context = match (trained, chosen) {
        (Some(trained), Some(chosen)) => Some(trained.min(chosen)),
        (trained, chosen) => chosen.or(trained).or(model.context),
    };
    // Here the list is of all that it can do.
    if let Some(list) = value.get("capabilities").and_then(Value::as_array) {
        let has = |name: &str| Some(list.iter().any(|each| each.as_str() == Some(name)));
        (model.tools, model.images, model.thinks) = (has("tools"), has("vision"), has("thinking"));
    }
}
