/** Short words on what was refused or could not be done. Read aloud, gone after a while. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";

export class SbToasts extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        position: fixed;
        right: 1rem;
        bottom: 7.5rem;
        z-index: 20;
        display: grid;
        gap: 0.5rem;
        width: min(24rem, calc(100vw - 2rem));
        pointer-events: none;
      }
      .toast {
        pointer-events: auto;
        display: flex;
        align-items: flex-start;
        gap: 0.6em;
        padding: 0.6em 0.5em 0.6em 0.9em;
        border-radius: 10px;
        background: var(--sb-raised);
        border: 1px solid var(--sb-line);
        border-left: 4px solid var(--sb-danger);
        box-shadow: 0 6px 24px rgb(0 0 0 / 18%);
        overflow-wrap: anywhere;
      }
      .toast.note {
        border-left-color: var(--sb-link);
      }
      .words {
        flex: 1;
      }
      button.icon {
        min-height: 1.7em;
        min-width: 1.7em;
        padding: 0.2em;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

  protected override render() {
    return html`<div role="status" aria-live="polite" data-testid="toasts">
      ${repeat(
        this.page.toasts,
        (toast) => toast.id,
        (toast) =>
          html`<div class="toast ${toast.tone}" data-testid="toast">
            <span class="words">${revealed(toast.text)}</span>
            ${toast.action ? html`<button @click=${toast.action.run}>${toast.action.label}</button>` : nothing}
            <button class="plain icon" aria-label="Dismiss" @click=${() => this.page.dismiss(toast.id)}>
              ${icons.close}
            </button>
          </div>`,
      )}
    </div>`;
  }
}

customElements.define("sb-toasts", SbToasts);
