/**
 * A change of a file: its path, how much changes, and the lines, numbered, with what differs marked; before and after beside
 * each other where that is wanted and there is room.
 */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { Diff, Row } from "../model/diff";
import { type Sides, sidesOf } from "../model/sides";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { shown } from "./shown";

/** Rows that are drawn at first, and when all are asked for. */
const FEW_ROWS = 60;
const MANY_ROWS = 3_000;
/** Characters of a line that are drawn. */
const MAX_LINE_CHARS = 2_000;
/** The width from which on two sides have room, in pixels. */
const ROOM_PX = 700;
const SIGNS = { add: "+", del: "−", same: " ", skip: " " } as const;

/** How much changes, in two short words. */
export function changeCounts({ added, removed }: { added: number; removed: number }): TemplateResult {
  const words = `${added.toLocaleString()} added, ${removed.toLocaleString()} removed`;
  return html`<span class="counts" role="img" title=${words} aria-label=${words}
    ><span class="added">+${added.toLocaleString()}</span> <span class="removed">−${removed.toLocaleString()}</span></span
  >`;
}

export const countsStyle = css`
  .counts {
    font: 0.85em var(--sb-mono);
    white-space: nowrap;
    flex: none;
  }
  .added {
    color: var(--sb-ok);
  }
  .removed {
    color: var(--sb-danger);
  }
`;

