/** The agent's thinking, folded: its first line while it goes on, its duration afterwards. */
import { css, html, LitElement } from "lit";
import { property } from "lit/decorators.js";
import type { ThoughtPiece } from "../model/turn";
import { duration } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";

/** Of the line that is being thought, this much is shown. */
const MAX_LINE_CHARS = 160;

export class SbThought extends LitElement {
  static override styles = [
    shared,
    css`
      details {
        color: var(--sb-muted);
      }
      summary {
        display: flex;
        align-items: center;
        gap: 0.5em;
        cursor: pointer;
        list-style: none;
        border-radius: 6px;
        padding: 0.15em 0;
        width: fit-content;
        max-width: 100%;
      }
      summary::-webkit-details-marker {
        display: none;
      }
      summary:hover {
        color: var(--sb-text);
      }
      .spark,
      .turn {
        display: inline-flex;
      }
      .turn svg {
        transition: transform 0.12s;
      }
      details[open] .turn svg {
        transform: rotate(90deg);
      }
      .live .spark {
        animation: sb-pulse 1.6s ease-in-out infinite;
      }
      .first {
        opacity: 0.9;
        font-style: italic;
      }
      .words {
        margin: 0.4em 0 0.2em 0.45em;
        padding-left: 1em;
        border-left: 2px solid var(--sb-line);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        max-height: 22em;
        overflow-y: auto;
        font: inherit;
        font-size: 0.94em;
      }
    `,
  ];
  @property({ attribute: false }) piece!: ThoughtPiece;
  @property({ attribute: false }) seq = 0;
  @property({ type: Boolean }) live = false;

  unfold(): void {
    const box = this.renderRoot.querySelector("details");
    if (box) box.open = true;
  }

  protected override render() {
    const { text, startMs, endMs } = this.piece;
    const line = text.slice(-MAX_LINE_CHARS).trimEnd().split("\n").at(-1);
    const label = this.live ? "Thinking…" : `Thought for ${duration(endMs - startMs)}`;
    return html`<details data-testid="thought" class=${this.live ? "live" : ""}>
      <summary>
        <span class="spark">${icons.spark}</span><span>${label}</span>
        ${this.live ? html`<span class="first clip">${line}</span>` : ""}
        <span class="turn">${icons.right}</span>
      </summary>
      <pre class="words" tabindex="0" role="region" aria-label="Thoughts">${text}</pre>
    </details>`;
  }
}

customElements.define("sb-thought", SbThought);
