// The messages between the page and the host. Generated from the Rust types by `cargo xtask codegen`: do not edit.

export const VERSION = "0.1.0";

/**
 * Where an agent works.
 */
export type AgentHome = "here" | "elsewhere";

/**
 * An agent that is configured.
 */
export type AgentInfo = {
/**
 * Its name.
 */
name: AgentName,
/**
 * Its kind, as the configuration calls it.
 */
kind: string,
/**
 * How many sessions share one process.
 */
process: ProcessPer,
/**
 * Where it works.
 */
home: AgentHome, };

/**
 * An agent's name in the configuration.
 */
export type AgentName = string;

/**
 * A well-known agent that could be configured.
 */
export type AgentOffer = {
/**
 * Its name in the configuration, once it is there.
 */
name: AgentName,
/**
 * Its name for people.
 */
title: string,
/**
 * How it would be started.
 */
command: string, };

/**
 * Something that a person may set of an agent.
 */
export type AgentOption = {
/**
 * Its name for programs.
 */
id: OptionId,
/**
 * Its name for people.
 */
name: string,
/**
 * What it is for.
 */
description?: string,
/**
 * What it is about: `mode`, `model`, `thought_level`, or what else the agent calls it.
 */
category?: string,
/**
 * The choice that holds now.
 */
value: string,
/**
 * The choices; a switch has `true` and `false`.
 */
choices: Array<OptionChoice>, };

/**
 * How the agent of a session is.
 */
export type AgentState = "none" | "starting" | "slow" | "ready" | "stalled" | "asleep" | "exited";

/**
 * A question that a person (or a rule) must answer before something runs.
 */
export type Approval = {
/**
 * Its name within the session.
 */
id: ApprovalId,
/**
 * What sort of thing would happen.
 */
kind: ApprovalKind,
/**
 * For people: what would happen.
 */
title: string,
/**
 * The command that would run.
 */
command?: string,
/**
 * Where it would run.
 */
cwd?: string,
/**
 * The file that would change.
 */
path?: string,
/**
 * How it would change.
 */
diff?: string,
/**
 * How bad it could be.
 */
severity: Severity,
/**
 * Why a person is asked, in plain words.
 */
reason: string,
/**
 * The tool call that it is about.
 */
call?: CallId,
/**
 * The answers that the agent itself offers; empty if ours are all there are.
 */
options?: Array<ApprovalOption>,
/**
 * SHA-256 over the exact bytes that are asked about, where the host itself would act.
 */
digest?: string,
/**
 * How the file would change, line by line.
 */
change?: FileDiff,
/**
 * The rule that an answer by rule would store; absent if none can be.
 */
rule?: RuleWhat,
/**
 * Whether the command may be edited before it is allowed.
 */
editable?: boolean,
/**
 * How the command would be held in.
 */
containment?: Containment,
/**
 * When it is over if nobody has answered.
 */
expires?: Time, };

/**
 * An approval's name, unique within its session.
 */
export type ApprovalId = string;

/**
 * What sort of thing an approval is about.
 */
export type ApprovalKind = "command" | "edit" | "tool";

/**
 * An answer that an agent offers.
 */
export type ApprovalOption = {
/**
 * The agent's name for it.
 */
id: string,
/**
 * For people.
 */
name: string,
/**
 * What it comes to.
 */
kind: OptionKind, };

/**
 * What an argument must be.
 */
export type ArgPattern = { "type": "is",
/**
 * The argument.
 */
arg: string, } | { "type": "any", } | { "type": "rest", };

/**
 * The content of an event. What belongs to a turn names it in the event, not here.
 */
