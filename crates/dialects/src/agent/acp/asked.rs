//! What an agent asks of the host and waits for: consent, files, terminals. Every request gets exactly one answer.

use serde_json::json;
use switchboard_types::agent::Answer;
use switchboard_types::{
    ApprovalId, CallId, Errand, ErrandFailure, ErrandName, ErrandResult, SessionId, ToolCall, ToolStatus, Word,
};

use super::calls::{Source, title_of};
use super::permission::Meant;
use super::small::{fields, name};
use super::{Acp, Noise, errands, permission};
use crate::json::shown;
use crate::jsonrpc::{Failure, IdRef, codes};

/// The method by which an agent asks for consent, and what the host does.
pub(super) const PERMISSION: (&str, &str) =
    ("session/request_permission", "asks you, with the agent's own answers; a cancel withdraws the question");

impl Acp {
    /// The agent asks something.
    pub(super) fn asked(
        &mut self,
        id: IdRef<'_>,
        method: &str,
        params: Option<&str>,
        said: &mut Vec<Word>,
    ) -> Result<(), Noise> {
        let debt = match self.owed.accept(id) {
            Ok(debt) => debt,
            Err(refused) => {
                self.out.extend(refused.answer());
                return Err(Noise::new(refused.to_string()));
            }
        };
        let params = params.unwrap_or("{}");
        let theirs = fields(params, &["sessionId"]).and_then(|found| name(&found, "sessionId"));
        let session = theirs.as_deref().and_then(|theirs| self.sessions.asking(theirs));
        let is_question = method == PERMISSION.0;
        if !is_question && !errands::METHODS.iter().any(|(known, _)| *known == method) {
            self.out.push(self.owed.error(debt, &Failure::unknown_method(method)));
            let Some(session) = session else {
                return Err(Noise::new(format!("the unknown method {} was asked for", shown(method))));
            };
            said.push(Word::Unknown { session, name: method.to_owned(), raw: params.to_owned() });
            return Ok(());
        }
        let Some(session) = session else {
            let theirs = shown(theirs.as_deref().unwrap_or_default());
            let failure = Failure::new(codes::INVALID_PARAMS, format!("no session is named {theirs} here"));
            self.out.push(self.owed.error(debt, &failure));
            return Err(Noise::new(format!("{method} is for the unknown session {theirs}")));
        };
        if is_question {
            self.question(debt, session, &theirs.unwrap_or_default(), params, said);
            return Ok(());
        }
        match errands::read(method, params) {
            Some(Ok(errand)) => self.errand(debt, session, errand, said),
            Some(Err(failure)) => self.out.push(self.owed.error(debt, &failure)),
            None => self.out.push(self.owed.error(debt, &Failure::unknown_method(method))),
        }
        Ok(())
    }

    fn errand(&mut self, debt: crate::jsonrpc::Debt, session: SessionId, what: Errand, said: &mut Vec<Word>) {
        self.names += 1;
        let errand = ErrandName::new(format!("e{}", self.names));
        let open = errands::Open { debt, about: errands::about(&what) };
        self.errands.insert(errand.clone(), (session, open));
        said.push(Word::Errand { session, errand, what });
    }

    fn question(
        &mut self,
        debt: crate::jsonrpc::Debt,
        session: SessionId,
        theirs: &str,
        params: &str,
        said: &mut Vec<Word>,
    ) {
        let (call, options) = permission::parts(params).unwrap_or((None, "[]"));
        self.names += 1;
        let id = ApprovalId::new(format!("p{}", self.names));
        let open = self.sessions.get(theirs);
        let approval = match (open, call) {
            (Some(open), Some(raw)) => {
                let told = open.calls.read(raw, Source::Question);
                let (call_id, told) = told.map_or((None, None), |(id, told)| (Some(id), told));
                let known = call_id.as_ref().and_then(|id| open.calls.known(id));
                let title = title_of(told.as_ref(), known);
                let nothing_new = call_id.filter(|_| told.is_none()).map(|id| bare(id, &title));
                let about = permission::About {
                    call: told.as_ref().map(|told| &told.call).or(nothing_new.as_ref()),
                    kind: known.and_then(|known| known.kind.as_deref()),
                    hint: known.map(|known| &known.hint),
                };
                let approval = permission::question(id.clone(), about, title, options);
                if let Some(told) = told {
                    open.has_spoken();
                    said.push(Word::OwnToolCall { session, call: told.call, told: told.telling });
                }
                approval
            }
            // Before the session is open, or without a call: the question stands alone.
            (_, raw) => {
                let found = raw.and_then(|raw| fields(raw, &["title"]));
                let title = found.and_then(|found| super::small::line(&found, "title"));
                let title = title.unwrap_or_else(|| "the agent asks for consent".to_owned());
                let about = permission::About { call: None, kind: None, hint: None };
                permission::question(id.clone(), about, title, options)
            }
        };
        let offered = approval.options.clone();
        self.questions.insert(id, (session, permission::Open { debt, offered }));
        said.push(Word::ApprovalWanted { session, approval });
    }

