//! A server's base address, as people write it, and the paths below it. Never resolves a name.

/// Where a path such as `/v1/chat/completions` or `/api/chat` is, below a base address.
///
/// A base with or without `/v1` at its end means the same, and so does one with `/api` for Ollama's own paths. A base that ends in
/// another version (`/v4`), or has one within (`/v1beta/openai`), keeps it in place of `/v1`.
#[must_use]
pub fn address(base_url: &str, path: &str) -> String {
    let base = base_url.trim().trim_end_matches('/');
    if let Some(below) = path.strip_prefix("/v1/") {
        return match base.strip_suffix("/v1") {
            Some(root) => format!("{root}{path}"),
            None if has_version(base) => format!("{base}/{below}"),
            None => format!("{base}{path}"),
        };
    }
    let root = base.strip_suffix("/v1").unwrap_or(base);
    let root = if path.starts_with("/api/") { root.strip_suffix("/api").unwrap_or(root) } else { root };
    format!("{root}{path}")
}

/// The same from the origin on, for whoever is at the origin already.
#[must_use]
pub fn path_below(base_url: &str, path: &str) -> String {
    let whole = address(base_url, path);
    let below = whole.split_once("://").map_or(whole.as_str(), |(_, rest)| rest);
    format!("/{}", below.split_once('/').map_or("", |(_, path)| path))
}

/// Whether the address's own path has a version such as `v4` or `v1beta` in it.
fn has_version(base: &str) -> bool {
    let below = base.split_once("://").map_or(base, |(_, rest)| rest);
    below.split('/').skip(1).any(|part| {
        let digits = part.strip_prefix('v').unwrap_or_default();
        digits.starts_with(|first: char| first.is_ascii_digit())
            && digits.chars().all(|each| each.is_ascii_alphanumeric())
    })
}

/// The address as it may be shown: without a name and password before the host, and without what follows a `?` or `#`.
#[must_use]
pub fn shown_address(base_url: &str) -> String {
    let address = super::refusal::clean(base_url, 200);
    let address = address.split(['?', '#']).next().unwrap_or_default();
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => address.rsplit_once('@').map_or(address, |(_, host)| host).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_with_or_without_its_version_means_the_same() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"] {
            assert_eq!(address(base, "/v1/chat/completions"), "http://h:1/v1/chat/completions");
            assert_eq!(address(base, "/api/chat"), "http://h:1/api/chat");
        }
        assert_eq!(address("http://h/api", "/api/tags"), "http://h/api/tags");
        assert_eq!(address("https://h/api/v1", "/v1/models"), "https://h/api/v1/models");
        assert_eq!(address("https://h/paas/v4/", "/v1/models"), "https://h/paas/v4/models");
        assert_eq!(address("https://h/v1beta/openai", "/v1/models"), "https://h/v1beta/openai/models");
        assert_eq!(address("https://v2.example/x", "/v1/models"), "https://v2.example/x/v1/models");
    }

    #[test]
    fn paths_stand_below_the_origin_with_the_version_that_the_address_has() {
        for (base_url, path, below) in [
            ("http://127.0.0.1:11434", "/api/chat", "/api/chat"),
            ("http://127.0.0.1:11434/v1/", "/api/chat", "/api/chat"),
            ("http://127.0.0.1:8080/v1", "/v1/models", "/v1/models"),
            ("http://127.0.0.1:8080/llm", "/v1/models", "/llm/v1/models"),
            ("https://h.example/paas/v4", "/v1/chat/completions", "/paas/v4/chat/completions"),
        ] {
            assert_eq!(path_below(base_url, path), below);
        }
    }

    #[test]
    fn what_is_secret_in_an_address_is_not_shown() {
        assert_eq!(shown_address("http://me:pass@h:1/v1?key=abc#x"), "http://h:1/v1");
        assert_eq!(shown_address("me:pass@h:1"), "h:1");
        assert_eq!(shown_address("http://h:1\u{1b}[2J/v1"), "http://h:1[2J/v1");
    }
}
