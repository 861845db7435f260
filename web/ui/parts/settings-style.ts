/** How the settings look: one column of cards, two fields beside each other where there is room. */
import { css } from "lit";

export const settingsStyle = css`
  :host {
    display: block;
  }
  section {
    border: 1px solid var(--sb-line);
    border-radius: 11px;
    background: var(--sb-raised);
    padding: 0.8rem 1rem 1rem;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.7rem;
  }
  h3 {
    margin: 0;
    font-size: 1em;
    font-weight: 640;
  }
  p {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .stack {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.9rem;
  }
  .fields {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr));
    gap: 0.7rem 1rem;
  }
  .field {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.15em;
    align-content: start;
  }
  .field label {
    font-weight: 560;
    font-size: 0.93em;
  }
  .line {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.45em;
  }
  .line > input {
    flex: 1 1 12rem;
  }
  input,
  select {
    font: inherit;
    color: var(--sb-text);
    background: var(--sb-canvas);
    border: 1px solid var(--sb-line-strong);
    border-radius: 7px;
    padding: 0.32em 0.55em;
    min-width: 0;
    max-width: 100%;
  }
  .field > input {
    width: 100%;
  }
  input[aria-invalid="true"] {
    border-color: var(--sb-danger);
  }
  button.danger:disabled {
    color: var(--sb-muted);
  }
  .wrong {
    color: var(--sb-danger);
  }
  .good {
    color: var(--sb-ok);
  }
  .models {
    display: flex;
    flex-wrap: wrap;
    gap: 0.3em;
    list-style: none;
    margin: 0;
    padding: 0;
    max-height: 9em;
    overflow-y: auto;
  }
  .models button {
    border-radius: 6px;
    padding: 0.05em 0.5em;
    font: 0.85em/1.7 var(--sb-mono);
    white-space: normal;
    overflow-wrap: anywhere;
    text-align: left;
  }
  .patterns {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.4rem;
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .patterns li {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4em;
    align-items: center;
  }
  .patterns input {
    flex: 1 1 10rem;
    font-family: var(--sb-mono);
    font-size: 0.92em;
  }
  .foot {
    position: sticky;
    /* Down to the edge of the sheet, whose own room below would show what passes. */
    bottom: -1.2rem;
    display: flex;
    flex-wrap: wrap;
    gap: 0.5em 0.7em;
    align-items: center;
    justify-content: flex-end;
    padding: 0.5rem 0;
    background: var(--sb-canvas);
    border-top: 1px solid var(--sb-line);
  }
  .foot .wrong {
    flex: 1 1 14rem;
  }
  progress {
    width: 100%;
    accent-color: var(--sb-accent);
  }
`;
