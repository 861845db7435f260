//! Answers to questions, and what a session's agent may do unasked: switches, patterns, mode and model. Changes one thing at a
//! time; what is not named stays as it is.

use switchboard_types::limits::{MAX_COMMAND_BYTES, MAX_ID_BYTES};
use switchboard_types::{
    AnsweredBy, Command, Decision, Patterns, PolicyChange, Reject, RejectCode, RequestNo, Resolution, SessionId,
    SessionRequest, ToolFailure,
};

use super::asked::ModeWord;
use super::open::Kind;
use super::{Chat, patterns, questions};

impl Chat {
    /// A person has answered a question.
    pub(super) fn respond(&mut self, name: &str, approved: bool, command: Option<String>) -> Result<Command, Reject> {
        let (session, approval) = self.question_of(name)?;
        if command.as_ref().is_some_and(|command| command.len() > MAX_COMMAND_BYTES) {
            let message = format!("a command has at most {MAX_COMMAND_BYTES} bytes");
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        let seat = self.seat.as_ref().filter(|seat| seat.session == session);
        let asked = seat.and_then(|seat| seat.fold.questions.get(&approval));
        // Of one that is not known here nobody can say whether it was edited; then the host looks at it anew.
        let edited = match asked {
            Some(asked) => asked.edited(command),
            None => command,
        };
        let decision = if approved { Decision::AllowOnce } else { Decision::Deny };
        Ok(self.ask(Kind::Answer { session }, |request| Command::Answer {
            request,
            session,
            approval,
            decision,
            command: edited.filter(|_| approved),
        }))
    }

    /// The session and the question of a name.
    pub(super) fn question_of(&self, name: &str) -> Result<(SessionId, switchboard_types::ApprovalId), Reject> {
        let none = || Reject::new(RejectCode::NotFound, "there is no such question; its `id` names it");
        questions::named(name).filter(|_| name.len() <= 2 * MAX_ID_BYTES).ok_or_else(none)
    }

    /// What came of an answer.
    pub(super) fn decided(&mut self, request: RequestNo, result: Result<&(Resolution, AnsweredBy), &ToolFailure>) {
        let Some(Kind::Answer { session }) = self.requests.close(request) else { return };
        match result {
            Ok((_, AnsweredBy::You)) => {}
            Ok((resolution, AnsweredBy::Before)) => {
                let how = match resolution {
                    Resolution::AllowOnce | Resolution::AllowSession | Resolution::AllowRule => "approved",
                    Resolution::Deny | Resolution::DenyStop => "skipped",
                    Resolution::Expired => "given up, since nobody answered in time",
                };
                let message = format!("this question was answered before: it was {how}");
                self.say_wrong_in(Some(session), message);
            }
            Err(failure) => self.say_wrong_in(Some(session), failure.message.clone()),
        }
    }

    pub(super) fn auto_commands(&mut self, session: SessionId, enabled: bool) -> Command {
        self.set_policy(session, PolicyChange { auto_commands: Some(enabled), ..PolicyChange::default() })
    }

    pub(super) fn auto_edits(&mut self, session: SessionId, enabled: bool) -> Command {
        self.set_policy(session, PolicyChange { auto_edits: Some(enabled), ..PolicyChange::default() })
    }

    pub(super) fn set_patterns(&mut self, session: SessionId, text: Option<&str>) -> Result<Command, Reject> {
        let read = text.filter(|text| !text.trim().is_empty()).map(patterns::read).transpose();
        // None of its own: those of the settings hold.
        let patterns = read.map_err(|why| Reject::new(RejectCode::BadMessage, why))?.unwrap_or(Patterns(Vec::new()));
        Ok(self.set_policy(session, PolicyChange { patterns: Some(patterns), ..PolicyChange::default() }))
    }

    fn set_policy(&mut self, session: SessionId, change: PolicyChange) -> Command {
        let what = SessionRequest::SetPolicy { session, change };
        self.ask(Kind::Quiet { session: Some(session) }, |request| Command::Session { request, what })
    }

    /// How the agent is meant to work: the host holds it to that, and the agent is told if it has such a mode itself.
    pub(super) fn select_mode(&mut self, mode: ModeWord) -> Result<Command, Reject> {
        let session = self.must_have_current()?;
        let has_own = self.seat.as_ref().is_some_and(|seat| seat.fold.modes.iter().any(|own| own == mode.name()));
        if has_own {
            let command = self.set(session, "mode", mode.name().to_owned());
            self.asks.push_back(command);
        }
        Ok(self.set_policy(session, PolicyChange { mode: Some(mode.mode()), ..PolicyChange::default() }))
    }

    pub(super) fn select_model(&mut self, model: String) -> Result<Command, Reject> {
        let session = self.must_have_current()?;
        if model.is_empty() || model.len() > 2 * MAX_ID_BYTES {
            return Err(Reject::new(RejectCode::BadMessage, "`model` must be one of the names in `init`"));
        }
        Ok(self.set(session, "model", model))
    }

    fn set(&mut self, session: SessionId, category: &str, value: String) -> Command {
        let what = SessionRequest::Set { session, category: category.to_owned(), value };
        self.ask(Kind::Quiet { session: Some(session) }, |request| Command::Session { request, what })
    }
}
