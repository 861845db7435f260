//! One session: its log's numbering, its state, what waits for the disk, and its place at an agent. Never decides what
//! happens next; the host does.

mod hearing;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use switchboard_types::{
    AgentHome, AgentName, AgentSession, AgentState, ApprovalId, Body, CallRow, Change, Command, Entry, Epoch, ErrandId,
    ExecutionId, LifeId, LinkId, Page, PageBuilder, Rule, Seq, SessionId, SessionKeeps, SessionRow, SessionSummary,
    TabId, Ticket, Time, ToolOutcome, TurnId, TurnNames, TurnPhase, TurnRow, WorkspaceRoot,
};

use crate::far::{Choices, Far, Sourcing};
use crate::fold::State;
use crate::input::{Output, Recovered};
use crate::open::{ApprovalAsker, BatchNo, CallNo, Consent, OpenErrand};
use crate::shown::Shown;

/// A session in memory.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) epoch: Epoch,
    pub(crate) workspace: WorkspaceRoot,
    pub(crate) agent: AgentName,
    /// The tab that shows it; stays for the seats' sake after the tab was closed.
    pub(crate) tab: TabId,
    created: Time,
    updated: Time,
    pub(crate) state: State,
    /// What a list shows of the session: as much of its state as is durable.
    shown: Shown,
    /// Whether the next commit changes what a list shows.
    shows_more: bool,
    /// The last event that has a number.
    pub(crate) head: Seq,
    /// The last event that is on the disk.
    pub(crate) durable: Seq,
    open: PageBuilder,
    dirty_row: bool,
    dirty_turns: BTreeSet<TurnId>,
    /// Pages on their way to the disk.
    pub(crate) pending: VecDeque<PendingPage>,
    /// What may leave once the event at that place is on the disk.
    pub(crate) gated: VecDeque<(Seq, Output)>,
    pub(crate) place: AgentPlace,
    /// What the agent calls its session, if it can be taken up again.
    pub(crate) agent_session: Option<AgentSession>,
    /// Whether the agent must be told what was said before.
    pub(crate) recap: Recap,
    /// What the host was asked to do and has not answered yet.
    pub(crate) errands: BTreeMap<ErrandId, OpenErrand>,
    /// The calls of tools that have no end yet.
    pub(crate) calls: BTreeSet<CallNo>,
    /// What runs for a call.
    pub(crate) executing: HashMap<ExecutionId, CallNo>,
    /// What came of views' calls, each told once the event at that place is on the disk.
    pub(crate) outcomes: VecDeque<(Seq, (BatchNo, usize), ToolOutcome)>,
    dirty_calls: BTreeMap<Seq, CallRow>,
    /// Rules that are stored with the next commit.
    dirty_rules: Vec<Rule>,
    /// What a person has allowed the agent itself, in the turn that runs.
    pub(crate) consents: Vec<Consent>,
    /// The last of what each command that runs has written.
    pub(crate) outputs: HashMap<ExecutionId, String>,
    /// What a person has set and allowed for it.
    pub(crate) keeps: SessionKeeps,
    /// When the agent last said or was told something.
    pub(crate) last_word: Time,
    /// Whether the person was told that nothing moves.
    pub(crate) stalled: bool,
    /// Whether its process was unloaded.
    pub(crate) asleep: bool,
    /// Lines of error output that were logged in this turn.
    pub(crate) stderr_lines: usize,
    /// Digests of the lists that were told last, so that the same list is not told twice.
    pub(crate) told_lists: ToldLists,
    pub(crate) writes: Writes,
    /// Prompts were found at start-up; they wait until a view attaches.
    pub(crate) held: bool,
    /// An agent session is wanted even while no prompt waits.
    pub(crate) eager: bool,
    /// Since when an agent's process is waited for.
    pub(crate) waits_since: Option<Time>,
    /// Whether the wait for the agent has been called slow.
    pub(crate) slow: bool,
    pub(crate) cancel_by: Option<Time>,
    /// Who is seated here, so that an event costs nothing for those who are not.
    pub(crate) watchers: BTreeSet<(LinkId, TabId)>,
    /// Who waits for the answers to our questions.
    pub(crate) askers: HashMap<ApprovalId, ApprovalAsker>,
    /// What is only there for an agent elsewhere.
    pub(crate) far: Far,
    /// What can be set of the agent.
    pub(crate) choices: Choices,
}

