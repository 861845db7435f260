//! One prompt on its way to an engine, at most once. Knows how far it is; what is done about it is decided around it.

use serde_json::{Map, Value, json};
use switchboard_types::{ContextItem, Prompt, Time, TurnName};

use super::orders::{EngineRequest, Upload};

/// Files that go with one prompt.
const MAX_UPLOADS: usize = 64;
/// What an agent that has lost the conversation is told first.
const RECAP: &str = "This conversation began in a session that is no more. What was said before, in short:";

/// How far a prompt is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It waits for its session.
    Waiting,
    /// Its files go first.
    Uploading(EngineRequest),
    /// It is sent.
    Posting(EngineRequest),
    /// It is sent again, which is safe.
    Again {
        /// When.
        at: Time,
    },
    /// It was sent, or was about to be, before the host was started again.
    Resumed {
        /// When it is sent again if nothing is heard of it; none as long as the stream does not stand.
        at: Option<Time>,
    },
    /// Nobody knows whether it has arrived.
    Unknown {
        /// When it is given up; none as long as the stream does not stand.
        until: Option<Time>,
    },
    /// The engine has said that it has it.
    Accepted,
    /// It stands in the engine's log.
    Taken,
}

/// How the engine names prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// By our name, and one that it has seen it does not run again.
    Ours,
    /// By its own name, or by none.
    Its,
}

/// A prompt on its way.
#[derive(Debug)]
pub(super) struct Input {
    name: TurnName,
    content: String,
    pub(super) uploads: Vec<Upload>,
    pub(super) attachments: Vec<String>,
    pub(super) stage: Stage,
    pub(super) tries: u32,
    pub(super) naming: Naming,
}

impl Input {
    pub(super) fn new(name: TurnName, prompt: &Prompt, recap: Option<&str>, stage: Stage) -> Self {
        let mut content = recap.map_or_else(String::new, |recap| format!("{RECAP}\n\n{recap}\n\n---\n\n"));
        content.push_str(&prompt.text);
        let mut uploads = Vec::new();
        for (at, item) in prompt.context.iter().enumerate() {
            match upload(at, item).filter(|_| uploads.len() < MAX_UPLOADS) {
                Some(upload) => uploads.push(upload),
                // A path of this machine; the engine may have the same file.
                None => content.extend(item.path.iter().map(|path| format!("\n\n@{path}"))),
            }
        }
        Self { name, content, uploads, attachments: Vec::new(), stage, tries: 0, naming: Naming::Its }
    }

    pub(super) fn name(&self) -> &TurnName {
        &self.name
    }

    pub(super) fn content(&self) -> &str {
        &self.content
    }

    /// Whether what the engine calls a prompt is this one.
    pub(super) fn is(&self, theirs: Option<&str>, text: &str) -> bool {
        if theirs == Some(self.name.as_str()) {
            return true;
        }
        let under_way = match self.stage {
            Stage::Waiting | Stage::Uploading(_) | Stage::Taken => false,
            Stage::Posting(_)
            | Stage::Again { .. }
            | Stage::Resumed { .. }
            | Stage::Unknown { .. }
            | Stage::Accepted => true,
        };
        let by_text = self.naming == Naming::Its || theirs.is_none();
        under_way && by_text && text.trim() == self.content.trim()
    }

    pub(super) fn taken(&mut self) {
        self.stage = Stage::Taken;
    }

    /// What is sent.
    pub(super) fn body(&self) -> Vec<u8> {
        let mut body = Map::new();
        body.insert("content".to_owned(), json!(self.content));
        if !self.attachments.is_empty() {
            body.insert("attachments".to_owned(), json!(self.attachments));
        }
        body.insert("message_id".to_owned(), json!(self.name.as_str()));
        Value::Object(body).to_string().into_bytes()
    }

    /// When something is due.
    pub(super) fn due(&self) -> Option<Time> {
        match self.stage {
            Stage::Again { at } => Some(at),
            Stage::Resumed { at } => at,
            Stage::Unknown { until } => until,
            Stage::Waiting | Stage::Uploading(_) | Stage::Posting(_) | Stage::Accepted | Stage::Taken => None,
        }
    }
}

fn upload(at: usize, item: &ContextItem) -> Option<Upload> {
    let named = item.path.as_deref().and_then(|path| path.rsplit(['/', '\\']).next()).filter(|name| !name.is_empty());
    if let Some(image) = &item.image {
        let bytes = from_base64(&image.data)?;
        let name = named.map_or_else(|| format!("picture-{}", at + 1), str::to_owned);
        return Some(Upload { name, mime: image.mime.clone(), bytes });
    }
    let content = item.content.as_ref()?;
    let name = named.map_or_else(|| format!("context-{}.txt", at + 1), str::to_owned);
    Some(Upload { name, mime: "text/plain; charset=utf-8".to_owned(), bytes: content.clone().into_bytes() })
}

/// The bytes that Base64 stands for; none if it is none.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut held, mut bits) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        (held, bits) = ((held << 6 | u32::from(six)) & 0xff_ffff, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        for (text, bytes) in [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("Zm9vYg", b"foob")] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes));
        }
        assert_eq!(from_base64("Zm9*"), None);
    }

    #[test]
    fn context_becomes_files_and_paths_without_content_are_named() {
        let item = |path: Option<&str>, content: Option<&str>| ContextItem {
            path: path.map(str::to_owned),
            content: content.map(str::to_owned),
            image: None,
        };
        let context = vec![item(Some("src/a.rs"), Some("fn")), item(None, Some("x")), item(Some("b.rs"), None)];
        let prompt = Prompt { text: "do".to_owned(), context };
        let input = Input::new(TurnName::from("m"), &prompt, None, Stage::Waiting);
        let names: Vec<&str> = input.uploads.iter().map(|upload| upload.name.as_str()).collect();
        assert_eq!((names, input.content()), (vec!["a.rs", "context-2.txt"], "do\n\n@b.rs"));
    }
}
