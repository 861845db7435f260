//! The vocabularies of views. Each is one file; none knows another.

pub mod bb;
pub mod chat;
pub mod events;
pub mod switchboard;
pub mod tabs;
pub mod tools;

use switchboard_types::{Command, LinkId, Reject, Time, Told};

pub use bb::Bb;
pub use chat::Chat;
pub use switchboard::Switchboard;
pub use tabs::Tabs;
pub use tools::Tools;

/// One vocabulary of views.
pub trait ViewDialect: Send {
    /// What the link asks by itself as soon as it is up, before the view has said anything.
    fn begin(&mut self, link: LinkId) -> Option<Command> {
        let _ = link;
        None
    }

    /// Translates one message of the view.
    fn read(&mut self, now: Time, frame: &[u8]) -> Result<Command, Reject>;

    /// Translates what the host tells into messages, each handed to `message` as JSON text, in order. What a dialect holds
    /// back comes with [`ViewDialect::tick`].
    fn write(&mut self, now: Time, told: &Told, message: &mut dyn FnMut(&[u8]));

    /// Says that the message that came last is refused, whoever found out why. To be called before the next one is read.
    fn refuse(&mut self, now: Time, reject: &Reject, message: &mut dyn FnMut(&[u8])) {
        self.write(now, &Told::Refused(reject.clone()), message);
    }

    /// When something that is held back must go out; none if nothing is.
    fn due(&self) -> Option<Time> {
        None
    }

    /// Hands out what is due.
    fn tick(&mut self, now: Time, message: &mut dyn FnMut(&[u8])) {
        let _ = (now, message);
    }

    /// What the dialect asks of the host by itself, one after the other; to be looked for after each of the above.
    fn asks(&mut self) -> Option<Command> {
        None
    }

    /// Whether what is said of a page of events depends on the page only, so that links of this dialect may share it.
    fn sharing(&self) -> Sharing {
        Sharing::Pages
    }
}

/// Whether links of one dialect share what is said of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// They do: it is made once.
    Pages,
    /// Each link has its own.
    Nothing,
}

/// The list of vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// Tabs and prompts, by index.
    Tabs,
    /// Tools: called, lent, allowed.
    Tools,
    /// Versioned requests and topics, for a sidebar.
    Bb,
    /// One current session, whole texts.
    Chat,
    /// Our own types, for our own page.
    Switchboard,
}

impl ViewKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::Tabs, Self::Tools, Self::Bb, Self::Chat, Self::Switchboard];

    /// Its name in addresses and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tabs => "tabs",
            Self::Tools => "tools",
            Self::Bb => "bb",
            Self::Chat => "chat",
            Self::Switchboard => "switchboard",
        }
    }

    /// The dialect of one link.
    #[must_use]
    pub fn make(self) -> Box<dyn ViewDialect> {
        match self {
            Self::Tabs => Box::new(Tabs::new()),
            Self::Tools => Box::new(Tools::new()),
            Self::Bb => Box::new(Bb::new()),
            Self::Chat => Box::new(Chat::new()),
            Self::Switchboard => Box::new(Switchboard::new()),
        }
    }

    /// The JSON Schemas of both directions: `{"viewToHost": …, "hostToView": …}`.
    #[must_use]
    pub fn schema(self) -> serde_json::Value {
        match self {
            Self::Tabs => tabs::schema(),
            Self::Tools => tools::schema(),
            Self::Bb => bb::schema(),
            Self::Chat => chat::schema(),
            Self::Switchboard => switchboard::schema(),
        }
    }
}
