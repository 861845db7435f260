//! The built-in coding agent without its edges: how servers of models are asked and what they say, the loop of a turn, its tools, and
//! what fits into a model's context. No I/O, no clock: time comes in as a number, and what is to be done goes out as data.

pub mod commands;
pub mod context;
pub mod deed;
pub mod edit;
mod prompt;
pub mod said;
pub mod server;
pub mod talk;
pub mod tools;
pub mod trouble;
pub mod worker;
