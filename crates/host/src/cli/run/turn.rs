//! A turn from the first message to its end. What the host says decides; here it is only followed.

use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use switchboard_types::{Body, Detail, Outcome, RejectCode, SessionId, TurnId, WorkspaceRoot};
use tokio::time::timeout;

use super::question::{Next, Questions};
use super::screen::Screen;
use super::talk::{Event, Heard, Refused, RefusedCode, Talk, code_of};
use crate::cli::args::Cli;
use crate::cli::control::Control;
use crate::cli::exit::{Exit, Failure};
use crate::cli::reach::no_session;
use crate::cli::stop::Signals;
use crate::config::WORKSPACE_FILE;

/// How long the end of the tab is waited for.
const CLOSING: Duration = Duration::from_secs(10);

/// What is wanted.
pub(super) struct Wanted {
    pub(super) prompt: String,
    pub(super) workspace: WorkspaceRoot,
    pub(super) agent: Option<String>,
    pub(super) session: Option<SessionId>,
}

/// Whose tab it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tab {
    /// We opened it, and close it.
    Ours,
    /// Another view has it open, and keeps it.
    Theirs,
}

struct Turn<'a> {
    talk: Talk,
    screen: Screen,
    questions: Questions,
    wanted: &'a Wanted,
    tab: String,
    whose: Tab,
    name: String,
    session: Option<SessionId>,
    /// Known once the prompt is in the log.
    turn: Option<TurnId>,
    greeted: Greeted,
    asked: bool,
    cancelled: bool,
}

/// How a turn ended.
struct Ended {
    outcome: Outcome,
    detail: Option<Detail>,
}

/// Whether the host has said anything: one that has not was asked nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greeted {
    Yes,
    No,
}

/// Runs the turn.
pub(super) async fn run(
    cli: &Cli,
    control: &Control,
    wanted: &Wanted,
    signals: &mut Signals,
) -> (Result<(), Failure>, Greeted) {
    if let Some(session) = wanted.session {
        // Asked first, so that an id that names nothing opens nothing.
        match control.session(session).await {
            Ok(_) => {}
            Err(failure) if failure.exit == Exit::NotFound => return (Err(no_session(session)), Greeted::No),
            Err(failure) => return (Err(failure), Greeted::No),
        }
    }
    let mut turn = match Turn::open(cli, control, wanted).await {
        Ok(turn) => turn,
        Err(failure) => return (Err(failure), Greeted::No),
    };
    let ended = turn.follow(signals).await;
    let greeted = turn.greeted;
    if greeted == Greeted::No {
        return (ended.map(drop), greeted);
    }
    (turn.finish(ended).await, greeted)
}

impl<'a> Turn<'a> {
    async fn open(cli: &Cli, control: &Control, wanted: &'a Wanted) -> Result<Self, Failure> {
        let number = getrandom::u64().map_err(|error| Failure::failed(format!("no randomness: {error}")))?;
        let name = format!("run-{number:016x}");
        Ok(Self {
            talk: Talk::open(control).await?,
            screen: Screen::new(cli.format()),
            questions: Questions::new("The agent asks"),
            wanted,
            tab: name.clone(),
            whose: Tab::Ours,
            name,
            session: None,
            turn: None,
            greeted: Greeted::No,
            asked: false,
            cancelled: false,
        })
    }

    /// Follows the turn to its end.
    async fn follow(&mut self, signals: &mut Signals) -> Result<Ended, Failure> {
        loop {
            tokio::select! {
                heard = self.talk.hear() => {
                    if let Some(ended) = self.take(heard?).await? {
                        return Ok(ended);
                    }
                }
                (approval, decision) = self.questions.answer() => {
                    self.talk.decide(&self.tab, &approval, decision).await?;
                    for orphan in self.questions.orphans() {
                        self.talk.decide(&self.tab, &orphan, switchboard_types::Decision::Deny).await?;
                    }
                }
                _ = signals.next() => self.interrupt().await?,
            }
            if !self.screen.is_read() && !self.cancelled {
                // Nobody reads the answer any more, so nobody needs it.
                self.cancel().await?;
            }
        }
    }

