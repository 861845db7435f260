/** The tool bench: a person's own place to call tools, under the same policy and with the same questions as agents. */
import { html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import type { Answer } from "../model/answers";
import type { OpenAsk } from "../model/bench";
import type { ToolInfo } from "../model/benchtypes";
import { folderName, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { answeredWords } from "./answered";
import { benchBadges, benchStyle, sheetStyle } from "./bench-style";
import "./sb-approval";
import "./sb-bench-form";
import "./sb-bench-history";
import "./sb-bench-result";
import "./sb-json";
import { shown } from "./shown";

const TYPES: Record<string, string> = {
  function: "function",
  custom: "custom",
  local_shell: "local shell",
  web_search: "web search",
};
const MAX_ABOUT_CHARS = 4_000;
const MAX_LISTED = 500;

export class SbBench extends LitElement {
  static override styles = [shared, sheetStyle, benchBadges, benchStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  /** Whether it is shown, so that the page leaves its keys alone. */
  @state() open = false;
  /** A tool was picked, where list and tool have no room beside each other. */
  @state() private chosen = false;

  show(): void {
    this.open = true;
    this.page.openBench();
    void this.updateComplete.then(() => {
      const dialog = this.renderRoot.querySelector("dialog");
      if (dialog && !dialog.open) dialog.showModal();
    });
  }

  private readonly close = (): void => {
    this.open = false;
    this.page.closeBench();
  };

  protected override render() {
    if (!this.open) return nothing;
    const { bench, tools } = this.page;
    const { tool } = bench;
    return html`<dialog
      aria-labelledby="bench-title"
      data-testid="bench"
      data-online=${tools.online}
      @close=${this.close}
      @keydown=${this.key}
      @sb-again=${() => (this.chosen = true)}
    >
      <div class="bar">
        ${
          this.chosen
            ? html`<button class="plain icon back" aria-label="All tools" @click=${() => (this.chosen = false)}>
                ${icons.menu}
              </button>`
            : nothing
        }
        <h2 id="bench-title">Tools</h2>
        ${this.folder()}
        ${tools.online ? nothing : html`<span class="small muted" role="status" data-testid="bench-offline">not connected; trying again…</span>`}
        <form method="dialog">
          <button class="plain icon" aria-label="Close" data-testid="bench-close">${icons.close}</button>
        </form>
      </div>
      <div class="halves ${this.chosen ? "chosen" : ""}">
        ${this.side()}
        <div class="one" data-testid="bench-one">
          ${this.asks()}${tool ? this.tool(tool) : html`<p class="hint">${bench.listed ? "Pick a tool." : nothing}</p>`}
          <details open>
            <summary>History</summary>
            <sb-bench-history .bench=${bench} .version=${this.version}></sb-bench-history>
          </details>
        </div>
      </div>
    </dialog>`;
  }

  /** The folder whose bench it is, where there are several. */
  private folder() {
    const roots = [...this.page.model.workspaces.keys()];
    const now = this.page.benchRoot;
    if (roots.length < 2)
      return html`<span class="small muted clip" title=${revealed(now)}>in ${revealed(folderName(now))}</span>`;
    return html`<select
      class="small"
      aria-label="Folder"
      data-testid="bench-folder"
      @change=${(event: Event) => this.page.setBenchRoot((event.target as HTMLSelectElement).value)}
    >
      ${roots.map((root) => html`<option .value=${root} ?selected=${root === now}>${revealed(folderName(root))}</option>`)}
    </select>`;
  }

  private side() {
    const { bench } = this.page;
    const found = bench.found();
    return html`<div class="side">
      <div class="find">
        <input
          type="search"
          aria-label="Search the tools"
          placeholder="Search"
          data-testid="bench-search"
          .value=${bench.query}
          @input=${(event: Event) => {
            bench.query = (event.target as HTMLInputElement).value;
            this.requestUpdate();
          }}
        />
        <span class="muted small" role="status" data-testid="bench-count"
          >${bench.listed ? countWords(found.length, bench.tools.length) : (bench.trouble ?? "Loading…")}</span
        >
        ${bench.listed && bench.trouble !== null ? html`<p class="wrong small" role="alert">${shown(bench.trouble)}</p>` : nothing}
      </div>
      <ul class="list" aria-label="Tools" data-testid="bench-tools">
        ${found.slice(0, MAX_LISTED).map((tool) => this.item(tool))}
      </ul>
    </div>`;
  }

  private item(tool: ToolInfo) {
    return html`<li>
      <button
        data-testid="bench-tool"
        data-tool=${tool.name}
        aria-current=${this.page.bench.selected === tool.name ? "true" : nothing}
        title=${revealed(tool.description.slice(0, 300))}
        @click=${() => {
          this.page.bench.selected = tool.name;
          this.chosen = true;
        }}
      >
        <span class="name clip">${shown(tool.name.slice(0, 200))}</span>
        <span class="badge">${shown((TYPES[tool.type] ?? tool.type).slice(0, 40))}</span>
      </button>
    </li>`;
  }

  private tool(tool: ToolInfo) {
    const { bench } = this.page;
    const run = bench.lastRun(tool.name);
    const blocked = bench.blocked(tool);
    const late = bench.timeoutProblem(tool);
    return html`<section aria-label="The tool">
        <div class="title">
          <h3 data-testid="bench-name">${shown(tool.name.slice(0, 500))}</h3>
          <span class="badge">${shown((TYPES[tool.type] ?? tool.type).slice(0, 40))}</span>
        </div>
        ${tool.description === "" ? nothing : html`<p class="about" data-testid="bench-about">${shown(tool.description.slice(0, MAX_ABOUT_CHARS))}</p>`}
      </section>
      <sb-bench-form .bench=${bench} .tool=${tool} .version=${this.version}></sb-bench-form>
      <div class="go">
        <button
          class="primary"
          data-testid="bench-run"
          ?disabled=${blocked !== null || !this.page.tools.online}
          title=${blocked ?? nothing}
          @click=${() => void bench.run(tool)}
        >
          Run <kbd aria-hidden="true">Ctrl ⏎</kbd>
        </button>
        <label>
          <span>Time limit, ms</span>
          <input
            inputmode="numeric"
            autocomplete="off"
            placeholder="30000"
            data-testid="bench-timeout"
            aria-invalid=${late !== null}
            .value=${bench.form(tool).timeout}
            @input=${(event: Event) => {
              bench.form(tool).timeout = (event.target as HTMLInputElement).value;
              this.requestUpdate();
            }}
          />
        </label>
        ${late === null ? nothing : html`<p class="wrong small">${late}</p>`}
      </div>
      ${
        run
          ? html`<sb-bench-result
              data-testid="bench-result"
              .bench=${bench}
              .run=${run}
              .execution=${this.page.benchExecution(run.id)}
              .waits=${bench.asked(run)}
              .version=${this.version}
            ></sb-bench-result>`
          : nothing
      }
      <details>
        <summary>Request</summary>
        <sb-json label="request" data-testid="bench-request" .value=${bench.request(tool)}></sb-json>
      </details>
      ${
        tool.schema === null
          ? nothing
          : html`<details>
              <summary>${tool.type === "custom" ? "Format" : "Schema"}</summary>
              <sb-json label="schema" .value=${tool.schema}></sb-json>
            </details>`
      }`;
  }

  private asks() {
    const { bench } = this.page;
    if (bench.asks.length === 0) return nothing;
    return html`<div class="asks" data-testid="bench-asks">${bench.asks.map((ask) => this.ask(ask))}</div>`;
  }

  private ask(ask: OpenAsk) {
    const { approval, resolution, ruleText } = ask;
    const piece = this.piece(ask);
    if (resolution !== null)
      return ask.mine
        ? nothing
        : html`<p class="late small" role="status" data-testid="asks-late">
            ${icons.shield}<span
              >${resolution === "expired" ? "No longer open" : `Answered elsewhere: ${answeredWords({ ...piece, resolution })}`}.
              ${shown(approval.title.slice(0, 200))}</span
            >
          </p>`;
    return html`<sb-approval
      .piece=${piece}
      .ruleText=${ruleText}
      .send=${(answer: Answer) => {
        if (!this.page.tools.online) return false;
        void this.page.bench.answer(ask.id, answer);
        return true;
      }}
    ></sb-approval>`;
  }

  private readonly pieces = new WeakMap<object, ReturnType<SbBench["newPiece"]>>();

  /** The same piece each time, so that the question does not start anew with each drawing. */
  private piece({ approval }: OpenAsk) {
    const known = this.pieces.get(approval) ?? this.newPiece(approval);
    this.pieces.set(approval, known);
    return known;
  }

  private newPiece(approval: OpenAsk["approval"]) {
    return { kind: "approval" as const, approval, resolution: null, option: null, edited: null, rule: null };
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    const { bench, tools } = this.page;
    if (!bench.tool || !tools.online) return;
    event.preventDefault();
    void bench.run(bench.tool);
  };
}

function countWords(found: number, all: number): string {
  const tools = all === 1 ? "tool" : "tools";
  return found === all ? `${String(all)} ${tools}` : `${String(found)} of ${String(all)} ${tools}`;
}

customElements.define("sb-bench", SbBench);
