/** How calls and executions look: one line that opens. */
import { css } from "lit";

export const callStyle = css`
  :host {
    display: block;
    min-width: 0;
  }
  details.call {
    border: 1px solid var(--sb-line);
    border-radius: 8px;
    background: var(--sb-raised);
    overflow: hidden;
  }
  details.call > summary {
    display: flex;
    align-items: center;
    gap: 0.6em;
    padding: 0.4em 0.7em;
    cursor: pointer;
    list-style: none;
    font-size: 0.93em;
    min-width: 0;
  }
  summary::-webkit-details-marker {
    display: none;
  }
  details.call > summary:hover {
    background: var(--sb-soft);
  }
  summary:focus-visible {
    outline-offset: -2px;
  }
  .title {
    flex: 0 1 auto;
    unicode-bidi: isolate;
  }
  .mono {
    font-family: var(--sb-mono);
    font-size: 0.93em;
  }
  .state {
    margin-left: auto;
    display: flex;
    align-items: center;
    gap: 0.35em;
    color: var(--sb-muted);
    flex: none;
    font-size: 0.92em;
  }
  .state.completed {
    color: var(--sb-ok);
  }
  .state.failed {
    color: var(--sb-danger);
  }
  .state.unknown {
    color: var(--sb-warn);
  }
  .state.running svg {
    animation: sb-spin 1.1s linear infinite;
  }
  .parts {
    border-top: 1px solid var(--sb-line);
    padding: 0.6em 0.75em 0.7em;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.6em;
  }
  .whole {
    margin: 0;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
    max-height: 12em;
    overflow-y: auto;
  }
  pre.json,
  pre.command {
    margin: 0;
    font: 0.82em/1.5 var(--sb-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    max-height: 20em;
    overflow-y: auto;
    unicode-bidi: isolate;
  }
  pre.command {
    background: var(--sb-code);
    border: 1px solid var(--sb-line);
    border-radius: 7px;
    padding: 0.5em 0.75em;
  }
  details.raw > summary {
    cursor: pointer;
    font-size: 0.85em;
    color: var(--sb-muted);
    width: fit-content;
  }
  details.raw pre {
    margin-top: 0.3em;
  }
  .places {
    display: flex;
    flex-wrap: wrap;
    gap: 0.3em 0.5em;
    list-style: none;
    margin: 0;
    padding: 0;
    font: 0.82em var(--sb-mono);
    color: var(--sb-muted);
  }
  .places li {
    overflow-wrap: anywhere;
    unicode-bidi: isolate;
  }
  p {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .not {
    color: var(--sb-danger);
  }
  .wheres {
    font-family: var(--sb-mono);
  }
  @media (max-width: 420px) {
    .state > span:not(.spoken) {
      display: none;
    }
  }
`;
