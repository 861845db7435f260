//! How a file would change, line by line. Plain data, and the same as HTML that holds nothing but text and classes.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How a file would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The parts that change, with some lines around them.
    pub hunks: Vec<DiffHunk>,
    /// Lines that are new.
    pub added: u32,
    /// Lines that are gone.
    pub removed: u32,
    /// Lines that are left out here, since there are too many.
    pub left_out: u32,
}

/// A part of a file that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// Its first line in the file as it was, counted from 1.
    pub old_start: u32,
    /// Its first line in the file as it would be.
    pub new_start: u32,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of it, without its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DiffLine {
    /// It stays.
    Same {
        /// What it says.
        text: String,
    },
    /// It is new.
    Added {
        /// What it says.
        text: String,
    },
    /// It is gone.
    Removed {
        /// What it said.
        text: String,
    },
}

impl FileDiff {
    /// The same as HTML: text and classes only, with everything in it that could be markup, or deceive a reader, written out.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut html = String::from("<div class=\"diff\">");
        for hunk in &self.hunks {
            // Writing to a string cannot fail.
            let _ = write!(
                html,
                "<div class=\"diff-hunk\"><div class=\"diff-place\">@@ -{} +{} @@</div>",
                hunk.old_start, hunk.new_start
            );
            let (mut old, mut new) = (hunk.old_start, hunk.new_start);
            for line in &hunk.lines {
                let (class, sign, text, numbers) = match line {
                    DiffLine::Same { text } => ("diff-same", ' ', text, (Some(old), Some(new))),
                    DiffLine::Added { text } => ("diff-added", '+', text, (None, Some(new))),
                    DiffLine::Removed { text } => ("diff-removed", '-', text, (Some(old), None)),
                };
                old = old.saturating_add(u32::from(numbers.0.is_some()));
                new = new.saturating_add(u32::from(numbers.1.is_some()));
                let number = |line: Option<u32>| line.map(|line| line.to_string()).unwrap_or_default();
                let _ = write!(
                    html,
                    "<div class=\"{class}\"><span class=\"diff-number\">{}</span><span class=\"diff-number\">{}</span>\
                     <span class=\"diff-sign\">{sign}</span><span class=\"diff-text\">",
                    number(numbers.0),
                    number(numbers.1)
                );
                escape(text, &mut html);
                html.push_str("</span></div>");
            }
            html.push_str("</div>");
        }
        if self.left_out > 0 {
            let _ = write!(html, "<div class=\"diff-left-out\">{} more lines are not shown</div>", self.left_out);
        }
        html.push_str("</div>");
        html
    }
}

/// Text as text: what could be markup is escaped, what nobody sees is spelled out.
fn escape(text: &str, html: &mut String) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '`' => html.push_str("&#96;"),
            '\t' => html.push('\t'),
            hidden if is_hidden(hidden) => {
                let _ = write!(html, "<span class=\"diff-hidden\">\\u{{{:x}}}</span>", u32::from(hidden));
            }
            plain => html.push(plain),
        }
    }
}

/// Control characters, and those that reorder text, look like nothing or hide in it.
fn is_hidden(character: char) -> bool {
    let unseen = matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    character.is_control() || unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: Vec<DiffLine>) -> FileDiff {
        FileDiff { hunks: vec![DiffHunk { old_start: 3, new_start: 4, lines }], added: 1, removed: 1, left_out: 0 }
    }

    #[test]
    fn a_change_is_html_with_numbers_and_signs() {
        let change = lines(vec![
            DiffLine::Same { text: "a".into() },
            DiffLine::Removed { text: "b".into() },
            DiffLine::Added { text: "\tc".into() },
        ]);
        let line = |class: &str, old: &str, new: &str, sign: &str, text: &str| {
            format!(
                "<div class=\"{class}\"><span class=\"diff-number\">{old}</span><span class=\"diff-number\">{new}</span>\
                 <span class=\"diff-sign\">{sign}</span><span class=\"diff-text\">{text}</span></div>"
            )
        };
        let expected = [
            "<div class=\"diff\"><div class=\"diff-hunk\"><div class=\"diff-place\">@@ -3 +4 @@</div>".to_owned(),
            line("diff-same", "3", "4", " ", "a"),
            line("diff-removed", "4", "", "-", "b"),
            line("diff-added", "", "5", "+", "\tc"),
            "</div></div>".to_owned(),
        ];
        assert_eq!(change.to_html(), expected.concat());
        let more = FileDiff { left_out: 7, ..FileDiff::default() };
        assert!(more.to_html().contains("7 more lines are not shown"));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = [
            "<script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "'><svg/onload=alert`1`>",
            "</span></div><iframe srcdoc='<b>'>",
            "&lt;b&gt; &#60;script&#62;",
            "<!-- --><style>*{}</style>",
            "javascript:alert(1)\u{0}\u{1b}[31m",
            "if admin \u{202e}{ esaf }\u{2066}//\u{2069}",
            "a\u{200b}b\r\u{feff}\u{e0041}\u{85}\u{2028}",
        ];
        for text in hostile {
            let html = lines(vec![DiffLine::Added { text: text.into() }]).to_html();
            let inner = html
                .split("<span class=\"diff-text\">")
                .nth(1)
                .unwrap()
                .strip_suffix("</span></div></div></div>")
                .unwrap();
            // Only our own marks of hidden characters are markup.
            let plain = inner.replace("<span class=\"diff-hidden\">", "").replace("</span>", "");
            assert!(!plain.contains(['<', '>', '"', '\'', '`']), "{plain}");
            assert!(!plain.chars().any(is_hidden), "{plain:?}");
            let opened = inner.matches("<span class=\"diff-hidden\">").count();
            assert_eq!((inner.matches('<').count(), inner.matches("</span>").count()), (2 * opened, opened), "{inner}");
        }
        let shown = lines(vec![DiffLine::Added { text: "x\u{202e}y".into() }]).to_html();
        assert!(shown.contains("x<span class=\"diff-hidden\">\\u{202e}</span>y"), "{shown}");
    }
}
