// Where the page begins. Puts the one root element into the document and holds nothing else.
import { html, render } from "lit";

render(
  html`<p role="status" data-testid="connection" data-state="connecting">Connecting…</p>`,
  document.body,
);