export type Body = { "type": "sessionOpened",
/**
 * Which agent does the work.
 */
agent: AgentName,
/**
 * Where it works.
 */
workspace: WorkspaceRoot, } | { "type": "titleChanged",
/**
 * The new title.
 */
title: string,
/**
 * Whose it is.
 */
by?: TitleBy, } | { "type": "promptQueued",
/**
 * The view's name for the turn.
 */
name: TurnName,
/**
 * What was asked.
 */
prompt: Prompt,
/**
 * How many turns are ahead of it; 0 starts now.
 */
position: number, } | { "type": "turnStarted", } | { "type": "text",
/**
 * The piece; what came before is not repeated.
 */
text: Text, } | { "type": "thought",
/**
 * The piece; what came before is not repeated.
 */
text: Text, } | { "type": "code",
/**
 * The piece; what came before is not repeated.
 */
text: Text, } | { "type": "echo",
/**
 * The piece; what came before is not repeated.
 */
text: Text, } | { "type": "log",
/**
 * How much it matters.
 */
level: LogLevel,
/**
 * What it says.
 */
message: string, } | { "type": "plan",
/**
 * All entries, in order.
 */
entries: Array<PlanEntry>, } | { "type": "status",
/**
 * For a person to read.
 */
message: string,
/**
 * From 0 to 1, where it is known.
 */
progress?: number, } | { "type": "cancelAsked", } | { "type": "turnEnded",
/**
 * How it ended.
 */
outcome: Outcome,
/**
 * Why, where there is more to say.
 */
detail?: Detail, } | { "type": "toolCall",
/**
 * The call.
 */
call: ToolCall, } | { "type": "toolCallUpdate",
/**
 * What changed.
 */
call: ToolCall, } | { "type": "approvalAsked",
/**
 * The question.
 */
approval: Approval, } | { "type": "approvalResolved",
/**
 * Which question.
 */
approval: ApprovalId,
/**
 * The answer.
 */
resolution: Resolution,
/**
 * Which of the agent's own answers it was.
 */
option?: string,
/**
 * The command as the person edited it; it is judged anew.
 */
command?: string,
/**
 * The rule that was stored with the answer.
 */
rule?: RuleId, } | { "type": "policyChanged",
/**
 * All of it as it is now.
 */
policy: SessionPolicy, } | { "type": "executionStarted",
/**
 * What exactly.
 */
execution: Execution, } | { "type": "executionOutput",
/**
 * Which one.
 */
execution: ExecutionId,
/**
 * The piece; what came before is not repeated.
 */
text: string, } | { "type": "executionEnded",
/**
 * Which one.
 */
execution: ExecutionId,
/**
 * For people: what it was.
 */
title: string,
/**
 * How it ended.
 */
end: ExecutionEnd,
/**
 * The last of what a command wrote, for whoever did not follow it.
 */
output?: string, } | { "type": "commandsChanged",
/**
 * All of them.
 */
commands: Array<SlashCommand>, } | { "type": "optionsChanged",
/**
 * All of them.
 */
options: Array<AgentOption>, } | { "type": "usage",
/**
 * Tokens in use.
 */
used: number,
/**
 * Tokens that fit.
 */
size: number,
/**
 * What the session has cost so far.
 */
cost?: Cost, } | { "type": "turnUsed",
/**
 * Tokens of this turn.
 */
tokens: Tokens,
/**
 * What it has cost.
 */
cost?: Cost, } | { "type": "signInNeeded",
/**
 * What it says.
 */
message: string,
/**
 * The ways to do so.
 */
methods: Array<SignInMethod>, } | { "type": "agentSessionRestored",
/**
 * What it still knows.
 */
memory: Memory, } | { "type": "agentExited",
/**
 * Why, and what to do.
 */
message: string, } | { "type": "agentRestarted", } | { "type": "promptTaken", } | { "type": "sourceGap",
/**
 * The first that is lost, by its number there.
 */
from?: number,
/**
 * The last that is lost.
 */
to?: number,
/**
 * For people: what that means.
 */
message: string, } | { "type": "sessionClosed", } | { "type": "sessionReopened", } | { "type": "unknown",
/**
 * What the peer calls it.
 */
name: string,
/**
 * The JSON text as it came.
 */
raw: string, };

/**
 * A tool call's name; the agent chose it, we only carry it.
 */
export type CallId = string;

/**
 * How the way to an agent elsewhere is.
 */
export type Connection = {
/**
 * In one word.
 */
status: ConnectionStatus,
/**
 * How often it was tried again since it last stood.
 */
retries: number,
/**
 * Why it does not stand, for a person.
 */
lastError?: string,
/**
 * Whether events were lost on the way, or may have been; until the stream has gone on for a while.
 */
gap: boolean, };

/**
 * How the way to an agent is, in one word.
 */
export type ConnectionStatus = "connecting" | "connected" | "error";

/**
 * How commands are held in by the operating system.
 */
export type Containment = { "type": "works",
/**
 * By what: `bubblewrap 0.8.0`.
 */
by: string, } | { "type": "none",
/**
 * Why, and what to do about it.
 */
reason: string, } | { "type": "missing",
/**
 * Why, and what to do about it.
 */
reason: string, };

/**
 * One file or excerpt that goes with a prompt.
 */
export type ContextItem = {
/**
 * Where it comes from.
 */
path?: string,
/**
 * What it says.
 */
content?: string,
/**
 * A picture, instead of words.
 */
image?: Image, };

/**
 * An amount of money.
 */
export type Cost = {
/**
 * How much.
 */
amount: number,
/**
 * Of what: `USD`, …
 */
currency: string, };

/**
 * A sum of money.
 */
export type CostSum = {
/**
 * Millionths of the currency.
 */
micros: number,
/**
 * The currency, as the agent names it.
 */
currency: string, };

/**
 * What a person can answer.
 */
export type Decision = "allow_once" | "allow_session" | "allow_rule" | "deny" | "deny_stop";

