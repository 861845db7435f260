/** Where prompts are written: grows with its text, keeps its draft for each tab, sends, stops, and shows what waits. */
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { folderName, revealed } from "../model/words";
import { CommandList } from "../model/commands";
import { ACCEPT } from "../model/image";
import type { TabLog } from "../model/log";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { SlashCommand } from "../wire";
import { attach, attachStyle, pictureFiles, thumbs } from "./attach";
import { promptStyle } from "./prompt-style";
import "./sb-agent-log";
import "./sb-agent-state";
import { SbAsks } from "./sb-asks";
import "./sb-options";
import "./sb-policy";
import "./sb-queue";
import "./sb-signin";
import "./sb-usage";
import { Slash, slashStyle } from "./slash";

/** How long writing rests before the draft is kept. */
const KEEP_MS = 250;
const MAX_HEIGHT_PX = 320;
const NO_COMMANDS = new CommandList([]);

export class SbPrompt extends LitElement {
  static override styles = [shared, promptStyle, slashStyle, attachStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) tab = "";
  @property({ attribute: false }) version = "";
  @state() private empty = true;
  /** Something is being dragged over the box. */
  @state() private over = false;
  /** Whether the agent's log is shown, where the person has said so; by tab and by how the agent was. */
  @state() private logChosen = new Map<string, boolean>();
  private readonly errorsSeen = new Map<string, number>();
  private readonly slash = new Slash(this, (command) => {
    this.take(command);
  });
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

