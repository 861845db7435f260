//! Real agents, installed by their ordinary package managers and driven through the real program from outside, offline,
//! against a model that a prompt scripts. Shares no crate with the program, so it cannot share its mistakes.

mod host;
mod install;
pub mod model;
mod own;
mod peer;
mod run;
mod table;
mod trial;
mod view;

pub use install::usual_cache;
pub use own::{Other, OwnReport, try_own};
pub use peer::{Mind, PEERS, Peer};
pub use run::{Options, Report, clear, try_peer};
pub use table::{markdown, own_markdown, own_placed, placed, surprises, surprises_of_own};
pub use trial::{Outcome, Trial};
