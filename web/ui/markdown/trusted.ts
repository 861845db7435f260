/// <reference types="trusted-types" />
/**
 * The only place where text becomes HTML. Trusted Types policies that the page needs, for the host's
 * Content-Security-Policy: `trusted-types switchboard lit-html` (ours, and the one that Lit makes for its templates).
 * DOMPurify is given ours and makes none of its own. Images: `img-src data:` is enough.
 *
 * What comes out is a fragment of elements from a short list, without styles, handlers or foreign addresses.
 */
import DOMPurify from "dompurify";

const TAGS = [
  ...["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "pre", "blockquote"],
  ...["ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a", "span", "img", "div"],
];
const ATTRIBUTES = ["href", "title", "class", "start", "src", "alt", "data-align", "data-info"];
const CLASSES = new Set([
  "block",
  ...["h1", "h2", "h3", "h4", "h5", "h6"],
  ...["path", "image", "align-left", "align-center", "align-right"],
]);
/** Small pictures may come inside the text; nothing is ever fetched for one. */
const DATA_IMAGE = /^data:image\/(?:png|gif|jpeg|webp);base64,[A-Za-z0-9+/=]+$/;
export const MAX_IMAGE_CHARS = 128 * 1024;
const LINK = /^(?:https?:|mailto:)/i;

let made: TrustedTypePolicy | null = null;

/** Passes HTML on as it is: only DOMPurify gets it, as the way into its parser. */
function policy(): TrustedTypePolicy | null {
  made ??= (window.trustedTypes?.createPolicy("switchboard", {
    createHTML: (html) => html,
    createScriptURL: () => {
      throw new TypeError("the page makes no script addresses");
    },
  }) ?? null) as TrustedTypePolicy | null;
  return made;
}

let ready = false;

function prepare(): void {
  if (ready) return;
  ready = true;
  const trusted = policy();
  // Said once: reading it costs more than cleaning a block.
  DOMPurify.setConfig({
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOW_UNKNOWN_PROTOCOLS: false,
    RETURN_DOM_FRAGMENT: true,
    ...(trusted ? { TRUSTED_TYPES_POLICY: trusted } : {}),
  });
  DOMPurify.addHook("uponSanitizeAttribute", (element, attribute) => {
    const { attrName, attrValue } = attribute;
    if (attrName === "class") {
      attribute.attrValue = attrValue
        .split(/\s+/)
        .filter((name) => CLASSES.has(name))
        .join(" ");
      attribute.keepAttr = attribute.attrValue !== "";
    } else if (attrName === "src") {
      attribute.keepAttr =
        element.nodeName === "IMG" && attrValue.length <= MAX_IMAGE_CHARS && DATA_IMAGE.test(attrValue);
    } else if (attrName === "href") {
      attribute.keepAttr = element.nodeName === "A" && LINK.test(attrValue);
    }
  });
}

/** Elements for HTML that nobody vouches for. */
export function sanitised(html: string): DocumentFragment {
  prepare();
  return DOMPurify.sanitize(html) as unknown as DocumentFragment;
}
