//! The one table of doors. The router and the guard are made from it, so no door can miss the check.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use hyper::{Method, StatusCode};
use serde_json::json;

use super::accept::Shared;
use super::answer::{self, Problem};
use super::{artifact, assets, control, page, v1, wire, ws};

/// What a door needs of a request besides a good `Host` and `Origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing more.
    Nothing,
    /// The token, or what stands for it.
    Token,
}

/// One door.
#[derive(Debug)]
pub struct Route {
    /// The method; GET stands for HEAD, too.
    pub method: Method,
    /// The path, whole; a part in braces stands for any one name.
    pub path: &'static str,
    /// What it needs.
    pub needs: Needs,
    behind: fn() -> MethodRouter<Arc<Shared>>,
}

impl Route {
    /// Whether a path leads to this door. As strict as the router: what only the router took for this door would be missed
    /// by the guard.
    fn is_at(&self, path: &str) -> bool {
        let mut asked = path.split('/');
        let is_name = |part: &str| part.starts_with('{') && part.ends_with('}');
        let same = |part: &str| asked.next().is_some_and(|asked| asked == part || (is_name(part) && !asked.is_empty()));
        self.path.split('/').all(same) && asked.next().is_none()
    }
}

/// Every door there is.
pub static ROUTES: &[Route] = &[
    Route { method: Method::GET, path: "/", needs: Needs::Token, behind: || get(page::page) },
    Route { method: Method::GET, path: "/assets/{name}", needs: Needs::Token, behind: || get(assets::asset) },
    Route { method: Method::GET, path: "/login", needs: Needs::Nothing, behind: || get(page::login) },
    Route { method: Method::GET, path: "/healthz", needs: Needs::Nothing, behind: || get(health) },
    Route { method: Method::GET, path: "/metrics", needs: Needs::Token, behind: || get(metrics) },
    Route { method: Method::GET, path: "/ws/tabs", needs: Needs::Token, behind: || get(ws::tabs) },
    Route { method: Method::GET, path: "/ws/tools", needs: Needs::Token, behind: || get(ws::tools) },
    Route { method: Method::GET, path: "/ws/bb", needs: Needs::Token, behind: || get(ws::bb) },
    Route { method: Method::GET, path: "/ws/chat", needs: Needs::Token, behind: || get(ws::chat) },
    Route { method: Method::GET, path: "/ws/switchboard", needs: Needs::Token, behind: || get(ws::switchboard) },
    Route { method: Method::GET, path: "/wire/{session}", needs: Needs::Token, behind: || get(wire::lines) },
    Route { method: Method::POST, path: "/wire/{session}", needs: Needs::Token, behind: || post(wire::switch) },
    Route { method: Method::GET, path: "/artifact/{name}", needs: Needs::Token, behind: || get(artifact::fetch) },
    Route { method: Method::POST, path: "/control/artifact", needs: Needs::Token, behind: || post(artifact::keep) },
    Route { method: Method::POST, path: "/control/login", needs: Needs::Token, behind: || post(control::login) },
    Route { method: Method::POST, path: "/control/trust", needs: Needs::Token, behind: || post(control::trust) },
    Route {
        method: Method::POST,
        path: "/control/workspace",
        needs: Needs::Token,
        behind: || post(control::workspace),
    },
    Route {
        method: Method::GET,
        path: "/control/configuration",
        needs: Needs::Token,
        behind: || get(control::configuration),
    },
    Route {
        method: Method::GET,
        path: "/control/workspaces",
        needs: Needs::Token,
        behind: || get(control::history::workspaces),
    },
    Route {
        method: Method::GET,
        path: "/control/sessions",
        needs: Needs::Token,
        behind: || get(control::history::sessions),
    },
    Route {
        method: Method::GET,
        path: "/control/session",
        needs: Needs::Token,
        behind: || get(control::history::session),
    },
    Route { method: Method::GET, path: "/control/log", needs: Needs::Token, behind: || get(control::history::log) },
    Route {
        method: Method::POST,
        path: "/control/delete",
        needs: Needs::Token,
        behind: || post(control::history::delete),
    },
    Route {
        method: Method::POST,
        path: "/control/search",
        needs: Needs::Token,
        behind: || post(control::history::search),
    },
    Route {
        method: Method::POST,
        path: "/control/rename",
        needs: Needs::Token,
        behind: || post(control::history::rename),
    },
    Route { method: Method::GET, path: "/control/rules", needs: Needs::Token, behind: || get(control::rules::list) },
    Route {
        method: Method::POST,
        path: "/control/rules/remove",
        needs: Needs::Token,
        behind: || post(control::rules::remove),
    },
    Route { method: Method::GET, path: "/v1/health", needs: Needs::Token, behind: || get(v1::health) },
    Route { method: Method::GET, path: "/v1/openapi.json", needs: Needs::Token, behind: || get(v1::described) },
    Route { method: Method::GET, path: "/v1/sessions", needs: Needs::Token, behind: || get(v1::sessions::list) },
    Route { method: Method::POST, path: "/v1/sessions", needs: Needs::Token, behind: || post(v1::sessions::create) },
    Route {
        method: Method::GET,
        path: "/v1/sessions/{session}",
        needs: Needs::Token,
        behind: || get(v1::sessions::get),
    },
    Route {
        method: Method::DELETE,
        path: "/v1/sessions/{session}",
        needs: Needs::Token,
        behind: || delete(v1::sessions::delete),
    },
    Route {
        method: Method::POST,
        path: "/v1/sessions/{session}/input",
        needs: Needs::Token,
        behind: || post(v1::sessions::input),
    },
    Route {
        method: Method::POST,
        path: "/v1/sessions/{session}/command",
        needs: Needs::Token,
        behind: || post(v1::commands::command),
    },
    Route {
        method: Method::POST,
        path: "/v1/sessions/{session}/attachments",
        needs: Needs::Token,
        // Its own limits count as the files come.
        behind: || post(v1::files::attach).layer(DefaultBodyLimit::disable()),
    },
    Route {
        method: Method::GET,
        path: "/v1/sessions/{session}/files",
        needs: Needs::Token,
        behind: || get(v1::files::list),
    },
    Route {
        method: Method::GET,
        path: "/v1/sessions/{session}/files/content",
        needs: Needs::Token,
        behind: || get(v1::files::content),
    },
    Route {
        method: Method::GET,
        path: "/v1/sessions/{session}/download",
        needs: Needs::Token,
        behind: || get(v1::files::download),
    },
    Route {
        method: Method::GET,
        path: "/v1/sessions/{session}/events",
        needs: Needs::Token,
        behind: || get(v1::events::stream),
    },
];

