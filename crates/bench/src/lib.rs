//! What `cargo xtask bench` measures: our host, the raw limit and the peer, side by side in the same run. Holds nothing
//! that Switchboard itself needs.
//!
//! | module | owns |
//! | --- | --- |
//! | [`mold`], [`load`] | the bytes that are streamed, and how fast |
//! | [`stream`], [`tokens`] | an engine's events and a model's answer as bytes |
//! | [`http`] | as much of it as the bench's own servers need |
//! | [`wire`], [`crowd`] | the views that read them |
//! | [`judged`] | commands judged as the host does |
//! | [`process`], [`subject`] | the programs under measurement |
//! | [`measure`] | the measurements |
//! | [`stats`], [`row`], [`table`], [`plot`], [`machine`] | what comes of them |

pub mod crowd;
pub mod http;
pub mod judged;
pub mod load;
pub mod machine;
pub mod measure;
pub mod mold;
pub mod plot;
pub mod process;
pub mod row;
pub mod stats;
pub mod stream;
pub mod subject;
pub mod table;
pub mod tokens;
pub mod wire;
