//! Real agents, installed by their ordinary package managers and driven through the real program from outside, offline,
//! against a model that a prompt scripts. Shares no crate with the program, so it cannot share its mistakes.

pub mod model;
