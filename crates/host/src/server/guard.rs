//! The check that every request passes before it is routed and before any upgrade. Knows the routes only by whether they
//! need a credential; what it does not know needs one.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue, ORIGIN, UPGRADE, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use tower::Service;

use super::accept::Place;
use super::access::Access;
use super::answer::{Problem, seal};
use super::credential::{Credential, only};
use super::metrics::{Metrics, Refusal};
use super::names::{Names, OriginKind};
use super::page;
use super::routes::{Needs, needs};

/// What the guard checks against.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) access: Arc<Access>,
    pub(crate) names: Names,
    pub(crate) metrics: Arc<Metrics>,
}

/// The router behind its check, for one connection.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) rules: Arc<Rules>,
    pub(crate) router: Router,
    pub(crate) place: Place,
}

impl Service<Request<Incoming>> for Guard {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // A router is always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let verdict = self.rules.check(&request);
        let (mut router, place) = (self.router.clone(), self.place.clone());
        let (rules, at_page) = (Arc::clone(&self.rules), request.uri().path() == "/");
        Box::pin(async move {
            let mut response = match verdict {
                Ok(()) => {
                    let mut request = request.map(Body::new);
                    request.extensions_mut().insert(place);
                    let Ok(response) = router.call(request).await;
                    response
                }
                Err(refusal) => {
                    rules.metrics.refuse(refusal);
                    refused(refusal, at_page)
                }
            };
            seal(&mut response);
            Ok(response)
        })
    }
}

impl Rules {
    /// Host first, on every route; then Origin; then the credential.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<(), Refusal> {
        let headers = request.headers();
        let host = only(headers, HOST).ok_or(Refusal::NoHost)?;
        // The request line may name a host of its own, which then counts as much as the header.
        let named = request.uri().authority().map(|authority| authority.as_str());
        if !self.names.is_our_host(host) || named.is_some_and(|named| !self.names.is_our_host(named)) {
            return Err(Refusal::ForeignHost);
        }
        let origin = match (headers.contains_key(ORIGIN), only(headers, ORIGIN)) {
            (false, _) => None,
            (true, None) => return Err(Refusal::ForeignOrigin),
            (true, Some(origin)) => Some(self.names.origin_kind(origin, host)),
        };
        if origin == Some(OriginKind::Foreign) {
            return Err(Refusal::ForeignOrigin);
        }
        match needs(request.method(), request.uri().path()) {
            Needs::Nothing => Ok(()),
            Needs::Token => self.check_credential(request, origin),
        }
    }

    fn check_credential<B>(&self, request: &Request<B>, origin: Option<OriginKind>) -> Result<(), Refusal> {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD) && !request.headers().contains_key(UPGRADE);
        match Credential::of(request.headers(), &self.access) {
            Credential::Token => Ok(()),
            // A browser adds the cookie to whatever any page asks for; only our own page may change things with it.
            Credential::Cookie if reads || origin == Some(OriginKind::Own) => Ok(()),
            Credential::Cookie => Err(Refusal::CookieElsewhere),
            Credential::Wrong => Err(Refusal::WrongCredential),
            Credential::Absent => Err(Refusal::NoCredential),
        }
    }
}

fn refused(refusal: Refusal, at_page: bool) -> Response {
    let unauthorized = matches!(refusal, Refusal::NoCredential | Refusal::WrongCredential);
    let mut response = if unauthorized && at_page { page::ask_to_open() } else { problem(refusal).into_response() };
    if unauthorized {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn problem(refusal: Refusal) -> Problem {
    let (status, code, message) = match refusal {
        Refusal::NoHost => (StatusCode::BAD_REQUEST, "bad_host", "send exactly one Host header"),
        Refusal::ForeignHost => (
            StatusCode::FORBIDDEN,
            "foreign_host",
            "this Host is not ours; use the address that `switchboard open` prints, or add the name to server.allowed_hosts",
        ),
        Refusal::ForeignOrigin => (
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "this Origin may not speak to the host; add it to server.allowed_origins if it should",
        ),
        Refusal::NoCredential => (
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "send `Authorization: Bearer TOKEN`, or run `switchboard open` to log in",
        ),
        Refusal::WrongCredential => (
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "this credential is not good here; run `switchboard open` to log in again",
        ),
        Refusal::CookieElsewhere => (
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "with the cookie alone this must come from the host's own page; send `Authorization: Bearer TOKEN` instead",
        ),
        Refusal::WrongCode => (
            StatusCode::FORBIDDEN,
            "bad_code",
            "this link was used before or is too old; run `switchboard open` for a new one",
        ),
    };
    Problem::new(status, code, message)
}
