import { beforeEach, expect, test } from "vitest";
import type { Workspace } from "../wire";
import { Chores } from "./chores";
import { isDemoOnly, LocalModel, modelSize, PATIENCE_MS } from "./localmodel";
import { type Ask, LINK_LOST, type Reply } from "./requests";

const HERE = "http://127.0.0.1:11434";
const SERVER = {
  baseUrl: HERE,
  kind: "ollama" as const,
  models: [{ name: "qwen3:8b", size: 5_200_000_000 }],
};

/** A host that answers what the test says, when it says so. */
class Host {
  readonly asked: Ask[] = [];
  workspaces: Workspace[] = [folder("demo")];
  watched = false;
  private open: ((reply: Reply) => void)[] = [];
  private timer: (() => void) | null = null;
  readonly chores = new Chores({
    ask: (what) => this.ask(what),
    changed: () => undefined,
    now: () => 0,
  });
  readonly local = new LocalModel({
    ask: (what) => this.ask(what),
    chores: this.chores,
    workspaces: () => this.workspaces,
    watchSettings: () => (this.watched = true),
    changed: () => undefined,
    later: (run, ms) => {
      expect(ms).toBe(PATIENCE_MS);
      this.timer = run;
      return () => (this.timer = null);
    },
  });

  async answer(reply: Record<string, unknown>): Promise<void> {
    this.open.shift()?.({ request: 1, ...reply } as Reply);
    await settled();
  }

  /** The host has read its file again. */
  takesUp(model: string, baseUrl = HERE): void {
    this.workspaces = [folder("demo", "local")];
    const user = { baseUrl, agentModel: model };
    this.chores.settings = { user, workspaces: [], hasToken: false, tokensIn: "", firstRun: false };
    this.local.see();
  }

  late(): void {
    this.timer?.();
  }

  get waits(): boolean {
    return this.timer !== null;
  }

  private ask(what: Ask): Promise<Reply> {
    this.asked.push(what);
    return new Promise((answer) => this.open.push(answer));
  }
}

function folder(...names: string[]): Workspace {
  const agents = names.map((name) => ({
    name,
    kind: "x",
    process: "session" as const,
    home: "here" as const,
  }));
  return { root: "/w", trusted: false, agents, defaultAgent: "demo", offers: [] };
}

const settled = () => new Promise((done) => setTimeout(done, 0));
let host: Host;
beforeEach(() => {
  host = new Host();
});

test("a server is looked for once at a time, and what it has is offered", async () => {
  const { local } = host;
  void local.look();
  void local.look();
  expect([local.step.at, host.asked]).toEqual(["looking", [{ type: "findServers" }]]);
  await host.answer({ type: "servers", servers: [SERVER], message: "Ollama answers" });
  expect(local.step).toEqual({ at: "offered", servers: [SERVER], message: "Ollama answers" });
});

test("an agent is there when the host has it, not when it was written", async () => {
  const { local } = host;
  const using = local.use(HERE, "qwen3:8b");
  await host.answer({ type: "inUse", agent: "local" });
  expect([local.step, host.waits]).toEqual([{ at: "using", model: "qwen3:8b" }, true]);
  expect([await local.use(HERE, "other"), host.watched]).toEqual([null, true]);
  host.takesUp("qwen3:8b");
  expect(await using).toBe("local");
  expect([local.ready, local.step.at, host.waits]).toEqual([
    { agent: "local", baseUrl: HERE, model: "qwen3:8b" },
    "start",
    false,
  ]);
});

test("one that is there already works with the model once the host says so", async () => {
  host.takesUp("a");
  const using = host.local.use(HERE, "b");
  await host.answer({ type: "inUse", agent: "local" });
  host.takesUp("b", "http://elsewhere:1");
  expect([host.waits, host.local.ready]).toEqual([true, null]);
  host.takesUp("b");
  expect(await using).toBe("local");
});

test("what is chosen again as it is needs no waiting", async () => {
  host.takesUp("b");
  const using = host.local.use(HERE, "b");
  await host.answer({ type: "inUse", agent: "local" });
  expect(await using).toBe("local");
});

