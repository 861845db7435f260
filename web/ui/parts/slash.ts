/** What may be typed after a slash, offered while it is typed. Draws a bounded list; the box keeps the focus. */
import { css, html, nothing, type ReactiveControllerHost } from "lit";
import { type CommandList, slashAt } from "../model/commands";
import type { SlashCommand } from "../wire";
import { shown } from "./shown";

/** Commands that are drawn; the rest is found by typing on. */
const MAX_DRAWN = 50;
const MAX_DESCRIPTION_CHARS = 200;

export const slashStyle = css`
  .slash {
    margin: 0 0 0.4em;
    border: 1px solid var(--sb-line);
    border-radius: 12px;
    background: var(--sb-raised);
    box-shadow: 0 4px 18px rgb(0 0 0 / 16%);
    overflow: hidden;
  }
  .slash ul {
    list-style: none;
    margin: 0;
    padding: 0.3em;
    max-height: min(16em, 38vh);
    overflow-y: auto;
  }
  .slash li {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 0.7em;
    padding: 0.28em 0.6em;
    border-radius: 7px;
    cursor: pointer;
    overflow-wrap: anywhere;
  }
  .slash li[aria-selected="true"] {
    background: var(--sb-accent-soft);
  }
  .slash .name {
    font: 0.92em var(--sb-mono);
  }
  .slash .what {
    color: var(--sb-muted);
    font-size: 0.87em;
    flex: 1 1 10em;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
    overflow: hidden;
  }
  .slash .count {
    padding: 0.15em 0.9em 0.35em;
    font-size: 0.82em;
    color: var(--sb-muted);
    margin: 0;
  }
`;

export class Slash {
  private found: SlashCommand[] = [];
  private count = 0;
  private at = 0;
  private typed: string | null = null;
  private list: CommandList | null = null;
  /** What was typed when the person put the list away. */
  private away: string | null = null;

  constructor(
    private readonly host: ReactiveControllerHost & HTMLElement,
    private readonly picked: (command: SlashCommand) => void,
  ) {}

  get isOpen(): boolean {
    return this.found.length > 0;
  }

  /** Which entry the box's reader should speak of. */
  get active(): string | undefined {
    return this.isOpen ? `slash-${String(this.at)}` : undefined;
  }

  /** The box has changed. */
  look(text: string, caret: number, list: CommandList): void {
    const typed = list.all.length === 0 ? null : slashAt(text, caret);
    if (typed === this.typed && list === this.list) return;
    this.typed = typed;
    this.list = list;
    if (typed === null || typed !== this.away) this.away = null;
    const { found, count } =
      typed === null || this.away !== null ? { found: [], count: 0 } : list.find(typed, MAX_DRAWN);
    // A command that is typed whole needs no offer.
    const whole = found.length === 1 && found[0]?.name === typed && text.length > typed.length + 1;
    this.found = whole ? [] : found;
    this.count = count;
    this.at = 0;
    this.host.requestUpdate();
  }

  /** True if the key was for the list. */
  key(event: KeyboardEvent): boolean {
    if (!this.isOpen || event.altKey || event.ctrlKey || event.metaKey) return false;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) this.at = (this.at + step + this.found.length) % this.found.length;
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) {
      // What was typed whole is sent, not completed.
      if (event.key === "Enter" && this.found[this.at]?.name === this.typed) {
        this.close();
        return false;
      }
      this.pick(this.found[this.at]);
    } else if (event.key === "Escape") {
      this.away = this.typed;
      this.close();
    } else return false;
    event.preventDefault();
    // Escape would stop the turn.
    event.stopPropagation();
    this.host.requestUpdate();
    void this.host.updateComplete.then(() => {
      this.host.shadowRoot?.getElementById(`slash-${String(this.at)}`)?.scrollIntoView({ block: "nearest" });
    });
    return true;
  }

  close(): void {
    this.found = [];
    this.host.requestUpdate();
  }

  render() {
    if (!this.isOpen) return nothing;
    return html`<div class="slash" data-testid="slash" @mousedown=${keepFocus}>
      <ul id="slash" role="listbox" aria-label="Commands" tabindex="0">
        ${this.found.map(
          (command, at) =>
            html`<li
              id="slash-${at}"
              role="option"
              data-testid="slash-command"
              aria-selected=${at === this.at}
              @click=${() => this.pick(command)}
            >
              <span class="name">/${shown(command.name.slice(0, 100))}</span>
              ${command.hint === undefined ? nothing : html`<span class="muted small">${shown(command.hint.slice(0, 100))}</span>`}
              <span class="what">${shown(firstLine(command.description))}</span>
            </li>`,
        )}
      </ul>
      ${this.count > this.found.length ? html`<p class="count">${this.found.length} of ${this.count}; type on to find others</p>` : nothing}
    </div>`;
  }

  private pick(command: SlashCommand | undefined): void {
    this.close();
    if (command) this.picked(command);
  }
}

/** The box is being written in; nothing here takes that away. */
function keepFocus(event: Event): void {
  event.preventDefault();
}

function firstLine(text: string): string {
  const line =
    text
      .slice(0, 4 * MAX_DESCRIPTION_CHARS)
      .trim()
      .split("\n", 1)[0] ?? "";
  return line.length > MAX_DESCRIPTION_CHARS ? `${line.slice(0, MAX_DESCRIPTION_CHARS)}…` : line;
}
