//! Random calls of tools, lending, answers, rules and settings, and what must hold of them at the end.

use proptest::prelude::*;
use switchboard_types::{
    BatchMode, CallId, Command, Decision, Effect, Mode, PolicyChange, RequestNo, SessionId, ToolCode, ToolFailure,
    ToolRequest, Word,
};

use super::super::tools::function;
use super::{Run, TABS, VIEWS};

#[derive(Clone, Debug)]
pub(super) enum Tooling {
    Call { view: usize, what: u8, mode: u8, tab: Option<usize> },
    AgentCall { tab: usize, what: u8 },
    CancelCall { view: usize, back: usize },
    Lend { view: usize },
    GiveBack { view: usize, fails: bool },
    WatchQuestions { view: usize },
    Answer { view: usize, session: u64, how: u8 },
    RemoveRule { view: usize },
    SetPolicy { view: usize, tab: usize, mode: bool, auto: bool },
}

pub(super) fn step() -> impl Strategy<Value = Tooling> {
    prop_oneof![2 => call_step(), 1 => answer_step()]
}

fn call_step() -> impl Strategy<Value = Tooling> {
    let (view, tab) = (0..VIEWS, 0..TABS);
    prop_oneof![
        5 => (view.clone(), 0..6_u8, 0..3_u8, proptest::option::of(tab.clone()))
            .prop_map(|(view, what, mode, tab)| Tooling::Call { view, what, mode, tab }),
        4 => (tab, 0..6_u8).prop_map(|(tab, what)| Tooling::AgentCall { tab, what }),
        1 => (view.clone(), 0..4_usize).prop_map(|(view, back)| Tooling::CancelCall { view, back }),
        1 => view.clone().prop_map(|view| Tooling::Lend { view }),
        2 => (view, any::<bool>()).prop_map(|(view, fails)| Tooling::GiveBack { view, fails }),
    ]
}

fn answer_step() -> impl Strategy<Value = Tooling> {
    let (view, tab) = (0..VIEWS, 0..TABS);
    prop_oneof![
        6 => (view.clone(), 1..6_u64, 0..6_u8).prop_map(|(view, session, how)| Tooling::Answer { view, session, how }),
        1 => view.clone().prop_map(|view| Tooling::WatchQuestions { view }),
        1 => view.clone().prop_map(|view| Tooling::RemoveRule { view }),
        1 => (view, tab, any::<bool>(), any::<bool>())
            .prop_map(|(view, tab, mode, auto)| Tooling::SetPolicy { view, tab, mode, auto }),
    ]
}

impl Run {
    pub(super) fn request(&mut self) -> RequestNo {
        self.requests += 1;
        RequestNo(self.requests)
    }

    pub(super) fn wanted(&mut self, what: u8, session: Option<SessionId>) -> ToolRequest {
        self.calls += 1;
        let (tool, parameters) = tool(what);
        let (call, timeout_ms) = (Some(format!("c{}", self.calls).as_str().into()), Some(8_000));
        ToolRequest { call, tool: tool.as_str().into(), parameters, session, workspace: None, timeout_ms }
    }

