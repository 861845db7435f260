/** One tool call: what it is and how far it is on one line; what it shows, what went in and what came out, on request. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import "../markdown/sb-answer";
import { type Call, type CallKind, callKind, changeOf, contentDiff } from "../model/flow";
import type { TextPiece } from "../model/turn";
import { pretty, revealed } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Location, ToolCall, ToolContent } from "../wire";
import { answeredWords } from "./answered";
import { callStyle } from "./call-style";
import { picture, pictureStyle } from "./picture";
import { changeCounts, countsStyle } from "./sb-diff";
import "./sb-execution";
import "./sb-terminal";
import { quoting, shown } from "./shown";

/** Characters of an input or output that are drawn; the log has it whole. */
const MAX_JSON_CHARS = 20_000;
/** Characters of words that a call shows. */
const MAX_TEXT_CHARS = 100_000;
const MAX_TITLE_CHARS = 300;
const MAX_PARTS = 100;
const MAX_PLACES = 50;
const WORDS = { pending: "waits", running: "runs", completed: "done", failed: "failed" } as const;
const MARKS = {
  pending: icons.wait,
  running: icons.again,
  completed: icons.done,
  failed: icons.cross,
} as const;
const ICONS: Record<CallKind, TemplateResult> = {
  read: icons.read,
  edit: icons.pencil,
  delete: icons.trash,
  move: icons.move,
  search: icons.search,
  execute: icons.terminal,
  think: icons.spark,
  fetch: icons.globe,
  other: icons.wrench,
};

/** The words of a call as the answer's part draws them; the same words are the same piece. */
const pieces = new WeakMap<ToolContent, TextPiece>();

export class SbTool extends LitElement {
  static override styles = [
    shared,
    callStyle,
    countsStyle,
    pictureStyle,
    css`
      .link {
        display: inline-flex;
        align-items: center;
        gap: 0.4em;
        overflow-wrap: anywhere;
        white-space: normal;
        text-align: left;
        width: fit-content;
        max-width: 100%;
      }
    `,
  ];
  /** The call with all that belongs to it; made anew for each drawing of its turn, so it says nothing of a change. */
  @property({ attribute: false, hasChanged: () => false }) call!: Call;
  /** The call alone: another one after each change. */
  @property({ attribute: false }) told: ToolCall | null = null;
  /** Changes with what the host did for the call. */
  @property({ attribute: false }) version = "";
  /** What the person chose; until then it is open while it runs and has something to show. */
  @state() private chosen: boolean | null = null;
  /** JSON is made only for whoever looks at it. */
  @state() private looked: ReadonlySet<string> = new Set();

  unfold(): void {
    this.chosen = true;
  }

  protected override render() {
    const { call } = this.call.piece;
    const kind = callKind(call.kind);
    const change = changeOf(call);
    const open = this.chosen ?? this.isLive();
    const title = call.title || call.id;
    return html`<details class="call" data-testid="tool-call" data-status=${call.status} ?open=${open}>
      <summary @click=${(event: Event) => this.toggle(event, open)}>
        ${ICONS[kind]}<span class="title clip ${kind === "execute" ? "mono" : ""}"
          >${shown(title.slice(0, MAX_TITLE_CHARS))}</span
        >
        ${change ? changeCounts(change) : nothing}
        <span class="state ${call.status}"
          >${MARKS[call.status] ?? icons.wait}<span>${this.stateWords()}</span
          ><span class="spoken">${WORDS[call.status] ?? ""}</span></span
        >
      </summary>
      ${open ? html`<div class="parts">${this.parts(title)}</div>` : nothing}
    </details>`;
  }

  /** It runs, or waits, and there is something to see. */
  private isLive(): boolean {
    const { piece, executions } = this.call;
    if (piece.call.status === "completed" || piece.call.status === "failed") return false;
    return executions.some(({ end }) => end === null) || (piece.call.content?.length ?? 0) > 0;
  }

  private toggle(event: Event, open: boolean): void {
    event.preventDefault();
    this.chosen = !open;
  }

  private stateWords(): string {
    const { piece, answers } = this.call;
    const denied = answers.some(({ resolution }) => resolution === "deny" || resolution === "deny_stop");
    return denied && piece.call.status !== "completed"
      ? "denied"
      : (WORDS[piece.call.status] ?? piece.call.status);
  }

