/** Upkeep of the history: space that is given back, and an index that is made anew. */
import { html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import type { Page } from "../page";
import { shared } from "../theme/shared";
import { confirmed } from "./confirm";
import { settingsStyle } from "./settings-style";
import { sentence, shown } from "./shown";

export class SbUpkeep extends LitElement {
  static override styles = [shared, settingsStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";

  protected override render() {
    const { keeping, kept, rebuilding, rebuilt, upkeepProblem } = this.page.library.chores;
    const busy = keeping || rebuilding !== null;
    return html`<section aria-labelledby="upkeep-title">
      <h3 id="upkeep-title">History</h3>
      <p class="small muted">
        Cleaning up takes out what deleted conversations have left and gives its space back to the disk. Rebuilding makes
        messages, search and usage anew from the logs, after a copy of what is there; the conversations themselves are
        not touched.
      </p>
      <div class="line">
        <button data-testid="upkeep" ?disabled=${busy} @click=${() => void this.page.library.chores.upkeep()}>
          ${keeping ? "Cleaning up…" : "Clean up"}
        </button>
        <button data-testid="rebuild" ?disabled=${busy} @click=${this.rebuild}>
          ${rebuilding ? "Rebuilding…" : "Rebuild the index…"}
        </button>
      </div>
      ${
        rebuilding
          ? html`<div role="status" data-testid="rebuilding">
              <progress
                aria-label="Rebuilt"
                .max=${Math.max(1, rebuilding.total)}
                .value=${rebuilding.done}
              ></progress>
              <p class="small muted">
                ${rebuilding.total === 0 ? "Begins…" : `${rebuilding.done.toLocaleString()} of ${rebuilding.total.toLocaleString()}`}
              </p>
            </div>`
          : nothing
      }
      <div role="status">
        ${
          kept
            ? html`<p class="small" data-testid="kept">
                ${counted(kept.messages, "message")} of ${counted(kept.sessions, "deleted conversation")} taken out.
                ${bytes(kept.bytesBefore)} before, ${bytes(kept.bytesAfter)} now.
              </p>`
            : nothing
        }
        ${
          rebuilt
            ? html`<p class="small" data-testid="rebuilt">
                ${counted(rebuilt.messages, "message")} of ${counted(rebuilt.sessions, "conversation")} made anew. What was
                there before is in <code>${shown(rebuilt.backup)}</code>.
              </p>`
            : nothing
        }
      </div>
      ${upkeepProblem === "" ? nothing : html`<p class="small wrong" role="alert" data-testid="upkeep-problem">${sentence(upkeepProblem)}</p>`}
    </section>`;
  }

  private readonly rebuild = async (): Promise<void> => {
    const sure = await confirmed({
      title: "Rebuild the index?",
      text: "It is made anew from the logs. That may take minutes; search works meanwhile on what is done.",
      yes: "Rebuild",
    });
    if (sure) await this.page.library.chores.rebuild();
  };
}

function counted(number: number, what: string): string {
  return `${number.toLocaleString()} ${what}${number === 1 ? "" : "s"}`;
}

function bytes(number: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let value = number;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toLocaleString(undefined, { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${units[unit] ?? ""}`;
}

customElements.define("sb-upkeep", SbUpkeep);
