//! What a restart means: sessions and queues come back, what ran is marked, what was asked expires; and the trust of
//! workspaces. Never sends a prompt again.

use std::collections::BTreeSet;

use switchboard_types::{
    Body, Change, Detail, Effect, ErrandCode, ErrandFailure, LinkId, Outcome, Provider, RejectCode, Resolution,
    SessionId, TabId, Time, Told, Trust, WorkspaceRoot, WorkspaceRow,
};

use super::Host;
use super::commands::untrusted_message;
use crate::input::{EndHow, Recovered, RequestId, Workspace};
use crate::session::{Session, Writes};

impl Host {
    /// The workspace of tabs that name none.
    pub fn set_home(&mut self, root: WorkspaceRoot) {
        self.home = Some(root);
    }

    /// The first session id that was never used.
    pub fn set_next_session(&mut self, next: SessionId) {
        self.next_session = next;
    }

    /// Takes back a session from the disk: what ran when the host died has failed, what waited waits for a view.
    pub fn restore(&mut self, now: Time, mut recovered: Recovered) {
        let id = recovered.row.session;
        let Some(tab) = recovered.row.tab.clone() else { return self.settle_closed(now, recovered) };
        // Two sessions can claim a tab if the older one's end did not reach the disk; the newer one has it.
        if let Some(older) = self.tabs.insert(tab.clone(), id) {
            self.append(now, older, None, &Body::SessionClosed {});
        }
        let calls = std::mem::take(&mut recovered.calls);
        let mut session = Session::found(recovered, tab);
        session.held = session.state.queue().len() > 0;
        let elsewhere = session.is_elsewhere();
        self.sessions.insert(id, session);
        self.settle_executions(now, id);
        if !elsewhere {
            self.settle_running(now, id, "host_restarted", "the host was restarted while this turn ran; send it again");
        }
        self.settle_calls(now, id, calls);
        if elsewhere {
            self.know_unasked(id);
            self.pump(now, id);
        }
    }

    /// A session that was closed while something of it was still at work: that gets its end, and the session rests.
    fn settle_closed(&mut self, now: Time, mut recovered: Recovered) {
        let calls = std::mem::take(&mut recovered.calls);
        if calls.is_empty() && recovered.state.executions().next().is_none() {
            return;
        }
        let id = recovered.row.session;
        self.sessions.insert(id, Session::found(recovered, TabId::new("")));
        self.settle_executions(now, id);
        self.settle_running(now, id, "host_restarted", "the host was restarted while this turn ran; send it again");
        self.settle_calls(now, id, calls);
    }

    /// Marks the running turn as failed and lets its questions expire.
    fn settle_running(&mut self, now: Time, id: SessionId, code: &str, message: &str) {
        let Some(session) = self.sessions.get(&id) else { return };
        let running = session.state.running();
        if let Some(turn) = running {
            self.end_turn(now, id, turn, Outcome::Failed, Some(Detail::new(code, message)));
        }
        self.resolve_all(now, id, Resolution::Expired);
    }

    /// A session whose commit failed was read anew; its commands go on.
    pub(super) fn reloaded(&mut self, now: Time, id: SessionId, recovered: Result<Box<Recovered>, String>) {
        let Some(session) = self.sessions.get_mut(&id) else { return self.found_in_history(now, id, recovered) };
        let Writes::Reloading(waiting) = &mut session.writes else { return };
        let waiting = std::mem::take(waiting);
        match recovered {
            Ok(recovered) => self.reopen(now, id, *recovered, waiting),
            Err(reason) => {
                session.writes = Writes::Sealed;
                let message = format!("this tab cannot be read from the disk: {reason}. Try again once that is mended");
                for (link, command) in waiting {
                    self.refuse_command(link, &command, RejectCode::Internal, &message);
                }
                self.delete_settled(id, Some(&reason));
            }
        }
    }

