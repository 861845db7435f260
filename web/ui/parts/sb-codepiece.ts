/** Code that the agent tells from words: a block of its own that grows with it. */
import { css, html, LitElement } from "lit";
import { property } from "lit/decorators.js";
import "../markdown/sb-code";
import { markdownStyle } from "../markdown/style";
import { shared } from "../theme/shared";
import type { CodePiece } from "../model/turn";

/** More than this has no colours and is cut; the log has it whole. */
const MAX_CHARS = 256 * 1024;

export class SbCodePiece extends LitElement {
  static override styles = [
    shared,
    markdownStyle,
    css`
      sb-code {
        margin: 0;
      }
    `,
  ];
  @property({ attribute: false }) piece!: CodePiece;
  @property({ attribute: false }) seq = 0;

  protected override render() {
    const { text } = this.piece;
    return html`<div class="md" data-testid="code-piece">
      <sb-code .text=${text.slice(0, MAX_CHARS)} ?plain=${text.length > MAX_CHARS}></sb-code>
      ${text.length > MAX_CHARS ? html`<p class="muted small">The rest is not drawn.</p>` : ""}
    </div>`;
  }
}

customElements.define("sb-codepiece", SbCodePiece);
