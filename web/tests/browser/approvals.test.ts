/** Questions: what a person sees of a command and of a change, the five answers by hand and by key, and who was first. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions } from "playwright-core";
import { expect, test } from "vitest";
import * as says from "./stage/agentsays";
import { barriers } from "./stage/axe";
import { asked, Script } from "./stage/script";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const stage = useStage();

async function at(script: Script, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await stage.context(options);
  await script.at(context);
  const window = await stage.window(context);
  await window.show(script.session.title);
  return window;
}

const waiting = (...lines: Parameters<Script["say"]>) =>
  new Script([...asked(), ...lines], { status: "awaiting_approval" });

/** Goes to the answers by key, once they can be given. */
async function toAnswers(window: Window): Promise<void> {
  await expect.poll(() => window.at("approve-once").isEnabled()).toBe(true);
  await window.page.keyboard.press("Alt+a");
  await expect
    .poll(() => window.at("approve-once").evaluate((button) => button.matches(":focus")))
    .toBe(true);
}

test("a command is shown as it would run, with where, how bad, why, and what holds it in", async () => {
  const window = await at(waiting(says.command({ command: "ls \u202e\u0000x\n<b>y</b>" })));
  const card = window.at("approval");
  expect(await card.getByTestId("approval-command").textContent()).toBe("ls U+202EU+0000x\n<b>y</b>");
  expect(await card.getByTestId("approval-cwd").textContent()).toBe("/home/me/project");
  expect(await card.getByTestId("severity").textContent()).toContain("Medium risk");
  await expect.poll(() => card.getByTestId("approval-reasons").getByRole("listitem").count()).toBe(2);
  await card.getByText("Runs contained: bubblewrap 0.11.0").waitFor();
  await card.getByTestId("approval-rule").getByText("/usr/bin/cargo test -p parser -- --nocapture").waitFor();
  expect(window.trouble).toEqual({ errors: [], violations: [], ran: [] });
});

test("a change stands before and after beside each other, and one below the other where there is no room", async () => {
  const window = await at(waiting(says.change()), { viewport: { width: 1200, height: 800 } });
  const diff = window.at("approval").getByTestId("diff");
  await window.page.locator("[data-testid=diff][data-beside=true]").waitFor();
  const before = await diff.getByText("drops_empty_lines").boundingBox();
  const after = await diff.getByText("keeps_empty_lines").boundingBox();
  expect(before && after && after.x - before.x > 200 && Math.abs(after.y - before.y) < 2).toBe(true);
  expect(await diff.locator("mark").allTextContents()).toEqual(expect.arrayContaining(["2", "3"]));
  await window.page.setViewportSize({ width: 600, height: 800 });
  await window.page.locator("[data-testid=diff][data-beside=false]").waitFor();
});

test("a long change is folded until it is asked for", async () => {
  const lines = Array.from({ length: 500 }, (_, line) => ({
    type: "added" as const,
    text: `line ${String(line)}`,
  }));
  const change = { hunks: [{ oldStart: 0, newStart: 1, lines }], added: 4_500, removed: 0, leftOut: 4_000 };
  const window = await at(waiting(says.change({ change })));
  const diff = window.at("approval").getByTestId("diff");
  await diff.getByText("4,000 more lines change and are not shown here.").waitFor();
  await expect.poll(() => diff.getByText(/line 499$/).count()).toBe(0);
  await diff.getByRole("button", { name: "Show all 500 lines" }).click();
  await diff.getByText(/line 499$/).waitFor();
});

for (const [key, decision] of [
  ["a", "allow_once"],
  ["Enter", "allow_once"],
  ["s", "allow_session"],
  ["r", "allow_rule"],
  ["d", "deny"],
  ["Escape", "deny"],
  ["x", "deny_stop"],
] as const) {
  test(`the key ${key} answers ${decision}`, async () => {
    const script = waiting(says.command());
    const window = await at(script);
    await toAnswers(window);
    await window.page.keyboard.press(key);
    await expect
      .poll(() => script.last("decide"))
      .toEqual({ type: "decide", tab: "t", approval: "a1", decision });
    expect(script.last("cancel")).toBe(undefined);
  });
}

test("a question that comes while somebody writes takes neither the keys nor an answer from them", async () => {
  const script = new Script([...asked()]);
  const window = await at(script);
  await window.at("prompt").focus();
  await window.page.keyboard.type("as ");
  script.say(says.command());
  await window.at("approval").waitFor();
  await expect.poll(() => window.at("approve-once").isEnabled()).toBe(true);
  await window.page.keyboard.type("ads rx");
  await expect.poll(() => window.at("prompt").inputValue()).toBe("as ads rx");
  expect(script.last("decide")).toBe(undefined);
});

