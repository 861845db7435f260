import { describe, expect, it } from "vitest";
import type { Body, Event, ToView } from "../wire";
import { TabLog } from "./log";
import { answerOf, type Turn } from "./turn";

type Events = Extract<ToView, { type: "events" }>;

function run(after: number, bodies: (Body & { turn?: number })[], epoch = "e"): Events {
  const events: Event[] = bodies.map(({ turn, ...body }, at) => ({
    seq: after + at + 1,
    time: 1_000 * (after + at + 1),
    ...(turn === undefined ? {} : { turn }),
    body: body as Body,
  }));
  return { type: "events", tab: "t", epoch, after, to: after + bodies.length, events };
}

const prompt = (name: string, turn: number): Body & { turn: number } => ({
  type: "promptQueued",
  name,
  prompt: { text: `say ${name}` },
  position: 0,
  turn,
});
const text = (words: string, turn = 1) => ({ type: "text" as const, text: words, turn });

function turns(log: TabLog): Turn[] {
  return log.entries.filter((entry) => entry.kind === "turn");
}

describe("the cursor", () => {
  it("takes a run that continues the log", () => {
    const log = new TabLog();
    expect(log.take(run(0, [{ type: "sessionOpened", agent: "demo", workspace: "/" }, prompt("a", 1)]))).toBe(
      "applied",
    );
    expect(log.take(run(2, [{ type: "turnStarted", turn: 1 }, text("one "), text("two")]))).toBe("applied");
    expect(log.seen()).toEqual({ epoch: "e", seq: 5 });
    expect(turns(log).map(answerOf)).toEqual(["one two"]);
  });

  it("drops a run that it has had", () => {
    const log = new TabLog();
    const first = run(0, [prompt("a", 1), text("one ")]);
    log.take(first);
    expect(log.take(first)).toBe("repeated");
    expect(turns(log).map(answerOf)).toEqual(["one "]);
  });

  it("applies nothing of a run that overlaps or skips", () => {
    const log = new TabLog();
    log.take(run(0, [prompt("a", 1), text("one ")]));
    expect(log.take(run(1, [text("one "), text("two ")]))).toBe("misfit");
    expect(log.take(run(3, [text("four ")]))).toBe("misfit");
    expect(log.take(run(2, [text("x ")], "another epoch"))).toBe("misfit");
    expect(turns(log).map(answerOf)).toEqual(["one "]);
    expect(log.cursor).toBe(2);
  });

  it("takes a merged event whose number is its last piece's", () => {
    const log = new TabLog();
    log.take(run(0, [prompt("a", 1)]));
    const merged: Events = {
      ...run(1, []),
      to: 9,
      events: [{ seq: 9, time: 1, turn: 1, body: { type: "text", text: "many" } }],
    };
    expect(log.take(merged)).toBe("applied");
    expect(log.cursor).toBe(9);
  });

  it("refuses a run whose numbers lie outside it", () => {
    const log = new TabLog();
    const bad: Events = {
      ...run(0, []),
      to: 1,
      events: [{ seq: 2, time: 1, turn: 1, body: { type: "text", text: "x" } }],
    };
    expect(log.take(bad)).toBe("misfit");
    expect(log.cursor).toBe(0);
  });

  it("shows a gap and goes on behind it", () => {
    const log = new TabLog();
    log.take(run(0, [prompt("a", 1)]));
    expect(log.gap(2, 6)).toBe("applied");
    expect(log.gap(2, 6)).toBe("repeated");
    expect(log.take(run(6, [text("after")]))).toBe("applied");
    expect(log.entries.map((entry) => (entry.kind === "notice" ? entry.what : entry.number))).toEqual([
      1,
      "gap",
    ]);
  });

  it("forgets everything at a reset and takes another epoch from the start", () => {
    const log = new TabLog();
    log.take(run(0, [prompt("a", 1), text("old")]));
    log.reset();
    expect(log.take(run(0, [prompt("b", 1), text("new")], "f"))).toBe("applied");
    expect(turns(log).map(answerOf)).toEqual(["new"]);
    expect(log.seen()).toEqual({ epoch: "f", seq: 2 });
  });
});

