/** The settings, on a sheet over the page: whose they are, the form, the token, what was used, and upkeep. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { folderName, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { sheetStyle } from "./bench-style";
import { confirmed } from "./confirm";
import type { SbSettingsForm } from "./sb-settings-form";
import "./sb-settings-form";
import "./sb-token";
import "./sb-upkeep";
import "./sb-used-days";

export class SbSettings extends LitElement {
  static override styles = [
    shared,
    sheetStyle,
    css`
      dialog {
        width: min(52rem, calc(100vw - 1rem));
      }
      .body {
        padding: 0.9rem 1.1rem 1.2rem;
        overflow: auto;
        flex: 1;
        min-height: 0;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        align-content: start;
        gap: 0.9rem;
      }
      .whose {
        display: flex;
        flex-wrap: wrap;
        gap: 0.5em 0.8em;
        align-items: center;
      }
      select {
        font: inherit;
        color: inherit;
        background: var(--sb-raised);
        border: 1px solid var(--sb-line-strong);
        border-radius: 7px;
        padding: 0.3em 0.5em;
        max-width: 100%;
        min-width: 0;
      }
      p {
        margin: 0;
        overflow-wrap: anywhere;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  @property({ type: Boolean }) open = false;
  /** The folder whose settings are shown; null for the user's own. */
  @state() private folder: string | null = null;
  /** Whether nothing was set up when the sheet was opened; nothing moves under the pointer when that changes. */
  private first: boolean | null = null;

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("open") && this.open) this.begin();
  }

  protected override updated(changed: PropertyValues): void {
    if (!changed.has("open")) return;
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  private begin(): void {
    const { library } = this.page;
    library.watchSettings();
    library.chores.tested = null;
    this.page.local.forget();
    this.first = null;
    void library.chores.readDays();
  }

  protected override render() {
    if (!this.open) return nothing;
    const { chores } = this.page.library;
    const { settings } = chores;
    this.first ??= settings?.firstRun ?? null;
    return html`<dialog aria-labelledby="settings-title" data-testid="settings" @close=${this.close} @sb-done=${this.shut}>
      <div class="bar">
        <h2 id="settings-title">Settings</h2>
        <form method="dialog">
          <button class="plain icon" aria-label="Close" data-testid="settings-close">${icons.close}</button>
        </form>
      </div>
      <div class="body" tabindex="0" role="region" aria-label="Settings">
        ${
          settings === null
            ? html`<p class="muted" role="status">Loading…</p>`
            : html`${this.first === true ? html`<p class="small muted" data-testid="settings-first">Nothing is set up yet. Every field may stay empty.</p>` : nothing}
                ${this.whose()}
                <sb-settings-form
                  .page=${this.page}
                  .settings=${settings}
                  .folder=${this.folder}
                  .version=${this.version}
                ></sb-settings-form>
                ${
                  this.folder === null
                    ? html`<sb-token .page=${this.page} .version=${this.version}></sb-token>`
                    : nothing
                }`
        }
        <sb-used-days .page=${this.page} .version=${this.version}></sb-used-days>
        <sb-upkeep .page=${this.page} .version=${this.version}></sb-upkeep>
      </div>
    </dialog>`;
  }

  private readonly close = (): void => {
    this.page.openSettings(false);
  };

  /** At once, so that what is below can have the focus. */
  private readonly shut = (): void => {
    this.renderRoot.querySelector("dialog")?.close();
  };

  private whose() {
    const workspaces = [...this.page.model.workspaces.values()];
    const own = this.folder === null;
    return html`<div class="whose">
      <label
        >For
        <select data-testid="settings-scope" @change=${this.pick}>
          <option value="" ?selected=${own}>everything you do</option>
          ${workspaces.map(
            ({ root, trusted }) =>
              html`<option .value=${root} ?selected=${root === this.folder} ?disabled=${!trusted}>
                the folder ${revealed(folderName(root))}${trusted ? "" : " (not trusted)"}
              </option>`,
          )}
        </select>
      </label>
      <p class="small muted">
        ${
          own
            ? "A folder can have settings of its own, once it is trusted."
            : html`What is empty here is as in your own settings. Kept in <code>${revealed(this.folder ?? "")}/.switchboard/config.toml</code>.`
        }
      </p>
    </div>`;
  }

  private readonly pick = async (event: Event): Promise<void> => {
    const choice = event.target as HTMLSelectElement;
    const { value } = choice;
    const form = this.renderRoot.querySelector<SbSettingsForm>("sb-settings-form");
    const sure =
      !form?.touched ||
      (await confirmed({
        title: "Leave what was changed?",
        text: "It has not been saved.",
        yes: "Leave it",
        danger: true,
      }));
    if (sure) this.folder = value === "" ? null : value;
    else choice.value = this.folder ?? "";
  };
}

customElements.define("sb-settings", SbSettings);
