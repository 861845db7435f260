/** Styles that every part of the page has: boxes, buttons, focus, and quiet for those who want no motion. */
import { css } from "lit";

export const shared = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  button {
    font: inherit;
    color: inherit;
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 0.4em;
    padding: 0.35em 0.8em;
    border: 1px solid var(--sb-line);
    border-radius: 8px;
    background: var(--sb-raised);
    cursor: pointer;
    white-space: nowrap;
  }
  button:hover:not(:disabled) {
    background: var(--sb-soft);
  }
  button:disabled {
    cursor: default;
    color: var(--sb-muted);
    background: transparent;
  }
  button.primary {
    background: var(--sb-accent);
    border-color: transparent;
    color: var(--sb-on-accent);
  }
  button.primary:hover:not(:disabled) {
    background: color-mix(in srgb, var(--sb-accent) 88%, var(--sb-text));
  }
  button.primary:disabled {
    background: var(--sb-soft);
    color: var(--sb-muted);
  }
  button.danger {
    color: var(--sb-danger);
  }
  button.plain {
    border-color: transparent;
    background: transparent;
  }
  button.plain:hover:not(:disabled) {
    background: var(--sb-soft);
  }
  button.icon {
    padding: 0.4em;
    min-width: 2em;
    min-height: 2em;
    line-height: 1;
  }
  :focus-visible {
    outline: 2px solid var(--sb-focus);
    outline-offset: 2px;
  }
  svg {
    width: 1.1em;
    height: 1.1em;
    flex: none;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.6;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .muted {
    color: var(--sb-muted);
  }
  .small {
    font-size: 0.87em;
  }
  .clip {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    min-width: 0;
  }
  code {
    font: 0.92em var(--sb-mono);
  }
  .unseen {
    font: 0.8em var(--sb-mono);
    padding: 0 0.3em;
    margin: 0 0.1em;
    border-radius: 4px;
    background: var(--sb-danger-soft);
    color: var(--sb-danger);
    white-space: nowrap;
    unicode-bidi: isolate;
    direction: ltr;
    display: inline-block;
  }
  .spoken {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @keyframes sb-pulse {
    50% {
      opacity: 0.35;
    }
  }
  @keyframes sb-spin {
    to {
      transform: rotate(1turn);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation: none !important;
      transition: none !important;
      scroll-behavior: auto !important;
    }
  }
  @media (pointer: coarse) {
    button {
      min-height: 2.6em;
    }
    button.icon {
      min-width: 2.6em;
    }
  }
`;
