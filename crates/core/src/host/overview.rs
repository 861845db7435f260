//! Lists: what there is, for the views that watch everything. Says only what is durable, and no word of a conversation.

use std::collections::BTreeSet;

use switchboard_types::{Containment, LinkId, Seen, SessionId, TabId, Time, Told, WorkspaceSummary};

use super::Host;
use crate::input::{Output, Workspace};

pub(super) fn summary(workspace: &Workspace) -> WorkspaceSummary {
    WorkspaceSummary {
        root: workspace.root.clone(),
        trust: workspace.trust,
        agents: workspace.agents.clone(),
        default_agent: workspace.default_agent.clone(),
        offers: workspace.offers.clone(),
    }
}

impl Host {
    /// Everything as it is; from now on every change follows.
    pub(super) fn watch(&mut self, now: Time, link_id: LinkId, seen: Vec<(TabId, Seen)>) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        link.stale = Some(BTreeSet::new());
        let told = Told::Overview {
            home: self.home.clone(),
            workspaces: self.workspaces.values().map(summary).collect(),
            sessions: self.sessions_with_tab().filter_map(|session| session.summary()).collect(),
        };
        self.tell(link_id, told);
        if let Some(containment) = self.containment.clone() {
            self.tell(link_id, Told::Containment(containment));
        }
        self.attach_all(now, link_id, seen);
    }

    /// The edges have found out how commands are held in.
    pub(super) fn know_containment(&mut self, containment: Containment) {
        if self.containment.as_ref() != Some(&containment) {
            self.tell_watching(&Told::Containment(containment.clone()));
            self.containment = Some(containment);
        }
    }

    /// A list shows something else of this session than before.
    pub(super) fn touch(&mut self, session: SessionId) {
        self.touched.insert(session);
    }

    /// Tells those who watch what has changed, each as far as it reads.
    pub(super) fn tell_touched(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        let touched = std::mem::take(&mut self.touched);
        let mut watching = Vec::new();
        for (id, link) in &mut self.links {
            if let Some(stale) = &mut link.stale {
                stale.extend(&touched);
                watching.push(*id);
            }
        }
        for link in watching {
            self.tell_stale(link);
        }
    }

    /// Tells one view of the sessions that have changed, until its window is full; the rest follows when it has read. Of
    /// many changes of a session it is told the last.
    pub(super) fn tell_stale(&mut self, link_id: LinkId) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        while link.has_room() {
            let Some(session) = link.stale.as_mut().and_then(BTreeSet::pop_first) else { return };
            let Some(summary) = self.sessions.get(&session).and_then(|session| session.summary()) else { continue };
            let told = Told::Session(summary);
            link.in_flight += told.cost();
            self.outputs.push_back(Output::Tell { link: link_id, told });
        }
    }

    /// Tells all who watch something that changes rarely.
    pub(super) fn tell_watching(&mut self, told: &Told) {
        for (id, link) in &mut self.links {
            if link.stale.is_some() {
                link.in_flight += told.cost();
                self.outputs.push_back(Output::Tell { link: *id, told: told.clone() });
            }
        }
    }
}
