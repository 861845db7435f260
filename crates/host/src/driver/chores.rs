//! Chores of views, carried out off the host's task.

use switchboard_core::Input;
use switchboard_types::{Chore, LinkId, Reject, RejectCode, RequestNo};

use super::Driver;

impl Driver {
    pub(super) fn chore(&mut self, link: LinkId, request: RequestNo, what: Chore) {
        match what {
            Chore::Library(_) => {
                let result = Err(Reject::new(RejectCode::Internal, "this host has nobody for the library"));
                self.host.handle(self.clock.now(), Input::ChoreDone { link, request, result });
            }
            Chore::Settings(what) => self.settings_chore(link, request, what),
        }
    }
}
