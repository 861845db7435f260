//! Rules, calls of tools and what sessions keep: what every store does with them, and what is left of them in a damaged
//! file. Never looks at logs.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use switchboard_host::store::{Options, Store};
use switchboard_types::{
    ArgPattern, CallEnd, CallPlace, CallRow, Change, Commit, Mode, Patterns, Rule, RuleEffect, RuleWhat, Seq,
    SessionId, SessionKeeps, SessionPolicy, SessionRow, Success, Ticket, Time, Unasked,
};

use super::conformance::Subject;
use super::kit::{Opened, commit, count, entry, no_packing, open, row, well};

pub(crate) const CHECKS: [fn(&Subject); 5] = [
    what_a_session_keeps_comes_back_with_its_row,
    rules_are_listed_the_oldest_first_replaced_and_dropped,
    calls_are_listed_in_parts_the_newest_first,
    a_call_is_open_until_it_has_an_end,
    the_calls_of_a_deleted_session_are_gone_and_none_comes_back,
];

fn keeps() -> SessionKeeps {
    let patterns = Patterns(vec![("**/*.md".to_owned(), Unasked::May), ("**/.env".to_owned(), Unasked::MayNot)]);
    let policy = SessionPolicy { mode: Mode::Plan, auto_commands: true, auto_edits: true, patterns: Some(patterns) };
    SessionKeeps { policy, grants: vec!["run:git status".to_owned()], ..SessionKeeps::default() }
}

fn rule(id: &str, created: u64, effect: RuleEffect) -> Rule {
    let args = vec![ArgPattern::Is { arg: "status".to_owned() }, ArgPattern::Any {}, ArgPattern::Rest {}];
    let what = RuleWhat::Command { program: "/usr/bin/git".to_owned(), args, cwd: "/work".to_owned() };
    let workspace = created.is_multiple_of(2).then(|| "/work".into());
    Rule { id: id.into(), workspace, effect, what, created: Time(created), origin: "an answer".to_owned() }
}

fn call(session: u64, asked_at: u64, tool: &str, asked: u64, end: Option<Success>) -> CallRow {
    let end = end.map(|success| CallEnd {
        at: Time(asked + 5),
        duration_ms: u64::from(u32::MAX) + 3,
        success,
        result: "{\"text\":\"…\"}".to_owned(),
    });
    CallRow {
        session: SessionId(session),
        asked_at: Seq(asked_at),
        call: format!("c{session}-{asked_at}").as_str().into(),
        tool: tool.into(),
        parameters: "{\"path\":\"a\"}".to_owned(),
        asked: Time(asked),
        end,
    }
}

fn changes(ticket: u64, changes: Vec<Change>) -> Commit {
    Commit { ticket: Ticket(ticket), entries: Vec::new(), changes }
}

/// Events of a session with these calls beside them.
fn with_calls(ticket: u64, session: u64, first: u64, count: u64, calls: Vec<CallRow>) -> Commit {
    let mut entry = entry(session, first, count, 10);
    entry.changes.extend(calls.into_iter().map(Change::Call));
    commit(ticket, vec![entry])
}

fn what_a_session_keeps_comes_back_with_its_row(subject: &Subject) {
    let kept = |subject: &Subject| subject.store.sessions(super::one(1)).unwrap().remove(0).row.keeps;
    subject.write(commit(1, vec![entry(1, 1, 1, 10)]));
    assert_eq!(kept(subject), SessionKeeps::default());
    for (ticket, keeps) in [(2, keeps()), (3, SessionKeeps { grants: vec![], ..keeps() }), (4, SessionKeeps::default())]
    {
        let mut next = entry(1, ticket, 1, 10);
        next.changes = vec![Change::Session(SessionRow { keeps: keeps.clone(), ..row(1) })];
        subject.write(commit(ticket, vec![next]));
        assert_eq!(kept(subject), keeps);
    }
}

fn rules_are_listed_the_oldest_first_replaced_and_dropped(subject: &Subject) {
    assert_eq!(subject.store.rules().unwrap(), vec![]);
    let [one, two, three] =
        [("r1", 30, RuleEffect::Allow), ("r2", 20, RuleEffect::Deny), ("r3", 20, RuleEffect::Allow)]
            .map(|(id, created, effect)| rule(id, created, effect));
    let all = [&one, &three, &two].map(|rule| Change::Rule(rule.clone())).to_vec();
    subject.write(changes(1, all));
    assert_eq!(subject.store.rules().unwrap(), vec![two.clone(), three.clone(), one.clone()]);
    let changed = Rule { effect: RuleEffect::Deny, ..one.clone() };
    let next = vec![Change::Rule(changed.clone()), Change::DropRule(three.id.clone()), Change::DropRule("none".into())];
    subject.write(changes(2, next));
    assert_eq!(subject.store.rules().unwrap(), vec![two, changed]);
    // In one commit the last word counts.
    subject.write(changes(3, vec![Change::Rule(three.clone()), Change::DropRule(three.id)]));
    assert_eq!(subject.store.rules().unwrap().len(), 2);
}

