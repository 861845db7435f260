//! The host under random prompts, words, cancels, hides, shows, reconnects, exits, slow and failed commits and restarts.
//! The world checks each event as it is shown; at the end every view must have the whole log.

mod tooling;

use proptest::collection::vec;
use proptest::prelude::*;
use switchboard_core::Input;
use switchboard_types::{
    Approval, ApprovalKind, Body, Command, Console, Decision, Errand, ErrandName, LifeId, Run as RunCommand, Seq,
    SessionId, Severity, TabId, Text, Visibility, Word,
};

use self::tooling::Tooling;
use super::tools::tools;
use super::view::last;
use super::world::World;

const TABS: usize = 3;
const VIEWS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Attach { view: usize, tab: usize },
    Prompt { view: usize, tab: usize, name: u8 },
    Cancel { view: usize, tab: usize, name: u8 },
    Close { view: usize, tab: usize },
    Watch { view: usize },
    Leave { view: usize, tab: usize },
    Reopen { view: usize, session: u64 },
    Delete { view: usize, session: u64 },
    Chunks { tab: usize, count: usize, bytes: usize },
    Late { tab: usize, name: u8 },
    Complete { tab: usize },
    Fail { tab: usize },
    Ask { tab: usize },
    Errand { tab: usize, what: u8 },
    Runner,
    CommandsEnd,
    SumUp,
    Decide { view: usize, tab: usize, deny: bool },
    EndSession { tab: usize },
    Exit,
    RestartAgent { view: usize, tab: usize },
    Show { view: usize, visible: bool },
    Read { view: usize, reads: bool },
    Reconnect { view: usize },
    Disconnect { view: usize },
    Commit,
    FailCommit,
    ReadPage,
    Drain,
    Agents,
    Wait { ms: u64 },
    Kill,
    Limit { most: Option<u32> },
    Tools(Tooling),
}

fn step() -> impl Strategy<Value = Step> {
    let (view, tab, name) = (0..VIEWS, 0..TABS, 0..6_u8);
    prop_oneof![
        4 => (view.clone(), tab.clone()).prop_map(|(view, tab)| Step::Attach { view, tab }),
        6 => (view.clone(), tab.clone(), name.clone()).prop_map(|(view, tab, name)| Step::Prompt { view, tab, name }),
        2 => (view.clone(), tab.clone(), name.clone()).prop_map(|(view, tab, name)| Step::Cancel { view, tab, name }),
        1 => (view.clone(), tab.clone()).prop_map(|(view, tab)| Step::Close { view, tab }),
        2 => view.clone().prop_map(|view| Step::Watch { view }),
        1 => (view.clone(), tab.clone()).prop_map(|(view, tab)| Step::Leave { view, tab }),
        2 => (view.clone(), 1..6_u64).prop_map(|(view, session)| Step::Reopen { view, session }),
        1 => (view.clone(), 1..6_u64).prop_map(|(view, session)| Step::Delete { view, session }),
        8 => (tab.clone(), 1..6_usize, prop_oneof![Just(10_usize), Just(40_000)])
            .prop_map(|(tab, count, bytes)| Step::Chunks { tab, count, bytes }),
        2 => (tab.clone(), name).prop_map(|(tab, name)| Step::Late { tab, name }),
        3 => tab.clone().prop_map(|tab| Step::Complete { tab }),
        1 => tab.clone().prop_map(|tab| Step::Fail { tab }),
        1 => tab.clone().prop_map(|tab| Step::Ask { tab }),
        3 => (tab.clone(), 0..3_u8).prop_map(|(tab, what)| Step::Errand { tab, what }),
        6 => Just(Step::Runner),
        1 => Just(Step::CommandsEnd),
        2 => Just(Step::SumUp),
        3 => (view.clone(), tab.clone(), any::<bool>()).prop_map(|(view, tab, deny)| Step::Decide { view, tab, deny }),
        1 => tab.clone().prop_map(|tab| Step::EndSession { tab }),
        2 => Just(Step::Exit),
        1 => (view.clone(), tab).prop_map(|(view, tab)| Step::RestartAgent { view, tab }),
        3 => (view.clone(), any::<bool>()).prop_map(|(view, visible)| Step::Show { view, visible }),
        2 => (view.clone(), any::<bool>()).prop_map(|(view, reads)| Step::Read { view, reads }),
        3 => view.clone().prop_map(|view| Step::Reconnect { view }),
        1 => view.prop_map(|view| Step::Disconnect { view }),
        10 => Just(Step::Commit),
        2 => Just(Step::FailCommit),
        5 => Just(Step::ReadPage),
        4 => Just(Step::Drain),
        6 => Just(Step::Agents),
        2 => prop_oneof![Just(100), Just(5_000), Just(11_000), Just(41_000), Just(31 * 60_000)].prop_map(|ms| Step::Wait { ms }),
        2 => Just(Step::Kill),
        2 => prop_oneof![Just(None), Just(Some(1)), Just(Some(2))].prop_map(|most| Step::Limit { most }),
        12 => tooling::step().prop_map(Step::Tools),
    ]
}