    async fn interrupt(&mut self) -> Result<(), Failure> {
        if self.cancelled || !self.asked {
            return Err(Failure::new(Exit::Interrupted, "interrupted"));
        }
        self.screen.warn("cancelling; Ctrl-C again to leave at once");
        self.cancel().await
    }

    async fn cancel(&mut self) -> Result<(), Failure> {
        self.cancelled = true;
        self.talk.cancel(&self.tab, &self.name).await
    }

    async fn take(&mut self, heard: Heard) -> Result<Option<Ended>, Failure> {
        match heard {
            Heard::Welcome { sessions } => {
                self.greeted = Greeted::Yes;
                let open = |id| sessions.iter().find(|one| one.session == id).and_then(|one| one.tab.clone());
                if let Some(tab) = self.wanted.session.and_then(open) {
                    (self.tab, self.whose) = (tab, Tab::Theirs);
                }
                let (tab, agent) = (self.tab.clone(), self.wanted.agent.clone());
                match self.wanted.session {
                    Some(session) => self.talk.open_session(&tab, session).await?,
                    None => self.talk.open_tab(&tab, self.wanted.workspace.as_str(), agent.as_deref()).await?,
                }
            }
            Heard::Session(session) if session.tab.as_ref() == Some(&self.tab) => self.session = Some(session.session),
            Heard::Workspace(workspace) => self.talk.know(workspace),
            Heard::Refused(refused) if refused.tab.as_ref().is_none_or(|tab| *tab == self.tab) => {
                return Err(self.refused(refused));
            }
            Heard::Events { tab, events } if tab == self.tab => {
                if !std::mem::replace(&mut self.asked, true) {
                    self.talk.prompt(&self.tab, &self.name, &self.wanted.prompt).await?;
                }
                for raw in events {
                    if let Some(ended) = self.event(&raw).await? {
                        return Ok(Some(ended));
                    }
                }
            }
            Heard::Session(_) | Heard::Refused(_) | Heard::Events { .. } | Heard::Nothing => {}
        }
        Ok(None)
    }

    async fn event(&mut self, raw: &RawValue) -> Result<Option<Ended>, Failure> {
        let Ok(event) = serde_json::from_str::<Event>(raw.get()) else {
            tracing::debug!("an event of another version is passed over");
            return Ok(None);
        };
        if let Body::PromptQueued { name, .. } = &event.body
            && name.as_str() == self.name
        {
            self.turn = event.turn;
        }
        // What was said before, or in other turns of the session, is not this turn's answer.
        let Some(turn) = self.turn.filter(|turn| event.turn.is_none_or(|of| of == *turn)) else { return Ok(None) };
        self.screen.event(raw);
        match event.body {
            Body::ApprovalAsked { approval } => {
                self.screen.end_line();
                if let Next::Nobody(approval) = self.questions.add(approval) {
                    self.screen.warn("the agent asks for consent, and there is no terminal to ask on: denied");
                    self.talk.decide(&self.tab, &approval, switchboard_types::Decision::Deny).await?;
                }
            }
            Body::ApprovalResolved { approval, .. } => {
                if self.questions.settled(&approval) {
                    self.screen.note("[answered elsewhere]");
                }
            }
            Body::TurnEnded { outcome, detail } if event.turn == Some(turn) => {
                return Ok(Some(Ended { outcome, detail }));
            }
            Body::SessionClosed {} => {
                return Err(Failure::failed("the session was closed before the turn was over"));
            }
            body => self.screen.body(&body),
        }
        tracing::trace!(seq = %event.seq, "an event");
        Ok(None)
    }

