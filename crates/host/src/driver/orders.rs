//! What the core orders for errands, on its way to the runner, held to what the workspace's own file asks for. That can only
//! be stricter than what holds for the whole host, which the core knows.

use switchboard_core::{Input, NetworkFor};
use switchboard_types::{
    Containment, Effect, Errand, ErrandCode, ErrandFailure, ErrandNews, ErrandOrder, Network, WorkspaceRoot,
};

use super::Driver;
use crate::config::HoldingMode;

impl Driver {
    pub(super) fn order(&mut self, order: ErrandOrder) {
        let order = match order {
            ErrandOrder::Prepare { errand, ref root, ref what, .. } if self.lacks_walls(root, what) => {
                let message = "the configuration of this workspace wants commands to be held in, and nothing here does \
                               that; `switchboard doctor` says what to do";
                let result = Err(ErrandFailure::new(ErrandCode::Denied, message));
                return self.host.handle(self.clock.now(), Input::Errand(ErrandNews::Prepared { errand, result }));
            }
            ErrandOrder::Perform { errand, session, execution, run_as, network } => {
                let root = self.host.agent_of(session).map(|(_, root)| root);
                let closed = root.is_some_and(|root| self.workspaces.holding(root).network == NetworkFor::None);
                let network = if closed { Network::Closed } else { network };
                ErrandOrder::Perform { errand, session, execution, run_as, network }
            }
            other => other,
        };
        // A host that stops has ended it, and all that it did.
        if let Some(runner) = &self.runner {
            runner.order(order);
        }
    }

    /// Whether it is a command, in a workspace that wants walls around it, and there are none.
    fn lacks_walls(&self, root: &WorkspaceRoot, what: &Errand) -> bool {
        let runs = match what {
            Errand::Run(_) => true,
            Errand::Tool { tool, .. } => tool.effect == Effect::Runs,
            Errand::Read { .. } | Errand::Write { .. } | Errand::Terminal { .. } => false,
        };
        let held = matches!(self.containment, Containment::Works { .. });
        runs && !held && self.workspaces.holding(root).mode == HoldingMode::Required
    }
}
