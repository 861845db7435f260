/** What a person does besides asking: consent, stop, wait in line, restart an agent, trust a folder, come back to old talks. */
import { expect, test } from "vitest";
import { logOf } from "./stage/log";
import { slow } from "./stage/same";
import { useStage } from "./stage/stage";
import { words } from "./stage/window";

const stage = useStage();

test("a question is in every window, and the first answer is everybody's", async () => {
  const one = await stage.window();
  const other = await stage.window();
  await one.prompt("demo: approve");
  await other.show("demo: approve");
  await one.at("approve-once").waitFor();
  await other.at("approve-once").click();
  for (const window of [one, other]) {
    await window.ended(1, "completed");
    await window.says(1, "You decided: allow_once");
    await expect.poll(() => window.at("approve-once").count()).toBe(0);
  }
});

test("a question that nobody answered is asked again after a reload", async () => {
  const window = await stage.window();
  await window.prompt("demo: approve");
  await window.at("deny").waitFor();
  await window.page.reload();
  await window.at("deny").click();
  await window.says(1, "You decided: deny");
});

test("what runs can be stopped, and what waits goes on", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 400");
  await window.says(1, "word-2");
  await window.prompt("demo: echo next in line");
  await window.at("queue-item").first().waitFor();
  await window.at("stop").click();
  await window.ended(1, "cancelled");
  await window.ended(2, "completed");
  const said = await logOf(stage.host, 2);
  expect(said.map((turn) => turn.outcome)).toEqual(["cancelled", "completed"]);
  expect(slow(400).startsWith(words(await window.answer(1)))).toBe(true);
  expect(words(await window.answer(2))).toBe("next in line");
});

test("an agent that crashed says so and is back with the next prompt", async () => {
  const window = await stage.window();
  await window.prompt("demo: crash 2");
  await window.ended(1, "failed");
  await window.page.locator("[data-testid=agent-state][data-state=exited]").first().waitFor();
  await window.prompt("demo: echo back again");
  await window.ended(2, "completed");
  expect(words(await window.answer(2))).toBe("back again");
});

test("an agent that crashed can be started by hand", async () => {
  const window = await stage.window();
  await window.prompt("demo: crash 1");
  await window.ended(1, "failed");
  await window.at("restart-agent").first().click();
  await window.page
    .locator("[data-testid=agent-state][data-state=exited]")
    .first()
    .waitFor({ state: "detached" });
});

test("a folder is trusted by the page's own button, in every window", async () => {
  const one = await stage.window();
  const other = await stage.window();
  await other.at("trust-banner").waitFor();
  await one.at("trust-button").click();
  await one.at("confirm-yes").click();
  await one.at("trust-banner").waitFor({ state: "detached" });
  await other.at("trust-banner").waitFor({ state: "detached" });
});

test("a closed conversation is in history, opens again with all its words, and is gone once deleted", async () => {
  const window = await stage.window();
  await window.prompt("demo: echo to be found again");
  await window.ended(1, "completed");
  await window.page
    .locator("[data-testid=tab] [data-testid=tab-close], [data-testid=tab-close]")
    .first()
    .click();
  const item = window.at("session-item").filter({ hasText: "to be found again" });
  await item.waitFor();
  await expect.poll(() => window.at("tab").filter({ hasText: "to be found again" }).count()).toBe(0);
  await item.click();
  await window.says(1, "to be found again");
  await item.hover();
  await window.at("session-delete").first().click();
  await window.at("confirm-yes").click();
  await item.waitFor({ state: "detached" });
  await window.page.reload();
  await window.online();
  await expect.poll(() => item.count()).toBe(0);
});

test("a draft outlives a reload", async () => {
  const window = await stage.window();
  await window.at("prompt").fill("half a thought");
  await window.page.reload();
  await window.online();
  await expect.poll(() => window.at("prompt").inputValue()).toBe("half a thought");
});

test("a browser that is not let in is told what to run", async () => {
  const context = await stage.context();
  const page = await context.newPage();
  const answer = await page.goto(stage.host.url);
  expect(answer?.status()).toBe(401);
  await page.getByText("switchboard open").waitFor();
});
