//! The shape of every refusal and the headers that every answer carries. Decides nothing.

use axum::body::Body;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use serde::Serialize;

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const CROSS_ORIGIN_OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// For whatever is no page of ours.
const BARE_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// A refusal as programs read it: what it is, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub(crate) fn bad_message(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_message", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    pub(crate) fn stopping() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "internal",
            "the host is stopping; start it again with `switchboard`",
        )
    }
}

impl axum::response::IntoResponse for Problem {
    fn into_response(self) -> Response {
        json(self.status, &self)
    }
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    // Our own answers are maps with string keys: serialising them into memory cannot fail.
    let text = serde_json::to_vec(value).unwrap_or_default();
    with_type(status, "application/json", Body::from(text))
}

/// A page of ours, with the policy that it runs under.
pub(crate) fn html(status: StatusCode, policy: HeaderValue, text: String) -> Response {
    let mut response = with_type(status, "text/html; charset=utf-8", Body::from(text));
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// An answer of any type.
pub(crate) fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Adds what every answer must carry, whoever made it.
pub(crate) fn seal(response: &mut Response) {
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CROSS_ORIGIN_OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(BARE_POLICY));
}
