//! A view and its journal. Checks what it is shown at the moment it is shown.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_core::State;
use switchboard_types::{
    Approval, Body, Event, HistoryPlace, LinkId, Reject, RequestNo, Seq, SessionId, SessionSummary, TabId, Told,
    ToolName, WorkspaceRoot, WorkspaceSummary,
};

use super::disk::Disk;

/// A view and its journal.
pub(crate) struct View {
    pub(crate) link: Option<LinkId>,
    pub(crate) visible: bool,
    /// What it has applied, per tab.
    pub(crate) journal: BTreeMap<TabId, Vec<Event>>,
    pub(crate) gaps: Vec<(TabId, Seq, Seq)>,
    pub(crate) resets: Vec<TabId>,
    pub(crate) refused: Vec<Reject>,
    pub(crate) tabs: Vec<switchboard_types::TabSummary>,
    /// What it knows of everything, once it watches.
    pub(crate) workspaces: BTreeMap<WorkspaceRoot, WorkspaceSummary>,
    pub(crate) sessions: BTreeMap<SessionId, SessionSummary>,
    pub(crate) gone: Vec<SessionId>,
    pub(crate) history: Option<(Vec<SessionSummary>, Option<HistoryPlace>)>,
    pub(crate) pongs: Vec<u64>,
    /// Answers about tools, calls, approvals and rules, in order.
    pub(crate) answers: Vec<Told>,
    /// Calls of tools that this view lends and has not answered.
    pub(crate) lent_calls: Vec<(u64, ToolName)>,
    /// Questions that this link was told of.
    pub(crate) questions: Vec<(SessionId, Approval)>,
    /// Requests that have no answer yet.
    pub(crate) owed: BTreeSet<RequestNo>,
    /// Whether this link has asked to watch everything.
    pub(crate) watching: bool,
    pub(crate) undrained: usize,
    /// Whether it reads what it is sent.
    pub(crate) reads: bool,
}

impl View {
    pub(crate) fn new() -> Self {
        Self {
            link: None,
            visible: true,
            journal: BTreeMap::new(),
            gaps: Vec::new(),
            resets: Vec::new(),
            refused: Vec::new(),
            tabs: Vec::new(),
            workspaces: BTreeMap::new(),
            sessions: BTreeMap::new(),
            gone: Vec::new(),
            history: None,
            pongs: Vec::new(),
            answers: Vec::new(),
            lent_calls: Vec::new(),
            questions: Vec::new(),
            owed: BTreeSet::new(),
            watching: false,
            undrained: 0,
            reads: true,
        }
    }

