/** How a turn looks. */
import { css } from "lit";

export const turnStyle = css`
  :host {
    display: block;
  }
  article {
    padding: 0.5rem 0 1.35rem;
  }
  .prompt {
    margin-left: auto;
    width: fit-content;
    max-width: min(88%, 40rem);
    background: var(--sb-bubble);
    border-radius: 14px 14px 4px 14px;
    padding: 0.55em 0.95em;
    margin-bottom: 0.9em;
  }
  .found {
    border-radius: 8px;
    box-shadow: 0 0 0 6px var(--sb-accent-soft);
    animation: found 1.6s ease-out;
  }
  .flow > .found {
    background: var(--sb-accent-soft);
  }
  @keyframes found {
    from {
      box-shadow: 0 0 0 9px var(--sb-mark);
    }
  }
  .prompt .words {
    margin: 0;
    font: inherit;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .prompt .fold {
    max-height: 16em;
    overflow: hidden;
    mask-image: linear-gradient(#000 75%, transparent);
  }
  .prompt button {
    margin-left: -0.8em;
  }
  .context {
    list-style: none;
    padding: 0;
    margin: 0.4em 0 0;
    display: flex;
    flex-wrap: wrap;
    gap: 0.3em;
  }
  .context li {
    display: flex;
    gap: 0.35em;
    align-items: center;
    border: 1px solid var(--sb-line);
    border-radius: 6px;
    padding: 0.05em 0.5em;
    max-width: 100%;
  }
  .pictures {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4em;
    margin-top: 0.4em;
  }
  .asks {
    display: flex;
    gap: 0.5em;
    align-items: center;
    margin: 0;
    color: var(--sb-warn);
    overflow-wrap: anywhere;
  }
  .flow {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.75em;
  }
  .working {
    display: flex;
    align-items: center;
    gap: 0.6em;
    margin-top: 0.7em;
    min-height: 1.6em;
  }
  .dots {
    display: inline-flex;
    gap: 4px;
  }
  .dots i {
    width: 6px;
    height: 6px;
    border-radius: 50%;
    background: var(--sb-link);
    animation: sb-pulse 1.2s ease-in-out infinite;
  }
  .dots i:nth-child(2) {
    animation-delay: 0.16s;
  }
  .dots i:nth-child(3) {
    animation-delay: 0.32s;
  }
  .working progress {
    width: 7em;
    height: 5px;
    accent-color: var(--sb-accent);
  }
  .end {
    display: flex;
    gap: 0.45em;
    align-items: center;
    margin-top: 0.6em;
  }
  .failed {
    display: flex;
    flex-wrap: wrap;
    gap: 0.6em;
    align-items: flex-start;
    margin-top: 0.8em;
    padding: 0.65em 0.85em;
    border-radius: var(--sb-radius);
    background: var(--sb-danger-soft);
    overflow-wrap: anywhere;
  }
  .failed > svg {
    color: var(--sb-danger);
    margin-top: 0.25em;
  }
  .why {
    flex: 1 1 14em;
    display: grid;
    gap: 0.1em;
  }
  .why strong {
    font-weight: 620;
  }
  .unknown {
    color: var(--sb-muted);
  }
  .unknown summary {
    cursor: pointer;
  }
  .unknown pre {
    font: 0.9em/1.5 var(--sb-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    max-height: 20em;
    overflow-y: auto;
  }
`;
