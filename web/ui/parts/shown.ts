/** Foreign text as templates: with its hidden characters made visible, and as sentences for people. */
import { html, type TemplateResult } from "lit";
import { reveal, revealed } from "../model/words";

/** Hidden characters that get an element each; where there are more, their names stand in the text. */
const MAX_MARKS = 200;

export function shown(text: string): TemplateResult[] {
  const parts = reveal(text);
  if (parts.length > 2 * MAX_MARKS) return [html`${revealed(text)}`];
  return parts.map((part) =>
    "plain" in part
      ? html`${part.plain}`
      : html`<span class="unseen" title="hidden character">${part.hidden}</span>`,
  );
}

/** A message of the host: it begins small and quotes names in backticks. */
export function sentence(text: string): TemplateResult[] {
  return quoting(capital(text));
}

/** The same in the middle of a sentence. */
export function quoting(text: string): TemplateResult[] {
  const parts = text.split("`");
  // An odd mark is a mark.
  if (parts.length % 2 === 0) return shown(text);
  return parts.map((part, at) => (at % 2 === 1 ? html`<code>${shown(part)}</code>` : html`${shown(part)}`));
}

function capital(text: string): string {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length);
}
