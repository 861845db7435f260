//! What messages and tool calls show: text, pictures, links, changes, terminals. What is none of these is kept as it came.

use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResourceResource};
use switchboard_types::{ExecutionId, Image, ToolContent};

use super::small::{MAX_LINE_CHARS, cut, fields, name, string, value_or_text};

const FIELDS: [&str; 7] = ["type", "content", "path", "oldText", "newText", "terminalId", "text"];

/// One piece of what a tool call shows.
pub(super) fn of_tool(raw: &str) -> ToolContent {
    let known = fields(raw, &FIELDS).and_then(|found| match string(&found, "type").as_deref() {
        Some("content") => block(found.raw("content")?),
        Some("diff") => Some(ToolContent::Diff {
            path: string(&found, "path")?,
            old: string(&found, "oldText"),
            new: string(&found, "newText")?,
        }),
        Some("terminal") => {
            Some(ToolContent::Terminal { terminal: ExecutionId::new(name(&found, "terminalId")?), output: None })
        }
        // Some agents leave the wrapping out.
        _ => block(raw),
    });
    known.unwrap_or_else(|| ToolContent::Other { raw: value_or_text(raw) })
}

/// A content block as a tool shows it; none if it is of a sort that we do not know.
fn block(raw: &str) -> Option<ToolContent> {
    let found = fields(raw, &["type", "text"])?;
    if string(&found, "type").as_deref() == Some("text") {
        return Some(ToolContent::Text { text: string(&found, "text")? });
    }
    match serde_json::from_str(raw).ok()? {
        ContentBlock::Text(text) => Some(ToolContent::Text { text: text.text }),
        ContentBlock::Image(image) => {
            Some(ToolContent::Image { image: Image { mime: image.mime_type, data: image.data } })
        }
        ContentBlock::ResourceLink(link) => Some(ToolContent::Link { uri: link.uri, name: link.name }),
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => Some(ToolContent::Text { text: text.text }),
            EmbeddedResourceResource::BlobResourceContents(blob) => {
                Some(ToolContent::Link { name: cut(&*blob.uri, MAX_LINE_CHARS), uri: blob.uri })
            }
            _ => None,
        },
        _ => None,
    }
}

/// A block of a message that is no text, in words.
pub(super) struct Readable {
    pub(super) text: String,
    /// Whether the words are all there is to it.
    pub(super) rest: Rest,
}

/// Whether something is told in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    /// It is to be kept as it came.
    Kept,
}

/// Says a block that is no text in words; none if it is of a sort that we do not know.
pub(super) fn in_words(raw: &str) -> Option<Readable> {
    let whole = |text: String| Readable { text, rest: Rest::Nothing };
    let part = |text: String| Readable { text, rest: Rest::Kept };
    Some(match serde_json::from_str(raw).ok()? {
        ContentBlock::Text(text) => whole(text.text),
        ContentBlock::ResourceLink(link) => whole(format!("[{}]({})", escaped(&link.name), link.uri)),
        ContentBlock::Image(image) => part(format!("[a picture, {}, {}]", image.mime_type, size(&image.data))),
        ContentBlock::Audio(audio) => part(format!("[sound, {}, {}]", audio.mime_type, size(&audio.data))),
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                whole(format!("{}:\n\n```\n{}\n```\n", text.uri, text.text))
            }
            EmbeddedResourceResource::BlobResourceContents(blob) => {
                part(format!("[{}, {}]", blob.uri, size(&blob.blob)))
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// The places that a tool call is at.
pub(super) fn location(raw: &str) -> Option<switchboard_types::Location> {
    let found = fields(raw, &["path", "line"])?;
    let number = super::small::number(&found, "line");
    Some(switchboard_types::Location {
        path: string(&found, "path")?,
        line: number.and_then(|number| u32::try_from(number).ok()),
    })
}

/// The words of what a call shows, for a person who is asked about it.
pub(super) fn first_text(contents: &[ToolContent]) -> Option<String> {
    contents.iter().find_map(|content| match content {
        ToolContent::Text { text } if !text.trim().is_empty() => Some(cut(text.trim(), MAX_LINE_CHARS)),
        ToolContent::Text { .. }
        | ToolContent::Diff { .. }
        | ToolContent::Terminal { .. }
        | ToolContent::Image { .. }
        | ToolContent::Link { .. }
        | ToolContent::Other { .. } => None,
    })
}

/// The size of bytes in Base64, for people.
fn size(base64: &str) -> String {
    let bytes = base64.len() / 4 * 3;
    if bytes < 10_000 { format!("{bytes} bytes") } else { format!("{} KB", bytes / 1000) }
}

/// A link's name as Markdown takes it.
fn escaped(name: &str) -> String {
    name.replace(['[', ']', '\\'], " ")
}

/// The name of a place that is only a path: its last part.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_tool_shows_is_read_by_its_sort_and_the_rest_is_kept() {
        let text = |text: &str| ToolContent::Text { text: text.to_owned() };
        let cases = [
            (json!({"type":"content","content":{"type":"text","text":"a"}}), text("a")),
            (json!({"type":"text","text":"bare"}), text("bare")),
            (
                json!({"type":"content","content":{"type":"resource","resource":{"uri":"file:///a","text":"in"}}}),
                text("in"),
            ),
            (
                json!({"type":"content","content":{"type":"image","mimeType":"image/png","data":"AA=="}}),
                ToolContent::Image { image: Image { mime: "image/png".to_owned(), data: "AA==".to_owned() } },
            ),
            (
                json!({"type":"content","content":{"type":"resource_link","uri":"file:///a","name":"a"}}),
                ToolContent::Link { uri: "file:///a".to_owned(), name: "a".to_owned() },
            ),
            (
                json!({"type":"diff","path":"/a","oldText":null,"newText":"n","_meta":{"kind":"add"}}),
                ToolContent::Diff { path: "/a".to_owned(), old: None, new: "n".to_owned() },
            ),
            (
                json!({"type":"terminal","terminalId":"t"}),
                ToolContent::Terminal { terminal: ExecutionId::from("t"), output: None },
            ),
        ];
        for (raw, wanted) in cases {
            assert_eq!(of_tool(&raw.to_string()), wanted, "{raw}");
        }
        for raw in [json!({"type":"hologram","x":1}), json!({"type":"diff","path":"/a"}), json!(7), json!({})] {
            assert_eq!(of_tool(&raw.to_string()), ToolContent::Other { raw });
        }
    }

    #[test]
    fn a_block_that_is_no_text_is_said_in_words() {
        let said = |raw: serde_json::Value| in_words(&raw.to_string()).map(|said| (said.text, said.rest));
        assert_eq!(
            said(json!({"type":"resource_link","uri":"file:///a","name":"a]"})),
            Some(("[a ](file:///a)".to_owned(), Rest::Nothing))
        );
        assert_eq!(
            said(json!({"type":"image","mimeType":"image/png","data":"AAAA"})),
            Some(("[a picture, image/png, 3 bytes]".to_owned(), Rest::Kept))
        );
        assert_eq!(said(json!({"type":"hologram"})), None);
    }

    #[test]
    fn a_lone_surrogate_in_a_tools_text_does_not_lose_the_rest() {
        let raw = r#"{"type":"content","content":{"type":"text","text":"a \ud800 b"}}"#;
        assert_eq!(of_tool(raw), ToolContent::Text { text: "a \u{fffd} b".to_owned() });
    }
}
