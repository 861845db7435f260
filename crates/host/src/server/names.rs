//! Which `Host` and which `Origin` are ours. Compares whole names, never prefixes or suffixes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Whose page a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OriginKind {
    /// Our own page.
    Own,
    /// One that the configuration allows.
    Allowed,
    /// Anybody else's, `null` included.
    Foreign,
}

/// The names under which this host is reached, and the origins that may speak to it.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    /// The names of a host that listens at `bound`.
    pub(crate) fn new(bound: SocketAddr, allowed_hosts: &[String], allowed_origins: &[String]) -> Self {
        let mut hosts = Vec::new();
        let local = ["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
        let own = (!bound.ip().is_unspecified()).then(|| bracketed(bound.ip()));
        for name in local.into_iter().chain(own) {
            add_name(&mut hosts, &name, bound.port());
        }
        for name in allowed_hosts.iter().map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()) {
            add_name(&mut hosts, &name, bound.port());
            // A name without a port also stands for the default one: a proxy in front of us.
            hosts.push(name);
        }
        let origins = allowed_origins.iter().filter_map(|origin| allowed_origin(origin)).collect();
        Self { hosts, origins }
    }

    /// Whether a `Host` header names us.
    pub(crate) fn is_our_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    }

    /// Whose page an `Origin` header names, in a request to `host`. Our own page is the one at that very address: cookies
    /// know no ports, so a page at another port of the same name must not pass for ours.
    pub(crate) fn origin_kind(&self, origin: &str, host: &str) -> OriginKind {
        let named = origin.strip_prefix("http://").filter(|named| self.is_our_host(named));
        if named.is_some_and(|named| named.eq_ignore_ascii_case(host)) {
            OriginKind::Own
        } else if named.is_some() || self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) {
            OriginKind::Allowed
        } else {
            OriginKind::Foreign
        }
    }
}

/// The address under which a browser on this machine reaches a host that listens at `bound`.
pub(crate) fn url(bound: SocketAddr) -> String {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}:{}", bracketed(ip), bound.port())
}

fn add_name(hosts: &mut Vec<String>, name: &str, port: u16) {
    hosts.push(format!("{name}:{port}"));
    if port == 80 {
        hosts.push(name.to_owned());
    }
}

fn bracketed(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// An origin of the configuration; `null` and wildcards would allow everybody and are never taken.
fn allowed_origin(origin: &str) -> Option<String> {
    let origin = origin.trim().trim_end_matches('/').to_ascii_lowercase();
    let taken = origin.contains("://") && !origin.contains('*');
    if !taken {
        tracing::warn!(%origin, "allowed_origins: an entry must be scheme://host, without wildcards; it is left out");
    }
    taken.then_some(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(bound: &str) -> Names {
        let hosts = ["Box.Local".to_owned(), "other:9000".to_owned()];
        let origins = ["chrome-extension://abc/", "null", "*", "https://*.example"].map(str::to_owned);
        Names::new(bound.parse().unwrap(), &hosts, &origins)
    }

    #[test]
    fn our_hosts_are_the_local_names_the_bound_one_and_the_allowed_ones() {
        let names = names("192.168.1.5:7171");
        for host in
            ["127.0.0.1:7171", "LOCALHOST:7171", "[::1]:7171", "192.168.1.5:7171", "box.local:7171", "box.local"]
        {
            assert!(names.is_our_host(host), "{host}");
        }
        assert!(names.is_our_host("other:9000"));
        let foreign =
            ["", "127.0.0.1", "127.0.0.1:71710", "localhost:80", "evil.example:7171", "127.0.0.1:7171.evil.example"];
        for host in foreign {
            assert!(!names.is_our_host(host), "{host}");
        }
    }

    #[test]
    fn an_unspecified_address_is_no_name() {
        assert!(!names("0.0.0.0:7171").is_our_host("0.0.0.0:7171"));
        assert!(!names("[::]:7171").is_our_host("[::]:7171"));
        assert_eq!(url("0.0.0.0:7171".parse().unwrap()), "http://127.0.0.1:7171");
        assert_eq!(url("[::]:7171".parse().unwrap()), "http://[::1]:7171");
    }

    #[test]
    fn origins_are_own_allowed_or_foreign_and_null_is_always_foreign() {
        let names = names("127.0.0.1:7171");
        let kinds = [
            "http://localhost:7171",
            "chrome-extension://abc",
            "null",
            "*",
            "",
            "https://localhost:7171",
            "http://localhost:7172",
            "http://localhost:7171/",
            "https://x.example",
            "https://*.example",
            "http://evil.example",
            "http://127.0.0.1:7171",
            "http://box.local",
        ]
        .map(|origin| names.origin_kind(origin, "localhost:7171"));
        let mut expected = [OriginKind::Foreign; 13];
        expected[0] = OriginKind::Own;
        // Other names of ours are let in with the token, and are not our own page to the cookie.
        expected[1] = OriginKind::Allowed;
        expected[11] = OriginKind::Allowed;
        expected[12] = OriginKind::Allowed;
        assert_eq!(kinds, expected);
    }
}
