/** The whole page: puts the parts in their places, hands them the state once per frame, and takes the keys. */
import { html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { isNothing, spentLong, spentShort } from "../model/spent";
import { revealed, safeAddress } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Session } from "../wire";
import { appStyle } from "./app-style";
import { confirmed } from "./confirm";
import { SbBench } from "./sb-bench";
import { SbEmpty } from "./sb-empty";
import { SbInspector } from "./sb-inspector";
import { SbKeys } from "./sb-keys";
import "./sb-link-state";
import { SbPrompt } from "./sb-prompt";
import { SbRules } from "./sb-rules";
import { SbSearch } from "./sb-search";
import "./sb-sessions";
import "./sb-settings";
import { SbTabs } from "./sb-tabs";
import "./sb-toasts";
import { SbTranscript } from "./sb-transcript";
import "./sb-trust";
import { News } from "./news";

const THEME_WORDS = { system: "as the system", light: "light", dark: "dark" } as const;
const THEME_ICONS = { system: icons.screen, light: icons.sun, dark: icons.moon } as const;

export class SbApp extends LitElement {
  static override styles = [shared, appStyle];
  @property({ attribute: false }) page!: Page;
  /** The conversations as a drawer over the page, where there is no room beside it. */
  @state() private drawer = false;
  @state() private frames = 0;
  private readonly news = new News();
  private said = "";

  override connectedCallback(): void {
    super.connectedCallback();
    this.page.onFrame = () => {
      this.frames += 1;
      this.said = this.news.of(this.page) ?? this.said;
      document.title = this.news.title(this.page);
      if (this.page.takeWanted()) void this.goOn();
    };
    window.addEventListener("keydown", this.key);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("keydown", this.key);
  }

