/** The agent's own log, apart from the conversation: its last lines, followed while they come. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import type { AgentSide, LogLine } from "../model/agentside";
import { terminalLines } from "../model/ansi";
import { tamed } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";

const FEW_LINES = 200;
const END_PX = 24;
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const WORDS = { info: "", warn: "warning", error: "error", stderr: "" } as const;

export class SbAgentLog extends LitElement {
  static override styles = [
    shared,
    css`
      section {
        border: 1px solid var(--sb-line);
        border-radius: 10px;
        background: var(--sb-panel);
        margin-bottom: 0.5em;
        overflow: hidden;
      }
      header {
        display: flex;
        align-items: center;
        gap: 0.6em;
        padding: 0.15em 0.3em 0.15em 0.8em;
        font-size: 0.87em;
      }
      header strong {
        font-weight: 600;
      }
      header .grow {
        flex: 1;
      }
      header button {
        padding: 0.2em 0.5em;
        min-height: 0;
      }
      .lines {
        max-height: min(14em, 26vh);
        overflow-y: auto;
        padding: 0.3em 0.8em 0.5em;
        border-top: 1px solid var(--sb-line);
        font: 0.8em/1.5 var(--sb-mono);
        overflow-wrap: anywhere;
      }
      .lines:focus-visible {
        outline-offset: -2px;
      }
      .line {
        white-space: pre-wrap;
        unicode-bidi: isolate;
      }
      .line.info,
      .line.stderr {
        color: var(--sb-muted);
      }
      .line.warn {
        color: var(--sb-warn);
      }
      .line.error {
        color: var(--sb-danger);
      }
    `,
  ];
  @property({ attribute: false }) agent!: AgentSide;
  /** All lines that came so far; grows with each. */
  @property({ attribute: false }) total = 0;
  @state() private all = false;
  private following = true;

  protected override render() {
    const { lines, total } = this.agent;
    const drawn = this.all ? lines : lines.slice(-FEW_LINES);
    const before = total - drawn.length;
    return html`<section data-testid="agent-log" aria-label="The agent's log">
      <header>
        <strong>The agent's log</strong><span class="muted">${total.toLocaleString()} ${total === 1 ? "line" : "lines"}</span>
        <span class="grow"></span>
        ${
          before > 0 && !this.all && lines.length > drawn.length
            ? html`<button class="plain" @click=${() => (this.all = true)}>Show ${lines.length.toLocaleString()}</button>`
            : nothing
        }
        <button class="plain icon" aria-label="Close the log" title="Close" @click=${this.shut}>${icons.close}</button>
      </header>
      <div class="lines" tabindex="0" role="region" aria-label="Lines of the log" @scroll=${this.scrolled}>
        ${before > 0 ? html`<div class="muted">${before.toLocaleString()} lines before these</div>` : nothing}
        ${drawn.map((line) => drawLine(line))}
      </div>
    </section>`;
  }

  protected override updated(_changed: PropertyValues): void {
    const lines = this.renderRoot.querySelector(".lines");
    if (lines && this.following) lines.scrollTop = lines.scrollHeight;
  }

  private readonly scrolled = (event: Event): void => {
    const lines = event.currentTarget as HTMLElement;
    this.following = lines.scrollHeight - lines.scrollTop - lines.clientHeight < END_PX;
  };

  private readonly shut = (): void => {
    this.dispatchEvent(new CustomEvent("sb-log-shut", { bubbles: true, composed: true }));
  };
}

function drawLine({ level, text, timeMs }: LogLine) {
  const plain = terminalLines(text)
    .map((line) => line.map((run) => run.text).join(""))
    .join("\n");
  const word = WORDS[level] ?? "";
  const head = word ? html`<strong>${word}: </strong>` : nothing;
  return html`<div class="line ${level}" title=${TIME.format(timeMs)}>${head}${tamed(plain)}</div>`;
}

customElements.define("sb-agent-log", SbAgentLog);
