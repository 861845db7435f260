/** A picture that came with words or from a tool; one that cannot be shown safely is only named. */
import { css, html, type TemplateResult } from "lit";
import { imageAddress } from "../model/image";
import { icons } from "../theme/icons";
import type { Image } from "../wire";

export const pictureStyle = css`
  .picture {
    display: inline-flex;
    padding: 0;
    border: 1px solid var(--sb-line);
    border-radius: 8px;
    overflow: hidden;
    background: var(--sb-code);
    max-width: 100%;
    min-height: 0;
    cursor: zoom-in;
  }
  .picture img {
    display: block;
    max-width: 100%;
    max-height: 12em;
    object-fit: contain;
  }
  .picture.large {
    cursor: zoom-out;
  }
  .picture.large img {
    max-height: 70vh;
  }
`;

export function picture(image: Image, name: string): TemplateResult {
  const address = imageAddress(image);
  if (address === null)
    return html`<span class="muted small" data-testid="no-picture"
      >${icons.picture} A picture that cannot be shown here (${image.mime.slice(0, 60)})</span
    >`;
  return html`<button type="button" class="picture" aria-label="${name}, larger or smaller" @click=${enlarge}>
    <img src=${address} alt=${name} decoding="async" />
  </button>`;
}

function enlarge(event: Event): void {
  (event.currentTarget as HTMLElement).classList.toggle("large");
}
