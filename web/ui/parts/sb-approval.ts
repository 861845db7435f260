/** A question that a person must answer: exactly what would happen, how bad it could be, and the answers. */
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { type Answer, answersOf, type Choice, clock, reasonsOf } from "../model/answers";
import { type Diff, unifiedDiff } from "../model/diff";
import { heldIn, ruleWords } from "../model/rules";
import { fileDiff } from "../model/sides";
import type { ApprovalPiece } from "../model/turn";
import { revealed } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Approval, Decision, Resolution, Severity } from "../wire";
import { answeredWords } from "./answered";
import { approvalStyle } from "./approval-style";
import "./sb-diff";
import { quoting, sentence, shown } from "./shown";

const ICONS = { command: icons.terminal, edit: icons.pencil, tool: icons.wrench } as const;
const KINDS = { command: "Run a command?", edit: "Change a file?", tool: "Use a tool?" } as const;
const RISKS: Record<Severity, string> = {
  low: "Low risk",
  medium: "Medium risk",
  high: "High risk",
  critical: "Critical risk",
};
/** Buttons wait this long after the question has come, so that a click that was meant for something else answers nothing. */
const SETTLE_MS = 400;
/** If the answer is lost on its way, the person may answer again after this. */
const ANSWER_WITHIN_MS = 5_000;
const MAX_REASONS = 20;

const diffs = new WeakMap<Approval, Diff>();

function diffOf(approval: Approval): Diff | null {
  if (approval.change === undefined && approval.diff === undefined) return null;
  let diff = diffs.get(approval);
  if (!diff) {
    diff = approval.change ? fileDiff(approval.change) : unifiedDiff(approval.diff ?? "");
    diffs.set(approval, diff);
  }
  return diff;
}

export class SbApproval extends LitElement {
  static override styles = [shared, approvalStyle];
  @property({ attribute: false }) piece!: ApprovalPiece;
  @property({ attribute: false }) resolution: Resolution | null = null;
  /** What a rule would allow, where it is known in words only. */
  @property({ attribute: false }) ruleText: string | null = null;
  /** Sends the answer; false if it could not leave. */
  @property({ attribute: false }) send: (answer: Answer) => boolean = () => false;
  /** What was answered here, until the log says what holds. */
  @state() private answered: Decision | null = null;
  @state() private settled = false;
  /** The command while the person edits it. */
  @state() private draft: string | null = null;
  private settling = 0;
  private ticking = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.settle();
    this.ticking = window.setInterval(() => {
      if (this.piece?.approval.expires !== undefined && this.resolution === null) this.requestUpdate();
    }, 1_000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.clearTimeout(this.settling);
    window.clearInterval(this.ticking);
  }

  protected override willUpdate(changed: PropertyValues): void {
    // Another question in the same place is as new as the first one.
    if (!changed.has("piece") || changed.get("piece") === undefined) return;
    this.answered = null;
    this.draft = null;
    this.settle();
  }

  /** Puts the keys on the first answer. */
  focusAnswers(): void {
    const first = this.renderRoot.querySelector<HTMLButtonElement>(".answers button:not(:disabled)");
    (first ?? this.renderRoot.querySelector<HTMLElement>("section"))?.focus();
  }

  private settle(): void {
    this.settled = false;
    window.clearTimeout(this.settling);
    this.settling = window.setTimeout(() => {
      this.settled = true;
    }, SETTLE_MS);
  }

  protected override render() {
    const { approval } = this.piece;
    const over = this.resolution !== null;
    return html`<section
      class="${approval.severity} ${over ? "over" : ""}"
      tabindex=${over ? nothing : "-1"}
      data-testid="approval"
      data-approval=${approval.id}
      data-severity=${approval.severity}
      data-resolution=${this.resolution ?? nothing}
      aria-label="Approval"
      @keydown=${this.key}
    >
      <header>
        ${ICONS[approval.kind] ?? icons.shield}
        <h3>
          <span class="kind">${over ? "" : (KINDS[approval.kind] ?? "Go on?")}</span> ${shown(approval.title.slice(0, 500))}
        </h3>
        ${over ? this.outcome() : this.badges(approval)}
      </header>
      ${over && !approval.command && !approval.path ? nothing : this.what()}
      ${over ? nothing : [this.reasons(approval), this.foot()]}
    </section>`;
  }