  private parts(title: string) {
    const { piece, executions, answers } = this.call;
    const { content = [], locations = [], input, output, error } = piece.call;
    const inTerminals = new Set(content.flatMap((part) => (part.type === "terminal" ? [part.terminal] : [])));
    const rest = executions.filter(({ execution }) => !inTerminals.has(execution.id));
    const bare = content.length === 0 && rest.length === 0;
    const long = title.length > 90 || title.includes("\n");
    return html`${long ? html`<p class="whole" tabindex="0" role="region" aria-label="Title">${shown(title.slice(0, MAX_JSON_CHARS))}</p>` : nothing}
      ${locations.length > 0 ? places(locations) : nothing}
      ${answers.map((answer) => html`<p class="muted small">${answeredWords(answer)}</p>`)}
      ${error ? html`<p class="small not" data-testid="tool-error"><code>${error.code}</code> ${quoting(error.message.slice(0, 2_000))}</p>` : nothing}
      ${content.slice(0, MAX_PARTS).map((part) => this.show(part))}
      ${content.length > MAX_PARTS ? html`<p class="muted small">${content.length - MAX_PARTS} more parts are not drawn.</p>` : nothing}
      ${rest.map((execution) => html`<sb-execution .piece=${execution} .version=${execution.version}></sb-execution>`)}
      ${this.json("Input", input, bare)}${this.json("Output", output, bare)}
      ${bare && input === undefined && output === undefined && !error ? html`<p class="muted small">No details were given.</p>` : nothing}`;
  }

  private show(part: ToolContent) {
    switch (part.type) {
      case "text":
        return html`<sb-answer name="tool-text" .piece=${textPiece(part)}></sb-answer>
          ${part.text.length > MAX_TEXT_CHARS ? html`<p class="muted small">The rest is not drawn.</p>` : nothing}`;
      case "diff":
        return html`<sb-diff
          .path=${part.path}
          .diff=${contentDiff(part)}
          ?fresh=${part.old === undefined}
        ></sb-diff>`;
      case "terminal": {
        const ran = this.call.executions.find(({ execution }) => execution.id === part.terminal);
        if (ran) return html`<sb-execution bare .piece=${ran} .version=${ran.version}></sb-execution>`;
        return part.output === undefined
          ? html`<p class="muted small">A terminal of the agent's own; it shows nothing of it.</p>`
          : html`<sb-terminal .text=${part.output}></sb-terminal>`;
      }
      case "image":
        return html`<div>${picture(part.image, "Picture from the tool")}</div>`;
      case "link":
        return this.link(part.uri, part.name);
      case "other":
        return this.json("What else it shows", part.raw, false);
    }
  }

  private json(name: string, value: unknown, open: boolean) {
    if (value === undefined || value === null) return nothing;
    const { text, cut } =
      open || this.looked.has(name) ? pretty(value, MAX_JSON_CHARS) : { text: "", cut: false };
    return html`<details class="raw" ?open=${open} @toggle=${() => (this.looked = new Set(this.looked).add(name))}>
      <summary>${name}</summary>
      <pre class="json" tabindex="0" role="region" aria-label=${name}>${shown(text)}</pre>
      ${cut ? html`<p class="muted small">The first ${MAX_JSON_CHARS.toLocaleString()} characters.</p>` : nothing}
    </details>`;
  }

  private link(uri: string, name: string) {
    const label = html`${icons.link}<span>${shown((name || uri).slice(0, 300))}</span>`;
    if (!/^https?:/i.test(uri))
      return html`<p class="link small" title=${revealed(uri.slice(0, 2_000))}>${label}</p>`;
    const open = () =>
      this.dispatchEvent(new CustomEvent("sb-open-link", { bubbles: true, composed: true, detail: uri }));
    return html`<button class="link" title=${revealed(uri.slice(0, 2_000))} @click=${open}>${label}</button>`;
  }
}

function textPiece(part: Extract<ToolContent, { type: "text" }>): TextPiece {
  let piece = pieces.get(part);
  if (!piece) {
    piece = { kind: "text", text: part.text.slice(0, MAX_TEXT_CHARS), seq: 0 };
    pieces.set(part, piece);
  }
  return piece;
}

function places(locations: Location[]) {
  const at = ({ path, line }: Location) => (line === undefined ? path : `${path}:${String(line)}`);
  return html`<ul class="places" aria-label="Places">
    ${locations.slice(0, MAX_PLACES).map((location) => html`<li>${shown(at(location))}</li>`)}
    ${locations.length > MAX_PLACES ? html`<li>and ${locations.length - MAX_PLACES} more</li>` : nothing}
  </ul>`;
}

customElements.define("sb-tool", SbTool);
