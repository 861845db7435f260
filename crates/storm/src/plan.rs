//! What will happen in each round, decided from the seed alone before anything runs. Touches no process.

use std::fmt;
use std::str::FromStr;

use crate::dice::Dice;

/// Tabs that are open at any time; the first half is the demo agent's, the second that of the agent that keeps accounts.
pub(crate) const SLOTS: usize = 4;

/// What a round is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// SIGKILL of the host in mid-stream.
    Kill,
    /// SIGKILL before the host is ready.
    Startup,
    /// SIGKILL in mid-stream, and again while the views attach.
    Double,
    /// SIGTERM, in part with a SIGKILL on top.
    Term,
    /// A tab is closed and the host killed around that.
    Close,
    /// SIGSTOP of the host, then SIGCONT.
    Stop,
    /// SIGSTOP of an agent, then SIGCONT, or the host dies meanwhile.
    AgentStop,
    /// SIGKILL of an agent.
    AgentKill,
    /// A view that stops reading while more comes than fits on its way.
    Reader,
    /// Another process holds the file's write lock, so that commits stand still, and the host is killed in front of it.
    Lock,
    /// The lowest priority, and others that want every core.
    Starve,
    /// Commands are asked for, allowed and run, and the host is killed between question, answer, start and end.
    Run,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 12] = [
        Self::Kill,
        Self::Startup,
        Self::Double,
        Self::Term,
        Self::Close,
        Self::Stop,
        Self::AgentStop,
        Self::AgentKill,
        Self::Reader,
        Self::Lock,
        Self::Starve,
        Self::Run,
    ];

    /// Its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Startup => "startup",
            Self::Double => "double",
            Self::Term => "term",
            Self::Close => "close",
            Self::Stop => "stop",
            Self::AgentStop => "agent-stop",
            Self::AgentKill => "agent-kill",
            Self::Reader => "reader",
            Self::Lock => "lock",
            Self::Starve => "starve",
            Self::Run => "run",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let words = || Self::ALL.map(Self::word).join(", ");
        Self::ALL.into_iter().find(|mode| mode.word() == word).ok_or_else(|| format!("the modes are {}", words()))
    }
}

/// One round: one life of the host, or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) mode: Mode,
    pub(crate) lives: Vec<Life>,
}

/// One life of the host, from its start to its death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// Starts that are killed after so many microseconds, before the one that may live.
    pub(crate) stillborn: Vec<u64>,
    pub(crate) care: Care,
    pub(crate) prompts: Vec<(usize, Talk)>,
    /// Whether prompts that the log has already are sent again.
    pub(crate) repeats: bool,
    pub(crate) acts: Vec<Act>,
    pub(crate) death: Death,
}

/// How well the host is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    Fed,
    Starved,
}

/// What an agent is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Talk {
    /// Counts to a number, as fast as it can.
    Count(u64),
    /// Thoughts, a plan and prose, at a pace that can be read.
    Prose,
    /// Text that is easily broken.
    Unicode,
    /// Asks for a command that leaves a trace and then takes so many hundredths of a second.
    Order(u64),
}

/// When something happens, counted from what happened before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// When the steady view was shown so many more chunks, or nothing more can come.
    Chunks(u64),
    /// After so many microseconds.
    Micros(u64),
    /// So many microseconds after the steady view was shown so many more steps on the way of a command: asked, answered,
    /// started, ended.
    Steps(u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) at: At,
    pub(crate) deed: Deed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// The blinking view is hidden, or shown again.
    Hide,
    Show,
    /// The slow view stops reading, or goes on.
    StopReading,
    ReadOn,
    /// The returning view leaves and comes back with what it saw last.
    Return,
    /// The newest prompt of a tab is cancelled.
    Cancel(usize),
    Close(usize),
    /// The host stands still for so many microseconds.
    StopHost(u64),
    /// The agent of a tab stands still for so many microseconds.
    StopAgent(usize, u64),
    /// The agent of a tab is stopped and left so.
    FreezeAgent(usize),
    KillAgent(usize),
    /// The file's write lock is taken, and kept for so many microseconds.
    LockFor(u64),
    /// The file's write lock is taken, and kept until the host is dead.
    Lock,
}

/// How the host's life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    Kill(At),
    /// When every turn has ended and every view has seen it.
    KillWhenQuiet,
    Term(At),
    /// The same with SIGTERM.
    TermWhenQuiet,
    /// SIGTERM, and SIGKILL so many microseconds later.
    TermThenKill(At, u64),
}

