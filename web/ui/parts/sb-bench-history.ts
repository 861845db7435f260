/** What was run at the bench and by agents, the newest first: what went in, what came out, and a way to run it again. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Bench } from "../model/bench";
import type { PastCall } from "../model/benchtypes";
import { ago } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { benchBadges } from "./bench-style";
import { milliseconds } from "./sb-bench-result";
import "./sb-json";
import { shown } from "./shown";

export class SbBenchHistory extends LitElement {
  static override styles = [
    shared,
    benchBadges,
    css`
      :host {
        display: block;
      }
      ol {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 0.35em;
      }
      li {
        border: 1px solid var(--sb-line);
        border-radius: 8px;
        background: var(--sb-raised);
        min-width: 0;
      }
      .line {
        display: flex;
        align-items: center;
        gap: 0.3em 0.6em;
        padding: 0.15em 0.3em 0.15em 0.15em;
        flex-wrap: wrap;
      }
      .look {
        flex: 1 1 10em;
        justify-content: flex-start;
        min-width: 0;
        border: 0;
        background: none;
        padding: 0.35em 0.5em;
      }
      .look svg {
        transition: transform 0.1s;
      }
      .look[aria-expanded="true"] svg {
        transform: rotate(90deg);
      }
      .name {
        font: 0.9em/1.6 var(--sb-mono);
      }
      .parts {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 0.4em;
        padding: 0 0.7em 0.7em;
      }
      .parts h5 {
        margin: 0.2em 0 -0.1em;
        font-size: 0.85em;
        color: var(--sb-muted);
      }
      p {
        margin: 0.3em 0;
      }
      .more {
        margin-top: 0.5em;
      }
      .wrong {
        color: var(--sb-danger);
      }
    `,
  ];
  @property({ attribute: false }) bench!: Bench;
  @property({ attribute: false }) version = "";
  @state() private open: string | null = null;
  @state() private stuck: string | null = null;

  protected override render() {
    const { bench } = this;
    const now = Date.now();
    return html`${bench.historyTrouble === null ? nothing : html`<p class="wrong small" role="alert">${shown(bench.historyTrouble)}</p>`}
      ${
        bench.history.length === 0
          ? html`<p class="muted small">${bench.historyRead ? "Nothing was run yet." : "Loading…"}</p>`
          : html`<ol data-testid="bench-history">
              ${repeat(
                bench.history,
                ({ id, startedMs }) => `${id} ${String(startedMs)}`,
                (call) => this.item(call, now),
              )}
            </ol>`
      }
      ${
        bench.historyNext === null
          ? nothing
          : html`<button
              class="more"
              data-testid="bench-more"
              ?disabled=${bench.historyLoading}
              @click=${() => void bench.readHistory(true)}
            >
              ${bench.historyLoading ? "Loading…" : "Older calls"}
            </button>`
      }`;
  }

  private item(call: PastCall, now: number) {
    const { outcome } = call;
    const open = this.open === call.id;
    const known = this.bench.tools.some(({ name }) => name === call.tool);
    return html`<li data-testid="bench-call" data-tool=${call.tool}>
      <div class="line">
        <button
          class="look"
          aria-expanded=${open}
          data-testid="bench-look"
          @click=${() => (this.open = open ? null : call.id)}
        >
          ${icons.right}<span class="name clip">${shown(call.tool.slice(0, 120))}</span>
        </button>
        <span class="badge ${outcome === null ? "" : outcome.success ? "good" : "bad"}"
          >${outcome === null ? "open" : outcome.success ? "success" : outcome.error?.code || "failed"}</span
        >
        <span class="muted small"
          >${outcome ? html`${milliseconds(outcome.durationMs)} · ` : nothing}${ago(now, call.startedMs)}</span
        >
        <button
          class="plain"
          data-testid="bench-again"
          ?disabled=${!known}
          title=${known ? "Fill the form with this and run it" : "The tool is gone"}
          @click=${() => void this.again(call)}
        >
          ${icons.again} Run again
        </button>
      </div>
      ${this.stuck === call.id ? html`<p class="wrong small" role="alert">Not all of its parameters were kept, so it cannot be run again from here.</p>` : nothing}
      ${open ? this.parts(call) : nothing}
    </li>`;
  }

  private parts({ parameters, outcome, cut }: PastCall) {
    return html`<div class="parts" data-testid="bench-past">
      <h5>Parameters</h5>
      <sb-json label="parameters" .value=${parameters}></sb-json>
      ${
        outcome
          ? html`<h5>${outcome.success ? "Result" : "Error"}</h5>
              <sb-json label="result" .value=${outcome.success ? (outcome.data ?? null) : errorOf(outcome.error)}></sb-json>`
          : html`<p class="muted small">It waits or runs.</p>`
      }
      ${cut ? html`<p class="muted small">Only a part of it was kept.</p>` : nothing}
    </div>`;
  }

  private async again(call: PastCall): Promise<void> {
    this.stuck = null;
    this.dispatchEvent(new CustomEvent("sb-again", { bubbles: true, composed: true }));
    if (!(await this.bench.again(call))) this.stuck = call.id;
  }
}

function errorOf(error: { code: string; message: string; details: unknown } | null) {
  if (!error) return null;
  const { code, message, details } = error;
  return details === undefined ? { code, message } : { code, message, details };
}

customElements.define("sb-bench-history", SbBenchHistory);
