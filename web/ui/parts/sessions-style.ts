/** How the list of conversations looks, and its menu. */
import { css } from "lit";

export const sessionsStyle = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  .list {
    overflow-y: auto;
    flex: 1;
    padding: 0 0.5rem 0.75rem;
  }
  .day {
    display: flex;
    align-items: baseline;
    justify-content: space-between;
    margin: 0.8em 0.6em 0.3em;
    min-height: 1.6em;
  }
  h2 {
    font-size: 0.78em;
    font-weight: 600;
    color: var(--sb-muted);
    margin: 0;
  }
  .pick {
    font-size: 0.78em;
    padding: 0.1em 0.5em;
    color: var(--sb-muted);
    min-height: 0;
  }
  ul {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  li {
    display: flex;
    align-items: center;
    border-radius: 8px;
    position: relative;
  }
  li:hover,
  li.active,
  li.chosen {
    background: var(--sb-soft);
  }
  .open,
  .choose {
    flex: 1;
    min-width: 0;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    justify-content: stretch;
    gap: 0;
    border: 0;
    background: none !important;
    padding: 0.4em 0.6em;
    text-align: left;
    line-height: 1.35;
  }
  .choose {
    grid-template-columns: auto minmax(0, 1fr);
    gap: 0 0.6em;
    align-items: center;
    cursor: pointer;
  }
  .choose .facts {
    grid-column: 2;
  }
  .choose input {
    grid-row: 1 / span 2;
    width: 1.05em;
    height: 1.05em;
    margin: 0;
    accent-color: var(--sb-accent);
  }
  .open > span {
    max-width: 100%;
  }
  .what {
    display: flex;
    gap: 0.5em;
    align-items: center;
    min-width: 0;
  }
  .dot {
    width: 7px;
    height: 7px;
    border-radius: 50%;
    flex: none;
    background: var(--sb-link);
    animation: sb-pulse 1.3s infinite;
  }
  .dot.awaiting_approval {
    background: var(--sb-warn);
    animation: none;
  }
  .facts {
    font-size: 0.8em;
    color: var(--sb-muted);
  }
  .acts {
    position: absolute;
    right: 0.15em;
    top: 0;
    bottom: 0;
    display: flex;
    align-items: center;
    background: var(--sb-soft);
    border-radius: 8px;
    opacity: 0;
    pointer-events: none;
  }
  li:hover .acts,
  .acts:focus-within,
  .acts.held {
    opacity: 1;
    pointer-events: auto;
  }
  .acts button {
    border: 0;
    background: none;
  }
  .acts button:hover {
    background: var(--sb-raised);
  }
  .rename {
    flex: 1;
    min-width: 0;
    padding: 0.35em 0.45em;
  }
  .rename input {
    width: 100%;
    font: inherit;
    color: inherit;
    background: var(--sb-raised);
    border: 1px solid var(--sb-line-strong);
    border-radius: 7px;
    padding: 0.3em 0.5em;
  }
  .more {
    width: 100%;
    margin-top: 0.6em;
  }
  .none {
    padding: 0.5em 0.6em;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.35em;
    padding: 0.5rem 0.75rem;
    border-top: 1px solid var(--sb-line);
    background: var(--sb-raised);
  }
  .bar > .count {
    flex: 1 0 100%;
  }
  .bar progress {
    flex: 1 0 100%;
    width: 100%;
    accent-color: var(--sb-accent);
  }
  .menu {
    position: fixed;
    inset: auto;
    margin: 0;
    padding: 0.35em;
    border: 1px solid var(--sb-line);
    border-radius: 10px;
    background: var(--sb-raised);
    color: inherit;
    box-shadow: 0 6px 24px rgb(0 0 0 / 18%);
    min-width: 12rem;
    max-width: min(20rem, calc(100vw - 1rem));
  }
  .menu button {
    display: flex;
    width: 100%;
    justify-content: flex-start;
    border: 0;
  }
  .menu kbd {
    margin-left: auto;
    font: 0.8em var(--sb-mono);
    color: var(--sb-muted);
  }
  @media (pointer: coarse) {
    .acts {
      opacity: 1;
      pointer-events: auto;
      background: none;
    }
    .acts .fine {
      display: none;
    }
    .open {
      padding-right: 3em;
    }
  }
`;
