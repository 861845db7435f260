//! What the host asks of an open agent session, and what becomes of it: prompts, their end, settings, closing.

use agent_client_protocol_schema::v1::{
    CancelNotification, CloseSessionRequest, PromptRequest, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use serde_json::json;
use switchboard_types::{Detail, OptionId, Outcome, Prompt, SessionId, Tokens, TurnName, Word};

use super::options::{Setter, Setting, Sort};
use super::sessions::{CancelSent, Said, Turn};
use super::small::{MAX_LINE_CHARS, cut, fields, line, number};
use super::{Acp, Waiting, fault, prompt, update};
use crate::json::shown;
use crate::jsonrpc::{Code, Fault, codes, write};

impl Acp {
    /// Passes a prompt on. Never two at once in one session: the second is refused here, whoever asks.
    pub(super) fn prompt(&mut self, session: SessionId, turn: TurnName, asked: &Prompt, recap: Option<&str>) {
        let abilities = self.abilities();
        let Some((id, open)) = self.sessions.of(session) else {
            return self.fail_turn(session, turn, "the agent session is not open; try again");
        };
        if open.turn.is_some() {
            return self.fail_turn(session, turn, "the agent still works on another prompt; try again when it is done");
        }
        let made = prompt::blocks(asked, recap, open.cwd.as_str(), abilities);
        open.calls.new_turn();
        open.turn = Some(Turn { name: turn.clone(), said: Said::Nothing, cancel: CancelSent::No });
        open.last = Some(turn.clone());
        for message in made.notes {
            self.unsaid.push(Word::Status { session, message, progress: None });
        }
        let request = PromptRequest::new(id.to_string(), made.blocks);
        let waiting = Waiting::Prompt { session, turn: turn.clone() };
        if let Err(why) = self.request(waiting, "session/prompt", &request) {
            if let Some((_, open)) = self.sessions.of(session) {
                open.turn = None;
            }
            self.fail_turn(session, turn, &why);
        }
    }

    fn fail_turn(&mut self, session: SessionId, name: TurnName, why: &str) {
        let detail = Some(Detail::new("agent_error", why));
        self.unsaid.push(Word::TurnDone { session, name: Some(name), outcome: Outcome::Failed, detail });
    }

    /// Calls a prompt back. The agent hears of it first; then its open questions are withdrawn, as it expects.
    pub(super) fn cancel(&mut self, session: SessionId) {
        let Some((id, open)) = self.sessions.of(session) else { return };
        let Some(turn) = &mut open.turn else { return };
        if turn.cancel == CancelSent::No {
            turn.cancel = CancelSent::Yes;
            self.notify("session/cancel", &CancelNotification::new(id.to_string()));
        }
        self.withdraw_questions(session);
    }

    /// The agent has ended a turn.
    pub(super) fn prompt_answered(
        &mut self,
        session: SessionId,
        name: TurnName,
        answer: Result<&str, &Fault<'_>>,
        said: &mut Vec<Word>,
    ) {
        let Some((_, open)) = self.sessions.of(session) else { return };
        let turn = open.turn.take_if(|turn| turn.name == name);
        if let (Some(_), Ok(result)) = (&turn, answer) {
            said.extend(used(result).map(|tokens| Word::TurnUsed { session, tokens, cost: None }));
        }
        let spoken = turn.map_or(Said::Something, |turn| turn.said);
        let (outcome, detail) = match answer {
            Ok(result) => ended(result, spoken),
            Err(fault) => (Outcome::Failed, Some(Detail::new("agent_error", fault::in_words(fault)))),
        };
        if let Err(fault) = answer
            && fault::wants_sign_in(fault)
        {
            said.push(self.sign_in_word(session, &fault::in_words(fault)));
        }
        said.push(Word::TurnDone { session, name: Some(name), outcome, detail });
        if let Err(fault) = answer
            && fault::session_is_gone(fault)
        {
            // The agent has lost the session, so the next prompt must open it again.
            let reason = Some(fault::in_words(fault));
            self.answer_everything(session);
            self.sessions.forget(session);
            said.push(Word::SessionEnded { session, reason });
        }
    }

    /// Sets an option in the way in which the agent has offered it.
    pub(super) fn set_option(&mut self, session: SessionId, option: &OptionId, value: &str) {
        let setting = self.sessions.of(session).and_then(|(_, open)| open.options.setting(option, value));
        match setting {
            Some(setting) => self.send_setting(session, setting),
            None => {
                let message = format!("the agent has no option named {}", shown(option.as_str()));
                self.unsaid.push(Word::Status { session, message, progress: None });
            }
        }
    }

    fn send_setting(&mut self, session: SessionId, setting: Setting) {
        let Some(id) = self.sessions.id_of(session) else { return };
        let (option, value) = (setting.option.as_str().to_owned(), setting.value.clone());
        let waiting = Waiting::Setting { session, setting: setting.clone() };
        let sent = match setting.setter {
            Setter::Config(Sort::Switch) => {
                let request = SetSessionConfigOptionRequest::new(id.to_string(), option, value == "true");
                self.request(waiting, "session/set_config_option", &request)
            }
            Setter::Config(Sort::Select) => {
                let request = SetSessionConfigOptionRequest::new(id.to_string(), option, value.as_str());
                self.request(waiting, "session/set_config_option", &request)
            }
            Setter::Mode => {
                self.request(waiting, "session/set_mode", &SetSessionModeRequest::new(id.to_string(), value))
            }
            // Older than the schema: agents of that time still speak it.
            Setter::Model => self.request(waiting, "session/set_model", &json!({"sessionId": &*id, "modelId": value})),
        };
        if let Err(message) = sent {
            self.unsaid.push(Word::Status { session, message, progress: None });
        }
    }

    /// The agent has set an option, or has not.
    pub(super) fn setting_answered(
        &mut self,
        session: SessionId,
        setting: &Setting,
        answer: Result<&str, &Fault<'_>>,
        said: &mut Vec<Word>,
    ) {
        let Some((_, open)) = self.sessions.of(session) else { return };
        match answer {
            Ok(result) => {
                if open.options.was_set(setting, result) {
                    update::told_options(open, said);
                }
            }
            Err(fault) => {
                let older = open.options.older_way(setting).filter(|older| older.setter != setting.setter);
                if let (Some(older), Code::Number(codes::METHOD_NOT_FOUND)) = (older, &fault.code) {
                    return self.send_setting(session, older);
                }
                let (option, why) = (shown(setting.option.as_str()), fault::in_words(fault));
                let message = format!("the agent did not set {option} to {}: {why}", shown(&setting.value));
                said.push(Word::Status { session, message, progress: None });
            }
        }
    }

    /// Forgets a session; one that is still opening is closed when the agent has opened it.
    pub(super) fn close(&mut self, session: SessionId) {
        self.answer_everything(session);
        let Some((id, open)) = self.sessions.forget(session) else { return };
        if open.turn.is_some_and(|turn| turn.cancel == CancelSent::No) {
            self.notify("session/cancel", &CancelNotification::new(id.to_string()));
        }
        self.close_agent_session(&id);
    }

    /// Closes an agent session, if the agent knows how.
    pub(super) fn close_agent_session(&mut self, id: &str) {
        if self.abilities().close {
            let _ = self.request(Waiting::Closing, "session/close", &CloseSessionRequest::new(id.to_owned()));
        }
    }

    fn notify(&mut self, method: &str, params: &impl serde::Serialize) {
        self.out.extend(write::notification(method, params));
    }
}

/// What a turn has used. The schema speaks of all turns, but the agents that say it mean the one that has ended.
fn used(result: &str) -> Option<Tokens> {
    let usage = fields(result, &["usage"])?.raw("usage")?;
    let found = fields(usage, &["inputTokens", "outputTokens", "cachedReadTokens", "thoughtTokens"])?;
    let count = |name| number(&found, name).unwrap_or_default();
    let tokens = Tokens {
        input: count("inputTokens"),
        output: count("outputTokens"),
        cached: count("cachedReadTokens"),
        thought: count("thoughtTokens"),
    };
    Some(tokens).filter(|tokens| *tokens != Tokens::default())
}

/// How a turn ended, by the agent's own word.
fn ended(result: &str, spoken: Said) -> (Outcome, Option<Detail>) {
    let reason = fields(result, &["stopReason"]).and_then(|found| line(&found, "stopReason"));
    let detail = |code: &str, message: &str| Some(Detail::new(code, message));
    match reason.as_deref() {
        Some("cancelled") => (Outcome::Cancelled, None),
        Some("max_tokens") => (
            Outcome::Completed,
            detail("max_tokens", "the answer reached the agent's limit of tokens and was cut short"),
        ),
        Some("max_turn_requests") => {
            let message = "the agent reached its limit of steps for one prompt; ask it to go on";
            (Outcome::Completed, detail("max_turn_requests", message))
        }
        Some("refusal") => {
            let message = "the agent refused; the prompt and what followed are not part of what it remembers";
            (Outcome::Failed, detail("refusal", message))
        }
        Some("end_turn") | None if spoken == Said::Nothing => {
            let message =
                "the agent ended the turn without a word; its model may have failed, so look at its log or try again";
            (Outcome::Completed, detail("no_answer", message))
        }
        Some("end_turn") | None => (Outcome::Completed, None),
        Some(other) => {
            let message = cut(format!("the agent ended the turn for a reason of its own: {other}"), MAX_LINE_CHARS);
            (Outcome::Completed, detail("other_reason", &message))
        }
    }
}