/// The random world: tabs get a new name each time they are closed, as views do.
struct Run {
    world: World,
    lives_of_tabs: [usize; TABS],
    reopened: usize,
    errands: usize,
    requests: u64,
    calls: usize,
    most: Option<u32>,
}

impl Run {
    /// So many sessions' turns run at once.
    fn limit(&mut self, most: Option<u32>) {
        self.most = most;
        self.world.limit(most);
    }

    /// Takes a step; no turn begins in it beyond the limit, whatever it is.
    fn take_within(&mut self, step: Step) {
        let before = self.world.running();
        self.take(step);
        let after = self.world.running();
        let began = after.difference(&before).count();
        assert!(
            began == 0 || self.most.is_none_or(|most| after.len() <= most as usize),
            "{after:?} run, and at most {:?} may",
            self.most
        );
    }

    fn tab(&self, tab: usize) -> String {
        format!("tab {tab}.{}", self.lives_of_tabs[tab])
    }

    fn session(&self, tab: usize) -> Option<SessionId> {
        let name = TabId::from(self.tab(tab).as_str());
        self.world.host.open_tabs().find(|(open, _)| **open == name).map(|(_, id)| id)
    }

    /// The life and session of a tab whose agent session is open.
    fn at_work(&self, tab: usize) -> Option<(LifeId, SessionId)> {
        let session = self.session(tab)?;
        let life = self.world.lives.iter().find(|(_, life)| life.opened.contains(&session))?;
        Some((*life.0, session))
    }

    fn say(&mut self, tab: usize, make: impl Fn(SessionId) -> Vec<Word>) {
        if let Some((life, session)) = self.at_work(tab) {
            self.world.words(life, make(session));
        }
    }

    fn ended(&mut self, tab: usize) {
        if let Some((life, session)) = self.at_work(tab) {
            self.world.lives.get_mut(&life).unwrap().running.remove(&session);
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Attach { view, tab } => {
                let name = self.tab(tab);
                let seen = self.world.views[view].seen(&name).len() as u64;
                // The last tab's agent has a process for each session and can take it up again.
                let agent = (tab == TABS - 1).then(|| "own".into());
                let seen = Seq(seen).into();
                let open = Command::OpenTab { tab: name.as_str().into(), agent, workspace: None, seen };
                self.world.command(view, open);
            }
            Step::Prompt { view, tab, name } => self.world.prompt(view, &self.tab(tab), &name.to_string()),
            Step::Cancel { view, tab, name } => {
                let tab = self.tab(tab).as_str().into();
                self.world.command(view, Command::Cancel { tab, name: name.to_string().as_str().into() });
            }
            Step::Close { view, tab } => {
                let name = self.tab(tab);
                self.world.command(view, Command::CloseTab { tab: name.as_str().into() });
                // A close that fails leaves the tab open under its old name; that is fine, it is only not used again.
                self.lives_of_tabs[tab] += 1;
            }
            Step::Watch { view } => {
                let seen = self.world.views[view].journal.iter();
                let seen = seen.map(|(tab, log)| (tab.clone(), last(log).into())).collect();
                self.world.command(view, Command::Watch { seen });
            }
            Step::Leave { view, tab } => {
                let tab = TabId::from(self.tab(tab).as_str());
                self.world.views[view].journal.remove(&tab);
                self.world.command(view, Command::LeaveTab { tab });
            }
            Step::Reopen { view, session } => {
                self.reopened += 1;
                let tab = TabId::from(format!("reopened {}", self.reopened).as_str());
                // A session that has a tab is shown under that, from where this view is there.
                let id = SessionId(session);
                let shown = self.world.host.open_tabs().find(|(_, open)| *open == id).map(|(tab, _)| tab.clone());
                let seen = shown.and_then(|tab| self.world.views[view].journal.get(&tab)).map(|log| last(log));
                let seen = seen.unwrap_or_default().into();
                self.world.command(view, Command::OpenSession { tab, session: id, seen });
            }
            Step::Delete { view, session } => {
                // What is deleted is closed, and a tab gets a new name then.
                if let Some(tab) = (0..TABS).find(|tab| self.session(*tab) == Some(SessionId(session))) {
                    self.lives_of_tabs[tab] += 1;
                }
                self.world.command(view, Command::DeleteSession { session: SessionId(session) });
            }
            Step::Show { view, visible } => {
                let visibility = if visible { Visibility::Visible } else { Visibility::Hidden };
                self.world.command(view, Command::Visibility(visibility));
            }
            Step::RestartAgent { view, tab } => {
                let tab = self.tab(tab).as_str().into();
                self.world.command(view, Command::RestartAgent { tab });
            }
            Step::Decide { view, tab, deny } => self.decide(view, tab, deny),
            Step::Read { view, reads } => self.world.views[view].reads = reads,
            Step::Reconnect { view } => self.world.reconnect(view),
            Step::Disconnect { view } => self.world.disconnect(view),
            Step::Commit => drop(self.world.commit()),
            Step::FailCommit => drop(self.world.fail_commit()),
            Step::ReadPage => drop(self.world.read()),
            Step::Drain => drop(self.world.drain()),
            Step::Agents => drop(self.world.agents_open()),
            Step::Runner => drop(self.world.run_errand()),
            Step::CommandsEnd => self.world.end_commands(),
            Step::SumUp => drop(self.world.sum_up()),
            Step::Wait { ms } => self.world.advance(ms),
            Step::Kill => {
                self.world.restart();
                self.world.handle(Input::Tools(tools()));
                self.limit(self.most);
            }
            Step::Limit { most } => self.limit(most),
            Step::Exit => {
                if let Some(life) = self.world.lives.keys().next().copied() {
                    self.world.exit(life);
                }
            }
            Step::Tools(tooling) => self.tools(tooling),
            word => self.word(word),
        }
    }

