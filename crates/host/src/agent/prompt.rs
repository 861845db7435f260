//! A prompt's blocks as the model gets them: text and pictures; files within it as text. Reads no file.

use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResourceResource};
use switchboard_agent::talk::Part;

/// Characters of a title.
const TITLE_CHARS: usize = 60;

/// What the model gets.
pub(super) fn parts(blocks: Vec<ContentBlock>) -> Vec<Part> {
    blocks.into_iter().map(part).collect()
}

fn part(block: ContentBlock) -> Part {
    let text = |text: String| Part::Text { text };
    match block {
        ContentBlock::Text(block) => text(block.text),
        ContentBlock::Image(image) => Part::Image { mime: image.mime_type, data: image.data },
        ContentBlock::ResourceLink(link) => {
            text(format!("[The file {} goes with this; read it if it helps.]", path(&link.uri)))
        }
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(file) => {
                text(format!("The file {} says:\n\n{}\n", path(&file.uri), file.text))
            }
            EmbeddedResourceResource::BlobResourceContents(file) => {
                text(format!("[The file {} goes with this; it is no text.]", path(&file.uri)))
            }
            _ => text("[Something goes with this that cannot be read.]".to_owned()),
        },
        ContentBlock::Audio(_) => text("[Sound was attached, which you cannot hear.]".to_owned()),
        _ => text("[Something was attached that cannot be read.]".to_owned()),
    }
}

/// The path of a file's address, or the address as it is.
fn path(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let (raw, mut bytes) = (path.as_bytes(), Vec::with_capacity(path.len()));
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        let coded = (byte == b'%').then(|| raw.get(at + 1..at + 3).and_then(hex)).flatten();
        bytes.push(coded.unwrap_or(byte));
        at += if coded.is_some() { 3 } else { 1 };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

fn hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// What a session is called after its first prompt; none if that has no words.
pub(super) fn title(parts: &[Part]) -> Option<String> {
    let texts = parts.iter().filter_map(|part| match part {
        // What a host says of an earlier life is no title.
        Part::Text { text } if text.starts_with("<summary>") => None,
        Part::Text { text } => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    let mut lines = texts.flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next()?;
    let short: String = line.chars().take(TITLE_CHARS).collect();
    Some(if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_of_block_becomes_something_that_a_model_can_read() {
        let blocks = serde_json::json!([
            {"type":"text","text":"look"},
            {"type":"image","mimeType":"image/png","data":"AA=="},
            {"type":"resource_link","name":"a","uri":"file:///w/%C3%A4%20b"},
            {"type":"resource","resource":{"uri":"file:///w/c","text":"in"}},
            {"type":"resource","resource":{"uri":"file:///w/d","blob":"AA=="}},
            {"type":"audio","mimeType":"audio/wav","data":"AA=="},
        ]);
        let text = |text: &str| Part::Text { text: text.to_owned() };
        assert_eq!(
            parts(serde_json::from_value(blocks).unwrap()),
            [
                text("look"),
                Part::Image { mime: "image/png".to_owned(), data: "AA==".to_owned() },
                text("[The file /w/ä b goes with this; read it if it helps.]"),
                text("The file /w/c says:\n\nin\n"),
                text("[The file /w/d goes with this; it is no text.]"),
                text("[Sound was attached, which you cannot hear.]"),
            ]
        );
    }

    #[test]
    fn the_first_words_are_the_title() {
        let text = |text: &str| Part::Text { text: text.to_owned() };
        assert_eq!(title(&[text("\n  \n"), text(" mend it\nplease")]).as_deref(), Some("mend it"));
        let long = "ä".repeat(100);
        assert_eq!(title(&[text(&long)]), Some(format!("{}…", "ä".repeat(60))));
        assert_eq!(title(&[]), None);
        assert_eq!(title(&[text("<summary>\nbefore"), text("now")]).as_deref(), Some("now"));
    }
}
