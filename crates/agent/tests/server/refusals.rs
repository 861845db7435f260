//! What is said of servers that refuse, in their own spellings: the kind that the loop acts on, and words that a person can.

use switchboard_agent::server::{About, refused, unreachable};
use switchboard_agent::trouble::TroubleKind::{
    self, Busy, Garbage, NoImages, NoModel, NoServer, NoTools, NotYet, Refused, TooLong, Unwelcome,
};

fn about<'a>(base_url: &'a str, models: &'a [String]) -> About<'a> {
    About { base_url, model: "qwen3:8b", had_token: false, models }
}

/// Status, body, the kind, and words that must be said.
const SPELLINGS: &[(u16, &str, TroubleKind, &str)] = &[
    (
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-abcdefgh12345678","code":"invalid_api_key"}}"#,
        Unwelcome,
        "wants a token",
    ),
    (403, "", Unwelcome, "wants a token"),
    (
        400,
        r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]"#,
        Unwelcome,
        "token",
    ),
    (404, r#"{"error":"model 'qwen3:8b' not found"}"#, NoModel, "ollama pull qwen3:8b"),
    (404, r#"{"error":"model \"qwen3:8b\" not found, try pulling it first"}"#, NoModel, "ollama pull qwen3:8b"),
    (
        404,
        r#"{"object":"error","message":"The model `qwen3:8b` does not exist.","type":"NotFoundError","code":404}"#,
        NoModel,
        "does not have the model \"qwen3:8b\"",
    ),
    (
        404,
        r#"{"error":{"message":"The model `x` does not exist or you do not have access to it.","code":"model_not_found"}}"#,
        NoModel,
        "hoose another",
    ),
    (400, r#"{"error":{"message":"qwen3:8b is not a valid model ID","code":400}}"#, NoModel, "hoose another"),
    (400, r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}"#, NoModel, "hoose another"),
    (
        400,
        r#"{"object":"error","message":"Invalid model: qwen3:8b","type":"invalid_model","code":"1500"}"#,
        NoModel,
        "hoose another",
    ),
    (
        400,
        r#"{"error":{"message":"No models loaded. Please load a model in the developer page or use the `lms load` command."}}"#,
        NoModel,
        "lms load qwen3:8b",
    ),
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 4096 tokens.","code":"context_length_exceeded"}}"#,
        TooLong,
        "/compact",
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
        TooLong,
        "/compact",
    ),
    (
        400,
        r#"{"object":"error","message":"This model's maximum context length is 2048 tokens. However, you requested 3000","code":400}"#,
        TooLong,
        "2048",
    ),
    (500, r#"{"error":"the input length exceeds the context length"}"#, TooLong, "/compact"),
    (413, "", TooLong, "/compact"),
    (400, r#"{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}"#, NoTools, "cannot call tools"),
    (
        400,
        r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}"#,
        NoTools,
        "--enable-auto-tool-choice",
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
        NoTools,
        "--jinja",
    ),
    (
        404,
        r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#,
        NoTools,
        "cannot call tools",
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"}}"#,
        NoImages,
        "no pictures",
    ),
    (400, r#"{"object":"error","message":"m is not a multimodal model","code":400}"#, NoImages, "no pictures"),
    (404, r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#, NoImages, "no pictures"),
    (500, r#"{"error":"this model is missing data required for image input"}"#, NoImages, "no pictures"),
    (429, r#"{"error":{"message":"Rate limit reached for requests"}}"#, Busy, "later"),
    (503, r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#, Busy, "later"),
    (
        429,
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        Refused,
        "topped up",
    ),
    (503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#, NotYet, "still loading"),
    (500, r#"{"error":"llama runner process has terminated: exit status 2"}"#, NotYet, "terminated"),
    (
        500,
        r#"{"error":"llama runner process has terminated: error loading model: unknown model architecture: 'gemma9'"}"#,
        Refused,
        "Get the model again with `ollama pull qwen3:8b`, bring the server up to date, or choose another model. It says: llama runner",
    ),
    (500, r#"{"error":"unable to load model: /models/blobs/sha256-1"}"#, Refused, "cannot load"),
    (400, r#"{"error":{"message":"Failed to load model \"x\"."}}"#, Refused, "It says: Failed to load model"),
    (500, r#"{"error":"model requires more system memory (9.1 GiB) than is available (3.2 GiB)"}"#, Refused, "smaller"),
    (500, r#"{"error":"error parsing tool call: raw='{\"x'"}"#, Garbage, "could not read"),
    (
        502,
        "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502</h1></center><hr>nginx</body></html>",
        NotYet,
        "It says: 502 Bad Gateway.",
    ),
    (504, "", NotYet, "HTTP 504"),
    (404, "404 page not found", Refused, "base address"),
    (405, "", Refused, "base address"),
    (
        422,
        r#"{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error"}]}"#,
        Refused,
        "field required",
    ),
    (
        400,
        r#"{"error":{"message":"temperature must be at most 2"}}"#,
        Refused,
        "It says: temperature must be at most 2.",
    ),
    (418, "", Refused, "does not say why"),
];

#[test]
fn every_spelling_of_a_refusal_has_its_kind_and_words() {
    for (status, body, kind, words) in SPELLINGS {
        let trouble = refused(&about("http://127.0.0.1:11434", &[]), *status, None, body.as_bytes());
        assert_eq!(trouble.kind, *kind, "{status} {body}: {}", trouble.message);
        assert!(trouble.message.contains(words), "{status} {body}: {}", trouble.message);
        assert!(!trouble.message.contains(['<', '>']) && !trouble.message.contains("sk-abc"), "{}", trouble.message);
        assert_eq!(trouble.retry_after_ms, None);
    }
}

#[test]
fn a_model_that_is_not_there_is_told_with_those_that_are() {
    let models: Vec<String> = ["llama3.2:3b", "qwen3:14b", "qwen2.5:7b", "phi4"].map(str::to_owned).to_vec();
    let trouble =
        refused(&about("http://127.0.0.1:11434/v1", &models), 404, None, br#"{"error":"model 'qwen3:8b' not found"}"#);
    let expected = "The server at http://127.0.0.1:11434/v1 does not have the model \"qwen3:8b\". Get it with `ollama pull qwen3:8b`, or \
                    choose another. It has: qwen3:14b, qwen2.5:7b, llama3.2:3b, phi4.";
    assert_eq!(trouble.message, expected);
    let many: Vec<String> = (0..300).map(|number| format!("model-{number}")).collect();
    let trouble = refused(&about("http://h", &many), 404, None, br#"{"error":"model 'qwen3:8b' not found"}"#);
    assert!(trouble.message.ends_with(" and 292 more.") && !trouble.message.contains("ollama"), "{}", trouble.message);
    let odd = About { model: "x; rm -rf ~", ..about("http://127.0.0.1:11434", &[]) };
    assert!(!refused(&odd, 404, None, br#"{"error":"model 'x' not found"}"#).message.contains("pull"));
}

#[test]
fn a_token_is_asked_for_or_another_and_never_shown() {
    let with = About { had_token: true, ..about("https://me:secretpass@h/v1?key=k9", &[]) };
    let trouble = refused(&with, 401, None, b"Bearer abcdef123456 is wrong");
    assert_eq!(trouble.kind, Unwelcome);
    assert!(
        trouble.message.starts_with("The server at https://h/v1 does not accept the token."),
        "{}",
        trouble.message
    );
    assert!(
        !["abcdef", "secretpass", "k9"].iter().any(|secret| trouble.message.contains(secret)),
        "{}",
        trouble.message
    );
}

#[test]
fn how_long_to_wait_is_heard_in_seconds_only() {
    let after = |value| refused(&about("http://h", &[]), 429, Some(value), b"").retry_after_ms;
    assert_eq!(after("7"), Some(7000));
    assert_eq!(after(" 0 "), Some(0));
    assert_eq!(after("99999999999999999999"), None);
    assert_eq!(after("18446744073709551615"), Some(u64::MAX));
    assert_eq!(after("Wed, 21 Oct 2026 07:28:00 GMT"), None);
    assert_eq!(after("-1"), None);
}

#[test]
fn a_servers_words_are_short_and_plain() {
    let body = format!("\u{1b}[31m{}\u{7}\r\n{}", "spam ".repeat(100_000), "x".repeat(3_000_000));
    let trouble = refused(&about("http://h", &[]), 400, None, body.as_bytes());
    assert!(
        trouble.message.chars().count() < 700 && !trouble.message.contains(char::is_control),
        "{}",
        trouble.message
    );
    let trouble = refused(&about("http://h", &[]), 400, None, b"\xff\xfe{\0");
    assert!(!trouble.message.contains(char::is_control));
}

#[test]
fn where_nobody_answers_it_is_told_what_to_start() {
    for (base_url, reason, words) in [
        (
            "http://127.0.0.1:11434",
            "connection refused",
            "No server answers at http://127.0.0.1:11434 (connection refused). Is it running? Start it with `ollama serve`",
        ),
        ("http://localhost:1234/v1", "connection refused", "lms server start"),
        ("http://localhost:8080", "connection refused", "llama-server"),
        ("http://localhost:8000", "timed out", "vllm serve"),
        ("https://h", "dns error: failed to lookup address", "check the address"),
        ("https://h", "invalid peer certificate: UnknownIssuer", "certificate"),
        ("https://h", "", "is the address right?"),
    ] {
        let trouble = unreachable(&about(base_url, &[]), reason);
        assert_eq!(trouble.kind, NoServer);
        assert!(trouble.message.contains(words), "{}", trouble.message);
    }
}
