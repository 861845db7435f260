//! The page as it lies in the program: its one document and the files that it loads. Made by the build script; reads nothing
//! from disk.

use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};

use super::answer::{self, Problem};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// A file's name changes with what is in it, so nobody has to ask for it twice. Only the browser that was let in keeps it.
const FOR_GOOD: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

/// One file that the page loads.
pub(crate) struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

/// `GET /assets/NAME`.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let Ok(at) = ASSETS.binary_search_by(|asset| asset.name.cmp(&name)) else {
        let message = "there is no such file; the page may have changed, reload it";
        return Problem::new(StatusCode::NOT_FOUND, "not_found", message).into_response();
    };
    let Asset { kind, bytes, .. } = &ASSETS[at];
    let mut response = answer::with_type(StatusCode::OK, kind, Body::from(Bytes::from_static(bytes)));
    response.headers_mut().insert(CACHE_CONTROL, FOR_GOOD);
    response
}
