//! Who does things for agents, in memory: makes ready, does, answers. Holds the host to its word that nothing is done before
//! it is recorded, nothing twice, and nothing that was not made ready.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use switchboard_types::{
    ApprovalKind, Body, Errand, ErrandCode, ErrandFailure, ErrandId, ErrandNews, ErrandOrder, ErrandResult,
    ExecutionEnd, ExecutionId, Prepared, SessionId, Severity,
};

use super::disk::Disk;

#[derive(Default)]
pub(crate) struct Runner {
    orders: VecDeque<ErrandOrder>,
    plans: BTreeMap<ErrandId, (SessionId, Errand)>,
    performed: BTreeSet<(u64, ErrandId)>,
    running: BTreeMap<ExecutionId, SessionId>,
    /// Hosts that have died; numbers of errands begin anew with each.
    deaths: u64,
}

impl Runner {
    /// An order as it leaves the host.
    pub(crate) fn ordered(&mut self, disk: &Disk, order: ErrandOrder) {
        if let ErrandOrder::Perform { errand, execution } = &order {
            assert!(self.performed.insert((self.deaths, *errand)), "errand {errand} is done twice");
            let recorded = disk.sessions.values().flat_map(|stored| &stored.log).any(
                |event| matches!(&event.body, Body::ExecutionStarted { execution: started } if started.id == *execution),
            );
            assert!(recorded, "execution {execution} is on the disk before it happens");
        }
        self.orders.push_back(order);
    }

    /// Carries out the oldest order; none if there is none.
    pub(crate) fn work(&mut self) -> Option<Vec<ErrandNews>> {
        Some(match self.orders.pop_front()? {
            ErrandOrder::Prepare { errand, session, what, .. } => {
                let result = Ok(Box::new(prepared(&what)));
                self.plans.insert(errand, (session, what));
                vec![ErrandNews::Prepared { errand, result }]
            }
            ErrandOrder::Serve { errand, .. } => {
                vec![ErrandNews::Done { errand, result: Ok(ErrandResult::Read { content: "text".to_owned() }) }]
            }
            ErrandOrder::Perform { errand, execution } => self.perform(errand, execution),
            ErrandOrder::Drop { errand } => {
                self.plans.remove(&errand);
                Vec::new()
            }
            ErrandOrder::EndAll { session } => self.end_all(|of| of == session),
        })
    }

    fn perform(&mut self, errand: ErrandId, execution: ExecutionId) -> Vec<ErrandNews> {
        let Some((session, what)) = self.plans.remove(&errand) else {
            panic!("errand {errand} is done without having been made ready");
        };
        if let Errand::Run(_) = what {
            self.running.insert(execution.clone(), session);
            let output = ErrandNews::Output { session, execution: execution.clone(), text: "out".to_owned() };
            let result = Ok(ErrandResult::Running { terminal: execution });
            return vec![ErrandNews::Done { errand, result }, output];
        }
        let end = ExecutionEnd::Written { bytes: 4 };
        let done = ErrandNews::Done { errand, result: Ok(ErrandResult::Written { bytes: 4 }) };
        vec![ErrandNews::Ended { session, execution, end }, done]
    }

    /// Commands that run end.
    pub(crate) fn end_all(&mut self, of: impl Fn(SessionId) -> bool) -> Vec<ErrandNews> {
        let ended: Vec<_> =
            self.running.iter().filter(|(_, session)| of(**session)).map(|(id, of)| (id.clone(), *of)).collect();
        self.running.retain(|_, session| !of(*session));
        let end = ExecutionEnd::Signalled { signal: "SIGKILL".to_owned() };
        ended
            .into_iter()
            .map(|(execution, session)| ErrandNews::Ended { session, execution, end: end.clone() })
            .collect()
    }

    /// The host died, and this with it.
    pub(crate) fn die(&mut self) {
        *self = Self { deaths: self.deaths + 1, performed: std::mem::take(&mut self.performed), ..Self::default() };
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.orders.is_empty() && self.running.is_empty()
    }

    pub(crate) fn plans(&self) -> usize {
        self.plans.len()
    }
}

fn prepared(what: &Errand) -> Prepared {
    let scope = format!("{what:?}");
    let kind = if matches!(what, Errand::Run(_)) { ApprovalKind::Command } else { ApprovalKind::Edit };
    Prepared {
        kind,
        title: "do it".to_owned(),
        command: None,
        cwd: None,
        path: None,
        diff: None,
        severity: Severity::Medium,
        reason: "it is asked for".to_owned(),
        digest: "00".to_owned(),
        scope,
    }
}

/// A failure of this sort.
pub(crate) fn is_code(result: &Result<ErrandResult, ErrandFailure>, code: ErrandCode) -> bool {
    matches!(result, Err(failure) if failure.code == code)
}
