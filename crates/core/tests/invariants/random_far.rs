//! An agent elsewhere under random prompts of ours and of others, lost lives, slow and failed commits and restarts of the host:
//! each event of its log is in ours exactly once, in order, in the turn that it belongs to.

use std::collections::{BTreeSet, HashMap};

use proptest::collection::vec;
use proptest::prelude::*;
use switchboard_core::Input;
use switchboard_types::{
    Ask, Body, Command, LifeId, Prompt, Said, SessionId, Source, Text, TurnName, Visibility, Word,
};

use super::making::open_far;
use super::world::World;

#[derive(Clone, Debug)]
enum Step {
    Prompt { name: u8 },
    Foreign { name: u8 },
    Work { pieces: usize },
    Finish,
    Deliver { count: usize },
    Exit,
    Commit,
    FailCommit,
    Poke,
    Agents,
    Wait { ms: u64 },
    Show { visible: bool },
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..8_u8).prop_map(|name| Step::Prompt { name }),
        3 => (0..8_u8).prop_map(|name| Step::Foreign { name }),
        6 => (1..4_usize).prop_map(|pieces| Step::Work { pieces }),
        4 => Just(Step::Finish),
        10 => (1..6_usize).prop_map(|count| Step::Deliver { count }),
        1 => Just(Step::Exit),
        10 => Just(Step::Commit),
        1 => Just(Step::FailCommit),
        2 => Just(Step::Poke),
        6 => Just(Step::Agents),
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

/// The agent: a queue, a log, and how far each life has read it.
#[derive(Default)]
struct Engine {
    log: Vec<Entry>,
    known: BTreeSet<TurnName>,
    /// Turns that are not over, in order.
    open: Vec<TurnName>,
    read: HashMap<LifeId, usize>,
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

    /// What an event of the log is for the host.
    fn word(&self, session: SessionId, at: usize) -> Word {
        let entry = &self.log[at];
        let (Entry::Asked(name) | Entry::Piece(name) | Entry::Done(name)) = entry;
        let asked = self.log.iter().filter(|entry| matches!(entry, Entry::Asked(_)));
        let number = asked.into_iter().position(|entry| *entry == Entry::Asked(name.clone())).map(|at| at as u32 + 1);
        let (seq, kind) = (at as u64 + 1, String::from("event"));
        let id = format!("e{seq}").as_str().into();
        let source = Source { id, seq: Some(seq), name: kind, rest: String::new(), turn: number, at: None };
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
}

impl Run {
    fn new() -> Self {
        let mut world = World::new();
        world.trust();
        let view = world.view();
        world.command(view, open_far("tab"));
        world.settle();
        let session = world.session_of("tab");
        let mut engine = Engine::default();
        engine.read.insert(world.life(), 0);
        Self { world, view, session, engine }
    }

