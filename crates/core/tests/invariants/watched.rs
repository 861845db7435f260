//! What a view that watches must know of all sessions. Only looks.

use std::collections::BTreeMap;

use switchboard_types::{SessionId, SessionRow};

use super::view::View;
use super::world::World;

impl World {
    /// A view that watches knows every session with a tab as it is, and none that has no tab.
    pub(crate) fn assert_watched(&self, view: &View) {
        let open = |row: &&SessionRow| row.tab.is_some();
        let rows = self.disk.sessions.values().filter_map(|stored| stored.row.as_ref()).filter(open);
        let rows: BTreeMap<SessionId, _> =
            rows.map(|row| (row.session, (row.tab.clone(), row.title.clone()))).collect();
        let listed = view.sessions.values().filter(|session| session.tab.is_some());
        let listed: BTreeMap<SessionId, _> =
            listed.map(|session| (session.session, (session.tab.clone(), session.title.clone()))).collect();
        assert_eq!(listed, rows, "what a watching view lists");
        for (id, session) in view.sessions.iter().filter(|(_, session)| session.tab.is_some()) {
            if let Some(state) = self.host.state(*id) {
                assert_eq!((session.status, session.queued), (state.status(), state.queue().len()), "session {id}");
            }
        }
    }
}
