//! `inspect`: the wire of both sides, message by message, as it was recorded. Asks the running host, or reads the files
//! itself; shows what is there and changes nothing but the switch.
//!
//! | module | owns |
//! | --- | --- |
//! | `source` | where the lines come from |
//! | `look` | how a line looks to a person |

mod look;
mod source;

use std::io;

use serde::Deserialize;

use super::args::{Cli, Format, InspectArgs, OnOff};
use super::exit::Failure;
use super::print;
use super::reach::Reach;
use crate::wire::Entry;
pub(super) use look::Body;
use look::Look;
use source::Source;

/// The first line of an answer: whether the session is recorded.
#[derive(Debug, Deserialize)]
struct State {
    recording: bool,
}

/// Does what was asked.
pub(super) async fn run(cli: &Cli, args: &InspectArgs) -> Result<(), Failure> {
    let folder = cli.folder()?;
    let reach = Reach::find(&folder).await?;
    // An id that names nothing is said to be so, whatever else is asked.
    reach.session(args.session).await?;
    let mut source = Source::new(&reach, &folder, args.session);
    if let Some(switch) = args.record {
        let recording = source.switch(switch == OnOff::On).await?;
        say_switch(cli, args, recording);
        if !args.follow {
            return Ok(());
        }
    }
    source.open(args.after, args.follow).await?;
    let mut look = Look::new(args.body());
    let mut shown = 0_u64;
    while let Some(line) = source.next().await? {
        let Ok(entry) = serde_json::from_slice::<Entry>(&line) else { continue };
        shown += 1;
        let written = match cli.format() {
            Format::Json => look.as_it_is(&line),
            Format::Words => look.entry(&entry),
        };
        match written {
            // Whoever closed our output has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(Failure::failed(format!("cannot write: {error}"))),
            Ok(()) => {}
        }
    }
    if shown == 0 && cli.format() == Format::Words {
        print::words(&nothing(args, source.recording()));
    }
    source.end(args.follow)
}

fn say_switch(cli: &Cli, args: &InspectArgs, recording: bool) {
    let id = args.session;
    match cli.format() {
        Format::Json => print::json(&serde_json::json!({ "session": id, "recording": recording })),
        Format::Words if recording => {
            print::words(&format!(
                "The wire of session {id} is recorded from now on. See it with `switchboard inspect {id} --follow`."
            ));
        }
        Format::Words => {
            print::words(&format!(
                "The wire of session {id} is not recorded any more. What was recorded goes when the session is deleted."
            ));
        }
    }
}

fn nothing(args: &InspectArgs, recording: bool) -> String {
    let id = args.session;
    if args.after > 0 {
        return format!("Nothing was recorded of session {id} after entry {}.", args.after);
    }
    if recording {
        return format!("The wire of session {id} is recorded, and nothing has gone over it yet.");
    }
    format!(
        "Nothing is recorded of session {id}. Switch it on with `switchboard inspect {id} --record on`, or for all \
         sessions of an agent with `record = true` in its table of the configuration."
    )
}
