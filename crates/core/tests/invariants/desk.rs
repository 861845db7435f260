//! Sessions asked about by their ids: exactly one answer each, durable where something changed, nothing once the link is
//! gone.

mod showing;

use switchboard_core::Input;
use switchboard_types::limits::MAX_OPEN_REQUESTS;
use switchboard_types::{
    AgentOption, Ask, Body, Command, Epoch, FileAnswer, FileRequest, FollowFrom, OptionChoice, PermissionMode, Prompt,
    Reject, RejectCode, RequestNo, Said, Seen, Seq, SessionAnswer, SessionId, SessionRequest, Setup, Source, Text,
    Told, Wish, Word,
};

use super::making::open_far;
use super::world::World;

type Answer = Result<SessionAnswer, Reject>;

/// Asks, without letting anything else happen.
fn ask(world: &mut World, view: usize, number: u64, what: SessionRequest) {
    world.command(view, Command::Session { request: RequestNo(number), what });
}

/// The answer to a request, if there is one.
fn answer(world: &World, view: usize, number: u64) -> Option<Answer> {
    world.views[view].answers.iter().find_map(|told| match told {
        Told::Answer { request, result } if *request == RequestNo(number) => Some(result.clone().map(|answer| *answer)),
        _ => None,
    })
}

/// Asks and waits for the answer.
fn asked(world: &mut World, view: usize, number: u64, what: SessionRequest) -> Answer {
    ask(world, view, number, what);
    world.settle();
    answer(world, view, number).expect("there is an answer")
}

fn code(answer: Answer) -> RejectCode {
    answer.expect_err("it is refused").code
}

fn create(agent: Option<&str>, setup: Setup, task: Option<&str>) -> SessionRequest {
    let (agent, task) = (agent.map(Into::into), task.map(str::to_owned));
    SessionRequest::Create { agent, workspace: None, setup, task }
}

fn send(session: SessionId, name: &str, text: &str) -> SessionRequest {
    let prompt = Prompt { text: text.to_owned(), context: Vec::new() };
    SessionRequest::Send { session, name: name.into(), prompt, attachments: Vec::new() }
}

fn follow(session: SessionId, from: FollowFrom) -> SessionRequest {
    SessionRequest::Follow { session, from }
}

fn made(world: &mut World, view: usize, number: u64, what: SessionRequest) -> SessionId {
    match asked(world, view, number, what) {
        Ok(SessionAnswer::Created { session }) => session,
        other => panic!("{other:?}"),
    }
}

/// A closed session with something in its log, and a view that knows nothing of it.
fn with_closed() -> (World, usize, SessionId) {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    world.complete(session);
    world.command(view, Command::CloseTab { tab: "tab".into() });
    world.settle();
    let other = world.view();
    (world, other, session)
}

fn with_far() -> (World, usize, SessionId) {
    let mut world = World::new();
    world.trust();
    let view = world.view();
    world.command(view, open_far("tab"));
    world.settle();
    let session = world.session_of("tab");
    (world, view, session)
}

#[test]
fn a_session_is_created_durably_with_its_task_and_is_never_created_where_nothing_is_trusted() {
    let mut world = World::new();
    let view = world.view();
    assert_eq!(
        code(asked(&mut world, view, 1, create(Some("own"), Setup::default(), None))),
        RejectCode::WorkspaceUntrusted
    );
    assert_eq!(
        code(asked(&mut world, view, 2, create(Some("nobody"), Setup::default(), None))),
        RejectCode::AgentUnavailable
    );
    ask(&mut world, view, 3, create(None, Setup::default(), Some("do it")));
    assert_eq!(answer(&world, view, 3), None, "not before it is on the disk");
    world.settle();
    let Some(Ok(SessionAnswer::Created { session })) = answer(&world, view, 3) else { panic!("it is created") };
    let queued = |body: &Body| matches!(body, Body::PromptQueued { prompt, .. } if prompt.text == "do it");
    assert_eq!(world.bodies(session).iter().filter(|body| queued(body)).count(), 1);
    assert_eq!(world.prompted.len(), 1);
    let config = Setup { config: Some("a.yaml".to_owned()), ..Setup::default() };
    assert_eq!(code(asked(&mut world, view, 4, create(None, config, None))), RejectCode::BadMessage);
}

