/** What belongs to no turn: a quiet line between turns, or a louder one for what was lost. */
import { css, html, LitElement } from "lit";
import { property } from "lit/decorators.js";
import type { Notice } from "../model/turn";
import { shared } from "../theme/shared";
import { sentence, shown } from "./shown";

const LOUD: readonly Notice["what"][] = ["gap"];
const MAX_RAW_CHARS = 10_000;

export class SbNotice extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        padding: 0.2rem 0 1.2rem;
      }
      p {
        margin: 0;
        display: flex;
        align-items: center;
        gap: 0.9em;
        color: var(--sb-muted);
        font-size: 0.87em;
        overflow-wrap: anywhere;
      }
      p::before,
      p::after {
        content: "";
        flex: 1 1 1.5em;
        border-top: 1px solid var(--sb-line);
        min-width: 1.5em;
      }
      p.loud {
        color: var(--sb-danger);
      }
      pre {
        font: 0.85em/1.5 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      details {
        color: var(--sb-muted);
        font-size: 0.87em;
      }
    `,
  ];
  @property({ attribute: false }) notice!: Notice;

  protected override render() {
    const { what, text, raw } = this.notice;
    if (what === "unknown") {
      return html`<details data-testid="notice" data-what=${what}>
        <summary>
          The host said <code>${shown(text.slice(0, 120))}</code>, which this page does not know
        </summary>
        <pre tabindex="0">${shown(raw.slice(0, MAX_RAW_CHARS))}</pre>
      </details>`;
    }
    return html`<p data-testid="notice" data-what=${what} class=${LOUD.includes(what) ? "loud" : ""}>
      <span>${sentence(text)}</span>
    </p>`;
  }
}

customElements.define("sb-notice", SbNotice);
