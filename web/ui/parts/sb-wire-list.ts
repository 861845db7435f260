/**
 * The messages of a record, one a row. Only rows near the screen are in the document. Follows the end while the person is
 * there, and stands still while they read elsewhere.
 */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { clock, eventsOf, size, type WireEntry } from "../model/inspect";
import { revealed } from "../model/words";
import { shared } from "../theme/shared";

const ROW = 30;
const MARGIN = 12;
const END_PX = 2 * ROW;

const ARROWS = { in: "→", out: "←", note: "·" } as const;
const WAYS = { in: "to the host", out: "from the host", note: "note" } as const;

export class SbWireList extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        min-height: 0;
        min-width: 0;
      }
      .scroll {
        height: 100%;
        overflow-y: auto;
        overflow-x: hidden;
        overflow-anchor: none;
      }
      .scroll:focus-visible {
        outline-offset: -2px;
      }
      .all {
        position: relative;
      }
      .rows {
        position: absolute;
        inset: 0 0 auto;
      }
      .row {
        height: ${ROW}px;
        display: grid;
        grid-template-columns: 6.6em 3.2em 1.2em minmax(0, 1fr) auto 4.6em;
        gap: 0.6em;
        align-items: center;
        padding: 0 0.8rem;
        font-size: 0.87em;
        cursor: default;
        border-bottom: 1px solid var(--sb-line);
      }
      .row {
        position: relative;
      }
      .row:hover {
        background: var(--sb-soft);
      }
      .row[aria-selected="true"] {
        background: var(--sb-accent-soft);
      }
      .time,
      .bytes {
        font: 0.93em var(--sb-mono);
        color: var(--sb-muted);
        white-space: nowrap;
      }
      .bytes {
        text-align: right;
      }
      .agent {
        color: var(--sb-link);
      }
      .view {
        color: var(--tk-keyword);
      }
      .wrong {
        color: var(--sb-danger);
      }
      .late {
        color: var(--sb-warn);
      }
      .events {
        color: var(--sb-ok);
        white-space: nowrap;
      }
      @media (max-width: 760px) {
        .row {
          grid-template-columns: 2.9em 1em minmax(0, 1fr) auto;
          gap: 0.4em;
          padding: 0 0.5rem;
        }
        .time,
        .bytes {
          display: none;
        }
      }
    `,
  ];
  @property({ attribute: false }) entries: WireEntry[] = [];
  @property({ attribute: false }) chosen: number | null = null;
  @state() private top = 0;
  private view = 600;
  private following = true;
  private readonly observer = new ResizeObserver(() => {
    this.view = this.box?.clientHeight ?? this.view;
    this.requestUpdate();
  });

  private get box(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(".scroll");
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
  }

  protected override firstUpdated(): void {
    if (this.box) this.observer.observe(this.box);
  }

  protected override render() {
    const start = Math.max(0, Math.floor(this.top / ROW) - MARGIN);
    const end = Math.min(this.entries.length, Math.ceil((this.top + this.view) / ROW) + MARGIN);
    const near = this.entries.slice(start, end);
    const active = near.some(({ n }) => n === this.chosen) ? `row-${String(this.chosen)}` : nothing;
    return html`<div
      class="scroll"
      tabindex="0"
      role="listbox"
      aria-label="Messages"
      aria-activedescendant=${active}
      data-testid="wire-list"
      data-count=${this.entries.length}
      @scroll=${this.scrolled}
      @keydown=${this.key}
    >
      <div class="all" role="presentation">
        <div class="rows" role="presentation" data-start=${start}>
          ${repeat(
            near,
            ({ n }) => n,
            (entry, at) => this.row(entry, start + at),
          )}
        </div>
      </div>
    </div>`;
  }

  private row(entry: WireEntry, at: number) {
    const wrong = entry.verdict === "noise" || entry.verdict === "refused";
    const name = revealed(entry.name || (entry.dir === "note" ? "note" : "no name")).slice(0, 120);
    return html`<div
      class="row"
      role="option"
      id="row-${entry.n}"
      aria-selected=${entry.n === this.chosen ? "true" : "false"}
      aria-setsize=${this.entries.length}
      aria-posinset=${at + 1}
      data-testid="wire-row"
      data-side=${entry.side}
      data-dir=${entry.dir}
      data-name=${entry.name}
      data-verdict=${entry.verdict}
      @click=${() => {
        this.choose(entry.n);
      }}
    >
      <span class="time">${clock(entry.at_ms)}</span>
      <span class=${entry.side}>${entry.side}<span class="spoken"> ${WAYS[entry.dir]}</span></span>
      <span class=${entry.side} aria-hidden="true">${ARROWS[entry.dir]}</span>
      <span class="clip ${wrong ? "wrong" : entry.verdict === "late" ? "late" : ""}"
        >${name}${entry.why === undefined ? nothing : html` <span class="muted">${revealed(entry.why.slice(0, 200))}</span>`}</span
      >
      <span class="events">${eventsOf(entry)}</span>
      <span class="bytes">${entry.dir === "note" ? nothing : size(entry.bytes)}</span>
    </div>`;
  }

  protected override updated(changed: PropertyValues): void {
    // By the object model, since the page's policy takes no style from markup.
    const all = this.renderRoot.querySelector<HTMLElement>(".all");
    const rows = this.renderRoot.querySelector<HTMLElement>(".rows");
    if (!all || !rows || !this.box) return;
    all.style.height = `${String(this.entries.length * ROW)}px`;
    rows.style.transform = `translateY(${String(Number(rows.dataset["start"] ?? 0) * ROW)}px)`;
    if (changed.has("entries") && this.following) this.box.scrollTop = this.box.scrollHeight;
  }

  /** Brings the entry of a number, or the next after it, into sight. */
  show(n: number): void {
    const at = this.entries.findIndex((entry) => entry.n >= n);
    if (at >= 0) this.reveal(at);
  }

  private reveal(at: number): void {
    const { box } = this;
    if (!box) return;
    const top = at * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
  }

  private readonly scrolled = (): void => {
    const { box } = this;
    if (!box) return;
    this.top = box.scrollTop;
    this.view = box.clientHeight;
    this.following = box.scrollTop + box.clientHeight >= box.scrollHeight - END_PX;
  };

  private readonly key = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const at = this.entries.findIndex(({ n }) => n === this.chosen);
    let next: number;
    if (event.key === "Home") next = 0;
    else if (event.key === "End") next = this.entries.length - 1;
    else if (steps[event.key] !== undefined)
      next = at < 0 ? this.entries.length - 1 : at + (steps[event.key] ?? 0);
    else return;
    event.preventDefault();
    next = Math.max(0, Math.min(this.entries.length - 1, next));
    const entry = this.entries[next];
    if (!entry) return;
    this.choose(entry.n);
    this.reveal(next);
  };

  private choose(n: number): void {
    this.dispatchEvent(new CustomEvent("sb-choose", { detail: n }));
  }
}

customElements.define("sb-wire-list", SbWireList);
