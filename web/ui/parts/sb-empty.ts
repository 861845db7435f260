/** What a new tab shows: what this is, and a few things to try. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { isDemoOnly } from "../model/localmodel";
import { folderName, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import { localStyle } from "./local-style";
import "./sb-local-model";
import { askTrust } from "./trusting";

const DEMO: [string, string][] = [
  ["demo: help", "See what the demo agent can do"],
  ["demo: slow 30", "Words that take their time: reload meanwhile, nothing is lost"],
  ["demo: approve", "Be asked before something runs"],
];
const REAL: [string, string][] = [
  ["Explain what this project does and how it is built.", "Get an overview"],
  ["Find the tests that cover the last change.", "Look around"],
];

export class SbEmpty extends LitElement {
  static override styles = [
    shared,
    localStyle,
    css`
      :host {
        display: grid;
        place-items: center;
        overflow-y: auto;
        padding: 1.5rem 1rem;
      }
      .inner {
        max-width: 34rem;
        width: 100%;
      }
      h2 {
        font-size: 1.45em;
        font-weight: 640;
        margin: 0 0 0.3em;
        letter-spacing: -0.01em;
      }
      h3 {
        font-size: 0.9em;
        font-weight: 600;
        margin: 1.4em 0 0.5em;
      }
      p {
        margin: 0 0 1.3em;
        color: var(--sb-muted);
      }
      .tries {
        display: grid;
        gap: 0.5em;
      }
      .tries button {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        justify-content: stretch;
        gap: 0.05em;
        padding: 0.6em 0.9em;
        text-align: left;
        white-space: normal;
        border-radius: 10px;
      }
      code {
        font: 0.92em var(--sb-mono);
      }
      .answers {
        display: flex;
        flex-wrap: wrap;
        gap: 0.5em;
      }
      .keys {
        margin: 1.4em 0 0;
        font-size: 0.85em;
      }
      kbd {
        font: 0.9em var(--sb-mono);
        border: 1px solid var(--sb-line);
        border-radius: 4px;
        padding: 0.05em 0.4em;
        background: var(--sb-panel);
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

  /** The folder had to be trusted when this was drawn last. */
  private led = false;

  protected override render() {
    const { agent } = this.page;
    const demo = agent === "demo";
    if (this.mustTrust) return this.lead();
    return html`<div class="inner" data-testid="empty">
      <h2>${demo ? "Say something to the demo agent" : `What should ${agent} do?`}</h2>
      <p>
        ${
          demo
            ? "It needs no account, and changes nothing on your machine. Your own agents appear here once they are configured."
            : "What is said is on disk before it is shown: reload, sleep or close the window, and go on where you were."
        }
      </p>
      <div class="tries">
        ${(demo ? DEMO : REAL).map(
          ([prompt, why]) =>
            html`<button data-testid="example" @click=${() => this.pick(prompt, demo)}>
              ${demo ? html`<code>${prompt}</code>` : prompt}<span class="muted small">${why}</span>
            </button>`,
        )}
      </div>
      ${demo && this.leadsToModel ? html`<sb-local-model .page=${this.page} .version=${this.version}></sb-local-model>` : nothing}
      ${this.offers()}
      ${
        matchMedia("(pointer: coarse)").matches
          ? nothing
          : html`<p class="keys">
              <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> starts a new line, <kbd>?</kbd> shows
              all keys.
            </p>`
      }
    </div>`;
  }

  protected override updated(): void {
    // Whoever was led to trust can write now.
    if (this.led && !this.mustTrust) this.page.wantWords();
    this.led = this.mustTrust;
  }

  /** True if there is a step before anybody can write, and the keys are on it now. */
  focusLead(): boolean {
    const lead = this.renderRoot.querySelector<HTMLElement>("[data-testid=lead-trust]");
    lead?.focus();
    return lead !== null;
  }

  /** Whether the agent would be refused here. */
  private get mustTrust(): boolean {
    const { agent, workspace } = this.page;
    return agent !== "demo" && workspace !== undefined && !workspace.trusted;
  }

  /** Who has an agent needs no lead to one; who is on the way is not stopped. */
  private get leadsToModel(): boolean {
    const { local, model } = this.page;
    return model.met && (local.step.at === "using" || isDemoOnly(model.workspaces.values()));
  }

  private lead() {
    const { page } = this;
    const root = page.workspace?.root ?? "";
    return html`<div class="inner" data-testid="empty">
      <h2>One more step: trust this folder</h2>
      <p>
        <strong>${revealed(page.agent)}</strong> reads files in <strong>${revealed(folderName(root))}</strong>, changes them and
        runs commands there, and asks you about what is risky. So it works only in a folder that you trust.
      </p>
      <div class="answers">
        <button class="primary" data-testid="lead-trust" @click=${() => void askTrust(page, root)}>
          ${icons.shield} Trust this folder…
        </button>
        <button class="plain" data-testid="lead-demo" @click=${() => page.workWith("demo")}>
          Use the demo agent
        </button>
      </div>
    </div>`;
  }

  /** Agents that are installed and not configured. */
  private offers() {
    const { offers } = this.page;
    if (offers.length === 0) return nothing;
    return html`<h3>Found on this machine</h3>
      <div class="tries">
        ${offers.map(
          (offer) =>
            html`<button data-testid="empty-offer" data-agent=${offer.name} @click=${() => this.page.addAgent(offer)}>
              <span>Add ${revealed(offer.title || offer.name)}</span
              ><code class="muted clip">${revealed(offer.command.slice(0, 200))}</code>
            </button>`,
        )}
      </div>`;
  }

  /** The demo's prompts do nothing, so they go at once; others can be changed first. */
  private pick(prompt: string, send: boolean): void {
    if (send) this.page.prompt(prompt);
    else this.dispatchEvent(new CustomEvent("sb-fill", { bubbles: true, composed: true, detail: prompt }));
  }
}

customElements.define("sb-empty", SbEmpty);