export class SbDiff extends LitElement {
  static override styles = [
    shared,
    countsStyle,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      figure {
        margin: 0;
        border: 1px solid var(--sb-line);
        border-radius: 8px;
        overflow: hidden;
        background: var(--sb-code);
      }
      figcaption {
        display: flex;
        align-items: center;
        gap: 0.6em;
        padding: 0.35em 0.7em;
        border-bottom: 1px solid var(--sb-line);
        background: var(--sb-panel);
        font-size: 0.87em;
      }
      .path {
        font-family: var(--sb-mono);
        flex: 1;
        overflow-wrap: anywhere;
        unicode-bidi: isolate;
      }
      .rows {
        overflow: auto;
        max-height: var(--sb-diff-height, 30em);
        font: 0.82em/1.5 var(--sb-mono);
        tab-size: 4;
      }
      .rows:focus-visible {
        outline-offset: -2px;
      }
      .grid {
        display: grid;
        grid-template-columns: auto auto auto minmax(0, 1fr);
        min-width: max-content;
      }
      .grid.beside {
        grid-template-columns: auto minmax(0, 1fr) auto minmax(0, 1fr);
        min-width: 0;
      }
      .beside .line {
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        padding-left: 0.35em;
      }
      .beside .after.n {
        border-left: 1px solid var(--sb-line);
      }
      .beside .whole {
        grid-column: 1 / -1;
        padding-left: 1em;
        background: var(--sb-panel);
        color: var(--sb-muted);
      }
      .beside .spoken {
        user-select: none;
        -webkit-user-select: none;
      }
      .beside .none {
        --row: var(--sb-panel);
      }
      .row {
        display: contents;
      }
      .row > *:not(.whole) {
        background: var(--row, transparent);
      }
      .n {
        color: var(--sb-muted);
        text-align: right;
        padding: 0 0.5em;
        min-width: 2.6em;
        user-select: none;
        -webkit-user-select: none;
      }
      .sign {
        padding-inline: 0.25em;
        user-select: none;
        -webkit-user-select: none;
      }
      .line {
        white-space: pre;
        padding-right: 1em;
        unicode-bidi: isolate;
      }
      .add {
        --row: var(--sb-ok-soft);
      }
      .del {
        --row: var(--sb-danger-soft);
      }
      .add .sign,
      .add .n,
      .n.add {
        color: var(--sb-ok);
      }
      .del .sign,
      .del .n,
      .n.del {
        color: var(--sb-danger);
      }
      .skip {
        --row: var(--sb-panel);
      }
      .skip .line {
        color: var(--sb-muted);
      }
      mark {
        color: inherit;
        border-radius: 2px;
        background: var(--sb-add-mark);
      }
      .del mark,
      .line.del mark {
        background: var(--sb-del-mark);
      }
      .more {
        display: flex;
        align-items: center;
        gap: 0.7em;
        padding: 0.25em 0.7em;
        border-top: 1px solid var(--sb-line);
        font-size: 0.87em;
      }
      .more button {
        padding: 0.15em 0.6em;
        min-height: 0;
      }
      p {
        margin: 0;
        padding: 0.4em 0.7em;
        font-size: 0.87em;
        color: var(--sb-muted);
      }
    `,
  ];
  @property({ attribute: false }) path = "";
  @property({ attribute: false }) diff!: Diff;
  /** The file is new. */
  @property({ type: Boolean }) fresh = false;
  /** Before and after beside each other, where there is room. */
  @property({ type: Boolean }) beside = false;
  @state() private all = false;
  @state() private roomy = false;
  private room: ResizeObserver | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    if (!("ResizeObserver" in window)) return;
    this.room = new ResizeObserver(([seen]) => {
      this.roomy = (seen?.contentRect.width ?? 0) >= ROOM_PX;
    });
    this.room.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.room?.disconnect();
  }

  protected override render() {
    const { rows, cut } = this.diff;
    const count = Math.min(rows.length, this.all ? MANY_ROWS : FEW_ROWS);
    const beside = this.beside && this.roomy;
    return html`<figure data-testid="diff" data-beside=${beside}>
      <figcaption>
        ${icons.pencil}<span class="path">${shown(this.path || "change")}</span>
        ${this.fresh ? html`<span class="muted">new</span>` : nothing}${changeCounts(this.diff)}
      </figcaption>
      ${
        rows.length === 0
          ? html`<p>Nothing changes.</p>`
          : html`<div class="rows" tabindex="0" role="region" aria-label="Change of ${this.path}">
              <div class="grid ${beside ? "beside" : ""}">
                ${beside ? sidesOf(rows.slice(0, count)).map(drawSides) : rows.slice(0, count).map(drawRow)}
              </div>
            </div>`
      }
      ${this.rest(rows.length, count, cut)}
    </figure>`;
  }

  private rest(all: number, drawn: number, cut: boolean) {
    const left = all - drawn;
    const { leftOut = 0 } = this.diff;
    if (left <= 0 && !cut && leftOut === 0 && all <= FEW_ROWS) return nothing;
    const toggle = all > FEW_ROWS;
    return html`<div class="more">
      ${
        toggle
          ? html`<button aria-expanded=${this.all} @click=${() => (this.all = !this.all)}>
              ${this.all ? "Show less" : `Show all ${all.toLocaleString()} lines`}
            </button>`
          : nothing
      }
      ${this.all && left > 0 ? html`<span class="muted">${left.toLocaleString()} more lines are not drawn.</span>` : nothing}
      ${leftOut > 0 ? html`<span class="muted">${leftOut.toLocaleString()} more lines change and are not shown here.</span>` : nothing}
      ${cut ? html`<span class="muted">The file is huge; only its beginning is compared.</span>` : nothing}
    </div>`;
  }
}

function drawRow(row: Row): TemplateResult {
  return html`<div class="row ${row.kind}">
    <span class="n">${row.old ?? ""}</span><span class="n">${row.new ?? ""}</span
    ><span class="sign" aria-hidden=${row.kind === "same" || row.kind === "skip"}>${SIGNS[row.kind]}</span
    ><span class="line">${row.kind === "skip" ? html`${shown(row.text.slice(0, 200))}` : line(row)}</span>
  </div>`;
}

function drawSides({ before, after }: Sides): TemplateResult {
  if (before?.kind === "skip")
    return html`<div class="row"><span class="whole">${shown(before.text.slice(0, 200))}</span></div>`;
  return html`<div class="row">${half(before, before?.old ?? null, "")}${half(after, after?.new ?? null, "after")}</div>`;
}

function half(row: Row | null, number: number | null, side: string) {
  const kind = row?.kind ?? "none";
  const words = kind === "add" ? "added" : kind === "del" ? "removed" : "";
  return html`<span class="n ${kind} ${side}">${number ?? ""}</span
    ><span class="line ${kind}">${words ? html`<span class="spoken">${words}: </span>` : nothing}${row ? line(row) : nothing}</span>`;
}

function line({ text, mark }: Row) {
  if (text.length > MAX_LINE_CHARS)
    return html`${shown(text.slice(0, MAX_LINE_CHARS))}<span class="muted"> … ${(text.length - MAX_LINE_CHARS).toLocaleString()} more characters</span>`;
  if (!mark) return shown(text);
  const [from, to] = mark;
  return html`${shown(text.slice(0, from))}<mark>${shown(text.slice(from, to))}</mark>${shown(text.slice(to))}`;
}

customElements.define("sb-diff", SbDiff);
