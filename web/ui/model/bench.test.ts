import { beforeEach, expect, it } from "vitest";
import { ToolsLink } from "../edges/tools";
import { FakeTools } from "../testing/faketools";
import { Bench } from "./bench";
import type { ToolInfo } from "./benchtypes";

const READ = {
  type: "function",
  function: {
    name: "read_file",
    description: "Reads a file",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, limit: { type: "integer" } },
      required: ["path"],
    },
  },
};
const OTHERS = [
  { type: "web_search" },
  { type: "custom", custom: { name: "apply_patch", description: "Takes a patch" } },
  { type: "local_shell" },
];
const QUESTION = {
  type: "APPROVAL_REQUEST",
  approvalId: "7:a1",
  sessionId: "7",
  kind: "command",
  title: "ls",
  command: "ls",
  cwd: "/w",
  severity: "medium",
  reason: "it runs a command",
  editable: true,
  rule: "run /bin/ls in /w",
};

let host: FakeTools;
let bench: Bench;
let link: ToolsLink;
let timers: { run: () => void; ms: number }[];
let ids = 0;

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

function later(run: () => void, ms: number): () => void {
  const timer = { run, ms };
  timers.push(timer);
  return () => (timers = timers.filter((each) => each !== timer));
}

async function fire(): Promise<void> {
  const due = timers;
  timers = [];
  for (const { run } of due) run();
  await settle();
}

beforeEach(async () => {
  host = new FakeTools();
  timers = [];
  ids = 0;
  host.answers.set("GET_TOOLS", () => ({ tools: [READ, ...OTHERS] }));
  host.answers.set("SUBSCRIBE_APPROVALS", () => ({ subscribed: true }));
  host.answers.set("GET_TOOL_HISTORY", () => ({ history: [] }));
  link = new ToolsLink(host.open, later, {
    opened: () => void bench.connected(),
    unasked: (message) => {
      bench.take(message);
    },
    changed: () => undefined,
  });
  bench = new Bench({
    ask: (message) => link.request(message),
    now: () => 1_000,
    newId: () => `x${String((ids += 1))}`,
    later,
    workspace: () => "/w",
    changed: () => undefined,
  });
  link.start();
  await settle();
});

