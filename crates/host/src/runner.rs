//! What agents ask the host to do for them, done: files read and written, commands run. The one place where the host does
//! such things; it never decides whether they may be done.
//!
//! | module | owns |
//! | --- | --- |
//! | [`door`] | the door for the host's task: takes orders, never waits |
//! | `desk` | the task that knows every plan and every terminal |
//! | `jobs` | work on files, off the host's tasks |
//! | `terminals`, `past` | which commands run, which errands are over |
//! | `post` | the way of news to the host's task |
//! | `limits` | how large, how many, how long |
//! | `place` | paths: what lies in the workspace and what does not |
//! | `reading` | files read |
//! | `writing`, `replace`, `diff` | files written: shown first, then done |
//! | [`tools`] | the host's own tools |
//! | [`validate`] | the parameters of tools, checked by their schemas |
//! | [`facts`] | what the policy has to know: where programs and files really are |
//! | `stop` | the word that ends what is being done |
//! | `command`, `quote` | commands made ready: what runs, and how it is shown |
//! | `digest` | what binds an approval to the exact bytes |
//! | [`contain`] | walls around commands, where the system can put them up |
//! | `terminal`, `reports`, `voice` | one command that runs, how that is told, and what it says |
//! | `console`, `outcome` | what a command talks to, and how it ended |
//! | `decode`, `tail`, `ends` | its output: text, and the last of it, or both its ends |
//!
//! Absent: approvals, rules, turns. Those are the core's.

pub mod contain;
pub mod door;
pub mod facts;
pub mod limits;
pub mod tools;
pub mod validate;

mod command;
mod console;
mod decode;
mod desk;
pub(crate) mod diff;
mod digest;
mod ends;
mod jobs;
mod outcome;
mod past;
pub(crate) mod place;
mod post;
mod quote;
pub(crate) mod reading;
mod replace;
mod reports;
pub(crate) mod stop;
mod tail;
mod terminal;
mod terminals;
mod voice;
pub(crate) mod writing;

pub use door::Runner;
