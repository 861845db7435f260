/** Asks a person a question and waits for the answer. One question at a time, in a modal dialog. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { shared } from "../theme/shared";

export type Question = {
  title: string;
  text: string | TemplateResult;
  yes: string;
  danger?: boolean;
  /** Something that must be read exactly, such as an address. */
  exact?: string;
};

export class SbConfirm extends LitElement {
  static override styles = [
    shared,
    css`
      dialog {
        border: 1px solid var(--sb-line);
        border-radius: 14px;
        padding: 1.1rem 1.25rem 1.15rem;
        background: var(--sb-raised);
        color: var(--sb-text);
        width: min(30rem, calc(100vw - 2rem));
        box-shadow: 0 12px 48px rgb(0 0 0 / 30%);
      }
      dialog::backdrop {
        background: rgb(0 0 0 / 38%);
      }
      h2 {
        margin: 0 0 0.4em;
        font-size: 1.08em;
        font-weight: 640;
      }
      p {
        margin: 0 0 0.8em;
        overflow-wrap: anywhere;
      }
      .exact {
        display: block;
        font: 0.9em/1.5 var(--sb-mono);
        background: var(--sb-code);
        border: 1px solid var(--sb-line);
        border-radius: 7px;
        padding: 0.5em 0.7em;
        margin-bottom: 0.9em;
        overflow-wrap: anywhere;
        max-height: 12em;
        overflow-y: auto;
      }
      .answers {
        display: flex;
        justify-content: flex-end;
        gap: 0.5em;
        flex-wrap: wrap;
      }
      button.danger.primary {
        background: var(--sb-danger);
        color: var(--sb-canvas);
      }
    `,
  ];
  @property({ attribute: false }) question: Question | null = null;
  answer: (yes: boolean) => void = () => undefined;

  protected override render() {
    const { question } = this;
    if (!question) return nothing;
    return html`<dialog data-testid="confirm" aria-labelledby="title" @close=${() => this.done(false)}>
      <h2 id="title">${question.title}</h2>
      ${question.exact === undefined ? nothing : html`<bdi class="exact" dir="ltr">${question.exact}</bdi>`}
      <p>${question.text}</p>
      <div class="answers">
        <button data-testid="confirm-no" @click=${() => this.done(false)}>Cancel</button>
        <button
          data-testid="confirm-yes"
          class="primary ${question.danger ? "danger" : ""}"
          autofocus
          @click=${() => this.done(true)}
        >
          ${question.yes}
        </button>
      </div>
    </dialog>`;
  }

  protected override updated(): void {
    this.renderRoot.querySelector("dialog")?.showModal();
  }

  private done(yes: boolean): void {
    this.answer(yes);
    this.remove();
  }
}

customElements.define("sb-confirm", SbConfirm);

/** True if the person says yes; closing the dialog is a no. */
export function confirmed(question: Question): Promise<boolean> {
  document.querySelector("sb-confirm")?.remove();
  const element = new SbConfirm();
  element.question = question;
  const back = deepActive();
  return new Promise((answer) => {
    element.answer = (yes) => {
      answer(yes);
      back?.focus();
    };
    document.body.append(element);
  });
}

/** The element that has the focus, wherever it stands. */
function deepActive(): HTMLElement | null {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active instanceof HTMLElement ? active : null;
}
