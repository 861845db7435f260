//! Which commands run or are still looked at, session by session, and the way to each. Knows nothing of what they do.

use std::collections::HashMap;

use switchboard_types::{ErrandCode, ErrandFailure, ErrandId, ExecutionId, SessionId, TerminalWish};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::limits::{MAX_KEPT_BYTES, MAX_OPEN_WISHES, MAX_TERMINALS};
use super::terminal::{Told, Wish, too_many_wishes};

/// All terminals. One that is taken out of here ends by itself, since nobody can tell it anything any more.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    sessions: HashMap<SessionId, HashMap<ExecutionId, Terminal>>,
    opened: u64,
}

#[derive(Debug)]
struct Terminal {
    tell: mpsc::Sender<Told>,
    /// Which one was opened first.
    number: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    /// So many bytes of its output are kept.
    Over(usize),
}

impl Terminals {
    /// Opens one; what it is told comes out of the queue.
    pub(super) fn open(
        &mut self,
        session: SessionId,
        execution: ExecutionId,
    ) -> Result<mpsc::Receiver<Told>, ErrandFailure> {
        self.make_room(session)?;
        // Two places are for the words that end it.
        let (tell, waiting) = mpsc::channel(MAX_OPEN_WISHES + 2);
        self.opened += 1;
        let terminal = Terminal { tell, number: self.opened, state: State::Runs };
        self.sessions.entry(session).or_default().insert(execution, terminal);
        Ok(waiting)
    }

    /// Sees to it that one more can be opened: the oldest that has ended is forgotten.
    pub(super) fn make_room(&mut self, session: SessionId) -> Result<(), ErrandFailure> {
        let Some(all) = self.sessions.get_mut(&session).filter(|all| all.len() >= MAX_TERMINALS) else { return Ok(()) };
        let over = all.iter().filter(|(_, terminal)| matches!(terminal.state, State::Over(_)));
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
        if terminal.tell.capacity() <= 2 && !terminal.tell.is_closed() {
            return Err(too_many_wishes());
        }
        match terminal.tell.try_send(Told::Wish(Wish { errand, wish })) {
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

    /// Its command has ended; what it wrote can still be looked at, as long as there is room for it.
    pub(super) fn over(&mut self, session: SessionId, execution: &ExecutionId, kept: usize) {
        if let Some(terminal) = self.sessions.get_mut(&session).and_then(|all| all.get_mut(execution)) {
            terminal.state = State::Over(kept);
        }
        while let Some((session, execution)) = self.oldest_over_the_limit() {
            self.forget(session, &execution);
        }
    }

    fn oldest_over_the_limit(&self) -> Option<(SessionId, ExecutionId)> {
        let all = self.sessions.iter().flat_map(|(session, all)| all.iter().map(move |one| (*session, one)));
        let over = all.filter_map(|(session, (execution, terminal))| match terminal.state {
            State::Over(kept) => Some((terminal.number, session, execution, kept)),
            State::Runs => None,
        });
        let over: Vec<_> = over.collect();
        let kept: usize = over.iter().map(|(.., kept)| kept).sum();
        let oldest = over.into_iter().min_by_key(|(number, ..)| *number).filter(|_| kept > MAX_KEPT_BYTES)?;
        Some((oldest.1, oldest.2.clone()))
    }

    pub(super) fn forget(&mut self, session: SessionId, execution: &ExecutionId) {
        if let Some(all) = self.sessions.get_mut(&session) {
            all.remove(execution);
            if all.is_empty() {
                self.sessions.remove(&session);
            }
        }
    }

    /// Ends one at once.
    pub(super) fn stop(&self, session: SessionId, execution: &ExecutionId) {
        if let Some(terminal) = self.sessions.get(&session).and_then(|all| all.get(execution)) {
            // There is always room for this, unless it was said before.
            let _ = terminal.tell.try_send(Told::Stop);
        }
    }

    /// Ends all of a session. They are still known, since the agent may look at what they wrote.
    pub(super) fn end_all(&mut self, session: SessionId) {
        for terminal in self.sessions.get(&session).into_iter().flat_map(HashMap::values) {
            if terminal.state == State::Runs {
                // There is always room for this, unless it was said before.
                let _ = terminal.tell.try_send(Told::End);
            }
        }
    }
}
