//! The dialect `bb`: a sidebar that asks by versioned requests and is told in topics. Owns its envelope, its shapes, its
//! batches and which session a link has selected; never keeps a word of a conversation beyond a batch.
//!
//! | module | owns |
//! | --- | --- |
//! | `asked` | the methods and the shapes of their parameters |
//! | `said` | the shapes of results, errors and topics |
//! | `schema` | the JSON Schemas of all of them |
//! | `check` | the compiled schemas |
//! | `read` | messages into requests |
//! | `ask` | requests into what is asked of the host |
//! | `open` | the requests that have no answer yet |
//! | `answer` | what the host answers into results |
//! | `seat` | which session is selected, and what is told of it |
//! | `follow` | from where on a session is followed |
//! | `known` | what the link was told of sessions and workspaces |
//! | `events` | events into batches |
//! | `cut` | payloads that are too large for a preview |
//! | `write` | results, errors and topics into messages |

mod answer;
mod ask;
mod asked;
mod check;
mod cut;
mod events;
mod follow;
mod known;
mod open;
mod read;
mod said;
mod schema;
mod seat;
mod write;

use std::collections::VecDeque;

use switchboard_types::{Command, LinkId, Reject, RequestNo, Time, Told, TurnName};

use self::ask::{Fresh, Want};
use self::events::Batch;
use self::known::Known;
use self::open::{Choice, Requests};
use self::read::Refusal;
use self::said::StateShape;
use self::seat::Seat;
use self::write::Out;
use super::{Sharing, ViewDialect};

pub use self::check::Checks;
pub use self::cut::MAX_PAYLOAD_BYTES;
pub use self::events::MAX_BATCH_EVENTS;
pub use self::open::MAX_OPEN_REQUESTS;
pub use self::schema::schema;

/// How often `bb/state` is told at most.
const STATE_MS: u64 = 40;

/// The dialect `bb` with the state of one link.
#[derive(Debug, Default)]
pub struct Bb {
    checks: Checks,
    link: LinkId,
    /// Turns and choices that were named.
    named: u64,
    requests: Requests,
    /// What was made of the message that was read last, until the next one is read.
    last: Last,
    known: Known,
    /// Requests that wait for the host to have told everything once, with the answer that they got already.
    waiting: Vec<(RequestNo, Vec<said::SessionShape>)>,
    seat: Option<Seat>,
    /// The last choice that was made.
    choice: Choice,
    batch: Batch,
    state: State,
    /// What the dialect itself asks of the host.
    asks: VecDeque<Command>,
    scratch: Vec<u8>,
}

/// What became of a message.
#[derive(Debug, Default)]
enum Last {
    /// It was none that could be answered, or there was none.
    #[default]
    Nothing,
    /// It is open.
    Open(RequestNo),
    /// It was refused, and that is not said yet.
    Refused(Box<Refusal>),
}

/// How far `bb/state` was told.
#[derive(Debug, Default)]
struct State {
    /// Whether something may have changed since.
    is_stale: bool,
    /// The last one, and when it was told.
    told: Option<(StateShape, Time)>,
    /// Whether the view has had its first answer; before that nothing comes unasked.
    is_wanted: bool,
}

impl Bb {
    /// For a link that has just opened.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with checks that are compiled already.
    #[must_use]
    pub fn with(checks: Checks) -> Self {
        Self { checks, ..Self::default() }
    }

