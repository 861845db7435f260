//! Who does things for agents and for callers of tools, in memory: makes ready, does, answers. Holds the host to its word
//! that nothing is done before it is recorded, nothing twice, and nothing that was not made ready.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use switchboard_types::{
    ApprovalId, ApprovalKind, Body, CommandFacts, EditFacts, Effect, Errand, ErrandCode, ErrandFailure, ErrandId,
    ErrandNews, ErrandOrder, ErrandResult, Execution, ExecutionEnd, ExecutionId, Facts, Finding, FindingCode, Network,
    Place, Prepared, Provider, RunAs, SessionId,
};

use super::disk::Disk;
use super::world::ROOT;

#[derive(Default)]
pub(crate) struct Runner {
    orders: VecDeque<ErrandOrder>,
    plans: BTreeMap<ErrandId, (SessionId, Errand)>,
    performed: BTreeSet<(u64, ErrandId)>,
    /// Questions by which something was done, over all deaths.
    consented: BTreeSet<(SessionId, ApprovalId)>,
    /// Commands that run, each with the tool call that waits for its end.
    running: BTreeMap<(SessionId, ExecutionId), Option<ErrandId>>,
    /// What is being served and takes its time.
    serving: BTreeSet<ErrandId>,
    /// How everything was done, in order.
    pub(crate) done: Vec<(RunAs, Network, Execution)>,
    /// Every errand that was made ready or served.
    pub(crate) wanted: Vec<Errand>,
    /// Hosts that have died; numbers of errands begin anew with each.
    deaths: u64,
}

impl Runner {
    /// An order as it leaves the host.
    pub(crate) fn ordered(&mut self, disk: &Disk, order: ErrandOrder) {
        if let ErrandOrder::Perform { errand, execution, session, run_as, network } = &order {
            assert!(self.performed.insert((self.deaths, *errand)), "errand {errand} is done twice");
            let log = disk.sessions.get(session).map_or(&[][..], |stored| &stored.log);
            let recorded = log.iter().find_map(|event| match &event.body {
                Body::ExecutionStarted { execution: started } if started.id == *execution => Some(started),
                _ => None,
            });
            let recorded = recorded.expect("an execution is on the disk before it happens");
            if let Some(approval) = &recorded.approval {
                let first = self.consented.insert((*session, approval.clone()));
                assert!(first, "{approval} of {session} allowed two executions");
            } else {
                assert!(recorded.unasked.is_some(), "{execution} was done without anybody's word");
            }
            self.done.push((*run_as, *network, (**recorded).clone()));
        }
        if let ErrandOrder::Prepare { what, .. } | ErrandOrder::Serve { what, .. } = &order {
            self.wanted.push(what.clone());
        }
        self.orders.push_back(order);
    }

    /// Carries out the oldest order; none if there is none.
    pub(crate) fn work(&mut self) -> Option<Vec<ErrandNews>> {
        Some(match self.orders.pop_front()? {
            ErrandOrder::Prepare { errand, session, what, .. } => match prepared(&what) {
                Ok(ready) => {
                    self.plans.insert(errand, (session, what));
                    vec![ErrandNews::Prepared { errand, result: Ok(Box::new(ready)) }]
                }
                Err(failure) => vec![ErrandNews::Prepared { errand, result: Err(failure) }],
            },
            ErrandOrder::Serve { errand, what, .. } => self.serve(errand, &what),
            ErrandOrder::Perform { errand, execution, .. } => self.perform(errand, execution),
            ErrandOrder::Drop { errand } => {
                self.plans.remove(&errand);
                Vec::new()
            }
            ErrandOrder::Stop { errand } => self.stop(errand),
            ErrandOrder::EndAll { session } => self.end_all(|of| of == session),
        })
    }

    fn serve(&mut self, errand: ErrandId, what: &Errand) -> Vec<ErrandNews> {
        let Errand::Tool { parameters, .. } = what else {
            return vec![ErrandNews::Done { errand, result: Ok(ErrandResult::Read { content: "text".to_owned() }) }];
        };
        let result = match parameters.get("say").and_then(serde_json::Value::as_str) {
            Some("slow") => {
                self.serving.insert(errand);
                return Vec::new();
            }
            Some("wrong") => Err(wrong()),
            Some("large") => {
                let data = "x".repeat(switchboard_types::limits::MAX_RESULT_BYTES).into();
                Ok(ErrandResult::Tool { data })
            }
            _ => Ok(ErrandResult::Tool { data: parameters.clone() }),
        };
        vec![ErrandNews::Done { errand, result }]
    }

    fn perform(&mut self, errand: ErrandId, execution: ExecutionId) -> Vec<ErrandNews> {
        let Some((session, what)) = self.plans.remove(&errand) else {
            panic!("errand {errand} is done without having been made ready");
        };
        let output = || ErrandNews::Output { session, execution: execution.clone(), text: "out".to_owned() };
        match &what {
            Errand::Run(_) => {
                self.running.insert((session, execution.clone()), None);
                let result = Ok(ErrandResult::Running { terminal: execution.clone() });
                vec![ErrandNews::Done { errand, result }, output()]
            }
            Errand::Tool { tool, .. } if tool.effect == Effect::Runs => {
                self.running.insert((session, execution.clone()), Some(errand));
                vec![output()]
            }
            Errand::Tool { tool, .. } if tool.provider != Provider::Host => panic!("a lent tool is its lender's"),
            Errand::Tool { .. } | Errand::Write { .. } | Errand::Read { .. } | Errand::Terminal { .. } => {
                let end = ExecutionEnd::Written { bytes: 4 };
                let is_tool = matches!(what, Errand::Tool { .. });
                let data = serde_json::json!({ "bytes": 4 });
                let result = Ok(if is_tool { ErrandResult::Tool { data } } else { ErrandResult::Written { bytes: 4 } });
                let done = ErrandNews::Done { errand, result };
                vec![ErrandNews::Ended { session, execution, end }, done]
            }
        }
    }