  private badges({ severity, expires }: Approval) {
    return html`${
      expires === undefined
        ? nothing
        : html`<span class="muted small" data-testid="approval-left" title="Then it counts as not allowed"
            >${clock(expires - Date.now())} left</span
          >`
    }<span class="severity" data-testid="severity">${icons.shield}${RISKS[severity] ?? severity}</span>`;
  }

  private outcome() {
    return html`<span class="muted small" data-testid="approval-answer">${answeredWords(this.piece)}</span>`;
  }

  private reasons({ reason }: Approval) {
    const reasons = reasonsOf(reason);
    if (reasons.length === 0) return nothing;
    return html`<ul class="reasons small" aria-label="Why you are asked" data-testid="approval-reasons">
      ${reasons.slice(0, MAX_REASONS).map((line) => html`<li>${sentence(line)}</li>`)}
      ${reasons.length > MAX_REASONS ? html`<li>and ${reasons.length - MAX_REASONS} more</li>` : nothing}
    </ul>`;
  }

  private what() {
    const { approval, edited } = this.piece;
    const { command, cwd, path, digest } = approval;
    const exact =
      digest === undefined ? nothing : `What runs is exactly this (SHA-256 ${digest.slice(0, 16)}…)`;
    if (this.resolution !== null)
      return html`<p class="where clip">${shown((edited ?? command ?? path ?? "").slice(0, 500))}</p>`;
    const diff = diffOf(approval);
    return html`${command === undefined ? nothing : this.command(approval, command, exact)}
      ${this.facts(approval, cwd)}
      ${
        diff
          ? html`<sb-diff beside .path=${path ?? ""} .diff=${diff} title=${exact}></sb-diff>`
          : path !== undefined
            ? html`<p class="where" title=${exact}>${shown(path)}</p>`
            : nothing
      }`;
  }

  private command(approval: Approval, command: string, exact: string | typeof nothing) {
    if (this.draft !== null)
      return html`<div class="command">
          <textarea
            data-testid="approval-edit"
            aria-label="Command, edited"
            aria-describedby="again"
            rows=${Math.min(8, this.draft.split("\n").length + 1)}
            spellcheck="false"
            autocapitalize="off"
            autocomplete="off"
            .value=${this.draft}
            @input=${(event: Event) => (this.draft = (event.target as HTMLTextAreaElement).value)}
          ></textarea>
        </div>
        <p class="muted small" id="again">
          An edited command is judged again before it runs. Esc brings back what was asked.
        </p>
        ${
          revealed(this.draft) === this.draft
            ? nothing
            : html`<p class="small">With its hidden characters: <code>${shown(this.draft)}</code></p>`
        }`;
    return html`<div class="command">
      <pre tabindex="0" role="region" aria-label="Command" data-testid="approval-command" title=${exact}>
${shown(command)}</pre
      >
      ${
        approval.editable
          ? html`<button
              class="plain"
              data-testid="approval-edit-start"
              ?disabled=${this.waits()}
              @click=${() => void this.startEdit(command)}
            >
              ${icons.pencil} Edit
            </button>`
          : nothing
      }
    </div>`;
  }

  private facts({ containment }: Approval, cwd: string | undefined) {
    const held = containment === undefined ? null : heldIn(containment);
    if (cwd === undefined && held === null) return nothing;
    return html`<div class="facts small">
      ${cwd === undefined ? nothing : html`<span class="muted">in <span class="where" data-testid="approval-cwd">${shown(cwd)}</span></span>`}
      ${
        held === null
          ? nothing
          : html`<span class="held ${held.good ? "muted" : "not"}" data-testid="approval-held"
              >${icons.shield}<span>${quoting(held.words.slice(0, 500))}</span></span
            >`
      }
    </div>`;
  }