/// What a request needs. Only a door that says so is open; what is unknown is not.
pub(crate) fn needs(method: &Method, path: &str) -> Needs {
    let asked = if method == Method::HEAD { &Method::GET } else { method };
    ROUTES.iter().find(|route| route.method == *asked && route.is_at(path)).map_or(Needs::Token, |route| route.needs)
}

/// The router of all doors.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let doors = ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, (route.behind)()));
    doors.fallback(unknown_path).method_not_allowed_fallback(wrong_method).with_state(shared)
}

async fn health() -> Response {
    answer::json(StatusCode::OK, &json!({"status": "ok"}))
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    answer::with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", Body::from(shared.metrics.to_text()))
}

async fn unknown_path() -> Response {
    Problem::new(StatusCode::NOT_FOUND, "not_found", "there is no such door; the page is at /").into_response()
}

async fn wrong_method() -> Response {
    let message = "this door takes another method; the header Allow names it";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_braces_is_one_part_of_a_path_and_not_nothing() {
        let route = ROUTES.iter().find(|route| route.path == "/assets/{name}").unwrap();
        assert!(route.is_at("/assets/a.js") && route.is_at("/assets/.."));
        for other in ["/assets", "/assets/", "/assets/a/b", "/assets//", "/x/a.js", "assets/a.js", "/", ""] {
            assert!(!route.is_at(other), "{other}");
        }
        let exact = ROUTES.iter().find(|route| route.path == "/healthz").unwrap();
        assert!(exact.is_at("/healthz") && !exact.is_at("/healthz/") && !exact.is_at("//healthz"));
    }
}
