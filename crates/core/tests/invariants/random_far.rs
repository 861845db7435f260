//! An agent elsewhere under random prompts of ours and of others, cancels, lost lives, slow and failed commits, restarts of the
//! host, words that are late, and a log that loses its beginning: each event of that log is in ours exactly once, in order, or
//! ours says that it is missing; and each turn has one end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;
use switchboard_core::Input;
use switchboard_types::{
    Ask, Body, Command, Elsewhere, LifeId, Memory, Past, Prompt, Said, SessionId, Source, Text, TurnName, Visibility,
    Word,
};

use super::making::open_far;
use super::world::World;

#[derive(Clone, Debug)]
enum Step {
    Prompt { name: u8 },
    Cancel { name: u8 },
    Foreign { name: u8 },
    Work { pieces: usize },
    Finish,
    Lose { events: usize },
    Hear,
    Say { events: usize },
    Deliver { words: usize },
    Exit,
    Commit,
    FailCommit,
    Poke,
    Wait { ms: u64 },
    Show { visible: bool },
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..8_u8).prop_map(|name| Step::Prompt { name }),
        1 => (0..8_u8).prop_map(|name| Step::Cancel { name }),
        3 => (0..8_u8).prop_map(|name| Step::Foreign { name }),
        6 => (1..4_usize).prop_map(|pieces| Step::Work { pieces }),
        4 => Just(Step::Finish),
        1 => (1..6_usize).prop_map(|events| Step::Lose { events }),
        8 => Just(Step::Hear),
        6 => (1..6_usize).prop_map(|events| Step::Say { events }),
        8 => (1..6_usize).prop_map(|words| Step::Deliver { words }),
        1 => Just(Step::Exit),
        10 => Just(Step::Commit),
        1 => Just(Step::FailCommit),
        2 => Just(Step::Poke),
        2 => prop_oneof![Just(300), Just(5_000), Just(31_000)].prop_map(|ms| Step::Wait { ms }),
        1 => any::<bool>().prop_map(|visible| Step::Show { visible }),
        2 => Just(Step::Kill),
    ]
}

/// One event of the agent's log.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Asked(TurnName),
    Piece(TurnName),
    Done(TurnName),
}

impl Entry {
    fn name(&self) -> &TurnName {
        let (Self::Asked(name) | Self::Piece(name) | Self::Done(name)) = self;
        name
    }
}

/// The agent: a queue and a log, which may have lost its beginning.
#[derive(Default)]
struct Engine {
    log: Vec<Entry>,
    known: BTreeSet<TurnName>,
    /// Turns that are not over, in order.
    open: Vec<TurnName>,
    /// How many events are lost.
    lost: usize,
}

impl Engine {
    /// Takes a prompt; the same one again is not run again.
    fn take(&mut self, name: TurnName) {
        if self.known.insert(name.clone()) {
            self.log.push(Entry::Asked(name.clone()));
            self.open.push(name);
        }
    }

    fn work(&mut self) {
        if let Some(name) = self.open.first() {
            self.log.push(Entry::Piece(name.clone()));
        }
    }

    fn finish(&mut self) {
        if !self.open.is_empty() {
            self.log.push(Entry::Done(self.open.remove(0)));
        }
    }

    fn cancel(&mut self, name: &TurnName) {
        if self.open.first() == Some(name) {
            self.finish();
        }
    }

    /// What an event of the log is for the host.
    fn word(&self, session: SessionId, at: usize) -> Word {
        let entry = &self.log[at];
        let asked = self.log.iter().filter(|entry| matches!(entry, Entry::Asked(_)));
        let turn = asked.into_iter().position(|asked| asked.name() == entry.name()).map(|at| at as u32 + 1);
        let (seq, name) = (at as u64 + 1, String::from("event"));
        let id = format!("e{seq}").as_str().into();
        let source = Source { id, seq: Some(seq), name, rest: String::new(), turn, at: None };
        let said = match entry {
            Entry::Asked(name) => {
                let prompt = Prompt { text: "asked".to_owned(), context: Vec::new() };
                Said::Word(Box::new(Word::PromptedElsewhere { session, name: name.clone(), prompt }))
            }
            Entry::Piece(_) => Said::Text(Text::from("x")),
            Entry::Done(name) => Said::Word(Box::new(Word::turn_done(session, Some(name.clone())))),
        };
        Word::Sourced { session, source, said }
    }
}

