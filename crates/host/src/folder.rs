//! The data folder: where it is, who may read it, and which host holds it. Knows nothing of what the store puts there.
//!
//! | module | owns |
//! | --- | --- |
//! | `place` | the folder itself: found, made, kept private |
//! | `token` | the host's token and the folder's id |
//! | `lease` | one host per folder, and where it listens |

mod lease;
mod place;
mod token;

#[cfg(test)]
mod tests;

pub use lease::{HeldBy, Lease, LeaseError, Running, running_host};
pub use place::{Folder, FolderError};
pub use token::{FolderId, Token};
