/** What a command has written, as a terminal would show it: the end of it, followed while it grows, and more on request. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { terminalLines, type TerminalRun } from "../model/ansi";
import { tailOf } from "../model/output";
import { tamed } from "../model/words";
import { shared } from "../theme/shared";

/** What is drawn at first, and when all is asked for. */
const FEW = { lines: 200, chars: 32 * 1024 };
const MANY = { lines: 5_000, chars: 512 * 1024 };
const END_PX = 24;

export class SbTerminal extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      .screen {
        margin: 0;
        padding: 0.55em 0.75em;
        background: var(--sb-code);
        border: 1px solid var(--sb-line);
        border-radius: 8px;
        font: 0.82em/1.5 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        tab-size: 8;
        max-height: 22em;
        overflow-y: auto;
        overscroll-behavior: auto;
        unicode-bidi: isolate;
      }
      .screen:focus-visible {
        outline-offset: -2px;
      }
      .before {
        display: flex;
        align-items: center;
        flex-wrap: wrap;
        gap: 0.6em;
        font-size: 0.87em;
        color: var(--sb-muted);
        margin-bottom: 0.3em;
      }
      .before button {
        padding: 0.1em 0.6em;
        min-height: 0;
      }
      .bold {
        font-weight: 700;
      }
      .dim {
        color: var(--sb-muted);
      }
      .italic {
        font-style: italic;
      }
      .underline {
        text-decoration: underline;
      }
      .c1,
      .c9 {
        color: var(--sb-danger);
      }
      .c2,
      .c10 {
        color: var(--sb-ok);
      }
      .c3,
      .c11 {
        color: var(--sb-warn);
      }
      .c4,
      .c12 {
        color: var(--sb-link);
      }
      .c5,
      .c13 {
        color: var(--tk-keyword);
      }
      .c6,
      .c14 {
        color: var(--tk-type);
      }
      .c7,
      .c8 {
        color: var(--sb-muted);
      }
    `,
  ];
  @property({ attribute: false }) text = "";
  /** Characters that came before and are not here. */
  @property({ attribute: false }) dropped = 0;
  @property({ type: Boolean }) live = false;
  @state() private all = false;
  private following = true;

  protected override render() {
    const bound = this.all ? MANY : FEW;
    const { text, before } = tailOf(this.text, bound.lines, bound.chars);
    const hidden = before + this.dropped;
    const lines = terminalLines(text);
    if (lines.length === 0 && hidden === 0)
      return this.live ? nothing : html`<p class="muted small" data-testid="terminal">No output.</p>`;
    return html`${
      hidden > 0
        ? html`<div class="before">
              <span>${hidden.toLocaleString()} characters before this</span>
              ${
                before > 0 && !this.all
                  ? html`<button @click=${() => (this.all = true)}>Show all</button>`
                  : nothing
              }
            </div>`
        : nothing
    }
      <pre
        class="screen"
        tabindex="0"
        role="region"
        aria-label="Output"
        data-testid="terminal"
        @scroll=${this.scrolled}
      >
${lines.map((line, at) => html`${line.map(run)}${at < lines.length - 1 ? "\n" : ""}`)}</pre
      >`;
  }

  protected override updated(_changed: PropertyValues): void {
    const screen = this.renderRoot.querySelector(".screen");
    if (screen && this.following) screen.scrollTop = screen.scrollHeight;
  }

  private readonly scrolled = (event: Event): void => {
    const screen = event.currentTarget as HTMLElement;
    this.following = screen.scrollHeight - screen.scrollTop - screen.clientHeight < END_PX;
  };
}

function run({ text, look }: TerminalRun) {
  return look === "" ? tamed(text) : html`<span class=${look}>${tamed(text)}</span>`;
}

customElements.define("sb-terminal", SbTerminal);