struct Run {
    world: World,
    view: usize,
    session: SessionId,
    engine: Engine,
    /// How far each life has read the agent's log since it opened the session.
    read: BTreeMap<LifeId, usize>,
    /// What was said and has not reached the host.
    said: VecDeque<(LifeId, Word)>,
    /// Whether the turn of each event must be the one that the agent has it in: not after a cancel or a loss.
    exact: bool,
}

impl Run {
    fn new() -> Self {
        let mut world = World::new();
        world.trust();
        let view = world.view();
        world.command(view, open_far("tab"));
        while world.commit() {}
        let session = world.session_of("tab");
        let (engine, read, said) = (Engine::default(), BTreeMap::new(), VecDeque::new());
        let mut run = Self { world, view, session, engine, read, said, exact: true };
        run.settle();
        run
    }

    /// Lives that were asked for come up, those that were ended go, and the agent hears what it was asked.
    fn hear(&mut self) -> bool {
        let mut moved = false;
        for id in self.world.lives.keys().copied().collect::<Vec<_>>() {
            let Some(life) = self.world.lives.get_mut(&id) else { continue };
            if life.ending.is_some() {
                self.world.exit(id);
                moved = true;
                continue;
            }
            if !life.started {
                life.started = true;
                self.world.handle(Input::LifeStarted(id));
                moved = true;
            }
            // Whether one turn follows on another is for this run's own log to tell.
            let asks =
                self.world.lives.get_mut(&id).map(|life| (life.running.clear(), std::mem::take(&mut life.asks)).1);
            for ask in asks.into_iter().flatten() {
                self.heard(id, ask);
                moved = true;
            }
        }
        moved
    }

    fn heard(&mut self, life: LifeId, ask: Ask) {
        let session = self.session;
        match ask {
            Ask::OpenSession { elsewhere: Some(elsewhere), resume, past, .. } => {
                let Elsewhere { upstream, running, taken, .. } = *elsewhere;
                self.read.insert(life, upstream.and_then(|upstream| upstream.taken).unwrap_or(0) as usize);
                let memory = (resume.is_none() && past == Past::Spoken).then_some(Memory::Summarized);
                let opened = Word::SessionOpened { session, agent_session: Some("theirs".into()), memory };
                self.said.push_back((life, opened));
                if let (Some((name, _)), false) = (running, taken) {
                    self.engine.take(name);
                }
            }
            Ask::CloseSession { .. } => drop(self.read.remove(&life)),
            Ask::Prompt { name, .. } if self.read.contains_key(&life) => self.engine.take(name),
            Ask::Prompt { .. } => {
                let message = "no such session".to_owned();
                self.said.push_back((life, Word::TurnFailed { session, message }));
            }
            Ask::Cancel { name, .. } => self.engine.cancel(&name),
            _ => {}
        }
    }

    /// Whoever has the session open says what comes next in the agent's log, or that it is lost.
    fn say(&mut self, events: usize) -> bool {
        let before = self.said.len();
        for (life, read) in &mut self.read {
            if !self.world.lives.contains_key(life) {
                continue;
            }
            if *read < self.engine.lost {
                let (from, to) = (Some(*read as u64 + 1), Some(self.engine.lost as u64));
                let gap = Word::Gap { session: self.session, from, to, message: "lost".to_owned() };
                self.said.push_back((*life, gap));
                *read = self.engine.lost;
            }
            let to = read.saturating_add(events).min(self.engine.log.len());
            for at in *read..to {
                self.said.push_back((*life, self.engine.word(self.session, at)));
            }
            *read = to;
        }
        self.said.len() > before
    }

