/** Whether the host is there: a quiet dot when it is, the tries and the wait when it is not. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { Page } from "../page";
import { shared } from "../theme/shared";

export class SbLinkState extends LitElement {
  static override styles = [
    shared,
    css`
      .pill {
        display: inline-flex;
        align-items: center;
        gap: 0.5em;
        font-size: 0.85em;
        color: var(--sb-muted);
        padding: 0.2em 0.6em;
        border-radius: 2em;
        min-width: 0;
      }
      .dot {
        width: 8px;
        height: 8px;
        border-radius: 50%;
        flex: none;
        background: var(--sb-ok);
      }
      .connecting .dot {
        background: var(--sb-warn);
        animation: sb-pulse 1.2s infinite;
      }
      .offline .dot {
        background: var(--sb-danger);
      }
      .connecting,
      .offline {
        color: var(--sb-text);
      }
      button {
        padding: 0.1em 0.6em;
        font-size: 0.95em;
        min-height: 0;
      }
      code {
        font-family: var(--sb-mono);
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  /** Only where something is wrong. */
  @property({ type: Boolean }) quiet = false;
  private timer = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.clearTimeout(this.timer);
  }

  protected override render() {
    const { machine } = this.page;
    const state = this.state();
    return html`<div
      class="pill ${state}"
      data-testid="connection"
      data-state=${state}
      data-retries=${machine.retries}
      role="status"
      title=${state === "online" ? "Connected to the host" : ""}
    >
      <span class="dot"></span>${this.words()}
    </div>`;
  }

  protected override updated(): void {
    window.clearTimeout(this.timer);
    this.toggleAttribute("loud", this.state() !== "online");
    // The countdown is the only thing here that moves by itself.
    if (this.page.machine.retryAt !== null) this.timer = window.setTimeout(() => this.requestUpdate(), 500);
  }

  private state(): "online" | "connecting" | "offline" {
    const { phase, retries } = this.page.machine;
    if (phase === "online") return "online";
    return phase === "locked" || (phase === "waiting" && retries > 3) || !navigator.onLine
      ? "offline"
      : "connecting";
  }

  private words(): TemplateResult | typeof nothing {
    const { phase, retries, retryAt } = this.page.machine;
    const now = html`<button @click=${() => this.page.wake()}>Try now</button>`;
    if (phase === "online") return html`<span class=${this.quiet ? "spoken" : ""}>Connected</span>`;
    if (phase === "locked") {
      return html`<span>This browser is not let in. Run <code>switchboard open</code> in a terminal.</span
        >${now}`;
    }
    if (phase === "connecting")
      return html`<span>Connecting…${retries > 0 ? ` (try ${String(retries + 1)})` : ""}</span>`;
    const wait = Math.max(0, Math.ceil(((retryAt ?? 0) - this.page.now()) / 1_000));
    return html`<span>Host unreachable. Try ${retries + 1}${wait > 0 ? ` in ${String(wait)} s` : "…"}</span
      >${retries > 2 ? now : nothing}`;
  }
}

customElements.define("sb-link-state", SbLinkState);
