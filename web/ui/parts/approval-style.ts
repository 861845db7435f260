/** How a question looks. */
import { css } from "lit";

export const approvalStyle = css`
  section {
    --tone: var(--sb-link);
    border: 1px solid var(--sb-line);
    border-left: 4px solid var(--tone);
    border-radius: var(--sb-radius);
    background: var(--sb-raised);
    padding: 0.75em 0.95em 0.85em;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 0.55em;
  }
  section:focus-visible {
    outline-offset: -2px;
  }
  section.medium,
  section.high {
    --tone: var(--sb-warn);
  }
  section.critical {
    --tone: var(--sb-danger);
  }
  section.over {
    --tone: var(--sb-line);
    background: transparent;
    padding-block: 0.5em;
  }
  header {
    display: flex;
    gap: 0.55em;
    align-items: center;
    flex-wrap: wrap;
  }
  h3 {
    font-size: 1em;
    margin: 0;
    font-weight: 620;
    overflow-wrap: anywhere;
    flex: 1 1 12em;
  }
  .kind {
    color: var(--sb-muted);
    font-weight: 400;
  }
  .severity {
    display: inline-flex;
    align-items: center;
    gap: 0.35em;
    font-size: 0.8em;
    font-weight: 600;
    padding: 0.1em 0.65em;
    border-radius: 1em;
    border: 1px solid var(--tone);
    color: var(--tone);
    white-space: nowrap;
  }
  .critical .severity,
  .high .severity {
    background: var(--sb-warn-soft);
  }
  .critical .severity {
    background: var(--sb-danger-soft);
  }
  p,
  ul {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .reasons {
    padding-left: 1.15em;
  }
  .reasons li + li {
    margin-top: 0.15em;
  }
  pre,
  textarea {
    margin: 0;
    padding: 0.6em 0.75em;
    border-radius: 7px;
    background: var(--sb-code);
    border: 1px solid var(--sb-line);
    font: 0.87em/1.55 var(--sb-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    max-height: min(14em, 28vh);
    overflow: auto;
    unicode-bidi: isolate;
  }
  textarea {
    display: block;
    width: 100%;
    color: inherit;
    resize: vertical;
    border-color: var(--sb-line-strong);
    direction: ltr;
  }
  .command {
    display: grid;
    grid-template-columns: minmax(0, 1fr) auto;
    gap: 0.4em;
    align-items: start;
  }
  .command textarea {
    grid-column: 1 / -1;
  }
  .facts {
    display: flex;
    flex-wrap: wrap;
    gap: 0.15em 1.1em;
    align-items: center;
  }
  .held {
    display: inline-flex;
    gap: 0.4em;
    align-items: baseline;
  }
  .held svg {
    align-self: center;
  }
  .held.not {
    color: var(--sb-danger);
  }
  .rule code {
    overflow-wrap: anywhere;
  }
  .answers:has([data-testid="approve-rule"]:is(:hover, :focus-visible)) + .rule {
    color: var(--sb-text);
  }
  .answers {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5em;
    margin-top: 0.15em;
  }
  /* However much there is to read, the answers are in sight, where they leave room to read. */
  @media (min-width: 500px) {
    .foot {
      margin-bottom: -0.85em;
      padding-bottom: 0.85em;
      position: sticky;
      bottom: 0;
      background: var(--sb-raised);
      display: grid;
      gap: 0.45em;
    }
  }
  .foot {
    display: grid;
    gap: 0.45em;
  }
  .answers button {
    white-space: normal;
    text-align: left;
    overflow-wrap: anywhere;
    max-width: 100%;
  }
  kbd {
    font: 0.8em var(--sb-mono);
    opacity: 0.75;
  }
  sb-diff {
    --sb-diff-height: min(20em, 32vh);
  }
  .where {
    font-family: var(--sb-mono);
    font-size: 0.95em;
  }
`;
