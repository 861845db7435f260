/** A run of a tool: how long it takes, what it writes meanwhile, and what came of it. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import type { Bench, Run } from "../model/bench";
import { findingsOf, type Outcome } from "../model/benchtypes";
import type { ExecutionPiece } from "../model/turn";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { benchBadges } from "./bench-style";
import "./sb-json";
import "./sb-terminal";
import { sentence, shown } from "./shown";

/** How often the time of a run that goes on is drawn. */
const TICK_MS = 100;

export function milliseconds(ms: number): string {
  return ms < 1_000 ? `${String(Math.round(ms))} ms` : `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

export class SbBenchResult extends LitElement {
  static override styles = [
    shared,
    benchBadges,
    css`
      :host {
        display: block;
      }
      .head {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.4em 0.8em;
        margin-bottom: 0.5em;
      }
      h4 {
        margin: 0;
        font-size: 0.95em;
      }
      p {
        margin: 0 0 0.5em;
        overflow-wrap: anywhere;
      }
      sb-terminal {
        display: block;
        margin-bottom: 0.5em;
      }
      .going svg {
        animation: sb-spin 1.2s linear infinite;
      }
    `,
  ];
  @property({ attribute: false }) bench!: Bench;
  @property({ attribute: false }) run!: Run;
  /** What the host says of the run while it goes on. */
  @property({ attribute: false }) execution: ExecutionPiece | null = null;
  @property({ attribute: false }) waits = false;
  @property({ attribute: false }) version = "";
  private ticking = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.ticking = window.setInterval(() => {
      if (this.run && this.run.outcome === null && this.run.trouble === null) this.requestUpdate();
    }, TICK_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.clearInterval(this.ticking);
  }

  protected override render() {
    const { outcome, trouble } = this.run;
    if (outcome) return this.over(outcome);
    if (trouble !== null)
      return html`<div class="head"><h4>Result</h4><span class="badge bad">unknown</span></div>
        <p role="alert">${shown(trouble)}</p>`;
    return this.going();
  }

  private going() {
    const { run } = this;
    const elapsed = milliseconds(Math.max(0, Date.now() - run.startedMs));
    return html`<div class="head going" data-testid="bench-going" role="status">
        ${icons.again}<strong>${this.waits ? "Waits for your answer" : run.cancelAsked ? "Is being cancelled" : "Runs"}</strong>
        <span class="muted" aria-hidden="true" data-testid="bench-elapsed">${elapsed}</span>
        <button data-testid="bench-cancel" ?disabled=${run.cancelAsked} @click=${() => void this.bench.cancel(run)}>
          ${icons.stop} Cancel
        </button>
      </div>
      ${this.output()}`;
  }

  private output() {
    const { execution } = this;
    if (!execution || (execution.output.text === "" && execution.end !== null)) return nothing;
    return html`<sb-terminal
      .text=${execution.output.text}
      .dropped=${execution.output.dropped}
      ?live=${execution.end === null}
    ></sb-terminal>`;
  }

  private over(outcome: Outcome) {
    const { success, error, durationMs, data } = outcome;
    const findings = findingsOf(error).length;
    return html`<div class="head">
        <h4>Result</h4>
        <span class="badge ${success ? "good" : "bad"}" data-testid="bench-outcome" data-success=${success}
          >${success ? icons.done : icons.cross}${success ? "success" : error?.code || "failed"}</span
        >
        <span class="muted small" data-testid="bench-duration">${milliseconds(durationMs)}</span>
      </div>
      ${
        error
          ? html`<p role="alert" data-testid="bench-error">
              ${sentence(error.message)}${findings > 0 ? html` <span class="muted">${findings} ${findings === 1 ? "finding" : "findings"}, at the fields.</span>` : nothing}
            </p>`
          : nothing
      }
      ${
        success
          ? html`<sb-json label="result" data-testid="bench-data" .value=${data ?? null}></sb-json>`
          : error?.details === undefined || findings > 0
            ? nothing
            : html`<sb-json label="details" .value=${error.details}></sb-json>`
      }`;
  }
}

customElements.define("sb-bench-result", SbBenchResult);