fn calls_are_listed_in_parts_the_newest_first(subject: &Subject) {
    let listed = [(1, 4, "read", 50), (2, 2, "write", 70), (1, 6, "read", 50), (2, 9, "read", 90), (1, 2, "read", 10)];
    let all: Vec<CallRow> =
        listed.iter().map(|(session, seq, tool, asked)| call(*session, *seq, tool, *asked, None)).collect();
    for (ticket, session) in [(1, 1), (2, 2)] {
        let of_session = all.iter().filter(|one| one.session.0 == session).cloned().collect();
        subject.write(with_calls(ticket, session, 1, 10, of_session));
    }
    let parts = |tool: Option<&str>, limit: usize| {
        let (mut found, mut before) = (Vec::new(), None::<CallPlace>);
        loop {
            let part = subject.store.calls(tool.map(Into::into).as_ref(), before, limit).unwrap();
            assert!(part.rows.len() <= limit);
            found.extend(part.rows);
            let Some(next) = part.next else { return found };
            before = Some(next);
        }
    };
    let at = |places: &[usize]| places.iter().map(|at| all[*at].clone()).collect::<Vec<_>>();
    for limit in 1..=6 {
        assert_eq!(parts(None, limit), at(&[3, 1, 2, 0, 4]), "by {limit}");
        assert_eq!(parts(Some("read"), limit), at(&[3, 2, 0, 4]), "by {limit}");
        assert_eq!(parts(Some("other"), limit), vec![], "by {limit}");
    }
}

fn a_call_is_open_until_it_has_an_end(subject: &Subject) {
    let open = |session| subject.store.open_calls(SessionId(session)).unwrap();
    let (first, second) = (call(1, 2, "read", 50, None), call(1, 4, "read", 40, None));
    subject.write(with_calls(1, 1, 1, 5, vec![second.clone(), first.clone()]));
    subject.write(with_calls(2, 2, 1, 5, vec![call(2, 2, "read", 50, None)]));
    assert_eq!(open(1), vec![first, second.clone()]);
    for (ticket, success) in [(3, Success::Yes), (4, Success::No)] {
        let over = call(1, 2, "read", 50, Some(success));
        subject.write(with_calls(ticket, 1, ticket + 3, 1, vec![over.clone()]));
        assert_eq!(open(1), vec![second.clone()]);
        assert!(subject.store.calls(None, None, 9).unwrap().rows.contains(&over));
    }
    assert_eq!((open(2).len(), open(3).len()), (1, 0));
}

fn the_calls_of_a_deleted_session_are_gone_and_none_comes_back(subject: &Subject) {
    let kept = call(2, 2, "read", 50, None);
    subject.write(with_calls(1, 1, 1, 5, vec![call(1, 2, "read", 60, None)]));
    subject.write(with_calls(2, 2, 1, 5, vec![kept.clone()]));
    let late = Change::Call(call(1, 3, "read", 70, None));
    subject.write(changes(3, vec![Change::DeleteSession(SessionId(1)), late]));
    assert_eq!(subject.store.calls(None, None, 9).unwrap().rows, vec![kept]);
    assert_eq!(subject.store.open_calls(SessionId(1)).unwrap(), vec![]);
}

const DB: &str = "switchboard.db";

fn write(opened: &Opened, commit: Commit) {
    let ticket = commit.ticket.0;
    opened.store.commit(commit);
    assert_eq!(opened.done.recv_timeout(Duration::from_secs(20)).unwrap(), well(ticket));
}

/// A closed file with two rules, a session that keeps something, and a call of which nobody knows the end.
fn filled(folder: &Path) {
    let opened = open(folder, no_packing());
    let mut first = entry(1, 1, 3, 10);
    first.changes = vec![
        Change::Session(SessionRow { keeps: keeps(), ..row(1) }),
        Change::Call(call(1, 2, "read", 50, None)),
        Change::Call(call(1, 3, "read", 60, Some(Success::Yes))),
    ];
    write(&opened, commit(1, vec![first]));
    let rules = [rule("r1", 1, RuleEffect::Allow), rule("r2", 2, RuleEffect::Deny), rule("r3", 3, RuleEffect::Allow)];
    write(&opened, changes(2, rules.into_iter().map(Change::Rule).collect()));
    write(&opened, changes(3, vec![Change::DropRule("r3".into())]));
    opened.store.close().unwrap();
}

fn rule_names(opened: &Opened) -> Vec<String> {
    opened.store.rules().unwrap().iter().map(|rule| rule.id.to_string()).collect()
}

