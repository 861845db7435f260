//! What a message calls itself, in whatever vocabulary, for people who look at many of them. Decides nothing.

use super::json::{Part, parts};

/// Characters of a name; a peer may send a longer one.
const MAX_CHARS: usize = 80;

/// The method or type of a message, `result` or `error` for an answer; empty where it has none of these.
pub(super) fn of(text: &str) -> String {
    let (mut depth, mut key, mut top, mut answer, mut below) = (0_usize, "", None, None, None);
    for part in parts(text) {
        match part {
            Part::Open => depth += 1,
            Part::Close => depth = depth.saturating_sub(1),
            Part::Key(span) => {
                key = text.get(span).unwrap_or_default();
                if depth == 1 && matches!(key, "result" | "error") {
                    answer = answer.or(Some(key));
                }
            }
            Part::Text(span) => {
                let value = text.get(span).unwrap_or_default();
                match key {
                    "method" | "type" if depth == 1 && top.is_none() => top = Some(value),
                    // The one vocabulary that has a single method for all that streams.
                    "sessionUpdate" if below.is_none() => below = Some(value),
                    _ => {}
                }
                key = "";
            }
        }
    }
    let words = [top.or(answer), below.filter(|_| top.is_some())];
    let name = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
    name.chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_named_by_its_method_its_type_or_as_an_answer() {
        let cases = [
            (r#"{"type":"response-chunk","chunk":"type"}"#, "response-chunk"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"type":"no"}}"#, "initialize"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"type":"no"}}"#, "result"),
            (r#"{"error":{"code":1},"id":1}"#, "error"),
            (r#"{"method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}"#, "session/update plan"),
            (r#"{"type":"cut o"#, "cut o"),
            ("DEBUG loading", ""),
            (r#"["type","x"]"#, ""),
        ];
        for (text, name) in cases {
            assert_eq!(of(text), name, "{text}");
        }
    }
}
