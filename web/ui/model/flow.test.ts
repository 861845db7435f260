import { describe, expect, it } from "vitest";
import type { Approval, Body, Event, ToolCall } from "../wire";
import { callKind, changeOf, endWords, FOLD_CALLS, flowOf, type FlowItem, runWords } from "./flow";
import { TabLog } from "./log";
import type { Turn } from "./turn";

function turnOf(bodies: Body[]): Turn {
  const all: Body[] = [
    { type: "promptQueued", name: "a", prompt: { text: "go" }, position: 0 },
    { type: "turnStarted" },
  ];
  const events: Event[] = [...all, ...bodies].map((body, at) => ({ seq: at + 1, time: at, turn: 1, body }));
  const log = new TabLog();
  log.take({ type: "events", tab: "t", epoch: "e", after: 0, to: events.length, events });
  const [turn] = log.entries;
  if (turn?.kind !== "turn") throw new Error("no turn");
  return turn;
}

const call = (id: string, more: Partial<ToolCall> = {}): Body => ({
  type: "toolCall",
  call: { id, title: id, status: "completed", ...more },
});
const asked = (id: string, more: Partial<Approval> = {}): Body => ({
  type: "approvalAsked",
  approval: { id, kind: "command", title: id, severity: "low", reason: "", ...more },
});
const started = (id: string, more: object = {}): Body => ({
  type: "executionStarted",
  execution: { id, kind: "command", title: `run ${id}`, digest: "d", ...more },
});

const drawn = (flow: FlowItem[]): string[] =>
  flow.map((item) => {
    if (item.kind === "run") return `run of ${String(item.items.length)}, ${String(item.fold)} folded`;
    if (item.kind === "piece") return item.piece.kind;
    const { piece, executions, answers } = item.call;
    return [
      piece.call.id,
      ...executions.map(({ execution }) => execution.id),
      ...answers.map(({ approval }) => approval.id),
    ].join();
  });

describe("what belongs to a call stands with it", () => {
  it("by its terminal", () => {
    const turn = turnOf([
      call("c", { content: [{ type: "terminal", terminal: "x1" }] }),
      started("x1"),
      started("x2"),
    ]);
    expect(drawn(flowOf(turn))).toEqual(["c,x1", "execution"]);
  });

  it("by the question about it, once it is answered", () => {
    const ask = [call("c", { status: "pending" }), asked("q", { call: "c" })];
    expect(drawn(flowOf(turnOf(ask)))).toEqual(["c", "approval"]);
    const turn = turnOf([
      ...ask,
      { type: "approvalResolved", approval: "q", resolution: "allow_once" },
      started("x", { approval: "q" }),
    ]);
    expect(drawn(flowOf(turn))).toEqual(["c,x,q"]);
  });

  it("by the file that both change, however its path is told", () => {
    const turn = turnOf([
      call("c", { content: [{ type: "diff", path: "/w/src/a.rs", new: "x" }] }),
      started("x", { kind: "edit", path: "src/a.rs" }),
    ]);
    expect(drawn(flowOf(turn))).toEqual(["c,x"]);
  });

  it("and a question about a call that was never told stands for itself", () => {
    const turn = turnOf([
      asked("q", { call: "none" }),
      { type: "approvalResolved", approval: "q", resolution: "deny" },
    ]);
    expect(drawn(flowOf(turn))).toEqual(["approval"]);
  });
});

describe("a long run of calls", () => {
  const many = Array.from({ length: 40 }, (_, at) =>
    call(`c${String(at)}`, { kind: at % 2 ? "read" : "edit" }),
  );

  it("is folded, but for the last ones while it goes on", () => {
    expect(drawn(flowOf(turnOf(many)))).toEqual(["run of 40, 37 folded"]);
    expect(drawn(flowOf(turnOf([...many, { type: "text", text: "done" }])))).toEqual([
      "run of 40, 40 folded",
      "text",
    ]);
    const over = turnOf([...many, { type: "turnEnded", outcome: "completed" }]);
    expect(drawn(flowOf(over))).toEqual(["run of 40, 40 folded"]);
  });

  it("takes thoughts with it, and stops at words and open questions", () => {
    const turn = turnOf([
      ...many.slice(0, FOLD_CALLS),
      { type: "thought", text: "hm" },
      asked("q"),
      ...many.slice(0, 2),
    ]);
    expect(drawn(flowOf(turn))).toEqual([
      `run of ${String(FOLD_CALLS + 1)}, ${String(FOLD_CALLS + 1)} folded`,
      "approval",
    ]);
  });

  it("is told in a few words", () => {
    const [run] = flowOf(turnOf([...many, call("f", { kind: "execute", status: "failed" })]));
    expect(run?.kind === "run" ? runWords(run.items) : []).toEqual([
      "20 edits",
      "20 reads",
      "1 command",
      "1 failed",
    ]);
  });
});

it("a call says how much it changes", () => {
  const edit: ToolCall = {
    id: "c",
    title: "",
    status: "completed",
    content: [
      { type: "diff", path: "a", old: "1\n2\n", new: "1\n3\n4\n" },
      { type: "diff", path: "b", new: "x\n" },
    ],
  };
  expect(changeOf(edit)).toEqual({ added: 3, removed: 1 });
  expect(changeOf({ ...edit, content: [] })).toBeNull();
});

it("kinds are told by the words that agents use", () => {
  expect(
    ["execute", "Bash", "read", "edit", "switch_mode", "web_search", undefined].map((kind) => callKind(kind)),
  ).toEqual(["execute", "execute", "read", "edit", "other", "search", "other"]);
});

describe("an execution", () => {
  it("has its output and its end, also when that comes without its turn", () => {
    const turn = turnOf([
      started("x"),
      { type: "executionOutput", execution: "x", text: "one " },
      { type: "executionOutput", execution: "x", text: "two" },
      { type: "executionEnded", execution: "x", title: "run x", end: { type: "exited", code: 2 } },
    ]);
    const [piece] = turn.pieces;
    expect(piece).toMatchObject({
      output: { text: "one two", dropped: 0 },
      end: { type: "exited", code: 2 },
    });
    expect(piece?.kind === "execution" ? endWords(piece) : "").toBe("exit 2");
  });

  it("whose beginning was lost is shown by its end", () => {
    const turn = turnOf([
      { type: "executionEnded", execution: "x", title: "make", end: { type: "unknown" } },
    ]);
    expect(turn.pieces).toMatchObject([{ execution: { id: "x", title: "make" }, end: { type: "unknown" } }]);
  });
});
