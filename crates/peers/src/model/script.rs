//! What a prompt tells the model to do: `FAKE[…]`, a JSON list of steps. Reads and checks it; carries nothing out.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// Begins a script within a prompt.
pub(crate) const MARK: &str = "FAKE[";
/// A script with more steps is refused.
const MAX_STEPS: usize = 100;
/// The most pieces that one answer is streamed in.
const MAX_PIECES: usize = 100_000;
/// The longest that any one wait may be.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// One step of a script. A request of the model takes one step.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    /// Says something and ends the turn.
    Say {
        /// What is said.
        text: String,
        /// What is thought before.
        think: Option<String>,
        /// In how many pieces.
        n: Option<usize>,
        /// Seconds before each piece.
        delay: Option<f64>,
    },
    /// Says `n` numbered words, one every `delay` seconds.
    Slow {
        /// How many.
        n: usize,
        /// Seconds before each.
        delay: f64,
    },
    /// Writes down a plan.
    Plan {
        /// Each with its status.
        items: Vec<(String, Status)>,
        /// What is said before.
        text: Option<String>,
    },
    /// Reads a file.
    Read {
        /// Which one.
        path: String,
        /// What is said before.
        text: Option<String>,
    },
    /// Replaces a text in a file.
    Edit {
        /// Which file.
        path: String,
        /// What stands there.
        old: String,
        /// What is to stand there.
        new: String,
        /// What is said before.
        text: Option<String>,
    },
    /// Writes a whole file.
    Write {
        /// Which one.
        path: String,
        /// What is to be in it.
        content: String,
        /// What is said before.
        text: Option<String>,
    },
    /// Runs a command.
    Shell {
        /// For a shell.
        cmd: String,
        /// What is said before.
        text: Option<String>,
    },
    /// Calls any tool by name.
    Tool {
        /// Its name.
        name: String,
        /// Its parameters, as they are.
        input: Value,
        /// What is said before.
        text: Option<String>,
    },
    /// Says whether a word came up earlier in the conversation.
    Recall {
        /// The word.
        word: String,
    },
    /// Fails with an HTTP status.
    Error {
        /// Which one.
        status: u16,
    },
    /// Takes the request and says nothing for so long; then fails.
    Hang {
        /// How long.
        seconds: f64,
    },
    /// Breaks off in the middle of an answer.
    Cut {
        /// What is said before.
        text: String,
    },
}

/// How far an item of a plan is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

impl Status {
    /// As agents write it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

/// A script and the text that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Script {
    /// The steps in order.
    pub(crate) steps: Vec<Step>,
    /// The script as it was written.
    pub(crate) raw: String,
}

/// The last script within a text; an error says what is wrong with it.
pub(crate) fn find(text: &str) -> Option<Result<Script, String>> {
    // The last one counts: what stands before may be a summary of earlier prompts.
    let (_, rest) = text.rsplit_once(MARK)?;
    let list = format!("[{rest}");
    let mut values = serde_json::Deserializer::from_str(&list).into_iter::<Value>();
    let read = match values.next() {
        Some(Ok(list)) => list,
        Some(Err(error)) => return Some(Err(format!("the script is no JSON: {error}"))),
        None => return Some(Err("the script is empty".to_owned())),
    };
    let raw = list.get(..values.byte_offset()).unwrap_or_default().to_owned();
    let steps = match serde_json::from_value::<Vec<Step>>(read) {
        Ok(steps) => steps,
        Err(error) => return Some(Err(format!("the script is not understood: {error}"))),
    };
    Some(check(&steps).map(|()| Script { steps, raw }))
}

fn check(steps: &[Step]) -> Result<(), String> {
    if steps.len() > MAX_STEPS {
        return Err(format!("{} steps are over {MAX_STEPS}", steps.len()));
    }
    for step in steps {
        match step {
            Step::Say { n: Some(n), .. } | Step::Slow { n, .. } if *n > MAX_PIECES => {
                return Err(format!("{n} pieces are over {MAX_PIECES}"));
            }
            Step::Error { status } if !(400..=599).contains(status) => {
                return Err(format!("{status} is no status of an error"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// So many seconds, but never longer than a wait may be.
pub(crate) fn wait(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_within_other_words() {
        let text = r#"Test run. FAKE[{"do":"say","text":"hi ] there","n":2}] and so on"#;
        let script = find(text).unwrap().unwrap();
        let said = Step::Say { text: "hi ] there".to_owned(), think: None, n: Some(2), delay: None };
        assert_eq!(script.steps, vec![said]);
        assert_eq!(script.raw, r#"[{"do":"say","text":"hi ] there","n":2}]"#);
    }

    #[test]
    fn the_last_script_counts() {
        let text = r#"before: FAKE[{"do":"error","status":400}]; now: FAKE[{"do":"recall","word":"x"}]"#;
        assert_eq!(find(text).unwrap().unwrap().steps, vec![Step::Recall { word: "x".to_owned() }]);
    }

    #[test]
    fn what_is_wrong_with_a_script_is_said() {
        assert!(find("no script").is_none());
        assert!(find("FAKE[{\"do\":").unwrap().unwrap_err().contains("no JSON"));
        assert!(find(r#"FAKE[{"do":"dance"}]"#).unwrap().unwrap_err().contains("dance"));
        assert!(find(r#"FAKE[{"do":"error","status":200}]"#).unwrap().unwrap_err().contains("200"));
    }

    #[test]
    fn no_wait_is_longer_than_the_limit_and_none_is_negative() {
        assert_eq!(wait(1e30), Duration::ZERO);
        assert_eq!(wait(10_000.0), MAX_WAIT);
        assert_eq!(wait(-1.0), Duration::ZERO);
    }
}