    /// Notes a request and gives the host's command for it.
    fn take(&mut self, now: Time, frame: &[u8]) -> Result<Command, Box<Refusal>> {
        let mut request = read::request(&self.checks, frame)?;
        if self.requests.has(&request.id) {
            return Err(Box::new(Refusal::bad(&request.id, "a request with this `id` is open; give each its own")));
        }
        if self.requests.is_full() {
            let message = format!("{MAX_OPEN_REQUESTS} requests have no answer yet; wait for some of them");
            return Err(Box::new(Refusal::too_many(&request.id, message)));
        }
        self.named += 1;
        // No other link has this number while the host runs, and no other run of the host this time.
        let turn = TurnName::new(format!("bb-{}-{}-{}", now.0, self.link, self.named));
        let fresh = Fresh { turn, choice: Choice(self.named) };
        let (kind, want) = ask::want(&mut request, &self.known, fresh)?;
        self.choosing(&kind);
        let number = self.requests.open(Some(request.id), kind);
        self.last = Last::Open(number);
        Ok(match want {
            Want::Session(what) => Command::Session { request: number, what },
            Want::Answer { session, approval, decision } => {
                Command::Answer { request: number, session, approval, decision, command: None }
            }
        })
    }

    /// The clock stands at an earlier time than it did; nothing waits longer for it.
    fn notice(&mut self, now: Time) {
        self.batch.rewind(now);
        if let Some((_, at)) = &mut self.state.told {
            *at = (*at).min(now);
        }
    }

    fn state_due(&self) -> Option<Time> {
        let told = self.state.told.as_ref().map_or(Time(0), |(_, at)| at.after_ms(STATE_MS));
        (self.state.is_stale && self.state.is_wanted && self.known.is_told).then_some(told)
    }

    /// Tells what is due.
    fn tell_due(&mut self, now: Time, message: &mut dyn FnMut(&[u8])) {
        if self.batch.due().is_some_and(|due| due <= now) {
            self.flush(message);
        }
        if self.state_due().is_some_and(|due| due <= now) {
            self.tell_state(now, message);
        }
    }

    fn tell_state(&mut self, now: Time, message: &mut dyn FnMut(&[u8])) {
        self.state.is_stale = false;
        let state = self.known.state(self.seat.as_ref().map(|seat| seat.session));
        if self.state.told.as_ref().is_some_and(|(told, _)| *told == state) {
            return;
        }
        self.out(message).state(&state);
        self.state.told = Some((state, now));
    }

    fn out<'a>(&'a mut self, message: &'a mut dyn FnMut(&[u8])) -> Out<'a> {
        Out { checks: &self.checks, scratch: &mut self.scratch, message }
    }
}

impl ViewDialect for Bb {
    fn begin(&mut self, link: LinkId) -> Option<Command> {
        self.link = link;
        Some(Command::Watch { seen: Vec::new() })
    }

    fn read(&mut self, now: Time, frame: &[u8]) -> Result<Command, Reject> {
        self.notice(now);
        self.last = Last::Nothing;
        self.take(now, frame).map_err(|refusal| {
            let reject = refusal.reject();
            self.last = Last::Refused(refusal);
            reject
        })
    }

    fn write(&mut self, now: Time, told: &Told, message: &mut dyn FnMut(&[u8])) {
        self.notice(now);
        self.hear(now, told, message);
        self.tell_due(now, message);
        self.scratch.shrink_to(write::KEEP_SCRATCH_BYTES);
    }

    fn refuse(&mut self, _now: Time, reject: &Reject, message: &mut dyn FnMut(&[u8])) {
        match std::mem::take(&mut self.last) {
            Last::Refused(refusal) => {
                if let Some(id) = &refusal.id {
                    self.out(message).error(id, &refusal.error);
                }
            }
            Last::Open(number) => self.fail(number, reject, message),
            // It did not even get as far as being read: nobody can be answered.
            Last::Nothing => {}
        }
    }

    fn due(&self) -> Option<Time> {
        [self.batch.due(), self.state_due()].into_iter().flatten().min()
    }

    fn tick(&mut self, now: Time, message: &mut dyn FnMut(&[u8])) {
        self.notice(now);
        self.tell_due(now, message);
    }

    fn asks(&mut self) -> Option<Command> {
        self.asks.pop_front()
    }

    fn sharing(&self) -> Sharing {
        Sharing::Nothing
    }
}
