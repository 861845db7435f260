/** How the search looks, above the conversations and in their place. */
import { css } from "lit";

export const searchStyle = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    flex: none;
  }
  :host([active]) {
    flex: 1;
  }
  .find {
    padding: 0.3rem 0.75rem 0.2rem;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.4rem;
  }
  .box {
    display: flex;
    align-items: center;
    gap: 0.1em;
    border: 1px solid var(--sb-line-strong);
    border-radius: 8px;
    background: var(--sb-raised);
    padding-left: 0.6em;
    color: var(--sb-muted);
  }
  .box:focus-within {
    outline: 2px solid var(--sb-focus);
    outline-offset: 1px;
  }
  .text {
    flex: 1;
    min-width: 0;
    border: 0;
    outline: none;
    background: none;
    font: inherit;
    color: var(--sb-text);
    padding: 0.35em 0.4em;
  }
  .text::placeholder {
    color: var(--sb-muted);
    opacity: 1;
  }
  .box button {
    padding: 0.3em;
    min-width: 1.9em;
    min-height: 1.9em;
    gap: 0.15em;
  }
  .narrowed {
    color: var(--sb-link);
  }
  .count {
    font-size: 0.8em;
    font-weight: 650;
  }
  .filters {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
    gap: 0.35rem 0.5rem;
  }
  .filters label {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.1em;
    color: var(--sb-muted);
  }
  .filters input,
  .filters select {
    font: inherit;
    color: var(--sb-text);
    background: var(--sb-raised);
    border: 1px solid var(--sb-line-strong);
    border-radius: 7px;
    padding: 0.25em 0.35em;
    min-width: 0;
    width: 100%;
  }
  .filters button {
    grid-column: 1 / -1;
    justify-self: start;
    padding-left: 0;
    color: var(--sb-link);
  }
  .state,
  .wrong {
    margin: 0.35rem 1.1rem 0.2rem;
  }
  .wrong {
    color: var(--sb-danger);
    overflow-wrap: anywhere;
  }
  .results {
    overflow-y: auto;
    flex: 1;
    min-height: 0;
    padding: 0 0.5rem 0.75rem;
  }
  .head {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    padding: 0.55em 0.6em 0.15em;
    line-height: 1.35;
  }
  .title {
    font-weight: 600;
  }
  .facts {
    font-size: 0.8em;
    color: var(--sb-muted);
  }
  .hit {
    border-radius: 8px;
    padding: 0.3em 0.6em 0.4em;
    cursor: pointer;
    font-size: 0.9em;
    line-height: 1.4;
  }
  .hit:hover {
    background: var(--sb-soft);
  }
  .hit[aria-selected="true"] {
    background: var(--sb-soft);
    box-shadow: inset 3px 0 0 var(--sb-accent);
  }
  .role {
    font-size: 0.86em;
    color: var(--sb-muted);
    display: block;
  }
  .snippet {
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 4;
    overflow: hidden;
    overflow-wrap: anywhere;
  }
  mark {
    background: var(--sb-mark);
    color: inherit;
    border-radius: 3px;
    padding: 0 0.1em;
  }
  .more {
    margin: 0.2rem 0.75rem 0.6rem;
  }
  @media (pointer: coarse) {
    .text {
      padding-block: 0.6em;
    }
  }
`;
