/** One tool call: what it is, how far it is, and on request what went in and came out. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { pretty } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { ToolCall } from "../wire";
import { shown } from "./shown";

/** Characters of an input or output that are drawn; the log has it whole. */
const MAX_SHOWN_CHARS = 20_000;
const WORDS = { pending: "waits", running: "runs", completed: "done", failed: "failed" } as const;

function iconOf(kind: string | undefined) {
  if (kind === undefined) return icons.wrench;
  if (/exec|command|terminal|shell/.test(kind)) return icons.terminal;
  if (/edit|write|delete|move/.test(kind)) return icons.pencil;
  if (/read|file/.test(kind)) return icons.read;
  if (/search|find|grep/.test(kind)) return icons.search;
  if (/fetch|web|http/.test(kind)) return icons.globe;
  if (/think/.test(kind)) return icons.spark;
  return icons.wrench;
}

export class SbTool extends LitElement {
  static override styles = [
    shared,
    css`
      details {
        border: 1px solid var(--sb-line);
        border-radius: 8px;
        background: var(--sb-raised);
        overflow: hidden;
      }
      summary {
        display: flex;
        align-items: center;
        gap: 0.6em;
        padding: 0.4em 0.7em;
        cursor: pointer;
        list-style: none;
        font-size: 0.93em;
      }
      summary::-webkit-details-marker {
        display: none;
      }
      summary:hover {
        background: var(--sb-soft);
      }
      summary:focus-visible {
        outline-offset: -2px;
      }
      .state {
        margin-left: auto;
        display: flex;
        align-items: center;
        gap: 0.35em;
        color: var(--sb-muted);
        flex: none;
        font-size: 0.92em;
      }
      .completed {
        color: var(--sb-ok);
      }
      .failed {
        color: var(--sb-danger);
      }
      .running svg {
        animation: sb-spin 1.1s linear infinite;
      }
      .part {
        border-top: 1px solid var(--sb-line);
        padding: 0.5em 0.8em 0.6em;
      }
      .part > span {
        font-size: 0.8em;
        color: var(--sb-muted);
      }
      pre {
        margin: 0.2em 0 0;
        font: 0.85em/1.5 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        max-height: 24em;
        overflow-y: auto;
      }
    `,
  ];
  @property({ attribute: false }) call!: ToolCall;
  @state() private opened = false;

  protected override render() {
    const { call } = this;
    const mark = { pending: icons.wait, running: icons.again, completed: icons.done, failed: icons.cross }[
      call.status
    ];
    return html`<details
      data-testid="tool-call"
      data-status=${call.status}
      @toggle=${(event: Event) => {
        this.opened = (event.target as HTMLDetailsElement).open;
      }}
    >
      <summary>
        ${iconOf(call.kind)}<span class="clip">${shown(call.title || call.id)}</span>
        <span class="state ${call.status}">${mark}<span>${WORDS[call.status] ?? call.status}</span></span>
      </summary>
      ${
        this.opened
          ? html`${this.detail("Input", call.input)}${this.detail("Output", call.output)}
            ${
              call.input === undefined && call.output === undefined
                ? html`<div class="part"><span>No details were given.</span></div>`
                : nothing
            }`
          : nothing
      }
    </details>`;
  }

  private detail(name: string, value: unknown) {
    if (value === undefined) return nothing;
    const { text, cut } = pretty(value, MAX_SHOWN_CHARS);
    return html`<div class="part">
      <span>${name}${cut ? ` (the first ${MAX_SHOWN_CHARS.toLocaleString()} characters)` : ""}</span>
      <pre tabindex="0" role="region" aria-label=${name}>${shown(text)}</pre>
    </div>`;
  }
}

customElements.define("sb-tool", SbTool);