    /// Invariants 2 (continuous), 3 (durable before visible) and 8 (apart), at the moment of showing.
    pub(crate) fn take(&mut self, disk: &Disk, told: Told) {
        match told {
            Told::Events { tab, page, names, .. } => {
                assert!(self.visible, "a hidden view is shown nothing");
                self.undrained += page.cost();
                let journal = self.journal.entry(tab.clone()).or_default();
                let gap_to = self.gaps.iter().filter(|(t, _, _)| *t == tab).map(|(_, _, to)| *to).max();
                for event in page.events() {
                    let event = event.to_event().expect("readable");
                    let before = last(journal).max(gap_to.unwrap_or_default());
                    assert_eq!(event.seq, before.next(), "{tab} goes on where it was");
                    let at = event.seq.0 as usize - 1;
                    let durable = disk.sessions.values().any(|stored| stored.log.get(at) == Some(&event));
                    assert!(durable, "shown before it was durable: {event:?}");
                    assert_eq!(event.turn.is_some(), event.turn.and_then(|turn| names.get(turn)).is_some());
                    journal.push(event);
                }
            }
            Told::Gap { tab, from, to } => {
                let journal = self.journal.entry(tab.clone()).or_default();
                assert_eq!(from, last(journal).next(), "the gap begins where the view was");
                self.gaps.push((tab, from, to));
            }
            Told::Reset { tab } => {
                self.journal.remove(&tab);
                self.resets.push(tab);
            }
            Told::Refused(reject) => self.refused.push(reject),
            Told::Tabs { tabs } => self.tabs = tabs,
            Told::Overview { workspaces, sessions, .. } => {
                self.watching = true;
                self.workspaces = workspaces.into_iter().map(|known| (known.root.clone(), known)).collect();
                self.sessions.clear();
                sessions.into_iter().for_each(|session| self.take_session(disk, session));
            }
            Told::Session(session) => {
                self.undrained += Told::Session(session.clone()).cost();
                self.take_session(disk, session);
            }
            Told::SessionGone { session } => {
                self.undrained += Told::SessionGone { session }.cost();
                assert!(!disk.sessions.contains_key(&session), "told of a deletion before it was durable");
                self.sessions.remove(&session);
                self.gone.push(session);
            }
            Told::Workspace(workspace) => {
                self.undrained += Told::Workspace(workspace.clone()).cost();
                self.workspaces.insert(workspace.root.clone(), workspace);
            }
            Told::History { sessions, next } => self.history = Some((sessions, next)),
            Told::Pong { number } => self.pongs.push(number),
            Told::LentCall { call, tool, .. } => self.lent_calls.push((call, tool)),
            Told::ApprovalOpen { session, approval } => self.take_question(disk, session, *approval),
            Told::Rules { rules } => {
                assert_eq!(rules, disk.rules, "rules are told as the disk has them");
                self.answers.push(Told::Rules { rules });
            }
            Told::Containment(containment) => self.answers.push(Told::Containment(containment)),
            told @ (Told::ChoreNews { .. } | Told::Settings(_)) => self.answers.push(told),
            Told::Tools { request, .. }
            | Told::ToolsCalled { request, .. }
            | Told::CallCancelled { request, .. }
            | Told::Calls { request, .. }
            | Told::Lent { request, .. }
            | Told::ApprovalsWatched { request }
            | Told::Answer { request, .. }
            | Told::ChoreDone { request, .. }
            | Told::Answered { request, .. } => {
                assert!(self.owed.remove(&request), "request {request} was answered twice");
                self.assert_durable(disk, &told);
                self.answers.push(told);
            }
        }
    }

    /// Invariant 3 for answers: what a call came to, and what a question was answered, is on the disk.
    fn assert_durable(&self, disk: &Disk, told: &Told) {
        let bodies = || disk.sessions.values().flat_map(|stored| &stored.log).map(|event| &event.body);
        if let Told::ToolsCalled { outcomes: Ok(outcomes), .. } = told {
            for outcome in outcomes.iter().filter(|outcome| outcome.metadata.is_some()) {
                let over = disk.ended_calls.contains(&outcome.call);
                assert!(over, "{} was answered before its end was durable", outcome.call);
            }
        }
        if let Told::Answered { result: Ok((resolution, _)), .. } = told {
            let resolved =
                |body: &Body| matches!(body, Body::ApprovalResolved { resolution: r, .. } if r == resolution);
            assert!(bodies().any(resolved), "an answer was told before it was durable");
        }
    }

    fn take_question(&mut self, disk: &Disk, session: SessionId, approval: Approval) {
        let known = self.questions.iter().any(|(of, known)| (*of, &known.id) == (session, &approval.id));
        assert!(!known, "a link was told twice of {}", approval.id);
        let asked = Body::ApprovalAsked { approval: approval.clone() };
        let log = disk.sessions.get(&session).map_or(&[][..], |stored| &stored.log);
        assert!(log.iter().any(|event| event.body == asked), "a question was shown before it was durable");
        self.questions.push((session, approval));
    }

    /// Invariant 3 for lists: what is shown of a session is the fold of a part of its log that is on the disk.
    fn take_session(&mut self, disk: &Disk, session: SessionSummary) {
        let stored = disk.sessions.get(&session.session).expect("a listed session is on the disk");
        let mut state = State::default();
        let durable = stored.log.iter().any(|event| {
            state.apply(event.seq, event.turn, &event.body);
            state.title == session.title
                && state.status() == session.status
                && state.queue().len() == session.queued
                && state.approvals().count() == session.approvals
                && state.closed == session.tab.is_none()
        });
        assert!(durable || stored.lost_to > Seq::START, "listed before it was durable: {session:?}");
        self.sessions.insert(session.session, session);
    }

    pub(crate) fn seen(&self, tab: &str) -> &[Event] {
        self.journal.get(&TabId::from(tab)).map_or(&[], Vec::as_slice)
    }
}

pub(crate) fn last(log: &[Event]) -> Seq {
    log.last().map_or(Seq::START, |event| event.seq)
}