/**
 * Why something ended as it did.
 */
export type Detail = {
/**
 * For programs: `agent_exited`, `agent_error`, `agent_unavailable`, `host_restarted`, …
 */
code: string,
/**
 * For people: what happened and what to do.
 */
message: string, };

/**
 * A part of a file that changes.
 */
export type DiffHunk = {
/**
 * Its first line in the file as it was, counted from 1.
 */
oldStart: number,
/**
 * Its first line in the file as it would be.
 */
newStart: number,
/**
 * Its lines.
 */
lines: Array<DiffLine>, };

/**
 * A line of it, without its end.
 */
export type DiffLine = { "type": "same",
/**
 * What it says.
 */
text: string, } | { "type": "added",
/**
 * What it says.
 */
text: string, } | { "type": "removed",
/**
 * What it said.
 */
text: string, };

/**
 * A numbered fact in a session's log, as JSON.
 */
export type Event = {
/**
 * Its place in the log.
 */
seq: Seq,
/**
 * When the host took note of it, in milliseconds since 1970.
 */
time: Time,
/**
 * The turn that it belongs to.
 */
turn?: TurnId,
/**
 * What it says.
 */
body: Body, };

/**
 * Something that was allowed, exactly as it was shown.
 */
export type Execution = {
/**
 * Its name.
 */
id: ExecutionId,
/**
 * Who allowed it; absent if it was allowed for the whole session before.
 */
approval?: ApprovalId,
/**
 * What sort of thing it is.
 */
kind: ApprovalKind,
/**
 * For people: what happens.
 */
title: string,
/**
 * The command that runs.
 */
command?: string,
/**
 * Where it runs.
 */
cwd?: string,
/**
 * The file that changes.
 */
path?: string,
/**
 * How it changes.
 */
diff?: string,
/**
 * SHA-256 over the exact bytes: what runs and where, or the file before and after.
 */
digest: string,
/**
 * Why nobody was asked, in plain words; absent if somebody was.
 */
unasked?: string,
/**
 * How it is held in; absent where there is nothing to hold in.
 */
containment?: Containment,
/**
 * The call of a tool that it is done for.
 */
call?: CallId, };

/**
 * How an execution ended.
 */
export type ExecutionEnd = { "type": "exited",
/**
 * Its exit code.
 */
code: number, } | { "type": "signalled",
/**
 * The signal's name.
 */
signal: string, } | { "type": "returned", } | { "type": "written",
/**
 * Its bytes now.
 */
bytes: number, } | { "type": "failed",
/**
 * Why.
 */
message: string, } | { "type": "unknown", };

/**
 * Something that was allowed to run or write, named by its place in the log. A command's is also its terminal's name.
 */
export type ExecutionId = string;

/**
 * In which form a session is exported.
 */
export type ExportForm = "log" | "conversation";

/**
 * How a file would change.
 */
export type FileDiff = {
/**
 * The parts that change, with some lines around them.
 */
hunks: Array<DiffHunk>,
/**
 * Lines that are new.
 */
added: number,
/**
 * Lines that are gone.
 */
removed: number,
/**
 * Lines that are left out here, since there are too many.
 */
leftOut: number, };

/**
 * A message that was found.
 */
export type FoundMessage = {
/**
 * The life of the log that it stands in.
 */
epoch: string,
/**
 * Its first event.
 */
seq: Seq,
/**
 * Its turn.
 */
turn?: TurnId,
/**
 * Who said it.
 */
role: Role,
/**
 * When.
 */
time: Time,
/**
 * What stands around the first match, as plain text in pieces.
 */
snippet: Array<SnippetPiece>, };

/**
 * A session in which something was found.
 */
export type FoundSession = { session: SessionId, title: string, agent: AgentName, workspace: WorkspaceRoot,
/**
 * When a turn last began or ended.
 */
updatedMs: Time,
/**
 * The messages in it, in the order that was asked for.
 */
messages: Array<FoundMessage>, };

/**
 * What the page says to the host.
 */
