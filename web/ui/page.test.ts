import { beforeEach, expect, it } from "vitest";
import { Drafts } from "./edges/drafts";
import { outboxKeep, Shelf } from "./edges/keep";
import { Prefs } from "./edges/prefs";
import { NewTabs } from "./model/newtabs";
import { answerOf, type Turn } from "./model/turn";
import { Page } from "./page";
import { FakeHost } from "./testing/fakehost";
import { FakeTools } from "./testing/faketools";

/** A page in virtual time, with a host that answers at once or not at all. */
class Stage {
  readonly host = new FakeHost();
  readonly tools = new FakeTools();
  now = 0;
  up = true;
  drawings = 0;
  frames: (() => void)[] = [];
  private timers: { at: number; run: () => void }[] = [];
  private ids = 0;
  private breakLink: () => void = () => undefined;
  page = this.newPage();

  /** A page as after a reload: what is kept is kept, the rest is new. */
  newPage(): Page {
    this.frames = [];
    this.timers = [];
    const page = new Page({
      openLink: (on) => {
        let over = false;
        const end = this.host.connect((frame) => {
          if (!over) on.frame(frame);
        });
        this.after(0, () => {
          if (!over && !this.up) this.breakLink();
          else if (!over) on.opened();
        });
        this.breakLink = () => {
          if (over) return;
          over = true;
          end.end();
          on.closed();
        };
        return {
          send: (frame) => {
            if (!over) end.take(frame);
          },
          close: () => {
            over = true;
            end.end();
          },
        };
      },
      openTools: this.tools.open,
      letIn: () => Promise.resolve(true),
      keep: outboxKeep(new Shelf(localStorage)),
      newTabs: new NewTabs({
        load: () => sessionStorage.getItem("new"),
        save: (value) => {
          sessionStorage.setItem("new", value);
        },
        loadShared: () => null,
        saveShared: () => undefined,
      }),
      drafts: new Drafts(new Shelf(localStorage), () => this.now),
      prefs: new Prefs(new Shelf(localStorage), document.documentElement),
      now: () => this.now,
      newId: () => `id-${String((this.ids += 1))}`,
      frame: (draw) => this.frames.push(draw),
      later: (run, ms) => this.after(ms, run),
      version: this.host.version,
    });
    page.onFrame = () => (this.drawings += 1);
    return page;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.now + ms, run };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((each) => each !== timer));
  }

  pass(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const [next] = this.timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = until;
  }

  draw(): void {
    const frames = this.frames;
    this.frames = [];
    for (const frame of frames) frame();
  }

  lose(): void {
    this.breakLink();
  }

  words(): string[] {
    const entries = this.page.model.log(this.page.active ?? "")?.entries ?? [];
    return entries
      .filter((entry): entry is Turn => entry.kind === "turn")
      .map((turn) => `${turn.prompt}:${answerOf(turn)}`);
  }
}

let stage: Stage;
beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  stage = new Stage();
});

function online(): Page {
  stage.page.start(null);
  stage.pass(1);
  expect(stage.page.machine.phase).toBe("online");
  return stage.page;
}

it("the first prompt opens its tab, and the tab becomes the host's", () => {
  const page = online();
  const tab = page.active;
  expect([page.session, page.strip()]).toEqual([undefined, [tab]]);
  page.prompt("hello");
  expect(page.session?.tab).toBe(tab);
  expect(page.strip()).toEqual([tab]);
  expect(stage.words()).toEqual(["hello:"]);
});

it("a thousand words are drawn in one frame", () => {
  const page = online();
  page.prompt("hello");
  stage.draw();
  const before = stage.drawings;
  for (let at = 0; at < 1_000; at += 1)
    stage.host.add(page.active ?? "", { type: "text", text: `${String(at)} ` }, 1);
  expect(stage.frames.length).toBe(1);
  stage.draw();
  expect(stage.drawings).toBe(before + 1);
});

