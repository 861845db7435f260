//! The dialect `tabs`: a view of tabs and prompts that counts what it has seen. Owns its names and shapes; never keeps a
//! tab, a cursor or a queue.

mod read;
mod shape;
mod write;

use switchboard_types::{Command, Reject, Time, Told};

use self::write::Writer;
use super::ViewDialect;

pub use self::shape::schema;

/// The dialect `tabs` with the buffers that it writes in.
#[derive(Debug, Default)]
pub struct Tabs {
    writer: Writer,
}

impl Tabs {
    /// For a link that has just opened. Holds no memory until it writes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl ViewDialect for Tabs {
    fn read(&mut self, _now: Time, frame: &[u8]) -> Result<Command, Reject> {
        read::command(frame)
    }

    fn write(&mut self, _now: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        self.writer.write(told, message);
    }
}
