//! How servers of models are asked and heard, by hand-made examples.

#![expect(clippy::unwrap_used, clippy::panic, reason = "all of this is test code")]

mod models;
mod refusals;
mod requests;
mod streams;
mod text_calls;