  private foot() {
    const choices = this.choices();
    const words = choices.some(({ decision, off }) => decision === "allow_rule" && off === null)
      ? this.ruleLine()
      : null;
    return html`<div class="foot">
      <div class="answers" role="group" aria-label="Answer">
        ${choices.map((choice) => this.button(choice, words !== null))}
      </div>
      ${
        words
          ? html`<p class="rule muted small" id="rule" data-testid="approval-rule">
              “Always allow this” stores a rule: ${words}, without asking.
            </p>`
          : nothing
      }
    </div>`;
  }

  private choices(): Choice[] {
    const { approval } = this.piece;
    const rule = approval.rule !== undefined || this.ruleText !== null ? "can" : "cannot";
    return answersOf(approval, this.edited() === null ? "asked" : "edited", rule);
  }

  /** What a rule would allow from now on. */
  private ruleLine() {
    const { rule } = this.piece.approval;
    if (rule === undefined) return quoting(this.ruleText ?? "");
    const { does, exact, where } = ruleWords(rule);
    return html`${does} <code>${shown(exact)}</code> ${shown(where)}`;
  }

  private button(choice: Choice, described: boolean) {
    return html`<button
      class=${choice.look}
      data-testid=${choice.test}
      data-option=${choice.option ?? nothing}
      aria-describedby=${described && choice.decision === "allow_rule" ? "rule" : nothing}
      title=${choice.off ?? nothing}
      ?disabled=${this.waits() || choice.off !== null}
      @click=${() => this.answer(choice)}
    >
      ${shown(choice.label.slice(0, 200))}${choice.hint === "" ? nothing : html`<kbd aria-hidden="true">${choice.hint}</kbd>`}
    </button>`;
  }

  private waits(): boolean {
    return this.answered !== null || !this.settled;
  }

  /** The command as it was edited; null if it is what was asked. */
  private edited(): string | null {
    return this.draft === null || this.draft === this.piece.approval.command ? null : this.draft;
  }

  private async startEdit(command: string): Promise<void> {
    this.draft = command;
    await this.updateComplete;
    this.renderRoot.querySelector("textarea")?.focus();
  }

  private async endEdit(): Promise<void> {
    this.draft = null;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>("[data-testid=approval-edit-start]")?.focus();
  }

  /** Keys act only inside of the question; while a command is edited, they are letters. */
  private readonly key = (event: KeyboardEvent): void => {
    if (this.resolution !== null || event.isComposing || event.altKey || event.metaKey) return;
    const target = event.composedPath()[0];
    const choices = this.choices();
    let choice: Choice | undefined;
    if (target instanceof HTMLTextAreaElement) {
      if (event.key === "Escape") {
        event.preventDefault();
        void this.endEdit();
        return;
      }
      if (event.key !== "Enter" || !event.ctrlKey) return;
      choice = choices.find(({ decision }) => decision === "allow_once");
    } else if (event.ctrlKey || event.repeat) return;
    // A button that has the keys takes Enter for itself.
    else if (event.key === "Enter")
      choice =
        target instanceof HTMLElement && target.matches("section")
          ? choices.find(({ decision }) => decision === "allow_once")
          : undefined;
    else choice = choices.find(({ keys }) => keys.includes(event.key.toLowerCase()));
    if (!choice) return;
    event.preventDefault();
    if (choice.off === null && !this.waits()) this.answer(choice);
  };

  private answer({ decision, option }: Choice): void {
    const command = decision.startsWith("allow") ? this.edited() : null;
    const sent = this.send({
      decision,
      ...(option === undefined ? {} : { option }),
      ...(command === null ? {} : { command }),
    });
    if (!sent) return;
    this.answered = decision;
    window.setTimeout(() => {
      this.answered = null;
    }, ANSWER_WITHIN_MS);
  }
}

customElements.define("sb-approval", SbApproval);
