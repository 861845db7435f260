/** The token for the model server: it can be set and forgotten, and is never shown. */
import { html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import type { Page } from "../page";
import { shared } from "../theme/shared";
import { confirmed } from "./confirm";
import { settingsStyle } from "./settings-style";
import { quoting, sentence } from "./shown";

export class SbToken extends LitElement {
  static override styles = [shared, settingsStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  @state() private empty = true;

  protected override render() {
    const { settings, tokenBusy, tokenProblem } = this.page.library.chores;
    if (!settings) return nothing;
    const { hasToken, tokensIn, user } = settings;
    return html`<section aria-labelledby="token-title">
      <h3 id="token-title">Token for the model server</h3>
      <p class="small" data-testid="token-state">
        ${hasToken ? "There is a token." : "There is no token."}
        <span class="muted">It is kept in ${quoting(tokensIn)}, goes to the address above only, and never comes back to a page.</span>
      </p>
      <form class="line" autocomplete="off" @submit=${this.save}>
        <input
          type="password"
          aria-label="New token"
          placeholder=${hasToken ? "A new token" : "Token"}
          autocomplete="new-password"
          maxlength="8192"
          data-testid="token"
          @input=${(event: Event) => (this.empty = (event.target as HTMLInputElement).value === "")}
        />
        <button data-testid="token-save" ?disabled=${this.empty || tokenBusy || user.baseUrl === undefined}>Keep</button>
        <button
          type="button"
          class="danger"
          data-testid="token-forget"
          ?disabled=${!hasToken || tokenBusy}
          @click=${this.forget}
        >
          Forget…
        </button>
      </form>
      ${user.baseUrl === undefined ? html`<p class="small muted">Save the address first: a token belongs to one.</p>` : nothing}
      ${tokenProblem === "" ? nothing : html`<p class="small wrong" role="alert" data-testid="token-problem">${sentence(tokenProblem)}</p>`}
    </section>`;
  }

  private readonly save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const box = this.renderRoot.querySelector<HTMLInputElement>("input");
    const token = box?.value ?? "";
    if (token === "" || !(await this.page.library.chores.saveToken(token, ""))) return;
    // Nothing of it stays in the document.
    if (box) box.value = "";
    this.empty = true;
  };

  private readonly forget = async (): Promise<void> => {
    const sure = await confirmed({
      title: "Forget the token?",
      text: "The model server is then asked without one.",
      yes: "Forget",
      danger: true,
    });
    if (sure) await this.page.library.chores.saveToken("", "");
  };
}

customElements.define("sb-token", SbToken);
