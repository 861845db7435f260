//! The dialect `apex`: whatever a backend says, in whatever order, every request of it is answered at most once, and under the
//! id that it came with.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use switchboard_dialects::agent::apex::{Apex, Setting};
use switchboard_dialects::jsonrpc::{Envelope, read};

use super::plain::play;

/// One message a line. A line that begins with `!` is something that the host does meanwhile.
pub(crate) fn run(data: &[u8]) {
    let config = serde_json::json!({});
    let mut dialect = Apex::new(Setting { config, platform: "linux".to_owned(), host_version: "0".to_owned() });
    let sent = play(&mut dialect, data);
    answered_at_most_once(data, &sent);
}

/// No request is answered more often than it was made.
pub(super) fn answered_at_most_once(data: &[u8], sent: &[Vec<u8>]) {
    let mut owed: BTreeMap<String, i64> = BTreeMap::new();
    for line in data.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"!")) {
        match read(line).map(|read| read.envelope) {
            Ok(Envelope::Request { id, .. }) => *owed.entry(id.as_json().to_owned()).or_default() += 1,
            Ok(_) => {}
            // What cannot be read may be answered, under its own id where that can be told.
            Err(refused) => {
                if let Some(id) = refused.answer().and_then(|answer| answered(&answer)) {
                    *owed.entry(id).or_default() += 1;
                }
            }
        }
    }
    for message in sent {
        // Under `null` stands what is said of messages whose id cannot be told; it answers no request.
        if let Some(id) = answered(message).filter(|id| id != "null") {
            let left = owed.entry(id.clone()).or_default();
            *left -= 1;
            assert!(*left >= 0, "{id} is answered once too often");
        }
    }
}

/// The id that an answer is for; none if it is no answer.
fn answered(message: &[u8]) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(message).ok()?;
    members.get("id").filter(|_| !members.contains_key("method")).map(|id| id.get().to_owned())
}
