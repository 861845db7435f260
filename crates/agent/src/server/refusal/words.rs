//! A server's own words, out of whatever it wrapped them in, made fit to be shown.

use serde_json::Value;

use crate::server::arguments;

/// Bytes of a body that are looked at.
const MAX_BODY_BYTES: usize = 256 * 1024;
/// Characters of a server's words that are shown.
const MAX_WORDS: usize = 500;
/// What tokens are known to begin with.
const TOKENS: [&str; 14] = [
    "sk-",
    "sk_",
    "gsk_",
    "hf_",
    "xai-",
    "key-",
    "nvapi-",
    "pplx-",
    "AIza",
    "ghp_",
    "github_pat_",
    "r8_",
    "eyJ",
    "tgp_",
];

/// What a server complains of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::server) struct Complaint {
    /// Its words, fit to be shown; empty if it has none.
    pub(super) words: String,
    /// All that it says besides, codes and types, in small letters: to be searched and not to be shown.
    pub(super) all: String,
    /// The status that it names.
    pub(super) status: Option<u16>,
}

impl Complaint {
    /// Out of a body.
    pub(super) fn body(bytes: &[u8]) -> Self {
        let bytes = bytes.get(..MAX_BODY_BYTES).unwrap_or(bytes);
        let unmarked = bytes.trim_ascii().strip_prefix(b"data:").unwrap_or(bytes);
        match arguments::json(unmarked) {
            Some(value @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => Self::of(&value),
            _ => Self::text(bytes),
        }
    }

    /// Out of text that is no JSON.
    pub(in crate::server) fn text(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes.get(..MAX_BODY_BYTES).unwrap_or(bytes));
        let words = clean(&without_tokens(&plain(&text)), MAX_WORDS);
        Self { all: words.to_lowercase(), words, status: None }
    }

