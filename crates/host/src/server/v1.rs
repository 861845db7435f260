//! The HTTP door: sessions, prompts, files and events by plain requests, so that whoever can call an engine of that API can
//! call this host, another host included. Carries requests to the host's task and its answers back; decides nothing.
//!
//! | module | owns |
//! | --- | --- |
//! | [`commands`] | `POST …/command` |
//! | [`desk`] | the one link on which all requests are asked |
//! | [`events`] | `GET …/events`, each on a link of its own |
//! | [`files`] | files, downloads, attachments |
//! | [`openapi`] | what the door looks like, made from the shapes |
//! | [`problem`] | what a refusal looks like |
//! | [`sessions`] | sessions and prompts |
//! | [`shape`] | requests and answers as JSON |
//! | [`take`] | what a request brings: its path, its query, its body |

pub(crate) mod commands;
pub(crate) mod desk;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod openapi;
mod problem;
pub(crate) mod sessions;
mod shape;
mod take;

use axum::response::Response;
use hyper::StatusCode;
use switchboard_dialects::view::events::PROTOCOL_VERSION;

use super::answer::{Problem, json as json_answer};
use shape::{Features, Health};

/// `GET /v1/health`.
pub(crate) async fn health() -> Response {
    let health = Health {
        status: "ok".to_owned(),
        protocol_version: PROTOCOL_VERSION.to_owned(),
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        features: Features { message_id: true },
    };
    json_answer(StatusCode::OK, &health)
}

/// `GET /v1/openapi.json`.
pub(crate) async fn described() -> Response {
    json_answer(StatusCode::OK, openapi::document())
}

/// A refusal of the desk, as our own command line reads it.
pub(crate) fn plain_problem(refused: problem::Refused) -> Problem {
    refused.plain()
}