    fn refused(&self, refused: Refused) -> Failure {
        let here = self.talk.workspaces.iter().find(|one| one.root == self.wanted.workspace.as_str());
        let exit = match refused.code {
            RefusedCode::WorkspaceUntrusted => Exit::Denied,
            RefusedCode::UnknownTab => Exit::NotFound,
            RefusedCode::AgentUnavailable => {
                let agent = self.wanted.agent.as_deref().unwrap_or_default();
                let known = here.is_some_and(|here| here.agents.iter().any(|one| one.name == *agent));
                let file = std::path::Path::new(self.wanted.workspace.as_str()).join(WORKSPACE_FILE);
                if !known && here.is_some_and(|here| !here.trusted) && file.exists() {
                    let message = format!(
                        "{}; {} does not count until you trust the folder: `switchboard trust`",
                        refused.message,
                        file.display()
                    );
                    return Failure::new(Exit::Denied, message);
                }
                if known { Exit::Unreachable } else { Exit::NotFound }
            }
            RefusedCode::TooLarge | RefusedCode::Other => Exit::Failed,
        };
        Failure::new(exit, refused.message)
    }

    /// Says how it ended, and closes what we opened.
    async fn finish(mut self, ended: Result<Ended, Failure>) -> Result<(), Failure> {
        self.screen.end_line();
        let gone = ended.as_ref().is_err_and(|failure| failure.exit == Exit::Unreachable);
        let leaves = ended.as_ref().is_err_and(|failure| failure.exit == Exit::Interrupted);
        if self.whose == Tab::Ours && !gone && !leaves {
            // The log stays in history whatever comes of this.
            let _ = timeout(CLOSING, self.close_tab()).await;
        }
        let session = self.session.or(self.wanted.session);
        let told = match &ended {
            Ok(Ended { outcome, detail }) => {
                let mut told = json!({ "outcome": outcome, "session": session });
                if let Some(detail) = detail {
                    told["detail"] = json!(detail);
                }
                told
            }
            Err(failure) => json!({
                "outcome": if leaves { Outcome::Cancelled } else { Outcome::Failed },
                "session": session,
                "detail": { "code": code_of_exit(failure.exit), "message": failure.message },
            }),
        };
        self.screen.outcome(&told);
        self.talk.close().await;
        let Ended { outcome, detail } = ended?;
        let message = |detail: Option<Detail>, otherwise: &str| detail.map_or(otherwise.to_owned(), |one| one.message);
        match outcome {
            Outcome::Completed => Ok(()),
            Outcome::Cancelled => Err(Failure::new(Exit::Interrupted, message(detail, "the turn was cancelled"))),
            Outcome::Failed => {
                let code = detail.as_ref().map_or("", |detail| detail.code.as_str());
                let exit = if code == code_of(RejectCode::AgentUnavailable) {
                    Exit::Unreachable
                } else if code == code_of(RejectCode::WorkspaceUntrusted) {
                    Exit::Denied
                } else {
                    Exit::Failed
                };
                Err(Failure::new(exit, message(detail, "the turn has failed")))
            }
        }
    }

    async fn close_tab(&mut self) -> Result<(), Failure> {
        if !self.asked {
            return Ok(());
        }
        self.talk.close_tab(&self.tab).await?;
        loop {
            if let Heard::Events { tab, events } = self.talk.hear().await?
                && tab == self.tab
            {
                let closed = |raw: &RawValue| {
                    serde_json::from_str::<Event>(raw.get()).is_ok_and(|event| event.body == Body::SessionClosed {})
                };
                if events.iter().any(|raw| closed(raw)) {
                    return Ok(());
                }
            }
        }
    }
}

fn code_of_exit(exit: Exit) -> &'static str {
    match exit {
        Exit::Failed => "failed",
        Exit::Usage => "usage",
        Exit::NotFound => "not_found",
        Exit::Denied => "denied",
        Exit::Unreachable => "unreachable",
        Exit::Interrupted => "interrupted",
    }
}
