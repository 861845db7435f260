//! Tools that views lend: taken while the link lives, called through it, gone with it. Never calls one that was not
//! allowed and recorded first.

use std::collections::BTreeSet;

use serde_json::Value;
use switchboard_types::limits::{MAX_DEFINITION_BYTES, MAX_ID_BYTES, MAX_LENT_TOOLS};
use switchboard_types::{
    Effect, Errand, ErrandCode, ErrandFailure, ErrandId, ErrandOrder, ExecutionEnd, LinkId, Provider, RequestNo,
    SessionId, Time, Told, Tool, ToolCode, ToolDefinition, ToolFailure, ToolName,
};

use super::Host;
use super::calls::not_ready;
use crate::input::Output;
use crate::open::{CallNo, ErrandStage};

impl Host {
    /// A view lends tools: all of them are taken, or none.
    pub(super) fn lend_tools(&mut self, link: LinkId, request: RequestNo, tools: Vec<(ToolDefinition, Effect)>) {
        let result = self.lendable(link, &tools).inspect(|_| {
            for (definition, effect) in tools {
                self.registry.lend(Tool { definition, effect, provider: Provider::View(link) });
            }
        });
        self.tell(link, Told::Lent { request, result });
    }

    fn lendable(&self, link: LinkId, tools: &[(ToolDefinition, Effect)]) -> Result<Vec<ToolName>, ToolFailure> {
        if !self.registry.is_ready() {
            return Err(not_ready());
        }
        let wrong = |message: String| Err(ToolFailure::new(ToolCode::ValidationError, message));
        if self.registry.lent_by(link) + tools.len() > MAX_LENT_TOOLS {
            return wrong(format!("one link lends at most {MAX_LENT_TOOLS} tools"));
        }
        let mut names = BTreeSet::new();
        for (definition, _) in tools {
            let name = definition.name();
            if name.as_str().is_empty() || name.as_str().len() > MAX_ID_BYTES {
                return wrong(format!("a tool's name has 1 to {MAX_ID_BYTES} bytes; `{}` has not", short(&name)));
            }
            if self.registry.get(&name).is_some() {
                return wrong(format!("there is a tool named `{name}` already; choose another name"));
            }
            if let ToolDefinition::Function { function } = definition
                && !function.parameters.is_object()
            {
                return wrong(format!("the parameters of `{name}` must be a JSON Schema, an object"));
            }
            if serde_json::to_vec(definition).map_or(usize::MAX, |text| text.len()) > MAX_DEFINITION_BYTES {
                return wrong(format!("the definition of `{name}` has more than {MAX_DEFINITION_BYTES} bytes"));
            }
            if !names.insert(name.clone()) {
                return wrong(format!("`{name}` is in the request twice"));
            }
        }
        Ok(tools.iter().map(|(definition, _)| definition.name()).collect())
    }

    /// The link is gone, its tools with it, and nobody will answer calls of them.
    pub(super) fn take_tools_back(&mut self, now: Time, link: LinkId) {
        self.registry.take_back(link);
        let failure = ErrandFailure::new(ErrandCode::Failed, "the view that lends this tool is gone");
        self.stop_calls(now, &failure, |call| call.tool.provider == Provider::View(link));
    }

    /// Has a recorded call of a lent tool carried out by its lender; false if the tool is the host's.
    pub(super) fn lend_out(&mut self, id: SessionId, no: CallNo, errand: ErrandId) -> bool {
        let Some(call) = self.calls.open.get(&no) else { return false };
        let Provider::View(link) = call.tool.provider else { return false };
        let tool = call.tool.name();
        let session = self.sessions.get_mut(&id);
        let Some(open) = session.and_then(|session| session.errands.get_mut(&errand)) else { return false };
        open.stage = ErrandStage::Lent;
        let Some(Errand::Tool { parameters, .. }) = open.what.take() else { return false };
        // The runner has only looked at the parameters.
        self.outputs.push_back(Output::Errand(ErrandOrder::Drop { errand }));
        self.when_durable(id, Output::Tell { link, told: Told::LentCall { call: no.0, tool, parameters } });
        true
    }

    /// A lender answers. An answer to a call that it was not asked, or that is over, changes nothing.
    pub(super) fn lent_result(&mut self, now: Time, link: LinkId, call: u64, result: Result<Value, ToolFailure>) {
        let no = CallNo(call);
        let Some(call) = self.calls.open.get(&no) else { return };
        let Some(session) = self.sessions.get(&call.row.session) else { return };
        let asked = call.errand.and_then(|errand| session.errands.get(&errand));
        let is_lent = asked.is_some_and(|open| matches!(open.stage, ErrandStage::Lent));
        // It leaves when its execution is on the disk, which comes right after its start.
        let has_left = call.started.is_some_and(|(_, at)| session.durable > at);
        if call.tool.provider == Provider::View(link) && is_lent && has_left {
            self.end_lent(now, no, result.map_err(as_lender));
        }
    }

    pub(super) fn end_lent(&mut self, now: Time, no: CallNo, result: Result<Value, ToolFailure>) {
        let Some(call) = self.calls.open.get(&no) else { return };
        let (id, errand, execution) = (call.row.session, call.errand, call.execution.clone());
        if let Some(errand) = errand {
            self.forget_errand(id, errand);
        }
        let end = match &result {
            Ok(_) => ExecutionEnd::Returned {},
            Err(failure) => ExecutionEnd::Failed { message: failure.message.clone() },
        };
        if let Some(execution) = execution {
            self.execution_ended(now, id, &execution, end);
        }
        self.end_call(now, no, result);
    }
}

/// A lender may say why it failed, but not in the name of the host or of a person.
fn as_lender(failure: ToolFailure) -> ToolFailure {
    let code = match failure.code {
        ToolCode::ValidationError | ToolCode::Timeout | ToolCode::Cancelled => failure.code,
        ToolCode::ToolNotFound
        | ToolCode::ExecutionError
        | ToolCode::Denied
        | ToolCode::WorkspaceUntrusted
        | ToolCode::RegistryNotReady
        | ToolCode::UnknownMessageType => ToolCode::ExecutionError,
    };
    ToolFailure { code, ..failure }
}

fn short(name: &ToolName) -> String {
    name.as_str().chars().take(MAX_ID_BYTES).collect()
}
