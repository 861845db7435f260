//! Carrying out what the host wants done. Never waits: what would block is handed to a thread or a bounded queue.

use std::sync::Arc;

use switchboard_core::{EndHow, Input, Output, Slice};
use switchboard_types::{
    AgentName, AgentSessionInfo, Ask, CallPlace, HistoryPlace, LifeId, LinkId, ReadId, RequestNo, Seq, SessionId,
    SourceId, Told, ToolName, WorkspaceRoot,
};
use tokio::sync::mpsc::error::TrySendError;

use super::workspaces::Asker;
use super::{
    Driver, MAX_LISTINGS, MAX_LISTINGS_IN_FLIGHT, MAX_READS_IN_FLIGHT, StoreAnswer, files, recap, recovery, sources,
    wire,
};
use crate::link::{AgentOrder, CloseReason, Outgoing, SharedPage};
use crate::store::{Store, Which};

/// A page that the host wants.
pub(super) struct Read {
    read: ReadId,
    session: SessionId,
    after: Seq,
    max_bytes: usize,
}

/// A part of a list that a view wants.
pub(super) struct Listing {
    link: LinkId,
    what: Listed,
    limit: usize,
}

/// What is listed.
enum Listed {
    /// All sessions.
    Sessions { request: Option<RequestNo>, before: Option<HistoryPlace> },
    /// One session, whether it is open or not.
    One { request: RequestNo, session: SessionId },
    /// An event by its source.
    Source { request: RequestNo, session: SessionId, source: SourceId },
    /// Calls of tools.
    Calls { request: RequestNo, tool: Option<ToolName>, before: Option<CallPlace> },
}

impl Driver {
    pub(super) fn carry_out(&mut self) {
        while let Some(output) = self.host.poll_output() {
            match output {
                Output::Commit(commit) => {
                    self.wire.watch_deletions(&commit);
                    self.store.commit(commit);
                }
                Output::Tell { link, told } => self.tell(link, told),
                Output::Read { read, session, after, max_bytes } => {
                    self.reads.push_back(Read { read, session, after, max_bytes });
                }
                Output::Reload(session) => self.reload(session),
                Output::Spawn { life, agent, workspace } => self.spawn(life, &agent, &workspace),
                Output::Ask { life, ask } => self.ask(life, ask),
                Output::End { life, how } => self.end(life, how),
                Output::Errand(order) => self.order(order),
                Output::Recap(session) => self.sum_up(session),
                Output::AddAgent { link, name } => self.add_agent(link, &name),
                Output::TrustSettled { request, result } => self.trust_settled(request, result),
                Output::SetTrust { link, root, trust } => self.trust(&root, trust, Asker::Link(link)),
                Output::ReadHistory { link, request, before, limit } => {
                    self.want_listing(Listing { link, what: Listed::Sessions { request, before }, limit });
                }
                Output::ReadCalls { link, request, tool, before, limit } => {
                    self.want_listing(Listing { link, what: Listed::Calls { request, tool, before }, limit });
                }
                Output::LookUp { link, request, session } => {
                    self.want_listing(Listing { link, what: Listed::One { request, session }, limit: 1 });
                }
                Output::FindSource { link, request, session, source } => {
                    self.want_listing(Listing { link, what: Listed::Source { request, session, source }, limit: 1 });
                }
                Output::FindUnknown { agent, workspace, sessions } => self.find_unknown(agent, workspace, sessions),
                Output::Files { link, request, session, root, trust, what } => {
                    self.want_files(files::Look { link, request, session, root, trust, what });
                }
                Output::Chore { link, request, what } => self.chore(link, request, what),
                Output::RuleRemoved { request, result } => {
                    if let Some(answer) = self.removing.remove(&request) {
                        // Whoever asked may be gone; the rule is gone all the same.
                        let _ = answer.send(result);
                    }
                }
                Output::Deleted { request, result } => {
                    if let Some(answer) = self.deleting.remove(&request) {
                        // Whoever asked may be gone; the session is gone all the same.
                        let _ = answer.send(result);
                    }
                }
            }
        }
        self.start_reads();
        self.start_listings();
        self.start_looks();
        self.start_chores();
    }