describe("a turn", () => {
  it("keeps words, thoughts, plan, tools and approvals in their order", () => {
    const log = new TabLog();
    log.take(
      run(0, [
        prompt("a", 1),
        { type: "turnStarted", turn: 1 },
        { type: "plan", entries: [{ content: "read", status: "pending" }], turn: 1 },
        { type: "thought", text: "hm ", turn: 1 },
        { type: "thought", text: "yes", turn: 1 },
        text("I call "),
        {
          type: "toolCall",
          call: { id: "c", title: "read", status: "running", input: { path: "x" } },
          turn: 1,
        },
        text("and ask"),
        {
          type: "approvalAsked",
          approval: { id: "q", kind: "command", title: "ls", severity: "low", reason: "because" },
          turn: 1,
        },
        { type: "toolCallUpdate", call: { id: "c", title: "", status: "completed", output: "ok" }, turn: 1 },
        { type: "plan", entries: [{ content: "read", status: "completed" }], turn: 1 },
        { type: "approvalResolved", approval: "q", resolution: "deny", turn: 1 },
        { type: "turnEnded", outcome: "completed", turn: 1 },
      ]),
    );
    const [turn] = turns(log);
    expect(turn?.pieces).toEqual([
      { kind: "plan" },
      { kind: "thought", text: "hm yes", seq: 5, startMs: 4_000, endMs: 5_000 },
      { kind: "text", text: "I call ", seq: 6 },
      {
        kind: "tool",
        call: { id: "c", title: "read", status: "completed", input: { path: "x" }, output: "ok" },
      },
      { kind: "text", text: "and ask", seq: 8 },
      {
        kind: "approval",
        approval: { id: "q", kind: "command", title: "ls", severity: "low", reason: "because" },
        resolution: "deny",
        edited: null,
        rule: null,
        option: null,
      },
    ]);
    expect(turn?.plan).toEqual([{ content: "read", status: "completed" }]);
    expect(turn?.outcome).toBe("completed");
    expect(log.open()).toEqual([]);
  });

  it("runs while others wait, and a cancelled one leaves the queue", () => {
    const log = new TabLog();
    log.take(run(0, [prompt("a", 1), { type: "turnStarted", turn: 1 }, prompt("b", 2), prompt("c", 3)]));
    expect(log.running()?.name).toBe("a");
    expect(log.queue().map((turn) => turn.name)).toEqual(["b", "c"]);
    log.take(
      run(4, [
        { type: "cancelAsked", turn: 2 },
        { type: "turnEnded", outcome: "cancelled", turn: 2 },
      ]),
    );
    expect(log.queue().map((turn) => turn.name)).toEqual(["c"]);
  });

  it("touches only its own words", () => {
    const log = new TabLog();
    log.take(run(0, [prompt("a", 1), text("one", 1), prompt("b", 2), text("two", 2), text("late", 1)]));
    expect(turns(log).map(answerOf)).toEqual(["onelate", "two"]);
  });

  it("keeps code apart from words, and shows no echo", () => {
    const log = new TabLog();
    log.take(
      run(0, [
        prompt("a", 1),
        { type: "echo", text: "say a", turn: 1 },
        text("see: "),
        { type: "code", text: "fn ", turn: 1 },
        { type: "code", text: "main", turn: 1 },
        text("there"),
      ]),
    );
    expect(turns(log)[0]?.pieces).toEqual([
      { kind: "text", text: "see: ", seq: 3 },
      { kind: "code", text: "fn main", seq: 5 },
      { kind: "text", text: "there", seq: 6 },
    ]);
  });

  it("takes an update of a call as its beginning, and replaces what it shows", () => {
    const log = new TabLog();
    const show = (words: string) => [{ type: "text" as const, text: words }];
    log.take(
      run(0, [
        prompt("a", 1),
        {
          type: "toolCallUpdate",
          call: { id: "c", title: "run", kind: "execute", status: "running", content: show("one") },
          turn: 1,
        },
        {
          type: "toolCall",
          call: { id: "c", title: "", status: "running", locations: [{ path: "x", line: 3 }] },
          turn: 1,
        },
        {
          type: "toolCallUpdate",
          call: { id: "c", title: "", status: "completed", content: show("two") },
          turn: 1,
        },
      ]),
    );
    expect(turns(log)[0]?.pieces).toEqual([
      {
        kind: "tool",
        call: {
          id: "c",
          title: "run",
          kind: "execute",
          status: "completed",
          content: show("two"),
          locations: [{ path: "x", line: 3 }],
        },
      },
    ]);
  });

  it("knows which of the agent's own answers was chosen, and what waits for one", () => {
    const log = new TabLog();
    const ask = (id: string): Body & { turn: number } => ({
      type: "approvalAsked",
      approval: {
        id,
        kind: "tool",
        title: id,
        severity: "low",
        reason: "",
        options: [{ id: "always", name: "Always", kind: "allow_always" }],
      },
      turn: 1,
    });
    log.take(run(0, [prompt("a", 1), ask("q1"), ask("q2")]));
    expect(log.asks().map(({ approval }) => approval.id)).toEqual(["q1", "q2"]);
    log.take(
      run(3, [
        { type: "approvalResolved", approval: "q1", resolution: "allow_session", option: "always", turn: 1 },
      ]),
    );
    expect(log.asks().map(({ approval }) => approval.id)).toEqual(["q2"]);
    expect(turns(log)[0]?.pieces[0]).toMatchObject({ resolution: "allow_session", option: "always" });
  });

  it("is not opened by what belongs to none: that goes to the last one", () => {
    const log = new TabLog();
    log.take(run(0, [{ type: "text", text: "hello" }]));
    expect(log.open()).toEqual([]);
    log.take(
      run(1, [
        prompt("a", 1),
        { type: "turnEnded", outcome: "completed", turn: 1 },
        { type: "text", text: "late" },
      ]),
    );
    expect(turns(log).map(answerOf)).toEqual(["hello", "late"]);
    expect(log.open()).toEqual([]);
  });

  it("says when an agent came back, and what it still knows", () => {
    const log = new TabLog();
    log.take(run(0, [{ type: "agentSessionRestored", memory: "summarized" }]));
    expect(log.entries).toMatchObject([{ kind: "notice", what: "restored" }]);
  });

  it("keeps what nobody knows", () => {
    const log = new TabLog();
    log.take(run(0, [prompt("a", 1), { type: "hologram", size: 3, turn: 1 } as never]));
    expect(turns(log)[0]?.pieces).toEqual([
      { kind: "unknown", name: "hologram", raw: '{"type":"hologram","size":3}' },
    ]);
  });
});