  protected override render() {
    const { page } = this;
    const version = String(this.frames);
    const tab = page.active ?? "";
    const log = page.model.log(tab);
    const waiting = page.model.benches().reduce((sum, { approvals }) => sum + approvals, 0);
    const unsent = page.outbox.of(tab).length;
    // Nothing was said yet: a new tab, or a session that is followed to its end and has no turn.
    const read = log !== undefined && log.cursor > 0 && log.entries.length === 0;
    const blank = unsent === 0 && (read || page.session === undefined);
    const side = page.prefs.sidebar;
    // The lists change seldom; words, often.
    const minute = Math.floor(page.now() / 60_000);
    const listed = `${String(page.model.listVersion)} ${tab} ${String(minute)}`;
    const { search, deleting } = page.library;
    const sought = `${String(search.version)} ${listed}`;
    const spent = log && !isNothing(log.spent) ? log.spent : null;
    const tabbed = `${listed} ${page.strip().join()} ${page.agent} ${page.workspace?.root ?? ""}`;
    return html`<div
      class="app ${side ? "wide" : ""} ${this.drawer ? "drawn" : ""}"
      @sb-fill=${this.fill}
      @sb-open-link=${this.openLink}
      @sb-sent=${this.sent}
      @sb-inspect=${(event: CustomEvent<Session>) => this.inspector?.show(event.detail)}
    >
      <div class="shade" @click=${() => (this.drawer = false)}></div>
      <aside
        aria-label="Conversations"
        ?inert=${!side && !this.drawer}
        @sb-picked=${() => (this.drawer = false)}
      >
        <header>
          <strong class="brand">Switchboard</strong>
          <button
            class="plain icon"
            aria-label="Hide conversations"
            title="Hide conversations (Alt+B)"
            @click=${this.toggleSide}
          >
            ${icons.sidebar}
          </button>
        </header>
        <button
          class="fresh"
          @click=${() => {
            page.newTab({});
            this.drawer = false;
          }}
        >
          ${icons.plus} New conversation
        </button>
        <sb-search .page=${page} .version=${sought}></sb-search>
        <sb-sessions
          ?hidden=${search.active}
          .page=${page}
          .version="${listed} ${deleting?.done ?? ""}"
        ></sb-sessions>
        <nav class="places" aria-label="More">
          <button class="plain" data-testid="open-bench" title="Tools (Alt+T)" @click=${this.showBench}>
            ${icons.wrench} Tools
            ${waiting > 0 ? html`<span class="waits" title="Questions at the bench">${waiting}<span class="spoken"> waiting</span></span>` : nothing}
          </button>
          <button class="plain" data-testid="open-rules" @click=${this.showRules}>${icons.shield} Rules</button>
        </nav>
        <footer>
          <button class="plain settings" data-testid="open-settings" @click=${this.showSettings}>
            ${icons.gear} Settings
          </button>
          <button
            class="plain icon"
            aria-label="Theme: ${THEME_WORDS[page.prefs.theme]}"
            title="Theme: ${THEME_WORDS[page.prefs.theme]}"
            data-testid="theme"
            @click=${this.turnTheme}
          >
            ${THEME_ICONS[page.prefs.theme]}
          </button>
          <button class="plain icon" aria-label="Keys" title="Keys (?)" @click=${this.showKeys}>
            ${icons.help}
          </button>
        </footer>
      </aside>
      <div class="main">
        <header class="top">
          <button
            class="plain icon opener"
            aria-label="Show conversations"
            title="Show conversations (Alt+B)"
            data-testid="open-sessions"
            @click=${this.toggleSide}
          >
            ${icons.sidebar}
          </button>
          <sb-tabs .page=${page} .version=${tabbed}></sb-tabs>
          <span class="grow"></span>
          ${
            spent
              ? html`<span
                  class="spent small muted"
                  data-testid="session-spent"
                  title="This conversation: ${revealed(spentLong(spent))}"
                  ><span class="spoken">This conversation has used </span>${revealed(spentShort(spent))}</span
                >`
              : nothing
          }
          <sb-link-state quiet .page=${page} .version=${version}></sb-link-state>
        </header>
        ${
          page.outdated
            ? html`<div class="banner" data-testid="outdated" role="status">
                <span>Switchboard was updated to ${revealed(page.model.hostVersion)}.</span>
                <button
                  class="primary"
                  @click=${() => {
                    location.reload();
                  }}
                >
                  Reload
                </button>
              </div>`
            : nothing
        }
        <sb-trust .page=${page} .version="${tabbed} ${page.containmentRead}"></sb-trust>
        <main>
          <h1 class="spoken">${revealed(page.session?.title || "New conversation")}</h1>
          ${
            blank
              ? html`<sb-empty .page=${page} .version="${tabbed} ${page.machine.phase} ${page.local.version}"></sb-empty>`
              : html`<sb-transcript .page=${page} .tab=${tab} .version=${version}></sb-transcript>`
          }
          <sb-prompt .page=${page} .tab=${tab} .version=${version}></sb-prompt>
        </main>
      </div>
      <sb-toasts .page=${page} .version=${version}></sb-toasts>
      <sb-keys></sb-keys>
      <sb-inspector></sb-inspector>
      <sb-bench .page=${page} .version=${version}></sb-bench>
      <sb-rules .page=${page} .version=${listed}></sb-rules>
      <sb-settings .page=${page} .version=${version} ?open=${page.settingsOpen}></sb-settings>
      <div class="spoken" role="status" aria-live="polite">${this.said}</div>
    </div>`;
  }

  private get prompt(): SbPrompt | null {
    return this.renderRoot.querySelector<SbPrompt>("sb-prompt");
  }

  /** The keys go to what is next: a step that must be taken, or the box. */
  private async goOn(): Promise<void> {
    await this.updateComplete;
    const empty = this.renderRoot.querySelector<SbEmpty>("sb-empty");
    await empty?.updateComplete;
    // Keys that are meant for the box would do elsewhere what they were not meant to.
    if (this.prompt?.isWriting) return;
    if (empty?.focusLead() || matchMedia("(pointer: coarse)").matches) return;
    this.prompt?.focusBox();
  }

  private get keysOpen(): boolean {
    return this.renderRoot.querySelector<SbKeys>("sb-keys")?.open ?? false;
  }

  private get inspector(): SbInspector | null {
    return this.renderRoot.querySelector<SbInspector>("sb-inspector");
  }

