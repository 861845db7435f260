/** Every method and topic of the dialect `bb` over a real WebSocket, both directions held against the published schemas. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Host } from "./stage/host";
import { Schemas, Sidebar } from "./stage/sidebar";

const METHODS = [
  "bb.init",
  "bb.createSession",
  "bb.listSessions",
  "bb.selectSession",
  "bb.deleteSession",
  "bb.sendMessage",
  "bb.stop",
  "bb.command",
  "bb.approvePermission",
  "bb.listFiles",
  "bb.readFileSnippet",
  "bb.openDiff",
  "bb.downloadArtifact",
];
const TOPICS = ["bb/connection", "bb/state", "bb/events"];

let host: Host;
let schemas: Schemas;
const open: Sidebar[] = [];

beforeEach(async () => {
  host = await Host.start();
  await host.ask("trust", host.workspace);
  schemas = await Schemas.of(host);
});

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") console.error(host.said.join("\n"));
  const faults = open.splice(0).flatMap((sidebar) => {
    sidebar.close();
    return sidebar.faults;
  });
  await host.stop();
  expect(faults, "what breaks the schemas").toEqual([]);
});

async function sidebar(): Promise<Sidebar> {
  const opened = await Sidebar.open(host, schemas);
  open.push(opened);
  return opened;
}

/** Sends a prompt. */
function prompt(
  view: Sidebar,
  sessionId: string,
  text: string,
): Promise<{ turnId: string; queued: boolean }> {
  return view.ask("bb.sendMessage", { sessionId, text });
}

test("the program publishes a schema for each method, each answer and each topic", () => {
  const answers = METHODS.map((method) => `answer to ${method}`);
  expect(schemas.names).toEqual([...METHODS, ...answers, "answer to anything", ...TOPICS]);
});

test("every method is answered and every topic comes as its schema says", async () => {
  writeFileSync(join(host.workspace, "long.txt"), "line é\n".repeat(500));
  const view = await sidebar();
  expect(await view.ask("bb.init")).toMatchObject({
    protocolVersion: 1,
    workspace: { root: host.workspace, trusted: true },
    agents: [{ name: "demo", kind: "plain" }],
    sessions: [],
  });
  const { sessionId } = await view.ask<{ sessionId: string }>("bb.createSession", {
    permissionMode: "ask",
    "a field of tomorrow": 1,
  });

  const first = await prompt(view, sessionId, "demo: echo one two");
  expect(first.queued).toBe(false);
  const done = await view.event("run_finished", 1);
  expect(done.payload).toMatchObject({ message_id: first.turnId, reason: "completed" });
  const deltas = view.events.filter(({ type }) => type === "assistant_delta");
  expect(deltas.map(({ payload }) => payload["text"]).join("")).toContain("one two");

  // Two questions of one turn; the first answer to each counts.
  await prompt(view, sessionId, "demo: edit");
  for (const at of [0, 1]) {
    const asked = await view.until(
      "a question",
      () => view.events.filter(({ type }) => type === "permission_request")[at],
    );
    const answer = (decision: string) => ({ sessionId, requestId: asked.payload["request_id"], decision });
    expect(await view.ask("bb.approvePermission", answer("allow_once"))).toEqual({ status: "applied" });
    expect(await view.ask("bb.approvePermission", answer("deny"))).toEqual({ status: "already_resolved" });
  }
  await view.event("run_finished", 2);
  const { diff } = await view.ask<{ diff: string }>("bb.openDiff", {
    sessionId,
    filePath: "switchboard-demo.md",
  });
  expect(diff).toMatch(/^@@ /m);
  expect(diff).toMatch(/^\+/m);

  // Stopping, by method and by command.
  await prompt(view, sessionId, "demo: slow 500");
  await view.event("assistant_delta", 3);
  expect(await view.ask("bb.stop", { sessionId })).toEqual({ stopped: true });
  expect((await view.event("run_finished", 3)).payload["reason"]).not.toBe("completed");
  expect(await view.ask("bb.command", { sessionId, command: "stop" })).toEqual({
    status: "accepted",
    detail: { stopped: false },
  });

  // Files, and what can be fetched whole.
  const { entries } = await view.ask<{ entries: unknown[] }>("bb.listFiles", { sessionId, path: "." });
  expect(entries).toContainEqual({ name: "long.txt", path: "long.txt", kind: "file", size: 8 * 500 });
  expect(
    await view.ask("bb.readFileSnippet", { sessionId, path: "long.txt", headLines: 2, tailLines: 1 }),
  ).toMatchObject({ truncated: true, totalLines: 500, totalBytes: 8 * 500 });
  const { url, size } = await view.ask<{ url: string; size: number }>("bb.downloadArtifact", {
    sessionId,
    artifactPath: "log.jsonl",
  });
  const fetched = await fetch(new URL(url, host.url), { headers: { authorization: `Bearer ${host.token}` } });
  const whole = Buffer.from(await fetched.arrayBuffer());
  expect(whole.length).toBe(size);
  expect(whole.toString()).toContain("one two");

  // Lists, another link, and the end.
  const { sessions } = await view.ask<{ sessions: unknown[] }>("bb.listSessions");
  expect(sessions).toMatchObject([{ sessionId, agent: "demo", status: "idle" }]);
  const other = await sidebar();
  await other.ask("bb.selectSession", { sessionId, afterId: done.id });
  await other.event("run_finished", 3);
  const ids = view.events.map(({ id }) => id);
  expect(other.events.map(({ id }) => id)).toEqual(ids.slice(ids.indexOf(done.id) + 1));
  await view.ask("bb.selectSession", { sessionId });
  expect(await view.ask("bb.deleteSession", { sessionId })).toEqual({ deleted: true });
  expect(await view.refused("bb.selectSession", { sessionId })).toBe("not_found");
  expect([...view.seen].sort()).toEqual([...METHODS, ...TOPICS, "answer to anything"].sort());
});

