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

test("a link shows where it leads before anybody goes there", async () => {
  const window = await stage.window();
  const address = "https://evil.example/a/path?with=a-query";
  await window.prompt(`demo: echo [example.com](${address})`);
  await window.ended(1, "completed");
  await window.turn(1).getByTestId("answer").getByRole("link", { name: "example.com" }).click();
  await window.at("confirm").getByText(address).waitFor();
  await window.at("confirm-no").click();
  await window.at("confirm").waitFor({ state: "hidden" });
  expect(window.trouble.ran).toEqual([]);
  expect(window.context.pages().length).toBe(1);
});

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
  const found = await window.page.evaluate(whatIsWrong);
  expect(found, name).toEqual({ wide: 0, bad: [], promptSeen: true });
}

/** Runs in the page: looks through all of it, into the parts' own trees, too. */
function whatIsWrong(): { wide: number; bad: string[]; promptSeen: boolean } {
  const forbidden = [
    "script",
    "style",
    "iframe",
    "object",
    "embed",
    "form",
    "base",
    "meta",
    "link",
    "math",
    "template",
  ];
  const bad: string[] = [];
  let prompt: DOMRect | null = null;
  const check = (element: Element): void => {
    const tag = element.localName;
    if (forbidden.includes(tag)) bad.push(tag);
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on") || name === "srcdoc") bad.push(`${tag} ${name}`);
      // The page itself notes how high a part was that it has put away.
      if (name === "style" && !/^contain-intrinsic-[a-z-]+: [a-z0-9 .]+;$/.test(value))
        bad.push(`${tag} ${value.slice(0, 100)}`);
      if (name === "href" && !/^(?:https?|mailto):/.test(value)) bad.push(`${tag} to ${value.slice(0, 100)}`);
      if (name === "src" && !value.startsWith("data:image/")) bad.push(`${tag} from ${value.slice(0, 100)}`);
    }
  };
  const look = (root: Document | ShadowRoot, said: boolean): void => {
    for (const element of root.querySelectorAll("*")) {
      const here = said || element.closest("[data-testid=answer], [data-testid=turn-prompt]") !== null;
      if (here) check(element);
      if (element.getAttribute("data-testid") === "prompt") prompt = element.getBoundingClientRect();
      if (element.shadowRoot) look(element.shadowRoot, here);
    }
  };
  look(document, false);
  const box = prompt as DOMRect | null;
  const promptSeen = box !== null && box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
  return { wide: Math.max(0, document.documentElement.scrollWidth - innerWidth), bad, promptSeen };
}