test("an edited command goes with the answer; Escape brings back what was asked", async () => {
  const script = waiting(says.command());
  const window = await at(script);
  await window.at("approval-edit-start").click();
  await window.at("approval-edit").fill("cargo clean");
  await window.page.keyboard.press("Escape");
  await window.at("approval-command").getByText("--nocapture").waitFor();
  expect(script.last("decide")).toBe(undefined);
  await window.at("approval-edit-start").click();
  await window.at("approval-edit").fill("cargo test -p parser");
  await window.page.getByText("An edited command is judged again before it runs.").waitFor();
  expect(await window.at("approve-rule").isDisabled()).toBe(true);
  await window.at("approve-once").click();
  await expect
    .poll(() => script.last("decide"))
    .toMatchObject({ decision: "allow_once", command: "cargo test -p parser" });
});

test("what is critical has no answer that is remembered", async () => {
  const window = await at(waiting(says.command({ severity: "critical" })));
  await window.at("approve-once").waitFor();
  expect(await window.at("approve-session").count()).toBe(0);
  expect(await window.at("approve-rule").count()).toBe(0);
});

test("an answer from elsewhere is said at once", async () => {
  const script = waiting(says.command());
  const window = await at(script);
  await window.at("approve-once").waitFor();
  script.say({ type: "approvalResolved", approval: "a1", resolution: "deny" });
  await window.at("asks-late").getByText("Answered elsewhere: Denied").waitFor();
  await expect.poll(() => window.at("asks-dock").count()).toBe(0);
});

test("rules are listed and can be taken back, after asking", async () => {
  const script = new Script([...asked()]);
  script.rules = [
    {
      id: "r1",
      effect: "allow",
      what: { type: "tool", tool: "navigate" },
      created: Date.now(),
      origin: "page",
    },
    {
      id: "r2",
      effect: "deny",
      what: { type: "edit", glob: "<img src=x onerror=pwned(1)>" },
      created: Date.now(),
      origin: "page",
    },
  ];
  const window = await at(script);
  await window.at("open-rules").click();
  await window.at("rule").nth(1).getByText("<img src=x").waitFor();
  await window.at("rule").first().getByTestId("rule-remove").click();
  await window.at("confirm-yes").click();
  await expect.poll(() => window.at("rule").count()).toBe(1);
  expect(script.last("removeRule")).toEqual({ type: "removeRule", rule: "r1" });
  expect(await barriers(window.page)).toEqual([]);
  expect(window.trouble).toEqual({ errors: [], violations: [], ran: [] });
});

test("what stays asked follows the switches", async () => {
  const script = new Script([...asked()]);
  const window = await at(script);
  await window.at("policy-open").click();
  await window.at("policy-asked").getByText("Every command is asked about").waitFor();
  await window.at("policy-autoCommands").check();
  await window.at("policy-asked").getByText("Commands of high or critical risk").waitFor();
  expect(script.last("setPolicy")).toEqual({ type: "setPolicy", tab: "t", change: { autoCommands: true } });
  await window.at("policy-mode").selectOption("plan");
  await window.at("policy-asked").getByText("Nothing is changed or run").waitFor();
});

// The real host, and the demo agent.

test("a command that the demo agent asks for runs once it is allowed, and is edited before", async () => {
  const window = await stage.window();
  await window.prompt("demo: run echo first");
  await window.at("approval-command").getByText("echo first").waitFor();
  await window.at("approval-edit-start").click();
  await window.at("approval-edit").fill("echo second");
  await window.at("approve-once").click();
  await window.ended(1, "completed");
  await window.says(1, "second");
});

test("a change that the demo agent asks for is shown as it is, and is made once it is allowed", async () => {
  const file = join(stage.host.workspace, "switchboard-demo.md");
  writeFileSync(file, "# A file\n\nEdited so often: 0\n");
  const window = await stage.window(await stage.context({ viewport: { width: 1200, height: 800 } }));
  await window.prompt("demo: edit");
  const diff = window.at("approval").getByTestId("diff");
  await diff.getByText("Edited so often: 1").waitFor();
  await diff.getByText("Edited so often: 0").waitFor();
  expect(readFileSync(file, "utf8")).toContain("often: 0");
  await toAnswers(window);
  await window.page.keyboard.press("a");
  await window.ended(1, "completed");
  expect(readFileSync(file, "utf8")).toContain("often: 1");
});

test("two windows answer the same question: the first one wins, and the other is told", async () => {
  const one = await stage.window();
  const other = await stage.window();
  await one.prompt("demo: run touch it-ran");
  await other.show("demo: run");
  for (const window of [one, other])
    await expect.poll(() => window.at("approve-once").isEnabled(), { timeout: 45_000 }).toBe(true);
  await one.at("deny").click();
  await other.at("asks-late").getByText("Answered elsewhere: Denied").waitFor();
  for (const window of [one, other]) {
    await window.ended(1, "completed");
    await expect.poll(() => window.at("approve-once").count()).toBe(0);
  }
  expect(existsSync(join(stage.host.workspace, "it-ran"))).toBe(false);
});
