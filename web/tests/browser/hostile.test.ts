/** An agent that wants to harm the page: every payload of testdata/hostile-markdown, in a real browser. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const FOLDER = join(import.meta.dirname, "../../../testdata/hostile-markdown");
const VIEWPORT = { width: 900, height: 700 };

interface Payload {
  name: string;
  text?: string;
  parts?: [string, number][];
}

const payloads = (file: string): Payload[] =>
  readFileSync(join(FOLDER, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Payload);

const textOf = (payload: Payload): string =>
  payload.text ?? (payload.parts ?? []).map(([piece, times]) => piece.repeat(times)).join("");

const stage = useStage();
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));

test("the corpus is there", () => {
  expect(files.flatMap(payloads).length).toBeGreaterThanOrEqual(60);
});

for (const file of files) {
  // Whole, and letter by letter, since half of a payload may be another one. What is huge is said whole only.
  for (const trick of ["echo", "spell"]) {
    const chosen = payloads(file).filter((payload) => trick === "echo" || payload.text !== undefined);
    if (chosen.length === 0) continue;
    test(`${file} does no harm, said by ${trick}`, { timeout: 300_000 }, async () => {
      const window = await stage.window(await stage.context({ viewport: VIEWPORT }));
      const asked = strangeRequests(window);
      for (const [at, payload] of chosen.entries()) {
        await window.prompt(`demo: ${trick} ${textOf(payload)}`);
        await window.ended(at + 1, "completed");
        await harmless(window, payload.name);
      }
      await window.prompt("demo: echo still here");
      await window.says(chosen.length + 1, "still here");
      await window
        .turn(chosen.length + 1)
        .getByText("still here")
        .last()
        .isVisible();
      // Clicking on whatever looks like a link must not do more than go to a web page, and that only if it is one.
      expect(asked).toEqual([]);
      expect(window.trouble.violations).toEqual([]);
    });
  }
}

/** Requests that the page has no reason to make, whoever answers them. */
function strangeRequests(window: Window): string[] {
  const strange: string[] = [];
  window.page.on("request", (request) => {
    const url = new URL(request.url());
    const ours = url.host === new URL(stage.host.url).host;
    if (url.protocol === "data:" || (ours && (url.pathname === "/" || url.pathname.startsWith("/assets/"))))
      return;
    strange.push(request.url());
  });
  return strange;
}

async function harmless(window: Window, name: string): Promise<void> {
  expect(window.trouble.ran, name).toEqual([]);
  const found = await window.page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - innerWidth;
    const bad: string[] = [];
    const look = (root: Document | ShadowRoot): void => {
      for (const element of root.querySelectorAll("*")) {
        if (element.shadowRoot) look(element.shadowRoot);
        const tag = element.localName;
        const said = element.closest("[data-testid=answer], [data-testid=turn-prompt]") !== null;
        if (!said) continue;
        if (
          [
            "script",
            "style",
            "iframe",
            "object",
            "embed",
            "form",
            "base",
            "meta",
            "link",
            "svg",
            "math",
          ].includes(tag)
        ) {
          bad.push(tag);
        }
        for (const { name: attribute, value } of element.attributes) {
          if (attribute.startsWith("on") || attribute === "style" || attribute === "srcdoc")
            bad.push(`${tag} ${attribute}`);
          if (attribute === "href" && !/^(?:https?|mailto):/.test(value))
            bad.push(`${tag} to ${value.slice(0, 100)}`);
          if (attribute === "src" && !value.startsWith("data:image/"))
            bad.push(`${tag} from ${value.slice(0, 100)}`);
        }
      }
    };
    look(document);
    const prompt = (function find(root: Document | ShadowRoot): Element | null {
      const here = root.querySelector("[data-testid=prompt]");
      if (here) return here;
      for (const element of root.querySelectorAll("*")) {
        const inside = element.shadowRoot && find(element.shadowRoot);
        if (inside) return inside;
      }
      return null;
    })(document)?.getBoundingClientRect();
    const promptSeen =
      !!prompt && prompt.bottom <= innerHeight && prompt.top >= 0 && prompt.right <= innerWidth;
    return { wide: Math.max(0, wide), bad, promptSeen, title: document.title.includes("pwned") };
  });
  expect(found, name).toEqual({ wide: 0, bad: [], promptSeen: true, title: false });
}
