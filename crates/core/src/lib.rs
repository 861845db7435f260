//! The host as a state machine: something happened in, things to do out. No I/O, no async, no clock, no lock; time is an
//! argument.
//!
//! ```
//! use switchboard_core::{Host, Input, Settings};
//! use switchboard_types::{LinkId, Time};
//!
//! let mut host = Host::new(Settings::default(), 7);
//! host.handle(Time(1_000), Input::LinkOpened(LinkId(1)));
//! assert!(host.poll_output().is_none());
//! assert_eq!(host.poll_timeout(), None);
//! ```

mod far;
mod fold;
mod host;
mod input;
mod lives;
mod open;
pub mod policy;
mod registry;
mod seat;
mod session;
mod settings;
mod shown;
mod timers;

pub use fold::{CallTold, OpenApproval, State, TurnState, Unconfirmed, Whose};
pub use host::{Counters, Host, LogMark};
pub use input::{EndHow, Input, Output, Recovered, RequestId, Slice, Workspace};
pub use settings::{NetworkFor, Settings};
pub use switchboard_types::Trust;
