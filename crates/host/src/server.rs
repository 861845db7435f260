//! The doors for views over HTTP: who may come in, the page, the WebSocket links, the switches of our own command line.
//! Holds no rule of the conversation; it only carries commands to the host's task and what it tells back.
//!
//! | module | owns |
//! | --- | --- |
//! | [`accept`] | the listening socket, the connections and their end |
//! | [`access`] | the token, the cookie and the one-time login codes |
//! | [`answer`] | the shape of every refusal and the headers of every answer |
//! | [`artifact`] | what can be fetched for a short while: what is too large for a browser, and what a session has |
//! | [`assets`] | the page as it lies in the program |
//! | [`control`] | what our own command line asks of a running host |
//! | [`credential`] | where a request carries its credential |
//! | [`folder`] | a foreign path made a workspace's root |
//! | [`guard`] | the check before routing |
//! | [`metrics`] | the counters and their text form |
//! | [`names`] | which `Host` and which `Origin` are ours |
//! | [`page`] | the page and the login |
//! | [`routes`] | the one table of doors |
//! | [`secret`] | secrets that cannot be printed |
//! | [`v1`] | the HTTP door |
//! | [`wire`] | the recorded wire of a session, and its switch |
//! | [`ws`] | WebSocket links of views |

mod accept;
mod access;
mod answer;
mod artifact;
mod assets;
mod control;
mod credential;
mod folder;
mod guard;
mod metrics;
mod names;
mod page;
mod routes;
mod secret;
mod v1;
mod wire;
mod ws;

pub use accept::{Doors, MAX_CONNECTIONS, Server, ServerError};
pub use access::{Access, AccessError, DataId};
pub use artifact::{Artifacts, Shelved};
pub use folder::{FolderError, canonical_folder};
pub use metrics::{Counter, Gauge, Metrics, Refusal};
pub use routes::{Needs, ROUTES, Route};
pub use secret::Secret;
pub use ws::{MakeDialect, make_dialect};
