//! How many sessions' turns run at once, where people have set that: whoever finds no room stands in line, and the first in line
//! that finds some is next. Agents elsewhere are not counted: their turns cost this machine nothing.

use std::collections::{BTreeSet, VecDeque};

use switchboard_types::{SessionId, Time, WorkspaceRoot};

use super::Host;

/// Who has room and who waits for it.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Sessions whose turn runs, or may start as soon as its agent is there.
    admitted: BTreeSet<SessionId>,
    /// Sessions that wait, the longest first.
    line: VecDeque<SessionId>,
}

impl Host {
    /// Whether a session's next turn may start now; if not, it stands in line.
    pub(super) fn may_start(&mut self, id: SessionId) -> bool {
        if self.room.admitted.contains(&id) || !self.takes_room(id) {
            return true;
        }
        self.let_go();
        let mut ahead = self.room.line.iter().take_while(|other| **other != id);
        if self.has_room(id) && !ahead.any(|other| self.has_room(*other)) {
            self.room.line.retain(|other| *other != id);
            self.room.admitted.insert(id);
            return true;
        }
        if !self.room.line.contains(&id) {
            self.room.line.push_back(id);
        }
        false
    }

    /// A turn has ended; whoever waits comes before the session's own next turn.
    pub(super) fn leave_room(&mut self, id: SessionId) {
        if self.sessions.get(&id).is_none_or(|session| session.state.running().is_none()) {
            self.room.admitted.remove(&id);
        }
    }

    /// Lets in who waits, as far as there is room.
    pub(super) fn pump_line(&mut self, now: Time) {
        if self.room.line.is_empty() {
            return;
        }
        self.let_go();
        let full = self.known_settings.user.max_active_sessions;
        if full.is_some_and(|most| self.room.admitted.len() >= most as usize) {
            return;
        }
        while let Some(next) = self.room.line.iter().copied().find(|id| self.has_room(*id)) {
            self.pump(now, next);
            // Whoever did not want it any more, or cannot use it now, stands in line again when that changes.
            self.room.line.retain(|id| *id != next);
        }
    }

    /// What nothing runs in and nothing waits in holds no room; nor does what cannot be written to.
    fn let_go(&mut self) {
        let sessions = &self.sessions;
        self.room.admitted.retain(|id| {
            sessions.get(id).is_some_and(|session| {
                let busy = session.state.running().is_some() || session.waiting().is_some();
                busy && session.is_writable() && !session.state.closed
            })
        });
    }

    fn has_room(&self, id: SessionId) -> bool {
        let Some(session) = self.sessions.get(&id) else { return false };
        let everywhere = self.known_settings.user.max_active_sessions;
        let own = self.known_settings.workspaces.iter().find(|(root, _)| *root == session.workspace);
        let here = own.and_then(|(_, own)| own.max_active_sessions);
        everywhere.is_none_or(|most| self.room.admitted.len() < most as usize)
            && here.is_none_or(|most| self.admitted_in(&session.workspace) < most as usize)
    }

    fn admitted_in(&self, root: &WorkspaceRoot) -> usize {
        let is_there = |id: &&SessionId| self.sessions.get(id).is_some_and(|session| session.workspace == *root);
        self.room.admitted.iter().filter(is_there).count()
    }

    fn takes_room(&self, id: SessionId) -> bool {
        self.sessions.get(&id).is_some_and(|session| {
            !session.is_elsewhere() && !self.is_configured_elsewhere(&session.workspace, &session.agent)
        })
    }
}