export type FromView = { "type": "hello",
/**
 * The page's version.
 */
version: string,
/**
 * The tabs that it shows.
 */
seats: Array<Seat>, } | { "type": "openTab",
/**
 * The page's name for it.
 */
tab: TabId,
/**
 * Which agent; the workspace's default if absent.
 */
agent?: AgentName,
/**
 * An absolute path; the host's own workspace if absent.
 */
workspace?: string,
/**
 * A session that exists.
 */
session?: SessionId,
/**
 * The last event that was applied.
 */
seen?: Seen, } | { "type": "leaveTab",
/**
 * Which one.
 */
tab: TabId, } | { "type": "prompt",
/**
 * Where.
 */
tab: TabId,
/**
 * The page's name for the turn; one that was seen before is not run again, so sending it twice is safe.
 */
name: TurnName,
/**
 * The words.
 */
text: string,
/**
 * Files and excerpts that go with them.
 */
context?: Array<ContextItem>, } | { "type": "cancel",
/**
 * Where.
 */
tab: TabId,
/**
 * Which turn.
 */
name: TurnName, } | { "type": "closeTab",
/**
 * Which one.
 */
tab: TabId, } | { "type": "visibility",
/**
 * Whether it can be seen.
 */
visible: boolean, } | { "type": "decide",
/**
 * Where.
 */
tab: TabId,
/**
 * Which question.
 */
approval: ApprovalId,
/**
 * The answer.
 */
decision: Decision,
/**
 * The command as the person edited it.
 */
command?: string,
/**
 * Which of the agent's own answers, where it offers several of one sort.
 */
option?: string, } | { "type": "setPolicy",
/**
 * Whose agent.
 */
tab: TabId,
/**
 * What changes; the rest stays.
 */
change: PolicyChange, } | { "type": "watchRules", } | { "type": "removeRule",
/**
 * Which one.
 */
rule: RuleId, } | { "type": "setOption",
/**
 * Whose agent.
 */
tab: TabId,
/**
 * Which option.
 */
option: OptionId,
/**
 * The choice.
 */
value: string, } | { "type": "signIn",
/**
 * Whose agent.
 */
tab: TabId,
/**
 * Which method.
 */
method: string, } | { "type": "addAgent",
/**
 * Its name among a workspace's `offers`.
 */
name: AgentName, } | { "type": "restartAgent",
/**
 * Whose agent.
 */
tab: TabId, } | { "type": "trust",
/**
 * Its folder, an absolute path.
 */
workspace: string,
/**
 * Which of the two.
 */
trusted: boolean, } | { "type": "history",
/**
 * After this one; from the start if absent.
 */
before?: HistoryPlace,
/**
 * At most so many.
 */
limit?: number, } | { "type": "deleteSession",
/**
 * Comes back in the answer.
 */
request?: RequestNo,
/**
 * Which one.
 */
session: SessionId, } | { "type": "search",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * What is looked for.
 */
query: SearchQuery, } | { "type": "usage",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * One row for each of these.
 */
by: UsageBy,
/**
 * Only of this session.
 */
session?: SessionId,
/**
 * Only from then on.
 */
since?: Time, } | { "type": "upkeep",
/**
 * Comes back in the answer.
 */
request: RequestNo, } | { "type": "rebuild",
/**
 * Comes back in the answer.
 */
request: RequestNo, } | { "type": "watchSettings", } | { "type": "saveSettings",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * Those of this folder, an absolute path; the user's if absent.
 */
workspace?: string,
/**
 * The new ones.
 */
change: Settings,
/**
 * Those that are taken out although no value of theirs says so.
 */
unset?: Array<Unset>, } | { "type": "saveToken",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * Empty forgets it.
 */
token: WireSecret,
/**
 * Where it may be sent; the address of the settings if absent.
 */
baseUrl?: string, } | { "type": "testModels",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * Where; the address of the settings if absent.
 */
baseUrl?: string, } | { "type": "findServers",
/**
 * Comes back in the answer.
 */
request: RequestNo, } | { "type": "useModel",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * Where it is served.
 */
baseUrl: string,
/**
 * Which one.
 */
model: string, } | { "type": "renameSession",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * Which one.
 */
session: SessionId,
/**
 * The title, one line.
 */
title: string, } | { "type": "setSessionPolicy",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * Which one.
 */
session: SessionId,
/**
 * What changes; the rest stays.
 */
change: PolicyChange, } | { "type": "exportSession",
/**
 * Comes back in the answer.
 */
request: RequestNo,
/**
 * Which one.
 */
session: SessionId,
/**
 * In which form.
 */
form: ExportForm, } | { "type": "ping",
/**
 * Comes back in the answer.
 */
n: number, };

/**
 * A place in the list of all sessions.
 */
export type HistoryPlace = {
/**
 * When the session there was last used.
 */
updatedMs: Time,
/**
 * The session there.
 */
session: SessionId, };

/**
 * A picture that goes with a prompt.
 */
export type Image = {
/**
 * What sort of picture: `image/png`, …
 */
mime: string,
/**
 * Its bytes in Base64.
 */
data: string, };

/**
 * What upkeep did.
 */
export type Kept = {
/**
 * Sessions whose leftovers were taken out.
 */
sessions: number,
/**
 * Messages that belonged to no session.
 */
messages: number,
/**
 * Bytes on the disk before.
 */
bytesBefore: number,
/**
 * Bytes on the disk now.
 */
bytesAfter: number, };

/**
 * A place in a file.
 */
