//! An engine that works elsewhere, followed over HTTP and SSE: the task that owns the dialect, and what it talks through. Ends
//! nothing there: an engine goes on when this host is gone.
//!
//! | module | owns |
//! | --- | --- |
//! | `stream` | one event stream, read no faster than its words are taken |
//! | `life` | the task: asks in, words out |

mod life;
mod stream;

pub(super) use life::live;
