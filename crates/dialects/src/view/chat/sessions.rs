//! Which session is the current one of a link: chosen, seated, loaded, then live. The host keeps the seat; here is only its name.
//! An answer for a session that is no longer wanted changes nothing.

use switchboard_types::{
    Command, Epoch, FollowFrom, Page, Reject, RejectCode, Seen, Seq, SessionId, SessionRequest, SessionSummary, Setup,
    TabId, Time,
};

use super::Chat;
use super::fold::Fold;
use super::history::History;
use super::known::session_shape;
use super::lists::Purpose;
use super::open::Kind;
use super::said::ToView;
use super::streaming::Stream;

/// Of several choices the last one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice(u64);

/// A session is being chosen.
#[derive(Debug)]
pub(super) struct Choosing {
    choice: Choice,
    clears: Clears,
    /// Whether a session that is not there is replaced by a new one.
    or_fresh: bool,
}

/// Whether a view is told to forget what it shows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clears {
    Yes,
    No,
}

/// A `ready` on its way to its answer.
#[derive(Debug)]
pub(super) struct Greeting {
    wanted: Option<SessionId>,
    /// The first page of the list, once it is there.
    listed: Option<(Vec<SessionSummary>, Option<u64>)>,
    /// Whether the session is being chosen.
    is_choosing: bool,
}

/// The current session.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) session: SessionId,
    /// The name under which its events come.
    pub(super) tab: TabId,
    epoch: Epoch,
    /// The last event that came.
    last: Seq,
    listening: Listening,
    pub(super) fold: Fold,
    pub(super) loading: Option<Loading>,
    pub(super) stream: Stream,
}

/// A session that is not shown yet.
#[derive(Debug)]
pub(super) struct Loading {
    /// The last event of what is loaded at once.
    head: Seq,
    history: History,
    clears: Clears,
}

/// Whether events are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listening {
    /// They are.
    Yes,
    /// The same session is being chosen again; what is on its way belongs to the seat before.
    NotNow,
    /// The session has no tab any more, so nothing comes until it has one again.
    SeatGone,
}

impl Chat {
    /// The view is there.
    pub(super) fn ready(&mut self, wanted: Option<SessionId>) -> Command {
        self.greeting = Some(Greeting { wanted, listed: None, is_choosing: false });
        self.asks.push_back(Command::WatchSettings {});
        self.first_page(Purpose::Greet)
    }

    pub(super) fn greeting_listed(&mut self, sessions: Vec<SessionSummary>, next: Option<u64>) {
        if let Some(greeting) = &mut self.greeting {
            greeting.listed = Some((sessions, next));
        }
        self.go_on_greeting();
    }

    /// Chooses the session of a `ready` once all is known that its answer needs.
    pub(super) fn go_on_greeting(&mut self) {
        if !self.known.is_told || self.settings.is_none() {
            return;
        }
        let Some(greeting) = self.greeting.as_mut().filter(|greeting| !greeting.is_choosing) else { return };
        let Some((sessions, _)) = &greeting.listed else { return };
        greeting.is_choosing = true;
        let wanted = greeting.wanted;
        let fresh = sessions.iter().find(|session| self.known.is_fresh(session)).map(|session| session.session);
        let choice = self.choose(Clears::No, true);
        let command = match wanted.or(fresh) {
            Some(session) => self.follow(session, choice),
            None => self.create(choice),
        };
        self.asks.push_back(command);
    }

    /// A new session, or one in which nothing was said.
    pub(super) fn fresh(&mut self) -> Command {
        let choice = self.choose(Clears::Yes, true);
        self.first_page(Purpose::Fresh(choice))
    }

    pub(super) fn fresh_listed(&mut self, choice: Choice, sessions: &[SessionSummary]) {
        if !self.is_last(choice) {
            return;
        }
        let fresh = sessions.iter().find(|session| self.known.is_fresh(session)).map(|session| session.session);
        let command = match fresh {
            Some(session) => self.follow(session, choice),
            None => self.create(choice),
        };
        self.asks.push_back(command);
    }

    /// A session that there is.
    pub(super) fn load(&mut self, session: SessionId) -> Command {
        let choice = self.choose(Clears::No, false);
        self.follow(session, choice)
    }