    /// A question is answered.
    pub(super) fn answer(&mut self, session: SessionId, approval: &ApprovalId, answer: &Answer) {
        let Some((_, open)) = self.questions.remove(approval) else { return };
        let outcome = permission::outcome(answer, &open.offered);
        self.out.push(self.owed.result(open.debt, &outcome.response));
        if outcome.meant == Meant::NoSuchAnswer {
            let message =
                "it was allowed, but the agent offers no answer that allows it; the question was withdrawn".to_owned();
            self.unsaid.push(Word::Status { session, message, progress: None });
        }
    }

    /// Something that the agent asked for is done, or is not.
    pub(super) fn errand_done(
        &mut self,
        session: SessionId,
        errand: &ErrandName,
        result: &Result<ErrandResult, ErrandFailure>,
    ) {
        let Some((_, open)) = self.errands.remove(errand) else { return };
        if let (Ok(ErrandResult::Running { terminal }), Some((_, agent))) = (result, self.sessions.of(session)) {
            agent.calls.host_runs(terminal.clone());
        }
        let message = match result {
            Ok(result) => self.owed.result(open.debt, &errands::done(result)),
            Err(failure) => self.owed.error(open.debt, &errands::failed(failure, &open.about)),
        };
        self.out.push(message);
    }

    /// The agent no longer wants an answer. It gets one all the same, which says so.
    pub(super) fn called_back(&mut self, params: Option<&str>, said: &mut Vec<Word>) -> Result<(), Noise> {
        let found = params.and_then(|params| fields(params, &["requestId", "id"]));
        let id = found.and_then(|found| found.raw("requestId").or(found.raw("id"))).unwrap_or("null");
        let errand = self.errands.iter().find(|(_, (_, open))| open.debt.id().as_json() == id);
        let Some(errand) = errand.map(|(errand, _)| errand.clone()) else {
            // A question stays: a person may be reading it.
            return Err(Noise::new(format!("the agent calls back {}, which is not under way", shown(id))));
        };
        if let Some((session, open)) = self.errands.remove(&errand) {
            let failure = Failure::new(codes::REQUEST_CANCELLED, "Request cancelled");
            self.out.push(self.owed.error(open.debt, &failure));
            said.push(Word::ErrandDropped { session, errand });
        }
        Ok(())
    }

    /// Withdraws every open question of a session.
    pub(super) fn withdraw_questions(&mut self, session: SessionId) {
        let withdrawn: Vec<_> = self.questions.extract_if(.., |_, (owner, _)| *owner == session).collect();
        for (_, (_, open)) in withdrawn {
            let outcome = json!({"outcome": {"outcome": "cancelled"}});
            self.out.push(self.owed.result(open.debt, &outcome));
        }
    }

    /// Answers everything that the agent still waits for in a session that is over.
    pub(super) fn answer_everything(&mut self, session: SessionId) {
        self.withdraw_questions(session);
        let left: Vec<_> = self.errands.extract_if(.., |_, (owner, _)| *owner == session).collect();
        for (_, (_, open)) in left {
            let failure = Failure::new(codes::REQUEST_CANCELLED, "the session was closed");
            self.out.push(self.owed.error(open.debt, &failure));
        }
    }
}

/// A call of which nothing is told again, for the question that is about it.
fn bare(id: CallId, title: &str) -> ToolCall {
    ToolCall::new(id, title, ToolStatus::Pending)
}