    /// What is served or runs for one errand ends.
    fn stop(&mut self, errand: ErrandId) -> Vec<ErrandNews> {
        if self.serving.remove(&errand) {
            let failure = ErrandFailure::new(ErrandCode::Cancelled, "it was stopped");
            return vec![ErrandNews::Done { errand, result: Err(failure) }];
        }
        let found = self.running.iter().find(|(_, waits)| **waits == Some(errand));
        let Some(key) = found.map(|(key, _)| key.clone()) else { return Vec::new() };
        self.end_one(key, ExecutionEnd::Signalled { signal: "SIGKILL".to_owned() })
    }

    fn end_one(&mut self, key: (SessionId, ExecutionId), end: ExecutionEnd) -> Vec<ErrandNews> {
        let waits = self.running.remove(&key).flatten();
        let (session, execution) = key;
        let data = serde_json::json!({ "output": "out" });
        let done = waits.map(|errand| ErrandNews::Done { errand, result: Ok(ErrandResult::Tool { data }) });
        done.into_iter().chain([ErrandNews::Ended { session, execution, end }]).collect()
    }

    /// Commands that run end by themselves.
    pub(crate) fn exit_all(&mut self) -> Vec<ErrandNews> {
        let all: Vec<_> = self.running.keys().cloned().collect();
        all.into_iter().flat_map(|key| self.end_one(key, ExecutionEnd::Exited { code: 0 })).collect()
    }

    /// Commands that run are ended.
    pub(crate) fn end_all(&mut self, of: impl Fn(SessionId) -> bool) -> Vec<ErrandNews> {
        let ended: Vec<_> = self.running.keys().filter(|(session, _)| of(*session)).cloned().collect();
        let end = ExecutionEnd::Signalled { signal: "SIGKILL".to_owned() };
        ended.into_iter().flat_map(|key| self.end_one(key, end.clone())).collect()
    }

    /// The host died, and this with it.
    pub(crate) fn die(&mut self) {
        *self = Self {
            deaths: self.deaths + 1,
            performed: std::mem::take(&mut self.performed),
            consented: std::mem::take(&mut self.consented),
            done: std::mem::take(&mut self.done),
            ..Self::default()
        };
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.orders.is_empty() && self.running.is_empty() && self.serving.is_empty()
    }

    pub(crate) fn plans(&self) -> usize {
        self.plans.len()
    }
}

fn wrong() -> ErrandFailure {
    let message = "say must be something else".to_owned();
    let finding = Finding { parameter: "say".to_owned(), message, code: FindingCode::EnumMismatch };
    ErrandFailure { findings: vec![finding], ..ErrandFailure::new(ErrandCode::Invalid, "the parameters are wrong") }
}

fn prepared(what: &Errand) -> Result<Prepared, ErrandFailure> {
    let command = |line: &str| {
        let facts = CommandFacts {
            line: Some(line.to_owned()),
            cwd: ROOT.to_owned(),
            cwd_place: Place::Inside(String::new()),
            ..CommandFacts::default()
        };
        Facts::Command(Box::new(facts))
    };
    let edit = |path: &str| {
        let path = path.strip_prefix("/w/").unwrap_or(path);
        // A name that is asked about where nobody has set anything else.
        Facts::Edit(EditFacts { place: Place::Inside(format!("{path}/tsconfig.json")), names: 1 })
    };
    let word = |parameters: &serde_json::Value, name: &str| {
        parameters.get(name).and_then(serde_json::Value::as_str).map(str::to_owned)
    };
    let (kind, line, path, facts) = match what {
        Errand::Run(run) => (ApprovalKind::Command, Some(run.program.clone()), None, command(&run.program)),
        Errand::Write { path, .. } => (ApprovalKind::Edit, None, Some(path.clone()), edit(path)),
        Errand::Tool { parameters, .. } if word(parameters, "say").as_deref() == Some("wrong") => return Err(wrong()),
        Errand::Tool { tool, parameters } => match (tool.provider, tool.effect) {
            (Provider::View(_), effect) => (ApprovalKind::Tool, None, None, Facts::Tool { tool: tool.name(), effect }),
            (Provider::Host, Effect::Runs) => {
                let line = word(parameters, "command").unwrap_or_default();
                (ApprovalKind::Command, Some(line.clone()), None, command(&line))
            }
            (Provider::Host, _) => {
                let path = word(parameters, "path").unwrap_or_default();
                (ApprovalKind::Edit, None, Some(path.clone()), edit(&path))
            }
        },
        Errand::Read { .. } | Errand::Terminal { .. } => panic!("{what:?} is not made ready"),
    };
    Ok(Prepared {
        kind,
        title: "do it".to_owned(),
        cwd: line.as_ref().map(|_| ROOT.to_owned()),
        scope: format!("{line:?} {path:?} {:?}", facts),
        digest: format!("{:x}", line.as_ref().or(path.as_ref()).map_or(0, String::len)),
        diff: path.as_ref().map(|path| format!("diff of {path}")),
        command: line,
        path,
        change: None,
        facts,
    })
}

/// A failure of this sort.
pub(crate) fn is_code(result: &Result<ErrandResult, ErrandFailure>, code: ErrandCode) -> bool {
    matches!(result, Err(failure) if failure.code == code)
}
