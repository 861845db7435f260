/** A question that a person must answer: exactly what would happen, how bad it could be, and the answers. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { type Diff, unifiedDiff } from "../model/diff";
import type { ApprovalPiece } from "../model/turn";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Approval, Decision, OptionKind, Resolution } from "../wire";
import { answeredWords } from "./answered";
import "./sb-diff";
import { shown } from "./shown";

const ICONS = { command: icons.terminal, edit: icons.pencil, tool: icons.wrench } as const;
const KINDS = { command: "Run a command?", edit: "Change a file?", tool: "Use a tool?" } as const;
/** Buttons wait this long after the question has come, so that a click that was meant for something else answers nothing. */
const SETTLE_MS = 400;
/** What each of the agent's own answers comes to in ours. One that we do not know is never taken for a yes. */
const MEANS: Record<OptionKind, Decision> = {
  allow_once: "allow_once",
  allow_always: "allow_session",
  reject_once: "deny",
  reject_always: "deny",
  other: "deny",
};
const LOOKS: Record<OptionKind, string> = {
  allow_once: "primary",
  allow_always: "",
  reject_once: "",
  reject_always: "danger",
  other: "",
};
const TESTS: Record<OptionKind, string> = {
  allow_once: "approve-once",
  allow_always: "approve-session",
  reject_once: "deny",
  reject_always: "deny-always",
  other: "approve-other",
};

type AnswerButton = { decision: Decision; option?: string; label: string; look: string; test: string };

/** The agent's own answers, all of them, or ours; stopping is always one. */
export function answersOf(approval: Approval): AnswerButton[] {
  const stop: AnswerButton = {
    decision: "deny_stop",
    label: "Deny and stop",
    look: "danger plain",
    test: "deny-stop",
  };
  const deny: AnswerButton = { decision: "deny", label: "Deny", look: "", test: "deny" };
  const options = approval.options ?? [];
  if (options.length === 0)
    return [
      { decision: "allow_once", label: "Allow once", look: "primary", test: "approve-once" },
      { decision: "allow_session", label: "Allow for this session", look: "", test: "approve-session" },
      deny,
      stop,
    ];
  const own = options.map(({ id, name, kind }) => ({
    decision: MEANS[kind] ?? "deny",
    option: id,
    label: name || id,
    look: LOOKS[kind] ?? "",
    test: TESTS[kind] ?? "approve-other",
  }));
  const canDeny = options.some(({ kind }) => kind === "reject_once" || kind === "reject_always");
  return [...own, ...(canDeny ? [] : [deny]), stop];
}

const diffs = new WeakMap<Approval, Diff>();

function diffOf(approval: Approval): Diff | null {
  if (approval.diff === undefined) return null;
  let diff = diffs.get(approval);
  if (!diff) {
    diff = unifiedDiff(approval.diff);
    diffs.set(approval, diff);
  }
  return diff;
}

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
        max-height: min(14em, 28vh);
        overflow: auto;
        unicode-bidi: isolate;
      }
      .answers {
        display: flex;
        flex-wrap: wrap;
        gap: 0.5em;
        margin-top: 0.15em;
      }
      /* However much there is to read, the answers are in sight, where they leave room to read. */
      @media (min-width: 500px) {
        .answers {
          margin-bottom: -0.85em;
          padding-bottom: 0.85em;
          position: sticky;
          bottom: 0;
          background: var(--sb-raised);
        }
      }
      .answers button {
        white-space: normal;
        text-align: left;
        overflow-wrap: anywhere;
        max-width: 100%;
      }
      kbd {
        font: 0.8em var(--sb-mono);
        opacity: 0.75;
      }
      sb-diff {
        --sb-diff-height: min(20em, 32vh);
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
  @state() private settled = false;
  private timer = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.settle();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.clearTimeout(this.timer);
  }

  protected override willUpdate(changed: PropertyValues): void {
    // Another question in the same place is as new as the first one.
    if (!changed.has("piece") || changed.get("piece") === undefined) return;
    this.answered = null;
    this.settle();
  }

  /** Puts the keys on the first answer. */
  focusAnswers(): void {
    this.renderRoot.querySelector<HTMLElement>(".answers button")?.focus();
  }

  private settle(): void {
    this.settled = false;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.settled = true;
    }, SETTLE_MS);
  }

  protected override render() {
    const { approval } = this.piece;
    const over = this.resolution !== null;
    return html`<section
      class="${approval.severity} ${over ? "over" : ""}"
      data-testid="approval"
      data-approval=${approval.id}
      data-resolution=${this.resolution ?? nothing}
      aria-label="Approval"
      @keydown=${this.key}
    >
      <header>
        ${ICONS[approval.kind] ?? icons.shield}
        <h3>
          <span class="kind">${over ? "" : (KINDS[approval.kind] ?? "Go on?")}</span> ${shown(approval.title.slice(0, 500))}
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
    return html`<span class="muted small" data-testid="approval-answer">${answeredWords(this.piece)}</span>`;
  }

  private what() {
    const { approval } = this.piece;
    const { command, cwd, path, digest } = approval;
    const exact =
      digest === undefined ? nothing : `What runs is exactly this (SHA-256 ${digest.slice(0, 16)}…)`;
    if (this.resolution !== null)
      return html`<p class="where clip">${shown((command ?? path ?? "").slice(0, 500))}</p>`;
    const diff = diffOf(approval);
    return html`${
      command !== undefined
        ? html`<pre tabindex="0" role="region" aria-label="Command" title=${exact}>${shown(command)}</pre>`
        : nothing
    }
    ${cwd !== undefined ? html`<p class="muted small">in <span class="where">${shown(cwd)}</span></p>` : nothing}
    ${
      diff
        ? html`<sb-diff .path=${path ?? ""} .diff=${diff} title=${exact}></sb-diff>`
        : path !== undefined
          ? html`<p class="where" title=${exact}>${shown(path)}</p>`
          : nothing
    }`;
  }

  private answers() {
    const waits = this.answered !== null || !this.settled;
    return html`<div class="answers" role="group" aria-label="Answer">
      ${answersOf(this.piece.approval).map(
        (answer, at) =>
          html`<button
            class=${answer.look}
            data-testid=${answer.test}
            data-option=${answer.option ?? nothing}
            ?disabled=${waits}
            @click=${() => this.answer(answer.decision, answer.option)}
          >
            ${shown(answer.label.slice(0, 200))}${at < 9 ? html`<kbd aria-hidden="true">${at + 1}</kbd>` : nothing}
          </button>`,
      )}
    </div>`;
  }

  /** Inside of the question, a number is the answer with that number. */
  private readonly key = (event: KeyboardEvent): void => {
    if (this.resolution !== null || event.altKey || event.ctrlKey || event.metaKey) return;
    const answer = /^[1-9]$/.test(event.key)
      ? answersOf(this.piece.approval)[Number(event.key) - 1]
      : undefined;
    if (!answer || this.answered !== null || !this.settled) return;
    event.preventDefault();
    this.answer(answer.decision, answer.option);
  };

  private answer(decision: Decision, option?: string): void {
    if (this.page.machine.phase === "online") {
      this.answered = decision;
      // If the answer is lost on its way, the person may answer again.
      setTimeout(() => {
        this.answered = null;
      }, 5_000);
    }
    this.page.decide(this.piece.approval.id, decision, option);
  }
}

customElements.define("sb-approval", SbApproval);