    pub(super) fn tools(&mut self, step: Tooling) {
        match step {
            Tooling::Call { view, what, mode, tab } => {
                let session = tab.and_then(|tab| self.session(tab));
                let calls = (0..=mode).map(|at| self.wanted((what + at) % 6, session)).collect();
                let mode = match mode {
                    0 => BatchMode::Parallel,
                    1 => BatchMode::Sequential,
                    _ => BatchMode::SequentialUntilError,
                };
                let request = self.request();
                self.world.command(view, Command::CallTools { request, calls, mode });
            }
            Tooling::AgentCall { tab, what } => {
                self.calls += 1;
                let call = CallId::from(format!("c{}", self.calls).as_str());
                let (tool, parameters) = tool(what);
                self.say(tab, |session| {
                    let (call, tool, parameters) = (call.clone(), tool.clone(), parameters.clone());
                    vec![Word::ToolCall { session, call, tool, parameters }]
                });
            }
            Tooling::CancelCall { view, back } => {
                let call = CallId::from(format!("c{}", self.calls.saturating_sub(back)).as_str());
                let request = self.request();
                self.world.command(view, Command::CancelCall { request, call });
            }
            Tooling::Lend { view } => {
                let effect = if view == 0 { Effect::Reads } else { Effect::Acts };
                let tools = vec![(function(&format!("lent{view}")), effect)];
                let request = self.request();
                self.world.command(view, Command::LendTools { request, tools });
            }
            Tooling::GiveBack { view, fails } => {
                let Some((call, _)) = self.world.views[view].lent_calls.pop() else { return };
                let failure = ToolFailure::new(ToolCode::Denied, "no");
                let result = if fails { Err(failure) } else { Ok("given".into()) };
                self.world.command(view, Command::LentResult { call, result });
            }
            Tooling::WatchQuestions { view } => {
                let request = self.request();
                self.world.command(view, Command::WatchApprovals { request });
                self.world.command(view, Command::WatchRules {});
            }
            Tooling::Answer { view, session, how } => self.answer(view, SessionId(session), how),
            Tooling::RemoveRule { view } => {
                let rule = self.world.disk.rules.first().map_or_else(|| "r0".into(), |rule| rule.id.clone());
                self.world.command(view, Command::RemoveRule { rule });
            }
            Tooling::SetPolicy { view, tab, mode, auto } => {
                let mode = Some(if mode { Mode::Agent } else { Mode::Edit });
                let change = PolicyChange { mode, auto_edits: Some(auto), ..PolicyChange::default() };
                let tab = self.tab(tab).as_str().into();
                self.world.command(view, Command::SetPolicy { tab, change });
            }
        }
    }

    /// Answers some question of a session, in one of the five ways or with an edited command.
    pub(super) fn answer(&mut self, view: usize, session: SessionId, how: u8) {
        let Some(state) = self.world.host.state(session) else { return };
        let Some(approval) = state.approvals().next().map(|open| open.approval.id.clone()) else { return };
        let decision = match how {
            0 => Decision::AllowSession,
            1 => Decision::AllowRule,
            2 => Decision::Deny,
            3 => Decision::DenyStop,
            _ => Decision::AllowOnce,
        };
        let command = (how == 4).then(|| "make edited".to_owned());
        let request = self.request();
        self.world.command(view, Command::Answer { request, session, approval, decision, command });
    }

    /// Nobody who asked for something waits for ever.
    pub(super) fn assert_everybody_is_answered(&self) {
        for (at, view) in self.world.views.iter().enumerate() {
            assert!(view.link.is_none() || view.owed.is_empty(), "view {at} waits for {:?}", view.owed);
        }
        let waiting: Vec<_> = self.world.owed_calls.keys().filter(|(life, of, _)| self.is_served(*life, *of)).collect();
        assert!(waiting.is_empty(), "nobody answers {waiting:?}");
        for (id, stored) in &self.world.disk.sessions {
            let open: Vec<_> = stored.calls.values().filter(|row| row.end.is_none()).collect();
            assert!(open.is_empty() || self.is_sealed(*id), "calls of {id} have no end: {open:?}");
        }
    }

    /// Whether a session is in memory and closed to writes.
    pub(super) fn is_sealed(&self, id: SessionId) -> bool {
        self.world.host.head(id).is_some() && self.world.host.state(id).is_none()
    }
}

fn tool(what: u8) -> (String, serde_json::Value) {
    let (tool, parameters) = match what {
        0 => ("say", serde_json::json!({ "say": "slow" })),
        1 => ("say", serde_json::json!({ "say": "wrong" })),
        2 => ("write_file", serde_json::json!({ "path": "a" })),
        3 => ("run_terminal_command", serde_json::json!({ "command": "make" })),
        4 => ("lent0", serde_json::json!({})),
        _ => ("lent1", serde_json::json!({})),
    };
    (tool.to_owned(), parameters)
}
