//! The dialect `switchboard`: our own types as they are, for the page that is built with this program. Owns their JSON
//! and their TypeScript; promises nothing to anybody who is not built with it.

mod read;
mod shape;
mod typescript;
mod write;

use switchboard_types::{Command, Reject, Time, Told};

use super::ViewDialect;

pub use self::shape::{WireEvent, schema};
pub use self::typescript::typescript;

/// The version that page and host compare: a page of another one must be loaded again.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The dialect `switchboard` with the buffer that it writes in.
#[derive(Debug, Default)]
pub struct Switchboard {
    scratch: Vec<u8>,
}

impl Switchboard {
    /// For a link that has just opened. Holds no memory until it writes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl ViewDialect for Switchboard {
    fn read(&mut self, _now: Time, frame: &[u8]) -> Result<Command, Reject> {
        read::command(frame)
    }

    fn write(&mut self, _now: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        write::told(&mut self.scratch, told, message);
    }
}
