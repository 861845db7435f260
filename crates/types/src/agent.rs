//! What the host asks of an agent, and the words an agent says, in our own terms. What an agent calls its own session is
//! carried only so that the session can be taken up again; no view ever sees it.

mod ask;
mod word;

pub use ask::{Answer, Ask, Elsewhere, Past, Wish};
pub use word::{About, Said, Telling, Word};
