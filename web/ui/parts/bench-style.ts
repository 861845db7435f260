/** How the bench looks: a sheet over the page, its list beside the tool, or instead of it where there is no room. */
import { css } from "lit";

export const benchBadges = css`
  .badge {
    display: inline-flex;
    align-items: center;
    gap: 0.3em;
    font-size: 0.78em;
    padding: 0.05em 0.6em;
    border-radius: 1em;
    border: 1px solid var(--sb-line-strong);
    color: var(--sb-muted);
    white-space: nowrap;
    flex: none;
  }
  .badge.good {
    color: var(--sb-ok);
    border-color: var(--sb-ok);
    background: var(--sb-ok-soft);
  }
  .badge.bad {
    color: var(--sb-danger);
    border-color: var(--sb-danger);
    background: var(--sb-danger-soft);
  }
`;

export const sheetStyle = css`
  dialog {
    border: 1px solid var(--sb-line);
    border-radius: 14px;
    padding: 0;
    background: var(--sb-canvas);
    color: var(--sb-text);
    width: min(76rem, calc(100vw - 1rem));
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
    align-items: center;
    gap: 0.4em 0.7em;
    padding: 0.45rem 0.6rem 0.45rem 0.9rem;
    border-bottom: 1px solid var(--sb-line);
    background: var(--sb-panel);
  }
  .bar h2 {
    font-size: 1em;
    margin: 0;
    flex: 1;
    min-width: 0;
  }
`;

export const benchStyle = css`
  .halves {
    flex: 1;
    min-height: 0;
    display: grid;
    grid-template-columns: minmax(13rem, 19rem) minmax(0, 1fr);
  }
  .side {
    display: flex;
    flex-direction: column;
    min-height: 0;
    border-right: 1px solid var(--sb-line);
    background: var(--sb-panel);
  }
  .find {
    padding: 0.6rem 0.7rem 0.3rem;
    display: grid;
    gap: 0.3em;
  }
  input,
  select {
    font: inherit;
    color: inherit;
    background: var(--sb-raised);
    border: 1px solid var(--sb-line-strong);
    border-radius: 7px;
    padding: 0.3em 0.5em;
    min-width: 0;
    max-width: 100%;
  }
  .list {
    overflow-y: auto;
    flex: 1;
    list-style: none;
    margin: 0;
    padding: 0.2rem 0.5rem 0.7rem;
  }
  .list button {
    width: 100%;
    justify-content: space-between;
    border: 0;
    background: none;
    padding: 0.4em 0.55em;
    text-align: left;
  }
  .list button:hover,
  .list button[aria-current="true"] {
    background: var(--sb-soft);
  }
  .list .name {
    font: 0.9em/1.6 var(--sb-mono);
  }
  .one {
    overflow: auto;
    padding: 0.9rem 1.1rem 2rem;
    min-width: 0;
    display: grid;
    gap: 1.1rem;
    align-content: start;
    grid-template-columns: minmax(0, 1fr);
  }
  .one > * {
    max-width: 52rem;
  }
  .one > .asks {
    max-width: none;
  }
  .title {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.3em 0.7em;
  }
  .title h3 {
    margin: 0;
    font: 600 1.1em var(--sb-mono);
    overflow-wrap: anywhere;
    unicode-bidi: isolate;
  }
  .about {
    margin: 0.3em 0 0;
    white-space: pre-line;
    overflow-wrap: anywhere;
  }
  .go {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5em 0.9em;
    align-items: end;
  }
  .go label {
    display: grid;
    gap: 0.15em;
    font-size: 0.87em;
  }
  .go label input {
    width: 9em;
  }
  .wrong {
    color: var(--sb-danger);
    margin: 0;
  }
  details > summary {
    cursor: pointer;
    font-weight: 600;
    font-size: 0.95em;
    width: fit-content;
    margin-bottom: 0.4em;
  }
  .asks {
    display: grid;
    gap: 0.6rem;
  }
  .late {
    display: flex;
    align-items: center;
    gap: 0.5em;
    margin: 0;
    padding: 0.45em 0.8em;
    border: 1px solid var(--sb-line);
    border-radius: var(--sb-radius);
    background: var(--sb-raised);
  }
  .hint {
    padding: 1rem;
    color: var(--sb-muted);
    margin: 0;
  }
  .back {
    display: none;
  }
  kbd {
    font: 0.8em var(--sb-mono);
  }
  @media (max-width: 760px) {
    .halves {
      grid-template-columns: minmax(0, 1fr);
      grid-template-rows: minmax(0, 1fr);
    }
    .side {
      border-right: 0;
    }
    .halves.chosen .side,
    .halves:not(.chosen) .one {
      display: none;
    }
    .halves.chosen ~ .none,
    .back {
      display: inline-flex;
    }
    .one {
      padding: 0.7rem 0.8rem 2rem;
    }
  }
`;
