//! The HTTP door from the outside: requests as anybody's library makes them, streams as anybody reads them, held against
//! what the door says of itself.

pub(crate) mod caller;
mod chain;
mod contract;
mod kept;
mod requests;
mod streams;
mod uploads;
