/** Where the parts of the page stand, on a wide screen, beside an editor, and on a phone. */
import { css } from "lit";

export const appStyle = css`
  :host {
    display: block;
    height: 100%;
  }
  .app {
    display: flex;
    height: 100%;
    position: relative;
    overflow: hidden;
  }
  aside {
    width: 17rem;
    flex: none;
    display: flex;
    flex-direction: column;
    min-height: 0;
    background: var(--sb-panel);
    border-right: 1px solid var(--sb-line);
  }
  .app:not(.wide) aside {
    display: none;
  }
  aside header {
    display: flex;
    align-items: center;
    justify-content: space-between;
    padding: 0.45rem 0.5rem 0.45rem 1.1rem;
    min-height: 3rem;
  }
  .brand {
    font-weight: 660;
    letter-spacing: -0.01em;
  }
  .fresh {
    margin: 0.2rem 0.75rem 0.3rem;
    justify-content: flex-start;
  }
  aside sb-sessions {
    flex: 1;
  }
  .places {
    display: flex;
    flex-wrap: wrap;
    gap: 0.2rem;
    padding: 0.35rem 0.6rem;
    border-top: 1px solid var(--sb-line);
  }
  .places button {
    flex: 1;
    justify-content: flex-start;
    padding-inline: 0.5em;
  }
  .waits {
    font-size: 0.8em;
    padding: 0 0.5em;
    border-radius: 1em;
    border: 1px solid var(--sb-warn);
    background: var(--sb-warn-soft);
    color: var(--sb-warn);
  }
  aside footer {
    display: flex;
    gap: 0.2rem;
    padding: 0.35rem 0.6rem;
    border-top: 1px solid var(--sb-line);
  }
  .main {
    flex: 1;
    min-width: 0;
    display: flex;
    flex-direction: column;
  }
  .top {
    display: flex;
    align-items: center;
    gap: 0.3rem;
    padding: 0.15rem 0.6rem;
    border-bottom: 1px solid var(--sb-line);
    background: var(--sb-panel);
    min-height: 3rem;
  }
  .wide .opener {
    display: none;
  }
  .spent {
    flex: none;
    white-space: nowrap;
    padding: 0 0.5em;
  }
  .grow {
    flex: 1;
  }
  main {
    flex: 1;
    min-height: 0;
    display: flex;
    flex-direction: column;
    position: relative;
  }
  sb-transcript,
  sb-empty {
    flex: 1;
    min-height: 0;
  }
  .banner {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: center;
    gap: 0.8em;
    padding: 0.45em 1rem;
    background: var(--sb-accent-soft);
    border-bottom: 1px solid var(--sb-line);
  }
  .shade {
    display: none;
  }
  sb-link-state {
    flex: none;
    max-width: 60%;
  }
  @media (max-width: 760px) {
    .app aside,
    .app:not(.wide) aside {
      display: flex;
      position: absolute;
      inset: 0 auto 0 0;
      z-index: 11;
      width: min(19rem, 86vw);
      transform: translateX(-105%);
      visibility: hidden;
      transition:
        transform 0.16s ease-out,
        visibility 0.16s;
      box-shadow: 0 0 40px rgb(0 0 0 / 30%);
    }
    .app.drawn aside {
      transform: none;
      visibility: visible;
    }
    .app.drawn .shade {
      display: block;
      position: absolute;
      inset: 0;
      z-index: 10;
      background: rgb(0 0 0 / 38%);
    }
    .opener,
    .wide .opener {
      display: inline-flex;
    }
    .top {
      padding-inline: 0.3rem;
      flex-wrap: wrap;
      min-height: 2.7rem;
    }
    .top sb-tabs {
      flex: 1;
    }
    .top .grow,
    .top .spent {
      display: none;
    }
    sb-link-state[loud] {
      flex: 1 0 100%;
      max-width: 100%;
      order: 1;
      padding-bottom: 0.25rem;
    }
  }
`;