function tool(name: string): ToolInfo {
  const found = bench.tools.find((each) => each.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

it("lists the tools by name, and finds them by name and words", () => {
  expect(bench.tools.map(({ name, type }) => [name, type])).toEqual([
    ["apply_patch", "custom"],
    ["local_shell", "local_shell"],
    ["read_file", "function"],
    ["web_search", "web_search"],
  ]);
  bench.query = "PATCH";
  expect(bench.found().map(({ name }) => name)).toEqual(["apply_patch"]);
  bench.query = "reads a";
  expect(bench.found().map(({ name }) => name)).toEqual(["read_file"]);
});

it("asks again while the tools are not all there, and never shows a part of them", async () => {
  host.answers.set("GET_TOOLS", () => ({
    error: { code: "REGISTRY_NOT_READY", message: "ToolRegistry not ready" },
  }));
  host.lose();
  bench.tools = [];
  bench.listed = false;
  await fire();
  expect([bench.listed, bench.trouble]).toEqual([false, "ToolRegistry not ready"]);
  host.answers.set("GET_TOOLS", () => ({ tools: [READ] }));
  await fire();
  expect([bench.listed, bench.trouble, bench.tools.length]).toEqual([true, null, 1]);
});

it("runs what was typed, and nothing that was left empty", async () => {
  const read = tool("read_file");
  bench.type(read, "path", "a.rs");
  bench.type(read, "limit", "");
  bench.form(read).timeout = "500";
  const done = bench.run(read);
  expect(host.last("EXECUTE_TOOL")["request"]).toEqual({
    toolName: "read_file",
    parameters: { path: "a.rs" },
    timeout: 500,
    workspace: "/w",
    executionId: "x1",
  });
  expect(bench.blocked(read)).toBe("It runs.");
  host.answer(host.last("EXECUTE_TOOL"), { result: { success: true, data: { content: "x" }, duration: 12 } });
  await done;
  expect(bench.lastRun("read_file")?.outcome).toEqual({
    success: true,
    data: { content: "x" },
    error: null,
    durationMs: 12,
  });
});

it("what the host finds wrong stands at its fields until something is typed", async () => {
  const read = tool("read_file");
  const details = [{ parameter: "path", message: "is missing", code: "REQUIRED" }];
  host.answers.set("EXECUTE_TOOL", () => ({
    result: { success: false, error: { code: "VALIDATION_ERROR", message: "no", details }, duration: 0 },
  }));
  await bench.run(read);
  expect(bench.form(read).findings).toEqual(details);
  bench.type(read, "path", "a");
  expect(bench.form(read).findings).toEqual([]);
});

it("runs nothing that is no JSON, and no time that cannot be", async () => {
  const read = tool("read_file");
  bench.type(read, "limit", "x");
  await bench.run(read);
  bench.type(read, "limit", "");
  bench.form(read).timeout = "0";
  await bench.run(read);
  expect(host.heard.some(({ type }) => type === "EXECUTE_TOOL")).toBe(false);
});

it("a tool without a form takes JSON, and one with a form goes back and forth", () => {
  const shell = tool("local_shell");
  expect(bench.form(shell).raw).toBe("");
  bench.typeRaw(shell, '{"command":["ls"]}');
  expect(bench.parameters(shell).parameters).toEqual({ command: ["ls"] });
  const read = tool("read_file");
  bench.type(read, "path", "a");
  expect(bench.turnRaw(read)).toBe(true);
  bench.typeRaw(read, '{"path":"b","more":1}');
  expect(bench.turnRaw(read)).toBe(false);
  bench.typeRaw(read, '{"path":"b"}');
  expect(bench.turnRaw(read)).toBe(true);
  expect(bench.form(read).values.get("path")).toBe("b");
});

it("cancels by the name of the run, and waits for its own answer", async () => {
  const done = bench.run(tool("web_search"));
  const [run] = bench.runs;
  if (!run) throw new Error("nothing runs");
  host.answers.set("CANCEL_EXECUTION", () => ({ cancelled: true }));
  await bench.cancel(run);
  expect(host.last("CANCEL_EXECUTION")["executionId"]).toBe("x1");
  expect(run.outcome).toBe(null);
  host.answer(host.last("EXECUTE_TOOL"), {
    result: { success: false, error: { code: "CANCELLED", message: "cancelled" }, duration: 3 },
  });
  await done;
  expect(run.outcome?.error?.code).toBe("CANCELLED");
});

it("a run whose link is lost is called unknown, and everything is asked for again on the next", async () => {
  const done = bench.run(tool("web_search"));
  host.lose();
  await done;
  expect(bench.runs[0]?.trouble).toMatch(/the history knows/);
  const before = host.heard.length;
  await fire();
  expect(host.heard.slice(before).map(({ type }) => type)).toEqual([
    "SUBSCRIBE_APPROVALS",
    "GET_TOOLS",
    "GET_TOOL_HISTORY",
  ]);
});

it("tries again, slower each time, while the host is away", async () => {
  host.up = false;
  host.lose();
  const waits: number[] = [];
  for (let at = 0; at < 7; at += 1) {
    waits.push(timers.at(-1)?.ms ?? -1);
    await fire();
  }
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  host.up = true;
  await fire();
  expect(link.online).toBe(true);
});

it("reads history page by page, and runs a call of it again", async () => {
  const call = (id: string, more: object = {}) => ({
    executionId: id,
    toolName: "read_file",
    parameters: { path: id },
    sessionId: "7",
    startedAt: 5,
    status: "done",
    success: true,
    data: 1,
    duration: 2,
    ...more,
  });
  host.answers.set("GET_TOOL_HISTORY", ({ before }) =>
    before === undefined
      ? { history: [call("c2")], before: "p" }
      : { history: [call("c1", { success: undefined })] },
  );
  await bench.readHistory();
  await bench.readHistory(true);
  await bench.readHistory(true);
  expect(bench.history.map(({ id, outcome }) => [id, outcome?.success])).toEqual([
    ["c2", true],
    ["c1", undefined],
  ]);
  expect(host.last("GET_TOOL_HISTORY")["before"]).toBe("p");
  host.answers.set("EXECUTE_TOOL", () => ({ result: { success: true, duration: 1 } }));
  const [past] = bench.history;
  expect(past && (await bench.again(past))).toBe(true);
  expect(host.last("EXECUTE_TOOL")["request"]).toMatchObject({
    toolName: "read_file",
    parameters: { path: "c2" },
  });
  expect(bench.selected).toBe("read_file");
  expect(past && bench.fill({ ...past, parameters: '{"path":"cut' })).toBe(false);
  expect(past && bench.fill({ ...past, tool: "gone" })).toBe(false);
});

it("a question comes once, and its answer goes back with the edited command", async () => {
  host.say(QUESTION);
  host.say(QUESTION);
  expect(
    bench.asks.map(({ id, ruleText, approval }) => [id, ruleText, approval.command, approval.editable]),
  ).toEqual([["7:a1", "run /bin/ls in /w", "ls", true]]);
  host.answers.set("APPROVAL_RESPONSE", () => ({ status: "applied", decision: "allow_once" }));
  await bench.answer("7:a1", { decision: "allow_once", command: "ls -l" });
  expect(host.last("APPROVAL_RESPONSE")).toMatchObject({
    approvalId: "7:a1",
    decision: "allow_once",
    command: "ls -l",
  });
  expect(bench.asks[0]).toMatchObject({ resolution: "allow_once", mine: true });
  await fire();
  expect(bench.asks).toEqual([]);
});

it("a question that somebody else has answered says what holds", async () => {
  host.say(QUESTION);
  host.answers.set("APPROVAL_RESPONSE", () => ({ status: "already_resolved", decision: "deny" }));
  await bench.answer("7:a1", { decision: "allow_once" });
  expect(bench.asks[0]).toMatchObject({ resolution: "deny", mine: false });
  bench.resolved("7:a1", "allow_once", true);
  expect(bench.asks[0]?.resolution).toBe("deny");
});

it("a question goes with its call, whoever has answered", async () => {
  const done = bench.run(tool("web_search"));
  host.say({ ...QUESTION, executionId: "x1" });
  const [run] = bench.runs;
  expect(run && bench.asked(run)).toBe(true);
  host.answer(host.last("EXECUTE_TOOL"), { result: { success: true, duration: 1 } });
  await done;
  await fire();
  expect(bench.asks[0]).toMatchObject({ resolution: "expired", mine: false });
  expect(run && bench.asked(run)).toBe(false);
});

it("what makes no sense is no tool, no question and no history", () => {
  host.say({ type: "APPROVAL_REQUEST", approvalId: "x" });
  host.say({ type: "DANCE" });
  host.say({ nothing: true });
  expect(bench.asks).toEqual([]);
});
