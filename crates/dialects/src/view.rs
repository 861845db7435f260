//! The vocabularies of views. Each is one file; none knows another.

pub mod switchboard;
pub mod tabs;
pub mod tools;

use switchboard_types::{Command, Reject, Told};

pub use switchboard::Switchboard;
pub use tabs::Tabs;
pub use tools::Tools;

/// One vocabulary of views.
pub trait ViewDialect: Send {
    /// Translates one message of the view.
    fn read(&mut self, frame: &[u8]) -> Result<Command, Reject>;

    /// Translates what the host tells into messages, each handed to `message` as JSON text, in order. What is said of a
    /// page of events depends on nothing else, so links of one dialect may share it.
    fn write(&mut self, told: &Told, message: &mut dyn FnMut(&[u8]));

    /// Says that the message that came last is refused, whoever found out why. To be called before the next one is read.
    fn refuse(&mut self, reject: &Reject, message: &mut dyn FnMut(&[u8])) {
        self.write(&Told::Refused(reject.clone()), message);
    }
}

/// The list of vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// Tabs and prompts, by index.
    Tabs,
    /// Tools: called, lent, allowed.
    Tools,
    /// Our own types, for our own page.
    Switchboard,
}

impl ViewKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 3] = [Self::Tabs, Self::Tools, Self::Switchboard];

    /// Its name in addresses and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tabs => "tabs",
            Self::Tools => "tools",
            Self::Switchboard => "switchboard",
        }
    }

    /// The dialect of one link.
    #[must_use]
    pub fn make(self) -> Box<dyn ViewDialect> {
        match self {
            Self::Tabs => Box::new(Tabs::new()),
            Self::Tools => Box::new(Tools::new()),
            Self::Switchboard => Box::new(Switchboard::new()),
        }
    }

    /// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
    #[must_use]
    pub fn schema(self) -> serde_json::Value {
        match self {
            Self::Tabs => tabs::schema(),
            Self::Tools => tools::schema(),
            Self::Switchboard => switchboard::schema(),
        }
    }
}
