/**
 * What the page knows of the host: sessions, workspaces, history, and the logs of the tabs shown in this window.
 * Says what is to be sent; sends nothing itself. Knows no DOM, no clock and no socket.
 */
import type { Containment, FromView, HistoryPlace, Rule, Seat, Session, ToView, Workspace } from "../wire";
import { TabLog } from "./log";
import type { Outbox } from "./outbox";

/** Logs kept in this window; the one shown longest ago is left when there are more. */
export const MAX_LOGS = 16;
export const HISTORY_PAGE = 40;
/** The agent of sessions that are no conversations but the record of a folder's tool bench. */
const BENCH = "bench";

export type Refusal = { code: string; message: string; tab: string | null; turn: string | null };

/** What the page should do because of what the host said. */
export type Effect =
  | { type: "send"; frame: FromView }
  | { type: "welcomed" }
  | { type: "pong"; n: number }
  /** What came does not continue what we have: a fresh link seats everything anew. */
  | { type: "renew" }
  | { type: "refused"; refusal: Refusal }
  /** A session that was asked for by number has its tab now. */
  | { type: "reopened"; tab: string };

export class HostModel {
  hostVersion = "";
  home = "";
  /** False until the first welcome. */
  met = false;
  readonly workspaces = new Map<string, Workspace>();
  readonly sessions = new Map<number, Session>();
  /** Order of the tabs, as they were opened. */
  tabOrder: string[] = [];
  historyNext: HistoryPlace | null = null;
  historyLoading = false;
  historyRead = false;
  /** The stored rules, once they were asked for. */
  rules: Rule[] | null = null;
  /** How commands are held in; null until the host has said so. */
  containment: Containment | null = null;
  version = 1;
  /** Grows when a session, a workspace or the history changes, but not with words. */
  listVersion = 1;
  private byTabVersion = 0;
  private byTabIndex = new Map<string, Session>();
  private readonly logs = new Map<string, TabLog>();
  /** Tabs that were misfit once on this link's predecessor: the second time they start anew. */
  private readonly misfits = new Set<string>();
  private readonly reopening = new Map<number, string>();
  /** Tabs that this link was asked to seat. */
  private readonly seated = new Set<string>();

  constructor(private readonly outbox: Outbox) {}

  /** The first words on a new link: where we stand in each log. */
  hello(version: string): FromView {
    this.outbox.linkLost();
    this.seated.clear();
    const seats: Seat[] = [];
    for (const [tab, log] of this.logs) {
      if (log.cursor === 0 || log.epoch === "") continue;
      seats.push({ tab, seen: log.seen() });
      this.seated.add(tab);
    }
    return { type: "hello", version, seats };
  }

  take(frame: ToView): Effect[] {
    switch (frame.type) {
      case "welcome":
        return this.welcome(frame);
      case "events": {
        const log = this.logs.get(frame.tab);
        if (!log) return [];
        const taken = log.take(frame);
        if (taken === "applied") this.confirm(frame);
        return this.fitted(frame.tab, log, taken);
      }
      case "gap": {
        const log = this.logs.get(frame.tab);
        return log ? this.fitted(frame.tab, log, log.gap(frame.from, frame.to)) : [];
      }
      case "reset":
        this.logs.get(frame.tab)?.reset();
        this.version += 1;
        return [];
      case "session":
        return this.session(frame.session);
      case "sessionGone":
        this.gone(frame.session);
        return [];
      case "workspace":
        this.workspaces.set(frame.workspace.root, frame.workspace);
        this.listChanged();
        return [];
      case "history":
        this.historyLoading = false;
        this.historyRead = true;
        this.historyNext = frame.next ?? null;
        for (const session of frame.sessions) this.sessions.set(session.session, session);
        this.listChanged();
        return [];
      case "rules":
        this.rules = frame.rules;
        this.listChanged();
        return [];
      case "containment":
        this.containment = frame.containment;
        this.listChanged();
        return [];
      case "refused":
        return this.refused(frame);
      case "pong":
        return [{ type: "pong", n: frame.n }];
      default:
        // A newer host may say more than this page understands; a reload brings the page that does.
        return [];
    }
  }

