/** What a person has to do before the agent works: the ways to sign in, and the button that tries again. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import type { Page } from "../page";
import type { SignIn } from "../model/agentside";
import { quoted } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { SignInMethod } from "../wire";
import { sentence, shown } from "./shown";

const MAX_METHODS = 20;

export class SbSignIn extends LitElement {
  static override styles = [
    shared,
    css`
      section {
        border: 1px solid var(--sb-line);
        border-left: 4px solid var(--sb-warn);
        border-radius: var(--sb-radius);
        background: var(--sb-raised);
        padding: 0.75em 0.95em 0.85em;
        margin-bottom: 0.5em;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 0.6em;
        max-height: 55vh;
        overflow-y: auto;
      }
      h3 {
        display: flex;
        gap: 0.5em;
        align-items: center;
        margin: 0;
        font-size: 1em;
        font-weight: 620;
      }
      p {
        margin: 0;
        overflow-wrap: anywhere;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 0.6em;
      }
      li {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 0.25em;
        padding-top: 0.5em;
        border-top: 1px solid var(--sb-line);
      }
      .todo {
        display: flex;
        align-items: flex-start;
        gap: 0.4em;
      }
      .todo pre {
        flex: 1;
        min-width: 0;
        margin: 0;
        padding: 0.4em 0.6em;
        background: var(--sb-code);
        border: 1px solid var(--sb-line);
        border-radius: 7px;
        font: 0.85em/1.5 var(--sb-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        unicode-bidi: isolate;
      }
      .row {
        display: flex;
        flex-wrap: wrap;
        gap: 0.5em;
        align-items: center;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) signIn!: SignIn;
  @state() private copied: string | null = null;
  @state() private trying: string | null = null;

  protected override render() {
    const { message, methods } = this.signIn;
    const others = methods.some(({ by }) => by !== "agent") || methods.length === 0;
    return html`<section data-testid="sign-in" aria-label="Sign in">
      <h3>${icons.key} ${this.page.agent} wants you to sign in</h3>
      ${message ? html`<p>${sentence(message.slice(0, 2_000))}</p>` : nothing}
      ${
        methods.length > 0
          ? html`<ul>
              ${methods.slice(0, MAX_METHODS).map((method) => this.method(method))}
            </ul>`
          : nothing
      }
      ${
        others
          ? html`<div class="row">
              <button data-testid="sign-in-retry" @click=${() => this.page.restartAgent()}>
                ${icons.again} I have done it, try again
              </button>
            </div>`
          : nothing
      }
    </section>`;
  }

  private method(method: SignInMethod) {
    const { id, name, description, by, todo } = method;
    const exact = quoted(todo);
    return html`<li data-testid="sign-in-method" data-by=${by}>
      <strong>${shown((name || id).slice(0, 200))}</strong>
      ${description ? html`<span class="muted small">${shown(description.slice(0, 1_000))}</span>` : nothing}
      ${
        by === "agent"
          ? html`${todo ? html`<span class="small">${sentence(todo.slice(0, 1_000))}</span>` : nothing}
              <div class="row">
                <button
                  class="primary"
                  data-testid="sign-in-by-agent"
                  ?disabled=${this.trying !== null}
                  @click=${() => this.try(id)}
                >
                  ${this.trying === id ? "Signing in…" : "Sign in"}
                </button>
              </div>`
          : html`<span class="small">${sentence(todo.slice(0, 4_000))}</span>${exact === null ? nothing : this.exact(id, exact)}`
      }
    </li>`;
  }

  private exact(id: string, words: string) {
    const copied = this.copied === id;
    return html`<div class="todo">
      <pre tabindex="0" role="region" aria-label="What to type">${shown(words.slice(0, 4_000))}</pre>
      <button
        class="icon"
        title="Copy"
        aria-label=${copied ? "Copied" : "Copy"}
        data-testid="sign-in-copy"
        @click=${() => void this.copy(id, words)}
      >
        ${copied ? icons.check : icons.copy}
      </button>
    </div>`;
  }

  private try(method: string): void {
    this.page.signIn(method);
    this.trying = method;
    // If nothing comes of it, the person may try again.
    setTimeout(() => {
      this.trying = null;
    }, 5_000);
  }

  private async copy(id: string, words: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(words);
    } catch {
      return;
    }
    this.copied = id;
    setTimeout(() => {
      this.copied = null;
    }, 1_500);
  }
}

customElements.define("sb-signin", SbSignIn);