test("a host that does not take it up is not waited for without end", async () => {
  const using = host.local.use(HERE, "b");
  await host.answer({ type: "inUse", agent: "local" });
  host.late();
  expect(await using).toBe(null);
  expect(host.local.problem).toContain("switchboard doctor");
  expect(host.local.ready).toBe(null);
  host.takesUp("b");
  expect([host.local.problem, host.local.ready?.agent]).toEqual(["", "local"]);
});

test("whoever sets an agent up is not disturbed by what was begun before", async () => {
  const { local } = host;
  const testing = local.test("http://slow:1", "");
  const using = local.use(HERE, "b");
  await host.answer({ type: "tested", success: false, message: "nobody answers", models: [] });
  expect([await testing, local.step.at, local.problem]).toEqual([false, "using", ""]);
  const second = local.test("http://other:1", "");
  await host.answer({ type: "inUse", agent: "local" });
  await host.answer({ type: "tested", success: true, message: "it works", models: ["m"] });
  expect([await second, local.step.at]).toEqual([true, "using"]);
  host.takesUp("b");
  expect(await using).toBe("local");
  expect(local.step).toMatchObject({ at: "offered", message: "it works" });
});

test("a link that breaks takes nothing away that was found, and where nothing was it is looked for again", async () => {
  const { local } = host;
  void local.look();
  await host.answer({ type: "failed", code: "internal", message: LINK_LOST });
  expect(local.step.at).toBe("start");
  void local.look();
  await host.answer({ type: "servers", servers: [SERVER], message: "" });
  void local.look();
  await host.answer({ type: "failed", code: "internal", message: LINK_LOST });
  expect(local.step).toMatchObject({ at: "offered", servers: [SERVER] });
});

test("what was said of one test is not said of the next", async () => {
  const { local } = host;
  const testing = local.test("http://gpu:1", "");
  await host.answer({ type: "tested", success: false, message: "it wants a token", models: [] });
  await testing;
  local.forget();
  expect([local.problem, local.ready]).toEqual(["", null]);
});

test("what was offered is offered again where nothing came of a choice", async () => {
  const { local } = host;
  void local.look();
  await host.answer({ type: "servers", servers: [SERVER], message: "" });
  const using = local.use(HERE, "qwen3:8b");
  await host.answer({ type: "failed", code: "conflict", message: "mend that first" });
  expect(await using).toBe(null);
  expect([local.step.at, local.problem]).toEqual(["offered", "mend that first"]);
});

test("a server that is named is tested with its token, which is kept first and for it alone", async () => {
  const { local } = host;
  const testing = local.test("http://gpu:1", "t0p");
  expect(host.asked).toEqual([{ type: "saveToken", token: "t0p", baseUrl: "http://gpu:1" }]);
  await host.answer({ type: "token", hasToken: true });
  expect(host.asked.at(-1)).toEqual({ type: "testModels", baseUrl: "http://gpu:1" });
  await host.answer({ type: "tested", success: true, message: "it works", models: ["m"] });
  expect(await testing).toBe(true);
  expect(local.step).toEqual({
    at: "offered",
    servers: [{ baseUrl: "http://gpu:1", models: [{ name: "m" }] }],
    message: "it works",
  });
  expect(JSON.stringify(local)).not.toContain("t0p");
});

test("a test that fails says why and takes nothing away", async () => {
  const { local } = host;
  void local.look();
  await host.answer({ type: "servers", servers: [SERVER], message: "" });
  const testing = local.test("http://gpu:1", "");
  await host.answer({ type: "tested", success: false, message: "it wants a token", models: [] });
  expect(await testing).toBe(false);
  expect([local.problem, local.step.at]).toEqual(["it wants a token", "offered"]);
  const refused = local.test("http://gpu:1", "t");
  await host.answer({ type: "failed", code: "internal", message: "the keyring is locked" });
  expect(await refused).toBe(false);
  expect(local.problem).toBe("the keyring is locked");
});

test("only where nobody but the demo works is anybody led to a model", () => {
  expect(isDemoOnly([])).toBe(true);
  expect(isDemoOnly([folder("demo"), folder()])).toBe(true);
  expect(isDemoOnly([folder("demo"), folder("demo", "claude")])).toBe(false);
});

test("sizes are written as those who serve models do", () => {
  expect([5_200_000_000, 42_000_000_000, 274_000_000].map(modelSize)).toEqual(["5.2 GB", "42 GB", "274 MB"]);
});
