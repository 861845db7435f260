//! Where an engine is. Never holds a user name, and never shows a query.

use hyper::Uri;

/// An engine's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(super) scheme: Scheme,
    pub(super) host: String,
    pub(super) port: u16,
    /// What stands before every path; without a slash at its end.
    base: String,
}

/// How it is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Plain,
    Tls,
}

impl Address {
    /// Reads what the configuration says; the error is for a person and repeats nothing of it.
    pub(crate) fn read(url: &str) -> Result<Self, String> {
        let wrong = || "its `url` is no address such as http://127.0.0.1:9099 or https://host/path".to_owned();
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Plain,
            Some("https") => Scheme::Tls,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(wrong)?;
        if uri.query().is_some() || authority.host().is_empty() {
            return Err(wrong());
        }
        let port = uri.port_u16().unwrap_or(match scheme {
            Scheme::Plain => 80,
            Scheme::Tls => 443,
        });
        let base = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { scheme, host: authority.host().to_ascii_lowercase(), port, base })
    }

    /// Scheme, host and port: what a token is bound to.
    pub(crate) fn origin(&self) -> String {
        let scheme = match self.scheme {
            Scheme::Plain => "http",
            Scheme::Tls => "https",
        };
        format!("{scheme}://{}:{}", self.host, self.port)
    }

    /// What a request names as its host.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The host without the brackets of an address of version 6.
    pub(crate) fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The whole path of a request.
    pub(super) fn path(&self, below: &str) -> String {
        format!("{}{below}", self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_its_origin_and_its_paths() {
        for (url, origin, path) in [
            ("http://127.0.0.1:9099", "http://127.0.0.1:9099", "/v1/x"),
            ("http://LOCALHOST/", "http://localhost:80", "/v1/x"),
            ("https://host.example/engine/", "https://host.example:443", "/engine/v1/x"),
            ("http://[::1]:7171", "http://[::1]:7171", "/v1/x"),
        ] {
            let address = Address::read(url).unwrap();
            assert_eq!((address.origin().as_str(), address.path("/v1/x").as_str()), (origin, path));
        }
        assert_eq!(Address::read("http://[::1]:1").unwrap().bare_host(), "::1");
        for url in ["", "host", "ftp://h", "http://u:p@h", "http://h?token=x", "http://"] {
            let error = Address::read(url).unwrap_err();
            assert!(!error.contains("token=x"), "{error}");
        }
    }
}
