//! What a long answer costs in the dialect `chat`, in virtual time: however it comes, the bytes are bounded by the interval, and its
//! end is never dropped.

#![expect(clippy::unwrap_used, reason = "all of this is test code")]

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;
use switchboard_dialects::view::chat::{MAX_LOAD_BYTES, MAX_STREAM_BYTES_PER_SECOND, MIN_CHUNK_MS};
use switchboard_dialects::view::{Chat, ViewDialect};
use switchboard_types::{
    AgentHome, AgentName, Body, Epoch, LinkId, Outcome, PageBuilder, Prompt, RequestNo, Seq, SessionAnswer, SessionId,
    SettingsState, TabId, Text, Time, Told, TurnId, TurnName, TurnNames, WorkspaceRoot,
};

const EPOCH: Epoch = Epoch(1);

/// A link at a session, and all that it was told.
struct Screen {
    dialect: Chat,
    now: u64,
    next: u64,
    told: Vec<String>,
}

impl Screen {
    /// At a new session, whose log has these events so far.
    fn at(events: &[Body]) -> Self {
        let mut dialect = Chat::new();
        dialect.begin(LinkId(1));
        let mut screen = Self { dialect, now: 1_000, next: 1, told: Vec::new() };
        screen.hear(&Told::Overview { home: None, workspaces: Vec::new(), sessions: Vec::new() });
        screen.dialect.read(Time(screen.now), br#"{"type":"ready"}"#).unwrap();
        screen.hear(&Told::Settings(Arc::new(SettingsState::default())));
        let head = Seq(events.len() as u64 + 1);
        for (request, answer) in [
            (1, SessionAnswer::Sessions { sessions: Vec::new(), next: None }),
            (2, SessionAnswer::Created { session: SessionId(5) }),
            (3, SessionAnswer::Following { session: SessionId(5), tab: TabId::from("s-5"), epoch: EPOCH, head }),
        ] {
            screen.hear(&Told::Answer { request: RequestNo(request), result: Ok(Box::new(answer)) });
        }
        screen.events(&[Body::SessionOpened { agent: AgentName::from("demo"), workspace: WorkspaceRoot::from("/w") }]);
        screen.events(events);
        screen
    }

    fn hear(&mut self, told: &Told) {
        let said = &mut self.told;
        self.dialect
            .write(Time(self.now), told, &mut |message| said.push(String::from_utf8(message.to_vec()).unwrap()));
        while self.dialect.asks().is_some() {}
    }

    fn events(&mut self, bodies: &[Body]) {
        if bodies.is_empty() {
            return;
        }
        let mut page = PageBuilder::new(Seq(self.next));
        self.next += bodies.len() as u64;
        bodies.iter().for_each(|body| {
            page.push(Time(self.now), Some(TurnId(1)), body);
        });
        let (tab, names) = (TabId::from("s-5"), TurnNames::new(vec![(TurnId(1), TurnName::from("m"))]));
        let page = Arc::new(page.take().unwrap());
        self.hear(&Told::Events { tab, page, names, epoch: EPOCH, home: AgentHome::Here });
    }

    /// Time passes; what is due goes out when it is.
    fn wait(&mut self, ms: u64) {
        let end = self.now + ms;
        while let Some(due) = self.dialect.due().filter(|due| due.0 <= end) {
            self.now = self.now.max(due.0);
            let said = &mut self.told;
            self.dialect.tick(Time(self.now), &mut |message| said.push(String::from_utf8(message.to_vec()).unwrap()));
            while self.dialect.asks().is_some() {}
        }
        self.now = end;
    }

    fn typed(&self, kind: &str) -> Vec<&String> {
        let mark = format!("{{\"type\":\"{kind}\"");
        self.told.iter().filter(|message| message.starts_with(&mark)).collect()
    }
}

fn begun() -> Vec<Body> {
    let prompt = Prompt { text: "go".to_owned(), context: Vec::new() };
    vec![Body::PromptQueued { name: TurnName::from("m"), prompt, position: 0 }, Body::TurnStarted {}]
}

fn piece(text: &str) -> Body {
    Body::Text { text: Text::from_plain(text) }
}

fn ended() -> Body {
    Body::TurnEnded { outcome: Outcome::Completed, detail: None }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn bytes_are_bounded_by_time_and_the_end_is_whole(pauses in prop::collection::vec((0u64..80, 1usize..4_000), 1..300)) {
        let mut screen = Screen::at(&begun());
        let (began, mut whole) = (screen.now, String::new());
        for (at, (pause, size)) in pauses.iter().enumerate() {
            screen.wait(*pause);
            let text = format!("{at}{}", "é\"\n".repeat(size / 4));
            whole.push_str(&text);
            screen.events(&[piece(&text)]);
        }
        screen.events(&[ended()]);
        let elapsed = screen.now - began;
        let chunks = screen.typed("streamChunk");
        let bytes: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        let length = Text::from_plain(&whole).len() + 64;
        let allowed = MAX_STREAM_BYTES_PER_SECOND as u64 * (elapsed + MIN_CHUNK_MS) / 1000 + 2 * length as u64;
        prop_assert!(bytes as u64 <= allowed, "{bytes} in {elapsed} ms, allowed {allowed}");
        prop_assert!(chunks.len() as u64 <= elapsed / MIN_CHUNK_MS + 1, "{} in {elapsed} ms", chunks.len());
        let last: Value = serde_json::from_str(screen.typed("finalMessage")[0]).unwrap();
        prop_assert_eq!(last["content"].as_str().unwrap(), whole.as_str());
    }
}

#[test]
fn a_million_bytes_at_once_are_told_a_few_times() {
    let mut screen = Screen::at(&begun());
    for _ in 0..10_000 {
        screen.events(&[piece(&"x".repeat(100))]);
    }
    screen.events(&[ended()]);
    // All in the same millisecond: the first piece, and the whole.
    assert_eq!((screen.typed("streamChunk").len(), screen.typed("finalMessage").len()), (1, 1));
    assert!(screen.typed("finalMessage")[0].len() > 1_000_000);
}

#[test]
fn a_link_that_was_away_is_told_the_newest_text_only() {
    let mut screen = Screen::at(&begun());
    screen.events(&[piece("first")]);
    // Nobody asks the dialect for anything while the link cannot write; then all of it comes together.
    screen.now += 60_000;
    let late: Vec<Body> = (0..5_000).map(|n| piece(&format!(" {n}"))).collect();
    screen.events(&late);
    let chunks = screen.typed("streamChunk");
    assert_eq!(chunks.len(), 2);
    assert!(chunks[1].contains("first 0 1 2 ") && chunks[1].contains(" 4999\""), "{}", chunks[1].len());
}

#[test]
fn text_without_end_goes_on_in_another_and_nothing_is_lost() {
    let mut screen = Screen::at(&begun());
    let mut whole = String::new();
    for n in 0..100 {
        let text = format!("{n:03}{}", "y".repeat(100_000));
        whole.push_str(&text);
        screen.events(&[piece(&text)]);
        screen.wait(10);
    }
    screen.events(&[ended()]);
    let finals: Vec<Value> =
        screen.typed("finalMessage").iter().map(|message| serde_json::from_str(message).unwrap()).collect();
    assert!(finals.len() >= 3, "{}", finals.len());
    let joined: String = finals.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(joined, whole);
}

#[test]
fn a_session_that_is_too_long_for_one_frame_is_loaded_from_its_end_and_says_so() {
    let mut events = begun();
    for n in 0..40 {
        events.push(piece(&format!("{n:03}{}", "z".repeat(500_000))));
        events.push(ended());
        events.extend(begun());
    }
    let screen = Screen::at(&events);
    let loaded: Value = serde_json::from_str(screen.typed("loadSessionMessages")[0]).unwrap();
    let messages = loaded["messages"].as_array().unwrap();
    assert!(messages[0]["content"].as_str().unwrap().contains("older messages are not shown"), "{}", messages[0]);
    assert!(screen.typed("loadSessionMessages")[0].len() < MAX_LOAD_BYTES + 1024);
    let last = messages.iter().rev().find(|message| message["role"] == "assistant").unwrap();
    assert!(last["content"].as_str().unwrap().starts_with("039"));
}
