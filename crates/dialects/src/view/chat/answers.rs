//! What is asked of the current session, and what the host answers to anything: each answer goes to whoever waits for it, once.

use switchboard_types::{
    Command, ContextItem, Prompt, Reject, RejectCode, RequestNo, SessionAnswer, SessionId, SessionRequest, Time,
};

use super::Chat;
use super::asked::ContextShape;
use super::open::Kind;
use super::said::ToView;
use super::sessions::Seat;

/// Prompts that wait for the session that is being chosen.
const MAX_HELD: usize = 16;
/// Files and excerpts that go with one prompt.
const MAX_CONTEXT_ITEMS: usize = 1000;

impl Chat {
    /// A prompt for the current session.
    pub(super) fn send_message(
        &mut self,
        now: Time,
        text: String,
        context: Vec<ContextShape>,
    ) -> Result<Command, Reject> {
        if text.trim().is_empty() {
            return Err(Reject::new(RejectCode::BadMessage, "there is nothing to send: `text` is empty"));
        }
        if context.len() > MAX_CONTEXT_ITEMS {
            let message = format!("`context` has more than {MAX_CONTEXT_ITEMS} items");
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        let item =
            |item: ContextShape| ContextItem { path: Some(item.file_name), content: Some(item.content), image: None };
        let prompt = Prompt { text, context: context.into_iter().map(item).collect() };
        if self.choosing.is_none() && self.seat.as_ref().is_none_or(|seat| seat.loading.is_none()) {
            return self.send(now, prompt);
        }
        if self.held.len() >= MAX_HELD {
            let message = format!("{MAX_HELD} messages wait for their session already; wait for it");
            return Err(Reject::new(RejectCode::TooLarge, message));
        }
        self.held.push(prompt);
        Ok(Self::nothing())
    }

    pub(super) fn send(&mut self, now: Time, prompt: Prompt) -> Result<Command, Reject> {
        let session = self.must_have_current()?;
        let name = self.fresh_name(now);
        let what = SessionRequest::Send { session, name, prompt, attachments: Vec::new() };
        Ok(self.ask(Kind::Quiet { session: Some(session) }, |request| Command::Session { request, what }))
    }

    pub(super) fn stop(&mut self, session: SessionId) -> Result<Command, Reject> {
        let what = SessionRequest::Stop { session };
        Ok(self.ask(Kind::Stop { session }, |request| Command::Session { request, what }))
    }

    /// The host has answered.
    pub(super) fn answered(&mut self, now: Time, request: RequestNo, answer: &SessionAnswer) {
        let Some(kind) = self.requests.close(request) else { return };
        match (kind, answer) {
            (Kind::List(listing), SessionAnswer::Sessions { sessions, next }) => self.listed(listing, sessions, *next),
            (Kind::Create { choice }, SessionAnswer::Created { session }) => self.created(*session, choice),
            (Kind::Follow { session, choice }, SessionAnswer::Following { tab, epoch, head, .. }) => {
                self.seated(session, choice, (tab, *epoch, *head));
            }
            (Kind::Again { session }, SessionAnswer::Following { tab, epoch, .. }) => self.again(session, tab, *epoch),
            (Kind::Stop { session }, SessionAnswer::Stopped { stopped: false }) => self.nothing_stopped(session),
            (Kind::Delete { session }, _) => self.deleted(now, session),
            (Kind::DeleteOne { session }, _) => self.one_deleted(now, session, None),
            (Kind::Show { session }, SessionAnswer::Files(answer)) => self.shown(session, answer),
            // Nobody waits for more.
            _ => {}
        }
    }

    /// Nothing ran, so nothing is to be seen running.
    fn nothing_stopped(&mut self, session: SessionId) {
        let runs = |seat: &Seat| seat.session == session && seat.fold.is_generating();
        if !self.seat.as_ref().is_some_and(runs) {
            self.say(&ToView::GenerationStopped { session_id: session.to_string() });
        }
    }

    /// The host, or the link, refuses what was asked.
    pub(super) fn failed(&mut self, now: Time, request: RequestNo, reject: &Reject) {
        let Some(kind) = self.requests.close(request) else { return };
        let message = reject.message.clone();
        match kind {
            Kind::List(listing) => self.not_listed(listing, reject),
            Kind::Create { choice } | Kind::Follow { choice, .. } => self.not_chosen(choice, reject),
            Kind::Again { session } => self.not_again(session, reject),
            Kind::Delete { session } => self.not_deleted(now, session, reject),
            Kind::DeleteOne { session } => self.one_deleted(now, session, Some(reject)),
            Kind::Quiet { session } => self.say_wrong_in(session.or(self.current()), message),
            Kind::Stop { session } | Kind::Answer { session } | Kind::Show { session } => {
                self.say_wrong_in(Some(session), message);
            }
            Kind::Context => self.say_wrong(message),
            Kind::Silent => {}
            chore @ (Kind::Search { .. }
            | Kind::Save { .. }
            | Kind::Token { .. }
            | Kind::Test
            | Kind::Upkeep
            | Kind::Rebuild) => self.chore_failed(chore, &message),
        }
    }
}
