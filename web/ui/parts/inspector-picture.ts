/** The picture of a record: agent's messages up, views' down, what went wrong in red, pauses as shades. Draws only. */
import { html, svg, type TemplateResult } from "lit";
import { clock, delta, type Picture } from "../model/inspect";

export const COLUMNS = 120;
const WIDTH = 600;
const HALF = 32;

export function drawn(picture: Picture, pick: (ms: number) => void): TemplateResult {
  const { from, to, columns, pauses, most } = picture;
  const wide = WIDTH / COLUMNS;
  const place = (ms: number) => (to > from ? ((ms - from) / (to - from)) * WIDTH : 0);
  // By roots, so that a single message is seen beside a flood.
  const tall = (count: number) =>
    count === 0 ? 0 : Math.max(2, (Math.sqrt(count) / Math.sqrt(most)) * (HALF - 2));
  const said = `${String(columns.reduce((sum, one) => sum + one.agent, 0))} messages of the agent, ${String(columns.reduce((sum, one) => sum + one.view, 0))} of views, ${String(pauses.length)} pauses`;
  return html`<svg viewBox="0 0 ${WIDTH} ${2 * HALF}" preserveAspectRatio="none" role="img" aria-label=${said} data-testid="wire-picture">
    ${pauses.map(
      (pause) =>
        svg`<rect class="pause" x=${place(pause.from)} y="0" width=${Math.max(0, place(pause.to) - place(pause.from))} height=${2 * HALF}><title>${`nothing for ${delta(pause.to - pause.from).slice(1)}, from ${clock(pause.from)}`}</title></rect>`,
    )}
    ${columns.map((column, at) => {
      const up = tall(column.agent);
      const down = tall(column.view);
      return svg`<rect class="agent" x=${at * wide} y=${HALF - up} width=${wide * 0.8} height=${up}></rect>
        <rect class="view" x=${at * wide} y=${HALF} width=${wide * 0.8} height=${down}></rect>
        ${column.wrong > 0 ? svg`<rect class="wrong" x=${at * wide} y=${HALF - 2} width=${wide * 0.8} height="4"></rect>` : ""}`;
    })}
    <line class="zero" x1="0" y1=${HALF} x2=${WIDTH} y2=${HALF}></line>
    ${columns.map((column, at) =>
      column.agent + column.view === 0
        ? ""
        : svg`<rect class="hit" x=${at * wide} y="0" width=${wide} height=${2 * HALF} @click=${() => {
            pick(column.from);
          }}><title>${`${clock(column.from)}: ${String(column.agent)} of the agent, ${String(column.view)} of views`}</title></rect>`,
    )}
  </svg>`;
}
