//! How large a value is, without following it by calls: a deep one costs no stack. Changes nothing.

use serde_json::Value;

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// About its bytes as JSON.
    pub(crate) bytes: usize,
    /// Values in it, itself and names included.
    pub(crate) values: usize,
    /// Values within values; 1 for a plain one.
    pub(crate) depth: usize,
}

/// Measures a value.
pub(crate) fn measure(value: &Value) -> Size {
    let mut size = Size::default();
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        size.values += 1;
        size.depth = size.depth.max(depth);
        size.bytes += match value {
            Value::Null | Value::Bool(_) => 5,
            Value::Number(_) => 8,
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (item, depth + 1)));
                items.len() + 2
            }
            Value::Object(fields) => {
                open.extend(fields.values().map(|field| (field, depth + 1)));
                size.values += fields.len();
                fields.keys().map(|name| name.len() + 4).sum::<usize>() + 2
            }
        };
    }
    size
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_measured_by_what_is_in_it() {
        assert_eq!(measure(&json!("four")), Size { bytes: 6, values: 1, depth: 1 });
        assert_eq!(measure(&json!({"a": [1, {"b": null}]})).depth, 4);
        let large = json!(["x".repeat(1000), {"y": "z".repeat(1000)}]);
        let written = large.to_string().len();
        assert!(measure(&large).bytes.abs_diff(written) < 10, "{written}");
    }
}
