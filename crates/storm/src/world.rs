//! One data folder and everybody around it: tabs, views with what they have seen, prompts that nobody has confirmed yet.
//! Lasts over many lives of the host. How one life goes is in `life`, how it is judged in `verdict`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::check::History;
use crate::host::{AgentProcess, Host, Place, Trouble};
use crate::plan::{SLOTS, Talk};
use crate::tally::Tally;
use crate::teller;
use crate::view::{Answers, Journal, Link, Width};

/// The name of the built-in agent.
pub(crate) const DEMO: &str = "demo";

/// What is particular about a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Follows everything from the start, and sends the prompts.
    Steady,
    /// Is hidden and shown.
    Blinking,
    /// Stops reading for a while.
    Slow,
    /// Leaves and comes back with what it saw last.
    Returning,
    /// Has seen nothing, and reads everything from the start in each life of the host.
    Fresh,
}

impl Role {
    pub(crate) const ALL: [Self; 5] = [Self::Steady, Self::Blinking, Self::Slow, Self::Returning, Self::Fresh];

    fn width(self) -> Width {
        match self {
            Self::Slow => Width::Narrow,
            Self::Steady | Self::Blinking | Self::Returning | Self::Fresh => Width::Usual,
        }
    }
}

/// A prompt as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) tab: String,
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Prompt {
    pub(crate) fn words(&self) -> Value {
        json!({"type": "prompt", "tabId": self.tab, "messageId": self.name, "text": self.text})
    }
}

/// A tab that is open now; a closed one is followed by another of another name.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    number: usize,
    age: u64,
}

impl Slot {
    pub(crate) fn tab(&self) -> String {
        format!("tab-{}-{}", self.number, self.age)
    }

    pub(crate) fn agent(&self) -> &'static str {
        if self.number < SLOTS / 2 { DEMO } else { teller::NAME }
    }

    pub(crate) fn follow(&mut self) {
        self.age += 1;
    }

    /// The prompt's text for the agent of this tab.
    fn text(&self, talk: Talk) -> String {
        match (talk, self.agent()) {
            (Talk::Count(count), DEMO) => format!("demo: fast {count}"),
            (Talk::Count(count), _) => format!("tell {count}"),
            (Talk::Prose, _) => "say something".to_owned(),
            (Talk::Unicode, _) => "demo: unicode".to_owned(),
            (Talk::Order(time), _) => format!("order {time}"),
        }
    }
}

/// All that lasts from life to life.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) place: Place,
    pub(crate) slots: Vec<Slot>,
    /// The last index that each view has seen of each tab.
    pub(crate) cursors: BTreeMap<Role, BTreeMap<String, u64>>,
    /// Every prompt that was ever sent, by name.
    pub(crate) sent: BTreeMap<String, Prompt>,
    /// Those that no view has seen in the log yet; they are sent again.
    pub(crate) unsure: BTreeSet<String>,
    /// Tabs that were told to close.
    pub(crate) closing: BTreeSet<String>,
    pub(crate) history: History,
    /// The processes of agents that a killed host left.
    pub(crate) left: Vec<AgentProcess>,
    /// How long the last host took to be gone after SIGKILL; none if it ended otherwise.
    pub(crate) dying: Option<Duration>,
    pub(crate) tally: Tally,
    next_prompt: u64,
}

impl World {
    pub(crate) async fn new(program: &Path, within: &Path) -> Result<Self, Trouble> {
        Ok(Self {
            place: Place::new(program, within).await?,
            slots: (0..SLOTS).map(|number| Slot { number, age: 0 }).collect(),
            cursors: BTreeMap::new(),
            sent: BTreeMap::new(),
            unsure: BTreeSet::new(),
            closing: BTreeSet::new(),
            history: History::default(),
            left: Vec::new(),
            dying: None,
            tally: Tally::default(),
            next_prompt: 0,
        })
    }

    /// A link of a view, seated at every open tab after what it has seen.
    pub(crate) async fn attach(&self, host: &Host, role: Role) -> Result<Link, Trouble> {
        let nothing = BTreeMap::new();
        let cursors = match role {
            Role::Fresh => &nothing,
            Role::Steady | Role::Blinking | Role::Slow | Role::Returning => self.cursors.get(&role).unwrap_or(&nothing),
        };
        let after: BTreeMap<String, u64> =
            self.slots.iter().map(|slot| (slot.tab(), cursors.get(&slot.tab()).copied().unwrap_or(0))).collect();
        let answers = if role == Role::Steady { Answers::Given } else { Answers::Left };
        Link::open(host, role.width(), answers, after.clone(), self.greeting(role, &after)).await
    }

    /// What a view says first. A tab of which something was seen must exist, so there it may ask without making it.
    fn greeting(&self, role: Role, after: &BTreeMap<String, u64>) -> Vec<Value> {
        let mut words = Vec::new();
        let known: BTreeMap<&String, u64> = match role {
            Role::Returning => after.iter().filter(|(_, seen)| **seen > 0).map(|(tab, seen)| (tab, *seen)).collect(),
            Role::Steady | Role::Blinking | Role::Slow | Role::Fresh => BTreeMap::new(),
        };
        match role {
            Role::Returning => words.push(json!({"type": "webview-ready", "lastSeenIndex": known})),
            Role::Steady => words.push(json!({"type": "webview-ready"})),
            Role::Blinking | Role::Slow | Role::Fresh => {}
        }
        for slot in self.slots.iter().filter(|slot| !known.contains_key(&slot.tab())) {
            let seen = match after.get(&slot.tab()) {
                None | Some(0) => -1,
                Some(seen) => i64::try_from(*seen).unwrap_or(i64::MAX),
            };
            let (tab, agent) = (slot.tab(), slot.agent());
            words.push(json!({"type": "new-tab", "tabId": tab, "agent": agent, "lastSeenIndex": seen}));
        }
        words
    }

    /// Takes note of what a link has seen.
    pub(crate) fn seen(&mut self, role: Role, journal: &Journal) {
        let cursors = self.cursors.entry(role).or_default();
        for (tab, shown) in &journal.shown {
            if let Some(last) = shown.last() {
                cursors.insert(tab.clone(), last.index);
            }
        }
    }

    /// A new prompt for a tab.
    pub(crate) fn prompt(&mut self, slot: usize, talk: Talk) -> Option<Prompt> {
        let slot = self.slots.get(slot)?;
        self.next_prompt += 1;
        let name = format!("{}-p{}", slot.tab(), self.next_prompt);
        let prompt = Prompt { tab: slot.tab(), name: name.clone(), text: slot.text(talk) };
        self.sent.insert(name.clone(), prompt.clone());
        self.unsure.insert(name);
        Some(prompt)
    }
}
