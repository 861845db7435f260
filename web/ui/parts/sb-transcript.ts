/**
 * The conversation. Only what is near the screen is in the document, so ten thousand turns are no burden. Follows the
 * end while the person is there, and stands still while they read elsewhere.
 */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Unsent } from "../model/outbox";
import { type Entry, pieceAt } from "../model/turn";
import { GUESSED_HEIGHT, type Span, spanAround } from "../model/window";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import "./sb-notice";
import { PROMPT, SbTurn } from "./sb-turn";
import "./sb-unsent";

type Item = { key: string; entry: Entry } | { key: string; unsent: Unsent };
/** Where a tab was when it was left. */
type Place = { top: number; following: boolean; heights: Map<string, number> };

/** What is kept in sight: a piece of a turn, until the person moves. */
type Aim = { key: string; piece: number; shown: boolean };

/** How far below the upper edge it stands. */
const AIM_PX = 48;
/** How near to the end counts as the end. */
const END_PX = 32;

export class SbTranscript extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        position: relative;
        min-height: 0;
      }
      .scroll {
        height: 100%;
        overflow-y: auto;
        overflow-x: hidden;
        overflow-anchor: none;
        scrollbar-gutter: stable both-edges;
        padding: 1rem clamp(0.75rem, 3vw, 1.5rem) 0;
      }
      .scroll:focus-visible {
        outline-offset: -2px;
      }
      .column {
        max-width: var(--sb-column);
        margin: 0 auto;
      }
      .item {
        display: flow-root;
      }
      .jump {
        position: absolute;
        bottom: 0.75rem;
        left: 50%;
        transform: translateX(-50%);
        border-radius: 2em;
        box-shadow: 0 2px 10px rgb(0 0 0 / 18%);
        font-size: 0.9em;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) tab = "";
  @property({ attribute: false }) version = "";
  @state() private following = true;
  @state() private far = false;
  private places = new Map<string, Place>();
  private place: Place = { top: 0, following: true, heights: new Map() };
  private items: Item[] = [];
  private span: Span = { start: 0, end: 0, above: 0, below: 0 };
  private view = 800;
  private top = 0;
  private stuckHeight = 0;
  private restore = false;
  private aim: Aim | null = null;
  /** What was looked for last in this tab; it stays marked. */
  private sought: Aim | null = null;
  private readonly observer = new ResizeObserver((sizes) => {
    this.resized(sizes);
  });
  private readonly observed = new Set<Element>();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
    this.observed.clear();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("tab")) this.changeTab(changed.get("tab") as string | undefined);
    this.items = this.collect();
    this.takeGoal();
    this.measureSpan();
  }

  protected override render() {
    const near = this.items.slice(this.span.start, this.span.end);
    return html`<div
        class="scroll"
        data-testid="transcript"
        tabindex="0"
        role="log"
        aria-live="off"
        aria-label="Conversation"
        @scroll=${this.scrolled}
        @wheel=${{ handleEvent: this.letGo, passive: true }}
        @touchmove=${{ handleEvent: this.letGo, passive: true }}
        @pointerdown=${this.letGo}
        @keydown=${this.letGo}
      >
        <div class="column">
          <div class="above"></div>
          ${repeat(
            near,
            (item) => item.key,
            (item) => html`<div class="item" data-key=${item.key}>${this.draw(item)}</div>`,
          )}
          <div class="below"></div>
        </div>
      </div>
      ${
        this.far
          ? html`<button class="jump" data-testid="jump-latest" @click=${this.jump}>
              ${icons.arrowDown} Jump to latest
            </button>`
          : nothing
      }`;
  }

  protected override updated(): void {
    const items = new Set<Element>(this.renderRoot.querySelectorAll(".item"));
    for (const old of this.observed) if (old.classList.contains("item") && !items.has(old)) this.unwatch(old);
    for (const item of items) if (!this.observed.has(item)) this.watch(item);
    this.setRoom();
    const scroll = this.scroller;
    if (!scroll) return;
    // Whatever changes its height is heard of before it is painted, and the end is kept in sight then.
    for (const box of [scroll, scroll.firstElementChild]) if (box && !this.observed.has(box)) this.watch(box);
    if (this.aim) return this.align();
    if (!this.restore) return;
    this.restore = false;
    if (!this.following) scroll.scrollTop = this.place.top;
    this.stick();
  }

  /** The end of the conversation. */
  readonly jump = (): void => {
    this.aim = null;
    this.following = true;
    this.far = false;
    this.stick();
    this.requestUpdate();
  };

  private get scroller(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(".scroll");
  }

  private draw(item: Item) {
    if ("unsent" in item) {
      const online = this.page.machine.phase === "online";
      return html`<sb-unsent
        .page=${this.page}
        .entry=${item.unsent}
        .held=${item.unsent.held}
        ?online=${online}
      ></sb-unsent>`;
    }
    const { entry } = item;
    return entry.kind === "turn"
      ? html`<sb-turn
          .page=${this.page}
          .turn=${entry}
          .version=${entry.version}
          .found=${this.sought?.key === item.key ? this.sought.piece : null}
        ></sb-turn>`
      : html`<sb-notice .notice=${entry}></sb-notice>`;
  }

  private changeTab(before: string | undefined): void {
    if (before) this.places.set(before, { ...this.place, top: this.top, following: this.following });
    this.place = this.places.get(this.tab) ?? { top: 0, following: true, heights: new Map() };
    this.following = this.place.following;
    this.top = this.place.top;
    this.far = false;
    this.restore = true;
    this.aim = null;
    this.sought = null;
  }

  /** A place that was asked for is aimed at as soon as the log has it. */
  private takeGoal(): void {
    const { library, model } = this.page;
    const { goal } = library;
    const log = model.log(this.tab);
    if (!goal || model.byTab(this.tab)?.session !== goal.session || !log || log.epoch === "") return;
    if (log.epoch !== goal.epoch) library.goal = null;
    if (log.epoch !== goal.epoch || log.cursor < goal.seq) return;
    library.goal = null;
    const turn = goal.turn === null ? undefined : log.turn(goal.turn);
    const key = `t${String(turn?.number)}`;
    const at = this.items.findIndex((item) => item.key === key);
    if (!turn || at < 0) return;
    this.aim = { key, piece: goal.prompt ? PROMPT : pieceAt(turn, goal.seq), shown: false };
    this.sought = this.aim;
    this.following = false;
    this.restore = false;
    this.top = this.items
      .slice(0, at)
      .reduce((sum, item) => sum + (this.place.heights.get(item.key) ?? GUESSED_HEIGHT), 0);
  }

  /** Brings what is aimed at into sight, and again whenever heights above it become known. */
  private align(): void {
    const scroll = this.scroller;
    const { aim } = this;
    if (!scroll || !aim) return;
    const item = [...this.renderRoot.querySelectorAll<HTMLElement>(".item")].find(
      ({ dataset }) => dataset["key"] === aim.key,
    );
    if (!item) {
      scroll.scrollTop = this.top;
      return;
    }
    const turn = item.querySelector<SbTurn>("sb-turn");
    const target = turn?.place(aim.piece) ?? item;
    if (turn && target !== item && !aim.shown) {
      aim.shown = true;
      turn.unfold(aim.piece);
    }
    scroll.scrollTop += target.getBoundingClientRect().top - scroll.getBoundingClientRect().top - AIM_PX;
    this.top = scroll.scrollTop;
  }

  private readonly letGo = (): void => {
    this.aim = null;
  };

  private collect(): Item[] {
    const log = this.page.model.log(this.tab);
    const items: Item[] = [];
    for (const entry of log?.entries ?? []) {
      // What waits is shown with the prompt box.
      if (entry.kind === "turn" && entry.state === "queued") continue;
      if (isRepeated(entry, items.at(-1))) continue;
      items.push({ key: entry.kind === "turn" ? `t${String(entry.number)}` : entry.id, entry });
    }
    for (const unsent of this.page.outbox.of(this.tab)) items.push({ key: `u${unsent.name}`, unsent });
    return items;
  }

  private measureSpan(): void {
    const heights = this.items.map((item) => this.place.heights.get(item.key) ?? GUESSED_HEIGHT);
    let top = this.top;
    if (this.following) {
      const all = heights.reduce((sum, height) => sum + height, 0);
      top = Math.max(0, all - this.view);
    }
    this.span = spanAround(heights, top, this.view, this.view * 1.5);
  }

  private setRoom(): void {
    const above = this.renderRoot.querySelector<HTMLElement>(".above");
    const below = this.renderRoot.querySelector<HTMLElement>(".below");
    if (above) above.style.height = `${String(this.span.above)}px`;
    if (below) below.style.height = `${String(this.span.below)}px`;
  }

  private stick(): void {
    const scroll = this.scroller;
    if (!scroll) return;
    if (this.following) {
      this.stuckHeight = scroll.scrollHeight;
      scroll.scrollTop = this.stuckHeight;
    }
    this.top = scroll.scrollTop;
  }

  private watch(element: Element): void {
    this.observed.add(element);
    this.observer.observe(element);
  }

  private unwatch(element: Element): void {
    this.observed.delete(element);
    this.observer.unobserve(element);
  }

  /** Heights became known or changed: what is being read must stay where it is. */
  private resized(sizes: ResizeObserverEntry[]): void {
    const scroll = this.scroller;
    if (!scroll) return;
    this.view = scroll.clientHeight || this.view;
    const edge = scroll.getBoundingClientRect().top;
    let shift = 0;
    for (const size of sizes) {
      const key = (size.target as HTMLElement).dataset["key"];
      if (key === undefined) continue;
      const height = size.borderBoxSize[0]?.blockSize ?? size.contentRect.height;
      const before = this.place.heights.get(key) ?? GUESSED_HEIGHT;
      this.place.heights.set(key, height);
      // What ends above the upper edge moves everything below it.
      if (size.target.getBoundingClientRect().bottom <= edge + 1) shift += height - before;
    }
    if (this.aim) {
      this.align();
      this.requestUpdate();
      return;
    }
    if (!this.following && shift !== 0) {
      scroll.scrollTop += shift;
      this.top = scroll.scrollTop;
    }
    this.stick();
    this.lookAround();
  }

  private readonly scrolled = (): void => {
    const scroll = this.scroller;
    if (!scroll) return;
    const rest = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;
    if (this.aim) {
      this.top = scroll.scrollTop;
      this.far = rest > this.view / 3;
      return this.lookAround();
    }
    // Only a person's movement upwards ends the following. Words that arrive do not, nor does a height that was guessed
    // and is now known: it shows by a height other than the one at which the end was last kept.
    if (rest <= END_PX) this.following = true;
    else if (this.following && scroll.scrollHeight !== this.stuckHeight) this.stick();
    else if (scroll.scrollTop < this.top - 1) this.following = false;
    this.top = scroll.scrollTop;
    this.far = !this.following && rest > this.view / 3;
    this.lookAround();
  };

  /** Draws anew if the screen has come near the edge of what is drawn. */
  private lookAround(): void {
    const before = this.span;
    const reach = this.view * 0.75;
    const drawnTo = this.items
      .slice(before.start, before.end)
      .reduce((sum, item) => sum + (this.place.heights.get(item.key) ?? GUESSED_HEIGHT), before.above);
    const short = drawnTo < this.top + this.view + reach && before.end < this.items.length;
    if (short || (before.start > 0 && before.above > this.top - reach)) this.requestUpdate();
  }
}

/** An agent's exit is not told twice: the turn that it ended says the same. */
function isRepeated(entry: Entry, before: Item | undefined): boolean {
  if (entry.kind !== "notice" || entry.what !== "exited" || !before || !("entry" in before)) return false;
  return before.entry.kind === "turn" && before.entry.detail?.message === entry.text;
}

customElements.define("sb-transcript", SbTranscript);
