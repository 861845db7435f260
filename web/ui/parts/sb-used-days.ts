/** What was used, day by day, as bars; the same as a table for whoever sees no picture. */
import { css, html, LitElement, nothing, svg } from "lit";
import { property } from "lit/decorators.js";
import { DAYS } from "../model/chores";
import { type Day, isNothing, lastDays, spentLong, spentShort, sumOf } from "../model/spent";
import { revealed } from "../model/words";
import type { Page } from "../page";
import { shared } from "../theme/shared";
import { settingsStyle } from "./settings-style";
import { sentence } from "./shown";

const HEIGHT = 80;
const STEP = 16;
const BAR = 11;
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export class SbUsedDays extends LitElement {
  static override styles = [
    shared,
    settingsStyle,
    css`
      .picture {
        display: block;
        width: 100%;
        height: auto;
        max-height: 9rem;
        overflow: visible;
        stroke: none;
      }
      .in {
        fill: var(--sb-link);
        opacity: 0.5;
      }
      .out {
        fill: var(--sb-link);
      }
      .none {
        fill: var(--sb-line);
      }
      .ends,
      .key {
        display: flex;
        justify-content: space-between;
        gap: 1em;
      }
      .key {
        justify-content: flex-start;
        flex-wrap: wrap;
      }
      .key i {
        display: inline-block;
        width: 0.7em;
        height: 0.7em;
        border-radius: 2px;
        background: var(--sb-link);
        margin-right: 0.35em;
      }
      .key .pale {
        opacity: 0.5;
      }
      .bars {
        margin: 0;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 0.2rem;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

  protected override render() {
    const { days: rows, daysProblem } = this.page.library.chores;
    const days = lastDays(rows ?? [], this.page.now(), DAYS);
    const sum = sumOf(days.map(({ spent }) => spent));
    return html`<section aria-labelledby="used-title" data-testid="used-days">
      <h3 id="used-title">Used in the last ${DAYS} days</h3>
      ${daysProblem === "" ? nothing : html`<p class="small wrong" role="alert">${sentence(daysProblem)}</p>`}
      ${
        rows === null
          ? daysProblem === ""
            ? html`<p class="small muted" role="status">Loading…</p>`
            : nothing
          : isNothing(sum)
            ? html`<p class="small muted" data-testid="used-none">No agent has said what it used.</p>`
            : html`<p class="small" data-testid="used-sum">${revealed(spentLong(sum))}</p>
                ${this.picture(days)} ${table(days)}`
      }
    </section>`;
  }

  private picture(days: readonly Day[]) {
    const most = Math.max(1, ...days.map(({ spent }) => spent.tokens.input + spent.tokens.output));
    const first = days[0]?.day ?? "";
    return html`<figure class="bars" aria-hidden="true">
      <svg class="picture" viewBox="0 0 ${days.length * STEP} ${HEIGHT}" preserveAspectRatio="none" data-testid="used-bars">
        ${days.map((day, at) => bar(day, at * STEP + (STEP - BAR) / 2, most))}
      </svg>
      <div class="ends small muted"><span>${said(first)}</span><span>Today</span></div>
      <div class="key small muted">
        <span><i class="pale"></i>read</span><span><i></i>written</span
        ><span>at most ${Intl.NumberFormat(undefined, { notation: "compact" }).format(most)} tokens a day</span>
      </div>
    </figure>`;
  }
}

function bar({ day, turns, spent }: Day, left: number, most: number) {
  const { input, output } = spent.tokens;
  const all = ((input + output) / most) * (HEIGHT - 2);
  const out = input + output === 0 ? 0 : (output / (input + output)) * all;
  const words = `${said(day)}: ${turns === 0 ? "nothing" : `${spentShort(spent)}, ${String(turns)} turns`}`;
  if (all === 0)
    return svg`<rect class="none" x=${left} y=${HEIGHT - 2} width=${BAR} height="2"><title>${words}</title></rect>`;
  return svg`<g data-day=${day}><title>${words}</title>
    <rect class="in" x=${left} y=${HEIGHT - all} width=${BAR} height=${all - out}></rect>
    <rect class="out" x=${left} y=${HEIGHT - out} width=${BAR} height=${out}></rect></g>`;
}

function table(days: readonly Day[]) {
  return html`<table class="spoken">
    <caption>
      Used, day by day
    </caption>
    <tr>
      <th>Day</th>
      <th>Turns</th>
      <th>Used</th>
    </tr>
    ${days
      .filter(({ turns }) => turns > 0)
      .map(
        ({ day, turns, spent }) =>
          html`<tr>
            <td>${day}</td>
            <td>${turns}</td>
            <td>${revealed(spentLong(spent))}</td>
          </tr>`,
      )}
  </table>`;
}

function said(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? day : DATE.format(time);
}

customElements.define("sb-used-days", SbUsedDays);
