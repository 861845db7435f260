//! A view of the dialect `tools`, over a real WebSocket: it calls, lends and answers. Takes each message out of what it was told.

use serde_json::{Value, json};

use super::host::Host;
use super::view::View;

/// What a host says that does not know all its tools yet, to the letter.
const NOT_READY: (&str, &str) = ("REGISTRY_NOT_READY", "ToolRegistry not ready");

/// A view at the bench.
pub(crate) struct Bench {
    pub(crate) view: View,
    asked: u64,
}

impl Bench {
    /// Waits until the tools are known: a host that has just started says that they are not ready, and never only some.
    pub(crate) async fn at(host: &Host) -> Self {
        let view = View::connect_in("tools", host.address(), host.token()).await;
        let mut bench = Self { view, asked: 0 };
        loop {
            let answer = bench.told(json!({"type": "GET_TOOLS"})).await;
            match answer["error"]["code"].as_str() {
                None => return bench,
                Some(code) => assert_eq!((code, answer["error"]["message"].as_str().unwrap()), NOT_READY, "{answer}"),
            }
        }
    }

    /// The first message for which the condition holds, of those that were not taken yet.
    pub(crate) async fn take(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.view.told.iter().position(&holds) {
                return self.view.told.remove(at);
            }
            if self.view.next().await.is_none() {
                panic!("the link ended before {what}; told: {:#?}", self.view.told);
            }
        }
    }

    pub(crate) async fn take_type(&mut self, kind: &str) -> Value {
        self.take(kind, |message| message["type"] == kind).await
    }

    /// Asks with an id of our own; the id.
    pub(crate) async fn ask(&mut self, mut message: Value) -> u64 {
        self.asked += 1;
        message["requestId"] = json!(self.asked);
        self.view.send(message).await;
        self.asked
    }

    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        let mut answer = self.take(&format!("answer {id}"), |message| message["requestId"] == id).await;
        answer.as_object_mut().unwrap().remove("requestId");
        answer
    }

    pub(crate) async fn told(&mut self, message: Value) -> Value {
        let id = self.ask(message).await;
        self.answer(id).await
    }

    pub(crate) async fn begin(&mut self, tool: &str, parameters: Value) -> u64 {
        self.ask(json!({"type": "EXECUTE_TOOL", "request": {"toolName": tool, "parameters": parameters}})).await
    }

    /// What came of a call.
    pub(crate) async fn result(&mut self, id: u64) -> Value {
        let mut answer = self.answer(id).await;
        let result = answer.as_object_mut().unwrap().remove("result");
        result.unwrap_or_else(|| panic!("no result but {answer}"))
    }

    pub(crate) async fn call(&mut self, tool: &str, parameters: Value) -> Value {
        let id = self.begin(tool, parameters).await;
        self.result(id).await
    }

    /// Everything that was sent to this link so far has arrived when this has.
    pub(crate) async fn sync(&mut self) {
        self.told(json!({"type": "GET_TOOLS"})).await;
    }

    pub(crate) async fn names(&mut self) -> Vec<String> {
        let answer = self.told(json!({"type": "GET_TOOLS"})).await;
        let tools = answer["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Lends a function that takes anything, and only reads.
    pub(crate) async fn lend(&mut self, name: &str) {
        let function = json!({"name": name, "description": "For tests", "parameters": {"type": "object"}});
        let tools = json!([{"type": "function", "readOnly": true, "function": function}]);
        assert_eq!(self.told(json!({"type": "REGISTER_TOOLS", "tools": tools})).await, json!({"registered": [name]}));
    }

    /// The next call of a lent tool: its id and what goes in.
    pub(crate) async fn lent_call(&mut self) -> (Value, Value) {
        let call = self.take_type("TOOL_CALL").await;
        (call["callId"].clone(), call["parameters"].clone())
    }

    pub(crate) async fn give(&mut self, call: &Value, data: Value) {
        self.view.send(json!({"type": "TOOL_RESULT", "callId": call, "success": true, "data": data})).await;
    }

    pub(crate) async fn fail(&mut self, call: &Value, why: &str) {
        self.view.send(json!({"type": "TOOL_RESULT", "callId": call, "success": false, "error": why})).await;
    }

    pub(crate) async fn subscribe(&mut self) {
        assert_eq!(self.told(json!({"type": "SUBSCRIBE_APPROVALS"})).await, json!({"subscribed": true}));
    }

    pub(crate) async fn question(&mut self) -> Value {
        self.take_type("APPROVAL_REQUEST").await
    }

    pub(crate) async fn decide(&mut self, question: &Value, decision: &str) -> Value {
        let (kind, id) = ("APPROVAL_RESPONSE", &question["approvalId"]);
        self.told(json!({"type": kind, "approvalId": id, "decision": decision})).await
    }
}
