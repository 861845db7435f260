/** The stored rules: what each allows or forbids, where, since when and from where; and a way to take one back. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { allHeldIn, ruleWords, scopeWords } from "../model/rules";
import { ago, revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Rule } from "../wire";
import { benchBadges, sheetStyle } from "./bench-style";
import { confirmed } from "./confirm";
import { quoting, shown } from "./shown";

export class SbRules extends LitElement {
  static override styles = [
    shared,
    sheetStyle,
    benchBadges,
    css`
      dialog {
        width: min(46rem, calc(100vw - 1rem));
        height: fit-content;
        max-height: calc(100vh - 1rem);
      }
      .body {
        padding: 0.9rem 1.1rem 1.2rem;
        overflow: auto;
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: 0.8rem;
      }
      p,
      ul {
        margin: 0;
        overflow-wrap: anywhere;
      }
      .rules {
        list-style: none;
        padding: 0;
        display: grid;
        gap: 0.5rem;
      }
      .rules li {
        border: 1px solid var(--sb-line);
        border-radius: 9px;
        background: var(--sb-raised);
        padding: 0.55em 0.55em 0.6em 0.8em;
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 0.2em 0.8em;
        align-items: center;
      }
      .rules code {
        overflow-wrap: anywhere;
      }
      .not {
        color: var(--sb-danger);
      }
      .explain {
        padding-left: 1.15em;
      }
    `,
  ];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  @state() open = false;

  show(): void {
    this.open = true;
    this.page.watchRules();
    void this.updateComplete.then(() => {
      const dialog = this.renderRoot.querySelector("dialog");
      if (dialog && !dialog.open) dialog.showModal();
    });
  }

  protected override render() {
    if (!this.open) return nothing;
    const { rules, containment } = this.page.model;
    const held = containment && allHeldIn(containment);
    return html`<dialog aria-labelledby="rules-title" data-testid="rules" @close=${() => (this.open = false)}>
      <div class="bar">
        <h2 id="rules-title">Rules</h2>
        <form method="dialog">
          <button class="plain icon" aria-label="Close" data-testid="rules-close">${icons.close}</button>
        </form>
      </div>
      <div class="body">
        <ul class="explain small muted">
          <li>A rule answers for you: what it matches is done, or never done, without a question.</li>
          <li>“Always allow this” on a question stores one, as narrow as can be: this very command, in this folder.</li>
          <li>
            No rule allows what is critical, what touches protected files, or a command that cannot be read for sure.
            Those are asked about each time.
          </li>
        </ul>
        ${held ? html`<p class="small ${held.good ? "muted" : "not"}" data-testid="rules-held">${quoting(held.words)}</p>` : nothing}
        ${
          rules === null
            ? html`<p class="muted" role="status">Loading…</p>`
            : rules.length === 0
              ? html`<p data-testid="rules-none">There is no rule yet.</p>`
              : html`<ul class="rules" aria-label="Rules">
                  ${repeat(
                    rules,
                    ({ id }) => id,
                    (rule) => this.item(rule),
                  )}
                </ul>`
        }
      </div>
    </dialog>`;
  }

  private item(rule: Rule) {
    const { does, exact, where } = ruleWords(rule.what);
    return html`<li data-testid="rule" data-rule=${rule.id}>
      <div>
        <p>
          <span class="badge ${rule.effect === "allow" ? "good" : "bad"}">${rule.effect === "allow" ? "allow" : "deny"}</span>
          ${does} <code>${shown(exact)}</code> ${shown(where)}
        </p>
        <p class="muted small">${shown(scopeWords(rule))} · stored ${ago(this.page.now(), rule.created)} · ${quoting(rule.origin.slice(0, 200))}</p>
      </div>
      <button
        class="plain icon"
        aria-label="Remove this rule"
        title="Remove"
        data-testid="rule-remove"
        @click=${() => void this.takeBack(rule)}
      >
        ${icons.trash}
      </button>
    </li>`;
  }

  private async takeBack(rule: Rule): Promise<void> {
    const { does, exact, where } = ruleWords(rule.what);
    const sure = await confirmed({
      title: "Remove this rule?",
      exact: revealed(`${does} ${exact} ${where}`),
      text:
        rule.effect === "allow"
          ? "From now on you are asked again before it is done."
          : "From now on it is no longer forbidden; you are asked as for anything else.",
      yes: "Remove",
      danger: true,
    });
    if (sure) this.page.removeRule(rule.id);
  }
}

customElements.define("sb-rules", SbRules);
