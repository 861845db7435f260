/**
 * A host in memory for tests: logs with numbers, seats with cursors, links that can break between any two frames.
 * Sends what a real one would, in runs that the test cuts as it likes.
 */
import {
  type Body,
  type Event,
  type FromView,
  type Prompt,
  type Seen,
  type Session,
  type ToView,
  VERSION,
  type Workspace,
} from "../wire";

export type Frame = (frame: ToView) => void;

type FakeLog = { session: Session; events: Event[]; names: Set<string>; turn: number };

export class FakeHost {
  readonly logs = new Map<string, FakeLog>();
  readonly links = new Set<FakeLinkEnd>();
  version: string = VERSION;
  workspaces: Workspace[] = [
    { root: "/home/me/project", trusted: false, agents: [], defaultAgent: "demo", offers: [] },
  ];
  /** Every frame that pages sent. */
  readonly heard: FromView[] = [];
  /** How many events go into the next run; the test may answer differently each time. */
  run = (left: number) => left;
  onPrompt: (tab: string, turn: number, text: string) => void = () => undefined;
  time = 1_700_000_000_000;

  connect(tell: Frame): FakeLinkEnd {
    const link = new FakeLinkEnd(this, tell);
    this.links.add(link);
    return link;
  }

  open(tab: string, agent = "demo", workspace = "/home/me/project"): FakeLog {
    const known = this.logs.get(tab);
    if (known) return known;
    const session: Session = {
      session: this.logs.size + 1,
      epoch: `epoch-${tab}`,
      tab,
      title: "",
      agent,
      workspace,
      status: "idle",
      agentState: "none",
      queued: 0,
      approvals: 0,
      policy: { mode: "agent", autoCommands: false, autoEdits: false },
      createdMs: this.time,
      updatedMs: this.time,
    };
    const log: FakeLog = { session, events: [], names: new Set(), turn: 0 };
    this.logs.set(tab, log);
    this.add(tab, { type: "sessionOpened", agent, workspace });
    this.tellAll({ type: "session", session: { ...session } });
    return log;
  }

  add(tab: string, body: Body, turn?: number): void {
    const log = this.logs.get(tab);
    if (!log) return;
    this.time += 7;
    log.events.push({
      seq: log.events.length + 1,
      time: this.time,
      ...(turn === undefined ? {} : { turn }),
      body,
    });
    for (const link of this.links) link.pump(tab);
  }

  prompt(tab: string, name: string, prompt: Prompt): void {
    const log = this.logs.get(tab);
    if (!log || log.names.has(name)) return;
    log.names.add(name);
    log.turn += 1;
    this.add(tab, { type: "promptQueued", name, prompt, position: 0 }, log.turn);
    this.onPrompt(tab, log.turn, prompt.text);
  }

  change(tab: string, change: Partial<Session>): void {
    const log = this.logs.get(tab);
    if (!log) return;
    log.session = { ...log.session, ...change, updatedMs: this.time };
    this.tellAll({ type: "session", session: log.session });
  }

  tellAll(frame: ToView): void {
    for (const link of this.links) link.tell(frame);
  }

  /** A log begins a new life: old cursors mean nothing any more. */
  renewEpoch(tab: string, epoch: string): void {
    const log = this.logs.get(tab);
    if (log) log.session = { ...log.session, epoch };
  }
}

export class FakeLinkEnd {
  private readonly cursors = new Map<string, number>();
  greeted = false;

  constructor(
    private readonly host: FakeHost,
    readonly tell: Frame,
  ) {}

  end(): void {
    this.host.links.delete(this);
  }

  take(frame: FromView): void {
    const { host } = this;
    host.heard.push(frame);
    switch (frame.type) {
      case "hello": {
        this.greeted = true;
        const sessions = [...host.logs.values()]
          .map((log) => log.session)
          .filter((session) => session.tab !== null);
        const { workspaces } = host;
        this.tell({ type: "welcome", version: host.version, home: "/home/me/project", workspaces, sessions });
        for (const seat of frame.seats) this.seat(seat.tab, seat.seen);
        return;
      }
      case "openTab":
        host.open(frame.tab, frame.agent, frame.workspace);
        return this.seat(frame.tab, frame.seen);
      case "leaveTab":
        this.cursors.delete(frame.tab);
        return;
      case "prompt":
        return host.prompt(frame.tab, frame.name, {
          text: frame.text,
          ...(frame.context ? { context: frame.context } : {}),
        });
      case "ping":
        return this.tell({ type: "pong", n: frame.n });
      case "history":
        return this.tell({ type: "history", sessions: [...host.logs.values()].map((log) => log.session) });
      default:
        return;
    }
  }

  /** Sends what the seat has not had, in runs. */
  pump(tab: string): void {
    const log = this.host.logs.get(tab);
    let cursor = this.cursors.get(tab);
    if (!log || cursor === undefined) return;
    while (cursor < log.events.length) {
      const count = Math.max(
        1,
        Math.min(this.host.run(log.events.length - cursor), log.events.length - cursor),
      );
      const to: number = cursor + count;
      const events = merged(log.events.slice(cursor, to));
      // The cursor moves first: what is told may break this very link.
      this.cursors.set(tab, to);
      this.tell({ type: "events", tab, epoch: log.session.epoch, after: cursor, to, events });
      cursor = to;
    }
  }

  private seat(tab: string, seen: Seen | undefined): void {
    const log = this.host.logs.get(tab);
    if (!log) return;
    const good = seen && seen.epoch === log.session.epoch && seen.seq <= log.events.length;
    if (seen && !good) this.tell({ type: "reset", tab });
    this.cursors.set(tab, good ? seen.seq : 0);
    this.pump(tab);
  }
}

/** Words of one turn that follow each other come as one, under the number of the last. */
function merged(events: Event[]): Event[] {
  const out: Event[] = [];
  for (const event of events) {
    const last = out.at(-1);
    const { body } = event;
    if (
      last &&
      last.turn === event.turn &&
      (body.type === "text" || body.type === "thought") &&
      last.body.type === body.type
    ) {
      out[out.length - 1] = { ...event, body: { type: body.type, text: last.body.text + body.text } };
    } else out.push(event);
  }
  return out;
}
