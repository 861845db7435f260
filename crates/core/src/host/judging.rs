//! The gate: what was made ready is judged, then done, asked about or denied. Decides nothing by itself that the policy
//! decides; only says what the policy must know.

use switchboard_types::limits::MAX_OPEN_APPROVALS;
use switchboard_types::{
    Approval, ApprovalId, ApprovalKind, Asker, Body, CommandFacts, Containment, EditFacts, Errand, ErrandCode,
    ErrandFailure, ErrandId, Facts, Judgement, Place, Prepared, ProgramFacts, Rule, RunAs, SessionId, Severity,
    TargetFacts, Time, Trust, TurnId, Verdict, WorkspaceRoot,
};

use super::Host;
use crate::open::{ApprovalAsker, Caller, Cleared, Consent, ErrandAsker, ErrandStage, OpenErrand};
use crate::policy::{Question, judge, read_line};
use crate::session::Session;
use crate::timers::Alarm;

impl Host {
    /// What was made ready is done, asked about or denied.
    pub(super) fn weigh(&mut self, now: Time, id: SessionId, errand: ErrandId, prepared: Box<Prepared>) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(open) = session.errands.get(&errand) else { return };
        let asker = self.asker(session, &open.asker);
        let granted = session.keeps.grants.contains(&prepared.scope);
        let judgement = match self.judgement(session, asker, &prepared.facts, granted) {
            Ok(judgement) => judgement,
            Err(failure) => return self.withdraw(now, id, errand, failure),
        };
        if let Some(approval) = consented(session, open, &prepared, &judgement) {
            if let Some(session) = self.sessions.get_mut(&id) {
                session.consents.retain(|consent| consent.approval.id != approval);
            }
            let cleared = Cleared { approval: Some(approval), unasked: None, run_as: RunAs::Shown };
            return self.clear(now, id, errand, prepared, cleared);
        }
        if judgement.decision == Verdict::Allow {
            // What was allowed for the session was looked at in just these words.
            let run_as = if granted { RunAs::Shown } else { RunAs::Judged };
            let cleared = Cleared { approval: None, unasked: Some(unasked(&judgement)), run_as };
            return self.clear(now, id, errand, prepared, cleared);
        }
        self.ask_about(now, id, errand, prepared, judgement);
    }

    /// Whether nothing forbids by now what was asked about before: trust, mode, rules and what holds commands in may have
    /// changed while the person thought.
    pub(super) fn still_allowed(
        &self,
        id: SessionId,
        errand: ErrandId,
        prepared: &Prepared,
    ) -> Result<(), ErrandFailure> {
        let Some(session) = self.sessions.get(&id) else { return Ok(()) };
        let Some(open) = session.errands.get(&errand) else { return Ok(()) };
        self.judgement(session, self.asker(session, &open.asker), &prepared.facts, false).map(drop)
    }

    fn asker(&self, session: &Session, asker: &ErrandAsker) -> Asker {
        let by_view = |call: &crate::open::OpenCall| matches!(call.caller, Caller::View(..));
        match asker {
            ErrandAsker::Call(no) if self.calls.open.get(no).is_some_and(by_view) => Asker::Person,
            ErrandAsker::Call(_) | ErrandAsker::Agent { .. } if session.agent.is_demo() => Asker::Demo,
            ErrandAsker::Call(_) | ErrandAsker::Agent { .. } => Asker::Agent,
        }
    }

    /// What the policy says; a denial is a failure with its reasons.
    fn judgement(
        &self,
        session: &Session,
        asker: Asker,
        facts: &Facts,
        granted: bool,
    ) -> Result<Judgement, ErrandFailure> {
        let root = &session.workspace;
        let lent = matches!(facts, Facts::Tool { .. });
        let trust = self.workspaces.get(root).map_or(Trust::Untrusted, |known| known.trust);
        let untrusted = trust == Trust::Untrusted && asker != Asker::Demo && !lent;
        if let (Facts::Command(_), Some(Containment::Missing { reason })) = (facts, &self.containment)
            && !untrusted
        {
            let message = format!("commands must be held in here, and cannot be: {reason}");
            return Err(ErrandFailure::new(ErrandCode::Denied, message));
        }
        let judgement = judge(&Question {
            facts,
            asker,
            session: &session.keeps.policy,
            patterns: self.workspaces.get(root).and_then(|known| known.patterns.as_ref()),
            rules: &self.rules_in(root),
            granted,
            trust,
        });
        let denied = judgement.decision == Verdict::Deny;
        if untrusted && (!denied || judgement.rule.is_none()) {
            let reasons = judgement.reasons.join("; ");
            let what =
                format!("{root} is not trusted, so nothing is written or run there; run `switchboard trust {root}`");
            let message = if denied { format!("{what} ({reasons})") } else { what };
            return Err(ErrandFailure::new(ErrandCode::Untrusted, message));
        }
        if denied {
            return Err(ErrandFailure::new(ErrandCode::Denied, judgement.reasons.join("; ")));
        }
        Ok(judgement)
    }

    /// The rules that hold in a workspace: its own and the user's. One that is being taken out holds no longer.
    fn rules_in(&self, root: &WorkspaceRoot) -> Vec<&Rule> {
        let here = |rule: &&Rule| rule.workspace.as_ref().is_none_or(|of| of == root);
        self.rules.iter().filter(here).filter(|rule| !self.dropping.contains(&rule.id)).collect()
    }

    /// A person is asked.
    fn ask_about(&mut self, now: Time, id: SessionId, errand: ErrandId, prepared: Box<Prepared>, judgement: Judgement) {
        let Some(session) = self.sessions.get(&id) else { return };
        if session.state.approvals().count() >= MAX_OPEN_APPROVALS {
            let message = format!("{MAX_OPEN_APPROVALS} questions are open already, so this one was denied");
            return self.withdraw(now, id, errand, ErrandFailure::new(ErrandCode::Denied, message));
        }
        let Some(open) = session.errands.get(&errand) else { return };
        let (turn, asker) = (open.turn, open.asker.clone());
        let is_command = prepared.kind == ApprovalKind::Command;
        let call = match asker {
            ErrandAsker::Call(no) => self.calls.open.get(&no).map(|call| call.row.call.clone()),
            ErrandAsker::Agent { .. } => None,
        };
        let ours = ApprovalId::new(format!("a{}", session.head.next()));
        let approval = Approval {
            command: prepared.command.clone(),
            cwd: prepared.cwd.clone(),
            path: prepared.path.clone(),
            diff: prepared.diff.clone(),
            change: prepared.change.clone(),
            reason: judgement.reasons.join("; "),
            digest: Some(prepared.digest.clone()),
            rule: judgement.suggestion,
            editable: is_command && open.what.as_ref().is_some_and(|what| edited(what, "").is_some()),
            containment: self.containment.clone().filter(|_| is_command),
            call,
            ..Approval::new(ours.clone(), prepared.kind, prepared.title.clone(), judgement.severity)
        };
        if let ErrandAsker::Call(no) = asker {
            // Whoever waits for a person keeps nobody else from being served.
            self.calls.running.remove(&no);
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            if let Some(open) = session.errands.get_mut(&errand) {
                open.stage = ErrandStage::Asked(prepared);
                open.edited = None;
            }
            session.askers.insert(ours, ApprovalAsker::Errand(errand));
        }
        self.ask_person(now, id, turn, approval);
    }

    /// Puts a question into the log, with its time limit; whoever is told of questions hears of it once it is durable.
    pub(super) fn ask_person(&mut self, now: Time, id: SessionId, turn: Option<TurnId>, mut approval: Approval) {
        if self.settings.approval_ms > 0 {
            let expires = now.after_ms(self.settings.approval_ms);
            approval.expires = Some(expires);
            self.timers.set(expires, Alarm::Approval(id, approval.id.clone()));
        }
        let name = approval.id.clone();
        self.append(now, id, turn, &Body::ApprovalAsked { approval });
        self.show_question(id, &name);
    }

    /// What the policy says of something that an agent would do by itself, as far as that can be told without a look at any
    /// file; none if it names neither a command nor a file.
    pub(super) fn judge_question(
        &self,
        session: &Session,
        approval: &Approval,
    ) -> Option<Result<Judgement, ErrandFailure>> {
        let facts = match (&approval.command, &approval.path) {
            (Some(command), _) => unlooked_command(command, approval.cwd.as_deref()),
            (None, Some(path)) => Facts::Edit(EditFacts { place: unlooked_place(path, &session.workspace), names: 1 }),
            (None, None) => return None,
        };
        let asker = if session.agent.is_demo() { Asker::Demo } else { Asker::Agent };
        Some(self.judgement(session, asker, &facts, false))
    }
}

