//! Power loss: whatever instant it comes at, what was acknowledged is there afterwards. Never trusts the operating system's
//! cache: only what was synced counts, and of the rest any part, torn or not.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::store::{Durability, Options, SqliteStore, Store};
use switchboard_types::{Change, SessionId};

use super::kit::{Rng, assert_genuine, commit, count, early_packing, entry, read_all, try_open as open, wait_until};
use super::vfs::{self, Disk, Op};

const SESSIONS: u64 = 6;
const COMMITS: u64 = 150;
/// A run goes on until it has seen so many checkpoints: how many commits share one is the machine's affair.
const CHECKPOINTS: usize = 4;
/// More commits than any run needs for that.
const MAX_COMMITS: u64 = 5_000;
const EVENT_BYTES: usize = 250;
/// The last session is deleted by this commit.
const DELETION: u64 = 100;
/// More commits than ever wait for an answer.
const WAITING: u64 = 30;
/// Instants of each kind: after an answer, and anywhere.
const INSTANTS: usize = 105;

/// What each commit added: session and last event.
type Script = BTreeMap<u64, Vec<(u64, u64)>>;

/// Runs a store that packs and checkpoints; returns what it was told, in order.
fn run(disk: &Arc<Disk>, name: &str, durability: Durability) -> Script {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability, vfs: Some(name.to_owned()), ..early_packing() };
    let acks = disk.clone();
    let (sender, done) = std::sync::mpsc::sync_channel(MAX_COMMITS as usize);
    let (store, _) = SqliteStore::open(folder.path(), options, move |done| {
        assert_eq!(done.failed, vec![]);
        acks.ack(done.ticket.0);
        let _ = sender.send(done.ticket.0);
    })
    .unwrap();
    let mut rng = Rng(42);
    let mut heads = [0; SESSIONS as usize];
    let mut script = Script::new();
    for ticket in 1.. {
        if ticket > COMMITS && (durability == Durability::Off || checkpoints(disk) >= CHECKPOINTS) {
            break;
        }
        assert!(ticket <= MAX_COMMITS, "the run must see checkpoints");
        let mut entries = Vec::new();
        for (session, head) in heads.iter_mut().enumerate() {
            let is_deleted = session as u64 + 1 == SESSIONS && ticket >= DELETION;
            if rng.below(3) == 0 && !is_deleted {
                let events = 1 + rng.below(12);
                entries.push(entry(session as u64 + 1, *head + 1, events, EVENT_BYTES));
                *head += events;
            }
        }
        let added = entries.iter().map(|entry| (entry.session.0, entry.page.last().0)).collect();
        script.insert(ticket, added);
        let mut commit = commit(ticket, entries);
        if ticket == DELETION {
            commit.changes.push(Change::DeleteSession(SessionId(SESSIONS)));
        }
        store.commit(commit);
        // Some commits share a transaction, some do not; now and then there is time to pack.
        if rng.below(3) > 0 {
            while done.recv_timeout(Duration::from_secs(20)).unwrap() < ticket {}
        }
        if ticket % 60 == 0 {
            wait_until("packing", || count(folder.path(), "tail") <= 8);
        }
    }
    store.close().unwrap();
    script
}

/// How often the database itself was synced, which only checkpoints do.
fn checkpoints(disk: &Disk) -> usize {
    let log = disk.log();
    let db = log.names.iter().position(|name| name == "switchboard.db");
    log.ops.iter().filter(|op| db.is_some_and(|db| **op == Op::Sync(db))).count()
}

/// A file as the disk has it: what is durable, and what was written since.
#[derive(Clone, Default)]
struct Medium {
    exists: bool,
    durable: Vec<u8>,
    unsynced: Vec<Op>,
}

impl Medium {
    fn settle(&mut self) {
        for op in std::mem::take(&mut self.unsynced) {
            apply(&mut self.durable, &op);
        }
    }
}

fn apply(bytes: &mut Vec<u8>, op: &Op) {
    match op {
        Op::Write(_, at, data) => {
            let at = *at as usize;
            if bytes.len() < at + data.len() {
                bytes.resize(at + data.len(), 0);
            }
            bytes[at..at + data.len()].copy_from_slice(data);
        }
        Op::Truncate(_, size) => bytes.resize(*size as usize, 0),
        Op::Open(_) | Op::Sync(_) | Op::Delete(_) | Op::Ack(_) => {}
    }
}

/// The disk up to some op, with all answers given until then.
#[derive(Default)]
struct World {
    files: BTreeMap<usize, Medium>,
    acked: Vec<u64>,
}

impl World {
    fn step(&mut self, op: &Op) {
        match op {
            Op::Open(file) => self.files.entry(*file).or_default().exists = true,
            Op::Write(file, ..) | Op::Truncate(file, _) => {
                self.files.entry(*file).or_default().unsynced.push(op.clone());
            }
            Op::Sync(file) => self.files.entry(*file).or_default().settle(),
            Op::Delete(file) => drop(self.files.insert(*file, Medium::default())),
            Op::Ack(ticket) => self.acked.push(*ticket),
        }
    }

    /// Writes the files as they are after a power loss now.
    fn lose_power(&self, names: &[String], folder: &Path, luck: &mut Luck) {
        for (file, medium) in self.files.iter().filter(|(_, medium)| medium.exists) {
            let mut bytes = medium.durable.clone();
            for op in &medium.unsynced {
                if let Some(op) = luck.survives(op) {
                    apply(&mut bytes, &op);
                }
            }
            std::fs::write(folder.join(&names[*file]), bytes).unwrap();
        }
    }
}

