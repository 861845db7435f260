/** The page's keys, on one card. */
import { css, html, LitElement } from "lit";
import { shared } from "../theme/shared";

const KEYS: [string, string][] = [
  ["Enter", "send the prompt"],
  ["Shift + Enter", "new line"],
  ["↑ in an empty box", "the last prompt again"],
  ["Esc", "stop the turn that runs"],
  ["/ in an empty box", "the agent's own commands"],
  ["Alt + A", "to the question that waits"],
  ["A, S, R there", "allow once, for the session, always"],
  ["D or Esc, X there", "deny, deny and stop"],
  ["Alt + N", "new tab"],
  ["Alt + W", "close the tab"],
  ["Alt + 1 … 9", "show that tab"],
  ["Ctrl + K", "search all conversations: ↑ ↓, Enter, Esc"],
  ["F2 on a conversation", "rename it"],
  ["Alt + B", "show or hide the conversations"],
  ["Alt + T", "the tools"],
  ["Alt + I", "the wire of the conversation"],
  ["/", "go to the prompt box"],
  ["?", "this card"],
];

export class SbKeys extends LitElement {
  static override styles = [
    shared,
    css`
      dialog {
        border: 1px solid var(--sb-line);
        border-radius: 14px;
        padding: 1.1rem 1.25rem;
        background: var(--sb-raised);
        color: var(--sb-text);
        width: min(26rem, calc(100vw - 2rem));
        box-shadow: 0 12px 48px rgb(0 0 0 / 30%);
      }
      dialog::backdrop {
        background: rgb(0 0 0 / 38%);
      }
      h2 {
        margin: 0 0 0.6em;
        font-size: 1.08em;
      }
      dl {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 0.4em 1em;
        margin: 0 0 1em;
      }
      dt,
      dd {
        margin: 0;
      }
      dt {
        font: 0.88em var(--sb-mono);
        padding-top: 0.15em;
      }
      dd {
        color: var(--sb-muted);
      }
      form {
        text-align: right;
      }
    `,
  ];

  get open(): boolean {
    return this.renderRoot.querySelector("dialog")?.open ?? false;
  }

  show(): void {
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  protected override render() {
    return html`<dialog aria-labelledby="title">
      <h2 id="title">Keys</h2>
      <dl>
        ${KEYS.map(
          ([key, what]) =>
            html`<dt>${key}</dt>
              <dd>${what}</dd>`,
        )}
      </dl>
      <form method="dialog"><button class="primary" autofocus>Close</button></form>
    </dialog>`;
  }
}

customElements.define("sb-keys", SbKeys);
