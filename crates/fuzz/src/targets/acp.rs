//! The dialect `acp`: whatever an agent says, in whatever order, every request of it is answered at most once, and under the
//! id that it came with.

use switchboard_dialects::agent::acp::{Acp, AcpSettings};

use super::apex::answered_at_most_once;
use super::plain::play;

/// One message a line. A line that begins with `!` is something that the host does meanwhile.
pub(crate) fn run(data: &[u8]) {
    let mut dialect = Acp::new(AcpSettings::new("fuzzed", &["agent".to_owned()], "0"));
    let sent = play(&mut dialect, data);
    answered_at_most_once(data, &sent);
}
