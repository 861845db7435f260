/** How full the agent's context is, and what the session has cost. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import type { Usage } from "../model/agentside";
import { money } from "../model/spent";
import { shared } from "../theme/shared";

const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export class SbUsage extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: inline-flex;
        min-width: 0;
      }
      .usage {
        display: inline-flex;
        align-items: center;
        gap: 0.4em;
        font-size: 0.8em;
        color: var(--sb-muted);
        white-space: nowrap;
        padding: 0.1em 0.35em;
      }
      .bar {
        width: 2.8em;
        height: 5px;
        border-radius: 3px;
        background: var(--sb-line);
        overflow: hidden;
        display: inline-block;
      }
      .full {
        display: block;
        height: 100%;
        background: var(--sb-link);
      }
      .high .full {
        background: var(--sb-warn);
      }
      @media (max-width: 420px) {
        .tokens {
          display: none;
        }
      }
    `,
  ];
  @property({ attribute: false }) usage: Usage | null = null;

  protected override render() {
    if (!this.usage) return nothing;
    const { used, size, cost } = this.usage;
    const share = size > 0 ? Math.min(1, used / size) : 0;
    const costs = cost ? money(cost.amount, cost.currency) : "";
    const words = `${used.toLocaleString()} of ${size.toLocaleString()} tokens in use${costs ? `, ${costs} so far` : ""}`;
    return html`<span
      class="usage ${share > 0.85 ? "high" : ""}"
      data-testid="usage"
      role="img"
      aria-label=${words}
      title=${words}
    >
      <span class="bar"><span class="full"></span></span>
      <span class="tokens">${SHORT.format(used)} / ${SHORT.format(size)}</span>
      ${costs ? html`<span>${costs}</span>` : nothing}
    </span>`;
  }

  protected override updated(): void {
    const full = this.renderRoot.querySelector<HTMLElement>(".full");
    if (!full || !this.usage) return;
    const { used, size } = this.usage;
    full.style.width = `${String(Math.round(100 * (size > 0 ? Math.min(1, used / size) : 0)))}%`;
  }
}

customElements.define("sb-usage", SbUsage);
