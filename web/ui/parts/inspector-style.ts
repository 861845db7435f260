/** How the inspector looks: a sheet over the page, its list beside what is chosen, or above it where there is no room. */
import { css } from "lit";

export const inspectorStyle = css`
  dialog {
    border: 1px solid var(--sb-line);
    border-radius: 14px;
    padding: 0;
    background: var(--sb-canvas);
    color: var(--sb-text);
    width: min(84rem, calc(100vw - 1rem));
    max-width: none;
    height: calc(100vh - 1rem);
    max-height: none;
    box-shadow: 0 12px 48px rgb(0 0 0 / 30%);
    overflow: hidden;
  }
  dialog[open] {
    display: flex;
    flex-direction: column;
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 38%);
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.4em 0.7em;
    padding: 0.55rem 0.8rem;
    border-bottom: 1px solid var(--sb-line);
    background: var(--sb-panel);
  }
  h2 {
    font-size: 1em;
    margin: 0;
    flex: 1 1 10rem;
  }
  .switch {
    display: inline-flex;
    align-items: center;
    gap: 0.5em;
  }
  .switch input,
  .filters label input[type="checkbox"] {
    accent-color: var(--sb-accent);
    width: 1.1em;
    height: 1.1em;
    margin: 0;
  }
  a.export {
    color: var(--sb-link);
  }
  .trouble {
    padding: 0.4em 0.8rem;
    background: var(--sb-danger-soft);
    color: var(--sb-danger);
  }
  .picture {
    padding: 0.4rem 0.8rem 0.2rem;
    border-bottom: 1px solid var(--sb-line);
  }
  .picture svg {
    display: block;
    width: 100%;
    height: 64px;
    stroke: none;
    overflow: visible;
  }
  .picture .agent {
    fill: var(--sb-link);
  }
  .picture .view {
    fill: var(--tk-keyword);
  }
  .picture .wrong {
    fill: var(--sb-danger);
  }
  .picture .pause {
    fill: var(--sb-warn-soft);
  }
  .picture .zero {
    stroke: var(--sb-line-strong);
    stroke-width: 1;
    vector-effect: non-scaling-stroke;
  }
  .picture .hit {
    fill: transparent;
    cursor: pointer;
  }
  .picture .hit:hover {
    fill: var(--sb-soft);
    fill-opacity: 0.6;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 0.2em 1em;
    align-items: center;
    font-size: 0.8em;
    color: var(--sb-muted);
  }
  .legend i {
    display: inline-block;
    width: 0.75em;
    height: 0.75em;
    border-radius: 2px;
    margin-right: 0.35em;
  }
  .legend .agent {
    background: var(--sb-link);
  }
  .legend .view {
    background: var(--tk-keyword);
  }
  .legend .wrong {
    background: var(--sb-danger);
  }
  .legend .pause {
    background: var(--sb-warn-soft);
    border: 1px solid var(--sb-warn);
  }
  .legend .grow {
    flex: 1;
  }
  .filters {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4em 0.6em;
    align-items: center;
    padding: 0.45rem 0.8rem;
    border-bottom: 1px solid var(--sb-line);
    font-size: 0.9em;
  }
  select,
  input[type="search"] {
    font: inherit;
    color: inherit;
    background: var(--sb-raised);
    border: 1px solid var(--sb-line-strong);
    border-radius: 7px;
    padding: 0.25em 0.45em;
    min-width: 0;
    max-width: 100%;
  }
  select.name {
    width: 11rem;
  }
  input[type="search"] {
    flex: 1 1 8rem;
  }
  .halves {
    flex: 1;
    min-height: 0;
    display: grid;
    grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
    grid-template-rows: minmax(0, 1fr);
  }
  .one {
    border-left: 1px solid var(--sb-line);
    overflow: auto;
    padding: 0.7rem 0.9rem;
    min-width: 0;
  }
  .one h3 {
    margin: 0 0 0.3em;
    font-size: 1em;
    overflow-wrap: anywhere;
  }
  .one dl {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    gap: 0.15em 0.9em;
    margin: 0 0 0.8em;
    font-size: 0.9em;
  }
  .one dt {
    color: var(--sb-muted);
  }
  .one dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .one pre {
    font: 0.86em/1.5 var(--sb-mono);
    background: var(--sb-code);
    border: 1px solid var(--sb-line);
    border-radius: 8px;
    padding: 0.6em 0.7em;
    margin: 0.5em 0 0;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .one .acts {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4em;
  }
  .wrong-word {
    color: var(--sb-danger);
  }
  .hint {
    padding: 1rem;
    color: var(--sb-muted);
  }
  @media (max-width: 760px) {
    .halves {
      grid-template-columns: minmax(0, 1fr);
      grid-template-rows: minmax(0, 1fr) minmax(0, 1fr);
    }
    .one {
      border-left: 0;
      border-top: 1px solid var(--sb-line);
    }
    .picture svg {
      height: 44px;
    }
    select.name {
      width: 8rem;
    }
  }
  @media (max-height: 520px) {
    .picture {
      display: none;
    }
  }
`;