  private get menuOpen(): boolean {
    return this.renderRoot.querySelector<SbTabs>("sb-tabs")?.menuOpen ?? false;
  }

  private readonly toggleSide = (): void => {
    if (matchMedia("(max-width: 760px)").matches) this.drawer = !this.drawer;
    else this.page.prefs.sidebar = !this.page.prefs.sidebar;
    this.requestUpdate();
  };

  private readonly turnTheme = (): void => {
    this.page.prefs.turn();
    this.requestUpdate();
  };

  private readonly showBench = (): void => {
    this.drawer = false;
    this.renderRoot.querySelector<SbBench>("sb-bench")?.show();
  };

  private readonly showRules = (): void => {
    this.drawer = false;
    this.renderRoot.querySelector<SbRules>("sb-rules")?.show();
  };

  private readonly showSettings = (): void => {
    this.drawer = false;
    this.page.openSettings(true);
  };

  /** The search box, wherever it is hidden. */
  private focusSearch(): void {
    if (matchMedia("(max-width: 760px)").matches) this.drawer = true;
    else this.page.prefs.sidebar = true;
    this.requestUpdate();
    void this.updateComplete.then(() => this.renderRoot.querySelector<SbSearch>("sb-search")?.focusBox());
  }

  /** A sheet that is open has its own keys. */
  private get sheetOpen(): boolean {
    const bench = this.renderRoot.querySelector<SbBench>("sb-bench");
    const rules = this.renderRoot.querySelector<SbRules>("sb-rules");
    return this.page.settingsOpen || [this.inspector, bench, rules].some((sheet) => sheet?.open ?? false);
  }

  private readonly showKeys = (): void => {
    this.renderRoot.querySelector<SbKeys>("sb-keys")?.show();
  };

  private readonly fill = (event: CustomEvent<string>): void => {
    this.prompt?.fill(event.detail);
  };

  private readonly sent = (): void => {
    this.renderRoot.querySelector<SbTranscript>("sb-transcript")?.jump();
  };

  /** An answer's link opens only after its whole address was seen. */
  private readonly openLink = (event: CustomEvent<string>): void => {
    const address = safeAddress(event.detail);
    if (address === null) return;
    void confirmed({
      title: "Open this address?",
      exact: address,
      text: "It comes from the agent's answer and opens in a new tab.",
      yes: "Open",
    }).then((sure) => {
      if (sure) window.open(event.detail, "_blank", "noopener,noreferrer");
    });
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const { page } = this;
    if (event.altKey && !event.ctrlKey && !event.metaKey) {
      if (this.sheetOpen) return;
      const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
      const tab = digit === undefined ? undefined : page.strip()[Number(digit) - 1];
      if (event.code === "KeyN") page.newTab({});
      else if (event.code === "KeyW" && page.active !== null)
        void this.renderRoot.querySelector<SbTabs>("sb-tabs")?.close(page.active);
      else if (event.code === "KeyB") this.toggleSide();
      else if (event.code === "KeyT") this.showBench();
      else if (event.code === "KeyI" && page.session) this.inspector?.show(page.session);
      else if (event.code === "KeyA" && this.prompt?.focusAnswers()) {
        // Done.
      } else if (tab !== undefined) page.show(tab);
      else return;
      event.preventDefault();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.code === "KeyK") {
      if (this.sheetOpen || this.keysOpen || document.querySelector("sb-confirm")) return;
      event.preventDefault();
      this.focusSearch();
      return;
    }
    const target = event.composedPath()[0];
    const writing =
      target instanceof HTMLElement &&
      (target.matches("input, textarea, select") || target.isContentEditable);
    // A dialog or a menu that is open has its own keys.
    if (document.querySelector("sb-confirm") || this.keysOpen || this.menuOpen || this.sheetOpen) return;
    if (event.key === "Escape") {
      if (this.drawer) this.drawer = false;
      else page.stop();
    } else if (!writing && event.key === "?") this.showKeys();
    else if (!writing && event.key === "/") this.prompt?.focusBox();
    else return;
    event.preventDefault();
  };
}

customElements.define("sb-app", SbApp);
