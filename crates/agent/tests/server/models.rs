//! Lists of models, and what each server tells of them.

use serde_json::{Value, json};
use switchboard_agent::server::Flavor;
use switchboard_agent::server::models::{Model, list_path, read_beside, read_list, read_show, show};

fn list(flavor: Flavor, value: &Value) -> Option<Vec<Model>> {
    read_list(flavor, value.to_string().as_bytes())
}

fn model(name: &str) -> Model {
    Model { name: name.to_owned(), ..Model::default() }
}

#[test]
fn a_list_tells_of_contexts_and_abilities_in_every_servers_words() {
    for (entry, expected) in [
        (json!({"id": "m", "object": "model", "owned_by": "x"}), model("m")),
        (json!({"id": "m", "max_model_len": 4096}), Model { context: Some(4096), ..model("m") }),
        (json!({"id": "m", "meta": {"n_ctx_train": 32768}}), Model { context: Some(32768), ..model("m") }),
        (
            json!({"id": "m", "meta": {"n_ctx_train": 32768, "n_ctx": 4096}}),
            Model { context: Some(4096), ..model("m") },
        ),
        (json!({"id": "m", "context_window": 131_072}), Model { context: Some(131_072), ..model("m") }),
        (
            json!({"id": "m", "type": "vlm", "max_context_length": 9000, "loaded_context_length": 4096, "capabilities": ["tool_use"]}),
            Model { context: Some(4096), tools: Some(true), images: Some(true), ..model("m") },
        ),
        (
            json!({"id": "m", "max_context_length": 9000, "capabilities": {"function_calling": false, "vision": true}}),
            Model { context: Some(9000), tools: Some(false), images: Some(true), ..model("m") },
        ),
        (
            json!({"id": "a/m", "context_length": 9000, "supported_parameters": ["tools", "reasoning"],
                   "architecture": {"input_modalities": ["text"]}}),
            Model { context: Some(9000), tools: Some(true), images: Some(false), thinks: Some(true), ..model("a/m") },
        ),
    ] {
        assert_eq!(list(Flavor::OpenAi, &json!({"object": "list", "data": [entry]})), Some(vec![expected]), "{entry}");
    }
}

#[test]
fn a_list_in_another_shape_is_still_a_list() {
    let both = json!({"models": [{"name": "m", "model": "m", "capabilities": ["completion", "multimodal"]}],
                      "data": [{"id": "m", "meta": {"n_ctx_train": 8}}]});
    let expected = Model { context: Some(8), images: Some(true), ..model("m") };
    assert_eq!(list(Flavor::OpenAi, &both), Some(vec![expected]));
    // It answers where Ollama does, and takes none of Ollama's questions.
    assert_eq!(list(Flavor::Ollama, &both), None);
    assert_eq!(list(Flavor::OpenAi, &json!([{"id": "m"}, {"id": "m"}])), Some(vec![model("m")]));
    let odd = json!({"data": [{"id": "bad\u{1b}[0m"}, {"id": 7}, {"id": "e", "type": "embeddings"}, null, {"id": ""}]});
    assert_eq!(list(Flavor::OpenAi, &odd), Some(vec![]));
}

#[test]
fn a_second_list_tells_what_the_first_leaves_out() {
    let first = json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}, {"id": "e"}, {"id": "x"}]});
    let mut models = list(Flavor::OpenAi, &first).unwrap();
    let second = json!({"object": "list", "data": [
        {"id": "a", "type": "llm", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096,
         "capabilities": ["tool_use"]},
        {"id": "b", "type": "vlm", "state": "not-loaded", "max_context_length": 32768},
        {"id": "e", "type": "embeddings", "max_context_length": 2048},
        {"id": "nobody", "type": "llm"}, null, {"id": 7},
    ]});
    read_beside(second.to_string().as_bytes(), &mut models);
    let expected = [
        Model { context: Some(4096), tools: Some(true), images: Some(false), ..model("a") },
        Model { context: Some(32768), images: Some(true), ..model("b") },
        model("x"),
    ];
    assert_eq!(models, expected);
    for nonsense in [&b""[..], b"[]", b"{}", b"{\"data\":7}", b"<html>"] {
        read_beside(nonsense, &mut models);
        assert_eq!(models, expected);
    }
}

#[test]
fn what_is_no_list_is_none() {
    for body in [&b"<html>"[..], b"", b"{}", b"{\"models\": 7}", b"7", b"{\"data\": []}"] {
        assert_eq!(read_list(Flavor::Ollama, body), None);
    }
    assert_eq!(read_list(Flavor::OpenAi, b"{\"error\":\"no\"}"), None);
    assert_eq!((list_path(Flavor::OpenAi), list_path(Flavor::Ollama)), ("/v1/models", "/api/tags"));
}

#[test]
fn ollama_lists_its_models_and_shows_what_they_can() {
    let tags =
        json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "size": 5, "details": {"family": "qwen3"}}]});
    let mut models = list(Flavor::Ollama, &tags).unwrap();
    assert_eq!(models, [Model { size: Some(5), ..model("qwen3:8b") }]);
    let post = show(Flavor::Ollama, "qwen3:8b").unwrap();
    assert_eq!((post.path.as_str(), post.body.as_slice()), ("/api/show", &br#"{"model":"qwen3:8b"}"#[..]));
    assert_eq!(show(Flavor::OpenAi, "m"), None);
    let shown = json!({
        "parameters": "stop   \"<|im_end|>\"\ntemperature  0.6",
        "model_info": {"a.context_length": 5, "general.architecture": "qwen3", "qwen3.context_length": 40960},
        "capabilities": ["completion", "tools", "thinking"],
    });
    let found = &mut models[0];
    read_show(shown.to_string().as_bytes(), found);
    let all = Model {
        context: Some(40960),
        tools: Some(true),
        images: Some(false),
        thinks: Some(true),
        size: Some(5),
        ..model("qwen3:8b")
    };
    assert_eq!(*found, all);
    read_show(b"{\"parameters\":\"num_ctx                        8192\"}", found);
    assert_eq!(*found, Model { context: Some(8192), ..all.clone() });
    read_show(br#"{"parameters":"num_ctx 8192","model_info":{"qwen3.context_length":4096}}"#, found);
    assert_eq!(*found, Model { context: Some(4096), ..all.clone() });
    for nonsense in [&b""[..], b"[]", b"{}", b"{\"model_info\":{\"x.context_length\":-1},\"parameters\":7}"] {
        read_show(nonsense, found);
        assert_eq!(*found, Model { context: Some(4096), ..all.clone() });
    }
}