  /** True if a question waits, and the keys are on its answers now. */
  focusAnswers(): boolean {
    return this.renderRoot.querySelector<SbAsks>("sb-asks")?.focusAnswers() ?? false;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("tab") && changed.get("tab") !== undefined && this.hasUpdated)
      this.keep(changed.get("tab") as string);
  }

  protected override render() {
    const { page } = this;
    const log = page.model.log(this.tab);
    const open = log?.open() ?? [];
    const fresh = page.session === undefined && page.outbox.of(this.tab).length === 0;
    const pictures = page.pictures.get(this.tab)?.length ?? 0;
    return html`<div class="column">
        ${this.agentSide(log)}
        <sb-agent-state .page=${page} .version=${this.version}></sb-agent-state>
      </div>
      <sb-asks .page=${page} .tab=${this.tab} .version=${this.version}></sb-asks>
      <div class="column">
      <sb-queue .page=${page} .tab=${this.tab} .version=${this.version}></sb-queue>
      ${this.slash.render()}
      <form
        class="box ${this.over ? "over" : ""}"
        @submit=${this.submit}
        @dragover=${this.dragged}
        @dragleave=${() => (this.over = false)}
        @drop=${this.dropped}
      >
        ${thumbs(page, this.tab)}
        <textarea
          data-testid="prompt"
          rows="1"
          aria-label="Prompt"
          aria-autocomplete="list"
          aria-controls=${this.slash.isOpen ? "slash" : nothing}
          aria-activedescendant=${this.slash.active ?? nothing}
          placeholder=${open.length > 0 ? "Write the next prompt; it will wait its turn" : `Ask ${page.agent}…`}
          autocomplete="off"
          spellcheck="true"
          enterkeyhint="send"
          @input=${this.wrote}
          @keydown=${this.key}
          @paste=${this.pasted}
          @blur=${() => this.slash.close()}
        ></textarea>
        <div class="bar">
          <div class="tools">
            <button
              type="button"
              class="plain icon"
              data-testid="attach"
              title="Add pictures"
              aria-label="Add pictures"
              @click=${() => this.renderRoot.querySelector<HTMLInputElement>("input[type=file]")?.click()}
            >
              ${icons.picture}
            </button>
            <input type="file" hidden multiple accept=${ACCEPT} aria-label="Pictures" @change=${this.filesPicked} />
            ${fresh ? this.choices() : this.chosen()}
            ${
              log
                ? html`<sb-options
                      .page=${page}
                      .options=${log.agent.options}
                      .off=${this.optionsOff()}
                    ></sb-options>
                    <sb-policy .page=${page} .version=${this.version}></sb-policy>
                    ${this.logButton(log)}
                    <sb-usage .usage=${log.agent.usage}></sb-usage>`
                : nothing
            }
          </div>
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
            ?disabled=${this.empty && pictures === 0}
          >
            ${icons.arrowUp}
          </button>
        </div>
      </form>
    </div>`;
  }

  /** What the agent wants or says besides the conversation: its sign-in and its log. */
  private agentSide(log: TabLog | undefined) {
    if (!log) return nothing;
    const state = this.page.session?.agentState;
    const wants = state !== "ready" && state !== "stalled" && state !== "starting" && state !== "slow";
    if (this.isLogOpen(log)) this.errorsSeen.set(this.tab, log.agent.errors);
    return html`${
      log.agent.signIn && wants
        ? html`<sb-signin .page=${this.page} .signIn=${log.agent.signIn}></sb-signin>`
        : nothing
    }
    ${
      this.isLogOpen(log)
        ? html`<sb-agent-log
            .agent=${log.agent}
            .total=${log.agent.total}
            @sb-log-shut=${() => this.showLog(false)}
          ></sb-agent-log>`
        : nothing
    }`;
  }

  /** The log opens by itself where the agent is in trouble, and then only until the person closes it. */
  private isLogOpen(log: TabLog): boolean {
    if (log.agent.total === 0) return false;
    return this.logChosen.get(this.logKey) ?? this.isInTrouble;
  }

  private get isInTrouble(): boolean {
    const state = this.page.session?.agentState;
    return state === "exited" || state === "slow";
  }

  private get logKey(): string {
    return `${this.tab} ${this.isInTrouble ? "trouble" : "well"}`;
  }

  private showLog(open: boolean): void {
    this.logChosen = new Map(this.logChosen).set(this.logKey, open);
  }

  private logButton(log: TabLog) {
    const { total, errors } = log.agent;
    if (total === 0) return nothing;
    const open = this.isLogOpen(log);
    const fresh = errors - (this.errorsSeen.get(this.tab) ?? 0);
    const words = `${total.toLocaleString()} lines${fresh > 0 ? `, ${String(fresh)} new errors` : ""}`;
    return html`<button
      type="button"
      class="plain small-chip"
      data-testid="agent-log-toggle"
      aria-expanded=${open}
      title="The agent's log, ${words}"
      @click=${() => this.showLog(!open)}
    >
      ${icons.log} Log<span class="spoken"> of the agent, ${words}</span>${
        fresh > 0
          ? html`<span class="badge" data-testid="log-errors" aria-hidden="true">${fresh}</span>`
          : nothing
      }
    </button>`;
  }

  /** Why nothing can be set of the agent now. */
  private optionsOff(): string | null {
    const { page } = this;
    if (page.machine.phase !== "online") return "Not connected to the host";
    switch (page.session?.agentState) {
      case "ready":
      case "stalled":
        return null;
      case "starting":
      case "slow":
        return `${page.agent} is still starting`;
      case "asleep":
        return `${page.agent} is unloaded; the next prompt wakes it`;
      case "exited":
        return `${page.agent} has exited; restart it first`;
      case "none":
      case undefined:
        return `${page.agent} is not there yet; it starts with the next prompt`;
    }
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has("tab")) {
      this.setText(this.page.drafts.get(this.tab));
      if (!matchMedia("(pointer: coarse)").matches) this.focusBox();
    }
  }

  /** Whether somebody has begun to write and goes on. */
  get isWriting(): boolean {
    return !this.empty && (this.box?.matches(":focus") ?? false);
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
    const kinds = new Map((page.workspace?.agents ?? []).map(({ name, kind }) => [name, kind]));
    const agents = [...new Set([...kinds.keys(), page.agent, "demo"])];
    const label = (agent: string) => {
      const kind = kinds.get(agent);
      return kind === undefined || kind === agent ? agent : `${agent} (${kind})`;
    };
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
          ${agents.map((agent) => html`<option .value=${agent} ?selected=${agent === page.agent}>${revealed(label(agent))}</option>`)}
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
    const pictures = this.page.pictures.get(this.tab) ?? [];
    if (this.written.trim() === "" && pictures.length === 0) return;
    const text = this.written;
    window.clearTimeout(this.keepTimer);
    this.setText("");
    this.slash.close();
    this.page.prompt(text, pictures);
    this.dispatchEvent(new CustomEvent("sb-sent", { bubbles: true, composed: true }));
    this.focusBox();
  };

  private readonly wrote = (): void => {
    this.written = this.box?.value ?? "";
    this.empty = this.written.trim() === "";
    this.fit();
    this.lookForSlash();
    window.clearTimeout(this.keepTimer);
    this.keepTimer = window.setTimeout(this.keep, KEEP_MS);
  };

  private lookForSlash(): void {
    const commands = this.page.model.log(this.tab)?.agent.commands ?? NO_COMMANDS;
    this.slash.look(this.written, this.box?.selectionStart ?? 0, commands);
  }

  /** A command was chosen: what was typed of it is replaced, what follows stays. */
  private take(command: SlashCommand): void {
    const end = this.written.search(/\s/);
    const rest = end < 0 ? "" : this.written.slice(end).trimStart();
    this.setText(`/${command.name} ${rest}`);
    const caret = command.name.length + 2;
    this.box?.setSelectionRange(caret, caret);
    this.keep();
    this.focusBox();
  }

  private readonly pasted = (event: ClipboardEvent): void => {
    const files = pictureFiles(event.clipboardData);
    // A table comes as words and as a picture of them: the words are meant.
    if (files.length === 0 || event.clipboardData?.types.includes("text/plain")) return;
    event.preventDefault();
    void attach(this.page, this.tab, files);
  };

  private readonly dragged = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.over = true;
  };

  private readonly dropped = (event: DragEvent): void => {
    this.over = false;
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    void attach(this.page, this.tab, event.dataTransfer.files);
  };

  private readonly filesPicked = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const files = [...(input.files ?? [])];
    input.value = "";
    void attach(this.page, this.tab, files).then(() => this.focusBox());
  };

  private readonly key = (event: KeyboardEvent): void => {
    // While an input method composes, Enter and the arrows are its own.
    if (event.isComposing || event.keyCode === 229) return;
    if (this.slash.key(event)) return;
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
