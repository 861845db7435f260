//! The storm: the real program is killed, stopped and starved at seeded instants while several views look on, and an
//! independent checker holds what they were shown against the database file. Uses no crate of the program, so that Cargo
//! itself keeps the checker independent.

pub mod check;

mod dice;
mod host;
mod life;
mod plan;
mod plot;
mod run;
mod summary;
mod tally;
mod teller;
mod verdict;
mod view;
mod world;

pub use host::Trouble;
pub use plan::Mode;
pub use plot::svg;
pub use run::{Failure, Keep, Options, Outcome, Progress, ROUNDS_PER_WORLD, run};
pub use summary::{Spread, histogram, json, words};
pub use tally::{Restart, Tally};
