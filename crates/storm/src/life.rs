//! One life of the host, as the plan has it: starts it, seats the views, sends prompts, does what disturbs, and ends it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::check::Finding;
use crate::host::{FileLock, Host, PATIENCE, Trouble, pause};
use crate::plan::{At, Care, Death, Deed, Life};
use crate::tally::Restart;
use crate::view::{Journal, Link, Seen};
use crate::world::{Role, World};

/// How long an instant may be waited for that never comes, since everything ended before it.
const INSTANT_PATIENCE: Duration = Duration::from_secs(3);
/// How long a signal may take to end a process.
const DEATH_PATIENCE: Duration = Duration::from_secs(10);

/// What came of a life.
#[derive(Debug, Default)]
pub(crate) struct Lived {
    /// Every link's journal, by its view.
    pub(crate) journals: Vec<(Role, Journal)>,
    /// What was seen from outside and must not be.
    pub(crate) findings: Vec<Finding>,
}

/// A life under way.
struct Stage<'a> {
    world: &'a mut World,
    host: Host,
    links: BTreeMap<Role, Link>,
    lived: Lived,
    /// Prompts of this life.
    names: BTreeSet<String>,
    /// Held until the host is dead.
    lock: Option<FileLock>,
}

/// Runs one life to its end.
pub(crate) async fn live(world: &mut World, life: &Life, round: u64) -> Result<Lived, Trouble> {
    for micros in &life.stillborn {
        let began = Instant::now();
        let lives = Duration::from_micros(*micros);
        world.place.stillborn(lives).await?;
        world.dying = Some(began.elapsed().saturating_sub(lives));
        world.tally.startup_kills += 1;
    }
    let host = world.place.serve(life.care).await?;
    let dying = world.dying.take();
    let (start, began) = (host.start, host.began);
    let mut stage =
        Stage { world, host, links: BTreeMap::new(), lived: Lived::default(), names: BTreeSet::new(), lock: None };
    stage.bury().await;
    for role in Role::ALL {
        let link = stage.world.attach(&stage.host, role).await?;
        stage.links.insert(role, link);
    }
    let mut first_event = None;
    if !life.prompts.is_empty() {
        first_event = stage.first_event().await;
        stage.close_again().await;
    }
    if let Some(dying) = dying {
        let first_event = first_event.map(|at| dying + at.saturating_duration_since(began));
        let restart = Restart { round, ready: dying + start, first_event, care: life.care };
        stage.world.tally.restarts.push(restart);
    }
    stage.world.tally.starved += u64::from(life.care == Care::Starved);
    stage.prompt(life).await;
    for act in &life.acts {
        stage.until(act.at).await;
        stage.act(act.deed).await?;
    }
    stage.die(life.death).await?;
    Ok(stage.lived)
}