#[test]
fn a_session_that_could_not_be_written_was_not_created() {
    let mut world = World::new();
    let view = world.view();
    ask(&mut world, view, 1, create(None, Setup::default(), None));
    world.fail_commit();
    world.settle();
    assert_eq!(code(answer(&world, view, 1).unwrap()), RejectCode::Internal);
    assert!(world.disk.sessions.is_empty());
}

#[test]
fn how_a_session_is_set_up_goes_to_its_agent_elsewhere_and_is_seen_to_here() {
    let mut world = World::new();
    world.trust();
    let view = world.view();
    let setup = Setup { config: None, model: Some("m2".to_owned()), permission: Some(PermissionMode::Auto) };
    let here = made(&mut world, view, 1, create(Some("own"), setup.clone(), None));
    let keeps = world.disk.sessions[&here].row.clone().unwrap().keeps;
    assert!(keeps.policy.auto_commands && keeps.policy.auto_edits);
    let life = world.life();
    world.words(life, vec![Word::Options { session: here, options: vec![model()] }]);
    world.settle();
    let set = Ask::SetOption { session: here, option: "llm".into(), value: "m2".to_owned() };
    assert_eq!(world.lives[&life].asks.iter().filter(|ask| **ask == set).count(), 1);

    ask(&mut world, view, 2, create(Some("far"), setup.clone(), None));
    while world.commit() {}
    let far = world.lives.keys().copied().find(|other| *other != life).expect("the other agent starts");
    world.lives.get_mut(&far).unwrap().started = true;
    world.handle(Input::LifeStarted(far));
    while world.commit() {}
    let told = world.lives[&far].asks.iter().find_map(|ask| match ask {
        Ask::OpenSession { elsewhere, .. } => elsewhere.clone(),
        _ => None,
    });
    assert_eq!(told.expect("it is told more").setup, setup);
}

fn model() -> AgentOption {
    let choice =
        |value: &str| OptionChoice { value: value.to_owned(), name: value.to_owned(), description: None, group: None };
    AgentOption {
        id: "llm".into(),
        name: "Model".to_owned(),
        description: None,
        category: Some("model".to_owned()),
        value: "m1".to_owned(),
        choices: vec![choice("m1"), choice("m2")],
    }
}

#[test]
fn sessions_are_listed_closed_ones_too_and_the_bench_never() {
    let (mut world, view, session) = with_closed();
    world.handle(Input::Tools(super::tools::tools()));
    super::tools::call(&mut world, view, 90, super::tools::wants("say", serde_json::json!({})));
    assert_eq!(world.disk.sessions.len(), 2, "there is a bench now");
    let list = asked(&mut world, view, 1, SessionRequest::List { before: None, limit: 10 });
    let Ok(SessionAnswer::Sessions { sessions, next: None }) = list else { panic!("{list:?}") };
    assert_eq!(sessions.iter().map(|one| (one.session, one.tab.clone())).collect::<Vec<_>>(), [(session, None)]);
    let bench = SessionId(session.0 + 1);
    assert_eq!(code(asked(&mut world, view, 2, SessionRequest::Look { session: bench })), RejectCode::NotFound);
}

#[test]
fn looking_at_a_closed_session_gives_it_no_tab() {
    let (mut world, view, session) = with_closed();
    let looked = asked(&mut world, view, 1, SessionRequest::Look { session });
    assert!(
        matches!(looked, Ok(SessionAnswer::Session(summary)) if summary.session == session && summary.tab.is_none())
    );
    assert_eq!(world.host.open_tabs().count(), 0);
    assert_eq!(code(asked(&mut world, view, 2, SessionRequest::Look { session: SessionId(99) })), RejectCode::NotFound);
    assert_eq!(
        asked(&mut world, view, 3, SessionRequest::Stop { session }),
        Ok(SessionAnswer::Stopped { stopped: false })
    );
}