export type Location = {
/**
 * Which file.
 */
path: string,
/**
 * Which line, counted from 1.
 */
line?: number, };

/**
 * How much a line of a log matters.
 */
export type LogLevel = "info" | "warn" | "error" | "stderr";

/**
 * What an agent still knows of a session.
 */
export type Memory = "resumed" | "loaded" | "summarized";

/**
 * How a session's agent is meant to work.
 */
export type Mode = "agent" | "plan" | "ask" | "edit";

/**
 * A model server that was found.
 */
export type ModelServer = {
/**
 * Where it is.
 */
baseUrl: string,
/**
 * What it speaks.
 */
kind: ServerKind,
/**
 * What it has.
 */
models: Array<ServedModel>, };

/**
 * One choice of an option.
 */
export type OptionChoice = {
/**
 * For programs.
 */
value: string,
/**
 * For people.
 */
name: string,
/**
 * What it means.
 */
description?: string,
/**
 * The choices that it belongs with.
 */
group?: string, };

/**
 * A setting of an agent that a person may change while it works: its mode, its model, …
 */
export type OptionId = string;

/**
 * What an answer that an agent offers comes to.
 */
export type OptionKind = "allow_once" | "allow_always" | "reject_once" | "reject_always" | "other";

/**
 * How a turn ended.
 */
export type Outcome = "completed" | "cancelled" | "failed";

/**
 * Globs of files, in order; the last that matches decides.
 */
export type Patterns = Array<[string, Unasked]>;

/**
 * One step of a plan.
 */
export type PlanEntry = {
/**
 * What is to be done.
 */
content: string,
/**
 * How far it is.
 */
status: PlanStatus,
/**
 * How much it matters, as the agent says.
 */
priority?: string, };

/**
 * How far a step of a plan is.
 */
export type PlanStatus = "pending" | "in_progress" | "completed";

/**
 * A change of it; what is absent stays as it is.
 */
export type PolicyChange = {
/**
 * How its agent is meant to work.
 */
mode?: Mode,
/**
 * See [`SessionPolicy::auto_commands`].
 */
autoCommands?: boolean,
/**
 * See [`SessionPolicy::auto_edits`].
 */
autoEdits?: boolean,
/**
 * See [`SessionPolicy::patterns`]; an empty list goes back to those of the settings.
 */
patterns?: Patterns, };

/**
 * How many sessions share one process of an agent.
 */
export type ProcessPer = "session" | "shared";

/**
 * What a person asks of an agent.
 */
export type Prompt = {
/**
 * The words.
 */
text: string,
/**
 * Files and excerpts that go with them.
 */
context?: Array<ContextItem>, };

/**
 * What was derived anew.
 */
export type Rebuilt = {
/**
 * Sessions that were read.
 */
sessions: number,
/**
 * Messages that were derived.
 */
messages: number,
/**
 * Where the old ones are.
 */
backup: string, };

/**
 * What sort of refusal it is; each dialect has its own word for it.
 */
export type RejectCode = "bad_json" | "bad_message" | "unknown_type" | "unknown_tab" | "not_found" | "conflict" | "too_large" | "workspace_untrusted" | "agent_unavailable" | "internal";

/**
 * A view's number for something that it wants one answer to; the view chose it, we only carry it.
 */
export type RequestNo = number;

/**
 * How an approval came to its end.
 */
export type Resolution = "allow_once" | "allow_session" | "allow_rule" | "deny" | "deny_stop" | "expired";

/**
 * Whose words a message has.
 */
export type Role = "user" | "assistant" | "thought" | "tool";

/**
 * A stored decision for what matches it.
 */
export type Rule = {
/**
 * Its name.
 */
id: RuleId,
/**
 * Where it holds; everywhere if absent.
 */
workspace?: WorkspaceRoot,
/**
 * What it says.
 */
effect: RuleEffect,
/**
 * What it is about.
 */
what: RuleWhat,
/**
 * Since when.
 */
created: Time,
/**
 * How it came about, for people.
 */
origin: string, };

/**
 * What a rule says.
 */
export type RuleEffect = "allow" | "deny";

/**
 * A stored rule's name; never used again.
 */
export type RuleId = string;

/**
 * What a rule is about.
 */
export type RuleWhat = { "type": "command",
/**
 * The program's file, absolute and without links.
 */
program: string,
/**
 * Its arguments, one after the other.
 */
args: Array<ArgPattern>,
/**
 * The folder, absolute.
 */
cwd: string, } | { "type": "edit",
/**
 * A glob of paths from the workspace's folder.
 */
glob: string, } | { "type": "tool",
/**
 * Which one.
 */
tool: ToolName, };

/**
 * Which messages come first.
 */
export type SearchOrder = "newest" | "ranked";

/**
 * What is looked for. An empty text finds nothing.
 */