  /** The log of a tab that this window shows, if it was shown. */
  log(tab: string): TabLog | undefined {
    return this.logs.get(tab);
  }

  byTab(tab: string): Session | undefined {
    if (this.byTabVersion !== this.listVersion) {
      this.byTabVersion = this.listVersion;
      this.byTabIndex = new Map();
      for (const session of this.sessions.values()) {
        if (session.tab !== null) this.byTabIndex.set(session.tab, session);
      }
    }
    return this.byTabIndex.get(tab);
  }

  tabs(): Session[] {
    return this.tabOrder.flatMap((tab) => this.byTab(tab) ?? []);
  }

  /** The records of tool benches. */
  benches(): Session[] {
    return [...this.sessions.values()].filter(({ agent }) => agent === BENCH);
  }

  /** All conversations that are known, newest first. */
  recent(): Session[] {
    const talks = [...this.sessions.values()].filter(({ agent }) => agent !== BENCH);
    return talks.sort((a, b) => b.updatedMs - a.updatedMs || b.session - a.session);
  }

  /** The window shows a tab: its log is followed from now on. */
  show(tab: string): Effect[] {
    if (!this.byTab(tab)) return [];
    const log = this.logs.get(tab) ?? new TabLog();
    // The latest shown stands last.
    this.logs.delete(tab);
    this.logs.set(tab, log);
    this.version += 1;
    return [...this.seat(tab, log), ...this.leaveOldest()];
  }

  /** Opens a session from history in a tab. */
  reopen(session: number, tab: string): Effect[] {
    this.reopening.set(session, tab);
    // Its events may come before the word that it is open.
    this.logs.set(tab, new TabLog());
    this.seated.add(tab);
    return [send({ type: "openTab", tab, session })];
  }

  moreHistory(): Effect[] {
    if (this.historyLoading || (this.historyRead && !this.historyNext)) return [];
    this.historyLoading = true;
    this.listChanged();
    const before = this.historyNext ? { before: this.historyNext } : {};
    return [send({ type: "history", limit: HISTORY_PAGE, ...before })];
  }

  /** Whatever waits in the outbox, with the tabs that it needs. */
  flush(): Effect[] {
    const effects: Effect[] = [];
    for (const entry of this.outbox.due()) {
      if (!this.byTab(entry.tab)) {
        if (!entry.opening) {
          this.outbox.hold(entry.name, "Its tab was closed.");
          continue;
        }
        if (!this.seated.has(entry.tab)) {
          this.seated.add(entry.tab);
          effects.push(send({ type: "openTab", tab: entry.tab, ...entry.opening }));
        }
        if (!this.logs.has(entry.tab)) this.logs.set(entry.tab, new TabLog());
      } else if (!this.logs.has(entry.tab)) {
        // Only a followed log can show that the prompt arrived.
        effects.push(...this.show(entry.tab));
      }
      const context = entry.images.length > 0 ? { context: entry.images.map((image) => ({ image })) } : {};
      effects.push(send({ type: "prompt", tab: entry.tab, name: entry.name, text: entry.text, ...context }));
    }
    if (effects.length > 0) this.version += 1;
    return effects;
  }

  private welcome(frame: Extract<ToView, { type: "welcome" }>): Effect[] {
    this.met = true;
    this.hostVersion = frame.version;
    this.home = frame.home;
    this.workspaces.clear();
    for (const workspace of frame.workspaces) this.workspaces.set(workspace.root, workspace);
    // What was known may have changed while we were away; history is read anew.
    this.sessions.clear();
    this.historyNext = null;
    this.historyRead = false;
    this.historyLoading = false;
    for (const session of frame.sessions) this.sessions.set(session.session, session);
    this.tabOrder = frame.sessions.flatMap(({ tab, agent }) => (tab === null || agent === BENCH ? [] : tab));
    this.listChanged();
    const effects: Effect[] = [{ type: "welcomed" }];
    for (const [tab, log] of this.logs) {
      if (this.byTab(tab)) effects.push(...this.seat(tab, log));
      // A tab that is gone is not followed; one that the outbox is about to open stays.
      else if (!this.outbox.of(tab).some((entry) => entry.opening)) this.logs.delete(tab);
    }
    return [...effects, ...this.flush(), ...this.moreHistory()];
  }

