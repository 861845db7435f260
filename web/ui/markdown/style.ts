/** How an answer's Markdown looks. */
import { css } from "lit";

export const markdownStyle = css`
  .md {
    overflow-wrap: anywhere;
    line-height: 1.62;
  }
  .md .block > :first-child {
    margin-top: 0;
  }
  .md .block > :last-child {
    margin-bottom: 0;
  }
  .md .block + .block,
  .md .group + .group,
  .md .group + .block {
    margin-top: 0.8em;
  }
  .md .block.headed {
    margin-top: 1.4em;
  }
  .md > :first-child:is(.block),
  .md > .group:first-child > .block:first-child {
    margin-top: 0;
  }
  .md .block.cut + .block {
    margin-top: 0;
  }
  .md .group.far {
    content-visibility: auto;
    contain-intrinsic-inline-size: auto 100px;
  }
  .md p,
  .md ul,
  .md ol,
  .md blockquote,
  .md .table {
    margin: 0.7em 0;
  }
  .md h3 {
    line-height: 1.3;
    margin: 1.3em 0 0.5em;
    font-weight: 650;
  }
  .md h3.h1 {
    font-size: 1.35em;
  }
  .md h3.h2 {
    font-size: 1.2em;
  }
  .md h3.h3 {
    font-size: 1.07em;
  }
  .md h3:is(.h4, .h5, .h6) {
    font-size: 1em;
  }
  .md :is(ul, ol) {
    padding-left: 1.6em;
  }
  .md li + li {
    margin-top: 0.25em;
  }
  .md li::marker {
    color: var(--sb-muted);
  }
  .md blockquote {
    margin-left: 0;
    padding-left: 0.9em;
    border-left: 3px solid var(--sb-line);
    color: var(--sb-muted);
  }
  .md hr {
    border: 0;
    border-top: 1px solid var(--sb-line);
    margin: 1.4em 0;
  }
  .md a {
    color: var(--sb-link);
    text-underline-offset: 2px;
    text-decoration-thickness: 1px;
  }
  .md code {
    font: 0.88em / 1.5 var(--sb-mono);
    background: var(--sb-code);
    border: 1px solid var(--sb-line);
    border-radius: 5px;
    padding: 0.08em 0.32em;
  }
  .md .path,
  .md .image {
    text-decoration: underline dotted;
    text-underline-offset: 3px;
  }
  .md img {
    max-width: 100%;
    border-radius: 6px;
  }
  .md .table {
    overflow-x: auto;
    border: 1px solid var(--sb-line);
    border-radius: 8px;
  }
  .md table {
    border-collapse: collapse;
    min-width: 100%;
    font-size: 0.95em;
  }
  .md :is(th, td) {
    padding: 0.45em 0.75em;
    text-align: left;
    vertical-align: top;
    overflow-wrap: normal;
    min-width: 5em;
  }
  .md th {
    background: var(--sb-panel);
    font-weight: 600;
  }
  .md tr + tr td,
  .md tbody td {
    border-top: 1px solid var(--sb-line);
  }
  .md .align-center {
    text-align: center;
  }
  .md .align-right {
    text-align: right;
  }

  sb-code {
    display: block;
    position: relative;
    margin: 0.8em 0;
    border: 1px solid var(--sb-line);
    border-radius: 8px;
    background: var(--sb-code);
    overflow: hidden;
  }
  .cut > sb-code {
    margin-bottom: 0;
    border-bottom: 0;
    border-bottom-left-radius: 0;
    border-bottom-right-radius: 0;
  }
  .cut + .block > sb-code {
    margin-top: 0;
    border-top: 0;
    border-top-left-radius: 0;
    border-top-right-radius: 0;
  }
  sb-code .bar {
    display: flex;
    align-items: center;
    justify-content: space-between;
    padding: 0.15em 0.3em 0.15em 0.9em;
    font-size: 0.8em;
    color: var(--sb-muted);
    border-bottom: 1px solid var(--sb-line);
    min-height: 2.2em;
  }
  .cut + .block > sb-code .bar {
    display: none;
  }
  sb-code .bar::before {
    content: attr(data-info);
  }
  sb-code .bar button {
    padding: 0.3em;
    min-height: 0;
  }
  sb-code pre {
    margin: 0;
    padding: 0.75em 0.9em;
    overflow-x: auto;
    tab-size: 4;
    font: 0.87em / 1.55 var(--sb-mono);
  }
  sb-code pre:focus-visible {
    outline-offset: -2px;
  }
  .md sb-code code {
    border: 0;
    padding: 0;
    background: none;
    font: inherit;
    overflow-wrap: normal;
    white-space: pre;
    color: var(--tk-plain);
  }
  sb-code .chunk {
    display: block;
    min-width: max-content;
  }
  .tk-comment {
    color: var(--tk-comment);
    font-style: italic;
  }
  .tk-string {
    color: var(--tk-string);
  }
  .tk-number {
    color: var(--tk-number);
  }
  .tk-keyword {
    color: var(--tk-keyword);
  }
  .tk-operator {
    color: var(--tk-operator);
  }
  .tk-function {
    color: var(--tk-function);
  }
  .tk-type {
    color: var(--tk-type);
  }
  .tk-name {
    color: var(--tk-name);
  }
  .tk-inserted {
    color: var(--tk-inserted);
  }
  .tk-deleted {
    color: var(--tk-deleted);
  }
  .tk-section {
    color: var(--tk-section);
  }
`;