    fn choose(&mut self, clears: Clears, or_fresh: bool) -> Choice {
        self.named += 1;
        let choice = Choice(self.named);
        self.choosing = Some(Choosing { choice, clears, or_fresh });
        choice
    }

    fn is_last(&self, choice: Choice) -> bool {
        self.choosing.as_ref().is_some_and(|choosing| choosing.choice == choice)
    }

    fn create(&mut self, choice: Choice) -> Command {
        let what = SessionRequest::Create { agent: None, workspace: None, setup: Setup::default(), task: None };
        self.ask(Kind::Create { choice }, |request| Command::Session { request, what })
    }

    fn follow(&mut self, session: SessionId, choice: Choice) -> Command {
        if let Some(seat) = self.seat.as_mut().filter(|seat| seat.session == session) {
            seat.listening = Listening::NotNow;
        }
        let what = SessionRequest::Follow { session, from: FollowFrom::Start };
        self.ask(Kind::Follow { session, choice }, |request| Command::Session { request, what })
    }

    pub(super) fn created(&mut self, session: SessionId, choice: Choice) {
        // If something else was chosen meanwhile, the new one stays for the next who wants one.
        if self.is_last(choice) {
            let command = self.follow(session, choice);
            self.asks.push_back(command);
        }
    }

    /// The host has given a seat.
    pub(super) fn seated(&mut self, session: SessionId, choice: Choice, (tab, epoch, head): (&TabId, Epoch, Seq)) {
        let before = self.current();
        let leave = if let Some(choosing) = self.choosing.take_if(|choosing| choosing.choice == choice) {
            let loading = Loading { head, history: History::default(), clears: choosing.clears };
            self.seat = Some(Seat {
                session,
                tab: tab.clone(),
                epoch,
                last: Seq::START,
                listening: Listening::Yes,
                fold: Fold::new(session.0),
                loading: Some(loading),
                stream: Stream::default(),
            });
            before
        } else {
            Some(session)
        };
        if let Some(session) = leave.filter(|leave| self.current() != Some(*leave)) {
            let what = SessionRequest::Leave { session };
            let command = self.ask(Kind::Silent, |request| Command::Session { request, what });
            self.asks.push_back(command);
        }
    }

    /// What was chosen cannot be the current session: it stays as it was, or there is a new one.
    pub(super) fn not_chosen(&mut self, choice: Choice, reject: &Reject) {
        let Some(choosing) = self.choosing.take_if(|choosing| choosing.choice == choice) else { return };
        let gone = matches!(reject.code, RejectCode::NotFound | RejectCode::UnknownTab);
        if choosing.or_fresh && gone {
            let choice = self.choose(choosing.clears, false);
            let command = self.first_page(Purpose::Fresh(choice));
            return self.asks.push_back(command);
        }
        if let Some(seat) = self.seat.as_mut().filter(|seat| seat.listening == Listening::NotNow) {
            seat.listening = Listening::SeatGone;
            self.sit_again();
        }
        if self.greeting.is_some() {
            self.greet();
        }
        let unsent = std::mem::take(&mut self.held).len();
        let note = if unsent > 0 { "; what you said meanwhile was not sent" } else { "" };
        self.say_wrong(format!("{}{note}", reject.message));
    }

    /// Asks for the seat that was lost, after the last event that came.
    fn sit_again(&mut self) {
        let Some(seat) = self.seat.as_ref().filter(|seat| seat.listening == Listening::SeatGone) else { return };
        let session = seat.session;
        let from = FollowFrom::After(Seen { seq: seat.last, epoch: Some(seat.epoch) });
        let what = SessionRequest::Follow { session, from };
        let command = self.ask(Kind::Again { session }, |request| Command::Session { request, what });
        self.asks.push_back(command);
    }

    /// The lost seat is there again.
    pub(super) fn again(&mut self, session: SessionId, tab: &TabId, epoch: Epoch) {
        if let Some(seat) = self.seat.as_mut().filter(|seat| seat.session == session) {
            if seat.listening == Listening::SeatGone {
                (seat.tab, seat.epoch, seat.listening) = (tab.clone(), epoch, Listening::Yes);
            }
        } else {
            let what = SessionRequest::Leave { session };
            let command = self.ask(Kind::Silent, |request| Command::Session { request, what });
            self.asks.push_back(command);
        }
    }

