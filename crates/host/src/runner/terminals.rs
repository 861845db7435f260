//! Which commands run or are still looked at, session by session, and the way to each. Knows nothing of what they do.

use std::collections::HashMap;

use switchboard_types::{ErrandCode, ErrandFailure, ErrandId, ExecutionId, SessionId, TerminalWish};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::limits::{MAX_OPEN_WISHES, MAX_TERMINALS};
use super::terminal::{Wish, too_many_wishes};

/// All terminals. One that is taken out of here ends by itself: its wishes are closed.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    sessions: HashMap<SessionId, HashMap<ExecutionId, Terminal>>,
    opened: u64,
}

#[derive(Debug)]
struct Terminal {
    wishes: mpsc::Sender<Wish>,
    /// Which one was opened first.
    number: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    Over,
}

impl Terminals {
    /// Opens one; what is wished of it comes out of the queue.
    pub(super) fn open(
        &mut self,
        session: SessionId,
        execution: ExecutionId,
    ) -> Result<mpsc::Receiver<Wish>, ErrandFailure> {
        self.make_room(session)?;
        let (wishes, waiting) = mpsc::channel(MAX_OPEN_WISHES);
        self.opened += 1;
        let terminal = Terminal { wishes, number: self.opened, state: State::Runs };
        self.sessions.entry(session).or_default().insert(execution, terminal);
        Ok(waiting)
    }

    /// Sees to it that one more can be opened: the oldest that has ended is forgotten.
    pub(super) fn make_room(&mut self, session: SessionId) -> Result<(), ErrandFailure> {
        let Some(all) = self.sessions.get_mut(&session).filter(|all| all.len() >= MAX_TERMINALS) else { return Ok(()) };
        let over = all.iter().filter(|(_, terminal)| terminal.state == State::Over);
        let oldest = over.min_by_key(|(_, terminal)| terminal.number).map(|(execution, _)| execution.clone());
        let Some(oldest) = oldest else {
            let message = format!("{MAX_TERMINALS} commands of this session run already; end one of them first");
            return Err(ErrandFailure::new(ErrandCode::TooLarge, message));
        };
        all.remove(&oldest);
        Ok(())
    }

    /// Passes a wish on.
    pub(super) fn wish(
        &mut self,
        session: SessionId,
        execution: ExecutionId,
        errand: ErrandId,
        wish: TerminalWish,
    ) -> Result<(), ErrandFailure> {
        let none = || ErrandFailure::new(ErrandCode::NotFound, "there is no such command in this session, or no more");
        let terminal = self.sessions.get(&session).and_then(|all| all.get(&execution)).ok_or_else(none)?;
        match terminal.wishes.try_send(Wish { errand, wish }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(too_many_wishes()),
            Err(TrySendError::Closed(_)) => {
                self.forget(session, &execution);
                return Err(none());
            }
        }
        if wish == TerminalWish::Release {
            self.forget(session, &execution);
        }
        Ok(())
    }

    /// Its command has ended; what it wrote can still be looked at.
    pub(super) fn over(&mut self, session: SessionId, execution: ExecutionId) {
        if let Some(terminal) = self.sessions.get_mut(&session).and_then(|all| all.get_mut(&execution)) {
            terminal.state = State::Over;
        }
    }

    pub(super) fn forget(&mut self, session: SessionId, execution: &ExecutionId) {
        if let Some(all) = self.sessions.get_mut(&session) {
            all.remove(execution);
            if all.is_empty() {
                self.sessions.remove(&session);
            }
        }
    }

    /// Ends and forgets all of a session.
    pub(super) fn end_all(&mut self, session: SessionId) {
        self.sessions.remove(&session);
    }
}
