/** JSON, indented and coloured; what is long is folded until it is asked for. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { firstLines, jsonRuns } from "../model/json";
import { pretty, revealed } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { shown } from "./shown";

/** Lines that are drawn at first, and characters when all are asked for. */
const FEW_LINES = 30;
const FEW_CHARS = 6_000;
const MANY_CHARS = 200_000;
/** More than this has no colours. */
const COLOURED_CHARS = 60_000;

export class SbJson extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
        min-width: 0;
        position: relative;
      }
      pre {
        margin: 0;
        padding: 0.6em 0.75em;
        border-radius: 8px;
        background: var(--sb-code);
        border: 1px solid var(--sb-line);
        font: 0.84em/1.5 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        unicode-bidi: isolate;
        max-height: var(--sb-json-height, 32em);
        overflow: auto;
      }
      .copy {
        position: absolute;
        top: 0.25em;
        right: 0.25em;
        background: var(--sb-code);
      }
      .tk-name {
        color: var(--tk-name);
      }
      .tk-string {
        color: var(--tk-string);
      }
      .tk-number {
        color: var(--tk-number);
      }
      .tk-keyword {
        color: var(--tk-keyword);
      }
      .more {
        display: flex;
        flex-wrap: wrap;
        gap: 0.6em;
        align-items: center;
        margin-top: 0.4em;
        font-size: 0.87em;
      }
      .more button {
        padding: 0.15em 0.6em;
        min-height: 0;
      }
    `,
  ];
  @property({ attribute: false }) value: unknown = null;
  /** What it is, for those who cannot see it. */
  @property() label = "JSON";
  @state() private all = false;
  @state() private copied = false;

  protected override render() {
    const { text, cut } = pretty(this.value, MANY_CHARS);
    const few = firstLines(text, FEW_LINES);
    const folded = few.text.length > FEW_CHARS ? few.text.slice(0, FEW_CHARS) : few.text;
    const long = folded.length < text.length;
    const drawn = this.all ? text : folded;
    return html`<pre tabindex="0" role="region" aria-label=${this.label} data-testid="json">${this.coloured(drawn)}</pre>
      <button
        class="plain icon copy"
        aria-label=${this.copied ? "Copied" : `Copy ${this.label}`}
        title="Copy"
        @click=${() => void this.copy()}
      >
        ${this.copied ? icons.check : icons.copy}
      </button>
      ${
        long
          ? html`<div class="more">
              <button aria-expanded=${this.all} data-testid="json-all" @click=${() => (this.all = !this.all)}>
                ${this.all ? "Show less" : `Show all ${few.total.toLocaleString()} ${few.total === 1 ? "line" : "lines"}`}
              </button>
              ${this.all && cut ? html`<span class="muted">The first ${MANY_CHARS.toLocaleString()} characters.</span>` : nothing}
            </div>`
          : nothing
      }`;
  }

  private coloured(text: string) {
    if (typeof this.value === "string") return shown(text);
    if (text.length > COLOURED_CHARS) return revealed(text);
    return jsonRuns(text).map((run) =>
      run.kind === null
        ? html`${shown(run.text)}`
        : html`<span class="tk-${run.kind}">${shown(run.text)}</span>`,
    );
  }

  private async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(pretty(this.value, Infinity).text);
    } catch {
      return;
    }
    this.copied = true;
    setTimeout(() => {
      this.copied = false;
    }, 1_500);
  }
}

customElements.define("sb-json", SbJson);
