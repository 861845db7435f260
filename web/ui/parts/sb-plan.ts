/** The agent's plan as it stands: steps with their state, and how many are done. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import type { PlanEntry } from "../wire";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { shown } from "./shown";

const MARKS = { pending: icons.circle, in_progress: icons.half, completed: icons.done } as const;
const WORDS = { pending: "to do", in_progress: "in progress", completed: "done" } as const;

const MAX_DRAWN = 100;

export class SbPlan extends LitElement {
  static override styles = [
    shared,
    css`
      section {
        border: 1px solid var(--sb-line);
        border-radius: var(--sb-radius);
        padding: 0.6em 0.9em 0.7em;
        background: var(--sb-panel);
      }
      header {
        display: flex;
        align-items: center;
        gap: 0.7em;
        font-weight: 600;
        font-size: 0.9em;
      }
      progress {
        flex: 1;
        max-width: 8em;
        height: 4px;
        appearance: none;
        border: 0;
        border-radius: 2px;
        overflow: hidden;
        background: var(--sb-line);
        margin-left: auto;
      }
      progress::-webkit-progress-bar {
        background: var(--sb-line);
      }
      progress::-webkit-progress-value {
        background: var(--sb-ok);
      }
      progress::-moz-progress-bar {
        background: var(--sb-ok);
      }
      ol {
        list-style: none;
        margin: 0.45em 0 0;
        padding: 0;
        display: grid;
        gap: 0.25em;
      }
      li {
        display: flex;
        gap: 0.55em;
        align-items: baseline;
        overflow-wrap: anywhere;
      }
      li svg {
        transform: translateY(0.18em);
      }
      li.pending {
        color: var(--sb-muted);
      }
      li.completed {
        color: var(--sb-muted);
      }
      li.completed svg {
        color: var(--sb-ok);
      }
      .priority {
        font-size: 0.78em;
        padding: 0 0.5em;
        border: 1px solid currentColor;
        border-radius: 1em;
        color: var(--sb-muted);
        margin-left: 0.4em;
        white-space: nowrap;
      }
      .priority.high {
        color: var(--sb-warn);
      }
      li.in_progress svg {
        color: var(--sb-link);
      }
    `,
  ];
  @property({ attribute: false }) entries: PlanEntry[] = [];

  protected override render() {
    const done = this.entries.filter((entry) => entry.status === "completed").length;
    const all = this.entries.length;
    return html`<section data-testid="plan" aria-label="Plan">
      <header>
        <span>Plan</span><span class="muted small">${done} of ${all}</span>
        <progress aria-label="Plan progress" .max=${Math.max(all, 1)} .value=${done}></progress>
      </header>
      <ol>
        ${this.entries.slice(0, MAX_DRAWN).map(
          ({ content, status, priority }) =>
            html`<li class=${status}>
              ${MARKS[status] ?? icons.circle}<span
                >${shown(content)}<span class="spoken">, ${WORDS[status] ?? status}</span>${
                  // What is neither high nor low needs no word.
                  priority === undefined || priority === "medium"
                    ? nothing
                    : html`<span class="priority ${priority === "high" ? "high" : ""}">${shown(priority.slice(0, 30))}</span>`
                }</span
              >
            </li>`,
        )}
      </ol>
      ${all > MAX_DRAWN ? html`<p class="muted small">and ${all - MAX_DRAWN} more</p>` : nothing}
    </section>`;
  }
}

customElements.define("sb-plan", SbPlan);