/// Why nobody is asked, in plain words.
fn unasked(judgement: &Judgement) -> String {
    let reasons = judgement.reasons.join("; ");
    match &judgement.rule {
        Some(rule) => format!("{reasons} (rule {rule})"),
        None => reasons,
    }
}

/// The answer of a person that covers this: to the same thing in other words, or to the agent's own question about it.
fn consented(session: &Session, open: &OpenErrand, prepared: &Prepared, judgement: &Judgement) -> Option<ApprovalId> {
    if judgement.severity == Severity::Critical {
        return None;
    }
    if let Some((approval, shown)) = &open.edited {
        return (judgement.severity <= *shown || judgement.decision == Verdict::Allow).then(|| approval.clone());
    }
    let same = |consent: &&Consent| {
        Some(consent.turn) == open.turn && is_same(&consent.approval, prepared, &session.workspace)
    };
    session.consents.iter().find(same).map(|consent| consent.approval.id.clone())
}

/// Whether what an agent asked about is, beyond doubt, what it wants done now.
fn is_same(asked: &Approval, prepared: &Prepared, root: &WorkspaceRoot) -> bool {
    let beneath =
        |path: &str| path.strip_prefix(root.as_str()).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
    let place = |path: &str| beneath(path).unwrap_or_else(|| path.to_owned());
    match prepared.kind {
        ApprovalKind::Command => {
            asked.command.is_some()
                && asked.command == prepared.command
                && asked.cwd.is_some()
                && asked.cwd == prepared.cwd
        }
        ApprovalKind::Edit => {
            let (Some(before), Some(now)) = (&asked.path, &prepared.path) else { return false };
            let whole = asked.change.as_ref().is_some_and(|change| change.left_out == 0);
            let same_lines = whole && asked.change == prepared.change;
            let same_text = asked.change.is_none() && asked.diff.is_some() && asked.diff == prepared.diff;
            place(before) == place(now) && (same_lines || same_text)
        }
        ApprovalKind::Tool => false,
    }
}

