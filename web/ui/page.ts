/**
 * The page's one place of action: joins model, link and what is kept, and says once per frame that there is
 * something to draw. Draws nothing itself.
 */
import type { Around, Toast } from "./around";
import type { Drafts } from "./edges/drafts";
import type { Prefs } from "./edges/prefs";
import { ToolsLink } from "./edges/tools";
import { HostLink } from "./hostlink";
import { Library } from "./library";
import type { Answer } from "./model/answers";
import { Bench } from "./model/bench";
import { type Effect, HostModel } from "./model/hostmodel";
import type { LinkMachine } from "./model/link";
import { LocalModel } from "./model/localmodel";
import { NewTabs } from "./model/newtabs";
import { Outbox } from "./model/outbox";
import type { ExecutionPiece } from "./model/turn";
import type { AgentOffer, FromView, Image, PolicyChange, Session, Workspace } from "./wire";

export class Page {
  readonly outbox: Outbox;
  readonly model: HostModel;
  readonly drafts: Drafts;
  readonly prefs: Prefs;
  readonly newTabs: NewTabs;
  /** The tool bench and its own link. */
  readonly bench: Bench;
  readonly tools: ToolsLink;
  /** Search, settings, and what is done to conversations by their numbers. */
  readonly library: Library;
  /** The way to an agent with a model of one's own. */
  readonly local: LocalModel;
  active: string | null = null;
  toasts: Toast[] = [];
  /** Pictures that wait for the prompt of a tab; they last as long as the page. */
  readonly pictures = new Map<string, Image[]>();
  /** True when the host is of another version than this page. */
  outdated = false;
  /** The person has read that nothing holds commands in. */
  containmentRead = false;
  /** Called once per frame in which something changed. */
  onFrame: () => void = () => undefined;
  /** Whether the settings lie over the page. */
  settingsOpen = false;
  /** Called when another tab is shown, or the settings, so that the address says so. */
  onPlace: () => void = () => undefined;
  /** The person should write next, as soon as it is drawn where. */
  private wordsWanted = false;
  private readonly link: HostLink;
  private drawing = false;
  private toastCount = 0;
  private visible = true;
  private rulesWatched = false;
  private benchOpen = false;
  private benchFolder: string | null = null;
  private readonly answeredHere = new Set<string>();

  constructor(private readonly around: Around) {
    const changed = () => {
      this.changed();
    };
    this.outbox = new Outbox(around.keep, around.now());
    this.model = new HostModel(this.outbox);
    this.drafts = around.drafts;
    this.prefs = around.prefs;
    this.newTabs = around.newTabs;
    this.tools = new ToolsLink(around.openTools, around.later, {
      opened: () => void this.bench.connected(),
      unasked: (message) => {
        this.bench.take(message);
      },
      changed,
    });
    this.bench = new Bench({
      ask: (message) => this.tools.request(message),
      now: around.now,
      newId: around.newId,
      later: around.later,
      workspace: () => this.benchRoot,
      changed,
    });
    this.library = new Library({
      send: (frame) => {
        if (!this.link.online) return false;
        this.link.send(frame);
        return true;
      },
      open: (session) => this.openNumber(session),
      toast: (text, tone) => {
        this.toast(text, tone);
      },
      changed,
      later: around.later,
      now: around.now,
    });
    this.local = new LocalModel({
      ask: (what) => this.library.requests.ask(what),
      chores: this.library.chores,
      workspaces: () => this.model.workspaces.values(),
      watchSettings: () => {
        this.library.watchSettings();
      },
      changed,
      later: around.later,
    });
    this.link = new HostLink(around, {
      hello: () => this.model.hello(around.version),
      frame: (frame) => {
        if (!this.library.take(frame)) this.run(this.model.take(frame));
        this.followBench();
        this.local.see();
        this.changed();
      },
      changed: () => {
        if (!this.link.online) this.library.linkLost();
        this.changed();
      },
    });
  }

