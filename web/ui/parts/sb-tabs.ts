/** The open conversations, in the order of their opening; each with its state, its title and the way to close it. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { folderName, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { confirmed } from "./confirm";

const STATES: Record<string, string> = {
  running: "running",
  queued: "running",
  awaiting_approval: "waits for your answer",
  exited: "agent exited",
};

export class SbTabs extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: flex;
        min-width: 0;
        align-items: center;
      }
      .strip {
        display: flex;
        gap: 2px;
        overflow-x: auto;
        scrollbar-width: none;
        padding: 4px 2px;
        min-width: 0;
      }
      .tab {
        display: flex;
        align-items: center;
        border-radius: 8px;
        max-width: 12.5rem;
        min-width: 6rem;
        flex: none;
        color: var(--sb-muted);
      }
      .tab:hover {
        background: var(--sb-soft);
      }
      .tab.active {
        background: var(--sb-raised);
        color: var(--sb-text);
        box-shadow: 0 0 0 1px var(--sb-line);
      }
      .pick {
        flex: 1;
        min-width: 0;
        justify-content: flex-start;
        padding: 0.35em 0.2em 0.35em 0.7em;
        border: 0;
        background: none !important;
      }
      .shut {
        border: 0;
        background: none;
        padding: 0.25em;
        min-width: 1.6em;
        min-height: 1.6em;
        margin-right: 0.2em;
        border-radius: 6px;
        opacity: 0;
      }
      .tab:hover .shut,
      .tab.active .shut,
      .shut:focus-visible {
        opacity: 1;
      }
      .dot {
        width: 7px;
        height: 7px;
        border-radius: 50%;
        flex: none;
        background: var(--sb-line-strong);
        opacity: 0.6;
      }
      .dot.running,
      .dot.queued {
        background: var(--sb-link);
        opacity: 1;
        animation: sb-pulse 1.3s infinite;
      }
      .dot.awaiting_approval {
        background: var(--sb-warn);
        opacity: 1;
      }
      .dot.exited {
        background: var(--sb-danger);
        opacity: 1;
      }
      .new {
        flex: none;
        display: flex;
        align-items: center;
      }
      .more {
        min-width: 1.4em;
        padding-inline: 0.1em;
      }
      .menu {
        position: fixed;
        inset: auto;
        margin: 0;
        padding: 0.35em;
        border: 1px solid var(--sb-line);
        border-radius: 10px;
        background: var(--sb-raised);
        color: inherit;
        box-shadow: 0 6px 24px rgb(0 0 0 / 18%);
        min-width: 13rem;
        max-width: min(22rem, calc(100vw - 1rem));
        max-height: 60vh;
        overflow-y: auto;
      }
      .menu button {
        display: flex;
        width: 100%;
        justify-content: flex-start;
        border: 0;
      }
      .menu .kind {
        margin-left: auto;
        font-size: 0.82em;
        color: var(--sb-muted);
      }
      .menu .what {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        text-align: left;
        min-width: 0;
      }
      .menu code {
        color: var(--sb-muted);
        font-size: 0.8em;
      }
      .menu .root {
        padding: 0.5em 0.8em 0.2em;
        font-size: 0.82em;
        color: var(--sb-muted);
      }
      @media (pointer: coarse) {
        .shut {
          opacity: 1;
        }
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  private shownTab = "";

  protected override render() {
    const { page } = this;
    const strip = page.strip();
    return html`<nav class="strip" aria-label="Tabs" @keydown=${this.key}>
        ${repeat(
          strip,
          (tab) => tab,
          (tab) => this.tab(tab),
        )}
      </nav>
      <div class="new">
        <button
          class="plain icon"
          data-testid="tab-new"
          aria-label="New tab"
          title="New tab (Alt+N)"
          @click=${() => page.newTab({})}
        >
          ${icons.plus}
        </button>
        <button
          class="plain icon more"
          aria-label="New tab with…"
          title="New tab with another agent or folder"
          aria-haspopup="menu"
          @click=${this.openMenu}
        >
          ${icons.down}
        </button>
        <div class="menu" popover role="menu" aria-label="New tab with">${this.menu()}</div>
      </div>`;
  }

  protected override updated(_changed: PropertyValues): void {
    if (this.page.active === this.shownTab) return;
    this.shownTab = this.page.active ?? "";
    this.renderRoot.querySelector(".tab.active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  private tab(tab: string) {
    const { page } = this;
    const session = page.model.byTab(tab);
    const active = tab === page.active;
    const state =
      session?.agentState === "exited" && session.status === "idle" ? "exited" : (session?.status ?? "new");
    const title = session?.title || (session ? "Untitled" : "New tab");
    const where = session ? `${session.agent} in ${session.workspace}` : "";
    return html`<div
      class="tab ${active ? "active" : ""}"
      data-testid="tab"
      data-tab=${tab}
      data-status=${state}
    >
      <button
        class="pick"
        aria-current=${active ? "page" : nothing}
        title=${revealed(where ? `${title}\n${where}` : title)}
        @click=${() => page.show(tab)}
        @auxclick=${(event: MouseEvent) => {
          if (event.button === 1) void this.close(tab);
        }}
      >
        <span class="dot ${state}"></span>
        <span class="clip">${revealed(title)}</span>
        ${STATES[state] ? html`<span class="spoken">, ${STATES[state]}</span>` : nothing}
      </button>
      <button
        class="shut"
        aria-label="Close ${revealed(title)}"
        title="Close tab (Alt+W)"
        data-testid="tab-close"
        @click=${() => void this.close(tab)}
      >
        ${icons.close}
      </button>
    </div>`;
  }

  /** Closing stops what runs, so a person is asked if something does. */
  async close(tab: string): Promise<void> {
    const session = this.page.model.byTab(tab);
    if (session && session.status !== "idle") {
      const sure = await confirmed({
        title: "Close this tab?",
        text: "Its turn is stopped and its queue is dropped. What was said stays in the history.",
        yes: "Close and stop",
        danger: true,
      });
      if (!sure) return;
    }
    this.page.closeTab(tab);
  }

  private menu() {
    const { page } = this;
    return html`${[...page.model.workspaces.values()].map((workspace) => {
      const kinds = new Map(workspace.agents.map(({ name, kind }) => [name, kind]));
      return html`<div class="root" title=${workspace.root}>${folderName(workspace.root)}</div>
        ${[...new Set([workspace.defaultAgent, ...kinds.keys(), "demo"])].map(
          (agent) =>
            html`<button
              role="menuitem"
              data-testid="menu-agent"
              @click=${() => {
                this.renderRoot.querySelector<HTMLElement>(".menu")?.hidePopover();
                page.newTab({ agent, workspace: workspace.root });
              }}
            >
              ${icons.bolt}<span class="clip">${revealed(agent)}</span
              ><span class="kind">${revealed(kinds.get(agent) ?? (agent === "demo" ? "built in" : ""))}</span>
            </button>`,
        )}`;
    })}
    ${this.offers()}`;
  }

  /** Agents that are installed and not configured. */
  private offers() {
    const { offers } = this.page;
    if (offers.length === 0) return nothing;
    return html`<div class="root">Found on this machine</div>
      ${offers.map(
        (offer) =>
          html`<button
            role="menuitem"
            class="offer"
            data-testid="offer"
            data-agent=${offer.name}
            title=${revealed(`Adds it to your configuration. It would be started as: ${offer.command}`)}
            @click=${() => this.page.addAgent(offer)}
          >
            ${icons.plus}<span class="what"
              ><span>Add ${revealed(offer.title || offer.name)}</span
              ><code class="clip">${revealed(offer.command.slice(0, 200))}</code></span
            >
          </button>`,
      )}`;
  }

  get menuOpen(): boolean {
    return this.renderRoot.querySelector(".menu")?.matches(":popover-open") ?? false;
  }

  private readonly openMenu = (event: Event): void => {
    const menu = this.renderRoot.querySelector<HTMLElement>(".menu");
    if (!menu) return;
    const at = (event.currentTarget as HTMLElement).getBoundingClientRect();
    menu.style.top = `${String(at.bottom + 4)}px`;
    menu.style.left = `${String(Math.max(8, Math.min(at.left - 20, innerWidth - 230)))}px`;
    menu.togglePopover();
    menu.querySelector("button")?.focus();
  };

  /** The arrow keys go along the strip, and in the menu up and down. */
  private readonly key = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const picks = [...this.renderRoot.querySelectorAll<HTMLElement>(".pick")];
    const at = picks.findIndex((pick) => pick === event.target);
    picks[(at + step + picks.length) % picks.length]?.focus();
  };
}

customElements.define("sb-tabs", SbTabs);