    fn word(&mut self, step: Step) {
        match step {
            Step::Chunks { tab, count, bytes } => {
                let text = Text::from("x".repeat(bytes).as_str());
                self.say(tab, |session| {
                    (0..count).map(|_| Word::Text { session, name: None, text: text.clone() }).collect()
                });
            }
            Step::Late { tab, name } => {
                let name = name.to_string();
                self.say(tab, |session| {
                    vec![Word::Thought { session, name: Some(name.as_str().into()), text: Text::from("late") }]
                });
            }
            Step::Complete { tab } => {
                self.ended(tab);
                self.say(tab, |session| vec![Word::turn_done(session, None)]);
            }
            Step::Fail { tab } => {
                self.ended(tab);
                self.say(tab, |session| vec![Word::TurnFailed { session, message: "no".to_owned() }]);
            }
            Step::Ask { tab } => self.say(tab, |session| vec![wanted(session)]),
            Step::Errand { tab, what } => {
                self.errands += 1;
                let name = ErrandName::from(format!("e{}", self.errands).as_str());
                self.say(tab, |session| vec![Word::Errand { session, errand: name.clone(), what: errand(what) }]);
            }
            Step::EndSession { tab } => {
                let at_work = self.at_work(tab);
                let is_heard = at_work.is_some_and(|(life, session)| self.is_served(life, session));
                self.ended(tab);
                self.say(tab, |session| vec![Word::SessionEnded { session, reason: None }]);
                if let Some((life, session)) = at_work {
                    self.world.lives.get_mut(&life).unwrap().opened.remove(&session);
                    // Who has ended its session waits for nothing more of it.
                    self.world.owed.retain(|(of, waits, _), _| !is_heard || (*of, *waits) != (life, session));
                    self.world.owed_calls.retain(|(of, waits, _), _| !is_heard || (*of, *waits) != (life, session));
                }
            }
            other => unreachable!("{other:?} is no word"),
        }
    }

    fn decide(&mut self, view: usize, tab: usize, deny: bool) {
        let Some(state) = self.session(tab).and_then(|id| self.world.host.state(id)) else { return };
        let Some(approval) = state.approvals().next().map(|open| open.approval.id.clone()) else { return };
        let decision = if deny { Decision::DenyStop } else { Decision::AllowOnce };
        let tab = self.tab(tab).as_str().into();
        self.world.command(view, Command::Decide { tab, approval, decision, command: None, option: None });
    }