  start(tab: string | null): void {
    this.active = tab ?? this.newTabs.first(this.around.newId);
    // A reload comes back to what was shown, also before anything else was.
    this.onPlace();
    this.link.step({ type: "start" });
  }

  now(): number {
    return this.around.now();
  }

  /** How the link is, for whoever shows it. */
  get machine(): LinkMachine {
    return this.link.machine;
  }

  // What the person does.

  get session(): Session | undefined {
    return this.active === null ? undefined : this.model.byTab(this.active);
  }

  /** The folder that the shown tab works in, or would. */
  get workspace(): Workspace | undefined {
    const root = this.session?.workspace ?? this.newTabs.get(this.active)?.workspace ?? this.model.home;
    return this.model.workspaces.get(root);
  }

  /** The agent that the shown tab talks to, or would. */
  get agent(): string {
    return (
      this.session?.agent ?? this.newTabs.get(this.active)?.agent ?? this.workspace?.defaultAgent ?? "demo"
    );
  }

  /** Agents that are installed and could be configured; only where a folder is trusted would they start. */
  get offers(): AgentOffer[] {
    const offers = new Map<string, AgentOffer>();
    for (const workspace of this.model.workspaces.values())
      if (workspace.trusted) for (const offer of workspace.offers) offers.set(offer.name, offer);
    return [...offers.values()];
  }

  prompt(text: string, images: Image[] = []): void {
    const tab = this.active ?? this.newTabs.first(this.around.newId);
    const fresh = this.newTabs.get(tab);
    const known = this.model.byTab(tab);
    const opening = known ? null : { agent: this.agent, workspace: fresh?.workspace ?? this.model.home };
    if (opening && opening.workspace === "") delete (opening as { workspace?: string }).workspace;
    const name = this.around.newId();
    this.outbox.add({ name, tab, text, images, madeMs: this.now(), opening, held: null });
    this.drafts.drop(tab);
    this.pictures.delete(tab);
    if (this.link.online) this.run(this.model.flush());
    this.changed();
  }

  sendHeld(name: string): void {
    const entry = this.outbox.get(name);
    if (!entry) return;
    if (!this.model.byTab(entry.tab) && !entry.opening) entry.opening = {};
    this.outbox.release(name, this.now());
    if (this.link.online) this.run(this.model.flush());
    this.changed();
  }

  discard(name: string): void {
    this.outbox.remove(name);
    this.changed();
  }

  /** Stops what runs in the shown tab; if nothing runs, what waits first. */
  stop(): void {
    const open = this.active === null ? [] : (this.model.log(this.active)?.open() ?? []);
    const target = open.find((turn) => turn.state === "running") ?? open[0];
    if (target) this.cancel(target.name);
  }

  cancel(name: string): void {
    if (this.active !== null && name !== "") this.send({ type: "cancel", tab: this.active, name });
  }

  /** Answers a question of the shown tab; false if nobody is there to hear it. */
  decide(approval: string, answer: Answer): boolean {
    if (this.active === null) return false;
    const online = this.link.online;
    if (online) this.answeredHere.add(approvalKey(this.active, approval));
    this.send({ type: "decide", tab: this.active, approval, ...answer });
    return online;
  }

  /** Whether this window has answered the question, so that nobody need be told who has. */
  hasAnswered(tab: string, approval: string): boolean {
    return this.answeredHere.has(approvalKey(tab, approval));
  }

  setPolicy(change: PolicyChange): void {
    if (this.active !== null && this.session) this.send({ type: "setPolicy", tab: this.active, change });
  }

  /** Rules are told from now on. */
  watchRules(): void {
    this.rulesWatched = true;
    if (this.link.online) this.link.send({ type: "watchRules" });
  }

  removeRule(rule: string): void {
    this.send({ type: "removeRule", rule });
  }

  setOption(option: string, value: string): void {
    if (this.active !== null) this.send({ type: "setOption", tab: this.active, option, value });
  }

