//! The token taken out of what the far end says. Knows no request.

use bytes::Bytes;

use crate::server::Secret;

/// A shorter token is a word that may well stand in an answer, and is not looked for there.
const MIN_HUSHED_BYTES: usize = 8;
/// What stands where the far end repeats the token.
const REMOVED: &str = "[removed]";

/// Takes the token out of what a far end says: one that repeats it, as a careless error page does, would have it shown to
/// views and kept in the log.
#[derive(Clone, Default)]
pub(crate) struct Hush {
    /// The token as it is, and as it stands in JSON.
    forms: Vec<String>,
}

impl Hush {
    pub(super) fn new(token: Option<&Secret>) -> Self {
        let token = token.map(Secret::reveal).filter(|token| token.len() >= MIN_HUSHED_BYTES).unwrap_or_default();
        // A string always has a JSON text, which has quotes at both ends.
        let json = serde_json::to_string(token).unwrap_or_default();
        let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
        let mut forms: Vec<String> =
            [inner, token].into_iter().filter(|form| !form.is_empty()).map(str::to_owned).collect();
        forms.dedup();
        Self { forms }
    }

    /// The same without the token; none if it is not in it.
    pub(crate) fn text(&self, text: &str) -> Option<String> {
        let found = self.forms.iter().any(|form| text.contains(form.as_str()));
        found.then(|| self.forms.iter().fold(text.to_owned(), |text, form| text.replace(form.as_str(), REMOVED)))
    }

    /// The same for a body. What is no UTF-8 is taken as it is where the token is not in it.
    pub(crate) fn body(&self, body: Bytes) -> Bytes {
        if self.forms.is_empty() {
            return body;
        }
        match self.text(&String::from_utf8_lossy(&body)) {
            Some(cleaned) => Bytes::from(cleaned),
            None => body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_taken_out_as_it_is_and_as_it_stands_in_json() {
        let hush = Hush::new(Some(&Secret::new("pa\"ss-word-1")));
        let said = r#"{"message":"bad token pa\"ss-word-1"} pa"ss-word-1"#;
        assert_eq!(hush.text(said).as_deref(), Some(r#"{"message":"bad token [removed]"} [removed]"#));
        assert_eq!(hush.text("nothing of it"), None);
        let bytes = Bytes::from_static(b"\xff");
        assert_eq!(hush.body(bytes.clone()), bytes);
        assert_eq!(Hush::new(Some(&Secret::new("short"))).text("short"), None);
        assert_eq!(Hush::new(None).text(""), None);
    }
}
