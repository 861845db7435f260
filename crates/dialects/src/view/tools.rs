//! The dialect `tools`: a view that calls tools, lends its own and answers questions. Owns its names, its shapes and the order of
//! its answers; never keeps a tool, a call or a rule.
//!
//! | module | owns |
//! | --- | --- |
//! | `read` | a view's messages into what they ask for |
//! | `check` | what is wrong with them, all of it |
//! | `lend` | the definitions of tools that a view lends |
//! | `order` | which requests are open, and in which order answers leave |
//! | `shape` | the shapes of all messages, and their JSON Schema |
//! | `write` | what the host tells into messages |

mod check;
mod lend;
mod order;
mod read;
mod shape;
mod write;

use switchboard_types::{Command, Reject, Time, Told};

use self::order::{Order, Request};
use self::read::{Asked, Heard, Refusal};
use super::ViewDialect;

pub use self::order::MAX_OPEN_REQUESTS;
pub use self::shape::schema;

/// The dialect `tools` with the requests of one link that are open.
#[derive(Debug, Default)]
pub struct Tools {
    order: Order,
    /// What was made of the message that was read last, until the next one is read.
    last: Last,
    scratch: Vec<u8>,
}

/// What became of a message.
#[derive(Debug, Default)]
enum Last {
    /// It was no request, or there was none.
    #[default]
    Nothing,
    /// It is open.
    Open(switchboard_types::RequestNo),
    /// It was refused, and that is not said yet.
    Refused(Box<Refusal>),
}

impl Tools {
    /// For a link that has just opened.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a request and gives the host's command for it.
    fn take(&mut self, heard: Heard) -> Result<Command, Box<Refusal>> {
        let Heard { id, asked } = heard;
        let request = match asked {
            Ok(Asked::Result { call, result }) => return Ok(Command::LentResult { call, result }),
            Ok(Asked::Request(request)) if self.order.is_full() => {
                drop(request);
                return Err(Box::new(Refusal::too_many(id)));
            }
            Ok(Asked::Request(request)) => request,
            Err(refusal) => return Err(Box::new(Refusal { id, ..refusal })),
        };
        let number = self.order.open(Request { id, kind: request.kind() });
        self.last = Last::Open(number);
        Ok(request.command(number))
    }
}

impl ViewDialect for Tools {
    fn read(&mut self, _now: Time, frame: &[u8]) -> Result<Command, Reject> {
        self.last = Last::Nothing;
        self.take(read::heard(frame)).map_err(|refusal| {
            let reject = refusal.reject();
            self.last = Last::Refused(refusal);
            reject
        })
    }

    fn write(&mut self, _now: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        write::Writer { order: &mut self.order, scratch: &mut self.scratch, message }.told(told);
        self.scratch.shrink_to(write::KEEP_SCRATCH_BYTES);
    }

    fn refuse(&mut self, _now: Time, reject: &Reject, message: &mut dyn FnMut(&[u8])) {
        let mut writer = write::Writer { order: &mut self.order, scratch: &mut self.scratch, message };
        match std::mem::take(&mut self.last) {
            Last::Refused(refusal) => writer.refusal(*refusal),
            Last::Open(number) => writer.failure(number, &write::failure_of(reject)),
            // It did not even get as far as being read; its answer has its place among the others all the same.
            Last::Nothing => writer.refusal(Refusal::of(reject)),
        }
    }
}
