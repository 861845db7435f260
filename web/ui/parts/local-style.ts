/** How the card for a local model looks, and the one that leads to trust: quiet, as the rest of an empty page. */
import { css } from "lit";

export const localStyle = css`
  .card {
    border: 1px solid var(--sb-line);
    border-radius: 11px;
    background: var(--sb-raised);
    padding: 0.75rem 0.9rem 0.85rem;
    margin-top: 1.2rem;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.55rem;
  }
  .card h3 {
    display: flex;
    align-items: center;
    gap: 0.45em;
    margin: 0;
    font-size: 0.95em;
    font-weight: 620;
  }
  .card h3 svg {
    color: var(--sb-accent);
  }
  .card p {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .news {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.3rem;
  }
  .going {
    display: flex;
    align-items: center;
    gap: 0.5em;
  }
  .going svg {
    animation: sb-pulse 1.2s ease-in-out infinite;
  }
  .wrong {
    color: var(--sb-danger);
  }
  .models {
    list-style: none;
    margin: 0;
    padding: 0;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.35rem;
    max-height: 20rem;
    overflow-y: auto;
  }
  .models button {
    width: 100%;
    justify-content: space-between;
    min-height: 2.15em;
    background: var(--sb-canvas);
  }
  .models .name {
    white-space: normal;
    overflow-wrap: anywhere;
    text-align: left;
  }
  .models .small {
    flex: none;
  }
  .line {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.4em;
  }
  .fields {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.15em;
  }
  .fields label {
    font-weight: 560;
    font-size: 0.9em;
  }
  .fields span + label,
  .fields .line {
    margin-top: 0.5em;
  }
  input {
    font: inherit;
    color: var(--sb-text);
    background: var(--sb-canvas);
    border: 1px solid var(--sb-line-strong);
    border-radius: 7px;
    padding: 0.32em 0.55em;
    min-width: 0;
    width: 100%;
  }
`;
