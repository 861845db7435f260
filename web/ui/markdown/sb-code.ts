/**
 * A block of code with its language, a copy button and, if the language is known, colours. Code that grows is coloured
 * line by line as it comes. Stands in its parent's tree, so that text can be selected and read across it.
 */
import { html, LitElement, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { icons } from "../theme/icons";
import { languageOf, type LineReader, lineReader } from "./highlight";

/** How long one frame may colour. */
const FRAME_MS = 5;
/** Lines that stand together; those that are finished are laid out once. */
const CHUNK_LINES = 40;

export class SbCode extends LitElement {
  @property() info = "";
  @property() text = "";
  /** No colours: it is a part of something huge. */
  @property({ type: Boolean }) plain = false;
  @state() private copied = false;
  private shown = "";
  private chunk: HTMLElement | null = null;
  private chunkLines = 0;
  private readonly rest = document.createTextNode("");
  private code: HTMLElement | null = null;
  private reader: LineReader | null = null;
  private wanted: string | null = null;
  private frame = 0;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // It may have been moved in the middle of its work.
    this.colourSoon();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  protected override render() {
    return html`<div class="bar" data-info=${this.info || "text"}>
        <button
          class="plain icon"
          aria-label=${this.copied ? "Copied" : "Copy code"}
          title="Copy"
          @click=${() => void this.copy()}
        >
          ${this.copied ? icons.check : icons.copy}
        </button>
      </div>
      <pre
        tabindex="0"
        role="region"
        aria-label=${this.info ? `Code, ${this.info}` : "Code"}
      ><code></code></pre>`;
  }

  protected override updated(changed: PropertyValues): void {
    if (!this.code) {
      this.code = this.querySelector("code");
      this.code?.append(this.rest);
    }
    // The language first: lines that are set without it stay without colours.
    if (changed.has("info") || changed.has("plain")) this.findReader();
    if (changed.has("text")) this.draw();
  }

  private draw(): void {
    const text = this.text;
    if (text.length >= this.shown.length && text.startsWith(this.shown))
      this.rest.appendData(text.slice(this.shown.length));
    else {
      this.chunk = null;
      this.code?.replaceChildren(this.rest);
      this.rest.data = text;
      if (this.reader) {
        this.reader = null;
        this.wanted = null;
        this.findReader();
      }
    }
    this.shown = text;
    this.colourSoon();
  }

  private findReader(): void {
    const language = this.plain ? null : languageOf(this.info);
    if (language === this.wanted) return;
    this.wanted = language;
    if (language === null) return;
    void lineReader(language).then((reader) => {
      if (this.wanted !== language) return;
      this.reader = reader;
      // Without one, lines are set as they are.
      if (!reader) this.wanted = null;
      this.colourSoon();
    });
  }

  private colourSoon(): void {
    if (this.frame !== 0 || !this.isConnected || !this.rest.data.includes("\n")) return;
    if (!this.reader && this.wanted !== null) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.colour();
    });
  }

  /** Sets lines that are whole, with their colours, as many as the frame has time for. */
  private colour(): void {
    const started = performance.now();
    const rest = this.rest.data;
    let from = 0;
    while (performance.now() - started < FRAME_MS) {
      const end = rest.indexOf("\n", from);
      if (end < 0) break;
      this.setLine(rest.slice(from, end));
      from = end + 1;
    }
    this.rest.deleteData(0, from);
    this.colourSoon();
  }

  private setLine(line: string): void {
    if (!this.chunk || this.chunkLines >= CHUNK_LINES) {
      this.chunk = document.createElement("span");
      this.chunk.className = "chunk";
      this.chunkLines = 0;
      this.rest.before(this.chunk);
    }
    this.chunkLines += 1;
    const { chunk } = this;
    if (!this.reader) {
      chunk.append(`${line}\n`);
      return;
    }
    for (const run of this.reader.line(line)) {
      if (run.kind === null) chunk.append(run.text);
      else {
        const span = document.createElement("span");
        span.className = `tk-${run.kind}`;
        span.textContent = run.text;
        chunk.append(span);
      }
    }
    chunk.append("\n");
  }

  private async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.text);
    } catch {
      return;
    }
    this.copied = true;
    setTimeout(() => {
      this.copied = false;
    }, 1_500);
  }
}

customElements.define("sb-code", SbCode);