test("what is wrong is refused by its code, or dropped, and changes nothing", async () => {
  const view = await sidebar();
  const before = await view.ask("bb.listSessions");
  const envelope = { v: 1, kind: "req", id: "x", method: "bb.attachSession", params: { sessionId: "1" } };
  view.say(JSON.stringify(envelope));
  expect((await view.answered("x")).error?.code).toBe("method_not_found");
  view.say(JSON.stringify({ ...envelope, v: 2, id: "v", method: "bb.init" }));
  expect((await view.answered("v")).error).toMatchObject({
    code: "bad_request",
    details: { supported: [1] },
  });
  view.say(JSON.stringify({ ...envelope, id: "p", method: "bb.sendMessage", params: { text: 7 } }));
  const wrong = (await view.answered("p")).error;
  expect(wrong?.code).toBe("bad_request");
  expect(wrong?.details, "every finding").toHaveLength(2);
  const heard = view.answers.length;
  for (const text of [
    "{",
    "[]",
    "null",
    JSON.stringify({ ...envelope, id: 7 }),
    JSON.stringify({ v: 1, kind: "res", id: "r", ok: true, result: {} }),
    JSON.stringify({ v: 1, kind: "evt", topic: "bb/state", payload: { sessions: [] } }),
  ])
    view.say(text);
  for (const path of ["..", "../..", "/etc"])
    expect(await view.refused("bb.listFiles", { sessionId: "1", path })).toMatch(/^(bad_request|not_found)$/);
  expect(view.answers.length, "what cannot be answered is dropped").toBe(heard + 3);
  expect(await view.ask("bb.listSessions")).toEqual(before);
});

test("an id that the log cannot honour is told as a gap before everything comes", async () => {
  const view = await sidebar();
  const { sessionId } = await view.ask<{ sessionId: string }>("bb.createSession", { task: "demo: echo hi" });
  await view.event("run_finished");
  const again = await sidebar();
  await again.ask("bb.selectSession", { sessionId, afterId: "0000000000000001:3" });
  await again.event("run_finished");
  expect(again.events).toEqual(view.events);
  const gap = again.told.findIndex(({ payload }) => payload.gapDetected === true);
  expect(gap).toBeGreaterThanOrEqual(0);
  expect(gap).toBeLessThan(again.told.findIndex(({ topic }) => topic === "bb/events"));
});