#[test]
fn rules_calls_and_keeps_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let opened = open(folder.path(), Options::default());
    assert_eq!((rule_names(&opened), opened.report.notes.len()), (vec!["r1".to_owned(), "r2".to_owned()], 0));
    assert_eq!(opened.store.open_calls(SessionId(1)).unwrap(), vec![call(1, 2, "read", 50, None)]);
    assert_eq!(opened.store.sessions(super::one(1)).unwrap()[0].row.keeps, keeps());
}

#[test]
fn a_file_of_format_3_gets_the_new_tables_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), no_packing());
    write(&opened, commit(1, vec![entry(1, 1, 3, 10)]));
    opened.store.close().unwrap();
    let conn = Connection::open(folder.path().join(DB)).unwrap();
    conn.execute_batch("DROP TABLE call; DROP TABLE rule; DROP TABLE session_keeps; PRAGMA user_version = 3").unwrap();
    let mut hasher = crc32fast::Hasher::new();
    for part in [&[5_u8, 2][..], &6_u64.to_le_bytes(), b"format", &[1], &3_i64.to_le_bytes()] {
        hasher.update(part);
    }
    conn.execute("UPDATE meta SET value = 3, crc = ?1 WHERE key = 'format'", [hasher.finalize()]).unwrap();
    conn.close().unwrap();
    let opened = open(folder.path(), no_packing());
    assert_eq!((opened.report.set_aside.clone(), opened.store.rules().unwrap()), (None, vec![]));
    assert_eq!(opened.store.sessions(super::one(1)).unwrap()[0].row, row(1));
    write(&opened, with_calls(1, 1, 4, 1, vec![call(1, 4, "read", 50, None)]));
    assert_eq!(opened.store.open_calls(SessionId(1)).unwrap().len(), 1);
}

#[test]
fn a_salvage_keeps_the_rules_that_hold_the_calls_and_no_freedom_of_a_session() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    std::fs::write(folder.path().join("switchboard.db.salvage"), "1").unwrap();
    let opened = open(folder.path(), Options::default());
    assert!(opened.report.set_aside.is_some());
    assert_eq!(rule_names(&opened), ["r1", "r2"]);
    assert_eq!(opened.store.open_calls(SessionId(1)).unwrap(), vec![call(1, 2, "read", 50, None)]);
    assert_eq!(opened.store.calls(None, None, 9).unwrap().rows.len(), 2);
    let policy = SessionPolicy { mode: Mode::Plan, ..SessionPolicy::default() };
    let kept = opened.store.sessions(super::one(1)).unwrap().remove(0).row.keeps;
    assert_eq!(kept, SessionKeeps { policy, ..SessionKeeps::default() });
}

#[test]
fn a_salvage_of_a_file_that_the_engine_cannot_read_keeps_denials_only_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let mut bytes = std::fs::read(folder.path().join(DB)).unwrap();
    bytes[..100].fill(0x5a);
    std::fs::write(folder.path().join(DB), bytes).unwrap();
    let opened = open(folder.path(), Options::default());
    assert_eq!(rule_names(&opened), ["r2"]);
    assert!(opened.report.notes.iter().any(|note| note.contains("Rules that deny are kept")), "{:?}", opened.report);
    assert_eq!(opened.store.open_calls(SessionId(1)).unwrap().len(), 1);
}

#[test]
fn a_rule_whose_row_is_wrong_allows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let conn = Connection::open(folder.path().join(DB)).unwrap();
    conn.execute("UPDATE rule SET rule = replace(rule, '/usr/bin/git', '/usr/bin/rmx') WHERE id = 'r1'", []).unwrap();
    conn.close().unwrap();
    let opened = open(folder.path(), Options::default());
    assert!(opened.report.set_aside.is_some());
    assert_eq!((rule_names(&opened), count(folder.path(), "rule")), (vec!["r2".to_owned()], 1));
}

#[test]
fn a_list_of_calls_and_the_open_ones_are_found_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let conn = Connection::open(folder.path().join(DB)).unwrap();
    let plan = |query: &str| -> String {
        conn.query_row(&format!("EXPLAIN QUERY PLAN {query}"), [], |row| row.get::<_, String>(3)).unwrap()
    };
    let order = "(asked, session, asked_at) < (9, 9, 9) ORDER BY asked DESC, session DESC, asked_at DESC LIMIT 5";
    for (query, index) in [
        (format!("SELECT * FROM call WHERE {order}"), "call_time"),
        (format!("SELECT * FROM call WHERE tool = 'x' AND {order}"), "call_tool"),
        ("SELECT * FROM call WHERE session = 1 AND ended IS NULL ORDER BY asked_at".to_owned(), "call_open"),
    ] {
        let found = plan(&query);
        assert!(found.contains(&format!("USING INDEX {index}")) && !found.contains("TEMP B-TREE"), "{found}");
    }
}
