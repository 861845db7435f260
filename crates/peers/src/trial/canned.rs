//! What is tried with an agent that does the same at every prompt: it reads, then asks whether it may edit. Scripts nothing.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::{CANCEL, Outcome, START, Stage, TURN, Trial, asked, ended, failed, passed};
use crate::host::memory_of;
use crate::view::{Answer, TAB};

impl Stage<'_> {
    /// An agent that does the same at every prompt: reads, then asks whether it may edit.
    pub(super) async fn tries_canned(&mut self, trial: Trial) -> Result<Outcome> {
        match trial {
            Trial::Start => {
                let began = Instant::now();
                self.view.say(json!({"type": "new-tab", "tabId": TAB, "agent": self.peer.name})).await?;
                let turn = self.view.turn("go", START).await?;
                self.megabytes = self.host.agents().into_iter().map(memory_of).sum();
                Ok(ended(&turn, "completed")
                    .map_or_else(failed, |()| passed(format!("{:.1} s", began.elapsed().as_secs_f64()))))
            }
            Trial::Tool => {
                let turn = self.view.turn("go", TURN).await?;
                let done = turn.tools.values().filter(|tool| tool["status"] == "completed").count();
                Ok(if done == 2 && turn.questions.len() == 1 {
                    passed(asked(&turn))
                } else {
                    failed(format!("{done} of 2"))
                })
            }
            Trial::Deny => {
                self.view.answer = Answer::Deny;
                let turn = self.view.turn("go", TURN).await?;
                self.view.answer = Answer::Allow;
                Ok(match ended(&turn, "completed") {
                    Err(why) => failed(why),
                    Ok(()) if turn.text.contains("prefer not") => passed("goes on, completed"),
                    Ok(()) => failed("does not know that it was denied"),
                })
            }
            Trial::Cancel => {
                let name = self.view.prompt("go").await?;
                self.view.until(TURN, |view| !view.read(&name).tools.is_empty()).await;
                self.view.say(json!({"type": "cancel", "tabId": TAB, "messageId": name})).await?;
                self.view.until(CANCEL, |view| view.read(&name).end.is_some()).await;
                Ok(ended(&self.view.read(&name), "cancelled").map_or_else(failed, |()| passed("")))
            }
            Trial::Crash => {
                let name = self.view.prompt("go").await?;
                self.view.until(TURN, |view| !view.read(&name).tools.is_empty()).await;
                self.kill_in(&name).await
            }
            Trial::Resume => {
                let before = self.view.shown.len();
                let turn = self.view.turn("go", START).await?;
                let way = self.way(before);
                Ok(ended(&turn, "completed").map_or_else(failed, |()| passed(way)))
            }
            Trial::Thought
            | Trial::Plan
            | Trial::Edit
            | Trial::Create
            | Trial::Command
            | Trial::Failure
            | Trial::End => Ok(Outcome::Skipped("it does the same at every prompt")),
        }
    }
}
