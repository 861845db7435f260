//! The built-in agent: on its own pipes, as other programs use it, with a client that speaks ACP; and through the host. Its server of
//! models has its answers written down.

mod acpx;
mod by_hand;
mod cancelling;
mod client;
mod consent;
mod hosted;
mod looking;
mod protocol;
mod scripted;
mod sessions;
mod task;
mod troubles;
