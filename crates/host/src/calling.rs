//! HTTP to one far origin: engines and model servers are both called through here. Knows nothing of what is said.
//!
//! | module | owns |
//! | --- | --- |
//! | `address` | where the far end is, and the one origin that its token goes to |
//! | `caller` | requests, each with its own time and size limit |
//! | `hush` | the token taken out of what comes back |
//! | `upload` | files as a multipart body |

mod address;
mod caller;
mod hush;
mod upload;

pub(crate) use address::Address;
pub(crate) use caller::{Caller, broke, whole};
pub(crate) use hush::Hush;
