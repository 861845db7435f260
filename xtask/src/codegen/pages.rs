//! Tables within a page of Markdown, each between two marks. Leaves all that stands outside of them as it is.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use switchboard_dialects::agent::{acp, apex, plain};
use switchboard_dialects::view::ViewKind;

use super::{covered, tables};

/// Begins a table; the dialect and the part of its schema stand between this and the mark's end.
const BEGIN: &str = "<!-- made by cargo xtask codegen: ";
const BEGIN_END: &str = " -->";
/// Ends a table.
const END: &str = "<!-- end -->";

/// The page with every table as the code makes it.
pub(super) fn filled(found: Option<&str>) -> Result<String> {
    let found = found.context("there is no such page; write it, with the marks where its tables belong")?;
    let (mut text, mut made) = (String::new(), 0);
    let mut lines = found.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        text += line;
        text.push('\n');
        let Some(wanted) = line.strip_prefix(BEGIN) else { continue };
        let wanted = wanted.strip_suffix(BEGIN_END).with_context(|| format!("line {}: the mark is broken", at + 1))?;
        text += &table(wanted).with_context(|| format!("line {}: `{wanted}`", at + 1))?;
        if !lines.by_ref().any(|(_, line)| line == END) {
            bail!("line {}: the table has no `{END}`", at + 1);
        }
        text += END;
        text.push('\n');
        made += 1;
    }
    if made == 0 {
        bail!("the page has no table; a table stands between `{BEGIN}DIALECT PART{BEGIN_END}` and `{END}`");
    }
    Ok(text)
}

fn table(wanted: &str) -> Result<String> {
    let (dialect, part) = wanted.split_once(' ').context("a table is named by its dialect and its part")?;
    // Its messages are the protocol's own; the page says what becomes of them.
    match (dialect, part) {
        ("acp", "hostAsks") => return Ok(tables::pairs("method", "when", &acp::HOST_ASKS)),
        ("acp", "agentAsks") => return Ok(tables::pairs("method", "what the host does", &acp::AGENT_ASKS)),
        ("chat", "tests") => return covered::table(),
        ("acp", "updates") => return Ok(tables::pairs("update", "what it becomes", &acp::UPDATES)),
        _ => {}
    }
    let schema = schema(dialect)?;
    match part {
        "shapes" => tables::shapes(&schema),
        part if schema.get(part).is_some() => tables::variants(&schema, &schema[part]),
        part => tables::variants(&schema, tables::definition(&schema, part)?),
    }
}

fn schema(dialect: &str) -> Result<Value> {
    match dialect {
        "plain" => return Ok(plain::schema()),
        "apex" => return Ok(apex::schema()),
        _ => {}
    }
    let kind = ViewKind::ALL.into_iter().find(|kind| kind.name() == dialect);
    Ok(kind.with_context(|| format!("there is no dialect `{dialect}`"))?.schema())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_made_anew_and_the_page_around_it_is_kept() {
        let page = |table: &str| format!("# Mine\n\n{BEGIN}plain hostToAgent{BEGIN_END}\n{table}{END}\n\nMine too.\n");
        let made = filled(Some(&page("| old |\n"))).unwrap();
        assert_eq!(made, page(&table("plain hostToAgent").unwrap()));
        assert_eq!(filled(Some(&made)).unwrap(), made);
    }

    #[test]
    fn marks_that_make_no_sense_are_named_by_their_line() {
        for (page, wanted) in [
            (format!("{BEGIN}plain hostToAgent{BEGIN_END}\n"), "line 1: the table has no"),
            (format!("\n{BEGIN}plain hostToAgent\n{END}\n"), "line 2: the mark is broken"),
            (format!("{BEGIN}plane hostToAgent{BEGIN_END}\n{END}\n"), "no dialect `plane`"),
            (format!("{BEGIN}plain hostToView{BEGIN_END}\n{END}\n"), "hostToView"),
            (format!("{BEGIN}plain{BEGIN_END}\n{END}\n"), "by its dialect and its part"),
            ("# No table\n".to_owned(), "the page has no table"),
        ] {
            let error = format!("{:#}", filled(Some(&page)).unwrap_err());
            assert!(error.contains(wanted), "{error}");
        }
    }
}
