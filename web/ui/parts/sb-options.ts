/** What can be set of the agent (mode, model, how much it thinks, …), as small pickers that show what holds now. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { AgentOption, OptionChoice } from "../wire";

/** Options that stand in the bar; the rest are behind a button. */
const IN_BAR = 3;
const MAX_OPTIONS = 40;
const MAX_CHOICES = 1_000;
/** How long a choice is shown before the agent has confirmed it. */
const PENDING_MS = 8_000;

export class SbOptions extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: contents;
      }
      .pick {
        display: inline-flex;
        align-items: center;
        gap: 0.3em;
        font-size: 0.84em;
        color: var(--sb-muted);
        padding: 0.1em 0.35em;
        border-radius: 7px;
        min-width: 0;
        max-width: 13em;
      }
      .pick:hover:not(.off) {
        background: var(--sb-soft);
      }
      .pending {
        font-style: italic;
      }
      select {
        font: inherit;
        color: inherit;
        background: transparent;
        border: 0;
        min-width: 0;
        max-width: 100%;
        text-overflow: ellipsis;
        cursor: pointer;
        padding: 0.15em 0;
      }
      select:disabled {
        cursor: default;
        opacity: 1;
      }
      option,
      optgroup {
        color: var(--sb-text);
        background: var(--sb-raised);
      }
      .more {
        font-size: 0.84em;
        color: var(--sb-muted);
        padding: 0.15em 0.4em;
        min-height: 1.9em;
      }
      .menu {
        position: fixed;
        inset: auto;
        margin: 0;
        padding: 0.7em 0.8em;
        border: 1px solid var(--sb-line);
        border-radius: 10px;
        background: var(--sb-raised);
        color: inherit;
        box-shadow: 0 6px 24px rgb(0 0 0 / 18%);
        width: min(22rem, calc(100vw - 1rem));
        max-height: 60vh;
        overflow-y: auto;
      }
      .menu .pick {
        display: flex;
        justify-content: space-between;
        max-width: none;
        padding-block: 0.3em;
      }
      .menu .pick > span {
        color: var(--sb-text);
      }
      .menu select {
        max-width: 60%;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) options: AgentOption[] = [];
  /** Why nothing can be chosen now; null if it can. */
  @property({ attribute: false }) off: string | null = null;
  @state() private pending = new Map<string, string>();

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("options") && this.pending.size > 0) this.pending = new Map();
  }

  protected override render() {
    const options = this.options.slice(0, MAX_OPTIONS).filter(({ choices }) => choices.length > 0);
    const bar = options.slice(0, IN_BAR);
    const rest = options.slice(IN_BAR);
    return html`${bar.map((option) => this.pick(option, false))}
    ${
      rest.length > 0
        ? html`<button
              type="button"
              class="plain more"
              data-testid="more-options"
              aria-haspopup="dialog"
              title="More options of the agent"
              @click=${this.openMenu}
            >
              ${icons.sliders} ${rest.length} more
            </button>
            <div class="menu" popover role="dialog" aria-label="More options of the agent">
              ${rest.map((option) => this.pick(option, true))}
            </div>`
        : nothing
    }`;
  }

  /** A box that was touched keeps what was chosen in it, whatever its options say: it is told what holds. */
  protected override updated(): void {
    for (const box of this.renderRoot.querySelectorAll("select")) {
      const id = box.dataset["option"] ?? "";
      const option = this.options.find((each) => each.id === id);
      if (option) box.value = this.pending.get(id) ?? option.value;
    }
  }

  private pick(option: AgentOption, named: boolean) {
    const name = revealed(option.name.slice(0, 80));
    const now = option.choices.find(({ value }) => value === option.value);
    const about = [name, option.description, now?.description].filter(Boolean).join("\n").slice(0, 600);
    return html`<label
      class="pick ${this.off === null ? "" : "off"} ${this.pending.has(option.id) ? "pending" : ""}"
      title=${this.off ?? revealed(about)}
    >
      ${named ? html`<span>${name}</span>` : nothing}
      <select
        data-testid="agent-option"
        data-option=${option.id}
        aria-label=${name}
        ?disabled=${this.off !== null}
        @change=${(event: Event) => this.choose(option, (event.target as HTMLSelectElement).value)}
      >
        ${now ? nothing : html`<option .value=${option.value}>${revealed(option.value.slice(0, 80))}</option>`}
        ${groups(option.choices.slice(0, MAX_CHOICES)).map(([group, choices]) =>
          group === ""
            ? choices.map((choice) => this.choice(option, choice))
            : html`<optgroup label=${revealed(group.slice(0, 80))}>${choices.map((choice) => this.choice(option, choice))}</optgroup>`,
        )}
      </select>
    </label>`;
  }

  private choice(option: AgentOption, { value, name, description }: OptionChoice) {
    const isSwitch =
      option.choices.length === 2 && option.choices.every((each) => /^(?:true|false)$/.test(each.value));
    const label = isSwitch
      ? `${option.name.slice(0, 40)}: ${value === "true" ? "on" : "off"}`
      : name || value;
    return html`<option .value=${value} title=${description === undefined ? nothing : revealed(description.slice(0, 300))}>
      ${revealed(label.slice(0, 80))}
    </option>`;
  }

  private choose(option: AgentOption, value: string): void {
    this.page.setOption(option.id, value);
    this.pending = new Map(this.pending).set(option.id, value);
    // If nobody confirms it, what holds is shown again.
    setTimeout(() => {
      if (this.pending.get(option.id) !== value) return;
      this.pending = new Map([...this.pending].filter(([id]) => id !== option.id));
    }, PENDING_MS);
  }

  private readonly openMenu = (event: Event): void => {
    const menu = this.renderRoot.querySelector<HTMLElement>(".menu");
    if (!menu) return;
    const at = (event.currentTarget as HTMLElement).getBoundingClientRect();
    menu.style.bottom = `${String(innerHeight - at.top + 4)}px`;
    menu.style.left = `${String(Math.max(8, Math.min(at.left, innerWidth - 360)))}px`;
    menu.togglePopover();
    menu.querySelector("select")?.focus();
  };
}

/** Choices by their group, in the order in which groups first appear. */
function groups(choices: OptionChoice[]): [string, OptionChoice[]][] {
  const found = new Map<string, OptionChoice[]>();
  for (const choice of choices) {
    const group = choice.group ?? "";
    found.set(group, [...(found.get(group) ?? []), choice]);
  }
  return [...found];
}

customElements.define("sb-options", SbOptions);