#[test]
fn following_a_closed_session_opens_it_and_all_of_its_log_comes_after_the_answer() {
    let (mut world, view, session) = with_closed();
    let length = world.log(session).len() as u64;
    let followed = asked(&mut world, view, 1, follow(session, FollowFrom::Start));
    let Ok(SessionAnswer::Following { session: of, tab, head, .. }) = followed else { panic!("{followed:?}") };
    assert_eq!((of, tab.as_str(), head), (session, format!("s-{session}").as_str(), Seq(length)));
    assert_eq!(world.views[view].seen(tab.as_str()), world.log(session));
    assert_eq!(asked(&mut world, view, 2, SessionRequest::Leave { session }), Ok(SessionAnswer::Done {}));
    world.prompt(view, tab.as_str(), "two");
    world.settle();
    assert!(world.views[view].seen(tab.as_str()).len() < world.log(session).len(), "it follows no longer");
}

#[test]
fn a_log_is_followed_live_or_after_an_event_and_a_place_that_it_has_not_is_refused_with_what_it_has() {
    let (mut world, view, session) = World::with_tab();
    let other = world.view();
    let head = world.log(session).len() as u64;
    asked(&mut world, other, 1, follow(session, FollowFrom::After(Seen { seq: Seq(head), epoch: None }))).unwrap();
    assert_eq!(world.views[other].seen("tab").len(), 0);
    for seen in [Seen { seq: Seq(head + 1), epoch: None }, Seen { seq: Seq(1), epoch: Some(Epoch(1)) }] {
        let third = world.view();
        let reject = asked(&mut world, third, 2, follow(session, FollowFrom::After(seen))).unwrap_err();
        assert_eq!((reject.code, reject.window), (RejectCode::Conflict, Some((Seq(1), Seq(head)))));
        assert!(world.host.seats_of(world.views[third].link.unwrap()).next().is_none());
    }
    let live = world.view();
    asked(&mut world, live, 3, follow(session, FollowFrom::Live)).unwrap();
    // What is new is numbered from there on, so the view's journal begins late.
    world.views[live].gaps.push(("tab".into(), Seq(1), Seq(head)));
    world.views[other].gaps.push(("tab".into(), Seq(1), Seq(head)));
    world.prompt(view, "tab", "one");
    world.settle();
    assert_eq!(world.views[live].seen("tab"), &world.log(session)[head as usize..]);
}

#[test]
fn a_log_is_followed_after_an_event_by_its_name_in_the_agents_log() {
    let (mut world, view, session) = with_far();
    let source = |n: u64| Source {
        id: format!("e{n}").as_str().into(),
        seq: Some(n),
        name: "assistant_delta".to_owned(),
        rest: String::new(),
        turn: None,
        at: None,
    };
    let life = world.life();
    let text = |n| Word::Sourced { session, source: source(n), said: Said::Text(Text::from("x")) };
    world.words(life, vec![text(1), text(2), text(3)]);
    world.settle();
    let other = world.view();
    let head = world.log(session).len();
    world.views[other].gaps.push(("tab".into(), Seq(1), Seq(head as u64 - 1)));
    asked(&mut world, other, 1, follow(session, FollowFrom::AfterSource("e2".into()))).unwrap();
    assert_eq!(world.views[other].seen("tab"), &world.log(session)[head - 1..]);
    let refused = asked(&mut world, view, 2, follow(session, FollowFrom::AfterSource("e9".into()))).unwrap_err();
    assert_eq!((refused.code, refused.window), (RejectCode::Conflict, Some((Seq(1), Seq(head as u64)))));
}

