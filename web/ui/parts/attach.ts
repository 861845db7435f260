/** Pictures for a prompt: taken from the clipboard, a drop or the disk, checked, and shown small until they go. */
import { css, html, nothing, type TemplateResult } from "lit";
import { imageAddress, imageOf, MAX_IMAGE_BYTES, tooMany } from "../model/image";
import { revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import type { Image } from "../wire";

export const attachStyle = css`
  .thumbs {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5em;
    padding: 0.7em 0.9em 0;
    list-style: none;
    margin: 0;
  }
  .thumbs li {
    position: relative;
  }
  .thumbs img {
    display: block;
    width: 4em;
    height: 4em;
    object-fit: cover;
    border-radius: 8px;
    border: 1px solid var(--sb-line);
    background: var(--sb-code);
  }
  .thumbs button {
    position: absolute;
    top: -0.5em;
    right: -0.5em;
    border-radius: 50%;
    padding: 0.15em;
    min-width: 0;
    min-height: 0;
    font-size: 0.85em;
    background: var(--sb-raised);
  }
  .box.over {
    border-color: var(--sb-focus);
    background: var(--sb-accent-soft);
  }
`;

/** The pictures among what was pasted or dropped. */
export function pictureFiles(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
}

/** Takes files for the prompt of a tab; what is not taken is said. */
export async function attach(page: Page, tab: string, files: Iterable<File>): Promise<void> {
  for (const file of files) {
    const name = revealed(file.name.slice(0, 80) || "The picture");
    // What is far too large is not even read.
    const bytes =
      file.size > MAX_IMAGE_BYTES
        ? new Uint8Array(MAX_IMAGE_BYTES + 1)
        : new Uint8Array(await file.arrayBuffer());
    const image = imageOf(name, bytes);
    if (typeof image === "string") {
      page.toast(image);
      continue;
    }
    const all = [...(page.pictures.get(tab) ?? []), image];
    const why = tooMany(all);
    if (why !== null) {
      page.toast(why);
      return;
    }
    page.pictures.set(tab, all);
    page.changed();
  }
}

export function thumbs(page: Page, tab: string): TemplateResult | typeof nothing {
  const images = page.pictures.get(tab) ?? [];
  if (images.length === 0) return nothing;
  const drop = (image: Image) => {
    const left = images.filter((each) => each !== image);
    if (left.length > 0) page.pictures.set(tab, left);
    else page.pictures.delete(tab);
    page.changed();
  };
  return html`<ul class="thumbs" aria-label="Pictures">
    ${images.map(
      (image, at) =>
        html`<li data-testid="thumb">
          <img src=${imageAddress(image) ?? ""} alt="Picture ${at + 1}" />
          <button
            type="button"
            aria-label="Remove picture ${at + 1}"
            title="Remove"
            @click=${() => drop(image)}
          >
            ${icons.close}
          </button>
        </li>`,
    )}
  </ul>`;
}
