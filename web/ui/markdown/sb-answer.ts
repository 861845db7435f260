/**
 * A run of the answer, drawn as it grows: finished blocks once, the last one again in each frame that brought words.
 * Long text is drawn over several frames, so that no frame is late.
 */
import { html, LitElement, type PropertyValues } from "lit";
import { property } from "lit/decorators.js";
import type { TextPiece } from "../model/turn";
import { shared } from "../theme/shared";
import { type Block, Blocks } from "./blocks";
import { toHtml } from "./parse";
import { SbCode } from "./sb-code";
import { markdownStyle } from "./style";
import { sanitised } from "./trusted";

/** How long one frame may spend on one answer. */
const FRAME_MS = 6;
/** Characters that are cut into blocks at a time. */
const SLICE_CHARS = 8 * 1024;
/** Characters of one group of blocks; groups far from the screen cost no layout. */
const GROUP_CHARS = 16 * 1024;
/** Characters that are cleaned in one go. */
const BATCH_CHARS = 3 * 1024;
/** Of the time, the open block may take one part in so many. */
const OPEN_SHARE = 4;

type Cutting = { blocks: Blocks; taken: number };
/** What was cut stays cut when an answer leaves the screen and comes back. */
const cuttings = new WeakMap<TextPiece, Cutting>();

