/**
 * A host's side of the page's WebSocket that says what a test wants: for what real agents say and no demo does, in states that
 * a real one passes in a moment. The page itself, with its policy, is the real host's.
 */
import type { BrowserContext, WebSocketRoute } from "playwright-core";
import {
  type Body,
  type Containment,
  type Event,
  type FromView,
  type Rule,
  type Session,
  type ToView,
  VERSION,
  type Workspace,
} from "../../../ui/wire";

/** A body, in turn 1 unless it says that it belongs to none. */
export type Line = Body & { loose?: true };

export const ROOT = "/home/me/project";

/** What is said to each sort of frame; later answers are said by `tell`. */
export type Replies = { [T in FromView["type"]]?: (frame: Extract<FromView, { type: T }>) => ToView[] };

export class Script {
  /** What the page said, in order. */
  readonly heard: FromView[] = [];
  readonly workspaces: Workspace[] = [
    {
      root: ROOT,
      trusted: true,
      agents: [{ name: "claude", kind: "acp", process: "session", home: "here" }],
      defaultAgent: "claude",
      offers: [],
    },
  ];
  session: Session = {
    session: 1,
    epoch: "one",
    tab: "t",
    title: "Keep the empty lines",
    agent: "claude",
    workspace: ROOT,
    status: "running",
    agentState: "ready",
    queued: 0,
    approvals: 0,
    policy: { mode: "agent", autoCommands: false, autoEdits: false },
    createdMs: Date.now(),
    updatedMs: Date.now(),
  };
  /** Conversations besides the one whose words are said here. */
  others: Session[] = [];
  /** What the page is told when it asks; what is not here gets no answer. */
  readonly replies: Replies = {};
  rules: Rule[] = [];
  containment: Containment = { type: "works", by: "bubblewrap 0.11.0" };
  private readonly events: Event[] = [];
  private readonly links = new Set<WebSocketRoute>();

  constructor(lines: Line[], session: Partial<Session> = {}) {
    Object.assign(this.session, session);
    this.add(lines);
  }

  /** Every window of the context talks to this instead of the host, from its next page on. */
  async at(context: BrowserContext): Promise<void> {
    await context.routeWebSocket(/\/ws\/switchboard$/, (link) => {
      this.links.add(link);
      link.onClose(() => this.links.delete(link));
      link.onMessage((data) => {
        const frame = JSON.parse(String(data)) as FromView;
        this.heard.push(frame);
        for (const answer of this.answers(frame)) link.send(JSON.stringify(answer));
      });
    });
  }

  /** More happens. */
  say(...lines: Line[]): void {
    const after = this.events.length;
    this.add(lines);
    this.tell(this.run(after));
  }

  change(change: Partial<Session>): void {
    this.session = { ...this.session, ...change };
    this.tell({ type: "session", session: this.session });
  }

  /** The last frame of that type that the page said. */
  last<T extends FromView["type"]>(type: T): Extract<FromView, { type: T }> | undefined {
    return this.heard.findLast((frame): frame is Extract<FromView, { type: T }> => frame.type === type);
  }

  tell(frame: ToView): void {
    for (const link of this.links) link.send(JSON.stringify(frame));
  }

  private add(lines: Line[]): void {
    for (const { loose, ...body } of lines) {
      const seq = this.events.length + 1;
      this.events.push({ seq, time: 1_000 * seq, ...(loose ? {} : { turn: 1 }), body: body as Body });
    }
  }

  /** The log behind an event. */
  run(after: number): ToView {
    const { tab, epoch } = this.session;
    const events = this.events.slice(after);
    return { type: "events", tab: tab ?? "t", epoch, after, to: this.events.length, events };
  }

  /** Another conversation, closed unless it has a tab. */
  other(change: Partial<Session>): Session {
    const session = { ...this.session, tab: null, status: "idle" as const, ...change };
    this.others.push(session);
    return session;
  }

  private answers(frame: FromView): ToView[] {
    const reply = this.replies[frame.type] as ((frame: FromView) => ToView[]) | undefined;
    return reply ? reply(frame) : this.usual(frame);
  }

  private usual(frame: FromView): ToView[] {
    const { workspaces, session } = this;
    switch (frame.type) {
      case "hello": {
        const welcome: ToView = {
          type: "welcome",
          version: VERSION,
          home: ROOT,
          workspaces,
          sessions: [session],
        };
        const held: ToView = { type: "containment", containment: this.containment };
        return [welcome, held, ...frame.seats.map(({ seen }) => this.run(seen.seq))];
      }
      case "openTab":
        return [this.run(0)];
      case "history":
        return [{ type: "history", sessions: [session, ...this.others] }];
      case "watchRules":
        return [{ type: "rules", rules: this.rules }];
      case "removeRule":
        this.rules = this.rules.filter(({ id }) => id !== frame.rule);
        return [{ type: "rules", rules: this.rules }];
      case "setPolicy": {
        this.session = { ...session, policy: { ...session.policy, ...frame.change } };
        return [{ type: "session", session: this.session }];
      }
      case "ping":
        return [{ type: "pong", n: frame.n }];
      default:
        return [];
    }
  }
}

/** The beginning of every script: a prompt, and its turn. */
export function asked(text = "Keep the empty lines when the file is parsed."): Line[] {
  return [
    { type: "sessionOpened", agent: "claude", workspace: ROOT, loose: true },
    { type: "promptQueued", name: "n1", prompt: { text }, position: 0 },
    { type: "turnStarted" },
  ];
}