    /// Out of JSON: `{"error": {"message": …}}` and all else that stands for it.
    pub(in crate::server) fn of(value: &Value) -> Self {
        let value = value.as_array().and_then(|values| values.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let words = words(error).or_else(|| words(value)).unwrap_or_default();
        let mut all = words.clone();
        for part in [value, error] {
            for name in ["code", "type", "status", "param", "metadata"] {
                if let Some(part) = part.get(name).filter(|part| !part.is_null()) {
                    all.push_str(&format!(" {name}={part}"));
                }
            }
        }
        let status = [error, value].into_iter().find_map(|part| {
            let code = part.get("code").or_else(|| part.get("status_code")).or_else(|| part.get("status"))?;
            code.as_u64().or_else(|| code.as_str()?.parse().ok())
        });
        Self {
            words: clean(&without_tokens(&plain(&words)), MAX_WORDS),
            all: clean(&all, 4 * MAX_WORDS).to_lowercase(),
            status: status.and_then(|status| u16::try_from(status).ok()).filter(|status| (400..600).contains(status)),
        }
    }
}

/// The words, wherever they stand.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(values) => {
            let all = values.iter().take(4).filter_map(words).collect::<Vec<_>>().join("; ");
            Some(all).filter(|all| !all.is_empty())
        }
        Value::Object(map) => {
            // What a gateway passes on says more than what it says itself.
            let raw = map.get("metadata").and_then(|metadata| metadata.get("raw")).and_then(words);
            let own = ["message", "msg", "detail", "error", "errors", "description", "title", "reason"];
            let own = own.into_iter().find_map(|name| map.get(name).and_then(words));
            match (own, raw) {
                (Some(own), Some(raw)) => Some(format!("{own} ({raw})")),
                (own, raw) => own.or(raw),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Text without markup: of a page its title, if it has one.
pub(in crate::server) fn plain(text: &str) -> String {
    let small = text.to_ascii_lowercase();
    if !["<html", "<!doctype", "<body", "<head", "<title"].iter().any(|tag| small.contains(tag)) {
        return text.to_owned();
    }
    let title = small.find("<title").and_then(|from| {
        let begin = from + small.get(from..)?.find('>')? + 1;
        let end = begin + small.get(begin..)?.find("</title")?;
        text.get(begin..end)
    });
    if let Some(title) = title.filter(|title| !title.trim().is_empty()) {
        return unescaped(&without_tags(title));
    }
    unescaped(&without_tags(text))
}

fn without_tags(text: &str) -> String {
    let (mut out, mut within) = (String::new(), false);
    for each in text.chars() {
        match each {
            '<' => within = true,
            '>' if within => {
                within = false;
                out.push(' ');
            }
            _ if within => {}
            _ => out.push(each),
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let names = [("&nbsp;", " "), ("&lt;", ""), ("&gt;", ""), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    names.iter().fold(text.to_owned(), |text, (name, each)| text.replace(name, each))
}

/// One line without control characters, of at most so many characters.
pub(in crate::server) fn clean(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (count, word) in text.split(char::is_whitespace).filter(|word| !word.is_empty()).enumerate() {
        if count > 0 {
            out.push(' ');
        }
        out.extend(word.chars().filter(|each| !each.is_control() && !is_hidden(*each)));
        if out.len() > most.saturating_mul(4) {
            break;
        }
    }
    let out = out.trim();
    match out.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", out.get(..cut).unwrap_or_default().trim_end()),
        None => out.to_owned(),
    }
}

/// Characters that change how others are shown.
fn is_hidden(each: char) -> bool {
    matches!(each, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The same without anything that looks like a token: servers repeat what they were sent.
pub(super) fn without_tokens(text: &str) -> String {
    let is_part =
        |each: char| each.is_ascii_alphanumeric() || matches!(each, '-' | '_' | '.' | '*' | '+' | '/' | '=' | '~');
    let (mut out, mut word, mut before) = (String::with_capacity(text.len()), String::new(), String::new());
    for each in text.chars().chain(['\n']) {
        if is_part(each) {
            word.push(each);
            continue;
        }
        let announced = ["bearer", "token", "key", "api_key", "apikey", "authorization"].contains(&before.as_str());
        let is_token = TOKENS.iter().any(|begin| word.starts_with(begin) && word.len() >= begin.len() + 6)
            || (before == "bearer" && word.len() >= 6)
            || (announced && word.len() >= 12 && word.contains(|each: char| each.is_ascii_digit()))
            || word.contains("***")
            || (word.len() >= 32 && is_random(&word));
        out.push_str(if is_token { "[hidden]" } else { &word });
        if !word.is_empty() {
            before = std::mem::take(&mut word).to_ascii_lowercase();
        }
        out.push(each);
    }
    out.pop();
    out
}

/// Letters and digits without any sense, such as keys are made of.
fn is_random(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    digits >= 4 && word.chars().all(|each| each.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_servers_put_them() {
        for body in [
            r#"{"error":{"message":"no","type":"x","code":400}}"#,
            r#"{"error":"no"}"#,
            r#"{"object":"error","message":"no","code":400}"#,
            r#"{"detail":"no"}"#,
            r#"{"detail":[{"loc":["body"],"msg":"no"}]}"#,
            r#"[{"error":{"message":"no"}}]"#,
            r#"{"error":{"code":"x"},"message":"no"}"#,
            r#"data: {"error":{"message":"no"}}"#,
            r#""no""#,
            "no\n",
            "<html><head><title> no </title></head><body><h1>other</h1></body></html>",
            "<!DOCTYPE html><body><center>no</center></body>",
        ] {
            assert_eq!(Complaint::body(body.as_bytes()).words, "no", "{body}");
        }
        assert_eq!(Complaint::body(b""), Complaint::default());
        assert_eq!(Complaint::body(b"{}").words, "");
    }

    #[test]
    fn what_is_shown_is_one_short_line_without_tricks() {
        assert_eq!(clean(" a\u{1b}[31m \n\t b\u{202e}c\0 ", 50), "a[31m bc");
        assert_eq!(clean(&"é".repeat(600), 500).chars().count(), 501);
    }

    #[test]
    fn tokens_are_not_repeated() {
        for text in [
            "Incorrect API key provided: sk-proj-abcdef123456.",
            "bad Authorization: Bearer s3cretvalue",
            "key abcdefghijkl0123 is unknown",
            "key sk-abc***********xyz",
            "what is 0123456789abcdef0123456789abcdef",
        ] {
            let shown = without_tokens(text);
            assert!(shown.contains("[hidden]") && !shown.contains("abc") && !shown.contains("s3cret"), "{shown}");
        }
        let plain = "model meta-llama/Llama-3.1-8B-Instruct at http://127.0.0.1:11434/v1 is not there, token missing";
        assert_eq!(without_tokens(plain), plain);
    }
}