it("a prompt that is written while the host is gone goes out once it is back", () => {
  const page = online();
  page.prompt("one");
  stage.up = false;
  stage.lose();
  expect(page.machine.phase).toBe("waiting");
  page.prompt("two");
  stage.pass(20_000);
  expect(page.machine.retries).toBeGreaterThan(3);
  stage.up = true;
  page.wake();
  stage.pass(1);
  expect(page.machine.phase).toBe("online");
  expect(stage.words()).toEqual(["one:", "two:"]);
});

it("a reload before the host has confirmed sends the same prompt again, once", () => {
  stage.page.start(null);
  const tab = stage.page.active;
  stage.page.prompt("hello");
  stage.page = stage.newPage();
  stage.page.start(tab);
  stage.pass(1);
  expect(stage.words()).toEqual(["hello:"]);
  expect(stage.host.heard.filter((frame) => frame.type === "prompt").length).toBe(1);
});

it("a link that comes back goes on where it was", () => {
  const page = online();
  page.prompt("hello");
  const tab = page.active ?? "";
  stage.host.add(tab, { type: "text", text: "one " }, 1);
  stage.lose();
  stage.host.add(tab, { type: "text", text: "two " }, 1);
  stage.pass(1_000);
  stage.host.add(tab, { type: "text", text: "three" }, 1);
  expect(stage.words()).toEqual(["hello:one two three"]);
  expect(stage.host.heard.filter((frame) => frame.type === "hello").at(-1)).toMatchObject({
    seats: [{ tab, seen: { seq: 3 } }],
  });
});

it("a machine that slept notices a dead link at once", () => {
  const page = online();
  // Nobody answers any more, and nobody says so.
  for (const link of stage.host.links) link.take = () => undefined;
  stage.now += 3_600_000;
  page.wake();
  stage.pass(3_000);
  expect(page.machine.retries).toBe(1);
  stage.pass(1_000);
  expect(page.machine.phase).toBe("online");
});

it("stop cancels what runs; a closed tab gives way to its neighbour", () => {
  const page = online();
  page.prompt("hello");
  const first = page.active ?? "";
  page.newTab({});
  const second = page.active ?? "";
  page.show(first);
  page.stop();
  expect(stage.host.heard.at(-1)).toMatchObject({ type: "cancel", tab: first });
  page.closeTab(first);
  expect(page.active).toBe(second);
});

it("a tab that another window closed is left", () => {
  const page = online();
  page.prompt("hello");
  const tab = page.active ?? "";
  stage.host.change(tab, { tab: null });
  expect(page.active).not.toBe(tab);
  expect(page.strip()).toEqual([page.active]);
});

it("a host of another version asks for a reload", () => {
  const page = online();
  stage.host.version = "99.0.0";
  stage.lose();
  stage.pass(1_000);
  expect(page.outdated).toBe(true);
});

it("what cannot be done without the host is said", () => {
  const page = online();
  page.prompt("hello");
  stage.up = false;
  stage.lose();
  page.stop();
  expect(page.toasts.map((toast) => toast.text)).toEqual([
    "Not connected to the host. Try again when it is back.",
  ]);
  stage.pass(13_000);
  expect(page.toasts).toEqual([]);
});

it("an answer of the agent's own goes out by its name, options and sign-ins with their tab", () => {
  const page = online();
  page.prompt("hello");
  const tab = page.active ?? "";
  page.decide("q", { decision: "allow_session", option: "always" });
  page.decide("q", { decision: "allow_once", command: "ls" });
  page.setOption("model", "small");
  page.signIn("account");
  expect(stage.host.heard.slice(-4)).toEqual([
    { type: "decide", tab, approval: "q", decision: "allow_session", option: "always" },
    { type: "decide", tab, approval: "q", decision: "allow_once", command: "ls" },
    { type: "setOption", tab, option: "model", value: "small" },
    { type: "signIn", tab, method: "account" },
  ]);
});

it("pictures go with their prompt and wait no longer", () => {
  const page = online();
  const image = { mime: "image/png", data: "AAAA" };
  page.pictures.set(page.active ?? "", [image]);
  page.prompt("", [image]);
  expect(page.pictures.size).toBe(0);
  expect(stage.host.heard.findLast((frame) => frame.type === "prompt")).toMatchObject({
    text: "",
    context: [{ image }],
  });
  const [turn] = page.model.log(page.active ?? "")?.entries ?? [];
  expect(turn).toMatchObject({ kind: "turn", context: [{ image }] });
});

