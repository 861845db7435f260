/** Prompts that wait for their turn, with their places; each can be taken back. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";

export class SbQueue extends LitElement {
  static override styles = [
    shared,
    css`
      ol {
        list-style: none;
        margin: 0 0.75em;
        padding: 0.25em 0.3em;
        border: 1px solid var(--sb-line);
        border-bottom: 0;
        border-radius: 12px 12px 0 0;
        background: var(--sb-panel);
        max-height: 11em;
        overflow-y: auto;
      }
      li {
        display: flex;
        align-items: center;
        gap: 0.6em;
        padding: 0.05em 0.1em 0.05em 0.5em;
        font-size: 0.92em;
      }
      .clip {
        flex: 1;
      }
      .place {
        color: var(--sb-muted);
        font-variant-numeric: tabular-nums;
      }
      li button.icon {
        min-height: 1.7em;
        min-width: 1.7em;
        padding: 0.2em;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) tab = "";
  @property({ attribute: false }) version = "";

  protected override render() {
    const queue = this.page.model.log(this.tab)?.queue() ?? [];
    if (queue.length === 0) return nothing;
    return html`<ol aria-label="Waiting prompts">
      ${repeat(
        queue,
        (turn) => turn.number,
        (turn, at) =>
          html`<li data-testid="queue-item" data-turn=${turn.number}>
            <span class="place" title="Place in the queue">${at + 1}.</span>
            <span class="clip">${revealed(turn.prompt.slice(0, 300)) || "Pictures"}</span>
            <button
              class="plain icon"
              aria-label="Remove prompt ${at + 1} from the queue"
              title="Remove from the queue"
              ?disabled=${turn.cancelAsked}
              @click=${() => this.page.cancel(turn.name)}
            >
              ${icons.close}
            </button>
          </li>`,
      )}
    </ol>`;
  }
}

customElements.define("sb-queue", SbQueue);