export type SearchQuery = {
/**
 * Words that must all be there; `"…"` is a phrase, `word*` a beginning. Every other sign means nothing. The last word
 * counts as a beginning, so that one can search while typing.
 */
text: string,
/**
 * Which come first.
 */
order: SearchOrder,
/**
 * Only of this agent.
 */
agent?: AgentName,
/**
 * Only of this workspace.
 */
workspace?: WorkspaceRoot,
/**
 * Only of this session.
 */
session?: SessionId,
/**
 * Only what this side said.
 */
role?: Role,
/**
 * Only of turns that changed or read a file whose path contains this.
 */
path?: string,
/**
 * Only from then on.
 */
since?: Time,
/**
 * Only before then.
 */
until?: Time,
/**
 * At most so many messages; 0 is [`crate::limits::DEFAULT_FOUND`].
 */
limit: number, };

/**
 * A tab that the page shows.
 */
export type Seat = {
/**
 * Its name.
 */
tab: TabId,
/**
 * The last event that was applied.
 */
seen: Seen, };

/**
 * The last event that was applied of a log.
 */
export type Seen = {
/**
 * The life of the log.
 */
epoch: string,
/**
 * Its place in it; 0 is none.
 */
seq: Seq, };

/**
 * An event's place in its log: 1, 2, 3, … without holes. As a cursor, the last event that was seen; 0 is before the first.
 */
export type Seq = number;

/**
 * A model that a server has.
 */
export type ServedModel = {
/**
 * Its name there.
 */
name: string,
/**
 * Its bytes, where the server tells them.
 */
size?: number, };

/**
 * What a model server speaks.
 */
export type ServerKind = "ollama" | "openai";

/**
 * A session in a list.
 */
export type Session = { session: SessionId, epoch: string,
/**
 * Its tab; null when it is closed.
 */
tab: TabId | null,
/**
 * Empty until there is one.
 */
title: string, agent: AgentName, workspace: WorkspaceRoot, status: Status, agentState: AgentState,
/**
 * How the way to its agent is, if that works elsewhere.
 */
connection?: Connection,
/**
 * Prompts that wait.
 */
queued: number,
/**
 * Questions that wait for a person.
 */
approvals: number,
/**
 * What its agent may do without a question.
 */
policy: SessionPolicy, createdMs: Time,
/**
 * When a turn last began or ended.
 */
updatedMs: Time, };

/**
 * The host's conversation. Never used again, even when the session is deleted.
 */
export type SessionId = number;

/**
 * What a person has set for one session.
 */
export type SessionPolicy = {
/**
 * How its agent is meant to work.
 */
mode: Mode,
/**
 * Commands that are neither high nor critical, and can be read, run without a question.
 */
autoCommands: boolean,
/**
 * Files that the patterns would ask about are changed without a question; never those that are protected.
 */
autoEdits: boolean,
/**
 * Instead of the patterns of the settings.
 */
patterns?: Patterns, };

/**
 * Settings, each of them perhaps not set.
 */
export type Settings = {
/**
 * Where models are served.
 */
baseUrl?: string,
/**
 * The model for work with tools.
 */
agentModel?: string,
/**
 * The model for questions.
 */
askModel?: string,
/**
 * The model for edits.
 */
editModel?: string,
/**
 * The model for completions in an editor.
 */
completionModel?: string,
/**
 * Rounds of one turn, from a model's answer to the results of its tools.
 */
maxIterations?: number,
/**
 * How long a call of a tool may take if nobody says, in milliseconds.
 */
toolTimeout?: number,
/**
 * Sessions whose turns run at once; the others wait.
 */
maxActiveSessions?: number,
/**
 * How freely a model chooses its words.
 */
temperature?: Temperature,
/**
 * Which files may be changed without a question.
 */
sensitiveFilePatterns?: Patterns, };

/**
 * All settings as they are.
 */
export type SettingsState = {
/**
 * The user's.
 */
user: Settings,
/**
 * Those of trusted workspaces that have some.
 */
workspaces: Array<[WorkspaceRoot, Settings]>,
/**
 * Whether there is a token for the model server of the user's settings.
 */
hasToken: boolean,
/**
 * Where tokens are kept, for a person.
 */
tokensIn: string,
/**
 * Whether nothing was set up yet.
 */
firstRun: boolean, };

/**
 * How bad something could be.
 */
export type Severity = "low" | "medium" | "high" | "critical";

/**
 * Who carries out a sign-in.
 */
export type SignInBy = "agent" | "terminal" | "variable";

/**
 * A way to sign in at an agent.
 */
export type SignInMethod = {
/**
 * Its name for programs.
 */
id: string,
/**
 * Its name for people.
 */
name: string,
/**
 * What it means.
 */
description?: string,
/**
 * Who does it.
 */
by: SignInBy,
/**
 * For people: exactly what to do.
 */
todo: string, };

