//! A model that does what a prompt scripts, over the APIs that agents speak, on this machine only: what agents are tested
//! with where there is no network. Knows no agent and nothing of Switchboard.

mod anthropic;
mod asked;
mod frame;
mod gemini;
mod ollama;
mod openai;
mod responses;
mod script;
mod serve;
mod tools;

#[cfg(test)]
mod tests;

pub use serve::{Model, NAME, ONLY_OPENAI};