impl Stage<'_> {
    fn wrong(&mut self, what: String) {
        self.lived.findings.push(Finding::Seen(what));
    }

    /// Whatever a dead host left must be gone by the time that the next one is ready.
    async fn bury(&mut self) {
        let left = std::mem::take(&mut self.world.left);
        let deadline = Instant::now() + DEATH_PATIENCE;
        for process in left {
            while process.is_alive() && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            if process.is_alive() {
                self.wrong(format!("the agent `{}` ({}) of a dead host still runs", process.agent, process.pid));
            }
        }
    }

    async fn first_event(&mut self) -> Option<Instant> {
        let came = match self.links.get(&Role::Fresh) {
            Some(fresh) => fresh.wait(PATIENCE, |seen| seen.first.is_some()).await,
            None => false,
        };
        if !came {
            self.wrong("a view that has seen nothing was shown nothing".to_owned());
        }
        self.links.values().filter_map(|link| link.look(|seen| seen.first)).min()
    }

    /// A tab whose close did not reach the disk is still there; it is closed again.
    async fn close_again(&mut self) {
        let Some(steady) = self.links.get(&Role::Steady).filter(|_| !self.world.closing.is_empty()) else { return };
        let mut listed = steady.wait(PATIENCE, |seen| seen.lists > 0).await;
        let tabs = steady.look(|seen| seen.tabs.clone());
        let left: Vec<&String> = tabs.iter().filter(|tab| self.world.closing.contains(*tab)).collect();
        for tab in &left {
            steady.say(json!({"type": "close-tab", "tabId": tab})).await;
        }
        if !left.is_empty() {
            let lists = steady.look(|seen| seen.lists);
            steady.say(json!({"type": "webview-ready"})).await;
            listed &= steady.wait(PATIENCE, |seen| seen.lists > lists).await;
        }
        let still: Vec<String> =
            steady.look(|seen| seen.tabs.iter().filter(|tab| self.world.closing.contains(*tab)).cloned().collect());
        if !listed || !still.is_empty() {
            self.wrong(format!("tabs do not close: {still:?}"));
        }
    }

    /// Sends again what nobody has confirmed, as views do, and what is new.
    async fn prompt(&mut self, life: &Life) {
        if life.prompts.is_empty() {
            return;
        }
        let open: BTreeSet<String> = self.world.slots.iter().map(|slot| slot.tab()).collect();
        let mut prompts = Vec::new();
        for prompt in self.world.sent.values().filter(|prompt| open.contains(&prompt.tab)) {
            let unsure = self.world.unsure.contains(&prompt.name);
            if unsure || life.repeats {
                prompts.push(prompt.clone());
            }
            if unsure {
                self.names.insert(prompt.name.clone());
            }
        }
        for (slot, talk) in &life.prompts {
            if let Some(prompt) = self.world.prompt(*slot, *talk) {
                self.names.insert(prompt.name.clone());
                self.world.tally.prompts += 1;
                prompts.push(prompt);
            }
        }
        let Some(steady) = self.links.get(&Role::Steady) else { return };
        for prompt in prompts {
            steady.say(prompt.words()).await;
        }
    }

    async fn until(&self, at: At) {
        match at {
            At::Micros(micros) => pause(Duration::from_micros(micros)).await,
            At::Chunks(chunks) => self.until_shown(chunks, |seen| seen.chunks).await,
            At::Steps(steps, micros) => {
                self.until_shown(steps, |seen| seen.steps).await;
                pause(Duration::from_micros(micros)).await;
            }
        }
    }

    /// Waits until the steady view was shown so many more, or nothing more can come.
    async fn until_shown(&self, more: u64, count: impl Fn(&Seen) -> u64) {
        let Some(steady) = self.links.get(&Role::Steady) else { return };
        let enough = more + steady.look(&count);
        let enough = |seen: &Seen| count(seen) >= enough || seen.is_over || self.names.is_subset(&seen.done);
        steady.wait(INSTANT_PATIENCE, enough).await;
    }

    async fn act(&mut self, deed: Deed) -> Result<(), Trouble> {
        match deed {
            Deed::Hide => self.with(Role::Blinking, Link::hide).await,
            Deed::Show => self.with(Role::Blinking, Link::show).await,
            Deed::StopReading => self.with(Role::Slow, Link::stop_reading).await,
            Deed::ReadOn => self.with(Role::Slow, Link::read_on).await,
            Deed::Return => self.come_back().await?,
            Deed::Cancel(slot) => self.cancel(slot).await,
            Deed::Close(slot) => self.close(slot).await,
            Deed::StopHost(micros) => {
                self.world.tally.host_stops += 1;
                self.host.stand_still(micros).await;
            }
            Deed::StopAgent(slot, micros) => {
                self.world.tally.agent_stops += self.signal_agent(slot, Signal::STOP);
                pause(Duration::from_micros(micros)).await;
                self.signal_agent(slot, Signal::CONT);
            }
            Deed::FreezeAgent(slot) => self.world.tally.agent_stops += self.signal_agent(slot, Signal::STOP),
            Deed::LockFor(micros) => {
                let lock = self.lock_file().await?;
                pause(Duration::from_micros(micros)).await;
                lock.release()?;
            }
            Deed::Lock => self.lock = Some(self.lock_file().await?),
            Deed::KillAgent(slot) => self.world.tally.agent_kills += self.signal_agent(slot, Signal::KILL),
        }
        Ok(())
    }

    async fn lock_file(&mut self) -> Result<FileLock, Trouble> {
        self.world.tally.locks += 1;
        let database = self.world.place.database();
        let taken = tokio::task::spawn_blocking(move || FileLock::take(&database)).await;
        taken.map_err(|error| Trouble::Program(format!("the lock could not be taken: {error}")))?
    }

    async fn with(&self, role: Role, order: impl AsyncFnOnce(&Link)) {
        if let Some(link) = self.links.get(&role) {
            order(link).await;
        }
    }

    async fn come_back(&mut self) -> Result<(), Trouble> {
        let Some(link) = self.links.remove(&Role::Returning) else { return Ok(()) };
        self.keep(Role::Returning, link.leave().await);
        let link = self.world.attach(&self.host, Role::Returning).await?;
        self.links.insert(Role::Returning, link);
        Ok(())
    }

    fn keep(&mut self, role: Role, journal: Journal) {
        self.world.seen(role, &journal);
        self.world.unsure.retain(|name| !journal.queued.contains(name));
        self.lived.journals.push((role, journal));
    }

    async fn cancel(&self, slot: usize) {
        let Some(tab) = self.world.slots.get(slot).map(|slot| slot.tab()) else { return };
        let of_tab = |name: &&String| self.world.sent.get(*name).is_some_and(|prompt| prompt.tab == tab);
        let newest = self.names.iter().filter(of_tab).max_by_key(|name| name.len());
        if let (Some(name), Some(steady)) = (newest, self.links.get(&Role::Steady)) {
            steady.say(json!({"type": "cancel", "tabId": tab, "messageId": name})).await;
        }
    }

    /// Closes a tab that the file has been seen to hold; another one takes its place in the next life.
    async fn close(&mut self, slot: usize) {
        let Some(slot) = self.world.slots.get_mut(slot) else { return };
        let tab = slot.tab();
        if self.world.history.session_of(&tab).is_none() {
            return;
        }
        slot.follow();
        self.names.retain(|name| self.world.sent.get(name).is_some_and(|prompt| prompt.tab != tab));
        self.world.closing.insert(tab.clone());
        self.with(Role::Steady, async |link: &Link| link.say(json!({"type": "close-tab", "tabId": tab})).await).await;
    }

    fn signal_agent(&self, slot: usize, signal: Signal) -> u64 {
        let Some(agent) = self.world.slots.get(slot).map(|slot| slot.agent()) else { return 0 };
        let processes = self.host.children().into_iter().filter(|process| process.agent == agent);
        processes.map(|process| process.signal(signal)).count() as u64
    }

    async fn die(&mut self, death: Death) -> Result<(), Trouble> {
        match death {
            Death::Kill(at) => {
                self.until(at).await;
                self.kill().await?;
                self.world.tally.kills += 1;
            }
            Death::KillWhenQuiet => {
                self.quiet().await;
                self.kill().await?;
                self.world.tally.kills += 1;
            }
            Death::Term(at) => {
                self.until(at).await;
                self.end_well().await?;
            }
            Death::TermWhenQuiet => {
                self.quiet().await;
                self.end_well().await?;
            }
            Death::TermThenKill(at, micros) => {
                self.until(at).await;
                self.host.ask_to_end();
                pause(Duration::from_micros(micros)).await;
                self.kill().await?;
                self.world.tally.ending_kills += 1;
            }
        }
        for (role, link) in std::mem::take(&mut self.links) {
            self.keep(role, link.read_out().await);
        }
        Ok(())
    }

    async fn kill(&mut self) -> Result<(), Trouble> {
        self.world.dying = Some(self.host.kill().await?);
        if let Some(lock) = self.lock.take() {
            lock.release()?;
        }
        self.world.left = self.host.children();
        Ok(())
    }

    async fn end_well(&mut self) -> Result<(), Trouble> {
        let children = self.host.children();
        self.with(Role::Slow, Link::read_on).await;
        self.host.ask_to_end();
        match self.host.ended().await? {
            Some(0) => self.world.tally.good_ends += 1,
            code => self.wrong(format!("after SIGTERM the host ended with {code:?}")),
        }
        for process in children.iter().filter(|process| process.is_alive()) {
            self.wrong(format!("the agent `{}` ({}) outlived a host that ended well", process.agent, process.pid));
        }
        Ok(())
    }

    /// Waits until every turn of this life has ended and every view has seen it.
    async fn quiet(&mut self) {
        self.with(Role::Blinking, Link::show).await;
        self.with(Role::Slow, Link::read_on).await;
        let deadline = Instant::now() + PATIENCE;
        let mut late = Vec::new();
        for (role, link) in &self.links {
            // What an earlier link of the same view was shown is not shown again.
            let earlier = self.lived.journals.iter().filter(|(of, _)| of == role);
            let before: BTreeSet<&String> = earlier.flat_map(|(_, journal)| &journal.done).collect();
            let due: BTreeSet<String> = self.names.iter().filter(|name| !before.contains(name)).cloned().collect();
            let rest = deadline.saturating_duration_since(Instant::now());
            if !link.wait(rest, |seen| due.is_subset(&seen.done)).await {
                let missing: Vec<String> = link.look(|seen| due.difference(&seen.done).cloned().collect());
                late.push(format!("the {role:?} view was not shown the end of {missing:?} within {PATIENCE:?}"));
            }
        }
        late.into_iter().for_each(|what| self.wrong(what));
    }
}
