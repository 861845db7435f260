//! Looking for words: whatever is typed, in whatever order it is wanted, within whatever bounds.

use switchboard_types::{
    Body, CallId, Location, Role, SearchOrder, SearchQuery, SessionId, Time, ToolCall, ToolStatus,
};

use super::kit::{Shelves, ended, places, prompt, talk, text};

fn query(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

fn library(folder: &std::path::Path) -> Shelves {
    let shelves = Shelves::open(folder);
    shelves.write(1, 1, &talk("How do I configure the parser?", "Set `mode = \"fast\"` in config.toml; Crème brûlée."));
    shelves.write(2, 1, &talk("漢字を検索する", "東京タワー 🦀 and naïve text"));
    let mut call = ToolCall::new(CallId::from("c"), "edit", ToolStatus::Completed);
    call.locations = Some(vec![Location { path: "/even/src/parser.rs".to_owned(), line: None }]);
    shelves.write(4, 1, &[prompt("parser again"), Body::ToolCall { call }, text("the parser parses"), ended()]);
    shelves.write(4, 2, &talk("parser without files", "nothing"));
    shelves.library().settle().unwrap();
    shelves
}

#[test]
fn words_beginnings_and_phrases_are_found_without_case_and_accents() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = library(folder.path());
    assert_eq!(shelves.find("configure"), [(1, 1)]);
    assert_eq!(shelves.find("config"), [(1, 3), (1, 1)], "the last word is a beginning");
    assert_eq!(shelves.find("\"config\""), [(1, 3)], "in quotes it is not");
    assert_eq!(shelves.find("conf* toml"), [(1, 3)]);
    assert_eq!(shelves.find("\"the parser\""), [(4, 3), (1, 1)]);
    assert_eq!(shelves.find("\"parser the\""), []);
    assert_eq!(shelves.find("creme BRULEE"), [(1, 3)]);
    assert_eq!(shelves.find("検索"), [(2, 1)]);
    assert_eq!(shelves.find("タワー naive"), [(2, 3)]);
    assert_eq!(shelves.find("parser configure"), [(1, 1)], "all words must be there");
}

#[test]
fn whatever_is_typed_is_looked_for_or_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = library(folder.path());
    let strange = [
        "",
        " ",
        "\"",
        "\"\"",
        "\"\"\"",
        "*",
        "parser*\"",
        "AND",
        "OR OR",
        "NOT",
        "NEAR(a b)",
        "text:parser",
        "{text}:x",
        "^parser",
        "a^b",
        "-parser",
        "+x",
        "(parser",
        ")",
        "[a-z]+",
        "\\d",
        ".*",
        "a|b",
        "$",
        "'; DROP TABLE message; --",
        "🦀",
        "🦀🦀 parser",
        "漢",
        "\0",
        "a\0b",
        "%",
        "_",
        "\u{fdd0}",
        "\u{202e}abc",
        "a\u{301}",
        "qxs1",
        "ﷺ",
        "İstanbul",
    ];
    for order in [SearchOrder::Newest, SearchOrder::Ranked] {
        for text in strange {
            let asked = SearchQuery { order, ..query(text) };
            let found = shelves.search(&asked);
            assert!(places(&found).len() <= 8, "{text:?}");
        }
        for letter in ["x", "é ", "\"", "* ", "字", "a b "] {
            let long: String = letter.repeat(1024 / letter.len());
            shelves.search(&SearchQuery { order, ..query(&long) });
        }
    }
    assert_eq!(shelves.find("qxs1"), [], "what filters are called in the index is no word that was said");
    let too_long = shelves.library().search(shelves.store.as_ref(), &query(&"x".repeat(1025)));
    assert_eq!(too_long.unwrap_err().reject().code, switchboard_types::RejectCode::TooLarge);
}

