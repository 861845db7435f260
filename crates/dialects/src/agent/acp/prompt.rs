//! A prompt as content blocks: the words, what was said before, and what goes with them, as far as the agent can take it.

use agent_client_protocol_schema::v1::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, ImageContent, ResourceLink, TextContent,
    TextResourceContents,
};
use switchboard_types::{ContextItem, Prompt};

use super::about::Abilities;
use super::content::last_part;

/// Stands before what was said in an earlier life of the agent.
const RECAP: &str = "What follows is a summary of the earlier conversation, which you took part in but no longer remember. \
                     It is background; the new request comes after it.";

/// A prompt, and what of it the agent could not be given.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<ContentBlock>,
    /// For a person.
    pub(super) notes: Vec<String>,
}

/// Makes the blocks of a prompt.
pub(super) fn blocks(prompt: &Prompt, recap: Option<&str>, cwd: &str, abilities: Abilities) -> Blocks {
    let mut made = Blocks { blocks: Vec::new(), notes: Vec::new() };
    if let Some(recap) = recap {
        made.text(format!("<summary>\n{RECAP}\n\n{recap}\n</summary>"));
    }
    made.text(prompt.text.clone());
    for item in &prompt.context {
        made.item(item, cwd, abilities);
    }
    made
}

impl Blocks {
    fn text(&mut self, text: String) {
        self.blocks.push(ContentBlock::Text(TextContent::new(text)));
    }

    fn item(&mut self, item: &ContextItem, cwd: &str, abilities: Abilities) {
        let path = item.path.as_deref();
        if let Some(image) = &item.image {
            if abilities.image {
                let uri = path.map(|path| file_uri(path, cwd));
                let block = ImageContent::new(image.data.clone(), image.mime.clone()).uri(uri);
                self.blocks.push(ContentBlock::Image(block));
            } else {
                let named = path.map_or_else(String::new, |path| format!(" {path}"));
                self.notes.push(format!("the agent takes no pictures, so the picture{named} was left out"));
                self.text(format!("[A picture{named} ({}) was attached, but you cannot see pictures.]", image.mime));
            }
        }
        match (path, item.content.as_deref()) {
            (Some(path), Some(content)) if abilities.embedded => {
                let contents = TextResourceContents::new(content, file_uri(path, cwd));
                let resource = EmbeddedResource::new(EmbeddedResourceResource::TextResourceContents(contents));
                self.blocks.push(ContentBlock::Resource(resource));
            }
            (Some(path), Some(content)) => self.text(format!("The file {path} says:\n\n{content}")),
            (Some(path), None) if item.image.is_none() => {
                let link = ResourceLink::new(last_part(path), file_uri(path, cwd));
                self.blocks.push(ContentBlock::ResourceLink(link));
            }
            (None, Some(content)) => self.text(content.to_owned()),
            (Some(_), None) | (None, None) => {}
        }
    }
}

/// A path as a URI; one that is not absolute lies below the folder that the agent works in.
fn file_uri(path: &str, cwd: &str) -> String {
    let mut uri = String::from("file://");
    if !path.starts_with('/') {
        encode(cwd, &mut uri);
        if !cwd.ends_with('/') {
            uri.push('/');
        }
    }
    encode(path, &mut uri);
    uri
}

fn encode(path: &str, uri: &mut String) {
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            other => {
                uri.push('%');
                for digit in [other >> 4, other & 15] {
                    uri.extend(char::from_digit(u32::from(digit), 16).map(|digit| digit.to_ascii_uppercase()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use switchboard_types::Image;

    use super::*;

    fn item(path: Option<&str>, content: Option<&str>, image: bool) -> ContextItem {
        let image = image.then(|| Image { mime: "image/png".to_owned(), data: "AA==".to_owned() });
        ContextItem { path: path.map(str::to_owned), content: content.map(str::to_owned), image }
    }

    fn made(context: Vec<ContextItem>, recap: Option<&str>, abilities: Abilities) -> (Value, Vec<String>) {
        let made = blocks(&Prompt { text: "do".to_owned(), context }, recap, "/w", abilities);
        (serde_json::to_value(&made.blocks).unwrap(), made.notes)
    }

    #[test]
    fn an_agent_that_takes_everything_gets_links_resources_and_pictures() {
        let abilities = Abilities { image: true, embedded: true, ..Abilities::default() };
        let context = vec![
            item(Some("src/ä b.rs"), None, false),
            item(Some("/a"), Some("x"), false),
            item(Some("/p"), None, true),
        ];
        let (blocks, notes) = made(context, None, abilities);
        let wanted = json!([
            {"type":"text","text":"do"},
            {"type":"resource_link","name":"ä b.rs","uri":"file:///w/src/%C3%A4%20b.rs"},
            {"type":"resource","resource":{"uri":"file:///a","text":"x"}},
            {"type":"image","data":"AA==","mimeType":"image/png","uri":"file:///p"},
        ]);
        assert_eq!((blocks, notes), (wanted, vec![]));
    }

    #[test]
    fn an_agent_that_takes_text_only_gets_text_and_the_person_is_told_what_was_left_out() {
        let context = vec![item(Some("/a"), Some("x"), false), item(None, Some("y"), false), item(None, None, true)];
        let (blocks, notes) = made(context, Some("we spoke"), Abilities::default());
        let summary = format!("<summary>\n{RECAP}\n\nwe spoke\n</summary>");
        let wanted = json!([
            {"type":"text","text":summary},
            {"type":"text","text":"do"},
            {"type":"text","text":"The file /a says:\n\nx"},
            {"type":"text","text":"y"},
            {"type":"text","text":"[A picture (image/png) was attached, but you cannot see pictures.]"},
        ]);
        assert_eq!(blocks, wanted);
        assert_eq!(notes, ["the agent takes no pictures, so the picture was left out"]);
    }
}
