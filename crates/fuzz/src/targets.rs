//! One file for each sort of reader.

pub(crate) mod acp;
pub(crate) mod apex;
pub(crate) mod engine;
pub(crate) mod framing;
pub(crate) mod jsonrpc;
pub(crate) mod model;
pub(crate) mod plain;
pub(crate) mod policy;
pub(crate) mod sse;