#[test]
fn a_prompt_is_answered_when_it_is_durable_and_the_same_name_is_the_same_turn() {
    let (mut world, view, session) = World::with_tab();
    ask(&mut world, view, 1, send(session, "n", "hello"));
    assert_eq!(answer(&world, view, 1), None);
    world.settle();
    let first = answer(&world, view, 1).unwrap().unwrap();
    assert!(matches!(first, SessionAnswer::Queued { position: 0, .. }));
    assert_eq!(asked(&mut world, view, 2, send(session, "n", "hello")).unwrap(), first);
    assert_eq!(world.prompted.len(), 1);
    assert_eq!(code(asked(&mut world, view, 3, send(session, "n", "something else"))), RejectCode::Conflict);
    let next = asked(&mut world, view, 4, send(session, "m", "more"));
    assert!(matches!(next, Ok(SessionAnswer::Queued { position: 1, .. })), "{next:?}");
    assert_eq!(
        asked(&mut world, view, 5, SessionRequest::Stop { session }),
        Ok(SessionAnswer::Stopped { stopped: true })
    );
    world.complete(session);
    world.settle();
    assert_eq!(world.prompted.len(), 2, "what waits goes on");
}

#[test]
fn a_prompt_to_a_closed_session_opens_it_again() {
    let (mut world, view, session) = with_closed();
    let sent = asked(&mut world, view, 1, send(session, "two", "again"));
    assert!(matches!(sent, Ok(SessionAnswer::Queued { .. })), "{sent:?}");
    assert_eq!(world.prompted.len(), 2);
    assert_eq!(code(asked(&mut world, view, 2, send(SessionId(99), "n", "x"))), RejectCode::NotFound);
}

#[test]
fn an_option_is_set_by_what_it_is_about() {
    let (mut world, view, session) = World::with_own();
    let set = |value: &str| SessionRequest::Set { session, category: "model".to_owned(), value: value.to_owned() };
    assert_eq!(code(asked(&mut world, view, 1, set("m2"))), RejectCode::Conflict);
    let life = world.life();
    world.words(life, vec![Word::Options { session, options: vec![model()] }]);
    assert_eq!(code(asked(&mut world, view, 2, set("m3"))), RejectCode::BadMessage);
    assert_eq!(asked(&mut world, view, 3, set("m2")), Ok(SessionAnswer::Done {}));
    let asked_for = Ask::SetOption { session, option: "llm".into(), value: "m2".to_owned() };
    assert!(world.lives[&life].asks.contains(&asked_for));
}

/// What an agent elsewhere was asked, with the numbers of the requests.
fn wishes(world: &World) -> Vec<(switchboard_types::AgentRequest, Wish)> {
    let asks = world.lives.values().flat_map(|life| &life.asks);
    let wish = |ask: &Ask| match ask {
        Ask::Wish { request, wish, .. } => Some((*request, wish.clone())),
        _ => None,
    };
    asks.filter_map(wish).collect()
}

#[test]
fn orders_and_files_of_an_agent_elsewhere_are_answered_by_it_or_by_its_end() {
    let (mut world, view, session) = with_far();
    let order = |name: &str| SessionRequest::Order { session, name: name.to_owned(), payload: serde_json::json!({}) };
    let list = SessionRequest::Files { session, what: FileRequest::List { path: String::new() } };
    ask(&mut world, view, 1, order("compact"));
    ask(&mut world, view, 2, list.clone());
    world.settle();
    let asked_for = wishes(&world);
    assert_eq!(asked_for.len(), 2);
    let life = world.life();
    let said = SessionAnswer::Ordered { status: "accepted".to_owned(), detail: None };
    let reply = Word::Replied { session, request: asked_for[0].0, result: Ok(Box::new(said.clone())) };
    // A second answer finds nobody.
    world.words(life, vec![reply.clone(), reply]);
    assert_eq!(answer(&world, view, 1), Some(Ok(said)));
    world.exit(life);
    assert_eq!(code(answer(&world, view, 2).unwrap()), RejectCode::AgentUnavailable);
    assert_eq!(code(asked_now(&mut world, view, 3, list)), RejectCode::AgentUnavailable);
    world.advance(1_000);
    world.settle();
    let set = SessionRequest::Set { session, category: "mode".to_owned(), value: "plan".to_owned() };
    assert_eq!(asked(&mut world, view, 4, set), Ok(SessionAnswer::Done {}));
    let payload = serde_json::json!({ "mode": "plan" });
    assert_eq!(wishes(&world).pop().map(|(_, wish)| wish), Some(Wish::Order { name: "set_mode".to_owned(), payload }));
}

