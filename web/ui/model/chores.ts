/**
 * What the page has done around the host: settings, the token, the test of a model server, upkeep, what was used. Keeps how each
 * stands. Never keeps a token.
 */
import type { Kept, Rebuilt, SettingsState, UsageRow } from "../wire";
import { type Ask, type Reply, whyNot } from "./requests";
import type { Change } from "./settings";

/** How a test went, and of which address. */
export type Tested = { baseUrl: string; success: boolean; message: string; models: string[] };
/** How something goes that a person has begun. */
export type Going = { done: number; total: number } | null;

export type ChoresAround = {
  ask: (what: Ask, news?: (done: number, total: number) => void) => Promise<Reply>;
  changed: () => void;
  now: () => number;
};

/** Days in the picture of what was used. */
export const DAYS = 30;
const DAY_MS = 86_400_000;

export class Chores {
  /** Null until they were asked for and told. */
  settings: SettingsState | null = null;
  saving = false;
  tested: Tested | null = null;
  testing = false;
  tokenBusy = false;
  tokenProblem = "";
  rebuilding: Going = null;
  rebuilt: Rebuilt | null = null;
  keeping = false;
  kept: Kept | null = null;
  upkeepProblem = "";
  /** Whether anybody wants to know what was used. */
  daysWanted = false;
  days: UsageRow[] | null = null;
  daysProblem = "";

  constructor(private readonly around: ChoresAround) {}

  /** Null if they are stored, else why not. */
  async save(folder: string | null, { change, unset }: Change): Promise<string | null> {
    this.saving = true;
    this.around.changed();
    const where = folder === null ? {} : { workspace: folder };
    const out = unset.length === 0 ? {} : { unset };
    const reply = await this.around.ask({ type: "saveSettings", change, ...out, ...where });
    this.saving = false;
    this.around.changed();
    return reply.type === "done" ? null : whyNot(reply);
  }

  /** An empty token is forgotten. True if it went well. */
  async saveToken(token: string, baseUrl: string): Promise<boolean> {
    this.tokenBusy = true;
    this.tokenProblem = "";
    this.around.changed();
    const reply = await this.around.ask({ type: "saveToken", token, ...(baseUrl === "" ? {} : { baseUrl }) });
    this.tokenBusy = false;
    if (reply.type === "token") {
      if (this.settings) this.settings = { ...this.settings, hasToken: reply.hasToken };
    } else this.tokenProblem = whyNot(reply);
    this.around.changed();
    return reply.type === "token";
  }

  async test(baseUrl: string): Promise<void> {
    const where = baseUrl === "" ? (this.settings?.user.baseUrl ?? "") : baseUrl;
    this.testing = true;
    this.tested = null;
    this.around.changed();
    const reply = await this.around.ask({ type: "testModels", ...(baseUrl === "" ? {} : { baseUrl }) });
    this.testing = false;
    this.tested =
      reply.type === "tested"
        ? { baseUrl: where, success: reply.success, message: reply.message, models: reply.models }
        : { baseUrl: where, success: false, message: whyNot(reply), models: [] };
    this.around.changed();
  }

  async upkeep(): Promise<void> {
    this.keeping = true;
    this.kept = null;
    this.upkeepProblem = "";
    this.around.changed();
    const reply = await this.around.ask({ type: "upkeep" });
    this.keeping = false;
    if (reply.type === "kept") this.kept = reply.kept;
    else this.upkeepProblem = whyNot(reply);
    this.around.changed();
  }

  async rebuild(): Promise<void> {
    this.rebuilding = { done: 0, total: 0 };
    this.rebuilt = null;
    this.upkeepProblem = "";
    this.around.changed();
    const reply = await this.around.ask({ type: "rebuild" }, (done, total) => {
      this.rebuilding = { done, total };
      this.around.changed();
    });
    this.rebuilding = null;
    if (reply.type === "rebuilt") this.rebuilt = reply.rebuilt;
    else this.upkeepProblem = whyNot(reply);
    this.around.changed();
  }

  async readDays(): Promise<void> {
    this.daysWanted = true;
    // Whole days in UTC, today's among them.
    const since = (Math.floor(this.around.now() / DAY_MS) - DAYS + 1) * DAY_MS;
    const reply = await this.around.ask({ type: "usage", by: "day", since: Math.max(0, since) });
    if (reply.type === "used") this.days = reply.rows;
    this.daysProblem = reply.type === "used" ? "" : whyNot(reply);
    this.around.changed();
  }
}
