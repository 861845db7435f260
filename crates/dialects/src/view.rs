//! The vocabularies of views. Each is one file; none knows another.

pub mod tabs;

use switchboard_types::{Command, Reject, Told};

pub use tabs::Tabs;

/// One vocabulary of views.
pub trait ViewDialect: Send {
    /// Translates one message of the view.
    fn read(&mut self, frame: &[u8]) -> Result<Command, Reject>;

    /// Translates what the host tells into messages, each handed to `message` as JSON text, in order.
    fn write(&mut self, told: &Told, message: &mut dyn FnMut(&[u8]));
}