    /// The agent hears what it was asked: prompts, and from where on its log is wanted.
    fn listen(&mut self) {
        for (id, life) in &self.world.lives {
            for ask in &life.asks {
                match ask {
                    Ask::Prompt { name, .. } => self.engine.take(name.clone()),
                    Ask::OpenSession { elsewhere: Some(elsewhere), .. } => {
                        let taken = elsewhere.upstream.as_ref().and_then(|upstream| upstream.taken);
                        self.engine.read.insert(*id, taken.unwrap_or(0) as usize);
                        if let (Some((name, _)), false) = (&elsewhere.running, elsewhere.taken) {
                            self.engine.take(name.clone());
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Lives that were asked for come up; they hear from where on the log is wanted before they open their sessions.
    fn agents_open(&mut self) -> bool {
        let asked_for = self.world.lives.iter().filter(|(_, life)| !life.started && life.ending.is_none());
        let asked_for: Vec<LifeId> = asked_for.map(|(id, _)| *id).collect();
        for life in &asked_for {
            self.world.lives.get_mut(life).unwrap().started = true;
            self.world.handle(Input::LifeStarted(*life));
        }
        self.listen();
        self.world.agents_open() || !asked_for.is_empty()
    }

    fn deliver(&mut self, count: usize) {
        self.listen();
        let is_open = |(_, life): &(&LifeId, &super::life::Life)| life.opened.contains(&self.session);
        let Some(life) = self.world.lives.iter().find(is_open).map(|(id, _)| *id) else { return };
        let from = self.engine.read[&life];
        let to = (from + count).min(self.engine.log.len());
        let words: Vec<Word> = (from..to).map(|at| self.engine.word(self.session, at)).collect();
        if self.engine.log[from..to].iter().any(|entry| matches!(entry, Entry::Done(_))) {
            self.world.lives.get_mut(&life).unwrap().running.remove(&self.session);
        }
        self.engine.read.insert(life, to);
        self.world.words(life, words);
    }

    fn poke(&mut self) {
        self.world.command(self.view, Command::Cancel { tab: "tab".into(), name: "nobody's".into() });
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Prompt { name } => self.world.prompt(self.view, "tab", &format!("ours {name}")),
            Step::Foreign { name } => self.engine.take(format!("theirs {name}").as_str().into()),
            Step::Work { pieces } => (0..pieces).for_each(|_| self.engine.work()),
            Step::Finish => self.engine.finish(),
            Step::Deliver { count } => self.deliver(count),
            Step::Exit => {
                if let Some(life) = self.world.lives.keys().next().copied() {
                    self.listen();
                    self.world.exit(life);
                }
            }
            Step::Commit => drop(self.world.commit()),
            Step::FailCommit => drop(self.world.fail_commit()),
            Step::Poke => self.poke(),
            Step::Agents => drop(self.agents_open()),
            Step::Wait { ms } => self.world.advance(ms),
            Step::Show { visible } => {
                let visibility = if visible { Visibility::Visible } else { Visibility::Hidden };
                self.world.command(self.view, Command::Visibility(visibility));
            }
            Step::Kill => {
                self.world.restart();
                self.world.reconnect(self.view);
            }
        }
    }

    /// Whatever can move moves, the agent hearing what it is asked on the way.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            let moved = self.world.commit()
                || self.world.read()
                || self.world.reload()
                || self.world.drain()
                || self.agents_open();
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
        for _ in 0..20 {
            self.poke();
            self.settle();
            self.world.advance(6_000);
            self.settle();
            while !self.engine.open.is_empty() {
                self.engine.finish();
            }
            self.deliver(usize::MAX / 2);
            self.settle();
        }
    }

    fn assert_each_event_once(&self) {
        let log = self.world.log(self.session);
        let sourced = log.iter().filter_map(|event| Some((event.source.as_ref()?.seq?, event)));
        let sourced: Vec<_> = sourced.collect();
        let seqs: Vec<u64> = sourced.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(seqs, (1..=self.engine.log.len() as u64).collect::<Vec<_>>(), "each once, in order");
        let turns = &self.world.disk.sessions[&self.session].turns;
        for (seq, event) in sourced {
            let (Entry::Asked(name) | Entry::Piece(name) | Entry::Done(name)) = &self.engine.log[seq as usize - 1];
            let turn = event.turn.and_then(|turn| turns.get(&turn.0)).map(|row| row.name.clone());
            assert_eq!(turn.as_ref(), Some(name), "event {seq} is in the turn that it belongs to");
        }
        for (turn, row) in turns {
            let is_end = |body: &Body| matches!(body, Body::TurnEnded { .. });
            let ends = log.iter().filter(|event| event.turn.is_some_and(|of| of.0 == *turn) && is_end(&event.body));
            assert_eq!(ends.count(), 1, "turn {} has one end", row.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_each_event_of_an_agent_elsewhere_is_in_the_log_once(steps in vec(step(), 1..120)) {
        let mut run = Run::new();
        for step in steps {
            run.take(step);
        }
        run.come_to_rest();
        run.assert_each_event_once();
        run.world.assert_whole();
    }
}