/// What happens to writes that were not synced.
enum Luck {
    /// All are lost.
    None,
    /// Each is lost, kept, or torn at a sector.
    Some(Rng),
}

impl Luck {
    fn survives(&mut self, op: &Op) -> Option<Op> {
        let Self::Some(rng) = self else { return None };
        match (rng.below(4), op) {
            (0 | 1, op) => Some(op.clone()),
            (2, Op::Write(file, at, data)) => {
                let cut = (rng.below(data.len() as u64 / 512 + 1) * 512) as usize;
                let kept = data.get(..cut).unwrap_or_default().to_vec();
                Some(Op::Write(*file, *at, kept))
            }
            _ => None,
        }
    }
}

/// Opens what a power loss left. Says what is missing of what was acknowledged, if anything is.
fn look(folder: &Path, durability: Durability, acked: &[u64], script: &Script, strict: bool) -> Result<(), String> {
    let opened = open(folder, Options { durability, ..early_packing() }).map_err(|error| error.to_string())?;
    if strict && opened.report.set_aside.is_some() {
        return Err(format!("a loss of power is no damage: {:?}", opened.report));
    }
    let mut heads: BTreeMap<u64, u64> = BTreeMap::new();
    for (session, last) in acked.iter().flat_map(|ticket| &script[ticket]) {
        heads.insert(*session, *last);
    }
    let mut next = Vec::new();
    for session in 1..=SESSIONS {
        let whole = read_all(&opened.store, session, 100_000);
        let wanted = heads.get(&session).copied().unwrap_or(0);
        let last_acked = acked.last().copied().unwrap_or(0);
        if session == SESSIONS && last_acked + WAITING >= DELETION {
            let rows = opened.store.sessions(super::one(session)).unwrap().len();
            let turns = opened.store.turns(SessionId(session)).unwrap().len();
            if (whole.head(), rows, turns) == (0, 0, 0) {
                continue;
            }
            if last_acked >= DELETION {
                let (head, gaps) = (whole.head(), &whole.gaps);
                return Err(format!("session {session} was deleted, but has {head} events, gaps {gaps:?}"));
            }
        }
        if whole.head() < wanted || !whole.gaps.is_empty() {
            return Err(format!("session {session}: {} of {wanted}, gaps {:?}", whole.head(), whole.gaps));
        }
        assert_genuine(session, &whole, EVENT_BYTES);
        if wanted > 0 && opened.store.sessions(super::one(session)).unwrap().is_empty() {
            return Err(format!("session {session} has no row"));
        }
        if wanted > 1 && opened.store.turns(SessionId(session)).unwrap().is_empty() {
            return Err(format!("session {session} has no turn"));
        }
        next.push(entry(session, whole.head() + 1, 1, EVENT_BYTES));
    }
    // And it goes on from there.
    opened.store.commit(commit(1, next));
    let done = opened.done.recv_timeout(Duration::from_secs(20)).unwrap();
    if !done.failed.is_empty() {
        return Err(format!("{:?}", done.failed));
    }
    Ok(())
}

/// Places in the log of ops: right after answers, amid writes, and anywhere.
fn instants(ops: &[Op]) -> Vec<usize> {
    let mut rng = Rng(7);
    let acks: Vec<usize> = (0..ops.len()).filter(|at| matches!(ops[*at], Op::Ack(_))).collect();
    let mut instants: Vec<usize> = (0..INSTANTS).map(|_| acks[rng.below(acks.len() as u64) as usize] + 1).collect();
    instants.extend((0..INSTANTS).map(|_| rng.below(ops.len() as u64) as usize));
    instants.push(ops.len());
    instants.sort_unstable();
    instants
}

/// A folder in memory where there is one: what a power loss leaves is played, not real.
fn quick_folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Loses power at every instant; returns what went wrong at which.
fn lose_power_often(disk: &Disk, durability: Durability, script: &Script) -> Vec<(usize, String)> {
    let log = disk.log();
    let mut world = World::default();
    let mut done = 0;
    let mut wrong = Vec::new();
    for (number, instant) in instants(&log.ops).into_iter().enumerate() {
        log.ops[done..instant].iter().for_each(|op| world.step(op));
        done = instant;
        let strict = number % 2 == 0;
        let mut luck = if strict { Luck::None } else { Luck::Some(Rng(instant as u64)) };
        let folder = quick_folder();
        world.lose_power(&log.names, folder.path(), &mut luck);
        if let Err(what) = look(folder.path(), durability, &world.acked, script, strict) {
            wrong.push((instant, what));
        }
    }
    wrong
}

#[test]
fn what_was_acknowledged_survives_a_power_loss_at_any_instant() {
    let disk = vfs::register("power-full");
    let script = run(&disk, "power-full", Durability::Full);
    assert_eq!(lose_power_often(&disk, Durability::Full, &script), vec![]);
}

#[test]
fn without_syncs_the_same_test_sees_the_loss() {
    let disk = vfs::register("power-off");
    let script = run(&disk, "power-off", Durability::Off);
    assert!(!lose_power_often(&disk, Durability::Off, &script).is_empty());
}

#[test]
fn with_fewer_syncs_only_the_last_moments_are_lost() {
    let disk = vfs::register("power-normal");
    let script = run(&disk, "power-normal", Durability::Normal);
    let wrong = lose_power_often(&disk, Durability::Normal, &script);
    // Normal durability promises order, not the last moments: no hole, no damage, but a shorter log.
    assert!(!wrong.is_empty());
    assert!(wrong.iter().all(|(_, what)| what.contains("gaps []")), "{wrong:?}");
}