    fn sum_up(&mut self, session: SessionId) {
        let (store, answer_to) = (Arc::clone(&self.store), self.answer_to.clone());
        tokio::task::spawn_blocking(move || {
            let recap = recap::of(store.as_ref(), session).map_err(|error| error.to_string());
            // The driver is gone only when the host has stopped.
            let _ = answer_to.blocking_send(StoreAnswer::Recap(session, recap));
        });
    }

    pub(super) fn tell(&mut self, link: LinkId, told: Told) {
        let records = if self.is_recording() { self.taped(link, &told) } else { None };
        let outgoing = match told {
            Told::Events { tab, page, names, epoch, home } => {
                let same = |shared: &&Arc<SharedPage>| Arc::ptr_eq(&shared.page, &page) && shared.tab == tab;
                let shared = match self.shared.as_ref().filter(same) {
                    Some(shared) => Arc::clone(shared),
                    None => Arc::new(SharedPage {
                        tab,
                        page,
                        names,
                        epoch,
                        home,
                        frames: Default::default(),
                        events: Default::default(),
                    }),
                };
                self.shared = Some(Arc::clone(&shared));
                Outgoing::Events(shared)
            }
            other => Outgoing::Told(Box::new(other)),
        };
        let outgoing = wire::marked(outgoing, records);
        let Some(outbox) = self.outboxes.get(&link) else { return };
        if outbox.capacity() > 1 {
            if outbox.try_send(outgoing).is_err() {
                // Its task is gone without a word.
                self.outboxes.remove(&link);
                self.host.handle(self.clock.now(), Input::LinkClosed(link));
            }
            return;
        }
        // Events are bounded by the window, so this view asks without reading the answers. Its link ends; its cursors are
        // with the view, and nothing is lost. The last place is for saying so.
        tracing::warn!(%link, "a view asks faster than it reads the answers; its link is closed");
        let _ = outbox.try_send(Outgoing::Close(CloseReason::TooSlow));
        self.outboxes.remove(&link);
    }

    fn start_reads(&mut self) {
        while self.reads_in_flight < MAX_READS_IN_FLIGHT {
            let Some(Read { read, session, after, max_bytes }) = self.reads.pop_front() else { return };
            if !self.host.wants_page(read) {
                continue;
            }
            self.reads_in_flight += 1;
            let (store, answer_to) = (Arc::clone(&self.store), self.answer_to.clone());
            tokio::task::spawn_blocking(move || {
                let slice = store.read_after(session, after, max_bytes);
                let slice = slice.map(|slice| Slice { gap: slice.gap, page: slice.page });
                // The driver is gone only when the host has stopped.
                let _ = answer_to.blocking_send(StoreAnswer::Page(read, slice.map_err(|error| error.to_string())));
            });
        }
    }

    fn want_listing(&mut self, listing: Listing) {
        if self.listings.len() < MAX_LISTINGS {
            return self.listings.push_back(listing);
        }
        let (link, why) = (listing.link, "too many views ask for it at once; try again".to_owned());
        let refused = match listing.what {
            Listed::Sessions { request, .. } => Input::HistoryRead { link, request, history: Err(why) },
            Listed::One { request, .. } => Input::LookedUp { link, request, found: Err(why) },
            Listed::Source { request, session, .. } => Input::SourceFound { link, request, session, found: Err(why) },
            Listed::Calls { request, .. } => Input::CallsRead { link, request, calls: Err(why) },
        };
        self.host.handle(self.clock.now(), refused);
    }

