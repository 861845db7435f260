//! Settings: told to the host as they are, and changed for a view off the host's task. Reads and writes no file itself.

use switchboard_core::Input;
use switchboard_types::{Chore, ChoreAnswer, Command, LinkId, RequestNo, SettingsRequest};

use super::{Driver, StoreAnswer};
use crate::settings::{Clerk, OLLAMA_HOST};

/// Chores of settings that are carried out at once; the others wait, and each link has only so many.
pub(super) const MAX_AT_ONCE: usize = 4;

impl Driver {
    /// Tells the host all settings; it tells the views if they are others than before.
    pub(super) fn tell_settings(&mut self) {
        let settings = self.workspaces.settings(&self.tokens);
        self.host.handle(self.clock.now(), Input::Settings(Box::new(settings)));
    }

    /// A token on its way to where it is kept is in no record of the wire.
    pub(super) fn hide_token_of(&mut self, command: &Command) {
        if let Command::Chore { what: Chore::Settings(SettingsRequest::SaveToken { token, .. }), .. } = command {
            self.hide(vec![token.0.clone()]);
        }
    }

    pub(super) fn settings_chore(&mut self, link: LinkId, request: RequestNo, what: SettingsRequest) {
        let clerk = Clerk {
            file: self.workspaces.source().file.as_ref().map(|(file, _)| file.clone()),
            user: self.workspaces.user().clone(),
            trusted: self.workspaces.trusted(),
            secrets: self.agents.secrets().clone(),
            ollama_host: std::env::var(OLLAMA_HOST).ok(),
        };
        let (turns, watching, answer_to) = (self.settling.clone(), self.watching.clone(), self.answer_to.clone());
        tokio::spawn(async move {
            // It is never closed.
            let turn = turns.acquire_owned().await;
            let result = clerk.carry_out(what).await;
            drop(turn);
            // What was written is looked at before the next look is due.
            watching.send_modify(|wanted| wanted.asked += 1);
            let result = result.map(|answer| Box::new(ChoreAnswer::Settings(answer)));
            let done = Input::ChoreDone { link, request, result };
            // The driver is gone only when the host has stopped.
            let _ = answer_to.send(StoreAnswer::Found(Box::new(done))).await;
        });
    }
}