  signIn(method: string): void {
    if (this.active !== null) this.send({ type: "signIn", tab: this.active, method });
  }

  addAgent(offer: AgentOffer): void {
    this.send({ type: "addAgent", name: offer.name });
  }

  restartAgent(): void {
    if (this.active !== null) this.send({ type: "restartAgent", tab: this.active });
  }

  trust(workspace: string, trusted: boolean): void {
    this.send({ type: "trust", workspace, trusted });
  }

  show(tab: string): void {
    if (this.active !== tab) {
      this.active = tab;
      this.onPlace();
    }
    if (this.link.online) this.run(this.model.show(tab));
    this.changed();
  }

  newTab(choice: { agent?: string; workspace?: string }): void {
    this.show(this.newTabs.add(this.around.newId(), choice));
  }

  /** The next prompt goes to this agent: in the shown tab, if nothing was said there yet, else in a new one. */
  workWith(agent: string): void {
    const root = this.workspace?.root;
    const choice = { agent, ...(root === undefined ? {} : { workspace: root }) };
    if (this.active !== null && this.newTabs.get(this.active) && this.outbox.of(this.active).length === 0)
      this.newTabs.choose(this.active, choice);
    else this.newTab(choice);
    this.wantWords();
  }

  /** The keys should go to where the person goes on. */
  wantWords(): void {
    this.wordsWanted = true;
    this.changed();
  }

  /** Whether they should, once. */
  takeWanted(): boolean {
    const wanted = this.wordsWanted;
    this.wordsWanted = false;
    return wanted;
  }

  openSettings(open: boolean): void {
    if (this.settingsOpen === open) return;
    this.settingsOpen = open;
    this.onPlace();
    this.changed();
  }

  closeTab(tab: string): void {
    const neighbour = this.neighbour(tab);
    if (this.newTabs.get(tab)) {
      this.newTabs.drop(tab);
      this.drafts.drop(tab);
      this.pictures.delete(tab);
    } else this.send({ type: "closeTab", tab });
    if (this.active === tab) this.show(neighbour ?? this.newTabs.first(this.around.newId));
    this.changed();
  }

  openSession({ session }: Session): void {
    this.openNumber(session);
  }

  /** Shows a session by its number, whether it has a tab or none. */
  private openNumber(session: number): void {
    const tab = this.model.sessions.get(session)?.tab ?? null;
    if (tab !== null) return this.show(tab);
    if (!this.link.online) return this.offlineToast();
    this.run(this.model.reopen(session, this.around.newId()));
    this.changed();
  }

  moreHistory(): void {
    this.run(this.model.moreHistory());
    this.changed();
  }

  readContainment(): void {
    this.containmentRead = true;
    this.changed();
  }

  // The bench.

  /** The folder whose bench is shown. */
  get benchRoot(): string {
    return this.benchFolder ?? this.workspace?.root ?? this.model.home;
  }

  setBenchRoot(root: string): void {
    this.benchFolder = root;
    this.followBench();
    this.changed();
  }

  openBench(): void {
    this.benchOpen = true;
    this.benchFolder ??= this.benchRoot;
    if (this.tools.online) void this.bench.connected();
    else this.tools.start();
    this.followBench();
    this.changed();
  }

  closeBench(): void {
    this.benchOpen = false;
    this.benchFolder = null;
  }

  /** What the host says of a run while it goes on. */
  benchExecution(call: string): ExecutionPiece | null {
    for (const session of this.model.benches()) {
      const found = session.tab === null ? undefined : this.model.log(session.tab)?.executionOf(call);
      if (found) return found;
    }
    return null;
  }