    /// Words reach the host, those of one life at once.
    fn deliver(&mut self, count: usize) -> bool {
        let count = count.min(self.said.len());
        let said: Vec<_> = self.said.drain(..count).collect();
        for run in said.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((life, _)) = run.first() else { continue };
            self.world.words(*life, run.iter().map(|(_, word)| word.clone()).collect());
        }
        count > 0
    }

    fn poke(&mut self) {
        self.world.command(self.view, Command::Cancel { tab: "tab".into(), name: "nobody's".into() });
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Prompt { name } => self.world.prompt(self.view, "tab", &format!("ours {name}")),
            Step::Cancel { name } => {
                self.exact = false;
                let name = format!("ours {name}").as_str().into();
                self.world.command(self.view, Command::Cancel { tab: "tab".into(), name });
            }
            Step::Foreign { name } => self.engine.take(format!("theirs {name}").as_str().into()),
            Step::Work { pieces } => (0..pieces).for_each(|_| self.engine.work()),
            Step::Finish => self.engine.finish(),
            Step::Lose { events } => {
                self.exact = false;
                self.engine.lost = (self.engine.lost + events).min(self.engine.log.len());
            }
            Step::Hear => drop(self.hear()),
            Step::Say { events } => drop(self.say(events)),
            Step::Deliver { words } => drop(self.deliver(words)),
            Step::Exit => {
                if let Some(life) = self.world.lives.keys().next().copied() {
                    self.hear();
                    self.world.exit(life);
                }
            }
            Step::Commit => drop(self.world.commit()),
            Step::FailCommit => drop(self.world.fail_commit()),
            Step::Poke => self.poke(),
            Step::Wait { ms } => self.world.advance(ms),
            Step::Show { visible } => {
                let visibility = if visible { Visibility::Visible } else { Visibility::Hidden };
                self.world.command(self.view, Command::Visibility(visibility));
            }
            Step::Kill => {
                self.said.clear();
                self.read.clear();
                self.world.restart();
                self.world.reconnect(self.view);
            }
        }
    }

    /// Whatever can move moves.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            let moved = self.world.commit()
                || self.world.read()
                || self.world.reload()
                || self.world.drain()
                || self.hear()
                || self.say(usize::MAX)
                || self.deliver(usize::MAX)
                || self.world.sum_up();
            if !moved {
                return;
            }
        }
        panic!("the world does not come to rest");
    }

    /// Everything that the agent was asked is done, and all of its log is taken.
    fn come_to_rest(&mut self) {
        if self.world.views[self.view].link.is_none() {
            self.world.reconnect(self.view);
        }
        self.world.command(self.view, Command::Visibility(Visibility::Visible));
        for _ in 0..12 {
            self.poke();
            self.settle();
            self.world.advance(6_000);
            self.settle();
            while !self.engine.open.is_empty() {
                self.engine.finish();
            }
            self.settle();
            self.say_that_all_is_done();
            self.settle();
        }
    }

    /// The end of a turn may be lost; an agent that is asked how it is says that it has nothing to do.
    fn say_that_all_is_done(&mut self) {
        if self.engine.lost > 0 {
            for life in self.read.keys() {
                self.said.push_back((*life, Word::turn_done(self.session, None)));
            }
        }
    }

    fn assert_each_event_once(&self) {
        let log = self.world.log(self.session);
        let turns = &self.world.disk.sessions[&self.session].turns;
        // The last event that is there or told to be missing.
        let mut upto = 0;
        for event in log {
            if let Body::SourceGap { from, to, .. } = event.body {
                let (from, to) = from.zip(to).expect("this agent numbers its events");
                assert!(from <= upto + 1 && to >= upto, "{from} to {to} is missing after {upto}");
                upto = to;
            }
            let Some(seq) = event.source.as_ref().and_then(|source| source.seq) else { continue };
            assert_eq!(seq, upto + 1, "each once, in order, or it is told to be missing");
            upto = seq;
            let turn = event.turn.and_then(|turn| turns.get(&turn.0)).map(|row| &row.name);
            let theirs = self.engine.log[seq as usize - 1].name();
            assert!(!self.exact || turn == Some(theirs), "event {seq} is in {turn:?} and not in {theirs}");
        }
        assert_eq!(upto, self.engine.log.len() as u64, "all of it");
    }

    fn assert_each_turn_ends_once(&self) {
        let log = self.world.log(self.session);
        for (turn, row) in &self.world.disk.sessions[&self.session].turns {
            let is_end = |body: &Body| matches!(body, Body::TurnEnded { .. });
            let ends = log.iter().filter(|event| event.turn.is_some_and(|of| of.0 == *turn) && is_end(&event.body));
            assert_eq!(ends.count(), 1, "turn {} has one end", row.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_each_event_of_an_agent_elsewhere_is_in_the_log_once(steps in vec(step(), 1..120)) {
        let mut run = Run::new();
        for step in steps {
            run.take(step);
        }
        run.come_to_rest();
        run.assert_each_event_once();
        run.assert_each_turn_ends_once();
        run.world.assert_whole();
    }
}
