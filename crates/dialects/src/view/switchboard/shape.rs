//! The shapes of the dialect's messages, for their JSON, their schema and their TypeScript. Holds no behaviour but the way
//! from our types to these.

mod library;
mod said;
mod told;

use schemars::schema_for;

pub(super) use self::said::{FromView, WireForm, WireSeat, WireSeen};
pub use self::told::WireEvent;
pub(super) use self::told::{ToView, epoch};

/// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
#[must_use]
pub fn schema() -> serde_json::Value {
    serde_json::json!({ "viewToHost": schema_for!(FromView), "hostToView": schema_for!(ToView) })
}