/// The modes of one world's rounds: each at least once if there is room, else mostly kills, in seeded order.
pub(crate) fn deck(dice: &mut Dice, rounds: usize, only: &[Mode]) -> Vec<Mode> {
    let mut deck: Vec<Mode> = match only {
        [] => Mode::ALL.into_iter().chain(std::iter::repeat(Mode::Kill)).take(rounds.max(Mode::ALL.len())).collect(),
        only => only.iter().copied().cycle().take(rounds).collect(),
    };
    dice.shuffle(&mut deck);
    deck.truncate(rounds);
    deck
}

/// All decisions of one round.
pub(crate) fn round(dice: &mut Dice, mode: Mode) -> Round {
    let mut life = Life {
        stillborn: Vec::new(),
        care: Care::Fed,
        prompts: prompts(dice, mode),
        repeats: dice.once_in(3),
        acts: views_acts(dice),
        death: Death::Kill(instant(dice)),
    };
    let slot = dice.between(0, SLOTS as u64 - 1) as usize;
    let act = |at, deed| Act { at, deed };
    match mode {
        Mode::Kill | Mode::Double => {}
        Mode::Startup => life.stillborn = (0..dice.between(1, 3)).map(|_| dice.spread(200, 60_000)).collect(),
        Mode::Term => {
            let at = instant(dice);
            life.death =
                if dice.once_in(2) { Death::Term(at) } else { Death::TermThenKill(at, dice.spread(100, 30_000)) };
        }
        Mode::Close => {
            life.acts.push(act(instant(dice), Deed::Close(slot)));
            let at = At::Micros(dice.spread(20, 8_000));
            life.death = quiet_or(dice, Death::Kill(at));
        }
        Mode::Stop => {
            for _ in 0..dice.between(1, 3) {
                life.acts.push(act(instant(dice), Deed::StopHost(dice.spread(500, 40_000))));
            }
            life.death = quiet_or(dice, life.death);
        }
        Mode::AgentStop => {
            let at = instant(dice);
            if dice.once_in(2) {
                life.acts.push(act(at, Deed::FreezeAgent(slot)));
                life.death = Death::Kill(At::Micros(dice.spread(100, 10_000)));
            } else {
                life.acts.push(act(at, Deed::StopAgent(slot, dice.spread(500, 60_000))));
                life.death = quiet_or(dice, life.death);
            }
        }
        Mode::AgentKill => {
            life.acts.push(act(instant(dice), Deed::KillAgent(slot)));
            let at = At::Micros(dice.spread(100, 300_000));
            life.death = quiet_or(dice, Death::Kill(at));
        }
        Mode::Reader => {
            life.acts.insert(0, act(At::Micros(0), Deed::StopReading));
            life.acts.retain(|act| act.deed != Deed::ReadOn);
            life.death = quiet_or(dice, life.death);
        }
        Mode::Lock => {
            // What comes first would use up the answers, and with them what the lock could hold up.
            life.acts.clear();
            if dice.once_in(4) {
                life.acts.push(act(instant(dice), Deed::LockFor(dice.spread(1_000, 20_000))));
                life.death = quiet_or(dice, life.death);
            } else {
                life.acts.push(act(At::Chunks(dice.spread(1, 300)), Deed::Lock));
                life.death = Death::Kill(At::Micros(dice.spread(500, 30_000)));
            }
        }
        Mode::Starve => {
            life.care = Care::Starved;
            life.death = quiet_or(dice, life.death);
        }
        Mode::Run => {
            // A hidden or deaf view must not keep the answers back; who answers is the steady one.
            life.acts.clear();
            for slot in SLOTS / 2..SLOTS {
                for _ in 0..dice.between(1, 3) {
                    life.prompts.push((slot, Talk::Order(dice.between(0, 9))));
                }
            }
            let at = At::Steps(dice.between(1, 12), dice.spread(20, 30_000));
            life.death = if dice.once_in(5) { Death::KillWhenQuiet } else { Death::Kill(at) };
        }
    }
    let mut lives = vec![life];
    if mode == Mode::Double {
        lives.push(Life {
            stillborn: Vec::new(),
            care: Care::Fed,
            prompts: Vec::new(),
            repeats: false,
            acts: Vec::new(),
            death: Death::Kill(At::Micros(dice.spread(50, 30_000))),
        });
    }
    Round { mode, lives }
}