/// Whether an agent must be told what was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Recap {
    /// It knows.
    #[default]
    None,
    /// It must; the summary is being made.
    Wanted,
    /// It must; this goes with the next prompt.
    Ready(String),
}

/// Digests of lists that an agent repeats.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToldLists {
    pub(crate) commands: u64,
    pub(crate) options: u64,
}

/// The session's place at its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentPlace {
    /// No agent session.
    None,
    /// Asked for one.
    Opening { life: LifeId, since: Time },
    /// There is one.
    Open { life: LifeId },
}

/// A page on its way to the disk.
#[derive(Debug)]
pub(crate) struct PendingPage {
    pub(crate) ticket: Ticket,
    page: Arc<Page>,
    /// What a list shows once it is there, if that is something else than before.
    shown: Option<Box<Shown>>,
    /// The rules that hold once it is there.
    pub(crate) rules: Vec<Rule>,
}

/// Whether the numbers of a foreign log go on after a gap in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// They do.
    GoOn,
    /// They begin anew.
    BeginAnew,
}

/// Whether the log takes events.
#[derive(Debug)]
pub(crate) enum Writes {
    /// It does.
    Open,
    /// A commit failed; the session must be read anew before it takes any.
    Sealed,
    /// It is being read anew; these commands wait for it.
    Reloading(Vec<(LinkId, Command)>),
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        epoch: Epoch,
        tab: TabId,
        agent: AgentName,
        root: WorkspaceRoot,
        now: Time,
    ) -> Self {
        let row = SessionRow {
            session: id,
            epoch,
            workspace: root,
            agent,
            title: String::new(),
            tab: Some(tab.clone()),
            agent_session: None,
            keeps: SessionKeeps::default(),
            created: now,
            updated: now,
        };
        Self::found(Recovered { row, head: Seq::START, state: State::default(), calls: Vec::new() }, tab)
    }

    /// A session as it is on the disk.
    pub(crate) fn found(recovered: Recovered, tab: TabId) -> Self {
        let Recovered { row, head, state, calls: _ } = recovered;
        Self {
            id: row.session,
            epoch: row.epoch,
            workspace: row.workspace,
            agent: row.agent,
            tab,
            created: row.created,
            updated: row.updated,
            shown: Shown::of(&state, &row.keeps, row.updated),
            state,
            shows_more: false,
            head,
            durable: head,
            open: PageBuilder::new(head.next()),
            dirty_row: false,
            dirty_turns: BTreeSet::new(),
            pending: VecDeque::new(),
            gated: VecDeque::new(),
            place: AgentPlace::None,
            agent_session: row.agent_session,
            recap: Recap::None,
            errands: BTreeMap::new(),
            calls: BTreeSet::new(),
            executing: HashMap::new(),
            outcomes: VecDeque::new(),
            dirty_calls: BTreeMap::new(),
            dirty_rules: Vec::new(),
            consents: Vec::new(),
            outputs: HashMap::new(),
            keeps: row.keeps,
            last_word: row.updated,
            stalled: false,
            asleep: false,
            stderr_lines: 0,
            told_lists: ToldLists::default(),
            writes: Writes::Open,
            held: false,
            eager: false,
            waits_since: None,
            slow: false,
            cancel_by: None,
            watchers: BTreeSet::new(),
            askers: HashMap::new(),
            far: Far::default(),
            choices: Choices::default(),
        }
    }

    pub(crate) fn is_writable(&self) -> bool {
        matches!(self.writes, Writes::Open)
    }

    /// Gives an event its number and takes note of it; it is shown to nobody before it is on the disk.
    pub(crate) fn append(&mut self, now: Time, turn: Option<TurnId>, body: &Body) -> Seq {
        if let Some(Sourcing { source, .. }) = self.far.sourcing.take_if(|sourcing| sourcing.on.fits(body)) {
            return self.append_sourced(now, turn, body, source);
        }
        self.head = self.open.push(now, turn, body);
        self.state.apply(self.head, turn, body);
        self.note(now, turn, body)
    }

    /// Takes note of what an event changes beside the state.
    fn note(&mut self, now: Time, turn: Option<TurnId>, body: &Body) -> Seq {
        match body {
            Body::PromptQueued { .. } | Body::TurnStarted {} | Body::TurnEnded { .. } => {
                if self.home() == AgentHome::Here {
                    self.state.forget_running_prompt();
                }
                if let Body::TurnEnded { outcome, .. } = body {
                    self.keeps.ended = Some(*outcome);
                }
                self.dirty_turns.extend(turn);
                self.dirty_row = true;
                self.updated = now;
                self.shows_more = true;
            }
            Body::TitleChanged { .. }
            | Body::SessionOpened { .. }
            | Body::SessionClosed {}
            | Body::PolicyChanged { .. }
            | Body::SessionReopened {} => {
                self.dirty_row = true;
                self.shows_more = true;
            }
            Body::ApprovalAsked { .. }
            | Body::ApprovalResolved { .. }
            | Body::AgentExited { .. }
            | Body::AgentRestarted {} => self.shows_more = true,
            // The row of a turn says that it runs until all that it started has ended.
            Body::ExecutionEnded { .. } => self.dirty_turns.extend(turn),
            Body::Text { .. }
            | Body::Thought { .. }
            | Body::Code { .. }
            | Body::Echo { .. }
            | Body::Log { .. }
            | Body::ExecutionStarted { .. }
            | Body::ExecutionOutput { .. }
            | Body::CommandsChanged { .. }
            | Body::OptionsChanged { .. }
            | Body::Usage { .. }
            | Body::TurnUsed { .. }
            | Body::SignInNeeded { .. }
            | Body::AgentSessionRestored { .. }
            | Body::Plan { .. }
            | Body::Status { .. }
            | Body::CancelAsked {}
            | Body::PromptTaken {}
            | Body::SourceGap { .. }
            | Body::ToolCall { .. }
            | Body::ToolCallUpdate { .. }
            | Body::Unknown { .. } => {}
        }
        self.head
    }

    /// The page of this commit is on the disk now; says also whether a list shows something else than before.
    pub(crate) fn is_durable(&mut self, ticket: Ticket) -> Option<(Arc<Page>, bool, Vec<Rule>)> {
        let PendingPage { page, shown, rules, .. } = self.pending.pop_front_if(|pending| pending.ticket == ticket)?;
        self.durable = page.last();
        let changed = shown.is_some();
        if let Some(shown) = shown {
            self.shown = *shown;
        }
        Some((page, changed, rules))
    }

    /// The title as far as it is durable.
    pub(crate) fn shown_title(&self) -> &str {
        &self.shown.title
    }

    /// What a list shows of the session; none before its first event is on the disk.
    pub(crate) fn summary(&self) -> Option<SessionSummary> {
        (self.durable > Seq::START).then(|| SessionSummary {
            session: self.id,
            epoch: self.epoch,
            tab: (!self.shown.closed).then(|| self.tab.clone()),
            title: self.shown.title.clone(),
            agent: self.agent.clone(),
            workspace: self.workspace.clone(),
            status: self.shown.status,
            agent_state: self.agent_state(),
            connection: self.is_elsewhere().then(|| self.far.connection.clone()),
            queued: self.shown.queued,
            approvals: self.shown.approvals,
            ended: self.shown.ended,
            policy: self.shown.policy.clone(),
            created: self.created,
            updated: self.shown.updated,
        })
    }

    /// Where its agent works.
    pub(crate) fn home(&self) -> AgentHome {
        if self.keeps.upstream.is_some() { AgentHome::Elsewhere } else { AgentHome::Here }
    }

    fn agent_state(&self) -> AgentState {
        match (self.place, self.waits_since) {
            (AgentPlace::Open { .. }, _) if self.stalled => AgentState::Stalled,
            (AgentPlace::Open { .. }, _) => AgentState::Ready,
            (AgentPlace::Opening { .. }, _) | (AgentPlace::None, Some(_)) if self.slow => AgentState::Slow,
            (AgentPlace::Opening { .. }, _) | (AgentPlace::None, Some(_)) => AgentState::Starting,
            (AgentPlace::None, None) if self.shown.exited => AgentState::Exited,
            (AgentPlace::None, None) if self.asleep => AgentState::Asleep,
            (AgentPlace::None, None) => AgentState::None,
        }
    }

    /// Takes note of what the agent calls its session; stored with the next event.
    pub(crate) fn set_agent_session(&mut self, agent_session: Option<AgentSession>) {
        self.dirty_row |= self.agent_session != agent_session;
        self.agent_session = agent_session;
    }

    /// Takes note of a call's row; stored with the next event.
    pub(crate) fn keep_call(&mut self, row: CallRow) {
        self.dirty_calls.insert(row.asked_at, row);
    }

    /// Takes note of a rule; stored with the next event, and in force once it is.
    pub(crate) fn keep_rule(&mut self, rule: Rule) {
        self.dirty_rules.push(rule);
    }

    /// Rules that are on their way to the disk.
    pub(crate) fn rules_on_the_way(&self) -> impl Iterator<Item = &Rule> {
        self.pending.iter().flat_map(|pending| &pending.rules).chain(&self.dirty_rules)
    }

    /// Something is allowed for as long as the session lives; stored with the next event.
    pub(crate) fn grant(&mut self, scope: String) {
        if !self.keeps.grants.contains(&scope) {
            self.keeps.grants.push(scope);
            self.dirty_row = true;
        }
    }

    /// Whether something that was asked of the host, or runs, may still add to the log.
    pub(crate) fn is_at_work(&self) -> bool {
        !self.calls.is_empty() || self.state.executions().next().is_some()
    }

    /// What is new since the last commit, as one entry of the next.
    pub(crate) fn take_entry(&mut self, ticket: Ticket) -> Option<Entry> {
        let page = Arc::new(self.open.take()?);
        let shown =
            std::mem::take(&mut self.shows_more).then(|| Box::new(Shown::of(&self.state, &self.keeps, self.updated)));
        let rules = std::mem::take(&mut self.dirty_rules);
        self.pending.push_back(PendingPage { ticket, page: Arc::clone(&page), shown, rules: rules.clone() });
        let mut changes = Vec::new();
        if std::mem::take(&mut self.dirty_row) {
            changes.push(Change::Session(self.row()));
        }
        for turn in std::mem::take(&mut self.dirty_turns) {
            changes.extend(self.turn_row(turn).map(Change::Turn));
        }
        changes.extend(std::mem::take(&mut self.dirty_calls).into_values().map(Change::Call));
        changes.extend(rules.into_iter().map(Change::Rule));
        Some(Entry { session: self.id, page, changes })
    }

    fn row(&self) -> SessionRow {
        SessionRow {
            session: self.id,
            epoch: self.epoch,
            workspace: self.workspace.clone(),
            agent: self.agent.clone(),
            title: self.state.title.clone(),
            tab: (!self.state.closed).then(|| self.tab.clone()),
            agent_session: self.agent_session.clone(),
            keeps: self.keeps.clone(),
            created: self.created,
            updated: self.updated,
        }
    }

    fn turn_row(&self, turn: TurnId) -> Option<TurnRow> {
        let state = self.state.turn(turn)?;
        Some(TurnRow {
            session: self.id,
            turn,
            name: state.name.clone(),
            digest: state.digest,
            queued: state.queued,
            phase: if self.state.has_executions(turn) { TurnPhase::Running } else { state.phase },
        })
    }

    /// Lets go what was to be committed next; gives how many bytes it was.
    pub(crate) fn discard(&mut self) -> usize {
        let bytes = self.open.cost();
        self.open.take();
        self.dirty_calls.clear();
        self.dirty_rules.clear();
        bytes
    }

    /// Bytes for the next commit.
    pub(crate) fn open_bytes(&self) -> usize {
        self.open.cost()
    }

    /// The events after a place at which so many bytes waited; none if there are none, or if they do not wait any more.
    pub(crate) fn since(&self, head: Seq, bytes: usize) -> Option<Page> {
        (self.head > head).then(|| self.open.since(head.next(), bytes)).flatten()
    }

    /// The names of the turns that a page speaks of.
    pub(crate) fn names_in(&self, page: &Page) -> TurnNames {
        let mut turns: Vec<TurnId> = Vec::new();
        for turn in page.events().filter_map(|event| event.turn) {
            if turns.last() != Some(&turn) {
                turns.push(turn);
            }
        }
        turns.sort_unstable();
        turns.dedup();
        let names = turns.into_iter().filter_map(|turn| Some((turn, self.state.turn(turn)?.name.clone())));
        TurnNames::new(names.collect::<Vec<_>>())
    }
}