/// The same errand with another command line; none if it has none that can be edited.
pub(super) fn edited(what: &Errand, line: &str) -> Option<Errand> {
    match what {
        Errand::Run(run) => {
            let run = switchboard_types::Run { program: line.to_owned(), args: Vec::new(), ..run.clone() };
            Some(Errand::Run(run))
        }
        Errand::Tool { tool, parameters } => {
            let mut parameters = parameters.clone();
            let command = parameters.get_mut("command")?;
            *command = match command {
                serde_json::Value::String(_) => line.into(),
                serde_json::Value::Array(_) => serde_json::json!(["/bin/sh", "-c", line]),
                _ => return None,
            };
            Some(Errand::Tool { tool: tool.clone(), parameters })
        }
        Errand::Read { .. } | Errand::Write { .. } | Errand::Terminal { .. } => None,
    }
}

/// What can be said of a command without a look at any file.
fn unlooked_command(line: &str, cwd: Option<&str>) -> Facts {
    let reading = read_line(line);
    let named = reading.commands.iter().filter_map(|command| command.words.first());
    let program = |name: &String| ProgramFacts { name: name.clone(), path: None, place: Place::Unknown };
    let target = |path: &String| TargetFacts { written: path.clone(), place: Place::Unknown };
    Facts::Command(Box::new(CommandFacts {
        line: Some(line.to_owned()),
        cwd: cwd.unwrap_or_default().to_owned(),
        programs: named.map(program).collect(),
        targets: reading.targets.iter().map(|written| target(&written.path)).collect(),
        ..CommandFacts::default()
    }))
}

/// Where a path seems to lead without a look at any link on the way.
fn unlooked_place(path: &str, root: &WorkspaceRoot) -> Place {
    let beneath = path.strip_prefix(root.as_str()).and_then(|rest| rest.strip_prefix('/'));
    let inside = beneath.or_else(|| (!path.starts_with('/')).then_some(path));
    match inside {
        Some(inside) if !inside.split('/').any(|part| part == "..") => Place::Inside(inside.to_owned()),
        Some(_) | None => Place::Unknown,
    }
}