#[test]
fn filters_leave_only_what_they_name() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = library(folder.path());
    let found = |query: SearchQuery| places(&shelves.search(&query));
    let parser = query("parser");
    assert_eq!(found(parser.clone()), [(4, 5), (4, 3), (4, 2), (4, 1), (1, 1)]);
    assert_eq!(found(SearchQuery { agent: Some("first".into()), ..parser.clone() }), [(1, 1)]);
    assert_eq!(found(SearchQuery { agent: Some("nobody".into()), ..parser.clone() }), []);
    assert_eq!(found(SearchQuery { workspace: Some("/even".into()), ..parser.clone() }).len(), 4);
    assert_eq!(found(SearchQuery { session: Some(SessionId(1)), ..parser.clone() }), [(1, 1)]);
    assert_eq!(found(SearchQuery { role: Some(Role::User), ..parser.clone() }), [(4, 5), (4, 1), (1, 1)]);
    assert_eq!(found(SearchQuery { role: Some(Role::Tool), ..parser.clone() }), [(4, 2)]);
    let path = SearchQuery { path: Some("src/parser".to_owned()), ..parser.clone() };
    assert_eq!(found(path), [(4, 3), (4, 2), (4, 1)], "only turns that were about the file");
    let at = |seconds: u64| Some(Time(1_700_000_000_000 + 4_000_000 + seconds * 1000));
    assert_eq!(found(SearchQuery { since: at(2), ..parser.clone() }), [(4, 5), (4, 3)]);
    assert_eq!(found(SearchQuery { until: at(2), ..parser.clone() }), [(4, 2), (4, 1), (1, 1)]);
    let page = shelves.search(&SearchQuery { limit: 2, ..parser });
    assert_eq!((places(&page), page.more), (vec![(4, 5), (4, 3)], true));
}

#[test]
fn a_snippet_is_plain_text_around_the_match_with_what_was_found_marked() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    let around =
        format!("{}<script>alert(1)</script> the needle\n\tin hay {}", "before ".repeat(50), "after ".repeat(50));
    shelves.write(1, 1, &talk("x", &around));
    shelves.library().settle().unwrap();
    let found = shelves.search(&query("needl"));
    let message = &found.sessions[0].messages[0];
    let hits: Vec<&str> = message.snippet.iter().filter(|piece| piece.hit).map(|piece| piece.text.as_str()).collect();
    assert_eq!(hits, ["needle"]);
    let whole: String = message.snippet.iter().map(|piece| piece.text.as_str()).collect();
    assert!(whole.contains("<script>alert(1)</script> the needle in hay after"), "{whole}");
    assert!(whole.starts_with('…') && whole.ends_with('…') && whole.len() < 300, "{whole}");
    assert_eq!((found.sessions[0].title.as_str(), message.role), ("title 1", Role::Assistant));
}

#[test]
fn ranked_puts_what_fits_best_first_and_newest_what_is_newest() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    shelves.write(1, 1, &talk("walrus walrus walrus", "ok"));
    shelves.write(2, 1, &talk(&format!("{} walrus {}", "filler ".repeat(200), "filler ".repeat(200)), "ok"));
    shelves.write(3, 1, &talk("one walrus", "ok"));
    shelves.library().settle().unwrap();
    assert_eq!(shelves.find("walrus"), [(3, 1), (2, 1), (1, 1)]);
    let ranked = shelves.search(&SearchQuery { order: SearchOrder::Ranked, ..query("walrus") });
    assert_eq!(places(&ranked), [(1, 1), (3, 1), (2, 1)]);
}

#[test]
fn a_long_beginning_finds_the_newest_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let shelves = Shelves::open(folder.path());
    // One old message, then many that share its first letters.
    let said: Vec<String> = std::iter::once("the funnel of old".to_owned())
        .chain((0..60).map(|number| match number % 3 {
            0 => format!("function {number}"),
            1 => format!("to be fundamental {number}"),
            _ => format!("fun {number}"),
        }))
        .collect();
    for (turn, text) in (1..).zip(&said) {
        shelves.write(1, turn, &[prompt(text), ended()]);
    }
    shelves.library().settle().unwrap();
    for limit in [1, 2, 5, 50] {
        for (typed, beginning) in [
            ("fun", "fun"),
            ("funct", "function"),
            ("FUNDA", "to be funda"),
            ("funnel", "the funnel"),
            ("\"be fundam", "to be"),
        ] {
            let words = |text: &str| format!(" {text}").contains(&format!(" {beginning}"));
            let expected: Vec<String> = said.iter().rev().filter(|text| words(text)).cloned().collect();
            let found = shelves.search(&SearchQuery { limit, ..query(typed) });
            let shown = found.sessions.iter().flat_map(|session| &session.messages);
            let shown: Vec<String> =
                shown.map(|message| message.snippet.iter().map(|piece| piece.text.as_str()).collect()).collect();
            let first = expected.get(..limit).unwrap_or(&expected);
            assert_eq!((shown.as_slice(), found.more), (first, expected.len() > limit), "{typed}, {limit} of them");
        }
    }
    assert_eq!(shelves.find("funx"), [], "letters that nobody wrote");
}
