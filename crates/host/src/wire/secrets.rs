//! What looks like a secret, taken out of a message before it is stored: values that the host knows, fields by their
//! name, and what has the shape of a key. Never says what it took.
//!
//! A secret that is spread over several messages, or that looks like nothing, is not found: a record is private for
//! that reason, too.

mod shapes;

use std::ops::Range;

use super::json::{Part, parts};

/// What stands where a secret was.
pub const REMOVED: &str = "[removed]";
/// Values that are known at most; an agent has few.
const MAX_VALUES: usize = 1024;
/// A value of an environment that is shorter is a word, not a key.
const MIN_VALUE_BYTES: usize = 8;
/// The same for a variable whose name says that it is a secret.
const MIN_SECRET_BYTES: usize = 4;

/// The values that are known to be secret.
#[derive(Default)]
pub struct Secrets {
    /// Each as it is and as it stands within JSON, the longest first.
    values: Vec<String>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("values", &self.values.len()).finish()
    }
}

/// The values of an environment that are to be hidden: all but the short ones, unless their name says that they matter.
pub fn of_environment<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let matters = |(name, value): &(&str, &str)| {
        value.len() >= if shapes::is_secret_name(name) { MIN_SECRET_BYTES } else { MIN_VALUE_BYTES }
    };
    variables.into_iter().filter(matters).map(|(_, value)| value.to_owned()).collect()
}

impl Secrets {
    /// Adds values, each to be taken out wherever it stands.
    pub fn know(&mut self, values: impl IntoIterator<Item = String>) {
        for value in values {
            // A string always has a JSON text, which has quotes at both ends.
            let json = serde_json::to_string(&value).unwrap_or_default();
            let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned();
            for form in [value, inner] {
                if form.len() >= MIN_SECRET_BYTES && self.values.len() < MAX_VALUES && !self.values.contains(&form) {
                    self.values.push(form);
                }
            }
        }
        self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    }

    /// The text without what looks like a secret.
    #[must_use]
    pub fn remove(&self, text: &str) -> String {
        let mut spans: Vec<Range<usize>> = Vec::new();
        for value in &self.values {
            spans.extend(text.match_indices(value.as_str()).map(|(at, found)| at..at + found.len()));
        }
        fields(text, &mut spans);
        shapes::find(text, &mut spans);
        splice(text, spans)
    }
}

/// Values of JSON fields whose name says that they are secret, and of `{"name": …, "value": …}` pairs of that sort.
fn fields(text: &str, spans: &mut Vec<Range<usize>>) {
    #[derive(Default)]
    struct Object {
        is_secret: bool,
        value: Option<Range<usize>>,
    }
    let (mut open, mut key): (Vec<Object>, &str) = (Vec::new(), "");
    let settle = |object: Object, spans: &mut Vec<Range<usize>>| {
        spans.extend(object.value.filter(|_| object.is_secret));
    };
    for part in parts(text) {
        match part {
            Part::Open => open.push(Object::default()),
            Part::Close => {
                if let Some(object) = open.pop() {
                    settle(object, spans);
                }
            }
            Part::Key(span) => key = text.get(span).unwrap_or_default(),
            Part::Text(span) => {
                if shapes::is_secret_name(key) {
                    // All strings of a list under such a key, up to the next key.
                    spans.push(span);
                    continue;
                }
                if let Some(object) = open.last_mut() {
                    match key {
                        "name" | "key" | "variable" => {
                            object.is_secret |= text.get(span).is_some_and(shapes::is_secret_name);
                        }
                        "value" => object.value = Some(span),
                        _ => {}
                    }
                }
            }
        }
    }
    open.into_iter().for_each(|object| settle(object, spans));
}

fn splice(text: &str, mut spans: Vec<Range<usize>>) -> String {
    spans.retain(|span| !span.is_empty());
    if spans.is_empty() {
        return text.to_owned();
    }
    spans.sort_by_key(|span| span.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for span in spans {
        if span.start >= at {
            out.push_str(text.get(at..span.start).unwrap_or_default());
            out.push_str(REMOVED);
        }
        // One that overlaps the last only makes it longer.
        at = at.max(span.end);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knowing(values: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.know(values.iter().map(|value| (*value).to_owned()));
        secrets
    }

    #[test]
    fn a_known_value_is_taken_out_as_it_is_and_as_it_stands_in_json() {
        let secrets = knowing(&["pa\"ss\\word", "0123456789abcdef", "0123456789abcdefXYZ", "abc"]);
        let text = r#"{"a":"x pa\"ss\\word y","b":"0123456789abcdefXYZ","c":"abc"} raw pa"ss\word"#;
        assert_eq!(secrets.remove(text), r#"{"a":"x [removed] y","b":"[removed]","c":"abc"} raw [removed]"#);
        assert_eq!(format!("{secrets:?}"), "Secrets { values: 4 }");
    }

    #[test]
    fn fields_are_taken_out_by_their_name_and_counts_are_not() {
        let cases = [
            (
                r#"{"apiKey":"k1","x":{"Authorization":"v"}}"#,
                r#"{"apiKey":"[removed]","x":{"Authorization":"[removed]"}}"#,
            ),
            (
                r#"{"password":"","token":"t","tokens":"12","inputTokens":3}"#,
                r#"{"password":"","token":"[removed]","tokens":"12","inputTokens":3}"#,
            ),
            (
                r#"[{"name":"OPENAI_API_KEY","value":"k"},{"value":"k","name":"X-Auth-Token"}]"#,
                r#"[{"name":"OPENAI_API_KEY","value":"[removed]"},{"value":"[removed]","name":"X-Auth-Token"}]"#,
            ),
            (r#"[{"name":"LOG","value":"info"}]"#, r#"[{"name":"LOG","value":"info"}]"#),
            (r#"{"secrets":["a","b"],"next":"c"}"#, r#"{"secrets":["[removed]","[removed]"],"next":"c"}"#),
            (r#"{"client_secret":"cut o"#, r#"{"client_secret":"[removed]"#),
            (r#"{"name":"DB_PASSWORD","value":"cut"#, r#"{"name":"DB_PASSWORD","value":"[removed]"#),
            (
                r#"{"chunk":"the password is not here","type":"token"}"#,
                r#"{"chunk":"the password is not here","type":"token"}"#,
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(Secrets::default().remove(text), wanted);
        }
    }

    #[test]
    fn an_environment_gives_its_long_values_and_the_short_ones_that_matter() {
        let variables = [("LOG", "info"), ("DB_PASSWORD", "hunter2"), ("API_KEY", "x"), ("MODEL_PATH", "/models/one")];
        assert_eq!(of_environment(variables), ["hunter2", "/models/one"]);
    }

    #[test]
    fn spans_that_overlap_become_one() {
        let secrets = knowing(&["sk-abcdefgh12345678ijkl", "12345678ijklmnop"]);
        assert_eq!(secrets.remove("a sk-abcdefgh12345678ijklmnop b"), "a [removed] b");
    }
}