    fn start_listings(&mut self) {
        while self.listings_in_flight < MAX_LISTINGS_IN_FLIGHT {
            let Some(Listing { link, what, limit }) = self.listings.pop_front() else { return };
            self.listings_in_flight += 1;
            let (store, answer_to) = (Arc::clone(&self.store), self.answer_to.clone());
            tokio::task::spawn_blocking(move || {
                let input = listed(store.as_ref(), link, what, limit);
                let _ = answer_to.blocking_send(StoreAnswer::Listed(Box::new(input)));
            });
        }
    }

    fn find_unknown(&self, agent: AgentName, workspace: WorkspaceRoot, sessions: Vec<AgentSessionInfo>) {
        let (store, answer_to) = (Arc::clone(&self.store), self.answer_to.clone());
        tokio::task::spawn_blocking(move || match sources::unknown(store.as_ref(), &agent, sessions) {
            Ok(sessions) => {
                let input = Input::UnknownFound { agent, workspace, sessions };
                let _ = answer_to.blocking_send(StoreAnswer::Found(Box::new(input)));
            }
            // The agent lists its sessions again when it is reached again.
            Err(error) => tracing::warn!(%agent, %error, "the sessions of an agent could not be looked up"),
        });
    }

    fn reload(&self, session: SessionId) {
        let (store, answer_to) = (Arc::clone(&self.store), self.answer_to.clone());
        tokio::task::spawn_blocking(move || {
            let found = store.sessions(Which::One(session)).map(|mut found| found.pop());
            let recovered = match found {
                Ok(Some(stored)) => recovery::recover(store.as_ref(), stored).map_err(|error| error.to_string()),
                Ok(None) => Err("the session is not in the store".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            let _ = answer_to.blocking_send(StoreAnswer::Reloaded(session, recovered.map(Box::new)));
        });
    }

    fn spawn(&mut self, life: LifeId, agent: &AgentName, workspace: &WorkspaceRoot) {
        match self.workspaces.agent(workspace, agent) {
            Ok(spec) => {
                let taping = self.meet_life(life, &spec);
                let orders = self.agents.spawn_taped(life, &spec, workspace, taping);
                self.lives.insert(life, orders);
            }
            Err(message) => {
                self.host.handle(self.clock.now(), Input::LifeEnded { life, message });
            }
        }
    }

    fn ask(&mut self, life: LifeId, ask: Ask) {
        if self.is_recording() {
            self.tape_if_wanted(life);
        }
        let Some(orders) = self.lives.get(&life) else { return };
        if let Err(TrySendError::Full(_)) = orders.try_send(AgentOrder::Ask(ask)) {
            tracing::warn!(%life, "an agent takes no more orders; it is ended");
            // With its orders gone the agent's link ends the process and reports it.
            self.lives.remove(&life);
        }
    }

    fn end(&mut self, life: LifeId, how: EndHow) {
        let Some(orders) = self.lives.get(&life) else { return };
        if let Err(TrySendError::Full(_)) = orders.try_send(AgentOrder::End(how)) {
            self.lives.remove(&life);
        }
    }
}

/// Looks up what a view wants to be listed, and says it as the host hears it.
fn listed(store: &dyn Store, link: LinkId, what: Listed, limit: usize) -> Input {
    match what {
        Listed::Sessions { request, before } => {
            let history = store.history(before, limit).map_err(|error| error.to_string());
            Input::HistoryRead { link, request, history }
        }
        Listed::One { request, session } => {
            let found = store.sessions(Which::One(session)).map(|mut found| found.pop().map(|stored| stored.row));
            Input::LookedUp { link, request, found: found.map_err(|error| error.to_string()) }
        }
        Listed::Source { request, session, source } => {
            let found = sources::find(store, session, &source).map_err(|error| error.to_string());
            Input::SourceFound { link, request, session, found }
        }
        Listed::Calls { request, tool, before } => {
            let calls = store.calls(tool.as_ref(), before, limit).map(|calls| (calls.rows, calls.next));
            Input::CallsRead { link, request, calls: calls.map_err(|error| error.to_string()) }
        }
    }
}
