//! An engine that works elsewhere, followed over HTTP and SSE: the task that owns the dialect, and what it talks through. Ends
//! nothing there: an engine goes on when this host is gone.
//!
//! | module | owns |
//! | --- | --- |
//! | `address` | where the engine is, and the one origin that its token goes to |
//! | `caller` | requests, each with its own time and size limit |
//! | `stream` | one event stream, read no faster than its words are taken |
//! | `upload` | files as a multipart body |
//! | `life` | the task: asks in, words out |

mod address;
mod caller;
mod life;
mod stream;
mod upload;

pub(crate) use address::Address;
pub(crate) use caller::Caller;
pub(super) use life::live;
