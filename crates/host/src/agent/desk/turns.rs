//! Prompts and cancelling, and what a session's worker wants done: shown, kept, asked, carried out.

use std::sync::Arc;
use std::time::SystemTime;

use agent_client_protocol_schema::v1::{CancelNotification, PromptRequest};
use serde_json::json;
use switchboard_agent::deed::{Deed, Shown};
use switchboard_agent::said::{End, Said};
use switchboard_agent::talk::{Ask, Used};
use switchboard_agent::trouble::TroubleKind;
use switchboard_agent::worker::{Do, Heard, Kept, TurnEnd};
use switchboard_dialects::jsonrpc::{Debt, Failure, codes};

use super::{Desk, Held, News, invalid, no_session, typed};
use crate::agent::deeds::{Deadlines, Done, Hands};
use crate::agent::far::Ear;
use crate::agent::session::{Call, MAX_PROMPTS, Waiting};
use crate::agent::show::{self, Shows};
use crate::agent::{prompt, replay};
use crate::runner::stop::Brake;

impl Desk {
    pub(super) fn prompt(&mut self, debt: Debt, params: &str) {
        let request: PromptRequest = match typed(params) {
            Ok(request) => request,
            Err(failure) => return self.refuse(debt, &failure),
        };
        let (id, parts) = (request.session_id.to_string(), prompt::parts(request.prompt));
        let ticket = self.number();
        let Some(session) = self.sessions.get_mut(&id) else { return self.refuse(debt, &no_session(&id)) };
        if session.prompts.len() >= MAX_PROMPTS {
            return self.refuse(debt, &invalid(format!("{MAX_PROMPTS} prompts wait already; wait for their answers")));
        }
        session.prompts.push_back(Waiting { ticket, debt });
        if session.book.header().title.is_none()
            && let Some(title) = prompt::title(&parts)
        {
            let kept = session.book.change(|header| header.title = Some(title.clone()));
            self.say_if_unkept(&id, kept);
            self.update(&id, show::title(&title, SystemTime::now()));
        }
        if self.look_for_prompt(&id) {
            self.held.push(Held::Prompt { session: id, ticket, parts });
        } else {
            self.hear(&id, Heard::Prompt(parts));
        }
    }

    pub(super) fn cancel(&mut self, params: &str) {
        let Ok(cancel) = serde_json::from_str::<CancelNotification>(params) else {
            return tracing::warn!("a cancel names no session");
        };
        let id = cancel.session_id.to_string();
        // Those that wait come after the one that is worked on, if there is one; all of them end.
        self.drop_held(&id);
        self.hear(&id, Heard::Cancel);
    }

    /// Prompts that wait for a look at the server are answered as cancelled.
    pub(super) fn drop_held(&mut self, id: &str) {
        let of_session = |held: &mut Held| matches!(held, Held::Prompt { session, .. } if session.as_str() == id);
        let dropped: Vec<Held> = self.held.extract_if(.., of_session).collect();
        let mut debts = Vec::new();
        if let Some(session) = self.sessions.get_mut(id) {
            for held in &dropped {
                let Held::Prompt { ticket, .. } = held else { continue };
                let at = session.prompts.iter().position(|waiting| waiting.ticket == *ticket);
                debts.extend(at.and_then(|at| session.prompts.remove(at)).map(|waiting| waiting.debt));
            }
        }
        for debt in debts {
            self.answer(debt, &json!({"stopReason": "cancelled"}));
        }
    }

    /// Tells a session's worker something, and does what it wants done.
    pub(super) fn hear(&mut self, id: &str, heard: Heard) {
        let now = self.now_ms();
        let Some(session) = self.sessions.get_mut(id) else { return };
        let wanted = session.worker.hear(now, heard);
        self.carry_out(id, wanted);
    }

    pub(super) fn said(&mut self, id: &str, question: u64, said: Vec<Said>) {
        let now = self.now_ms();
        let mut wanted = Vec::new();
        for said in said {
            let Some(session) = self.sessions.get_mut(id) else { return };
            // What was hung up is not heard any more, even if it was said before.
            if session.question.as_ref().is_none_or(|(no, _)| *no != question) {
                break;
            }
            if let Said::End(end) = &said {
                session.question = None;
                self.lacks_a_model |= matches!(end, End::Failed(trouble) if trouble.kind == TroubleKind::NoModel);
            }
            let more = session.worker.hear(now, Heard::Model(said));
            let asks = more.iter().any(|one| matches!(one, Do::AskModel(_) | Do::HangUp));
            wanted.extend(more);
            if asks {
                self.carry_out(id, std::mem::take(&mut wanted));
            }
        }
        self.carry_out(id, wanted);
    }

