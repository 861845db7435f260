//! What has the shape of a secret in any text: the keys of well-known services, bearer tokens, private keys, words after
//! a telling name. Looks at characters only.

use std::ops::Range;

/// How keys of well-known services begin, and how many characters follow at least.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xoxa-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 16),
    ("npm_", 24),
    ("hf_", 20),
    ("pypi-", 24),
    ("eyJ", 40),
];
/// What a token follows in a header or an address.
const LEADS: &[&str] = &["bearer ", "basic ", "login?code=", "access_token=", "bearer."];
/// A token after one of these has so many characters at least.
const MIN_LED: usize = 8;
/// A word after a telling name has so many at least.
const MIN_NAMED: usize = 6;
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_NAME: &str = "PRIVATE KEY-----";
const KEY_ENDS: &str = "-----END ";
/// Names that tell, written without marks and in small letters; a longer name that ends so tells, too.
const TELLING: &[&str] = &[
    "apikey",
    "secret",
    "secrets",
    "secretkey",
    "token",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "authorization",
    "privatekey",
    "accesskey",
    "accesskeyid",
    "credential",
    "credentials",
    "cookie",
    "bearer",
];

/// Whether a field or a variable of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    TELLING.iter().any(|telling| plain.ends_with(telling))
}

/// Adds where secrets are, by their shape.
pub(super) fn find(text: &str, spans: &mut Vec<Range<usize>>) {
    keys(text, spans);
    led(text, spans);
    named(text, spans);
    blocks(text, spans);
    addresses(text, spans);
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
}

/// Where the run of a token's characters that begins here ends.
fn token_end(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !is_token(*byte)).unwrap_or(rest.len())
}

/// Whether a word may begin here: not within another, though a JSON escape such as `\n` before it is none.
fn begins_word(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    match before(1) {
        Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' => {
            matches!(byte, b'n' | b't' | b'r' | b'f' | b'b') && before(2) == Some(b'\\')
        }
        Some(_) | None => true,
    }
}

fn keys(text: &str, spans: &mut Vec<Range<usize>>) {
    for (prefix, least) in PREFIXES {
        for (at, _) in text.match_indices(prefix).filter(|(at, _)| begins_word(text, *at)) {
            let end = token_end(text, at);
            let tail = text.get(at + prefix.len()..end).unwrap_or_default();
            // A long word without a digit is more likely a name.
            if tail.len() >= *least && tail.bytes().any(|byte| byte.is_ascii_digit()) {
                spans.push(at..end);
            }
        }
    }
}

fn led(text: &str, spans: &mut Vec<Range<usize>>) {
    let small = text.to_ascii_lowercase();
    for lead in LEADS {
        for (at, _) in small.match_indices(lead).filter(|(at, _)| begins_word(text, *at)) {
            let from = at + lead.len();
            let end = token_end(text, from);
            let token = text.get(from..end).unwrap_or_default();
            // "Bearer of bad news" is none; a token has a digit or is long.
            if token.len() >= MIN_LED && (token.len() >= 20 || token.bytes().any(|byte| byte.is_ascii_digit())) {
                spans.push(from..end);
            }
        }
    }
}

/// `NAME=word`, `name: word`, `--name word` with a telling name.
fn named(text: &str, spans: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(['=', ':']) {
        let head = bytes.get(..at).unwrap_or_default();
        let trimmed =
            head.len() - head.iter().rev().take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b' ')).count();
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let start = trimmed - head.get(..trimmed).unwrap_or_default().iter().rev().take_while(is_name).count();
        if !text.get(start..trimmed).is_some_and(is_secret_name) {
            continue;
        }
        let rest = bytes.get(at + 1..).unwrap_or_default();
        let from = at + 1 + rest.iter().take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b' ')).count();
        let rest = bytes.get(from..).unwrap_or_default();
        let ends =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b',' | b';' | b'}' | b'&');
        let end = from + rest.iter().position(ends).unwrap_or(rest.len());
        let word = text.get(from..end).unwrap_or_default();
        if word.len() >= MIN_NAMED && !word.starts_with(['{', '[']) {
            spans.push(from..end);
        }
    }
}

fn blocks(text: &str, spans: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices(KEY_BEGINS) {
        let rest = text.get(at + KEY_BEGINS.len()..).unwrap_or_default();
        let Some(kind) = rest.find("-----").and_then(|end| rest.get(..end + 5)) else { continue };
        if !kind.ends_with(KEY_NAME) {
            continue;
        }
        let end = rest.find(KEY_ENDS).and_then(|from| {
            let tail = rest.get(from + KEY_ENDS.len()..)?;
            Some(from + KEY_ENDS.len() + tail.find("-----").map_or(tail.len(), |end| end + 5))
        });
        spans.push(at..end.map_or(text.len(), |end| at + KEY_BEGINS.len() + end));
    }
}

/// `scheme://user:password@host`.
fn addresses(text: &str, spans: &mut Vec<Range<usize>>) {
    for (at, mark) in text.match_indices("://") {
        let from = at + mark.len();
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        let stops =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'' | b'<' | b'>' | b'?' | b'#');
        let end = rest.iter().position(stops).unwrap_or(rest.len());
        let authority = text.get(from..from + end).unwrap_or_default();
        let Some(user) = authority.rfind('@') else { continue };
        if let Some(colon) = authority.get(..user).and_then(|user| user.find(':')) {
            spans.push(from + colon + 1..from + user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Secrets;

    #[test]
    fn keys_of_well_known_shape_are_taken_out_wherever_they_stand() {
        let jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV";
        let cases = [
            ("use sk-ant-api03-AbCdEf0123456789 now", "use [removed] now".to_owned()),
            (r#"{"chunk":"line\nghp_0123456789abcdefABCDEF0123"}"#, r#"{"chunk":"line\n[removed]"}"#.to_owned()),
            ("AKIAIOSFODNN7EXAMPLE", "[removed]".to_owned()),
            (jwt, "[removed]".to_owned()),
            ("Authorization: Bearer abcdef0123456789", "Authorization: [removed] [removed]".to_owned()),
            ("curl -H 'bearer abcdef0123456789'", "curl -H 'bearer [removed]'".to_owned()),
            ("OPENAI_API_KEY=abcdef rest", "OPENAI_API_KEY=[removed] rest".to_owned()),
            (r#"text: {\"password\": \"hunter22\"}"#, r#"text: {\"password\": \"[removed]\"}"#.to_owned()),
            (
                "http://me:pass@host/x and http://host:80/@y",
                "http://me:[removed]@host/x and http://host:80/@y".to_owned(),
            ),
            ("http://127.0.0.1:7171/login?code=abc123def456", "http://127.0.0.1:7171/login?code=[removed]".to_owned()),
            ("a -----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY----- b", "a [removed] b".to_owned()),
            ("-----BEGIN PRIVATE KEY-----\\nMIIEcut", "[removed]".to_owned()),
        ];
        for (text, wanted) in cases {
            assert_eq!(Secrets::default().remove(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let plain = [
            "task-management-for-2024-projects and risk-assessment1234567890",
            "a bearer of bad news; basic knowledge",
            "sk-learn-is-a-library-with-a-long-name",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "token: 12, tokens: 123456, maxTokens=4096000",
            r#"{"sessionId":"sess_0123456789abcdef0123","method":"session/prompt"}"#,
            "é://ü:ö",
        ];
        for text in plain {
            assert_eq!(Secrets::default().remove(text), text);
        }
    }
}
