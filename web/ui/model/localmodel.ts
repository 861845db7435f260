/**
 * The way from nothing to an agent that works with a model of one's own: a server is looked for or named, one of its models is
 * chosen, and the agent is there once the host has read its configuration again. Knows no DOM and no socket.
 */
import type { ModelServer, ServedModel, Workspace } from "../wire";
import type { Chores } from "./chores";
import { type Ask, isLost, type Reply, whyNot } from "./requests";

/** How long the host may take to read its own configuration; it looks at once. */
export const PATIENCE_MS = 30_000;

/** A server, and what it has; of one that a person has named nobody knows what it is. */
export type Offer = Pick<ModelServer, "baseUrl" | "models"> & Partial<Pick<ModelServer, "kind">>;

/** A model that was chosen, and the agent that shall work with it. */
type Choice = { agent: string; baseUrl: string; model: string };

export type Step =
  /** Nobody has looked yet. */
  | { at: "start" }
  | { at: "looking" }
  /** What was found, perhaps nothing; the words are the host's. */
  | { at: "offered"; servers: Offer[]; message: string }
  /** A model was chosen, and its agent is not there yet. */
  | { at: "using"; model: string };

export type LocalAround = {
  ask: (what: Ask) => Promise<Reply>;
  chores: Chores;
  workspaces: () => Iterable<Workspace>;
  /** Has the settings told from now on. */
  watchSettings: () => void;
  changed: () => void;
  later: (run: () => void, ms: number) => () => void;
};

export class LocalModel {
  step: Step = { at: "start" };
  /** What went wrong last, for a person. */
  problem = "";
  /** The agent that was made here last, and its model. */
  ready: { agent: string; model: string } | null = null;
  /** Grows with every change. */
  version = 0;
  /** What is gone back to if nothing comes of a choice. */
  private offered: Step = { at: "start" };
  private waiting: { choice: Choice; done: (there: boolean) => void } | null = null;
  /** What the host had not taken up when patience ended. */
  private late: Choice | null = null;

  constructor(private readonly around: LocalAround) {}

  /** Looks on the host's own machine. */
  async look(): Promise<void> {
    if (this.step.at === "looking" || this.step.at === "using") return;
    this.go({ at: "looking" });
    const reply = await this.around.ask({ type: "findServers" });
    if (reply.type === "servers")
      this.offer({ at: "offered", servers: reply.servers, message: reply.message });
    // What was found before is still there; where nothing was, it is looked for when the link is back.
    else if (isLost(reply)) this.offer(this.offered);
    else this.offer({ at: "offered", servers: [], message: whyNot(reply) });
  }

  /** Nothing of what went before is said any more. */
  forget(): void {
    this.ready = null;
    this.late = null;
    this.complain("");
  }

  /** Asks a server that the person names; a token is kept for it first. True if it has something to offer. */
  async test(baseUrl: string, token: string): Promise<boolean> {
    const { chores } = this.around;
    this.complain("");
    if (token !== "" && !(await chores.saveToken(token, baseUrl))) {
      this.complain(chores.tokenProblem);
      return false;
    }
    await chores.test(baseUrl);
    const { tested } = chores;
    if (!tested?.success) {
      this.complain(tested?.message ?? "");
      return false;
    }
    const models: ServedModel[] = tested.models.map((name) => ({ name }));
    this.offer({
      at: "offered",
      servers: [{ baseUrl, models }],
      message: tested.message,
    });
    return models.length > 0;
  }

  /** The name of the agent that works with the model, once it is there; null if nothing came of it. */
  async use(baseUrl: string, model: string): Promise<string | null> {
    if (this.step.at === "using") return null;
    if (this.step.at !== "looking") this.offered = this.step;
    this.forget();
    this.go({ at: "using", model });
    this.around.watchSettings();
    const reply = await this.around.ask({ type: "useModel", baseUrl, model });
    if (reply.type !== "inUse") {
      this.go(this.offered);
      this.fail(whyNot(reply));
      return null;
    }
    const choice = { agent: reply.agent, baseUrl, model };
    const there = await this.arrival(choice);
    this.go(this.offered);
    if (there) this.ready = choice;
    else {
      this.late = choice;
      this.fail(
        `\`${reply.agent}\` is in your configuration, and the host has not taken it up; run \`switchboard doctor\``,
      );
    }
    return there ? reply.agent : null;
  }

  /** The host has said something: the agent may be there now. */
  see(): void {
    if (this.waiting && this.holds(this.waiting.choice)) this.waiting.done(true);
    if (this.late && this.holds(this.late)) {
      this.ready = this.late;
      this.late = null;
      this.complain("");
    }
  }

  /** Whether the host works by what was chosen: it has the agent, and knows its place and model. */
  private holds({ agent, baseUrl, model }: Choice): boolean {
    const user = this.around.chores.settings?.user;
    const all = [...this.around.workspaces()];
    const there = all.some(({ agents }) => agents.some(({ name }) => name === agent));
    return there && user?.baseUrl === baseUrl.trim() && user.agentModel === model.trim();
  }

  private arrival(choice: Choice): Promise<boolean> {
    return new Promise((settled) => {
      const done = (there: boolean): void => {
        stop();
        this.waiting = null;
        settled(there);
      };
      const stop = this.around.later(() => {
        done(false);
      }, PATIENCE_MS);
      this.waiting = { choice, done };
      this.see();
    });
  }

  /** Who sets an agent up is not led elsewhere by what was begun before. */
  private offer(step: Step): void {
    this.offered = step;
    if (this.step.at !== "using") this.go(step);
  }

  private complain(problem: string): void {
    if (this.step.at !== "using") this.fail(problem);
  }

  private go(step: Step): void {
    this.step = step;
    this.fail("");
  }

  private fail(problem: string): void {
    this.problem = problem;
    this.version += 1;
    this.around.changed();
  }
}

/** Whether nobody but the demo works anywhere. */
export function isDemoOnly(workspaces: Iterable<Workspace>): boolean {
  return [...workspaces].every(({ agents }) => agents.every(({ name }) => name === "demo"));
}

/** A model's size as those who serve it write it. */
export function modelSize(bytes: number): string {
  const [unit, size] = bytes >= 1e9 ? ["GB", bytes / 1e9] : ["MB", bytes / 1e6];
  return `${size.toLocaleString(undefined, { maximumFractionDigits: size < 10 ? 1 : 0 })} ${unit}`;
}