it("only a trusted folder offers agents, each of them once", () => {
  const offer = { name: "gemini", title: "Gemini CLI", command: "gemini --acp" };
  const folder = (root: string, trusted: boolean) => ({
    root,
    trusted,
    agents: [],
    defaultAgent: "demo",
    offers: [offer],
  });
  stage.host.workspaces = [folder("/a", false)];
  expect(online().offers).toEqual([]);
  stage.host.workspaces = [folder("/a", true), folder("/b", true)];
  stage.lose();
  stage.pass(1_000);
  expect(stage.page.offers).toEqual([offer]);
});

it("the bench follows its log: what a command writes, and who has answered elsewhere", async () => {
  const page = online();
  stage.host.open("bench:/home/me/project", "bench");
  page.openBench();
  // The bench's link opens on its own.
  await Promise.resolve();
  expect(stage.tools.heard.map(({ type }) => type)).toEqual([
    "SUBSCRIBE_APPROVALS",
    "GET_TOOLS",
    "GET_TOOL_HISTORY",
  ]);
  const { session } = stage.host.logs.get("bench:/home/me/project") ?? {};
  stage.tools.say({
    type: "APPROVAL_REQUEST",
    approvalId: `${String(session?.session)}:a1`,
    kind: "command",
    title: "ls",
    severity: "low",
    reason: "",
  });
  const add = (body: Parameters<FakeHost["add"]>[1]) => {
    stage.host.add("bench:/home/me/project", body);
  };
  add({
    type: "approvalAsked",
    approval: { id: "a1", kind: "command", title: "ls", severity: "low", reason: "" },
  });
  expect(page.bench.asks[0]?.resolution).toBe(null);
  add({ type: "approvalResolved", approval: "a1", resolution: "allow_once" });
  expect(page.bench.asks[0]).toMatchObject({ resolution: "allow_once", mine: false });
  add({
    type: "executionStarted",
    execution: { id: "e1", kind: "command", title: "ls", digest: "", call: "c1" },
  });
  add({ type: "executionOutput", execution: "e1", text: "a.rs\n" });
  expect(page.benchExecution("c1")?.output.text).toBe("a.rs\n");
  expect(page.benchExecution("c2")).toBe(null);
  expect(page.strip()).not.toContain("bench:/home/me/project");
});

it("rules are asked for again on a new link, once they are wanted", () => {
  const page = online();
  const asked = () => stage.host.heard.filter(({ type }) => type === "watchRules").length;
  expect(asked()).toBe(0);
  page.watchRules();
  stage.lose();
  stage.pass(1_000);
  expect(asked()).toBe(2);
  page.setPolicy({ autoEdits: true });
  expect(stage.host.heard.some(({ type }) => type === "setPolicy")).toBe(false);
  page.prompt("hello");
  page.setPolicy({ autoEdits: true });
  expect(stage.host.heard.at(-1)).toEqual({
    type: "setPolicy",
    tab: page.active,
    change: { autoEdits: true },
  });
});

it("an agent to work with gets the tab in which nothing was said, and else a new one", () => {
  const page = online();
  const tab = page.active;
  page.workWith("local");
  expect([page.active, page.agent, page.strip()]).toEqual([tab, "local", [tab]]);
  expect([page.takeWanted(), page.takeWanted()]).toEqual([true, false]);
  page.prompt("hello");
  page.workWith("other");
  expect(page.active).not.toBe(tab);
  expect([page.agent, page.strip()]).toEqual(["other", [tab, page.active]]);
  expect(page.newTabs.get(page.active)).toEqual({ agent: "other", workspace: "/home/me/project" });
});

it("the address is told when the settings are opened and closed, once each", () => {
  const page = online();
  const told: boolean[] = [];
  page.onPlace = () => told.push(page.settingsOpen);
  page.openSettings(true);
  page.openSettings(true);
  page.openSettings(false);
  expect(told).toEqual([true, false]);
});