/// The same without letting anything else happen.
fn asked_now(world: &mut World, view: usize, number: u64, what: SessionRequest) -> Answer {
    ask(world, view, number, what);
    answer(world, view, number).expect("there is an answer at once")
}

#[test]
fn files_of_a_session_here_are_looked_at_by_the_edges_open_or_closed() {
    let (mut world, view, session) = with_closed();
    let what = FileRequest::List { path: String::new() };
    ask(&mut world, view, 1, SessionRequest::Files { session, what: what.clone() });
    let (link, request, wanted) = world.files.pop().expect("it is looked at");
    assert_eq!((request, wanted), (RequestNo(1), what));
    let entries = FileAnswer::Entries { entries: Vec::new(), truncated: false };
    world.handle(Input::FilesDone { link, request, result: Ok(Box::new(entries.clone())) });
    assert_eq!(answer(&world, view, 1), Some(Ok(SessionAnswer::Files(Box::new(entries)))));
    assert_eq!(
        code(asked(
            &mut world,
            view,
            2,
            SessionRequest::Order { session, name: "x".to_owned(), payload: serde_json::Value::Null }
        )),
        RejectCode::BadMessage
    );
}

#[test]
fn a_deletion_is_answered_when_it_is_durable() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.settle();
    ask(&mut world, view, 1, SessionRequest::Delete { session });
    assert_eq!(answer(&world, view, 1), None);
    world.settle();
    assert_eq!(answer(&world, view, 1), Some(Ok(SessionAnswer::Done {})));
    assert!(!world.disk.sessions.contains_key(&session));
    assert_eq!(code(asked(&mut world, view, 2, SessionRequest::Delete { session })), RejectCode::NotFound);
    let (mut world, view, session) = with_closed();
    assert_eq!(asked(&mut world, view, 1, SessionRequest::Delete { session }), Ok(SessionAnswer::Done {}));
}

#[test]
fn requests_of_a_link_are_bounded_and_go_with_it() {
    let (mut world, view, session) = with_closed();
    let list = SessionRequest::Files { session, what: FileRequest::List { path: String::new() } };
    for number in 1..=MAX_OPEN_REQUESTS as u64 {
        ask(&mut world, view, number, list.clone());
    }
    assert_eq!(code(asked_now(&mut world, view, 9_999, list.clone())), RejectCode::TooLarge);
    world.disconnect(view);
    for (link, request, _) in std::mem::take(&mut world.files) {
        let entries = FileAnswer::Entries { entries: Vec::new(), truncated: false };
        world.handle(Input::FilesDone { link, request, result: Ok(Box::new(entries)) });
    }
    world.connect(view);
    let before = world.views[view].answers.len();
    ask(&mut world, view, 1, list);
    let (link, request, _) = world.files.pop().unwrap();
    let reject = Reject::new(RejectCode::NotFound, "no such folder");
    world.handle(Input::FilesDone { link, request, result: Err(reject) });
    assert_eq!(world.views[view].answers.len(), before + 1);
}

#[test]
fn what_is_asked_of_a_session_that_is_closed_to_writes_waits_until_it_is_read_anew() {
    let (mut world, view, session) = World::with_tab();
    world.prompt(view, "tab", "one");
    world.fail_commit();
    ask(&mut world, view, 1, send(session, "two", "x"));
    assert_eq!(answer(&world, view, 1), None);
    world.settle();
    assert!(matches!(answer(&world, view, 1), Some(Ok(SessionAnswer::Queued { .. }))));
}