    /// The place after which the lost seat was wanted is not in the log: it is loaded anew.
    pub(super) fn not_again(&mut self, session: SessionId, reject: &Reject) {
        if reject.code == RejectCode::Conflict && self.current() == Some(session) {
            let command = self.load(session);
            self.asks.push_back(command);
        }
    }

    /// A session has changed.
    pub(super) fn session_changed(&mut self, now: Time, summary: &SessionSummary) {
        let news = self.known.news(summary);
        if let Some(status) = news.status.filter(|_| self.is_greeted) {
            self.say(&ToView::UpdateSessionStatus { session_id: summary.session.to_string(), status });
        }
        if news.in_list {
            self.list_changed(now);
        }
        let Some(seat) = self.seat.as_mut().filter(|seat| seat.session == summary.session) else { return };
        match (&summary.tab, seat.listening) {
            (None, Listening::Yes) => seat.listening = Listening::SeatGone,
            (Some(_), Listening::SeatGone) => self.sit_again(),
            _ => {}
        }
    }

    /// The current session is gone: another one takes its place.
    pub(super) fn unseat(&mut self, session: SessionId) {
        if self.current() != Some(session) {
            return;
        }
        self.seat = None;
        if self.choosing.is_none() {
            let command = self.fresh();
            self.asks.push_back(command);
        }
    }

    fn listens_to(&self, tab: &TabId) -> bool {
        self.seat.as_ref().is_some_and(|seat| seat.tab == *tab && seat.listening != Listening::NotNow)
    }

    /// Events have come.
    pub(super) fn events(&mut self, now: Time, tab: &TabId, page: &Page, epoch: Epoch) {
        // Those of a seat that was left may still be on their way.
        if !self.listens_to(tab) {
            return;
        }
        for event in page.events() {
            let Some(seat) = &mut self.seat else { return };
            let mut notes = Vec::new();
            seat.fold.apply(&event, &mut notes);
            (seat.last, seat.epoch) = (event.seq, epoch);
            match &mut seat.loading {
                Some(loading) => {
                    notes.into_iter().for_each(|note| loading.history.take(note, &seat.fold));
                    if event.seq >= loading.head {
                        self.loaded(now);
                    }
                }
                None => self.live(now, notes),
            }
        }
    }

    /// Events are lost.
    pub(super) fn gap(&mut self, now: Time, tab: &TabId, to: Seq) {
        if !self.listens_to(tab) {
            return;
        }
        let Some(seat) = &mut self.seat else { return };
        seat.last = to;
        match &mut seat.loading {
            Some(loading) => {
                loading.history.gap(now);
                if to >= loading.head {
                    self.loaded(now);
                }
            }
            None => self.say_wrong("a part of this session is lost; what there is follows"),
        }
    }

    /// The log is another one than it was: all of it comes anew.
    pub(super) fn reset(&mut self, tab: &TabId) {
        if self.listens_to(tab)
            && let Some(session) = self.current()
        {
            let choice = self.choose(Clears::Yes, true);
            let command = self.follow(session, choice);
            self.asks.push_back(command);
        }
    }

    /// All of the session is there: it is shown as it is, and live from now on.
    fn loaded(&mut self, now: Time) {
        let Some(seat) = &mut self.seat else { return };
        let Some(Loading { history, clears, .. }) = seat.loading.take() else { return };
        let session_id = seat.session.to_string();
        if self.greeting.is_some() {
            self.greet();
        } else {
            self.tell_choices();
        }
        if clears == Clears::Yes {
            self.say(&ToView::ClearMessages { session_id });
        }
        self.say_loaded(now, history);
        for prompt in std::mem::take(&mut self.held) {
            if let Ok(command) = self.send(now, prompt) {
                self.asks.push_back(command);
            }
        }
    }

    /// The answer to `ready`, but for the session.
    fn greet(&mut self) {
        let Some(greeting) = self.greeting.take() else { return };
        self.is_greeted = true;
        self.told_choices = None;
        self.tell_choices();
        let (sessions, next) = greeting.listed.unwrap_or_default();
        self.say_sessions(sessions.iter().map(session_shape).collect(), next);
        if self.settings.as_ref().is_some_and(|settings| settings.first_run) {
            self.say(&ToView::NavigateToSettings { is_first_run: true });
        }
    }
}
