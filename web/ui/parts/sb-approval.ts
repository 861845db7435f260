/** A question that a person must answer: exactly what would happen, how bad it could be, and the answers. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import type { ApprovalPiece } from "../model/turn";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Decision, Resolution } from "../wire";
import { shown } from "./shown";

const ANSWERED: Record<Resolution, string> = {
  allow_once: "Allowed once",
  allow_session: "Allowed for this session",
  allow_rule: "Allowed by a rule",
  deny: "Denied",
  deny_stop: "Denied and stopped",
  expired: "No longer open",
};
const ICONS = { command: icons.terminal, edit: icons.pencil, tool: icons.wrench } as const;
const KINDS = { command: "Run a command?", edit: "Change a file?", tool: "Use a tool?" } as const;
const MAX_DIFF_LINES = 2_000;

export class SbApproval extends LitElement {
  static override styles = [
    shared,
    css`
      section {
        border: 1px solid var(--sb-line);
        border-left: 4px solid var(--tone);
        border-radius: var(--sb-radius);
        background: var(--sb-raised);
        padding: 0.75em 0.95em 0.85em;
        display: grid;
        gap: 0.55em;
      }
      section {
        --tone: var(--sb-link);
      }
      section.medium,
      section.high {
        --tone: var(--sb-warn);
      }
      section.critical {
        --tone: var(--sb-danger);
      }
      section.over {
        --tone: var(--sb-line);
        background: transparent;
        padding-block: 0.5em;
      }
      header {
        display: flex;
        gap: 0.55em;
        align-items: center;
        flex-wrap: wrap;
      }
      h3 {
        font-size: 1em;
        margin: 0;
        font-weight: 620;
        overflow-wrap: anywhere;
        flex: 1 1 12em;
      }
      .kind {
        color: var(--sb-muted);
        font-weight: 400;
      }
      .severity {
        font-size: 0.8em;
        padding: 0.1em 0.6em;
        border-radius: 1em;
        border: 1px solid var(--tone);
        color: var(--tone);
      }
      p {
        margin: 0;
        overflow-wrap: anywhere;
      }
      pre {
        margin: 0;
        padding: 0.6em 0.75em;
        border-radius: 7px;
        background: var(--sb-code);
        border: 1px solid var(--sb-line);
        font: 0.87em/1.55 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        max-height: 24em;
        overflow: auto;
      }
      pre.diff {
        white-space: pre;
        overflow-wrap: normal;
        padding-inline: 0;
      }
      .diff span.row {
        display: block;
        padding-inline: 0.75em;
        min-width: fit-content;
      }
      .row.add {
        background: var(--sb-ok-soft);
        color: var(--sb-ok);
      }
      .row.del {
        background: var(--sb-danger-soft);
        color: var(--sb-danger);
      }
      .row.at {
        color: var(--sb-muted);
      }
      .answers {
        display: flex;
        flex-wrap: wrap;
        gap: 0.5em;
        margin-top: 0.15em;
      }
      .where {
        font-family: var(--sb-mono);
        font-size: 0.85em;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) piece!: ApprovalPiece;
  @property({ attribute: false }) resolution: Resolution | null = null;
  /** What was answered here, until the log says what holds. */
  @state() private answered: Decision | null = null;

  protected override render() {
    const { approval } = this.piece;
    const over = this.resolution !== null;
    return html`<section
      class="${approval.severity} ${over ? "over" : ""}"
      data-testid="approval"
      data-approval=${approval.id}
      data-resolution=${this.resolution ?? nothing}
      aria-label="Approval"
    >
      <header>
        ${ICONS[approval.kind] ?? icons.shield}
        <h3>
          <span class="kind">${over ? "" : (KINDS[approval.kind] ?? "Go on?")}</span> ${shown(approval.title)}
        </h3>
        ${over ? this.outcome() : html`<span class="severity">${approval.severity} risk</span>`}
      </header>
      ${over && !approval.command && !approval.path ? nothing : this.what()}
      ${
        over
          ? nothing
          : html`<p class="muted small">${shown(approval.reason)}</p>
              ${this.answers()}`
      }
    </section>`;
  }

  private outcome() {
    const words = this.resolution ? (ANSWERED[this.resolution] ?? this.resolution) : "";
    return html`<span class="muted small">${words}</span>`;
  }

  private what() {
    const { command, cwd, path, diff } = this.piece.approval;
    return html`${
      command !== undefined
        ? html`<pre tabindex="0" role="region" aria-label="Command">${shown(command)}</pre>`
        : nothing
    }
    ${path !== undefined ? html`<p class="where">${shown(path)}</p>` : nothing}
    ${diff !== undefined && this.resolution === null ? this.diff(diff) : nothing}
    ${cwd !== undefined && this.resolution === null ? html`<p class="muted small">in <span class="where">${shown(cwd)}</span></p>` : nothing}`;
  }

  private diff(diff: string) {
    const lines = diff.split("\n");
    const more = lines.length - MAX_DIFF_LINES;
    return html`<pre class="diff" tabindex="0" role="region" aria-label="Change">
${lines
  .slice(0, MAX_DIFF_LINES)
  .map(
    (line) => html`<span class="row ${rowKind(line)}">${shown(line)}${line === "" ? " " : ""}</span>`,
  )}</pre>
      ${more > 0 ? html`<p class="small">${more.toLocaleString()} more lines are not shown.</p>` : nothing}`;
  }

  private answers() {
    const sent = this.answered !== null;
    const button = (decision: Decision, id: string, label: string, look: string) =>
      html`<button class=${look} data-testid=${id} ?disabled=${sent} @click=${() => this.answer(decision)}>
        ${label}
      </button>`;
    return html`<div class="answers" role="group" aria-label="Answer">
      ${button("allow_once", "approve-once", "Allow once", "primary")}
      ${button("allow_session", "approve-session", "Allow for session", "")}
      ${button("deny", "deny", "Deny", "")} ${button("deny_stop", "deny-stop", "Deny and stop", "danger")}
    </div>`;
  }

  private answer(decision: Decision): void {
    if (this.page.machine.phase === "online") {
      this.answered = decision;
      // If the answer is lost on its way, the person may answer again.
      setTimeout(() => {
        this.answered = null;
      }, 5_000);
    }
    this.page.decide(this.piece.approval.id, decision);
  }
}

function rowKind(line: string): string {
  if (line.startsWith("+++ ") || line.startsWith("--- ") || line.startsWith("@@")) return "at";
  if (line.startsWith("+")) return "add";
  return line.startsWith("-") ? "del" : "";
}

customElements.define("sb-approval", SbApproval);
