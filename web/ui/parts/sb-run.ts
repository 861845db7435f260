/** A long run of calls: told in one line, opened on request; while it goes on, its last ones are seen. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { changeOf, type RunItem, runWords } from "../model/flow";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { changeCounts, countsStyle } from "./sb-diff";

/** Items that are drawn when it is opened; more on request. */
const STEP = 100;

export class SbRun extends LitElement {
  static override styles = [
    shared,
    countsStyle,
    css`
      .list {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 0.4em;
      }
      .head {
        justify-content: flex-start;
        width: 100%;
        text-align: left;
        color: var(--sb-muted);
        background: transparent;
        font-size: 0.93em;
        padding: 0.4em 0.7em;
        min-width: 0;
      }
      .turn {
        display: inline-flex;
        transition: transform 0.12s;
      }
      .open .turn {
        transform: rotate(90deg);
      }
    `,
  ];
  @property({ attribute: false }) items: RunItem[] = [];
  @property({ attribute: false }) fold = 0;
  @property({ attribute: false }) draw!: (item: RunItem) => TemplateResult;
  @state() private limit = 0;

  unfold(): void {
    this.limit = Math.max(this.limit, this.items.length);
  }

  protected override render() {
    const folded = this.items.slice(0, this.fold);
    const rest = this.items.slice(this.fold);
    const open = this.limit > 0;
    const change = changeOfAll(folded);
    return html`<div class="list" data-testid="run">
      ${
        folded.length > 0
          ? html`<button
              class="head ${open ? "open" : ""}"
              data-testid="run-fold"
              aria-expanded=${open}
              @click=${() => (this.limit = open ? 0 : STEP)}
            >
              <span class="turn">${icons.right}</span><span class="clip">${runWords(folded).join(", ")}</span>
              ${change ? changeCounts(change) : nothing}
            </button>`
          : nothing
      }
      ${open ? folded.slice(0, this.limit).map((item) => this.draw(item)) : nothing}
      ${
        open && folded.length > this.limit
          ? html`<button @click=${() => (this.limit += STEP)}>
              ${folded.length - this.limit} more
            </button>`
          : nothing
      }
      ${rest.map((item) => this.draw(item))}
    </div>`;
  }
}

function changeOfAll(items: readonly RunItem[]): { added: number; removed: number } | null {
  const all = items.flatMap((item) => (item.kind === "call" ? (changeOf(item.call.piece.call) ?? []) : []));
  if (all.length === 0) return null;
  return {
    added: all.reduce((sum, { added }) => sum + added, 0),
    removed: all.reduce((sum, { removed }) => sum + removed, 0),
  };
}

customElements.define("sb-run", SbRun);
