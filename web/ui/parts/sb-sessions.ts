/** All conversations, newest first, closed ones included: open, open again, delete. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { ago, dayOf, folderName, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Session } from "../wire";
import { confirmed } from "./confirm";

export class SbSessions extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      .list {
        overflow-y: auto;
        flex: 1;
        padding: 0 0.5rem 0.75rem;
      }
      h2 {
        font-size: 0.78em;
        font-weight: 600;
        color: var(--sb-muted);
        margin: 1em 0.6em 0.3em;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li {
        display: flex;
        align-items: center;
        border-radius: 8px;
      }
      li:hover {
        background: var(--sb-soft);
      }
      li.active {
        background: var(--sb-soft);
      }
      .open {
        flex: 1;
        min-width: 0;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        justify-content: stretch;
        gap: 0;
        border: 0;
        background: none !important;
        padding: 0.4em 0.6em;
        text-align: left;
        line-height: 1.35;
      }
      .open > span {
        max-width: 100%;
      }
      .what {
        display: flex;
        gap: 0.5em;
        align-items: center;
      }
      .dot {
        width: 7px;
        height: 7px;
        border-radius: 50%;
        flex: none;
        background: var(--sb-link);
        animation: sb-pulse 1.3s infinite;
      }
      .dot.awaiting_approval {
        background: var(--sb-warn);
        animation: none;
      }
      .facts {
        font-size: 0.8em;
        color: var(--sb-muted);
      }
      .remove {
        border: 0;
        background: none;
        opacity: 0;
        margin-right: 0.2em;
      }
      li:hover .remove,
      .remove:focus-visible {
        opacity: 1;
      }
      .more {
        width: 100%;
        margin-top: 0.6em;
      }
      .none {
        padding: 0.5em 0.6em;
      }
      @media (pointer: coarse) {
        .remove {
          opacity: 1;
        }
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

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
        ([day, sessions]) =>
          html`<h2>${day}</h2>
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
    </div>`;
  }

  private item(session: Session, now: number) {
    const title = revealed(session.title || "Untitled");
    const active = session.tab !== null && session.tab === this.page.active;
    const busy = session.status !== "idle";
    return html`<li
      class=${active ? "active" : ""}
      data-testid="session-item"
      data-session=${session.session}
      data-open=${session.tab !== null}
    >
      <button
        class="open"
        aria-current=${active ? "true" : nothing}
        title=${title}
        @click=${() => this.open(session)}
      >
        <span class="what">
          ${busy ? html`<span class="dot ${session.status}"></span>` : nothing}
          <span class="clip">${title}</span>
        </span>
        <span class="facts clip">
          ${session.status === "awaiting_approval" ? "waits for your answer" : ago(now, session.updatedMs)} ·
          ${session.agent} · ${folderName(session.workspace)}
        </span>
      </button>
      <button
        class="icon remove"
        aria-label="Wire of ${title}"
        title="Wire"
        data-testid="session-inspect"
        @click=${() => this.dispatchEvent(new CustomEvent("sb-inspect", { detail: session, bubbles: true, composed: true }))}
      >
        ${icons.bolt}
      </button>
      <button
        class="icon remove"
        aria-label="Delete ${title}"
        title="Delete"
        data-testid="session-delete"
        @click=${() => void this.deleteAfterAsking(session)}
      >
        ${icons.trash}
      </button>
    </li>`;
  }

  private open(session: Session): void {
    this.page.openSession(session);
    this.dispatchEvent(new CustomEvent("sb-picked", { bubbles: true, composed: true }));
  }

  private async deleteAfterAsking(session: Session): Promise<void> {
    const sure = await confirmed({
      title: "Delete this conversation?",
      text: `“${revealed(session.title || "Untitled")}” and everything in it is removed for good.${session.status === "idle" ? "" : " Its turn is stopped."}`,
      yes: "Delete",
      danger: true,
    });
    if (sure) this.page.deleteSession(session.session);
  }
}

customElements.define("sb-sessions", SbSessions);
