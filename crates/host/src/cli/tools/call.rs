//! `tools run`: one call from its question to its end. What the host says decides; here it is only followed.

use std::io::{self, IsTerminal, Read};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use switchboard_types::limits::MAX_PARAMETER_BYTES;
use switchboard_types::{Decision, SessionId};

use super::list::BETWEEN;
use super::talk::{Answer, Heard, Talk};
use crate::cli::args::{CallArgs, Cli, Format};
use crate::cli::exit::{Exit, Failure};
use crate::cli::print;
use crate::cli::run::question::{Next, Questions};
use crate::cli::stop::Signals;

/// How long a host that has just started may take to know its tools.
const PATIENCE: Duration = Duration::from_secs(20);
/// The name of the call's request.
const CALL: &str = "call";

/// What is wanted.
pub(super) struct Wanted {
    request: Value,
    call: String,
    pub(super) session: Option<SessionId>,
}

impl Wanted {
    /// Checks all that can be checked here.
    pub(super) fn of(cli: &Cli, args: &CallArgs) -> Result<Self, Failure> {
        let number = getrandom::u64().map_err(|error| Failure::failed(format!("no randomness: {error}")))?;
        let call = format!("cli-{number:016x}");
        let text = if args.params == "-" { stdin()? } else { args.params.clone() };
        let wrong =
            |error| Failure::usage(format!("`--params` is a JSON object, such as '{{\"path\":\"a\"}}': {error}"));
        let parameters: Map<String, Value> = serde_json::from_str(&text).map_err(wrong)?;
        let mut request = json!({ "toolName": args.name, "parameters": parameters, "executionId": call });
        match args.session {
            Some(session) => request["sessionId"] = json!(session.to_string()),
            None => request["workspace"] = json!(cli.workspace(None)?.as_str()),
        }
        if let Some(timeout) = args.timeout {
            request["timeout"] = json!(timeout);
        }
        Ok(Self { request, call, session: args.session })
    }
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let most = MAX_PARAMETER_BYTES as u64 + 1;
    let read = io::stdin().lock().take(most).read_to_string(&mut text);
    read.map_err(|error| Failure::failed(format!("standard input cannot be read: {error}")))?;
    if text.len() > MAX_PARAMETER_BYTES {
        return Err(Failure::usage(format!("the parameters are over the limit of {MAX_PARAMETER_BYTES} bytes")));
    }
    Ok(text)
}

/// Calls the tool.
pub(super) async fn run(cli: &Cli, talk: Talk, wanted: &Wanted, signals: &mut Signals) -> Result<(), Failure> {
    let mut call =
        Call { talk, questions: Questions::new("The tool asks"), wanted, began: Instant::now(), cancelled: false };
    call.talk.ask("watch", "SUBSCRIBE_APPROVALS", json!({})).await?;
    call.ask().await?;
    let ended = call.follow(cli, signals).await;
    let cancelled = call.cancelled;
    call.talk.close().await;
    if cancelled { Err(Failure::new(Exit::Interrupted, "interrupted; the call is cancelled")) } else { ended }
}

struct Call<'a> {
    talk: Talk,
    questions: Questions,
    wanted: &'a Wanted,
    began: Instant,
    cancelled: bool,
}

impl Call<'_> {
    async fn ask(&mut self) -> Result<(), Failure> {
        self.talk.ask(CALL, "EXECUTE_TOOL", json!({ "request": self.wanted.request })).await
    }

    async fn follow(&mut self, cli: &Cli, signals: &mut Signals) -> Result<(), Failure> {
        loop {
            tokio::select! {
                heard = self.talk.hear() => match heard? {
                    Heard::Answer { request, answer } if request == CALL => {
                        if let Some(ended) = self.answered(cli, *answer).await? {
                            return ended;
                        }
                    }
                    Heard::Question { approval, call } => {
                        // Somebody else's question is somebody else's to answer.
                        let ours = call.is_none_or(|call| call == self.wanted.call);
                        if ours && let Next::Nobody(id) = self.questions.add(*approval) {
                            tracing::warn!("the tool asks, and nobody can be asked here; it is denied");
                            self.talk.decide(&id, Decision::Deny).await?;
                        }
                    }
                    Heard::Answer { .. } | Heard::Nothing => {}
                },
                (approval, decision) = self.questions.answer() => {
                    self.talk.decide(&approval, decision).await?;
                    for orphan in self.questions.orphans() {
                        self.talk.decide(&orphan, Decision::Deny).await?;
                    }
                }
                _ = signals.next() => {
                    if std::mem::replace(&mut self.cancelled, true) {
                        return Ok(());
                    }
                    self.talk.ask("cancel", "CANCEL_EXECUTION", json!({ "executionId": self.wanted.call })).await?;
                }
            }
        }
    }

    /// Takes the answer to the call; none if it must be asked for again.
    async fn answered(&mut self, cli: &Cli, answer: Answer) -> Result<Option<Result<(), Failure>>, Failure> {
        if let Some(error) = answer.error {
            if error.is_early() && self.began.elapsed() < PATIENCE && !self.cancelled {
                tokio::time::sleep(BETWEEN).await;
                self.ask().await?;
                return Ok(None);
            }
            return Ok(Some(Err(error.failure())));
        }
        let Some(outcome) = answer.result else {
            return Err(Failure::failed("the host's answer is not understood; is it another version of Switchboard?"));
        };
        match &outcome.error {
            Some(error) => Ok(Some(Err(error.failure()))),
            None if outcome.success => {
                show(cli, &outcome.data);
                Ok(Some(Ok(())))
            }
            None => Ok(Some(Err(Failure::failed("the tool failed and does not say why")))),
        }
    }
}

fn show(cli: &Cli, data: &Value) {
    if cli.format() == Format::Words && io::stdout().is_terminal() {
        let text = serde_json::to_string_pretty(data).unwrap_or_default();
        return print::line(&print::safe_text(&text));
    }
    print::json(data);
}
