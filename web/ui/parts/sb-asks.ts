/** The questions that wait for the person, above the prompt box where they cannot be missed: one at a time. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import type { Answer } from "../model/answers";
import type { ApprovalPiece } from "../model/turn";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { answeredWords } from "./answered";
import { SbApproval } from "./sb-approval";
import { shown } from "./shown";

/** How long it stands there that somebody else has answered. */
const LATE_MS = 8_000;

export class SbAsks extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        max-width: calc(var(--sb-column) + 1.5rem);
        margin: 0 auto;
      }
      /* Before and after beside each other need room. */
      :host([wide]) {
        max-width: 72rem;
      }
      .dock {
        max-height: min(64vh, 34rem);
        overflow-y: auto;
        margin-bottom: 0.5rem;
        border-radius: var(--sb-radius);
        box-shadow: 0 2px 14px rgb(0 0 0 / 14%);
        background: var(--sb-raised);
      }
      .late {
        display: flex;
        align-items: center;
        gap: 0.5em;
        margin: 0 0 0.5rem;
        padding: 0.45em 0.8em;
        border: 1px solid var(--sb-line);
        border-radius: var(--sb-radius);
        background: var(--sb-raised);
        font-size: 0.92em;
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
  /** The question that stood here and was answered elsewhere. */
  @state() private late: ApprovalPiece | null = null;
  private stood: { tab: string; piece: ApprovalPiece } | null = null;
  private timer = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.clearTimeout(this.timer);
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("tab")) this.late = null;
    const before = this.stood;
    if (!before || before.tab !== this.tab || before.piece.resolution === null) return;
    this.stood = null;
    if (this.page.hasAnswered(this.tab, before.piece.approval.id)) return;
    this.late = before.piece;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.late = null;
    }, LATE_MS);
  }

  private lateLine() {
    const { late } = this;
    if (!late) return nothing;
    const who = late.resolution === "expired" ? "Nobody has answered in time" : "Answered elsewhere";
    return html`<p class="late" role="status" data-testid="asks-late">
      ${icons.shield}<span>${who}: ${answeredWords(late)}. ${shown(late.approval.title.slice(0, 200))}</span>
    </p>`;
  }

  protected override render() {
    const asks = this.page.model.log(this.tab)?.asks() ?? [];
    const at = Math.min(this.at, asks.length - 1);
    const ask = asks[at];
    if (!ask) return this.lateLine();
    this.stood = { tab: this.tab, piece: ask };
    this.toggleAttribute("wide", ask.approval.change !== undefined || ask.approval.diff !== undefined);
    return html`${this.lateLine()}${
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
        <sb-approval
          .piece=${ask}
          .resolution=${ask.resolution}
          .send=${(answer: Answer) => this.page.decide(ask.approval.id, answer)}
        ></sb-approval>
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
