/** The page's main states, light and dark: nobody is kept out of any, and each leaves a picture for people to look at. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { barriers } from "./stage/axe";
import { screenshots } from "./stage/place";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const stage = useStage();

const MARKDOWN = [
  "## A heading",
  "Some *emphasis*, some **weight**, `code` and a [link](https://example.com/a).",
  "- one\n- two\n  1. two, one\n  2. two, two",
  "> What somebody said",
  '```rust\nfn main() {\n    println!("Hello"); // a comment\n}\n```',
  "| left | right |\n| :--- | ---: |\n| a | 1 |\n| b | 22 |",
].join("\n\n");

/** Each brings a fresh window into the state that it is named after. */
const STATES: Record<string, (window: Window) => Promise<void>> = {
  empty: async () => {},
  answer: async (window) => {
    await window.prompt("Hello, who are you?");
    await window.ended(1, "completed");
  },
  markdown: async (window) => {
    await window.prompt(`demo: echo ${MARKDOWN}`);
    await window.ended(1, "completed");
  },
  streaming: async (window) => {
    await window.prompt("demo: slow 400");
    await window.says(1, "word-3");
    await window.prompt("demo: echo this one waits");
    await window.at("queue-item").first().waitFor();
  },
  approval: async (window) => {
    await window.prompt("demo: approve");
    await window.at("approve-once").waitFor();
  },
  tool: async (window) => {
    await window.prompt("demo: tool");
    await window.ended(1);
  },
  failed: async (window) => {
    await window.prompt("demo: error");
    await window.ended(1, "failed");
  },
  crashed: async (window) => {
    await window.prompt("demo: crash");
    await window.ended(1, "failed");
    await window.at("restart-agent").first().waitFor();
  },
  offline: async (window) => {
    await window.prompt("demo: echo before the host went away");
    await window.ended(1, "completed");
    await stage.host.kill();
    await window.prompt("demo: echo typed meanwhile");
    await window.at("unsent").waitFor();
    await window.connection("offline");
  },
  many: async (window) => {
    for (const name of ["one", "two", "three"]) {
      await window.prompt(`demo: echo the ${name}`);
      await window.ended(1, "completed");
      await window.newTab();
    }
    await window.show("the two");
    await window.says(1, "the two");
  },
};

const SIZES = { wide: { width: 1200, height: 800 }, narrow: { width: 400, height: 760 } };

test("a barrier inside of a part is found, so that finding none means something", async () => {
  const window = await stage.window();
  await window.at("prompt").evaluate((box) => {
    const nameless = document.createElement("button");
    box.after(nameless, document.createElement("img"));
  });
  expect((await barriers(window.page)).map((finding) => finding.split("\n")[0])).toEqual([
    "button-name",
    "image-alt",
  ]);
});

for (const [name, enter] of Object.entries(STATES)) {
  test(`${name}: nothing keeps anybody out`, { timeout: 120_000 }, async () => {
    const folder = screenshots();
    const window = await stage.window(await stage.context({ viewport: SIZES.wide }));
    await enter(window);
    for (const theme of ["light", "dark"] as const) {
      await window.page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      for (const [size, viewport] of Object.entries(SIZES)) {
        await window.page.setViewportSize(viewport);
        await window.page.screenshot({ path: join(folder, `${name}-${theme}-${size}.png`) });
        expect.soft(await barriers(window.page), `${name}, ${theme}, ${size}`).toEqual([]);
        const wide = await window.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect.soft(wide, `${name}, ${theme}, ${size}: pixels beyond the edge`).toBeLessThanOrEqual(0);
      }
    }
  });
}
