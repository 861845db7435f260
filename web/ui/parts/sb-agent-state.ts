/** How the shown tab's agent is: said when it starts, is slow, or is gone, with the button that starts it again. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import type { Page } from "../page";
import { wayWords } from "../model/way";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { sentence } from "./shown";

export class SbAgentState extends LitElement {
  static override styles = [
    shared,
    css`
      .line {
        display: flex;
        align-items: center;
        flex-wrap: wrap;
        gap: 0.55em;
        padding: 0.35em 0.8em;
        margin: 0 0.3em 0.4em;
        border-radius: 9px;
        font-size: 0.92em;
        overflow-wrap: anywhere;
      }
      .starting,
      .slow {
        color: var(--sb-muted);
      }
      .starting svg,
      .slow svg {
        animation: sb-spin 1.2s linear infinite;
      }
      .way {
        background: var(--sb-warn-soft);
        color: var(--sb-warn);
      }
      .stalled,
      .slow {
        background: var(--sb-warn-soft);
        color: var(--sb-warn);
      }
      .asleep {
        color: var(--sb-muted);
      }
      .exited {
        background: var(--sb-danger-soft);
      }
      .exited > svg {
        color: var(--sb-danger);
      }
      .words {
        flex: 1 1 12em;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

  protected override render() {
    const { page } = this;
    const state = page.session?.agentState ?? "none";
    return html`<div data-testid="agent-state" data-state=${state} role="status">
      ${this.way()}${this.line(state)}
    </div>`;
  }

  /** How the way to an agent elsewhere is, if it is not simply there. */
  private way() {
    const way = this.page.session?.connection;
    const words = way === undefined ? null : wayWords(way, this.page.agent);
    if (way === undefined || words === null) return nothing;
    return html`<div class="line way ${way.status}" data-testid="way" data-retries=${way.retries}>
      ${way.status === "connected" ? icons.wait : icons.again}<span class="words">${words}</span>
    </div>`;
  }

  private line(state: string) {
    const { agent } = this.page;
    switch (state) {
      case "starting":
        return html`<div class="line starting">
          ${icons.again}<span class="words">Starting ${agent}…</span>
        </div>`;
      case "slow":
        return html`<div class="line slow">
          ${icons.again}<span class="words">${agent} takes longer than usual to start.</span>${this.restart()}
        </div>`;
      case "stalled":
        return html`<div class="line stalled">
          ${icons.wait}<span class="words">${this.silence()}</span>
          <button data-testid="stalled-stop" @click=${() => this.page.stop()}>${icons.stop} Stop</button>
          ${this.restart()}
        </div>`;
      case "asleep":
        return html`<div class="line asleep">
          ${icons.sleep}<span class="words">${agent} is unloaded; the next prompt wakes it, and it goes on where it was.</span>
        </div>`;
      case "exited": {
        const why = this.page.model.log(this.page.active ?? "")?.exitMessage;
        return html`<div class="line exited">
          ${icons.cross}<span class="words">${why ? sentence(why) : `${agent} has exited.`}</span
          >${this.restart()}
        </div>`;
      }
      default:
        return nothing;
    }
  }

  /** How long nothing has come, as the host says; it counts, the page does not. */
  private silence() {
    const said = this.page.model.log(this.page.active ?? "")?.running()?.status?.message;
    return said === undefined ? `No word from ${this.page.agent} for a while.` : sentence(said);
  }

  private restart() {
    return html`<button data-testid="restart-agent" @click=${() => this.page.restartAgent()}>
      ${icons.again} Restart
    </button>`;
  }
}

customElements.define("sb-agent-state", SbAgentState);