    pub(super) fn deed_done(&mut self, id: &str, call: &str, no: u64, done: Done) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let is_open = |open: &&mut Call| open.deed.as_ref().is_some_and(|(open, _)| *open == no);
        let Some(open) = session.calls.get_mut(call).filter(is_open) else { return };
        open.deed = None;
        if let Some((sort, standing)) = done.remember {
            session.consent.remember(sort, standing);
        }
        self.hear(id, Heard::Deed { call: call.to_owned(), outcome: done.outcome });
    }

    fn carry_out(&mut self, id: &str, wanted: Vec<Do>) {
        let mut text = Streamed::default();
        for one in wanted {
            match one {
                Do::Say(more) => self.stream(id, &mut text, "agent_message_chunk", more),
                Do::Think(more) => self.stream(id, &mut text, "agent_thought_chunk", more),
                other => {
                    self.flush(id, &mut text);
                    self.carry_out_one(id, other);
                }
            }
        }
        self.flush(id, &mut text);
    }

    fn carry_out_one(&mut self, id: &str, one: Do) {
        match one {
            Do::AskModel(ask) => self.ask_model(id, ask),
            Do::HangUp => {
                if let Some(session) = self.sessions.get_mut(id) {
                    session.hang_up();
                }
            }
            Do::Say(_) | Do::Think(_) => {}
            Do::Begin { call, shown, deed } => self.begin(id, call, shown, deed),
            Do::Then { call, deed } => self.go_on(id, call, deed),
            Do::Abandon { call } => {
                let call = self.sessions.get_mut(id).and_then(|session| session.calls.remove(&call));
                if let Some(call) = call {
                    self.update(id, show::finished(&call.id, "it was stopped", true, Shows::Nothing));
                    call.stop();
                }
            }
            Do::Finish { call, text, failed } => {
                let call = self.sessions.get_mut(id).and_then(|session| session.calls.remove(&call));
                if let Some(call) = call {
                    self.update(id, show::finished(&call.id, &text, failed, call.shows));
                }
            }
            Do::Plan(steps) => self.update(id, show::plan(&steps)),
            Do::Note(text) => self.note(id, &text),
            Do::Keep(kept) => self.keep(id, &kept),
            Do::Filled { used, of } => self.update(id, show::filled(used, of)),
            Do::EndTurn { end, used } => self.end_turn(id, end, used),
        }
    }

    /// Text of one batch goes out as one piece.
    fn stream(&mut self, id: &str, text: &mut Streamed, kind: &'static str, more: String) {
        if text.kind != kind {
            self.flush(id, text);
            text.kind = kind;
        }
        text.text.push_str(&more);
    }

    fn flush(&mut self, id: &str, text: &mut Streamed) {
        let text = std::mem::take(text);
        if !text.text.is_empty() {
            self.update(id, show::chunk(text.kind, &text.text));
        }
    }

    fn ask_model(&mut self, id: &str, ask: Box<Ask>) {
        let question = self.number();
        let ear = Ear { session: id.to_owned(), question, news: self.news.clone() };
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.hang_up();
        let asking = tokio::spawn(Arc::clone(&self.far).answer(self.known.clone(), ask, ear));
        session.question = Some((question, asking.abort_handle()));
    }

    fn begin(&mut self, id: &str, call: String, shown: Shown, deed: Option<Deed>) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.named += 1;
        let open = Call { id: replay::name(session.named), shown, shows: Shows::Nothing, deed: None };
        let update = show::begun(&open.id, &open.shown, deed.as_ref(), &session.place);
        session.calls.insert(call.clone(), open);
        self.update(id, update);
        if let Some(deed) = deed {
            self.perform(id, call, deed);
        }
    }

    /// More is to be done for a call.
    fn go_on(&mut self, id: &str, call: String, deed: Deed) {
        let Some(session) = self.sessions.get(id) else { return };
        let Some(open) = session.calls.get(&call) else { return };
        let update = show::goes_on(&open.id, &deed, &session.place);
        self.update(id, update);
        self.perform(id, call, deed);
    }

    fn perform(&mut self, id: &str, call: String, deed: Deed) {
        let (no, peer, cradle, abilities) = (self.number(), self.peer(id), Arc::clone(&self.cradle), self.abilities);
        let Some(session) = self.sessions.get_mut(id) else { return };
        let (place, consent) = (Arc::clone(&session.place), session.consent);
        let Some(open) = session.calls.get_mut(&call) else { return };
        open.shows = match &deed {
            Deed::Write { .. } => Shows::Enough,
            Deed::Run { .. } if abilities.runs => Shows::Enough,
            Deed::Run { .. } | Deed::Read { .. } | Deed::ReadWhole { .. } => Shows::Nothing,
            Deed::List { .. } | Deed::Search { .. } => Shows::Nothing,
        };
        let (brake, stop) = Brake::new();
        if let Some((_, before)) = open.deed.replace((no, brake)) {
            before.pull();
        }
        let (shown, name) = (open.shown.clone(), open.id.clone());
        let deadlines = Deadlines::default();
        let hands = Hands { peer, abilities, place, consent, stop, id: name, shown, cradle, deadlines };
        let (news, session) = (self.news.clone(), id.to_owned());
        tokio::spawn(async move {
            let done = hands.perform(deed).await;
            let _ = news.send(News::Deed { session, call, no, done }).await;
        });
    }

    fn keep(&mut self, id: &str, kept: &Kept) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let done = session.book.keep(kept);
        self.say_if_unkept(id, done);
    }

    pub(super) fn say_if_unkept(&mut self, id: &str, done: std::io::Result<()>) {
        if let Err(error) = done {
            self.note(id, &format!("the session cannot be kept on the disk: {error}"));
        }
    }

    fn end_turn(&mut self, id: &str, end: TurnEnd, used: Used) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let left: Vec<Call> = session.calls.drain().map(|(_, call)| call).collect();
        let waiting = session.prompts.pop_front();
        for call in left {
            self.update(id, show::finished(&call.id, "the turn ended before it was done", true, Shows::Nothing));
            call.stop();
        }
        let Some(Waiting { debt, .. }) = waiting else { return };
        match show::ended(end, used) {
            Ok(result) => self.answer(debt, &result),
            Err(message) => self.refuse(debt, &Failure::new(codes::INTERNAL_ERROR, message)),
        }
    }
}

/// Text that is gathered.
#[derive(Default)]
struct Streamed {
    kind: &'static str,
    text: String,
}
