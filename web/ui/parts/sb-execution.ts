/** What the host itself ran or wrote for the agent: the command or the change, what came of it, and how it ended. */
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { type Diff, unifiedDiff } from "../model/diff";
import { endWords, wentWell } from "../model/flow";
import { ranHeldIn } from "../model/rules";
import type { ExecutionPiece } from "../model/turn";
import { duration } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Execution } from "../wire";
import { callStyle } from "./call-style";
import { changeCounts, countsStyle } from "./sb-diff";
import "./sb-terminal";
import { quoting, sentence, shown } from "./shown";

const ICONS = { command: icons.terminal, edit: icons.pencil, tool: icons.wrench } as const;
const MAX_LINE_CHARS = 300;
/** A command that took longer says how long. */
const LONG_MS = 2_000;

const diffs = new WeakMap<Execution, Diff>();

function diffOf(execution: Execution): Diff | null {
  if (execution.diff === undefined) return null;
  let diff = diffs.get(execution);
  if (!diff) {
    diff = unifiedDiff(execution.diff);
    diffs.set(execution, diff);
  }
  return diff;
}

export class SbExecution extends LitElement {
  static override styles = [shared, callStyle, countsStyle];
  @property({ attribute: false }) piece!: ExecutionPiece;
  @property({ attribute: false }) version = 0;
  /** Stands inside of the call that it belongs to. */
  @property({ type: Boolean }) bare = false;
  @state() private chosen: boolean | null = null;

  protected override render() {
    const { execution, end } = this.piece;
    if (this.bare)
      return html`<div data-testid="execution" data-end=${end?.type ?? nothing}>${this.parts()}</div>`;
    const open = this.chosen ?? end === null;
    const diff = diffOf(execution);
    const line = execution.command ?? execution.path ?? execution.title;
    return html`<details
      class="call"
      data-testid="execution"
      data-execution=${execution.id}
      data-end=${end?.type ?? nothing}
      ?open=${open}
    >
      <summary
        title="Done by the host for the agent"
        @click=${(event: Event) => {
          event.preventDefault();
          this.chosen = !open;
        }}
      >
        ${ICONS[execution.kind] ?? icons.wrench}<span class="title clip mono">${shown(line.slice(0, MAX_LINE_CHARS))}</span>
        ${diff ? changeCounts(diff) : nothing}${this.state()}
      </summary>
      ${open ? html`<div class="parts">${this.parts()}</div>` : nothing}
    </details>`;
  }

  private state(): TemplateResult {
    const { end } = this.piece;
    const [look, mark] =
      end === null
        ? ["running", icons.again]
        : end.type === "unknown"
          ? ["unknown", icons.help]
          : wentWell(this.piece)
            ? ["completed", icons.done]
            : ["failed", icons.cross];
    return html`<span class="state ${look}">${mark}<span>${endWords(this.piece)}</span></span>`;
  }

  private parts() {
    const { execution, output, end, startMs, endMs } = this.piece;
    const { command, cwd, path, kind, digest, unasked, containment } = execution;
    const held = containment === undefined ? null : ranHeldIn(containment);
    const diff = diffOf(execution);
    const took = endMs !== null && endMs - startMs > LONG_MS ? ` after ${duration(endMs - startMs)}` : "";
    return html`${
      command === undefined
        ? nothing
        : html`<pre class="command" tabindex="0" role="region" aria-label="Command" title=${digestWords(digest)}>
${shown(command.slice(0, 20_000))}</pre>`
    }
    ${cwd === undefined ? nothing : html`<p class="muted small">in <span class="wheres">${shown(cwd)}</span></p>`}
    ${unasked === undefined ? nothing : html`<p class="small" data-testid="execution-unasked">Ran without asking: ${quoting(unasked.slice(0, 500))}</p>`}
    ${held === null ? nothing : html`<p class="small ${held.good ? "muted" : "not"}" data-testid="execution-held">${quoting(held.words.slice(0, 500))}</p>`}
    ${diff ? html`<sb-diff beside .path=${path ?? execution.title} .diff=${diff}></sb-diff>` : nothing}
    ${
      kind === "command" || output.text !== ""
        ? html`<sb-terminal .text=${output.text} .dropped=${output.dropped} ?live=${end === null}></sb-terminal>`
        : nothing
    }
    ${end === null ? nothing : html`<p class="small ${wentWell(this.piece) ? "muted" : ""}">${this.endLine()}${took}</p>`}`;
  }

  private endLine() {
    const { end } = this.piece;
    switch (end?.type) {
      case "exited":
        return end.code === 0 ? "Ended without an error" : `Ended with exit code ${String(end.code)}`;
      case "signalled":
        return html`Ended by the signal ${shown(end.signal)}`;
      case "written":
        return `Written by the host, ${end.bytes.toLocaleString()} bytes`;
      case "returned":
        return "Done by whoever lends the tool";
      case "failed":
        return html`Could not be done: ${sentence(end.message)}`;
      case "unknown":
        return "The host died while this ran. Nobody knows how it ended, and it is not done again.";
      case undefined:
        return nothing;
    }
  }
}

function digestWords(digest: string): string {
  return digest === "" ? "" : `Exactly what was allowed (SHA-256 ${digest.slice(0, 16)}…)`;
}

customElements.define("sb-execution", SbExecution);
