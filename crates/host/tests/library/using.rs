//! What was used: by turn, by session, by day.

use switchboard_types::{Body, Cost, CostSum, SessionId, Tokens, TurnId, UsageBy, UsageQuery, UsageRow};

use super::kit::{Shelves, ended, prompt};

fn used(input: u64, output: u64, cost: Option<f64>) -> Body {
    let tokens = Tokens { input, output, ..Tokens::default() };
    Body::TurnUsed { tokens, cost: cost.map(dollars) }
}

fn dollars(amount: f64) -> Cost {
    Cost { amount, currency: "USD".to_owned() }
}

fn total(amount: f64) -> Body {
    Body::Usage { used: 1, size: 2, cost: Some(dollars(amount)) }
}

fn sum(micros: i64) -> Vec<CostSum> {
    vec![CostSum { micros, currency: "USD".to_owned() }]
}

fn by(by: UsageBy) -> UsageQuery {
    UsageQuery { by, session: None, since: None }
}

#[test]
fn what_agents_say_is_summed_by_turn_session_and_day() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &[prompt("a"), used(10, 1, Some(0.5)), used(5, 2, Some(0.25)), ended()]);
    shelves.write(1, 2, &[prompt("b"), used(1, 1, None), ended()]);
    // This one says what everything has cost so far; a smaller sum is of another agent session.
    shelves.write(2, 1, &[prompt("a"), total(1.0), total(1.5), ended()]);
    shelves.write(2, 2, &[prompt("b"), total(2.0), total(0.25), ended()]);
    // This one says both, which is said once.
    shelves.write(200, 1, &[prompt("a"), total(4.0), used(1, 0, Some(4.0)), ended()]);
    shelves.library().settle().unwrap();
    let tokens = |input, output| Tokens { input, output, ..Tokens::default() };
    let row = |session: u64, turns, tokens, costs| UsageRow {
        session: Some(SessionId(session)),
        turns,
        tokens,
        costs,
        ..UsageRow::default()
    };
    let turn = |session, turn, tokens, costs| UsageRow { turn: Some(TurnId(turn)), ..row(session, 1, tokens, costs) };
    let turns = shelves.library().usage(&by(UsageBy::Turn)).unwrap();
    let wanted = [
        turn(200, 1, tokens(1, 0), sum(4_000_000)),
        turn(2, 2, tokens(0, 0), sum(750_000)),
        turn(2, 1, tokens(0, 0), sum(1_500_000)),
        turn(1, 2, tokens(1, 1), Vec::new()),
        turn(1, 1, tokens(15, 3), sum(750_000)),
    ];
    assert_eq!(turns, wanted);
    let sessions = shelves.library().usage(&by(UsageBy::Session)).unwrap();
    let wanted = [
        row(200, 1, tokens(1, 0), sum(4_000_000)),
        row(2, 2, tokens(0, 0), sum(2_250_000)),
        row(1, 2, tokens(16, 4), sum(750_000)),
    ];
    assert_eq!(sessions, wanted);
    let days = shelves.library().usage(&by(UsageBy::Day)).unwrap();
    let day = |day: &str, turns, tokens, costs| UsageRow {
        day: Some(day.to_owned()),
        session: None,
        ..row(0, turns, tokens, costs)
    };
    let wanted =
        [day("2023-11-17", 1, tokens(1, 0), sum(4_000_000)), day("2023-11-14", 4, tokens(16, 4), sum(3_000_000))];
    assert_eq!(days, wanted);
    let one = UsageQuery { session: Some(SessionId(1)), ..by(UsageBy::Session) };
    assert_eq!(shelves.library().usage(&one).unwrap(), [row(1, 2, tokens(16, 4), sum(750_000))]);
    let known = shelves.library().usage_of(&[SessionId(9), SessionId(2)]).unwrap();
    assert_eq!(known, [None, Some(row(2, 2, tokens(0, 0), sum(2_250_000)))]);
    let before = shelves.library().usage(&by(UsageBy::Turn)).unwrap();
    shelves.library().rebuild(|_, _| {}).unwrap();
    assert_eq!(shelves.library().usage(&by(UsageBy::Turn)).unwrap(), before);
}
