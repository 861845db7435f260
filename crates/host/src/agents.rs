//! Agents as processes: started, fed, read, ended, and never left behind. Knows no rule of the conversation.
//!
//! | module | owns |
//! | --- | --- |
//! | [`spec`] | what an agent is: its kind, its command, its environment |
//! | [`known`] | agents that many people have, and whether they are on this machine |
//! | [`fleet`] | the door for the host's task: start one, end all |
//! | `kinds` | which dialect a kind speaks |
//! | `engine` | agents that work elsewhere, over HTTP |
//! | `spawner` | the one thread that starts processes |
//! | `birth` | what happens in the child between fork and exec |
//! | `environment`, `program` | what the child may know and which file it is |
//! | `life` | the task that owns one process |
//! | `command` | commands that are no agents, started and ended the same way |
//! | `body` | the process and all that comes of it, from birth to burial |
//! | `tree`, `mark`, `orphans` | who comes of it, wherever it has gone |
//! | `mouth`, `ear`, `stderr` | its standard output, input and error output |
//! | `tape` | what goes over its pipes as it is, while a session of it is recorded |
//! | `ending` | how it is ended, and what is said of its end |
//! | `group`, `proc` | process groups, and what the system says of processes |
//! | [`children`] | what a dead host left running |
//! | [`shown`], `quiet` | foreign text in our log: escaped, cut, and not too much of it |
//! | [`files`] | how many files the host may open, and a child |
//!
//! Absent: sessions, turns, time-outs of prompts. Those are the core's.

pub mod children;
pub mod files;
pub mod fleet;
pub mod known;
pub mod shown;
pub mod spec;

mod birth;
mod body;
pub(crate) mod command;
mod ear;
mod ending;
mod engine;
mod environment;
mod group;
mod kinds;
mod life;
mod mark;
mod mouth;
mod orphans;
mod proc;
pub(crate) mod program;
mod quiet;
mod spawner;
mod stderr;
mod tape;
mod tree;

pub(crate) use crate::calling::{Address, Caller};
pub use birth::keep_inherited;
pub use children::{Leftover, end_leftovers};
pub use ending::Graces;
pub use fleet::Agents;
pub(crate) use program::find as find_program;
pub use spec::{AgentKind, AgentSpec, EnvValue, Need, ProcessPer, ProcessSpec, SecretName, Token, WantedBy};
