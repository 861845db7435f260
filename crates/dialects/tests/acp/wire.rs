//! Both ends of one agent's pipe, without the pipe: what the agent says goes in, what it is told comes out.

use bytes::Bytes;
use serde_json::{Value, json};
use switchboard_dialects::agent::acp::AcpSettings;
use switchboard_dialects::agent::{Acp, AgentDialect};
use switchboard_types::agent::Answer;
use switchboard_types::{
    AgentSession, ApprovalId, Ask, ErrandFailure, ErrandName, ErrandResult, OptionId, Past, Prompt, Resolution,
    SessionId, Time, TurnName, Word, WorkspaceRoot,
};

pub(crate) const S: SessionId = SessionId(1);

/// The dialect with a pipe's two ends.
pub(crate) struct Wire {
    pub(crate) dialect: Acp,
    pub(crate) noise: Vec<String>,
}

impl Wire {
    /// A process that has just started; its greeting has gone out.
    pub(crate) fn new() -> Self {
        let settings = AcpSettings::new("someone", &["agent".to_owned()], "1.2.3");
        let mut wire = Self { dialect: Acp::new(settings), noise: Vec::new() };
        wire.dialect.begin(Time(0), &mut Vec::new());
        wire
    }

    /// A process that has answered the greeting with these capabilities.
    pub(crate) fn greeted(capabilities: Value) -> Self {
        let mut wire = Self::new();
        wire.says(json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":capabilities}}));
        wire
    }

    /// A process with session "s" open.
    pub(crate) fn open() -> Self {
        Self::open_with(json!({}), json!({}))
    }

    /// A process with session "s" open, whose agent has these capabilities and says this besides.
    pub(crate) fn open_with(capabilities: Value, besides: Value) -> Self {
        let mut wire = Self::greeted(capabilities);
        let asked = wire.opens(S, None);
        let mut result = besides;
        result["sessionId"] = json!("s");
        wire.answers(&asked[0], result);
        wire
    }

    /// A process with session "s" open and a prompt "m1" under way; its request comes too.
    pub(crate) fn prompted() -> (Self, Value) {
        let mut wire = Self::open();
        let asked = wire.prompts("m1", "hi");
        (wire, asked)
    }

    /// The agent says something.
    pub(crate) fn says(&mut self, message: Value) -> Vec<Word> {
        self.says_text(&message.to_string())
    }

    pub(crate) fn says_text(&mut self, text: &str) -> Vec<Word> {
        let mut said = Vec::new();
        if let Err(noise) = self.dialect.read(Time(0), &Bytes::copy_from_slice(text.as_bytes()), &mut said) {
            self.noise.push(noise.reason);
        }
        said
    }

    /// The agent says something of session "s".
    pub(crate) fn updates(&mut self, update: Value) -> Vec<Word> {
        self.says(json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":update}}))
    }

    /// The agent answers a request of ours.
    pub(crate) fn answers(&mut self, request: &Value, result: Value) -> Vec<Word> {
        self.says(json!({"jsonrpc":"2.0","id":request["id"],"result":result}))
    }

    /// The agent refuses a request of ours.
    pub(crate) fn refuses(&mut self, request: &Value, code: i64, message: &str) -> Vec<Word> {
        self.says(json!({"jsonrpc":"2.0","id":request["id"],"error":{"code":code,"message":message}}))
    }

    /// The agent asks something of session "s".
    pub(crate) fn asks(&mut self, id: Value, method: &str, params: Value) -> Vec<Word> {
        let mut params = params;
        params["sessionId"] = json!("s");
        self.says(json!({"jsonrpc":"2.0","id":id,"method":method,"params":params}))
    }

    /// What goes to the agent now without an ask.
    pub(crate) fn owed(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        self.dialect.owed(&mut messages);
        values(messages)
    }

    /// The host asks something.
    pub(crate) fn ask(&mut self, ask: Ask) -> Vec<Value> {
        let mut messages = Vec::new();
        self.dialect.ask(Time(0), ask, &mut messages);
        values(messages)
    }

    /// What the dialect itself answers to an ask.
    pub(crate) fn unsaid(&mut self) -> Vec<Word> {
        let mut said = Vec::new();
        self.dialect.speak_for(&mut said);
        said
    }

    pub(crate) fn opens(&mut self, session: SessionId, resume: Option<&str>) -> Vec<Value> {
        let resume = resume.map(AgentSession::from);
        let past = if resume.is_some() { Past::Spoken } else { Past::Blank };
        self.ask(Ask::OpenSession { session, cwd: WorkspaceRoot::from("/w"), resume, past, elsewhere: None })
    }

    pub(crate) fn prompts(&mut self, name: &str, text: &str) -> Value {
        let prompt = Prompt { text: text.to_owned(), context: Vec::new() };
        let asked = self.ask(Ask::Prompt { session: S, name: TurnName::from(name), prompt, recap: None });
        asked.into_iter().next().unwrap_or_default()
    }

    pub(crate) fn cancels(&mut self, name: &str) -> Vec<Value> {
        self.ask(Ask::Cancel { session: S, name: TurnName::from(name) })
    }

    pub(crate) fn decides(
        &mut self,
        approval: &ApprovalId,
        resolution: Resolution,
        option: Option<&str>,
    ) -> Vec<Value> {
        let answer = Answer::Decided { resolution, option: option.map(str::to_owned) };
        self.ask(Ask::ApprovalAnswer { session: S, approval: approval.clone(), answer })
    }

    pub(crate) fn does(&mut self, errand: &ErrandName, result: Result<ErrandResult, ErrandFailure>) -> Vec<Value> {
        self.ask(Ask::ErrandDone { session: S, errand: errand.clone(), result })
    }

    pub(crate) fn sets(&mut self, option: &str, value: &str) -> Vec<Value> {
        let option = OptionId::from(option);
        self.ask(Ask::SetOption { session: S, option, value: value.to_owned() })
    }
}

/// Messages as JSON; every one must be a JSON-RPC 2.0 object on one line.
pub(crate) fn values(messages: Vec<Vec<u8>>) -> Vec<Value> {
    let value = |message: Vec<u8>| {
        assert!(!message.contains(&b'\n'));
        let value: Value = serde_json::from_slice(&message).unwrap();
        assert_eq!(value["jsonrpc"], "2.0");
        value
    };
    messages.into_iter().map(value).collect()
}

/// The only question among the words.
pub(crate) fn question(words: &[Word]) -> switchboard_types::Approval {
    let questions = words.iter().filter_map(|word| match word {
        Word::ApprovalWanted { approval, .. } => Some(approval.clone()),
        _ => None,
    });
    let [only] = <[_; 1]>::try_from(questions.collect::<Vec<_>>()).unwrap();
    only
}

/// The only errand among the words.
pub(crate) fn errand(words: &[Word]) -> (ErrandName, switchboard_types::Errand) {
    let errands = words.iter().filter_map(|word| match word {
        Word::Errand { errand, what, .. } => Some((errand.clone(), what.clone())),
        _ => None,
    });
    let [only] = <[_; 1]>::try_from(errands.collect::<Vec<_>>()).unwrap();
    only
}