/**
 * What a person may type after a slash.
 */
export type SlashCommand = {
/**
 * Its name, without the slash.
 */
name: string,
/**
 * What it does.
 */
description: string,
/**
 * What may follow it.
 */
hint?: string, };

/**
 * A piece of a snippet.
 */
export type SnippetPiece = {
/**
 * What it says.
 */
text: string,
/**
 * Whether it is what was looked for.
 */
hit: boolean, };

/**
 * A session's status in one word.
 */
export type Status = "idle" | "queued" | "running" | "awaiting_approval";

/**
 * A view's own name for a tab; the view chose it, we only carry it.
 */
export type TabId = string;

/**
 * A temperature in hundredths; on the wire a number such as 0.7.
 */
export type Temperature = number;

/**
 * Text as the inside of a JSON string: escaped, without the quotes, always valid UTF-8.
 *
 * An agent's chunk arrives escaped, is stored escaped and goes to views escaped, so the hot path copies it and never
 * looks inside.
 */
export type Text = string;

/**
 * Milliseconds since 1970. The edges make it; the core only compares and adds.
 */
export type Time = number;

/**
 * Who gave a session its title. A person's stays.
 */
export type TitleBy = "host" | "person";

/**
 * What the host says to the page. Events are written from the log's own bytes, in this shape.
 */
export type ToView = { "type": "welcome",
/**
 * The host's version; a page of another one must be loaded again.
 */
version: string,
/**
 * The workspace of tabs that name none.
 */
home: string,
/**
 * All workspaces.
 */
workspaces: Array<Workspace>,
/**
 * The sessions that have a tab, in the order in which they were opened.
 */
sessions: Array<Session>, } | { "type": "events",
/**
 * The tab.
 */
tab: TabId,
/**
 * The life of the log.
 */
epoch: string,
/**
 * The event before the first.
 */
after: Seq,
/**
 * The last event.
 */
to: Seq,
/**
 * The events.
 */
events: Array<Event>, } | { "type": "gap",
/**
 * The tab.
 */
tab: TabId,
/**
 * The first lost event.
 */
from: Seq,
/**
 * The last lost event.
 */
to: Seq, } | { "type": "reset",
/**
 * The tab.
 */
tab: TabId, } | { "type": "session",
/**
 * As it is now.
 */
session: Session, } | { "type": "sessionGone",
/**
 * Which one.
 */
session: SessionId, } | { "type": "workspace",
/**
 * As it is now.
 */
workspace: Workspace, } | { "type": "history",
/**
 * The last used first.
 */
sessions: Array<Session>,
/**
 * Where the next ones are; absent at the end.
 */
next?: HistoryPlace, } | { "type": "refused",
/**
 * For programs.
 */
code: RejectCode,
/**
 * For people.
 */
message: string,
/**
 * The tab, as far as it is known.
 */
tab?: TabId,
/**
 * The turn's name, as far as it is known.
 */
turn?: TurnName, } | { "type": "rules",
/**
 * The oldest first.
 */
rules: Array<Rule>, } | { "type": "containment",
/**
 * As it is now.
 */
containment: Containment, } | { "type": "found",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * Sessions in the order of their first message.
 */
sessions: Array<FoundSession>,
/**
 * Whether there is more than was asked for.
 */
more: boolean,
/**
 * Sessions whose last words are not in the index yet.
 */
behind: number, } | { "type": "used",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * The newest first.
 */
rows: Array<UsageRow>, } | { "type": "kept",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * What it took out and gave back.
 */
kept: Kept, } | { "type": "rebuilt",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * How much, and where the old is.
 */
rebuilt: Rebuilt, } | { "type": "progress",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * How much is done.
 */
done: number,
/**
 * Of how much.
 */
total: number, } | { "type": "settings",
/**
 * All of them.
 */
settings: SettingsState, } | { "type": "token",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * There is one.
 */
hasToken: boolean, } | { "type": "tested",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * Whether it worked.
 */
success: boolean,
/**
 * For a person: what there is, or what is wrong and what to do.
 */
message: string,
/**
 * The models that it has.
 */
models: Array<string>, } | { "type": "servers",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * Those that answer, perhaps none.
 */
servers: Array<ModelServer>,
/**
 * For a person: what there is, or where was looked and what to do.
 */
message: string, } | { "type": "inUse",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * Its name.
 */
agent: AgentName, } | { "type": "artifact",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * What to call the file.
 */
name: string,
/**
 * What sort of thing it is.
 */
mime: string,
/**
 * Its bytes; 0 where nobody has counted them.
 */
size: number,
/**
 * Where it can be fetched for a short while, relative to the host's address.
 */
url: string, } | { "type": "done",
/**
 * The number that was sent.
 */
request: RequestNo, } | { "type": "failed",
/**
 * The number that was sent.
 */
request: RequestNo,
/**
 * For programs.
 */
code: RejectCode,
/**
 * For people.
 */
message: string, } | { "type": "pong",
/**
 * The number that was sent.
 */
n: number, };

