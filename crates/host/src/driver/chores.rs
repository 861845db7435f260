//! Chores of views, carried out off the host's task.

use switchboard_core::Input;
use switchboard_types::{Chore, LinkId, Reject, RejectCode, RequestNo};

use super::Driver;

impl Driver {
    pub(super) fn chore(&mut self, link: LinkId, request: RequestNo, what: Chore) {
        let what = match what {
            Chore::Library(_) => "the library",
            Chore::Settings(_) => "settings",
        };
        let message = format!("this host has nobody for {what}");
        let result = Err(Reject::new(RejectCode::Internal, message));
        self.host.handle(self.clock.now(), Input::ChoreDone { link, request, result });
    }
}
