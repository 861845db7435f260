/** One turn: what was asked, everything that came of it in its order, and how it ended. */
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import "../markdown/sb-answer";
import { flowOf, type FlowItem } from "../model/flow";
import type { Piece, ToolPiece, Turn } from "../model/turn";
import { isNothing, spentLong, spentShort } from "../model/spent";
import { duration, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { picture, pictureStyle } from "./picture";
import "./sb-approval";
import "./sb-codepiece";
import "./sb-execution";
import "./sb-plan";
import "./sb-run";
import "./sb-thought";
import "./sb-tool";
import { sentence, shown } from "./shown";
import { turnStyle } from "./turn-style";

/** A longer prompt is folded. */
const FOLD_CHARS = 1_200;
const FOLD_LINES = 12;
const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
/** A turn that took longer says how long. */
const LONG_MS = 5_000;
/** Of what nobody knows, this much is drawn. */
const MAX_RAW_CHARS = 10_000;

/** Stands for the prompt where the number of a piece is expected. */
export const PROMPT = -1;

/** A part that hides some of what it has. */
type Folded = Element & { unfold?: () => void };

export class SbTurn extends LitElement {
  static override styles = [shared, turnStyle, pictureStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) turn!: Turn;
  @property({ attribute: false }) version = 0;
  /** The piece that the person looked for; null for none. */
  @property({ attribute: false }) found: number | null = null;
  @state() private unfolded = false;

  protected override render() {
    const { turn } = this;
    return html`<article
      data-testid="turn"
      data-turn=${turn.number}
      data-state=${turn.state}
      data-outcome=${turn.outcome ?? nothing}
    >
      ${this.prompt()}
      <div class="flow">
        ${repeat(flowOf(turn), (item) => `${item.kind} ${String(item.at)}`, this.item)}
      </div>
      ${turn.state === "running" ? this.working() : turn.state === "ended" ? this.outcome() : nothing}
    </article>`;
  }

  protected override updated(): void {
    const found = this.found === null ? null : this.place(this.found);
    for (const old of this.renderRoot.querySelectorAll(".found"))
      if (old !== found) old.classList.remove("found");
    found?.classList.add("found");
  }

  /** Where a piece stands; what is drawn inside of another stands there. */
  place(piece: number): Element | null {
    if (piece === PROMPT) return this.renderRoot.querySelector(".prompt");
    const at = flowOf(this.turn).findLastIndex((item) => item.at <= piece);
    return this.renderRoot.querySelector(".flow")?.children[at] ?? null;
  }

  /** Opens whatever hides a piece. */
  unfold(piece: number): void {
    if (piece === PROMPT) this.unfolded = true;
    else (this.place(piece) as Folded | null)?.unfold?.();
  }

  private prompt() {
    const { prompt, context, queuedMs } = this.turn;
    if (this.turn.name === "" && prompt === "")
      return html`<p class="muted small">The beginning of this turn was lost.</p>`;
    const long = prompt.length > FOLD_CHARS || prompt.split("\n", FOLD_LINES + 1).length > FOLD_LINES;
    const fold = long && !this.unfolded;
    const pictures = context.flatMap(({ image }) => image ?? []);
    const files = context.filter(({ image }) => image === undefined);
    return html`<h2 class="spoken">You asked</h2>
      <div class="prompt" title=${WHEN.format(queuedMs)}>
        <pre class="words ${fold ? "fold" : ""}" data-testid="turn-prompt">
${shown(fold ? prompt.slice(0, 2 * FOLD_CHARS) : prompt)}</pre>
        ${
          long
            ? html`<button
                class="plain small"
                aria-expanded=${!fold}
                @click=${() => (this.unfolded = !this.unfolded)}
              >
                ${fold ? "Show all" : "Show less"}
              </button>`
            : nothing
        }
        ${
          pictures.length > 0
            ? html`<div class="pictures" data-testid="turn-pictures">
                ${pictures.map((image) => picture(image, "Picture that went with the prompt"))}
              </div>`
            : nothing
        }
        ${
          files.length > 0
            ? html`<ul class="context small">
                ${files.map((item) => html`<li>${icons.read}<span class="clip">${shown(item.path ?? "excerpt")}</span></li>`)}
              </ul>`
            : nothing
        }
      </div>`;
  }

  private readonly item = (item: FlowItem): TemplateResult => {
    switch (item.kind) {
      case "piece":
        return this.piece(item.piece, item.at === this.turn.pieces.length - 1);
      case "call": {
        const { piece, executions, answers } = item.call;
        const changes = executions.map(({ version }) => version).join();
        return html`<sb-tool
          .call=${item.call}
          .told=${piece.call}
          .version=${`${changes} ${String(answers.length)}`}
        ></sb-tool>`;
      }
      case "run":
        return html`<sb-run .items=${item.items} .fold=${item.fold} .draw=${this.item}></sb-run>`;
    }
  };

  private piece(piece: Exclude<Piece, ToolPiece>, last: boolean): TemplateResult {
    const live = last && this.turn.state === "running";
    switch (piece.kind) {
      case "text":
        return html`<sb-answer .piece=${piece} .seq=${piece.seq} ?live=${live}></sb-answer>`;
      case "thought":
        return html`<sb-thought .piece=${piece} .seq=${piece.seq} ?live=${live}></sb-thought>`;
      case "plan":
        return html`<sb-plan .entries=${this.turn.plan}></sb-plan>`;
      case "code":
        return html`<sb-codepiece .piece=${piece} .seq=${piece.seq}></sb-codepiece>`;
      case "execution":
        return html`<sb-execution .piece=${piece} .version=${piece.version}></sb-execution>`;
      case "approval":
        // One that is open stands above the prompt box, where it cannot be missed.
        return piece.resolution === null
          ? html`<p class="asks small" data-testid="asks">
              ${icons.shield}<span>Waits for your answer: ${shown(piece.approval.title.slice(0, 200))}</span>
            </p>`
          : html`<sb-approval .piece=${piece} .resolution=${piece.resolution}></sb-approval>`;
      case "unknown":
        return html`<details class="unknown small">
          <summary>
            The agent said <code>${shown(piece.name.slice(0, 120))}</code>, which this page does not know
          </summary>
          <pre tabindex="0">${shown(piece.raw.slice(0, MAX_RAW_CHARS))}</pre>
        </details>`;
    }
  }

  private working() {
    const { status, cancelAsked, pieces, startMs } = this.turn;
    const last = pieces.at(-1);
    const asks = pieces.some((piece) => piece.kind === "approval" && piece.resolution === null);
    // Words that arrive are sign enough; otherwise the person should see that something goes on.
    if (!status && !cancelAsked && (asks || last?.kind === "thought")) return nothing;
    const words = cancelAsked ? "Stopping…" : (status?.message ?? (last?.kind === "text" ? "" : "Working…"));
    return html`<div class="working small" data-testid="working" data-since=${startMs ?? 0}>
      <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>
      <span class="muted">${sentence(words)}</span>
      ${
        status?.progress != null && !cancelAsked
          ? html`<progress
                aria-label="Progress"
                .max=${1}
                .value=${Math.min(1, Math.max(0, status.progress))}
              ></progress>
              <span class="muted">${Math.round(status.progress * 100)} %</span>`
          : nothing
      }
    </div>`;
  }

  private outcome() {
    const { outcome, detail, startMs, endMs, pieces } = this.turn;
    if (outcome === "completed") {
      const took =
        startMs !== null && endMs !== null && endMs - startMs > LONG_MS ? duration(endMs - startMs) : "";
      const words = pieces.length === 0 ? `The agent ended the turn without a word. ${took}` : took;
      const used = this.usedWords();
      if (words === "" && used === nothing) return nothing;
      return html`<div class="end small muted" data-testid="outcome">
        ${words === "" ? nothing : html`<span>${words}</span>`}${used}
      </div>`;
    }
    if (outcome === "cancelled") {
      return html`<div class="end small muted" data-testid="outcome">
        ${icons.stop}<span>${startMs === null ? "Removed from the queue." : "Stopped."}</span>${this.usedWords()}
      </div>`;
    }
    return html`<div class="failed" data-testid="outcome" role="group" aria-label="The turn failed">
      ${icons.cross}
      <div class="why">
        ${
          detail?.code === "host_restarted"
            ? html`<strong>The host was restarted during this turn.</strong>
                <span>What was said until then is kept. Nothing is sent again by itself.</span>`
            : html`<strong>This turn failed.</strong>
                ${detail ? html`<span>${sentence(detail.message)}</span>` : nothing}`
        }
        ${this.usedWords()}
      </div>
      <button @click=${this.again}>${icons.again} Send again</button>
    </div>`;
  }

  /** What the turn has used, as far as the agent says. */
  private usedWords() {
    const { used } = this.turn;
    if (!used || isNothing(used)) return nothing;
    return html`<span class="used" data-testid="turn-used" title=${revealed(spentLong(used))}
      >${revealed(spentShort(used))}</span
    >`;
  }

  /** Puts the prompt into the box: whoever sends it should have seen it. */
  private readonly again = (): void => {
    this.dispatchEvent(
      new CustomEvent("sb-fill", { bubbles: true, composed: true, detail: this.turn.prompt }),
    );
  };
}

customElements.define("sb-turn", SbTurn);
