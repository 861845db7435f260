//! The vocabularies of views. Each is one file; none knows another.

pub mod switchboard;
pub mod tabs;

use switchboard_types::{Command, Reject, Told};

pub use switchboard::Switchboard;
pub use tabs::Tabs;

/// One vocabulary of views.
pub trait ViewDialect: Send {
    /// Translates one message of the view.
    fn read(&mut self, frame: &[u8]) -> Result<Command, Reject>;

    /// Translates what the host tells into messages, each handed to `message` as JSON text, in order. What is said of a
    /// page of events depends on nothing else, so links of one dialect may share it.
    fn write(&mut self, told: &Told, message: &mut dyn FnMut(&[u8]));
}

/// The list of vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// Tabs and prompts, by index.
    Tabs,
    /// Our own types, for our own page.
    Switchboard,
}

impl ViewKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 2] = [Self::Tabs, Self::Switchboard];

    /// Its name in addresses and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tabs => "tabs",
            Self::Switchboard => "switchboard",
        }
    }

    /// The dialect of one link.
    #[must_use]
    pub fn make(self) -> Box<dyn ViewDialect> {
        match self {
            Self::Tabs => Box::new(Tabs::new()),
            Self::Switchboard => Box::new(Switchboard::new()),
        }
    }

    /// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
    #[must_use]
    pub fn schema(self) -> serde_json::Value {
        match self {
            Self::Tabs => tabs::schema(),
            Self::Switchboard => switchboard::schema(),
        }
    }
}
