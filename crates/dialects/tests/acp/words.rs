//! Words and asks as the JSON of transcripts. `testdata/README.md` says what it looks like.

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_types::agent::{Answer, Telling};
use switchboard_types::{
    AgentSession, ApprovalId, Ask, Cut, Errand, ErrandCode, ErrandFailure, ErrandName, ErrandResult, ExecutionId, Exit,
    OptionId, Past, Prompt, Resolution, SessionId, TerminalWish, TurnName, Word, WorkspaceRoot,
};

/// A word as JSON; what is absent in it is left out.
pub(crate) fn spoken(word: &Word) -> Value {
    let mut value = bare(word);
    if let Some(session) = word.session() {
        value["session"] = json!(session);
    }
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, value| !value.is_null());
    }
    value
}

fn bare(word: &Word) -> Value {
    match word {
        Word::SessionOpened { agent_session, memory, .. } => {
            json!({"word":"sessionOpened","agentSession":agent_session,"memory":memory})
        }
        Word::SignInNeeded { message, methods, .. } => {
            json!({"word":"signInNeeded","message":message,"methods":methods})
        }
        Word::OpenFailed { message, .. } => json!({"word":"openFailed","message":message}),
        Word::Text { name, text, .. } => json!({"word":"text","name":name,"text":text}),
        Word::Thought { name, text, .. } => json!({"word":"thought","name":name,"text":text}),
        Word::Code { name, text, .. } => json!({"word":"code","name":name,"text":text}),
        Word::Echo { text, .. } => json!({"word":"echo","text":text}),
        Word::Log { level, message, .. } => json!({"word":"log","level":level,"message":message}),
        Word::Title { title, .. } => json!({"word":"title","title":title}),
        Word::Commands { commands, .. } => json!({"word":"commands","commands":commands}),
        Word::Options { options, .. } => json!({"word":"options","options":options}),
        Word::Usage { used, size, cost, .. } => json!({"word":"usage","used":used,"size":size,"cost":cost}),
        Word::TurnUsed { tokens, cost, .. } => json!({"word":"turnUsed","tokens":tokens,"cost":cost}),
        Word::OwnToolCall { call, told, .. } => {
            json!({"word":"ownToolCall","call":call,"told":if *told == Telling::First { "first" } else { "again" }})
        }
        Word::Errand { errand, what, .. } => json!({"word":"errand","errand":errand,"what":asked_for(what)}),
        Word::ErrandDropped { errand, .. } => json!({"word":"errandDropped","errand":errand}),
        Word::Introduced { about } => json!({
            "word":"introduced","name":about.name,"version":about.version,"protocol":about.protocol,
            "abilities":about.abilities,"signIn":about.sign_in,
        }),
        Word::Plan { entries, .. } => json!({"word":"plan","entries":entries}),
        Word::Status { message, progress, .. } => json!({"word":"status","message":message,"progress":progress}),
        Word::TurnDone { name, outcome, detail, .. } => {
            json!({"word":"turnDone","name":name,"outcome":outcome,"detail":detail})
        }
        Word::TurnFailed { message, .. } => json!({"word":"turnFailed","message":message}),
        Word::ToolCall { call, tool, parameters, .. } => {
            json!({"word":"toolCall","call":call,"tool":tool,"parameters":parameters})
        }
        Word::ApprovalWanted { approval, .. } => json!({"word":"approvalWanted","approval":approval}),
        Word::SessionEnded { reason, .. } => json!({"word":"sessionEnded","reason":reason}),
        Word::Sourced { .. }
        | Word::PromptedElsewhere { .. }
        | Word::PromptTaken { .. }
        | Word::ApprovalSettled { .. }
        | Word::Connection { .. }
        | Word::Gap { .. }
        | Word::Sessions { .. }
        | Word::Replied { .. } => json!({"word":"notOfThisDialect"}),
        Word::Unknown { name, raw, .. } => json!({"word":"unknown","name":name,"raw":raw}),
        Word::Trouble { message } => json!({"word":"trouble","message":message}),
    }
}

