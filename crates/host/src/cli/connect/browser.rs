//! A browser's extension at the other end: whether it may come in, and how an answer that it cannot take becomes a link. Never
//! touches a message that fits.

use serde_json::{Map, Value, json};
use switchboard_dialects::framing::native::MAX_TO_BROWSER_BYTES;

use crate::agents::shown::shown;
use crate::cli::args::Cli;
use crate::cli::control::Control;
use crate::cli::exit::{Exit, Failure};

/// How a browser names an extension.
const EXTENSION: &str = "chrome-extension://";
/// Results of one batch that become links of their own; beyond that all of them share one.
const MAX_LINKS: usize = 16;
/// Characters of a name that are shown.
const SHOWN_CHARS: usize = 200;

/// Whether the configuration allows an extension.
pub(super) fn admit(cli: &Cli, origin: &str) -> Result<(), Failure> {
    if !origin.starts_with(EXTENSION) {
        return Err(Failure::usage(
            "connect takes no words; name the dialect: `switchboard connect --dialect tabs`. A browser says chrome-extension://ID/",
        ));
    }
    let bare = |origin: &str| origin.trim().trim_end_matches('/').to_ascii_lowercase();
    let wanted = bare(origin);
    if cli.config()?.server.allowed_origins.iter().any(|allowed| bare(allowed) == wanted) {
        return Ok(());
    }
    let file = cli.source().file.map_or("your configuration".to_owned(), |(file, _)| file.display().to_string());
    let wanted = shown(&wanted, SHOWN_CHARS);
    let message = format!(
        "the extension {wanted} may not speak to the host; if it should, put \"{wanted}\" into allowed_origins under [server] in {file}"
    );
    Err(Failure::new(Exit::Denied, message))
}

/// The extension, by way of the host that keeps what is too large for it.
pub(super) struct Browser {
    control: Control,
}

impl Browser {
    pub(super) fn new(control: Control) -> Self {
        Self { control }
    }

    /// A message over the browser's limit with a link in the place of what is large in it.
    pub(super) async fn fit(&self, message: &[u8]) -> Vec<u8> {
        let Ok(Value::Object(mut members)) = serde_json::from_slice(message) else {
            // The host sends objects; anything else fits.
            return message.to_vec();
        };
        let size = message.len();
        if let Err(failure) = self.link(&mut members, size).await {
            members = failed(members, size, &failure);
        }
        let fitted = Value::Object(members).to_string().into_bytes();
        if fitted.len() <= MAX_TO_BROWSER_BYTES {
            return fitted;
        }
        // Even what is left is too much, such as a title of a megabyte.
        let rest: Map<String, Value> = serde_json::from_slice(message).unwrap_or_default();
        Value::Object(failed(rest, size, &Failure::failed("it has more than one large part"))).to_string().into_bytes()
    }

    async fn link(&self, members: &mut Map<String, Value>, size: usize) -> Result<(), Failure> {
        if let Some(Value::Object(result)) = members.get_mut("result") {
            return self.move_result(result).await;
        }
        if let Some(Value::Object(error)) = members.get_mut("error") {
            return self.move_out(error, &["details"]).await;
        }
        if let Some(Value::Array(results)) = members.get_mut("results")
            && self.move_results(results, size).await?
        {
            return Ok(());
        }
        match members.get("type").and_then(Value::as_str) {
            Some("TOOL_CALL") => self.move_out(members, &["parameters"]).await,
            Some("APPROVAL_REQUEST") => self.move_out(members, &["change", "diff", "diffHtml"]).await,
            _ => {
                let large = members.iter().max_by_key(|(_, value)| bytes(value)).map(|(name, _)| name.clone());
                self.move_out(members, &[&large.unwrap_or_default()]).await
            }
        }
    }

    /// Moves the largest results out, if a few of them are all that is large.
    async fn move_results(&self, results: &mut [Value], size: usize) -> Result<bool, Failure> {
        let mut sizes: Vec<(usize, usize)> =
            results.iter().map(bytes).enumerate().map(|(at, bytes)| (bytes, at)).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let (mut left, mut large) = (size, Vec::new());
        for (bytes, at) in sizes.into_iter().take(MAX_LINKS) {
            if left <= MAX_TO_BROWSER_BYTES {
                break;
            }
            // What takes its place is small, and has a share of the kilobyte that is left out of the sum.
            left = left.saturating_sub(bytes.saturating_sub(1024));
            large.push(at);
        }
        if left > MAX_TO_BROWSER_BYTES {
            return Ok(false);
        }
        for at in large {
            if let Some(Value::Object(result)) = results.get_mut(at) {
                self.move_result(result).await?;
            }
        }
        Ok(true)
    }

    /// Moves what is large in a result out; that it failed, and why, stays.
    async fn move_result(&self, result: &mut Map<String, Value>) -> Result<(), Failure> {
        match result.get_mut("error") {
            Some(Value::Object(error)) => self.move_out(error, &["details"]).await,
            _ => self.move_out(result, &["data"]).await,
        }
    }

    /// Moves members of an object to the host, and puts a link in their place: to the one that there is, or to an object of
    /// them.
    async fn move_out(&self, object: &mut Map<String, Value>, names: &[&str]) -> Result<(), Failure> {
        let moved: Vec<(String, Value)> =
            names.iter().filter_map(|name| Some(((*name).to_owned(), object.get(*name)?.clone()))).collect();
        let json = match (names, moved.as_slice()) {
            (_, []) => return Ok(()),
            ([_], [(_, only)]) => only.to_string(),
            _ => Value::Object(moved.iter().cloned().collect()).to_string(),
        };
        let size = json.len();
        let url = self.control.keep_artifact(json).await?;
        for (name, _) in moved {
            object.remove(&name);
        }
        object.insert("artifact".to_owned(), json!({"url": url, "size": size}));
        Ok(())
    }
}

fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

/// What is said where no link can be made.
fn failed(mut members: Map<String, Value>, size: usize, failure: &Failure) -> Map<String, Value> {
    let message = format!(
        "the answer has {size} bytes, a browser takes {MAX_TO_BROWSER_BYTES}, and no link can be made: {failure}; ask for less at a time"
    );
    let error = json!({"code": "EXECUTION_ERROR", "message": message});
    let mut answer = Map::new();
    for name in ["requestId", "type", "callId", "approvalId"] {
        answer.extend(members.remove_entry(name));
    }
    match members.remove("result") {
        Some(result) => {
            let duration = result.get("duration").cloned().unwrap_or(json!(0));
            answer.insert("result".to_owned(), json!({"success": false, "error": error, "duration": duration}))
        }
        None => answer.insert("error".to_owned(), error),
    };
    answer
}
