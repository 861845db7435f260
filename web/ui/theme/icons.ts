/** Small drawings, 16 by 16, in the colour of the text around them. */
import { svg, type SVGTemplateResult, html, type TemplateResult } from "lit";

function icon(shape: SVGTemplateResult): TemplateResult {
  return html`<svg viewBox="0 0 16 16" aria-hidden="true">${shape}</svg>`;
}

export const icons = {
  plus: icon(svg`<path d="M8 3v10M3 8h10" />`),
  close: icon(svg`<path d="M4.5 4.5l7 7M11.5 4.5l-7 7" />`),
  menu: icon(svg`<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />`),
  down: icon(svg`<path d="M4 6.5l4 4 4-4" />`),
  right: icon(svg`<path d="M6.5 4l4 4-4 4" />`),
  arrowUp: icon(svg`<path d="M8 13V3.5M3.8 7.4L8 3.2l4.2 4.2" />`),
  arrowDown: icon(svg`<path d="M8 3v9.5M3.8 8.6L8 12.8l4.2-4.2" />`),
  stop: icon(svg`<rect x="4" y="4" width="8" height="8" rx="1.5" fill="currentColor" stroke="none" />`),
  check: icon(svg`<path d="M3.5 8.5l3 3 6-7" />`),
  circle: icon(svg`<circle cx="8" cy="8" r="5" />`),
  half: icon(
    svg`<circle cx="8" cy="8" r="5" /><path d="M8 3a5 5 0 0 1 0 10z" fill="currentColor" stroke="none" />`,
  ),
  cross: icon(svg`<circle cx="8" cy="8" r="5.5" /><path d="M6 6l4 4M10 6l-4 4" />`),
  done: icon(svg`<circle cx="8" cy="8" r="5.5" /><path d="M5.7 8.2l1.7 1.7 3-3.5" />`),
  wait: icon(svg`<circle cx="8" cy="8" r="5.5" /><path d="M8 5v3.2l2 1.3" />`),
  spark: icon(
    svg`<path d="M8 2.5c.5 3.2 2.3 5 5.5 5.5-3.2.5-5 2.3-5.5 5.5C7.5 10.3 5.7 8.5 2.5 8 5.7 7.5 7.5 5.7 8 2.5z" />`,
  ),
  terminal: icon(
    svg`<rect x="2" y="3" width="12" height="10" rx="1.5" /><path d="M4.5 6l2 2-2 2M8.5 10h3" />`,
  ),
  pencil: icon(svg`<path d="M3 13l.7-2.7 7.3-7.3 2 2-7.3 7.3z" />`),
  wrench: icon(
    svg`<path d="M10.5 2.7a3.3 3.3 0 0 0-3 4.6L3 11.8 4.2 13l4.5-4.5a3.3 3.3 0 0 0 4.6-3l-2 .9-1.7-1.7z" />`,
  ),
  read: icon(svg`<path d="M4 2.5h5.5L12 5v8.5H4zM9.3 2.7V5.3H12" />`),
  search: icon(svg`<circle cx="7" cy="7" r="4" /><path d="M10 10l3.5 3.5" />`),
  globe: icon(
    svg`<circle cx="8" cy="8" r="5.5" /><path d="M2.5 8h11M8 2.5c2.3 3.3 2.3 7.7 0 11M8 2.5c-2.3 3.3-2.3 7.7 0 11" />`,
  ),
  trash: icon(svg`<path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5" />`),
  copy: icon(
    svg`<rect x="5.5" y="5.5" width="7.5" height="7.5" rx="1.2" /><path d="M10.5 3H4.2A1.2 1.2 0 0 0 3 4.2v6.3" />`,
  ),
  again: icon(svg`<path d="M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.7h-2.7" />`),
  sun: icon(
    svg`<circle cx="8" cy="8" r="2.7" /><path d="M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1" />`,
  ),
  moon: icon(svg`<path d="M12.8 9.8A5.5 5.5 0 0 1 6.2 3.2a5.5 5.5 0 1 0 6.6 6.6z" />`),
  screen: icon(svg`<rect x="2" y="3" width="12" height="8" rx="1.2" /><path d="M6 13.5h4" />`),
  shield: icon(svg`<path d="M8 2l5 1.8v3.7c0 3-2 5.3-5 6.5-3-1.2-5-3.5-5-6.5V3.8z" />`),
  folder: icon(
    svg`<path d="M2 4.5A1.2 1.2 0 0 1 3.2 3.3H6l1.5 1.7h5.3A1.2 1.2 0 0 1 14 6.2v5.3a1.2 1.2 0 0 1-1.2 1.2H3.2A1.2 1.2 0 0 1 2 11.5z" />`,
  ),
  bolt: icon(svg`<path d="M9 2L4 9h3.5L7 14l5-7H8.5z" />`),
  help: icon(
    svg`<circle cx="8" cy="8" r="5.5" /><path d="M6.4 6.5a1.7 1.7 0 1 1 2.3 1.7c-.5.2-.7.5-.7 1.1M8 11.2v.1" />`,
  ),
  picture: icon(
    svg`<rect x="2" y="3" width="12" height="10" rx="1.5" /><circle cx="5.5" cy="6.3" r="1.1" /><path d="M2.5 11.5l3.5-3 2.5 2 2.5-3 2.8 3.2" />`,
  ),
  move: icon(svg`<path d="M3 8h9M9 4.8L12.2 8 9 11.2M3 4v8" />`),
  log: icon(svg`<path d="M3 4h10M3 7h7M3 10h10M3 13h5" />`),
  link: icon(
    svg`<path d="M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.3 6.7a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.8-.8" />`,
  ),
  key: icon(svg`<circle cx="5.2" cy="10.2" r="2.7" /><path d="M7.1 8.3L13 2.5M10.6 4.8l1.8 1.8" />`),
  sleep: icon(svg`<path d="M3 9.5h4L3 13.5h4M8.5 3h4.5L8.5 8H13" />`),
  sliders: icon(
    svg`<path d="M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6" /><circle cx="10.2" cy="5" r="1.7" /><circle cx="5.8" cy="11" r="1.7" />`,
  ),
  more: icon(svg`<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" stroke-width="2.4" />`),
  save: icon(svg`<path d="M8 2.5v8M4.8 7.5L8 10.7l3.2-3.2M3 13.3h10" />`),
  gear: icon(
    svg`<circle cx="8" cy="8" r="2.1" /><path d="M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6l1.4 1.4M11 11l1.4 1.4M12.4 3.6L11 5M5 11l-1.4 1.4" />`,
  ),
  sidebar: icon(svg`<rect x="2" y="3" width="12" height="10" rx="1.5" /><path d="M6 3v10" />`),
} as const;
