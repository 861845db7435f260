/** How the prompt box looks. */
import { css } from "lit";

export const promptStyle = css`
  :host {
    display: block;
    padding: 0 clamp(0.5rem, 2.5vw, 1.5rem) max(0.75rem, env(safe-area-inset-bottom));
  }
  .column {
    max-width: calc(var(--sb-column) + 1.5rem);
    margin: 0 auto;
  }
  .box {
    border: 1px solid var(--sb-line-strong);
    border-radius: 14px;
    background: var(--sb-raised);
    box-shadow: 0 1px 6px rgb(0 0 0 / 6%);
  }
  .box:focus-within {
    border-color: var(--sb-focus);
    box-shadow: 0 0 0 1px var(--sb-focus);
  }
  textarea {
    display: block;
    width: 100%;
    border: 0;
    outline: 0;
    resize: none;
    background: transparent;
    color: inherit;
    font: inherit;
    line-height: 1.5;
    padding: 0.75em 1em 0.3em;
    max-height: min(320px, 45vh);
    overflow-y: auto;
  }
  textarea:focus-visible {
    outline: 0;
  }
  textarea::placeholder {
    color: var(--sb-muted);
    opacity: 1;
    white-space: nowrap;
    text-overflow: ellipsis;
    overflow: hidden;
  }
  .bar {
    display: flex;
    align-items: center;
    gap: 0.35em;
    padding: 0.25em 0.45em 0.45em 0.6em;
    min-width: 0;
  }
  .bar > button {
    align-self: flex-end;
  }
  .tools {
    flex: 1;
    min-width: 0;
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.1em 0.2em;
  }
  .tools > .icon {
    color: var(--sb-muted);
  }
  .small-chip {
    position: relative;
    color: var(--sb-muted);
    font-size: 0.84em;
    padding: 0.25em 0.4em;
    min-height: 1.9em;
  }
  .badge {
    background: var(--sb-danger);
    color: var(--sb-canvas);
    border-radius: 1em;
    padding: 0 0.45em;
    font-size: 0.85em;
  }
  .chip {
    display: inline-flex;
    align-items: center;
    gap: 0.35em;
    font-size: 0.84em;
    color: var(--sb-muted);
    padding: 0.2em 0.5em;
    border-radius: 7px;
    min-width: 0;
    max-width: 12em;
  }
  .pick {
    border: 1px solid transparent;
  }
  .pick:hover {
    background: var(--sb-soft);
  }
  select {
    font: inherit;
    color: inherit;
    background: transparent;
    border: 0;
    min-width: 0;
    max-width: 10em;
    text-overflow: ellipsis;
    cursor: pointer;
  }
  option {
    color: var(--sb-text);
    background: var(--sb-raised);
  }
  .round {
    border-radius: 50%;
    padding: 0;
    width: 2.1em;
    height: 2.1em;
    min-height: 0;
    flex: none;
  }
  .stop {
    color: var(--sb-text);
    border-color: var(--sb-line-strong);
  }
  @media (pointer: coarse) {
    .round {
      width: 2.6em;
      height: 2.6em;
    }
    textarea {
      font-size: 16px;
    }
  }
`;
