//! How servers of models are asked and heard: `/v1/chat/completions` as OpenAI and many others have it, and Ollama's `/api/chat`.
//! Bytes in, plain data out; never opens a socket, and never holds a token.

mod address;
mod answer;
mod arguments;
pub mod models;
mod refusal;
mod request;
mod scan;
pub mod text_calls;

pub use address::{address, path_below, shown_address};
pub use answer::{Answer, Close, MAX_ANSWER_BYTES, MAX_ARGUMENTS_BYTES, MAX_CALLS, MAX_LINE_BYTES};
pub use refusal::{About, refused, unreachable};
pub use request::ask;

/// Whose way of talking a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// `/v1/chat/completions`, and server-sent events.
    OpenAi,
    /// `/api/chat`, and a JSON object a line.
    Ollama,
}

/// Something to be sent by POST, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Below the base address; [`address`] puts both together.
    pub path: String,
    /// The JSON.
    pub body: Vec<u8>,
}
