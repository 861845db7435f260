//! Chores: what the edges do for a view. The host counts them, and hands each one answer to whoever asked; it does none itself.

use switchboard_types::limits::MAX_OPEN_CHORES;
use switchboard_types::{Chore, ChoreAnswer, LinkId, Reject, RejectCode, RequestNo, SettingsState, Told};

use super::Host;
use crate::input::Output;

impl Host {
    /// A view wants something done.
    pub(super) fn chore_asked(&mut self, link_id: LinkId, request: RequestNo, what: Chore) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        let refusal = if link.chores.len() >= MAX_OPEN_CHORES {
            Some((RejectCode::TooLarge, format!("{MAX_OPEN_CHORES} chores are open already; wait for some of them")))
        } else if !link.chores.insert(request) {
            Some((RejectCode::Conflict, "a chore with this number is open; give each its own".to_owned()))
        } else {
            None
        };
        match refusal {
            Some((code, message)) => {
                self.tell(link_id, Told::ChoreDone { request, result: Err(Reject::new(code, message)) });
            }
            None => self.outputs.push_back(Output::Chore { link: link_id, request, what }),
        }
    }

    /// A chore goes on.
    pub(super) fn chore_news(&mut self, link: LinkId, request: RequestNo, (done, total): (u64, u64)) {
        if self.links.get(&link).is_some_and(|link| link.chores.contains(&request)) {
            self.tell(link, Told::ChoreNews { request, done, total });
        }
    }

    /// The one answer to a chore.
    pub(super) fn chore_done(&mut self, link_id: LinkId, request: RequestNo, result: Result<Box<ChoreAnswer>, Reject>) {
        if self.links.get_mut(&link_id).is_some_and(|link| link.chores.remove(&request)) {
            self.tell(link_id, Told::ChoreDone { request, result });
        }
    }

    /// The settings as they are; from now on every change follows.
    pub(super) fn watch_settings(&mut self, link_id: LinkId) {
        let Some(link) = self.links.get_mut(&link_id) else { return };
        link.settings = true;
        let settings = self.known_settings.clone();
        self.tell(link_id, Told::Settings(settings));
    }

    /// The edges have read the settings, at the start and after each change.
    pub(super) fn know_settings(&mut self, settings: SettingsState) {
        let settings = std::sync::Arc::new(settings);
        if settings == self.known_settings {
            return;
        }
        self.known_settings = settings.clone();
        let watching = self.links.iter().filter(|(_, link)| link.settings);
        for link in watching.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.tell(link, Told::Settings(settings.clone()));
        }
    }
}