/// The last life of a world: every tab speaks once more, everything ends, and the host ends in good order.
pub(crate) fn last_life() -> Life {
    Life {
        stillborn: Vec::new(),
        care: Care::Fed,
        prompts: (0..SLOTS).map(|slot| (slot, Talk::Count(20))).collect(),
        repeats: true,
        acts: Vec::new(),
        death: Death::TermWhenQuiet,
    }
}

fn quiet_or(dice: &mut Dice, other: Death) -> Death {
    if dice.once_in(2) { Death::KillWhenQuiet } else { other }
}

/// Any instant in the life of an answer: its first commit, its midst, its end, or after it.
fn instant(dice: &mut Dice) -> At {
    if dice.once_in(2) { At::Chunks(dice.spread(1, 2_500)) } else { At::Micros(dice.spread(50, 60_000)) }
}

fn prompts(dice: &mut Dice, mode: Mode) -> Vec<(usize, Talk)> {
    let mut prompts = Vec::new();
    for slot in 0..SLOTS {
        let is_demo = slot < SLOTS / 2;
        let may_be_slow = matches!(mode, Mode::Kill | Mode::Term);
        match dice.between(0, 9) {
            // The first tab always speaks, so that there is something to be in the midst of.
            0 if slot > 0 => {}
            1 if is_demo && may_be_slow && slot > 0 => prompts.push((slot, Talk::Prose)),
            2 if is_demo => prompts.extend([(slot, Talk::Unicode), (slot, count(dice, is_demo))]),
            3 | 4 => prompts.extend([(slot, count(dice, is_demo)), (slot, count(dice, is_demo))]),
            _ => prompts.push((slot, count(dice, is_demo))),
        }
    }
    if mode == Mode::Reader {
        prompts.push((0, Talk::Count(dice.between(25_000, 35_000))));
    }
    prompts
}

fn count(dice: &mut Dice, is_demo: bool) -> Talk {
    Talk::Count(if is_demo { dice.between(100, 1_200) } else { dice.between(5, 150) })
}

/// What views do by themselves in any round.
fn views_acts(dice: &mut Dice) -> Vec<Act> {
    let mut acts = Vec::new();
    let brief = |dice: &mut Dice| {
        if dice.once_in(2) { At::Chunks(dice.spread(1, 200)) } else { At::Micros(dice.spread(20, 3_000)) }
    };
    let mut deeds = vec![Deed::Hide, Deed::StopReading, Deed::Return];
    if dice.once_in(5) {
        deeds.push(Deed::Cancel(dice.between(0, SLOTS as u64 - 1) as usize));
    }
    dice.shuffle(&mut deeds);
    // What was begun may end in any order, or not at all before the host's death.
    for deed in [Deed::Show, Deed::ReadOn, Deed::Return] {
        if !dice.once_in(3) {
            deeds.push(deed);
        }
    }
    for deed in deeds {
        acts.push(Act { at: brief(dice), deed });
    }
    acts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rounds(seed: u64) -> Vec<Round> {
        let mut dice = Dice::new(seed, 3);
        deck(&mut dice, 20, &[]).into_iter().map(|mode| round(&mut dice, mode)).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_decisions_and_another_seed_others() {
        assert_eq!(rounds(7), rounds(7));
        assert_ne!(rounds(7), rounds(8));
    }

    #[test]
    fn every_world_with_room_for_it_has_every_mode() {
        for seed in 0..50 {
            let modes: BTreeSet<Mode> = deck(&mut Dice::new(seed, 0), Mode::ALL.len(), &[]).into_iter().collect();
            assert_eq!(modes.len(), Mode::ALL.len());
        }
    }

    #[test]
    fn only_the_chosen_modes_come() {
        let deck = deck(&mut Dice::new(1, 0), 5, &[Mode::Stop, Mode::Term]);
        assert_eq!(deck.len(), 5);
        assert!(deck.iter().all(|mode| matches!(mode, Mode::Stop | Mode::Term)));
    }

    #[test]
    fn every_word_is_read_as_its_mode_and_another_is_refused_with_those_that_are() {
        assert!(Mode::ALL.iter().all(|mode| mode.word().parse() == Ok(*mode)));
        assert!("hurricane".parse::<Mode>().unwrap_err().contains("agent-stop"));
    }
}
