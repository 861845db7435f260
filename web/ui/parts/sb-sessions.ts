/** All conversations, newest first, closed ones included: open, open again, rename, export, delete one or many. */
import { html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { ago, dayOf, folderName, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { ExportForm, Session } from "../wire";
import { confirmed } from "./confirm";
import { sessionsStyle } from "./sessions-style";

/** A title, in characters, as the host takes it. */
const MAX_TITLE = 200;
/** Titles that a question about many names. */
const MAX_NAMED = 5;

export class SbSessions extends LitElement {
  static override styles = [shared, sessionsStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  /** The conversation whose title is being changed. */
  @state() private renaming: number | null = null;
  @state() private chosen: Set<number> | null = null;
  /** The conversation whose menu is open. */
  @state() private menuOf: Session | null = null;
  private anchor: number | null = null;

  protected override render() {
    const { model } = this.page;
    const now = this.page.now();
    const days = new Map<string, Session[]>();
    for (const session of model.recent()) {
      const day = dayOf(now, session.updatedMs);
      days.set(day, [...(days.get(day) ?? []), session]);
    }
    return html`<div class="list" data-testid="session-list" role="navigation" aria-label="Conversations">
        ${days.size === 0 ? html`<p class="muted small none">${model.met ? "Nothing yet." : ""}</p>` : nothing}
        ${[...days].map(
          ([day, sessions], at) =>
            html`<div class="day">
                <h2>${day}</h2>
                ${
                  at === 0 && !this.chosen
                    ? html`<button class="plain pick" data-testid="select" @click=${() => this.begin()}>Select</button>`
                    : nothing
                }
              </div>
              <ul>
                ${repeat(
                  sessions,
                  (session) => session.session,
                  (session) => this.item(session, now),
                )}
              </ul>`,
        )}
        ${
          model.historyNext
            ? html`<button
                class="more"
                data-testid="history-more"
                ?disabled=${model.historyLoading}
                @click=${() => this.page.moreHistory()}
              >
                ${model.historyLoading ? "Loading…" : "Load more"}
              </button>`
            : nothing
        }
      </div>
      ${this.bar()}
      <div class="menu" popover role="menu" aria-label="Conversation" @toggle=${this.toggled} @keydown=${this.menuKey}>
        ${this.menuOf ? this.menu(this.menuOf) : nothing}
      </div>`;
  }

  private item(session: Session, now: number) {
    const title = revealed(session.title || "Untitled");
    const active = session.tab !== null && session.tab === this.page.active;
    const chosen = this.chosen?.has(session.session) ?? false;
    return html`<li
      class="${active ? "active" : ""} ${chosen ? "chosen" : ""}"
      data-testid="session-item"
      data-session=${session.session}
      data-open=${session.tab !== null}
      @contextmenu=${(event: MouseEvent) => this.context(event, session)}
    >
      ${
        this.renaming === session.session
          ? this.titleBox(session)
          : this.chosen
            ? this.choice(session, title, now)
            : this.row(session, title, now, active)
      }
    </li>`;
  }

  private row(session: Session, title: string, now: number, active: boolean) {
    return html`<button
        class="open"
        aria-current=${active ? "true" : nothing}
        title=${title}
        @click=${(event: MouseEvent) => this.clicked(event, session)}
        @dblclick=${() => this.rename(session)}
        @keydown=${(event: KeyboardEvent) => {
          if (event.key !== "F2") return;
          event.preventDefault();
          this.rename(session);
        }}
      >
        ${this.what(session, title)} ${this.facts(session, now)}
      </button>
      <span class="acts ${this.menuOf?.session === session.session ? "held" : ""}">
        <button
          class="icon fine"
          aria-label="Wire of ${title}"
          title="Wire"
          data-testid="session-inspect"
          @click=${() => this.inspect(session)}
        >
          ${icons.bolt}
        </button>
        <button
          class="icon fine"
          aria-label="Delete ${title}"
          title="Delete"
          data-testid="session-delete"
          @click=${() => void this.deleteAfterAsking(session)}
        >
          ${icons.trash}
        </button>
        <button
          class="icon"
          aria-label="More for ${title}"
          title="More"
          aria-haspopup="menu"
          data-testid="session-more"
          @click=${(event: Event) => {
            const at = (event.currentTarget as HTMLElement).getBoundingClientRect();
            this.openMenu(session, at.left, at.bottom + 4);
          }}
        >
          ${icons.more}
        </button>
      </span>`;
  }

  private what(session: Session, title: string) {
    return html`<span class="what">
      ${session.status === "idle" ? nothing : html`<span class="dot ${session.status}"></span>`}
      <span class="clip">${title}</span>
    </span>`;
  }

  private facts(session: Session, now: number) {
    return html`<span class="facts clip">
      ${session.status === "awaiting_approval" ? "waits for your answer" : ago(now, session.updatedMs)} ·
      ${revealed(session.agent)} · ${revealed(folderName(session.workspace))}
    </span>`;
  }

  private choice(session: Session, title: string, now: number) {
    return html`<label class="choose" title=${title}>
      <input
        type="checkbox"
        aria-label="Select ${title}"
        data-testid="session-choose"
        .checked=${this.chosen?.has(session.session) ?? false}
        ?disabled=${this.page.library.deleting !== null}
        @click=${(event: MouseEvent) => this.toggle(session, event.shiftKey)}
      />
      ${this.what(session, title)} ${this.facts(session, now)}
    </label>`;
  }

  private titleBox(session: Session) {
    return html`<form class="rename" @submit=${(event: Event) => this.keepTitle(event, session)}>
      <input
        aria-label="Title"
        data-testid="session-title"
        maxlength=${MAX_TITLE}
        autocomplete="off"
        .defaultValue=${session.title}
        @blur=${(event: Event) => this.keepTitle(event, session)}
        @keydown=${(event: KeyboardEvent) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          this.leaveTitle(session);
        }}
      />
    </form>`;
  }

  /** What is done with the chosen ones. */
  private bar() {
    const { chosen } = this;
    const { deleting } = this.page.library;
    if (deleting)
      return html`<div class="bar small" role="status" data-testid="deleting">
        <span class="count">Deleting ${Math.min(deleting.done + 1, deleting.total)} of ${deleting.total}…</span>
        <progress aria-label="Deleted" .max=${deleting.total} .value=${deleting.done}></progress>
      </div>`;
    if (!chosen) return nothing;
    return html`<div class="bar small" role="group" aria-label="Selected conversations" data-testid="chosen">
      <span class="count" role="status">${chosen.size} selected</span>
      <button data-testid="chosen-all" @click=${this.all}>All</button>
      <button
        class="danger"
        data-testid="chosen-delete"
        ?disabled=${chosen.size === 0}
        @click=${() => void this.deleteChosen()}
      >
        ${icons.trash} Delete…
      </button>
      <button data-testid="chosen-done" @click=${() => (this.chosen = null)}>Cancel</button>
    </div>`;
  }

  private menu(session: Session) {
    const does = (id: string, icon: unknown, words: string, run: () => void, key = "", danger = false) =>
      html`<button
        role="menuitem"
        class=${danger ? "danger" : ""}
        data-testid=${id}
        @click=${() => {
          this.closeMenu();
          run();
        }}
      >
        ${icon} ${words} ${key === "" ? nothing : html`<kbd>${key}</kbd>`}
      </button>`;
    return html`${does("menu-rename", icons.pencil, "Rename", () => this.rename(session), "F2")}
      ${does("menu-markdown", icons.save, "Export as Markdown", () => void this.export(session, "conversation"))}
      ${does("menu-jsonl", icons.save, "Export as JSON lines", () => void this.export(session, "log"))}
      ${does("menu-inspect", icons.bolt, "Wire", () => this.inspect(session))}
      ${does("menu-select", icons.check, "Select", () => this.begin(session))}
      ${does("menu-delete", icons.trash, "Delete…", () => void this.deleteAfterAsking(session), "", true)}`;
  }

  private clicked(event: MouseEvent, session: Session): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return this.begin(session);
    this.page.openSession(session);
    this.dispatchEvent(new CustomEvent("sb-picked", { bubbles: true, composed: true }));
  }

  private inspect(session: Session): void {
    this.dispatchEvent(new CustomEvent("sb-inspect", { detail: session, bubbles: true, composed: true }));
  }

  // The menu.

  private context(event: MouseEvent, session: Session): void {
    if (this.chosen || this.renaming === session.session) return;
    event.preventDefault();
    this.openMenu(session, event.clientX, event.clientY);
  }

  private openMenu(session: Session, left: number, top: number): void {
    this.menuOf = session;
    void this.updateComplete.then(() => {
      const menu = this.renderRoot.querySelector<HTMLElement>(".menu");
      if (!menu) return;
      if (!menu.matches(":popover-open")) menu.showPopover();
      const { width, height } = menu.getBoundingClientRect();
      menu.style.left = `${String(Math.max(8, Math.min(left, innerWidth - width - 8)))}px`;
      menu.style.top = `${String(Math.max(8, Math.min(top, innerHeight - height - 8)))}px`;
      menu.querySelector("button")?.focus();
    });
  }

  private closeMenu(): void {
    this.renderRoot.querySelector<HTMLElement>(".menu")?.hidePopover();
  }

  private readonly toggled = (event: ToggleEvent): void => {
    if (event.newState === "closed") this.menuOf = null;
  };

  private readonly menuKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape") {
      const session = this.menuOf?.session;
      this.closeMenu();
      if (session !== undefined) this.focusRow(session);
    } else if (step !== 0) {
      const items = [...this.renderRoot.querySelectorAll<HTMLElement>(".menu button")];
      const at = items.findIndex((item) => item === event.target);
      items[(at + step + items.length) % items.length]?.focus();
    } else return;
    event.preventDefault();
  };

  private focusRow(session: number): void {
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>(`[data-session="${String(session)}"] .open`)?.focus(),
    );
  }

  // Titles.

  private rename(session: Session): void {
    this.renaming = session.session;
    void this.updateComplete.then(() => {
      const box = this.renderRoot.querySelector<HTMLInputElement>(".rename input");
      box?.focus();
      box?.select();
    });
  }

  private keepTitle(event: Event, session: Session): void {
    event.preventDefault();
    // Leaving the box by Enter or Esc takes it away, which blurs it again.
    if (this.renaming !== session.session) return;
    const title = this.renderRoot.querySelector<HTMLInputElement>(".rename input")?.value.trim() ?? "";
    this.renaming = null;
    if (event.type === "submit") this.focusRow(session.session);
    if (title !== "" && title !== session.title) void this.page.library.rename(session.session, title);
  }

  private leaveTitle(session: Session): void {
    this.renaming = null;
    this.focusRow(session.session);
  }

  private async export(session: Session, form: ExportForm): Promise<void> {
    const file = await this.page.library.export(session.session, form);
    if (!file) return;
    const link = document.createElement("a");
    link.href = file.url;
    link.download = file.name;
    link.click();
  }

  // Many.

  private begin(session?: Session): void {
    this.renaming = null;
    this.chosen = new Set(session ? [session.session] : []);
    this.anchor = session?.session ?? null;
  }

  /** With the shift key, all from the one before. */
  private toggle(session: Session, range: boolean): void {
    if (!this.chosen) return;
    const chosen = new Set(this.chosen);
    const order = this.page.model.recent().map((one) => one.session);
    const from = this.anchor === null ? -1 : order.indexOf(this.anchor);
    const to = order.indexOf(session.session);
    if (range && from >= 0)
      for (const one of order.slice(Math.min(from, to), Math.max(from, to) + 1)) chosen.add(one);
    else if (!chosen.delete(session.session)) chosen.add(session.session);
    this.anchor = session.session;
    this.chosen = chosen;
  }

  private readonly all = (): void => {
    this.chosen = new Set(this.page.model.recent().map(({ session }) => session));
  };

  private async deleteChosen(): Promise<void> {
    // What another window has deleted meanwhile is no concern of ours.
    const sessions = this.page.model.recent().filter(({ session }) => this.chosen?.has(session));
    if (sessions.length === 0) return;
    const one = sessions.length === 1;
    const named = sessions.slice(0, MAX_NAMED).map(({ title }) => `“${revealed(title || "Untitled")}”`);
    const rest = sessions.length - named.length;
    const running = sessions.some(({ status }) => status !== "idle");
    const sure = await confirmed({
      title: one ? "Delete this conversation?" : `Delete ${String(sessions.length)} conversations?`,
      text: `${named.join(", ")}${rest > 0 ? ` and ${String(rest)} more` : ""}: everything in ${one ? "it" : "them"} is removed for good.${running ? " What runs is stopped." : ""}`,
      yes: "Delete",
      danger: true,
    });
    if (!sure) return;
    await this.page.library.deleteMany(sessions.map(({ session }) => session));
    this.chosen = null;
  }

  private async deleteAfterAsking(session: Session): Promise<void> {
    const sure = await confirmed({
      title: "Delete this conversation?",
      text: `“${revealed(session.title || "Untitled")}” and everything in it is removed for good.${session.status === "idle" ? "" : " Its turn is stopped."}`,
      yes: "Delete",
      danger: true,
    });
    if (sure) await this.page.library.delete(session.session);
  }
}

customElements.define("sb-sessions", SbSessions);
