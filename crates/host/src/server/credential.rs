//! Where a request carries its credential: header, subprotocol or cookie. Decides nothing about methods and origins.

use hyper::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, SEC_WEBSOCKET_PROTOCOL, UPGRADE};

use super::access::Access;

/// The subprotocol that we select.
pub(crate) const SUBPROTOCOL: &str = "switchboard.v1";
/// What stands before the token in the subprotocol that carries it.
const BEARER_SUBPROTOCOL: &str = "bearer.";

/// What a request proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    /// Its sender knows the token.
    Token,
    /// Its browser has logged in; whose page sends it is open.
    Cookie,
    /// It presents something that is not good.
    Wrong,
    /// It presents nothing.
    Absent,
}

impl Credential {
    /// Reads the credential of a request. What is presented on purpose counts before what a browser adds by itself.
    pub(crate) fn of(headers: &HeaderMap, access: &Access) -> Self {
        if headers.contains_key(AUTHORIZATION) {
            return by_header(headers, access);
        }
        if headers.contains_key(UPGRADE)
            && let Some(credential) = by_subprotocol(headers, access)
        {
            return credential;
        }
        by_cookie(headers, access)
    }
}

fn by_header(headers: &HeaderMap, access: &Access) -> Credential {
    let token = only(headers, AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    if token.is_some_and(|token| access.is_token(token)) { Credential::Token } else { Credential::Wrong }
}

fn by_subprotocol(headers: &HeaderMap, access: &Access) -> Option<Credential> {
    let mut tokens = subprotocols(headers).filter_map(|protocol| protocol.strip_prefix(BEARER_SUBPROTOCOL));
    let token = tokens.next()?;
    // Without our own subprotocol beside it we could select none, and a browser would end the link at once.
    let good = tokens.next().is_none() && offers_our_subprotocol(headers) && access.is_token(token);
    Some(if good { Credential::Token } else { Credential::Wrong })
}

fn by_cookie(headers: &HeaderMap, access: &Access) -> Credential {
    let pairs =
        headers.get_all(COOKIE).into_iter().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(';'));
    let mut values = pairs.filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == access.cookie_name()).then_some(value)
    });
    match (values.next(), values.next()) {
        (None, _) => Credential::Absent,
        (Some(value), None) if access.is_cookie(value) => Credential::Cookie,
        (Some(_), _) => Credential::Wrong,
    }
}

/// Whether a WebSocket request offers the subprotocol that we select.
pub(crate) fn offers_our_subprotocol(headers: &HeaderMap) -> bool {
    subprotocols(headers).any(|protocol| protocol == SUBPROTOCOL)
}

fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// The value of a header that stands there exactly once.
pub(crate) fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).into_iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::super::access::DataId;
    use super::super::secret::Secret;
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn read(pairs: &[(&'static str, &str)]) -> Credential {
        let access = Access::new(&Secret::new(TOKEN), &DataId::new("d").unwrap()).unwrap();
        let cookie = access.set_cookie().split(';').next().unwrap().to_owned();
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let value = value.replace("TOKEN", TOKEN).replace("COOKIE", &cookie);
            headers.append(*name, HeaderValue::from_str(&value).unwrap());
        }
        Credential::of(&headers, &access)
    }

    #[test]
    fn the_token_counts_in_the_header_and_in_the_subprotocol_of_an_upgrade() {
        assert_eq!(read(&[("authorization", "Bearer TOKEN")]), Credential::Token);
        assert_eq!(read(&[("authorization", "bearer TOKEN")]), Credential::Token);
        let upgrade = ("upgrade", "websocket");
        assert_eq!(read(&[upgrade, ("sec-websocket-protocol", "switchboard.v1, bearer.TOKEN")]), Credential::Token);
        let two_lines =
            [upgrade, ("sec-websocket-protocol", "bearer.TOKEN"), ("sec-websocket-protocol", "switchboard.v1")];
        assert_eq!(read(&two_lines), Credential::Token);
        assert_eq!(read(&[upgrade, ("sec-websocket-protocol", "bearer.TOKEN")]), Credential::Wrong);
        assert_eq!(read(&[("sec-websocket-protocol", "switchboard.v1, bearer.TOKEN")]), Credential::Absent);
    }

    #[test]
    fn a_wrong_token_is_not_saved_by_a_good_cookie() {
        assert_eq!(read(&[("cookie", "COOKIE")]), Credential::Cookie);
        assert_eq!(read(&[("cookie", "COOKIE"), ("authorization", "Bearer wrong")]), Credential::Wrong);
        let wrong =
            [("cookie", "COOKIE"), ("upgrade", "websocket"), ("sec-websocket-protocol", "switchboard.v1, bearer.x")];
        assert_eq!(read(&wrong), Credential::Wrong);
    }

    #[test]
    fn repeated_and_foreign_credentials_are_wrong_or_absent() {
        assert_eq!(read(&[("authorization", "Bearer TOKEN"), ("authorization", "Bearer TOKEN")]), Credential::Wrong);
        assert_eq!(read(&[("authorization", "Basic TOKEN")]), Credential::Wrong);
        assert_eq!(read(&[("authorization", "TOKEN")]), Credential::Wrong);
        assert_eq!(read(&[("cookie", "COOKIE; COOKIE")]), Credential::Wrong);
        assert_eq!(read(&[("cookie", "switchboard-d=TOKEN")]), Credential::Wrong);
        assert_eq!(read(&[("cookie", "switchboard-other=TOKEN; a=b")]), Credential::Absent);
        assert_eq!(read(&[]), Credential::Absent);
    }
}
