/** The inspector: the wire of a conversation, switched on by a person, seen as it goes, in light, dark and little room. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { barriers } from "./stage/axe";
import { screenshots } from "./stage/place";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const stage = useStage();

interface Kept {
  n: number;
  side: string;
  dir: string;
  name: string;
  verdict: string;
  events?: { from: number; to: number };
}

async function inspected(window: Window): Promise<void> {
  await window.prompt("demo: echo before");
  await window.ended(1, "completed");
  const item = window.at("session-item").first();
  await item.hover();
  await item.getByTestId("session-inspect").click();
  await window.at("inspector").waitFor();
}

/** Closes the sheet, asks, and comes back to it by its key. */
async function asked(window: Window, prompt: string, turn: number): Promise<void> {
  await window.at("inspector-close").click();
  await window.at("inspector").waitFor({ state: "detached" });
  await window.prompt(prompt);
  await window.ended(turn);
  await window.page.keyboard.press("Alt+i");
  await window.at("inspector").waitFor();
}

const rows = (window: Window, name: string, side: string, dir: string) =>
  window.page.locator(
    `[data-testid=wire-row][data-name="${name}"][data-side="${side}"][data-dir="${dir}"][data-verdict=ok]`,
  );

test("a person switches the record on, sees each message with its events, and finds what went wrong", async () => {
  const window = await stage.window();
  await inspected(window);
  await window.at("wire-empty").filter({ hasText: "Nothing is recorded" }).waitFor();
  await window.at("wire-switch").click();
  await rows(window, "recording on", "host", "note").waitFor();

  await asked(window, "demo: garbage", 2);
  await rows(window, "response-complete", "agent", "in").waitFor();
  await expect.poll(() => window.at("wire-switch").isChecked()).toBe(true);
  const kept = (await stage.host.ask("inspect", "1")) as Kept[];
  await expect
    .poll(async () => Number(await window.at("wire-list").getAttribute("data-count")))
    .toBeGreaterThanOrEqual(kept.filter(({ side }) => side === "agent").length);

  // What the page shows of a message is what the command line shows of it.
  const complete = kept.find(
    (one) => one.name === "response-complete" && one.dir === "in" && one.verdict === "ok",
  );
  await rows(window, "response-complete", "agent", "in").click();
  await window
    .at("wire-events")
    .filter({ hasText: `#${String(complete?.events?.from)}` })
    .waitFor();
  await window.at("wire-raw").filter({ hasText: '"type": "response-complete"' }).waitFor();

  await window.at("wire-filter-verdict").selectOption("noise");
  const noise = kept.filter(({ verdict }) => verdict === "noise").length;
  expect(noise).toBeGreaterThan(0);
  await window
    .at("wire-count")
    .filter({ hasText: `${String(noise)} of` })
    .waitFor();
  await window.at("wire-filter-verdict").selectOption("");
  await window.at("wire-find").fill("demo: garbage");
  await rows(window, "process-prompt", "agent", "out").waitFor();
  await expect.poll(() => rows(window, "response-complete", "agent", "in").count()).toBe(0);
  expect([...window.trouble.violations, ...window.trouble.ran]).toEqual([]);
});

test("the list follows what comes, and switching off ends it", async () => {
  const window = await stage.window();
  await inspected(window);
  await window.at("wire-switch").click();
  await rows(window, "recording on", "host", "note").waitFor();
  const other = await stage.window();
  await other.at("session-item").first().locator("button").first().click();
  await other.prompt("demo: fast 3000");
  await other.ended(2, "completed");
  await rows(window, "response-complete", "agent", "in").waitFor();
  // Thousands of messages, and a handful of them in the document.
  await expect
    .poll(async () => Number(await window.at("wire-list").getAttribute("data-count")))
    .toBeGreaterThan(2000);
  await expect.poll(() => window.at("wire-row").count()).toBeLessThan(120);
  await window.at("wire-switch").click();
  await rows(window, "recording off", "host", "note").waitFor();
  const [download] = await Promise.all([
    window.page.waitForEvent("download"),
    window.at("wire-export").click(),
  ]);
  expect(download.suggestedFilename()).toBe("session-1-wire.jsonl");
  expect(window.trouble.violations).toEqual([]);
});

for (const [name, options] of Object.entries({
  light: { colorScheme: "light" as const },
  dark: { colorScheme: "dark" as const },
  narrow: { colorScheme: "light" as const, viewport: { width: 320, height: 640 } },
})) {
  test(`nobody is kept out of the inspector, ${name}`, async () => {
    const window = await stage.window(await stage.context(options));
    await window.prompt("demo: echo before");
    await window.ended(1, "completed");
    await window.page.keyboard.press("Alt+i");
    await window.at("wire-switch").click();
    await rows(window, "recording on", "host", "note").waitFor();
    await asked(window, "demo: garbage", 2);
    await rows(window, "response-complete", "agent", "in").waitFor();
    await window.at("wire-list").press("End");
    await window.at("wire-raw").waitFor();
    expect(await barriers(window.page)).toEqual([]);
    const [wide, room] = await window.page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    expect(wide).toBeLessThanOrEqual(room ?? 0);
    await window.page.screenshot({ path: join(screenshots(), `inspector-${name}.png`) });
  });
}