/**
 * Tokens of one or more turns.
 */
export type Tokens = {
/**
 * What the model was given.
 */
input: number,
/**
 * What it gave.
 */
output: number,
/**
 * How much of the input was read from its cache.
 */
cached: number,
/**
 * How much of the output was thinking.
 */
thought: number, };

/**
 * A tool call, or what changed of it.
 */
export type ToolCall = {
/**
 * The agent's name for the call.
 */
id: CallId,
/**
 * For people.
 */
title: string,
/**
 * What sort of tool.
 */
kind?: string,
/**
 * How far it is.
 */
status: ToolStatus,
/**
 * What goes in, as JSON.
 */
input?: unknown,
/**
 * What came out, as JSON.
 */
output?: unknown,
/**
 * What it shows; replaces what it showed before. Absent in an update if that stays.
 */
content?: Array<ToolContent>,
/**
 * The places that it is at; replace those before. Absent in an update if they stay.
 */
locations?: Array<Location>,
/**
 * The registry's tool that is called; absent for what the agent does by itself.
 */
tool?: ToolName,
/**
 * Why the registry's tool gave no result.
 */
error?: ToolError,
/**
 * How long the registry's tool took, in milliseconds.
 */
durationMs?: number, };

/**
 * The sorts of failures.
 */
export type ToolCode = "TOOL_NOT_FOUND" | "VALIDATION_ERROR" | "TIMEOUT" | "EXECUTION_ERROR" | "CANCELLED" | "DENIED" | "WORKSPACE_UNTRUSTED" | "REGISTRY_NOT_READY" | "UNKNOWN_MESSAGE_TYPE";

/**
 * A piece of what a tool call shows.
 */
export type ToolContent = { "type": "text",
/**
 * What they say.
 */
text: string, } | { "type": "diff",
/**
 * Which file.
 */
path: string,
/**
 * What it said before; absent if it is new.
 */
old?: string,
/**
 * What it says then.
 */
new: string, } | { "type": "terminal",
/**
 * The execution of that name, or one of the agent's own.
 */
terminal: ExecutionId,
/**
 * What the agent itself shows of it, where the host has not run it.
 */
output?: string, } | { "type": "image",
/**
 * The picture.
 */
image: Image, } | { "type": "link",
/**
 * Where it is.
 */
uri: string,
/**
 * What it is called.
 */
name: string, } | { "type": "other",
/**
 * The JSON.
 */
raw: unknown, };

/**
 * Why a tool gave no result.
 */
export type ToolError = {
/**
 * For programs.
 */
code: ToolCode,
/**
 * For people and models.
 */
message: string,
/**
 * More, for programs.
 */
details?: unknown, };

/**
 * A tool's name.
 */
export type ToolName = string;

/**
 * How far a tool call is.
 */
export type ToolStatus = "pending" | "running" | "completed" | "failed";

/**
 * One prompt and all that follows from it, counted from 1 within its session.
 */
export type TurnId = number;

/**
 * A view's own name for a turn (its message id).
 */
export type TurnName = string;

/**
 * Whether a file may be changed without a question.
 */
export type Unasked = "may" | "may_not";

/**
 * A setting of which every value means something, so that none of them can take it out.
 */
export type Unset = "temperature";

/**
 * What one row of usage stands for.
 */
export type UsageBy = "turn" | "session" | "day";

/**
 * What was used, as far as the agents say.
 */
export type UsageRow = {
/**
 * The session; none for a day.
 */
session?: SessionId,
/**
 * The turn; only for a turn.
 */
turn?: TurnId,
/**
 * The day as `2026-11-16`; only for a day.
 */
day?: string,
/**
 * Turns that it is about.
 */
turns: number,
/**
 * Tokens.
 */
tokens: Tokens,
/**
 * What it has cost: one row for each currency, in millionths.
 */
costs: Array<CostSum>, };

/**
 * A secret on its way in. Never shown, and never written again.
 */
export type WireSecret = string;

/**
 * A workspace in a list.
 */
export type Workspace = { root: WorkspaceRoot, trusted: boolean,
/**
 * Those that are configured; `demo` is always there.
 */
agents: Array<AgentInfo>, defaultAgent: AgentName,
/**
 * Well-known agents that are installed and not configured yet.
 */
offers: Array<AgentOffer>, };

/**
 * A workspace's folder, canonical and absolute.
 */
export type WorkspaceRoot = string;
