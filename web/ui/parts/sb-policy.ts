/** What the conversation's agent may do without a question: how it works, two switches, and what stays asked. */
import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { allHeldIn, MODES, NO_POLICY, stillAsked } from "../model/rules";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Mode, SessionPolicy } from "../wire";
import { quoting } from "./shown";

export class SbPolicy extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: contents;
      }
      .open {
        font-size: 0.84em;
        color: var(--sb-muted);
        padding: 0.15em 0.4em;
        min-height: 1.9em;
      }
      .open.on {
        color: var(--sb-warn);
      }
      .menu {
        position: fixed;
        inset: auto;
        margin: 0;
        padding: 0.8em 0.9em;
        border: 1px solid var(--sb-line);
        border-radius: 10px;
        background: var(--sb-raised);
        color: var(--sb-text);
        box-shadow: 0 6px 24px rgb(0 0 0 / 18%);
        width: min(25rem, calc(100vw - 1rem));
        max-height: 75vh;
        overflow-y: auto;
      }
      h2 {
        font-size: 1em;
        margin: 0 0 0.5em;
      }
      label {
        display: grid;
        grid-template-columns: auto minmax(0, 1fr);
        gap: 0.1em 0.6em;
        padding: 0.3em 0;
        align-items: center;
      }
      label .muted {
        grid-column: 2;
      }
      input[type="checkbox"] {
        accent-color: var(--sb-accent);
        width: 1.1em;
        height: 1.1em;
        margin: 0;
      }
      select {
        font: inherit;
        color: inherit;
        background: var(--sb-raised);
        border: 1px solid var(--sb-line-strong);
        border-radius: 7px;
        padding: 0.2em 0.4em;
      }
      h3 {
        font-size: 0.9em;
        margin: 0.7em 0 0.2em;
      }
      ul {
        margin: 0;
        padding-left: 1.15em;
      }
      p {
        margin: 0.6em 0 0;
        overflow-wrap: anywhere;
      }
      .not {
        color: var(--sb-danger);
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

  protected override render() {
    const { session, model } = this.page;
    if (!session) return nothing;
    const policy = session.policy ?? NO_POLICY;
    const held = model.containment && allHeldIn(model.containment);
    const loose = policy.autoCommands || policy.autoEdits;
    const words = loose ? "asks less" : policy.mode === "agent" ? "" : MODES[policy.mode].name.toLowerCase();
    return html`<button
        type="button"
        class="plain open ${loose ? "on" : ""}"
        data-testid="policy-open"
        aria-haspopup="dialog"
        title="What is asked before it is done"
        aria-label=${words === "" ? "What is asked before it is done" : nothing}
        @click=${this.toggle}
      >
        ${icons.shield} ${words}
      </button>
      <div class="menu" popover role="dialog" aria-label="What is asked" data-testid="policy">
        <h2>What is asked in this conversation</h2>
        <label>
          <span>Mode</span>
          <select
            data-testid="policy-mode"
            .value=${policy.mode}
            @change=${(event: Event) => {
              this.page.setPolicy({ mode: (event.target as HTMLSelectElement).value as Mode });
            }}
          >
            ${(Object.keys(MODES) as Mode[]).map((mode) => html`<option .value=${mode} ?selected=${mode === policy.mode}>${MODES[mode].name}</option>`)}
          </select>
          <span class="muted small">${MODES[policy.mode].about}</span>
        </label>
        ${this.toggleOf(policy, "autoCommands", "Run harmless commands without asking", "Only what can be read for sure and is of low or medium risk.")}
        ${this.toggleOf(policy, "autoEdits", "Change sensitive files without asking", "Such as keys, .env and settings in this folder.")}
        <h3>Still asked</h3>
        <ul class="small" data-testid="policy-asked">
          ${stillAsked(policy).map((line) => html`<li>${line}</li>`)}
        </ul>
        ${held ? html`<p class="small ${held.good ? "muted" : "not"}" data-testid="policy-held">${quoting(held.words)}</p>` : nothing}
      </div>`;
  }

  private toggleOf(policy: SessionPolicy, name: "autoCommands" | "autoEdits", words: string, about: string) {
    return html`<label>
      <input
        type="checkbox"
        role="switch"
        data-testid="policy-${name}"
        .checked=${policy[name]}
        @change=${(event: Event) => {
          const box = event.target as HTMLInputElement;
          this.page.setPolicy({ [name]: box.checked });
        }}
      />
      <span>${words}</span>
      <span class="muted small">${about}</span>
    </label>`;
  }

  /** A box that was touched shows what holds, not what was wished. */
  protected override updated(): void {
    const policy = this.page.session?.policy ?? NO_POLICY;
    for (const name of ["autoCommands", "autoEdits"] as const) {
      const box = this.renderRoot.querySelector<HTMLInputElement>(`[data-testid=policy-${name}]`);
      if (box) box.checked = policy[name];
    }
    const mode = this.renderRoot.querySelector<HTMLSelectElement>("[data-testid=policy-mode]");
    if (mode) mode.value = policy.mode;
  }

  private readonly toggle = (event: Event): void => {
    const menu = this.renderRoot.querySelector<HTMLElement>(".menu");
    if (!menu) return;
    const at = (event.currentTarget as HTMLElement).getBoundingClientRect();
    menu.style.bottom = `${String(innerHeight - at.top + 4)}px`;
    menu.style.left = `${String(Math.max(8, Math.min(at.left, innerWidth - 412)))}px`;
    menu.togglePopover();
    if (menu.matches(":popover-open")) menu.querySelector("select")?.focus();
  };
}

customElements.define("sb-policy", SbPolicy);