    fn reopen(
        &mut self,
        now: Time,
        id: SessionId,
        mut recovered: Recovered,
        waiting: Vec<(LinkId, switchboard_types::Command)>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let (tab, watchers) = (session.tab.clone(), std::mem::take(&mut session.watchers));
        let calls = std::mem::take(&mut recovered.calls);
        *session = Session::found(recovered, tab.clone());
        session.watchers = watchers;
        // The close that seemed to fail is on the disk after all.
        if session.state.closed && self.tabs.get(&tab) == Some(&id) {
            self.tabs.remove(&tab);
        }
        self.settle_executions(now, id);
        if self.sessions.get(&id).is_some_and(|session| !session.is_elsewhere()) {
            let message = "this turn could not be kept: the disk took no more. Send it again";
            self.settle_running(now, id, "storage_failed", message);
        }
        self.settle_calls(now, id, calls);
        self.know_unasked(id);
        self.look_again(id);
        self.touch(id);
        for (link, command) in waiting {
            if self.sessions.get(&id).is_some_and(|session| !session.state.closed) {
                self.session_command(now, link, id, command);
            } else {
                let message = "there is no such tab any more; it was closed";
                self.refuse_command(link, &command, RejectCode::UnknownTab, message);
            }
        }
        if self.deleting.contains_key(&id) {
            self.go_on_deleting(now, id);
        }
        self.pump(now, id);
        self.forget_if_over(id);
    }

    pub(super) fn know_workspace(&mut self, workspace: Workspace) {
        if self.workspaces.get(&workspace.root) != Some(&workspace) {
            self.tell_watching(&Told::Workspace(super::overview::summary(&workspace)));
            self.workspaces.insert(workspace.root.clone(), workspace);
        }
    }

    /// Trust counts once it is on the disk; distrust counts at once.
    pub(super) fn trust(&mut self, now: Time, workspace: Workspace, request: RequestId) {
        let trusted = (workspace.trust == Trust::Trusted).then_some(now);
        self.changes.push(Change::Workspace(WorkspaceRow { root: workspace.root.clone(), trusted }));
        if workspace.trust == Trust::Untrusted {
            self.know_workspace(workspace.clone());
            self.end_untrusted(now, &workspace.root);
        }
        self.trusting.push((request, workspace));
    }

    fn end_untrusted(&mut self, now: Time, root: &WorkspaceRoot) {
        let reason = untrusted_message(root);
        let here = self.sessions.values().filter(|session| session.workspace == *root && !session.agent.is_demo());
        let here: BTreeSet<SessionId> = here.map(|session| session.id).collect();
        let failure = ErrandFailure::new(ErrandCode::Untrusted, reason.as_str());
        self.stop_calls(now, &failure, |call| {
            let harms = call.tool.provider == Provider::Host && call.tool.effect != Effect::Reads;
            harms && here.contains(&call.row.session)
        });
        for key in self.lives.alive() {
            if key.workspace == *root && !key.agent.is_demo() {
                self.end_life(&key, EndHow::Gracefully, &reason);
            }
        }
    }

    pub(super) fn trust_settled(&mut self, now: Time, settled: &[(RequestId, Workspace)], failed: Option<&str>) {
        for (at, (request, workspace)) in settled.iter().enumerate() {
            let result = failed.map_or(Ok(()), |reason| Err(reason.to_owned()));
            let later = settled.iter().skip(at + 1).chain(&self.trusting);
            let later = later.chain(self.commits.iter().flat_map(|commit| &commit.trusting));
            let overtaken = later.into_iter().any(|(_, other)| other.root == workspace.root);
            if result.is_ok() && !overtaken {
                self.trust_holds(now, workspace.clone());
            }
            self.outputs.push_back(crate::input::Output::TrustSettled { request: *request, result });
        }
    }

    fn trust_holds(&mut self, now: Time, workspace: Workspace) {
        let root = workspace.root.clone();
        if workspace.trust == Trust::Untrusted {
            self.end_untrusted(now, &root);
        }
        self.know_workspace(workspace);
        let here = self.sessions.values().filter(|session| session.workspace == root);
        for id in here.map(|session| session.id).collect::<Vec<_>>() {
            self.pump(now, id);
        }
    }

    /// The host stops: what runs is marked, every agent is ended, nothing more is taken.
    pub(super) fn stop(&mut self, now: Time) {
        self.stopping = true;
        // An agent elsewhere goes on with its turn.
        let here = self.sessions.values().filter(|session| !session.is_elsewhere());
        let ids: Vec<SessionId> = here.map(|session| session.id).collect();
        let stopped = ErrandFailure::new(ErrandCode::Cancelled, "the host is stopping");
        self.stop_calls(now, &stopped, |_| true);
        for id in ids {
            self.settle_running(now, id, "host_restarted", "the host was stopped while this turn ran; send it again");
        }
        for key in self.lives.alive() {
            self.end_life(&key, EndHow::Gracefully, "the host stopped");
        }
    }

    /// The tabs that are open, for listings.
    pub fn open_tabs(&self) -> impl Iterator<Item = (&TabId, SessionId)> {
        self.tabs.iter().map(|(tab, id)| (tab, *id))
    }
}
