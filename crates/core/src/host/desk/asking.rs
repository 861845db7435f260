//! Prompts, stops, settings and orders by a session's id. Never sends a prompt twice.

use switchboard_types::limits::MAX_AGENT_TITLE_CHARS;
use switchboard_types::{
    Ask, Body, OptionId, PolicyChange, Prompt, Reject, RejectCode, SessionAnswer, SessionId, Time, TitleBy, TurnName,
    Wish,
};

use super::super::Host;
use super::super::commands::untrusted_message;
use super::{DeskAsker, no_such};
use crate::session::AgentPlace;

impl Host {
    pub(super) fn send_asked(
        &mut self,
        now: Time,
        asker: DeskAsker,
        id: SessionId,
        (name, prompt): (TurnName, Prompt),
    ) {
        match self.take_prompt(now, id, name, prompt) {
            Ok((turn, position)) => self.answer_durable(asker, id, SessionAnswer::Queued { turn, position }),
            Err(reject) => self.answer_desk(asker, Err(reject)),
        }
    }

    pub(super) fn stop_asked(&mut self, now: Time, asker: DeskAsker, id: SessionId) {
        let running = self.sessions.get(&id).and_then(|session| session.state.running());
        if let Some(turn) = running {
            self.cancel_running(now, id, turn);
        }
        self.answer_durable(asker, id, SessionAnswer::Stopped { stopped: running.is_some() });
    }

    pub(super) fn set_asked(&mut self, asker: DeskAsker, id: SessionId, category: &str, value: String) {
        let result = self.set_by_category(id, category, value).map(|()| SessionAnswer::Done {});
        self.answer_desk(asker, result);
    }

    fn set_by_category(&mut self, id: SessionId, category: &str, value: String) -> Result<(), Reject> {
        self.must_be_permitted(id)?;
        let Some(session) = self.sessions.get(&id) else { return Err(no_such(id)) };
        if session.is_elsewhere() {
            let payload = serde_json::json!({ category: value });
            return self.wish(id, None, Wish::Order { name: format!("set_{category}"), payload });
        }
        let option = self.option_of(id, category, &value)?;
        let AgentPlace::Open { life } = session.place else {
            let message = "the agent is not there yet; send a prompt, then choose";
            return Err(Reject::new(RejectCode::AgentUnavailable, message));
        };
        self.ask(id, life, Ask::SetOption { session: id, option, value });
        Ok(())
    }

    /// The agent's option that is about something, if it offers this choice.
    fn option_of(&self, id: SessionId, category: &str, value: &str) -> Result<OptionId, Reject> {
        let Some(session) = self.sessions.get(&id) else { return Err(no_such(id)) };
        let about = |option: &&switchboard_types::AgentOption| option.category.as_deref() == Some(category);
        let named = |option: &&switchboard_types::AgentOption| option.id.as_str() == category;
        let options = &session.choices.options;
        let Some(option) = options.iter().find(about).or_else(|| options.iter().find(named)) else {
            let message =
                format!("agent `{}` has nothing to set for `{category}`, or has not said so yet", session.agent);
            return Err(Reject::new(RejectCode::Conflict, message));
        };
        if !option.choices.is_empty() && !option.choices.iter().any(|choice| choice.value == value) {
            let offered: Vec<&str> = option.choices.iter().map(|choice| choice.value.as_str()).collect();
            let message = format!("`{value}` is none of the choices for `{category}`: {}", offered.join(", "));
            return Err(Reject::new(RejectCode::BadMessage, message));
        }
        Ok(option.id.clone())
    }

    /// The model that a session was opened with is set as soon as its agent says that it can be.
    pub(in super::super) fn set_first_model(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let life = session.life();
        let Some(model) = session.choices.model_due.take() else { return };
        match (self.option_of(id, "model", &model), life) {
            (Ok(option), Some(life)) => self.ask(id, life, Ask::SetOption { session: id, option, value: model }),
            (Err(reject), _) if reject.code == RejectCode::BadMessage => {
                self.refuse_seats(id, RejectCode::BadMessage, &reject.message);
            }
            (Ok(_) | Err(_), _) => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.choices.model_due = Some(model);
                }
            }
        }
    }

    /// A person's title stays, whatever the agent says later.
    pub(super) fn rename_asked(&mut self, now: Time, asker: DeskAsker, id: SessionId, title: &str) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() || title.chars().count() > MAX_AGENT_TITLE_CHARS {
            let message = format!("a title has 1 to {MAX_AGENT_TITLE_CHARS} characters");
            return self.answer_desk(asker, Err(Reject::new(RejectCode::BadMessage, message)));
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.keeps.titled = TitleBy::Person;
        self.append(now, id, None, &Body::TitleChanged { title, by: TitleBy::Person });
        self.answer_durable(asker, id, SessionAnswer::Done {});
    }

    pub(super) fn policy_asked(&mut self, now: Time, asker: DeskAsker, id: SessionId, change: PolicyChange) {
        match self.change_policy(now, id, change) {
            Ok(()) => self.answer_durable(asker, id, SessionAnswer::Done {}),
            Err(reject) => self.answer_desk(asker, Err(reject)),
        }
    }

    pub(super) fn order_asked(&mut self, asker: DeskAsker, id: SessionId, name: String, payload: serde_json::Value) {
        let result = self.must_be_permitted(id).and_then(|()| match self.sessions.get(&id) {
            Some(session) if session.is_elsewhere() => Ok(()),
            Some(session) => {
                let message = format!("agent `{}` has no command `{name}`; only engines have their own", session.agent);
                Err(Reject::new(RejectCode::BadMessage, message))
            }
            None => Err(no_such(id)),
        });
        if let Err(reject) = result.and_then(|()| self.wish(id, Some(asker), Wish::Order { name, payload })) {
            self.answer_desk(asker, Err(reject));
        }
    }

    fn must_be_permitted(&self, id: SessionId) -> Result<(), Reject> {
        let Some(session) = self.sessions.get(&id) else { return Err(no_such(id)) };
        if self.is_permitted(&session.workspace, &session.agent) {
            return Ok(());
        }
        Err(Reject::new(RejectCode::WorkspaceUntrusted, untrusted_message(&session.workspace)))
    }
}
