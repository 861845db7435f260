/** Markdown to HTML that is already tame: no raw HTML, no pictures from elsewhere, only addresses that are safe to show. */
import MarkdownIt from "markdown-it";
import { revealed } from "../model/words";
import { MAX_IMAGE_CHARS } from "./trusted";

export const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false });

// Bare names such as README.md or main.rs look like hosts; only what carries its scheme becomes a link.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

const ABSOLUTE = /^(?:https?:|mailto:)/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const DATA_IMAGE = /^data:image\/(?:png|gif|jpeg|webp);base64,/i;

// Everything may be parsed as a link; the rules below decide what becomes of it.
markdown.validateLink = () => true;

const { escapeHtml } = markdown.utils;
const rules = markdown.renderer.rules;

rules["link_open"] = (tokens, at) => {
  const token = tokens[at];
  const href = String(token?.attrGet("href") ?? "");
  if (ABSOLUTE.test(href)) return `<a href="${escapeHtml(href)}" title="${escapeHtml(revealed(href))}">`;
  // A file of the workspace, or something that must not be opened: its text stays, and where it points can be read.
  return `<span class="path" title="${escapeHtml(revealed(decoded(href)))}">`;
};

rules["link_close"] = (tokens, at) => {
  let depth = 0;
  for (let back = at; back >= 0; back -= 1) {
    const token = tokens[back];
    if (token?.type === "link_close") depth += 1;
    if (token?.type !== "link_open") continue;
    depth -= 1;
    if (depth === 0) return ABSOLUTE.test(String(token.attrGet("href") ?? "")) ? "</a>" : "</span>";
  }
  return "</span>";
};

rules["image"] = (tokens, at) => {
  const token = tokens[at];
  const source = String(token?.attrGet("src") ?? "");
  const words = token?.content ?? "";
  if (DATA_IMAGE.test(source) && source.length <= MAX_IMAGE_CHARS) {
    return `<img src="${escapeHtml(source)}" alt="${escapeHtml(words)}">`;
  }
  // Fetching it would tell its host that this was read; the address is shown instead.
  const address = SCHEME.test(source) && !ABSOLUTE.test(source) ? source.slice(0, 80) : source;
  const label = `${words || "picture"} — ${revealed(decoded(address))}`;
  return ABSOLUTE.test(source)
    ? `<a href="${escapeHtml(source)}" class="image" title="${escapeHtml(revealed(source))}">${escapeHtml(label)}</a>`
    : `<span class="image">${escapeHtml(label)}</span>`;
};

rules["fence"] = (tokens, at) => {
  const token = tokens[at];
  const info = (token?.info ?? "").trim().split(/\s+/)[0] ?? "";
  return `<pre data-info="${escapeHtml(info)}"><code>${escapeHtml(token?.content ?? "")}</code></pre>`;
};
rules["code_block"] = (tokens, at) => `<pre><code>${escapeHtml(tokens[at]?.content ?? "")}</code></pre>`;

// A turn is a section of the page; its headings stand below it, all on one level, and look as they were meant.
rules["heading_open"] = (tokens, at) => `<h3 class="${tokens[at]?.tag ?? "h3"}">`;
rules["heading_close"] = () => "</h3>\n";

// Alignment is a class: the page allows no style attributes.
for (const cell of ["th", "td"]) {
  rules[`${cell}_open`] = (tokens, at) => {
    const align = /text-align:(left|center|right)/.exec(String(tokens[at]?.attrGet("style") ?? ""))?.[1];
    return align ? `<${cell} class="align-${align}">` : `<${cell}>`;
  };
}

function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

export function toHtml(source: string): string {
  return markdown.render(source);
}
