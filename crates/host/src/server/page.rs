//! The page, the login that leads to it, and the small pages that say how to get there. Takes nothing from a query but
//! the login code, and repeats none of it.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{HeaderValue, LOCATION, SET_COOKIE};
use hyper::{Method, StatusCode, Uri};

use super::accept::Shared;
use super::answer::{self, Problem};
use super::assets::INDEX;
use super::metrics::Refusal;
use super::secret::random_hex;

/// The page that says how to log in.
const OPEN_PAGE: &str = include_str!("../../assets/open.html");
/// Stands in the page wherever each answer puts its own nonce.
const NONCE_PLACE: &str = "__NONCE__";
/// Random bytes of a nonce.
const NONCE_BYTES: usize = 16;

/// `GET /`.
pub(crate) async fn page() -> Result<Response, Problem> {
    let nonce = random_hex(NONCE_BYTES).map_err(|error| Problem::internal(error.to_string()))?;
    let policy = HeaderValue::from_str(&policy(&nonce)).map_err(|error| Problem::internal(error.to_string()))?;
    Ok(answer::html(StatusCode::OK, policy, INDEX.replace(NONCE_PLACE, &nonce)))
}

/// What the page may do. A script or a style runs if it carries the nonce, or if a script that does imports it; one that is
/// written into the document by whatever means carries none. Strings become markup only through the two policies named:
/// Lit's, for templates that stand in our sources, and our own, for what was sanitised.
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types lit-html switchboard"
    )
}

/// `GET /login?code=…`.
pub(crate) async fn login(State(shared): State<Arc<Shared>>, method: Method, uri: Uri) -> Response {
    // Whoever only looks at a link must not use it up.
    if method == Method::HEAD {
        return StatusCode::NO_CONTENT.into_response();
    }
    let code = uri.query().into_iter().flat_map(|query| query.split('&')).find_map(|pair| pair.strip_prefix("code="));
    if !code.is_some_and(|code| shared.access.redeem(code, Instant::now())) {
        shared.metrics.refuse(Refusal::WrongCode);
        return small_page(StatusCode::FORBIDDEN);
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
    match HeaderValue::from_str(&shared.access.set_cookie()) {
        Ok(cookie) => response.headers_mut().insert(SET_COOKIE, cookie),
        Err(error) => return Problem::internal(error.to_string()).into_response(),
    };
    response
}

/// What a browser sees that has not logged in.
pub(crate) fn ask_to_open() -> Response {
    small_page(StatusCode::UNAUTHORIZED)
}

fn small_page(status: StatusCode) -> Response {
    let policy =
        HeaderValue::from_static("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    answer::html(status, policy, OPEN_PAGE.to_owned())
}
