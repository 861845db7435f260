/** A prompt that the host has not confirmed: on its way, or held with the reason and what can be done. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import type { Unsent } from "../model/outbox";
import type { Page } from "../page";
import { shared } from "../theme/shared";
import { picture, pictureStyle } from "./picture";
import { shown } from "./shown";
import { turnStyle } from "./turn-style";

export class SbUnsent extends LitElement {
  static override styles = [
    shared,
    turnStyle,
    pictureStyle,
    css`
      .prompt {
        margin-bottom: 0.3em;
        opacity: 0.85;
      }
      .below {
        display: flex;
        flex-wrap: wrap;
        justify-content: flex-end;
        align-items: center;
        gap: 0.5em;
        margin-bottom: 1rem;
      }
      .why {
        flex: 0 1 auto;
        color: var(--sb-danger);
        overflow-wrap: anywhere;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) entry!: Unsent;
  @property({ type: Boolean }) online = false;
  @property({ attribute: false }) held: string | null = null;

  protected override render() {
    const { entry, held } = this;
    return html`<div data-testid="unsent" data-held=${held === null ? nothing : "held"}>
      <div class="prompt"><pre class="words">${shown(entry.text.slice(0, 4_000))}</pre>
        ${
          entry.images.length > 0
            ? html`<div class="pictures">${entry.images.map((image) => picture(image, "Picture that goes with the prompt"))}</div>`
            : nothing
        }
      </div>
      <div class="below small">
        ${
          held === null
            ? html`<span class="muted">${this.online ? "Sending…" : "Waits for the host"}</span>`
            : html`<span class="why">Not sent. ${shown(held)}</span>
                <button @click=${() => this.page.sendHeld(entry.name)}>Send</button>
                <button @click=${this.edit}>Edit</button>
                <button class="plain" @click=${() => this.page.discard(entry.name)}>Discard</button>`
        }
      </div>
    </div>`;
  }

  private readonly edit = (): void => {
    this.dispatchEvent(
      new CustomEvent("sb-fill", { bubbles: true, composed: true, detail: this.entry.text }),
    );
    const { tab, images, name } = this.entry;
    if (images.length > 0) this.page.pictures.set(tab, [...(this.page.pictures.get(tab) ?? []), ...images]);
    this.page.discard(name);
  };
}

customElements.define("sb-unsent", SbUnsent);
