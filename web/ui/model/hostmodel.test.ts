import { describe, expect, it } from "vitest";
import { FakeHost, type FakeLinkEnd } from "../testing/fakehost";
import type { FromView, ToView } from "../wire";
import { type Effect, HostModel, MAX_LOGS } from "./hostmodel";
import { type Keep, Outbox } from "./outbox";
import { answerOf, type Turn } from "./turn";

function memory(): Keep {
  const kept = new Map<string, string>();
  return {
    load: () => new Map(kept),
    put: (name, value) => void kept.set(name, value),
    drop: (name) => void kept.delete(name),
  };
}

/** A page without a browser: a model, and links that carry frames only when told to. */
class Window {
  readonly outbox: Outbox;
  readonly model: HostModel;
  readonly effects: Effect[] = [];
  private end: FakeLinkEnd | null = null;
  private waiting: ToView[] = [];

  constructor(
    private readonly host: FakeHost,
    readonly keep: Keep = memory(),
  ) {
    this.outbox = new Outbox(keep, 0);
    this.model = new HostModel(this.outbox);
  }

  connect(): void {
    this.disconnect();
    this.end = this.host.connect((frame) => this.waiting.push(frame));
    this.end.take(this.model.hello("1"));
  }

  /** Whatever is on its way is lost. */
  disconnect(): void {
    this.end?.end();
    this.end = null;
    this.waiting = [];
  }

  /** Takes so many of the frames that came. */
  read(count = Infinity): void {
    for (let left = count; left > 0 && this.waiting.length > 0; left -= 1) {
      const frame = this.waiting.shift();
      if (frame) this.carryOut(this.model.take(frame));
    }
  }

  carryOut(effects: Effect[]): void {
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.type === "send") this.end?.take(effect.frame);
      if (effect.type === "renew") this.connect();
    }
  }

  /** Doubles a frame that is on its way, as nothing real would. */
  double(at: number): void {
    const frame = this.waiting[at];
    if (frame) this.waiting.splice(at, 0, frame);
  }

  get pending(): number {
    return this.waiting.length;
  }

  say(tab: string, name: string, text: string, fresh = false): void {
    this.outbox.add({ name, tab, text, images: [], madeMs: 0, opening: fresh ? {} : null, held: null });
    if (this.end) this.carryOut(this.model.flush());
  }

  words(tab: string): string[] {
    const entries = this.model.log(tab)?.entries ?? [];
    return entries
      .filter((entry): entry is Turn => entry.kind === "turn")
      .map((turn) => `${turn.prompt}:${answerOf(turn)}`);
  }
}

function logWords(host: FakeHost, tab: string): string[] {
  const turns = new Map<number, { prompt: string; text: string }>();
  for (const { turn, body } of host.logs.get(tab)?.events ?? []) {
    if (turn === undefined) continue;
    const known = turns.get(turn) ?? { prompt: "", text: "" };
    turns.set(turn, known);
    if (body.type === "promptQueued") known.prompt = body.prompt.text;
    if (body.type === "text") known.text += body.text;
  }
  return [...turns.values()].map(({ prompt, text }) => `${prompt}:${text}`);
}

