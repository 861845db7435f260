//! Stored decisions and what a person sets for a session. A new rule holds once it is on the disk; one that is taken out
//! holds no longer from that moment on. Judges nothing; `policy` does.

use switchboard_types::limits::MAX_RULES;
use switchboard_types::{
    Body, Change, LinkId, PolicyChange, Reject, RejectCode, Rule, RuleEffect, RuleId, RuleWhat, SessionId, TabId, Time,
    Told,
};

use super::Host;
use crate::input::{Output, RequestId};
use crate::policy::check_patterns;

/// Who wants a rule taken out.
#[derive(Clone, Copy, Debug)]
pub(super) enum RuleAsker {
    /// A view.
    Link(LinkId),
    /// Somebody at the edges.
    Request(RequestId),
}

impl Host {
    /// All rules as they are; from now on every change follows.
    pub(super) fn watch_rules(&mut self, link_id: LinkId) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        link.rules = true;
        let rules = self.rules.clone();
        self.tell(link_id, Told::Rules { rules });
    }

    fn tell_rules(&mut self) {
        let watching = self.links.iter().filter(|(_, link)| link.rules);
        for link in watching.map(|(id, _)| *id).collect::<Vec<_>>() {
            let rules = self.rules.clone();
            self.tell(link, Told::Rules { rules });
        }
    }

    /// Stores what an approval offers as a rule of its workspace, with the session's next event; gives its name.
    pub(super) fn store_rule(
        &mut self,
        now: Time,
        id: SessionId,
        what: RuleWhat,
        title: &str,
    ) -> Result<RuleId, String> {
        let Some(session) = self.sessions.get(&id) else { return Err("the session is gone".to_owned()) };
        let root = session.workspace.clone();
        let on_the_way = || self.sessions.values().flat_map(|session| session.rules_on_the_way());
        let same = |rule: &&Rule| {
            rule.what == what && rule.workspace.as_ref() == Some(&root) && rule.effect == RuleEffect::Allow
        };
        let standing = self.rules.iter().filter(|rule| !self.dropping.contains(&rule.id));
        if let Some(known) = standing.chain(on_the_way()).find(same) {
            return Ok(known.id.clone());
        }
        if self.rules.len() + on_the_way().count() >= MAX_RULES {
            return Err(format!("{MAX_RULES} rules are stored already; remove some, or allow it once"));
        }
        let name = loop {
            let name = RuleId::new(format!("r{:08x}", self.next_random() >> 32));
            let on_the_way = self.sessions.values().flat_map(|session| session.rules_on_the_way());
            if !self.rules.iter().chain(on_the_way).any(|rule| rule.id == name) {
                break name;
            }
        };
        let origin = format!("a person allowed it in session {id}: {title}");
        let effect = RuleEffect::Allow;
        let rule = Rule { id: name.clone(), workspace: Some(root), effect, what, created: now, origin };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.keep_rule(rule);
        }
        Ok(name)
    }

    /// Rules are on the disk and hold from now on.
    pub(super) fn rules_hold(&mut self, rules: Vec<Rule>) {
        if !rules.is_empty() {
            self.rules.extend(rules);
            self.tell_rules();
        }
    }

    /// Takes a rule out; it holds no longer, and is gone once that is on the disk.
    pub(super) fn remove_rule(&mut self, asker: RuleAsker, rule: RuleId) {
        if !self.rules.iter().any(|known| known.id == rule) {
            return match asker {
                RuleAsker::Link(link) => {
                    self.refuse(link, Reject::new(RejectCode::BadMessage, format!("there is no rule `{rule}`")));
                }
                RuleAsker::Request(request) => {
                    self.outputs.push_back(Output::RuleRemoved { request, result: Ok(false) });
                }
            };
        }
        self.dropping.insert(rule.clone());
        self.changes.push(Change::DropRule(rule.clone()));
        self.unruling.push((asker, rule));
    }

    /// The store has answered for rules that were to be taken out.
    pub(super) fn rules_settled(&mut self, settled: Vec<(RuleAsker, RuleId)>, failed: Option<&str>) {
        if settled.is_empty() {
            return;
        }
        for (asker, rule) in settled {
            // Whatever was asked while the rule was on its way out shares its fate.
            self.dropping.remove(&rule);
            if failed.is_none() {
                self.rules.retain(|known| known.id != rule);
            }
            match (asker, failed) {
                (RuleAsker::Request(request), None) => {
                    self.outputs.push_back(Output::RuleRemoved { request, result: Ok(true) });
                }
                (RuleAsker::Request(request), Some(reason)) => {
                    self.outputs.push_back(Output::RuleRemoved { request, result: Err(reason.to_owned()) });
                }
                (RuleAsker::Link(_), None) => {}
                (RuleAsker::Link(link), Some(reason)) => {
                    let message = format!("rule `{rule}` was not removed: {reason}");
                    self.refuse(link, Reject::new(RejectCode::Internal, message));
                }
            }
        }
        self.tell_rules();
    }

    /// A person sets what a session's agent may do unasked.
    pub(super) fn set_policy(&mut self, now: Time, link: LinkId, id: SessionId, tab: TabId, change: PolicyChange) {
        if let Err(reject) = self.change_policy(now, id, change) {
            self.refuse(link, reject.in_tab(tab));
        }
    }

    /// What a session's agent may do unasked, as a person sets it; what the change leaves open stays as it is.
    pub(super) fn change_policy(&mut self, now: Time, id: SessionId, change: PolicyChange) -> Result<(), Reject> {
        if let Some(Err(why)) = change.patterns.as_ref().map(check_patterns) {
            return Err(Reject::new(RejectCode::BadMessage, format!("{why}; nothing was changed")));
        }
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        let mut policy = session.keeps.policy.clone();
        policy.mode = change.mode.unwrap_or(policy.mode);
        policy.auto_commands = change.auto_commands.unwrap_or(policy.auto_commands);
        policy.auto_edits = change.auto_edits.unwrap_or(policy.auto_edits);
        if let Some(patterns) = change.patterns {
            policy.patterns = (!patterns.0.is_empty()).then_some(patterns);
        }
        if policy != session.keeps.policy {
            session.keeps.policy = policy.clone();
            self.append(now, id, None, &Body::PolicyChanged { policy });
        }
        Ok(())
    }
}