describe("an agent elsewhere", () => {
  it("keeps its bookkeeping to itself, and shows what nobody knows", () => {
    const log = new TabLog();
    const names = ["turn_start", "switchboard.session_opened", "switchboard.title_changed", "todo.update"];
    log.take(
      run(0, [
        prompt("a", 1),
        ...names.map((name) => ({ type: "unknown" as const, name, raw: "{}", turn: 1 })),
      ]),
    );
    log.take(run(5, [{ type: "unknown", name: "switchboard.session_closed", raw: "{}" }]));
    expect(turns(log)[0]?.pieces).toEqual([{ kind: "unknown", name: "todo.update", raw: "{}" }]);
    expect(log.entries).toHaveLength(1);
  });

  it("has its lost events marked, and its taken prompts are not shown", () => {
    const log = new TabLog();
    log.take(
      run(0, [
        prompt("a", 1),
        { type: "promptTaken", turn: 1 },
        { type: "sourceGap", from: 12, to: 40, message: "the engine no longer has them" },
        { type: "sourceGap", from: 41, to: 41, message: "m" },
        { type: "sourceGap", message: "the engine has begun anew" },
      ]),
    );
    const notices = log.entries.filter((entry) => entry.kind === "notice");
    expect(notices.map(({ what, text: words }) => [what, words])).toEqual([
      ["gap", "Events 12–40 of the engine are lost: the engine no longer has them"],
      ["gap", "Event 41 of the engine is lost: m"],
      ["gap", "Events of the engine are lost: the engine has begun anew"],
    ]);
    expect(turns(log)[0]?.pieces).toEqual([]);
  });
});