    /// Everybody looks and reads again, agents finish what they have, and then everything must be whole.
    fn come_to_rest(&mut self) {
        for view in 0..VIEWS {
            self.world.views[view].reads = true;
            if self.world.views[view].link.is_none() {
                self.world.reconnect(view);
            }
            self.world.command(view, Command::Visibility(Visibility::Visible));
        }
        // One at a time takes longer.
        let rounds = if self.most.is_some() { 40 } else { 14 };
        for _ in 0..rounds {
            self.world.settle();
            for session in self.world.disk.sessions.keys().copied().collect::<Vec<_>>() {
                while self.world.host.state(session).is_some_and(|state| state.approvals().next().is_some()) {
                    self.answer(0, session, 2);
                }
            }
            self.world.end_commands();
            self.world.settle();
            self.world.advance(11_000);
            self.world.settle();
            let running: Vec<(LifeId, SessionId)> = self
                .world
                .lives
                .iter()
                .flat_map(|(life, state)| state.running.keys().map(|session| (*life, *session)))
                .collect();
            for (life, session) in running {
                self.world.lives.get_mut(&life).unwrap().running.remove(&session);
                self.world.words(life, vec![Word::turn_done(session, None)]);
            }
        }
        self.world.settle();
    }

    /// Invariants 4 and 5: every execution has exactly one end, and no agent waits for an errand that nobody is at.
    fn assert_errands_are_over(&self) {
        for (id, stored) in &self.world.disk.sessions {
            let started = stored.log.iter().filter(|event| matches!(event.body, Body::ExecutionStarted { .. })).count();
            let ended = stored.log.iter().filter(|event| matches!(event.body, Body::ExecutionEnded { .. })).count();
            let sealed = self.is_sealed(*id);
            assert!(started == ended || (sealed && ended < started), "{started} executions of {id}, {ended} ends");
        }
        assert!(self.world.runner.is_idle(), "something still runs");
        let waiting: Vec<_> = self.world.owed.keys().filter(|(life, of, _)| self.is_served(*life, *of)).collect();
        assert!(waiting.is_empty(), "nobody answers {waiting:?}");
    }

    fn is_served(&self, life: LifeId, session: SessionId) -> bool {
        self.world.host.served_by(life).any(|served| served == session)
    }

    /// Invariant 5: every prompt that was accepted has exactly one end, unless it waits for somebody to look at it.
    fn assert_one_answer_each(&self) {
        for (id, stored) in &self.world.disk.sessions {
            let turns = stored.log.iter().filter(|event| matches!(event.body, Body::PromptQueued { .. }));
            for turn in turns.map(|event| event.turn) {
                let ends = |body: &Body| matches!(body, Body::TurnEnded { .. });
                let ended = stored.log.iter().filter(|event| event.turn == turn && ends(&event.body)).count();
                // A session that is closed to writes says so to its views and ends its turn when it is read anew.
                let waits = match self.world.host.state(*id) {
                    Some(state) => state.queue().any(|waiting| Some(waiting) == turn),
                    None => stored.row.as_ref().is_some_and(|row| row.tab.is_some()),
                };
                assert!(ended == 1 || (ended == 0 && waits), "turn {turn:?} of {id} ended {ended} times");
            }
        }
    }
}

fn errand(what: u8) -> Errand {
    let path = "/w/a".to_owned();
    match what {
        0 => Errand::Read { path, line: None, limit: None },
        1 => Errand::Write { path, content: String::new() },
        _ => Errand::Run(RunCommand {
            program: "make".to_owned(),
            args: vec![],
            env: vec![],
            cwd: None,
            output_limit: None,
            console: Console::Pipes,
        }),
    }
}

fn wanted(session: SessionId) -> Word {
    let reason = "it is asked for".to_owned();
    let approval =
        Approval { reason, ..Approval::new("theirs".into(), ApprovalKind::Tool, "a tool", Severity::Medium) };
    Word::ApprovalWanted { session, approval }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_views_stream_is_the_log(steps in vec(step(), 1..160)) {
        let mut world = World::new();
        world.trust();
        for _ in 0..VIEWS {
            world.view();
        }
        world.handle(Input::Tools(tools()));
        let mut run = Run { world, lives_of_tabs: [0; TABS], reopened: 0, errands: 0, requests: 0, calls: 0, most: None };
        for step in steps {
            run.take_within(step);
        }
        run.come_to_rest();
        // Nobody who could have begun still waits for room.
        let sent = run.world.prompted.len();
        run.limit(None);
        run.world.settle();
        assert_eq!(run.world.prompted.len(), sent, "somebody waited for room though nothing ran");
        run.world.assert_whole();
        run.assert_one_answer_each();
        run.assert_errands_are_over();
        run.assert_everybody_is_answered();
    }
}