/** Numbers that look random and are the same each time. */
function chances(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const sent = (effects: Effect[]): FromView[] =>
  effects.flatMap((effect) => (effect.type === "send" ? [effect.frame] : []));

describe("whatever happens to the link", () => {
  it.each(Array.from({ length: 150 }, (_, at) => at + 1))(
    "every window ends with the log's words, round %i",
    (round) => {
      const chance = chances(round);
      const host = new FakeHost();
      host.run = (left) => 1 + chance(Math.max(1, left));
      const windows = [new Window(host), new Window(host)];
      const tabs = ["a", "b"];
      let said = 0;
      for (let step = 0; step < 120; step += 1) {
        const window = windows[chance(windows.length)] as Window;
        const tab = tabs[chance(tabs.length)] as string;
        const log = host.logs.get(tab);
        switch (chance(10)) {
          case 0:
            window.connect();
            break;
          case 1:
            window.disconnect();
            break;
          case 2: {
            said += 1;
            window.say(tab, `n${String(said)}`, `p${String(said)}`, true);
            break;
          }
          case 3:
            if (log && chance(6) === 0) host.renewEpoch(tab, `epoch-${String(step)}`);
            break;
          case 4:
            window.double(chance(Math.max(1, window.pending)));
            break;
          case 5:
            window.carryOut(window.model.show(tab));
            break;
          case 6:
            // A reload: the page is new, what it keeps is not.
            if (chance(4) === 0) {
              window.disconnect();
              windows[windows.indexOf(window)] = new Window(host, window.keep);
            }
            break;
          default:
            if (log && log.turn > 0) {
              for (let piece = chance(5); piece >= 0; piece -= 1) {
                host.add(
                  tab,
                  { type: "text", text: `${String(step)}.${String(piece)} ` },
                  1 + chance(log.turn),
                );
              }
            }
        }
        window.read(chance(6));
      }
      for (const window of windows) {
        window.connect();
        window.read();
      }
      // Twice: what one window brought at last, the other hears of only then.
      for (const window of [...windows, ...windows]) {
        window.read();
        for (const tab of tabs) window.carryOut(window.model.show(tab));
        window.read();
      }
      for (const tab of tabs) {
        for (const window of windows) expect(window.words(tab)).toEqual(logWords(host, tab));
      }
      // Every prompt is there exactly once.
      const prompts = tabs.flatMap((tab) => logWords(host, tab).map((words) => words.split(":")[0]));
      expect([...prompts].sort()).toEqual(
        Array.from({ length: said }, (_, at) => `p${String(at + 1)}`).sort(),
      );
    },
  );
});

describe("a prompt that was not confirmed", () => {
  it("is sent again under its own name after a reload, and runs once", () => {
    const host = new FakeHost();
    const first = new Window(host);
    first.connect();
    first.read();
    first.say("t", "n1", "hello", true);
    // The page goes before it hears that the prompt arrived.
    first.disconnect();
    const second = new Window(host, first.keep);
    second.connect();
    second.read();
    expect(second.words("t")).toEqual(["hello:"]);
    expect(second.outbox.of("t")).toEqual([]);
    expect(host.heard.filter((frame) => frame.type === "prompt").length).toBe(2);
  });

  it("opens its tab if the host has not heard of it", () => {
    const host = new FakeHost();
    const window = new Window(host);
    window.say("t", "n1", "hello", true);
    window.connect();
    window.read();
    expect(host.heard.map((frame) => frame.type)).toEqual(["hello", "openTab", "prompt", "history"]);
    expect(window.words("t")).toEqual(["hello:"]);
  });

  it("is held if its tab was closed meanwhile", () => {
    const host = new FakeHost();
    const window = new Window(host);
    window.say("gone", "n1", "hello");
    window.connect();
    window.read();
    expect(window.outbox.get("n1")?.held).toBe("Its tab was closed.");
    expect(host.heard.some((frame) => frame.type === "prompt")).toBe(false);
  });

  it("is held with the host's reason if it is refused, or its tab is", () => {
    const outbox = new Outbox(memory(), 0);
    const model = new HostModel(outbox);
    model.take({ type: "welcome", version: "1", home: "/w", workspaces: [], sessions: [] });
    outbox.add({
      name: "n1",
      tab: "t",
      text: "hello",
      images: [],
      madeMs: 0,
      opening: { agent: "real" },
      held: null,
    });
    expect(sent(model.flush()).map((frame) => frame.type)).toEqual(["openTab", "prompt"]);
    model.take({ type: "refused", code: "workspace_untrusted", message: "trust it first", tab: "t" });
    expect(outbox.get("n1")?.held).toBe("trust it first");
    outbox.release("n1", 1);
    expect(sent(model.flush()).map((frame) => frame.type)).toEqual(["openTab", "prompt"]);
    model.take({ type: "refused", code: "too_large", message: "too long", turn: "n1" });
    expect(outbox.get("n1")?.held).toBe("too long");
  });
});

describe("sessions", () => {
  it("keep the order in which their tabs were opened, and leave the strip when closed", () => {
    const host = new FakeHost();
    for (const tab of ["a", "b", "c"]) host.open(tab);
    const window = new Window(host);
    window.connect();
    window.read();
    expect(window.model.tabOrder).toEqual(["a", "b", "c"]);
    host.change("b", { tab: null });
    host.open("d");
    window.read();
    expect(window.model.tabOrder).toEqual(["a", "c", "d"]);
    expect(window.model.recent().length).toBe(4);
    window.carryOut(window.model.take({ type: "sessionGone", session: 1 }));
    expect(window.model.tabOrder).toEqual(["c", "d"]);
  });

  it("that are opened from history are shown under the tab that the host says", () => {
    const model = new HostModel(new Outbox(memory(), 0));
    const session = {
      session: 7,
      epoch: "e",
      tab: null,
      title: "old",
      agent: "demo",
      workspace: "/w",
      status: "idle" as const,
      agentState: "none" as const,
      queued: 0,
      approvals: 0,
      policy: { mode: "agent" as const, autoCommands: false, autoEdits: false },
      createdMs: 1,
      updatedMs: 2,
    };
    model.take({ type: "welcome", version: "1", home: "/w", workspaces: [], sessions: [] });
    model.take({ type: "history", sessions: [session] });
    expect(sent(model.reopen(7, "new"))).toEqual([{ type: "openTab", tab: "new", session: 7 }]);
    expect(model.take({ type: "session", session: { ...session, tab: "theirs" } })).toEqual([
      { type: "reopened", tab: "theirs" },
    ]);
    expect(model.log("new")).toBeUndefined();
    expect(model.log("theirs")?.cursor).toBe(0);
  });

  it("are followed only as far as the window shows them, and not too many", () => {
    const host = new FakeHost();
    const tabs = Array.from({ length: MAX_LOGS + 1 }, (_, at) => `t${String(at)}`);
    for (const tab of tabs) host.open(tab);
    const window = new Window(host);
    window.connect();
    window.read();
    expect(host.heard.some((frame) => frame.type === "openTab")).toBe(false);
    for (const tab of tabs) window.carryOut(window.model.show(tab));
    expect(host.heard.filter((frame) => frame.type === "leaveTab")).toEqual([
      { type: "leaveTab", tab: "t0" },
    ]);
  });
});

it("what does not fit is never applied: a fresh link, then from the start", () => {
  const model = new HostModel(new Outbox(memory(), 0));
  const host = new FakeHost();
  const { session } = host.open("t");
  model.take({ type: "welcome", version: "1", home: "/w", workspaces: [], sessions: [session] });
  model.show("t");
  const skip: ToView = { type: "events", tab: "t", epoch: "e", after: 4, to: 5, events: [] };
  expect(model.take(skip)).toEqual([{ type: "renew" }]);
  model.hello("1");
  expect(model.take(skip)).toEqual([{ type: "renew" }]);
  expect(model.log("t")?.cursor).toBe(0);
});

it("the record of a tool bench is no conversation", () => {
  const model = new HostModel(new Outbox(memory(), 0));
  const host = new FakeHost();
  const { session: talk } = host.open("t");
  const { session: bench } = host.open("bench:/w", "bench", "/w");
  model.take({ type: "welcome", version: "1", home: "/w", workspaces: [], sessions: [talk, bench] });
  model.take({ type: "session", session: { ...bench, approvals: 2 } });
  expect(model.tabOrder).toEqual(["t"]);
  expect(model.recent().map(({ tab }) => tab)).toEqual(["t"]);
  expect(model.benches().map(({ tab, approvals }) => [tab, approvals])).toEqual([["bench:/w", 2]]);
});

it("rules and how commands are held in are what the host said last", () => {
  const model = new HostModel(new Outbox(memory(), 0));
  expect([model.rules, model.containment]).toEqual([null, null]);
  model.take({ type: "rules", rules: [] });
  model.take({ type: "containment", containment: { type: "works", by: "bubblewrap" } });
  model.take({ type: "containment", containment: { type: "none", reason: "gone" } });
  expect([model.rules, model.containment]).toEqual([[], { type: "none", reason: "gone" }]);
});
