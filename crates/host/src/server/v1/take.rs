//! What a request brings: the session in its path, its query, its body. Refuses what is not as it must be, with what to do.

use axum::body::Body;
use axum::extract::Query;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::{StatusCode, Uri};
use serde::de::DeserializeOwned;
use switchboard_types::SessionId;
use switchboard_types::limits::{MAX_FRAME_BYTES, MAX_ID_BYTES};

use super::problem::Refused;
use crate::server::control;

/// The session that a path names.
pub(super) fn session(text: &str) -> Result<SessionId, Refused> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let id = digits.then(|| text.parse().ok()).flatten().map(SessionId);
    id.ok_or_else(|| Refused::not_found("there is no such session; `GET /v1/sessions` lists those that there are"))
}

/// What stands after the question mark.
pub(super) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Refused> {
    let read = Query::<T>::try_from_uri(uri);
    read.map(|Query(value)| value).map_err(|error| Refused::bad(error.body_text()))
}

/// A body of JSON; none at all stands for no fields.
pub(super) async fn body<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T, Refused> {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or_default());
    let is_json = |kind: &str| {
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || kind.ends_with("+json")
    };
    let bytes = control::collect(body, MAX_FRAME_BYTES).await?;
    let bytes = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
    if kind.is_some_and(|kind| !is_json(kind)) {
        let message = "send the body as JSON, with the header `Content-Type: application/json`";
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message));
    }
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Refused::bad("the body must be a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| Refused::bad(format!("the body is not as it should be: {error}")))
}

/// A name that a caller chose.
pub(super) fn name(field: &str, value: &str) -> Result<(), Refused> {
    if value.is_empty() || value.len() > MAX_ID_BYTES {
        return Err(Refused::bad(format!("`{field}` has 1 to {MAX_ID_BYTES} bytes")));
    }
    Ok(())
}
