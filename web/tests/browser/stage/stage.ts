/** One browser for a test file, a fresh host for each test, and windows at it. Whatever was opened is closed, whatever happens. */
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { Host } from "./host";
import { Trap } from "./trap";
import { launch, Window } from "./window";
import { Wire } from "./wire";

export interface Stage {
  readonly host: Host;
  readonly browser: Browser;
  /** Where every foreign name leads. */
  readonly trap: Trap;
  /** What the windows' bytes go through, if the file asked for one. */
  readonly wire: Wire;
  /** A browser profile of its own, logged in nowhere. */
  context(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A window in a profile of its own, or in one that is there, logged in. */
  window(context?: BrowserContext): Promise<Window>;
}

/** Call it once in a file, outside of all tests. */
export function useStage({
  wired = false,
  config = "",
  env = () => ({}),
}: {
  wired?: boolean;
  config?: string;
  /** What the host finds in its environment besides ours; asked before each test. */
  env?: () => Record<string, string>;
} = {}): Stage {
  let host: Host | null = null;
  let wire: Wire | null = null;
  let trap: Trap | null = null;
  let browser: Browser | null = null;
  const contexts: BrowserContext[] = [];
  const windows: Window[] = [];
  const there = <T>(thing: T | null): T => {
    if (!thing) throw new Error("the stage is only there while tests run");
    return thing;
  };
  beforeAll(async () => {
    trap = await Trap.set();
    browser = await launch([trap.flag]);
  });
  beforeEach(async () => {
    if (!wired) {
      host = await Host.start(config, env());
      return;
    }
    wire = await Wire.to(0);
    host = await Host.start(`${config}\n[server]\nallowed_hosts = ["127.0.0.1:${wire.port}"]\n`, env());
    wire.target = host.port;
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail" && host) console.error(host.said.join("\n"));
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    await wire?.close();
    await host?.stop();
    wire = null;
    host = null;
    const errors = windows.splice(0).flatMap((window) => window.trouble.errors);
    expect(errors, "errors in the page").toEqual([]);
    expect(trap?.caught.splice(0), "requests that left").toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await trap?.close();
  });
  const stage: Stage = {
    get host() {
      return there(host);
    },
    get browser() {
      return there(browser);
    },
    get trap() {
      return there(trap);
    },
    get wire() {
      return there(wire);
    },
    async context(options = {}) {
      const context = await there(browser).newContext({ viewport: { width: 1100, height: 760 }, ...options });
      contexts.push(context);
      return context;
    },
    async window(context) {
      const link = new URL(await stage.host.login());
      if (wire) link.port = String(wire.port);
      const window = await Window.open(context ?? (await stage.context()), link.href);
      windows.push(window);
      return window;
    },
  };
  return stage;
}
