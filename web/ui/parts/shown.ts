/** Text with its hidden characters made visible, as a template. */
import { html, type TemplateResult } from "lit";
import { reveal } from "../model/words";

export function shown(text: string): TemplateResult[] {
  return reveal(text).map((part) =>
    "plain" in part
      ? html`${part.plain}`
      : html`<span class="unseen" title="hidden character">${part.hidden}</span>`,
  );
}
