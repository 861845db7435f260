/** The questions that wait for the person, above the prompt box where they cannot be missed: one at a time. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { SbApproval } from "./sb-approval";

export class SbAsks extends LitElement {
  static override styles = [
    shared,
    css`
      .dock {
        max-height: min(64vh, 34rem);
        overflow-y: auto;
        margin-bottom: 0.5rem;
        border-radius: var(--sb-radius);
        box-shadow: 0 2px 14px rgb(0 0 0 / 14%);
        background: var(--sb-raised);
      }
      .many {
        display: flex;
        align-items: center;
        gap: 0.4em;
        padding: 0 0.3em 0.3em;
        font-size: 0.87em;
        color: var(--sb-muted);
      }
      .many button {
        min-height: 1.8em;
        min-width: 1.8em;
        padding: 0.2em;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) tab = "";
  @property({ attribute: false }) version = "";
  /** Which of several is looked at. */
  @state() private at = 0;

  protected override render() {
    const asks = this.page.model.log(this.tab)?.asks() ?? [];
    const at = Math.min(this.at, asks.length - 1);
    const ask = asks[at];
    if (!ask) return nothing;
    return html`${
      asks.length > 1
        ? html`<div class="many">
              <span>Question ${at + 1} of ${asks.length}</span>
              <button
                class="plain"
                aria-label="The question before"
                ?disabled=${at === 0}
                @click=${() => (this.at = at - 1)}
              >
                ${icons.arrowUp}
              </button>
              <button
                class="plain"
                aria-label="The next question"
                ?disabled=${at === asks.length - 1}
                @click=${() => (this.at = at + 1)}
              >
                ${icons.arrowDown}
              </button>
            </div>`
        : nothing
    }
      <div class="dock" data-testid="asks-dock">
        <sb-approval .page=${this.page} .piece=${ask} .resolution=${ask.resolution}></sb-approval>
      </div>`;
  }

  /** True if there was a question to go to. */
  focusAnswers(): boolean {
    const approval = this.renderRoot.querySelector<SbApproval>("sb-approval");
    approval?.focusAnswers();
    return approval !== null;
  }
}

customElements.define("sb-asks", SbAsks);
