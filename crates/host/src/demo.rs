//! The built-in demo agent: a program of its own that speaks `plain` on its standard streams. Shares nothing with the
//! host but the executable file.
//!
//! | module | owns |
//! | --- | --- |
//! | [`wire`] | the lines of `plain`, as an agent sees them |
//! | `desk` | the sessions, and which turn hears what |
//! | `turn` | one turn: saying, pausing, being cancelled |
//! | `trick` | the `demo:` prompts by name |
//! | `talk` | the ordinary answer |
//! | `show` | tricks that behave: slow, fast, approve, unicode, … |
//! | `work` | tricks that have the host do something: tool, run, edit |
//! | `mischief` | tricks that do not: crash, hang, garbage, half lines, … |

mod desk;
mod mischief;
mod show;
mod talk;
mod trick;
mod turn;
pub mod wire;
mod work;

pub use desk::run;
