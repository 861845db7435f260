/** Where prompts are written: grows with its text, keeps its draft for each tab, sends, stops, and shows what waits. */
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { folderName } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { promptStyle } from "./prompt-style";
import "./sb-agent-state";
import "./sb-queue";

/** How long writing rests before the draft is kept. */
const KEEP_MS = 250;
const MAX_HEIGHT_PX = 320;

export class SbPrompt extends LitElement {
  static override styles = [shared, promptStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) tab = "";
  @property({ attribute: false }) version = "";
  @state() private empty = true;
  private keepTimer = 0;
  private written = "";

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("pagehide", this.keep);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("pagehide", this.keep);
    this.keep();
  }

  /** Puts words into the box, after what is there. */
  fill(text: string): void {
    const before = this.written.trimEnd();
    this.setText(before === "" ? text : `${before}\n${text}`);
    this.keep();
    this.focusBox();
  }

  focusBox(): void {
    this.box?.focus();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("tab") && changed.get("tab") !== undefined && this.hasUpdated)
      this.keep(changed.get("tab") as string);
  }

  protected override render() {
    const { page } = this;
    const open = page.model.log(this.tab)?.open() ?? [];
    const fresh = page.session === undefined && page.outbox.of(this.tab).length === 0;
    return html`<div class="column">
      <sb-queue .page=${page} .tab=${this.tab} .version=${this.version}></sb-queue>
      <sb-agent-state .page=${page} .version=${this.version}></sb-agent-state>
      <form class="box" @submit=${this.submit}>
        <textarea
          data-testid="prompt"
          rows="1"
          aria-label="Prompt"
          placeholder=${open.length > 0 ? "Write the next prompt; it will wait its turn" : `Ask ${page.agent}…`}
          autocomplete="off"
          spellcheck="true"
          enterkeyhint="send"
          @input=${this.wrote}
          @keydown=${this.key}
        ></textarea>
        <div class="bar">
          ${fresh ? this.choices() : this.chosen()}
          <span class="grow"></span>
          ${
            open.length > 0
              ? html`<button
                  type="button"
                  class="round stop"
                  data-testid="stop"
                  title="Stop (Esc)"
                  aria-label="Stop"
                  @click=${() => page.stop()}
                >
                  ${icons.stop}
                </button>`
              : nothing
          }
          <button
            class="primary round"
            data-testid="send"
            aria-label=${open.length > 0 ? "Send to the queue" : "Send"}
            title="Send (Enter)"
            ?disabled=${this.empty}
          >
            ${icons.arrowUp}
          </button>
        </div>
      </form>
    </div>`;
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("tab")) {
      this.setText(this.page.drafts.get(this.tab));
      if (!matchMedia("(pointer: coarse)").matches) this.focusBox();
    }
  }

  private get box(): HTMLTextAreaElement | null {
    return this.renderRoot.querySelector("textarea");
  }

  /** A tab that exists: who answers, and where. */
  private chosen() {
    const { page } = this;
    const root = page.workspace?.root ?? page.session?.workspace ?? "";
    return html`<span class="chip" title="Agent">${icons.bolt}<span class="clip">${page.agent}</span></span>
      ${root ? html`<span class="chip" title=${root}>${icons.folder}<span class="clip">${folderName(root)}</span></span>` : nothing}`;
  }

  /** A new tab: who shall answer, and where. */
  private choices() {
    const { page } = this;
    const roots = [...page.model.workspaces.keys()];
    const root = page.workspace?.root ?? page.model.home;
    const agents = [...new Set([...(page.workspace?.agents ?? []), page.agent, "demo"])];
    const choose = (choice: { agent?: string; workspace?: string }) => {
      const now = page.newTabs.get(this.tab) ?? {};
      page.newTabs.choose(this.tab, { ...now, ...choice });
      page.changed();
    };
    return html`<label class="chip pick" title="Agent">
        ${icons.bolt}
        <select
          aria-label="Agent"
          @change=${(event: Event) => choose({ agent: (event.target as HTMLSelectElement).value })}
        >
          ${agents.map((agent) => html`<option .value=${agent} ?selected=${agent === page.agent}>${agent}</option>`)}
        </select>
      </label>
      ${
        roots.length > 1
          ? html`<label class="chip pick" title=${root}>
              ${icons.folder}
              <select
                aria-label="Folder"
                @change=${(event: Event) => choose({ workspace: (event.target as HTMLSelectElement).value })}
              >
                ${roots.map((each) => html`<option .value=${each} ?selected=${each === root}>${folderName(each)}</option>`)}
              </select>
            </label>`
          : root
            ? html`<span class="chip" title=${root}
                >${icons.folder}<span class="clip">${folderName(root)}</span></span
              >`
            : nothing
      }`;
  }

  private readonly submit = (event: Event): void => {
    event.preventDefault();
    if (this.written.trim() === "") return;
    const text = this.written;
    window.clearTimeout(this.keepTimer);
    this.setText("");
    this.page.prompt(text);
    this.dispatchEvent(new CustomEvent("sb-sent", { bubbles: true, composed: true }));
    this.focusBox();
  };

  private readonly wrote = (): void => {
    this.written = this.box?.value ?? "";
    this.empty = this.written.trim() === "";
    this.fit();
    window.clearTimeout(this.keepTimer);
    this.keepTimer = window.setTimeout(this.keep, KEEP_MS);
  };

  private readonly key = (event: KeyboardEvent): void => {
    // While an input method composes, Enter and the arrows are its own.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit(event);
    } else if (event.key === "ArrowUp" && this.written === "") {
      const last = this.page.model.log(this.tab)?.lastPrompt() ?? "";
      if (last === "") return;
      event.preventDefault();
      this.setText(last);
      this.keep();
    }
  };

  private setText(text: string): void {
    this.written = text;
    this.empty = text.trim() === "";
    const { box } = this;
    if (!box) return;
    box.value = text;
    this.fit();
  }

  private fit(): void {
    const { box } = this;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${String(Math.min(box.scrollHeight, MAX_HEIGHT_PX))}px`;
  }

  private readonly keep = (of?: unknown): void => {
    window.clearTimeout(this.keepTimer);
    const tab = typeof of === "string" ? of : this.tab;
    if (tab !== "") this.page.drafts.put(tab, this.written);
  };
}

customElements.define("sb-prompt", SbPrompt);
