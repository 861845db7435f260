//! What is done around the host for a view: search, upkeep, settings. Each has its one answer, also where it cannot be done.

use switchboard_types::limits::MAX_SEARCH_BYTES;
use switchboard_types::{
    Chore, ChoreAnswer, Command, Found, FoundMessage, FoundSession, Kept, LibraryAnswer, LibraryRequest, Rebuilt,
    Reject, RequestNo, Role, SearchOrder, SearchQuery, SessionId, SettingsAnswer,
};

use super::Chat;
use super::known::title_of;
use super::lists::Purpose;
use super::open::Kind;
use super::said::ToView;
use super::shape::{FoundSessionShape, FoundShape, ResultShape, RoleWord};

impl Chat {
    pub(super) fn chore(&mut self, kind: Kind, what: Chore) -> Command {
        self.ask(kind, |request| Command::Chore { request, what })
    }

    /// Words are looked for; without any, all sessions are listed.
    pub(super) fn search(&mut self, query: String) -> Command {
        if query.trim().is_empty() {
            return self.first_page(Purpose::Search(query));
        }
        if query.len() > MAX_SEARCH_BYTES {
            let error = Some(format!("look for less: at most {MAX_SEARCH_BYTES} bytes"));
            self.say(&ToView::SearchSessionsResult { results: Vec::new(), query, error });
            return Self::nothing();
        }
        let order = SearchOrder::Ranked;
        let what = SearchQuery { text: query.clone(), order, ..SearchQuery::default() };
        self.chore(Kind::Search { query }, Chore::Library(LibraryRequest::Search(Box::new(what))))
    }

    pub(super) fn upkeep(&mut self) -> Command {
        self.chore(Kind::Upkeep, Chore::Library(LibraryRequest::Upkeep {}))
    }

    pub(super) fn rebuild(&mut self) -> Command {
        self.chore(Kind::Rebuild, Chore::Library(LibraryRequest::Rebuild {}))
    }

    /// A chore is done, or is not.
    pub(super) fn chore_done(&mut self, request: RequestNo, result: Result<&ChoreAnswer, &Reject>) {
        let Some(kind) = self.requests.close(request) else { return };
        let answer = match result {
            Ok(answer) => answer,
            Err(reject) => return self.chore_failed(kind, &reject.message),
        };
        match (kind, answer) {
            (Kind::Search { query }, ChoreAnswer::Library(LibraryAnswer::Found(found))) => {
                self.say(&ToView::SearchSessionsResult { results: results(found), query, error: None });
            }
            (Kind::Upkeep, ChoreAnswer::Library(LibraryAnswer::Kept(kept))) => self.say(&maintained(kept)),
            (Kind::Rebuild, ChoreAnswer::Library(LibraryAnswer::Rebuilt(rebuilt))) => self.say(&recreated(rebuilt)),
            (Kind::Save { change }, ChoreAnswer::Settings(SettingsAnswer::Saved {})) => self.saved(&change),
            (Kind::Token { then_test }, ChoreAnswer::Settings(SettingsAnswer::Token { has_token })) => {
                self.token_saved(*has_token, then_test);
            }
            (Kind::Test, ChoreAnswer::Settings(SettingsAnswer::Tested { success, message, models })) => {
                let models = success.then(|| models.clone());
                self.say(&ToView::ConnectionTestResult { success: *success, message: message.clone(), models });
            }
            (kind, _) => self.chore_failed(kind, "the host has answered something else"),
        }
    }

    /// It cannot be done; whoever waits is told so in the shape that it waits for.
    pub(super) fn chore_failed(&mut self, kind: Kind, why: &str) {
        let why = why.to_owned();
        let shape = match kind {
            Kind::Search { query } => ToView::SearchSessionsResult { results: Vec::new(), query, error: Some(why) },
            Kind::Upkeep => ToView::DbMaintenanceResult {
                success: false,
                deleted_sessions: None,
                deleted_messages: None,
                message: Some(why),
            },
            Kind::Rebuild => ToView::RecreateMessagesResult { success: false, message: Some(why) },
            Kind::Test => ToView::ConnectionTestResult { success: false, message: why, models: None },
            Kind::Save { .. } => return self.not_saved(&why),
            Kind::Token { .. } => {
                let has_token = self.settings_shape().1;
                self.say(&ToView::BearerTokenSaved { has_token });
                return self.say_wrong(format!("the token was not saved: {why}"));
            }
            _ => return,
        };
        self.say(&shape);
    }
}

fn maintained(kept: &Kept) -> ToView {
    let freed = kept.bytes_before.saturating_sub(kept.bytes_after);
    let message = format!(
        "{} messages of {} sessions that are gone were taken out; {freed} of {} bytes were given back",
        kept.messages, kept.sessions, kept.bytes_before
    );
    ToView::DbMaintenanceResult {
        success: true,
        deleted_sessions: Some(kept.sessions),
        deleted_messages: Some(kept.messages),
        message: Some(message),
    }
}

fn recreated(rebuilt: &Rebuilt) -> ToView {
    let Rebuilt { sessions, messages, backup } = rebuilt;
    let message = format!("{messages} messages of {sessions} sessions were derived anew; the old ones are in {backup}");
    ToView::RecreateMessagesResult { success: true, message: Some(message) }
}

fn results(found: &Found) -> Vec<ResultShape> {
    let result = |session: &FoundSession| ResultShape {
        session: FoundSessionShape {
            id: session.session.to_string(),
            title: title_of(&session.title),
            timestamp: session.updated.0,
        },
        messages: session.messages.iter().map(|message| found_shape(session.session, message)).collect(),
    };
    found.sessions.iter().map(result).collect()
}

fn found_shape(session: SessionId, message: &FoundMessage) -> FoundShape {
    FoundShape {
        id: format!("{session}-{}", message.seq),
        role: match message.role {
            Role::User => RoleWord::User,
            Role::Assistant | Role::Thought => RoleWord::Assistant,
            Role::Tool => RoleWord::Tool,
        },
        snippet: message.snippet.iter().map(|piece| piece.text.as_str()).collect(),
    }
}
