/** Says that a folder is not trusted, or that nothing holds commands in, what follows from that, and how to change it. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { allHeldIn } from "../model/rules";
import { folderName, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { sentence } from "./shown";
import { askTrust } from "./trusting";

export class SbTrust extends LitElement {
  static override styles = [
    shared,
    css`
      .banner {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.4em 0.7em;
        padding: 0.45em 1rem;
        background: var(--sb-warn-soft);
        border-bottom: 1px solid var(--sb-line);
        font-size: 0.92em;
      }
      .banner > svg {
        color: var(--sb-warn);
      }
      .words {
        flex: 1 1 15em;
        overflow-wrap: anywhere;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

  protected override render() {
    return [this.trust(), this.containment()];
  }

  /** Commands that nothing holds in are worth a word, once. */
  private containment() {
    const { page } = this;
    const held = page.model.containment && allHeldIn(page.model.containment);
    if (!held || held.good || page.containmentRead || !page.workspace?.trusted) return nothing;
    return html`<div class="banner" data-testid="containment-banner" role="region" aria-label="Containment">
      ${icons.shield}
      <span class="words">${sentence(held.words.slice(0, 500))}</span>
      <button data-testid="containment-read" @click=${() => page.readContainment()}>Understood</button>
    </div>`;
  }

  private trust() {
    const { workspace } = this.page;
    if (!workspace || workspace.trusted) return nothing;
    return html`<div class="banner" data-testid="trust-banner" role="region" aria-label="Folder trust">
      ${icons.shield}
      <span class="words">
        <strong>${revealed(folderName(workspace.root))}</strong> is not trusted, so only the demo agent runs
        here.
      </span>
      <button data-testid="trust-button" @click=${() => void askTrust(this.page, workspace.root)}>
        Trust this folder…
      </button>
    </div>`;
  }
}

customElements.define("sb-trust", SbTrust);