  private seat(tab: string, log: TabLog): Effect[] {
    if (this.seated.has(tab)) return [];
    this.seated.add(tab);
    const seen = log.cursor > 0 && log.epoch !== "" ? { seen: log.seen() } : {};
    return [send({ type: "openTab", tab, ...seen })];
  }

  private leaveOldest(): Effect[] {
    if (this.logs.size <= MAX_LOGS) return [];
    const [oldest] = this.logs.keys();
    if (oldest === undefined) return [];
    this.logs.delete(oldest);
    this.seated.delete(oldest);
    return [send({ type: "leaveTab", tab: oldest })];
  }

  private confirm(frame: Extract<ToView, { type: "events" }>): void {
    for (const { body } of frame.events) if (body.type === "promptQueued") this.outbox.confirm(body.name);
  }

  private fitted(tab: string, log: TabLog, taken: ReturnType<TabLog["take"]>): Effect[] {
    this.version += 1;
    if (taken !== "misfit") {
      if (taken === "applied") this.misfits.delete(tab);
      return [];
    }
    if (this.misfits.has(tab)) log.reset();
    this.misfits.add(tab);
    return [{ type: "renew" }];
  }

  private session(session: Session): Effect[] {
    const before = this.sessions.get(session.session);
    this.sessions.set(session.session, session);
    this.listChanged();
    if (before?.tab && before.tab !== session.tab)
      this.tabOrder = this.tabOrder.filter((tab) => tab !== before.tab);
    if (session.tab !== null && session.agent !== BENCH && !this.tabOrder.includes(session.tab))
      this.tabOrder.push(session.tab);
    if (session.tab === null && before?.tab) this.forget(before.tab);
    const asked = this.reopening.get(session.session);
    if (session.tab === null || asked === undefined) return [];
    this.reopening.delete(session.session);
    if (asked !== session.tab) this.forget(asked);
    const log = this.logs.get(session.tab) ?? new TabLog();
    this.logs.set(session.tab, log);
    // The host has seated us by the request itself.
    this.seated.add(session.tab);
    return [{ type: "reopened", tab: session.tab }];
  }

  private gone(number: number): void {
    const session = this.sessions.get(number);
    this.sessions.delete(number);
    if (session?.tab) {
      this.tabOrder = this.tabOrder.filter((tab) => tab !== session.tab);
      this.forget(session.tab);
    }
    this.listChanged();
  }

  private listChanged(): void {
    this.version += 1;
    this.listVersion += 1;
  }

  private forget(tab: string): void {
    this.logs.delete(tab);
    this.seated.delete(tab);
    this.misfits.delete(tab);
  }

  private refused(frame: Extract<ToView, { type: "refused" }>): Effect[] {
    this.historyLoading = false;
    this.listChanged();
    if (frame.turn !== undefined) this.outbox.hold(frame.turn, frame.message);
    else if (frame.tab !== undefined && !this.byTab(frame.tab)) {
      // The tab could not be opened, so nothing that was meant for it went out.
      for (const entry of this.outbox.of(frame.tab)) this.outbox.hold(entry.name, frame.message);
      this.forget(frame.tab);
    }
    return [
      {
        type: "refused",
        refusal: {
          code: frame.code,
          message: frame.message,
          tab: frame.tab ?? null,
          turn: frame.turn ?? null,
        },
      },
    ];
  }
}

function send(frame: FromView): Effect {
  return { type: "send", frame };
}