  /** While the bench is open its log is followed: what commands write, and who has answered. */
  private followBench(): void {
    if (!this.benchOpen || !this.link.online) return;
    for (const { tab, workspace } of this.model.benches())
      if (tab !== null && workspace === this.benchRoot && !this.model.log(tab))
        this.run(this.model.show(tab));
    for (const { id, session, approval, resolution } of this.bench.asks) {
      const tab = resolution === null ? this.model.sessions.get(session)?.tab : null;
      const ended = tab == null ? null : this.model.log(tab)?.resolutionOf(approval.id);
      if (ended) this.bench.resolved(id, ended, false);
    }
  }

  // What happens around the page.

  wake(): void {
    this.link.step({ type: "wake" });
    this.tools.wake();
  }

  setVisible(visible: boolean): void {
    if (this.visible === visible) return;
    this.visible = visible;
    if (this.link.online) this.send({ type: "visibility", visible });
    if (visible) this.wake();
  }

  toast(text: string, tone: Toast["tone"] = "problem", action: Toast["action"] = null): void {
    this.toastCount += 1;
    const id = this.toastCount;
    this.toasts = [...this.toasts.filter((toast) => toast.text !== text), { id, text, tone, action }].slice(
      -4,
    );
    this.around.later(
      () => {
        this.dismiss(id);
      },
      tone === "problem" ? 12_000 : 5_000,
    );
    this.changed();
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
    this.changed();
  }

  /** Something is new: one drawing at the next frame, however much comes until then. */
  changed(): void {
    if (this.drawing) return;
    this.drawing = true;
    this.around.frame(() => {
      this.drawing = false;
      this.onFrame();
    });
  }

  // The host.

  private send(frame: FromView): void {
    if (!this.link.online) return this.offlineToast();
    this.link.send(frame);
  }

  private offlineToast(): void {
    this.toast("Not connected to the host. Try again when it is back.");
  }

  private run(effects: Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "send":
          this.link.send(effect.frame);
          break;
        case "welcomed":
          this.welcomed();
          break;
        case "pong":
          this.link.step({ type: "pong", n: effect.n });
          break;
        case "renew":
          this.link.step({ type: "renew" });
          // What follows was meant for the link that is gone.
          return;
        case "refused":
          // A tab that is gone is simply not shown any more.
          if (effect.refusal.code !== "unknown_tab") this.toast(effect.refusal.message);
          break;
        case "reopened":
          this.show(effect.tab);
          break;
      }
    }
    this.settle();
  }

  private welcomed(): void {
    this.link.step({ type: "welcomed" });
    this.outdated = this.around.version !== this.model.hostVersion;
    if (!this.visible) this.link.send({ type: "visibility", visible: false });
    if (this.rulesWatched) this.link.send({ type: "watchRules" });
    this.library.welcomed();
  }

  /** The shown tab must be one that is there. */
  private settle(): void {
    if (!this.model.met) return;
    for (const tab of this.newTabs.all()) if (this.model.byTab(tab)) this.newTabs.drop(tab);
    const active = this.active;
    if (active !== null && this.model.byTab(active)) {
      if (!this.model.log(active)) this.show(active);
      return;
    }
    if (active !== null && (this.newTabs.get(active) || this.outbox.of(active).length > 0)) return;
    const latest = this.model.recent().find((session) => session.tab !== null)?.tab;
    this.show(this.neighbour(active ?? "") ?? latest ?? this.newTabs.first(this.around.newId));
  }

  /** Every tab of the strip, the host's first. */
  strip(): string[] {
    const known = this.model.tabOrder;
    const waiting = [...this.outbox.tabs()].filter((tab) => !known.includes(tab) && !this.newTabs.get(tab));
    return [...known, ...waiting, ...this.newTabs.all().filter((tab) => !known.includes(tab))];
  }

  private neighbour(tab: string): string | null {
    const strip = this.strip();
    const at = strip.indexOf(tab);
    return at < 0 ? null : (strip[at + 1] ?? strip[at - 1] ?? null);
  }
}

function approvalKey(tab: string, approval: string): string {
  return `${tab}\n${approval}`;
}