export class SbAnswer extends LitElement {
  static override styles = [shared, markdownStyle];
  @property({ attribute: false }) piece!: TextPiece;
  @property({ attribute: false }) seq = 0;
  /** What it is called in tests: an answer, or the words of a tool. */
  @property() name = "answer";
  /** More words may come. */
  @property({ type: Boolean }) live = false;
  private drawnPiece: TextPiece | null = null;
  private drawn = 0;
  private group: HTMLElement | null = null;
  private groupChars = 0;
  private openElement: HTMLElement | null = null;
  private openSource = "";
  private openAgainAt = 0;
  private frame = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.draw();
  }

  protected override render() {
    return html`<div class="md" data-testid=${this.name} @click=${this.clicked}></div>`;
  }

  protected override updated(_changed: PropertyValues): void {
    if (this.frame === 0) this.draw();
  }

  private get box(): HTMLElement {
    return this.renderRoot.querySelector<HTMLElement>(".md") ?? this;
  }

  private draw(): void {
    const started = performance.now();
    const late = () => performance.now() - started > FRAME_MS;
    const { piece } = this;
    if (piece !== this.drawnPiece) this.restart(piece);
    let cutting = cuttings.get(piece);
    if (!cutting) {
      cutting = { blocks: new Blocks(), taken: 0 };
      cuttings.set(piece, cutting);
    }
    const { blocks } = cutting;
    do {
      if (cutting.taken < piece.text.length) {
        blocks.push(piece.text.slice(cutting.taken, cutting.taken + SLICE_CHARS));
        cutting.taken = Math.min(cutting.taken + SLICE_CHARS, piece.text.length);
      }
      while (this.drawn < blocks.closed.length && !late()) this.drawClosed(blocks);
    } while (cutting.taken < piece.text.length && !late());
    const behind = cutting.taken < piece.text.length || this.drawn < blocks.closed.length;
    // A block that is dear to draw is drawn less often.
    if (behind || (this.live && started < this.openAgainAt)) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
      return;
    }
    const before = performance.now();
    this.drawOpen(blocks);
    const now = performance.now();
    this.openAgainAt = now + OPEN_SHARE * (now - before);
    this.box.dataset["seq"] = String(piece.seq);
  }

  private restart(piece: TextPiece): void {
    this.drawnPiece = piece;
    this.drawn = 0;
    this.group = null;
    this.openElement = null;
    this.openSource = "";
    this.box.replaceChildren();
  }

  /** Draws the next finished blocks, several at a time: cleaning costs by the call. */
  private drawClosed(blocks: Blocks): void {
    const batch: Block[] = [];
    for (let chars = 0; chars < BATCH_CHARS;) {
      const block = blocks.closed[this.drawn + batch.length];
      if (!block) break;
      batch.push(block);
      chars += block.source.length;
    }
    const fragment = rendered(batch.map(({ source }) => source));
    for (const [at, element] of [...fragment.children].entries()) {
      const block = batch[at];
      if (!block) break;
      if (!this.group || this.groupChars > GROUP_CHARS) this.nextGroup();
      this.groupChars += block.source.length;
      if (blocks.closed[this.drawn + at - 1]?.cut) setPlain(element);
      if (at === 0 && this.keepCode(element)) {
        this.openElement?.remove();
        this.openElement = null;
      }
      if (block.cut) element.classList.add("cut");
      this.group?.append(element);
    }
    this.drawn += batch.length;
  }

  private nextGroup(): void {
    if (this.group) {
      // Its height is said before it may be left out, so nothing moves when it is.
      this.group.style.containIntrinsicBlockSize = `auto ${String(this.group.offsetHeight)}px`;
      this.group.classList.add("far");
    }
    this.group = document.createElement("div");
    this.group.className = "group";
    this.groupChars = 0;
    this.box.insertBefore(this.group, this.openElement);
  }

  private drawOpen(blocks: Blocks): void {
    const open = blocks.open();
    if (!open) {
      this.openElement?.remove();
      this.openElement = null;
      this.openSource = "";
      return;
    }
    const final = this.live ? "" : "final:";
    if (this.openElement && this.openSource === final + open.source) return;
    this.openSource = final + open.source;
    if (!this.openElement) {
      this.openElement = document.createElement("div");
      this.openElement.className = "block";
    }
    if (this.openElement.parentElement !== this.box) this.box.append(this.openElement);
    if (open.code && this.live) {
      let code = this.openElement.firstElementChild;
      if (!(code instanceof SbCode) || this.openElement.children.length !== 1) {
        code = new SbCode();
        this.openElement.replaceChildren(code);
      }
      (code as SbCode).plain = blocks.closed.at(-1)?.cut ?? false;
      (code as SbCode).info = open.code.info;
      (code as SbCode).text = open.code.text;
      return;
    }
    const element = rendered([open.source]).firstElementChild as HTMLElement | null;
    if (!element) return;
    if (blocks.closed.at(-1)?.cut) setPlain(element);
    this.keepCode(element);
    this.openElement.replaceWith(element);
    this.openElement = element;
  }

  /** Code that was open keeps its element when it is drawn anew, and so its colours, its scroll and its selection. */
  private keepCode(element: Element): boolean {
    const before = this.openElement?.firstElementChild;
    const now = element.children.length === 1 ? element.firstElementChild : null;
    if (!(before instanceof SbCode && now instanceof SbCode && now.text.startsWith(before.text)))
      return false;
    before.text = now.text;
    now.replaceWith(before);
    return true;
  }

  private readonly clicked = (event: MouseEvent): void => {
    const link = event.composedPath().find((target) => target instanceof HTMLAnchorElement);
    if (!link) return;
    event.preventDefault();
    this.dispatchEvent(new CustomEvent("sb-open-link", { bubbles: true, composed: true, detail: link.href }));
  };
}

/** Code of something huge has no colours. */
function setPlain(element: Element): void {
  for (const code of element.querySelectorAll("sb-code")) (code as SbCode).plain = true;
}

/** One element for each block. */
function rendered(sources: string[]): DocumentFragment {
  const fragment = sanitised(sources.map((source) => `<div class="block">${toHtml(source)}</div>`).join(""));
  for (const block of fragment.children) {
    if (block.firstElementChild?.tagName === "H3") block.classList.add("headed");
  }
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  for (const pre of fragment.querySelectorAll("pre")) {
    const code = new SbCode();
    code.info = pre.dataset["info"] ?? "";
    code.text = pre.textContent;
    pre.replaceWith(code);
  }
  for (const table of fragment.querySelectorAll("table")) {
    const scroll = document.createElement("div");
    scroll.className = "table";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Table");
    table.replaceWith(scroll);
    scroll.append(table);
  }
  return fragment;
}

customElements.define("sb-answer", SbAnswer);