fn asked_for(what: &Errand) -> Value {
    match what {
        Errand::Read { path, line, limit } => json!({"read":path,"line":line,"limit":limit}),
        Errand::Write { path, content } => json!({"write":path,"content":content}),
        Errand::Run(run) => json!({
            "run":run.program,"args":run.args,"env":run.env,"cwd":run.cwd,"outputLimit":run.output_limit,
        }),
        Errand::Tool { .. } => panic!("the dialect has no word for this: {what:?}"),
        Errand::Terminal { terminal, wish } => {
            let wish = match wish {
                TerminalWish::Output => "output",
                TerminalWish::Wait => "wait",
                TerminalWish::Kill => "kill",
                TerminalWish::Release => "release",
            };
            json!({"terminal":terminal,"wish":wish})
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", deny_unknown_fields)]
enum Asking {
    OpenSession { session: SessionId, cwd: WorkspaceRoot, resume: Option<AgentSession> },
    Prompt { session: SessionId, name: TurnName, prompt: Prompt, recap: Option<String> },
    Cancel { session: SessionId, name: TurnName },
    CloseSession { session: SessionId },
    ApprovalAnswer { session: SessionId, approval: ApprovalId, resolution: Resolution, option: Option<String> },
    ApprovalWithdrawn { session: SessionId, approval: ApprovalId },
    ErrandDone { session: SessionId, errand: ErrandName, done: Done },
    SetOption { session: SessionId, option: OptionId, value: String },
    SignIn { session: SessionId, method: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Done {
    Read { content: String },
    Written {},
    Running { terminal: ExecutionId },
    Output { text: String, code: Option<i32>, signal: Option<String> },
    Exited { code: Option<i32>, signal: Option<String> },
    Killed {},
    Released {},
    NotFound {},
    Denied { message: String },
}

/// An ask from its JSON.
pub(crate) fn asked(from: &Value) -> Ask {
    match Asking::deserialize(from).unwrap_or_else(|error| panic!("{from}: {error}")) {
        Asking::OpenSession { session, cwd, resume } => {
            let past = if resume.is_some() { Past::Spoken } else { Past::Blank };
            Ask::OpenSession { session, cwd, resume, past, elsewhere: None }
        }
        Asking::Prompt { session, name, prompt, recap } => Ask::Prompt { session, name, prompt, recap },
        Asking::Cancel { session, name } => Ask::Cancel { session, name },
        Asking::CloseSession { session } => Ask::CloseSession { session },
        Asking::ApprovalAnswer { session, approval, resolution, option } => {
            Ask::ApprovalAnswer { session, approval, answer: Answer::Decided { resolution, option } }
        }
        Asking::ApprovalWithdrawn { session, approval } => {
            let answer = Answer::Withdrawn { resolution: Resolution::Deny };
            Ask::ApprovalAnswer { session, approval, answer }
        }
        Asking::ErrandDone { session, errand, done } => Ask::ErrandDone { session, errand, result: result(done) },
        Asking::SetOption { session, option, value } => Ask::SetOption { session, option, value },
        Asking::SignIn { session, method } => Ask::SignIn { session, method },
    }
}

fn result(done: Done) -> Result<ErrandResult, ErrandFailure> {
    let exit = |code: Option<i32>, signal: Option<String>| code.map(Exit::Code).or(signal.map(Exit::Signal));
    Ok(match done {
        Done::Read { content } => ErrandResult::Read { content },
        Done::Written {} => ErrandResult::Written { bytes: 0 },
        Done::Running { terminal } => ErrandResult::Running { terminal },
        Done::Output { text, code, signal } => ErrandResult::Output { text, cut: Cut::Whole, exit: exit(code, signal) },
        Done::Exited { code, signal } => {
            ErrandResult::Exited(exit(code, signal).expect("an exit has a code or a signal"))
        }
        Done::Killed {} => ErrandResult::Killed,
        Done::Released {} => ErrandResult::Released,
        Done::NotFound {} => return Err(ErrandFailure::new(ErrandCode::NotFound, "no such file")),
        Done::Denied { message } => return Err(ErrandFailure::new(ErrandCode::Denied, message)),
    })
}
