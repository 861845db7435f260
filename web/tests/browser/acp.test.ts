/** A real host, a real process that speaks ACP, and a person at the page: each thing once, from one end to the other. */
import { join } from "node:path";
import { expect, test } from "vitest";
import * as says from "./stage/agentsays";
import { useStage } from "./stage/stage";
import { type Window, words } from "./stage/window";

const AGENT = join(import.meta.dirname, "stage/agent.py");
const agent = (name: string, ...more: string[]) =>
  `[agents.${name}]\nkind = "acp"\ncommand = ${JSON.stringify(["python3", "-u", AGENT, ...more])}\n`;

const stage = useStage({
  config: `default_agent = "scripted"\n\n${agent("scripted")}\n${agent("locked", "--sign-in")}`,
});

/** A window in a folder that is trusted. */
async function trusted(): Promise<Window> {
  await stage.host.ask("trust", stage.host.workspace);
  const window = await stage.window();
  await window.at("trust-banner").waitFor({ state: "detached" });
  return window;
}

test("a change is drawn as the agent told it, and the same after a reload", async () => {
  const window = await trusted();
  await window.prompt("edit the notes");
  await window.ended(1, "completed");
  for (const again of [false, true]) {
    if (again) await window.page.reload();
    const call = window.turn(1).getByTestId("tool-call");
    await call.getByText("+1").waitFor();
    await call.locator("summary").first().click();
    await call.getByTestId("diff").getByText("notes.txt").waitFor();
    expect(words(await window.answer(1))).toBe("That was edit in mode ask.");
  }
});

test("the agent's own answers are offered, and the one that was chosen is what it hears", async () => {
  const window = await trusted();
  await window.prompt("ask me");
  await window.at("asks-dock").getByRole("button", { name: "Yes, and never ask again" }).click();
  await window.says(1, "You chose auto.");
  await window.ended(1, "completed");
});

test("a command runs only when it is allowed, and its output is drawn as it comes", async () => {
  const window = await trusted();
  await window.prompt("run echo here it is");
  await window.at("asks-dock").getByText("echo here it is").first().waitFor();
  await window.at("approve-once").click();
  await window.says(1, "It ended with 0.");
  await window.ended(1, "completed");
  await window.turn(1).getByTestId("tool-call").locator("summary").first().click();
  await window.at("terminal").getByText("here it is").waitFor();
  await expect.poll(() => window.turn(1).getByTestId("execution").count()).toBe(1);
  await window.prompt("run echo never");
  await window.at("deny").click();
  await window.says(2, "It did not run");
});

test("modes are set, commands are offered, and pictures arrive", async () => {
  const window = await trusted();
  await window.prompt("hello");
  await window.ended(1, "completed");
  await window.page.getByLabel("Mode", { exact: true }).selectOption("plan");
  await window.at("prompt").pressSequentially("/rev");
  await window.at("slash-command").getByText("Looks at a change").click();
  await expect.poll(() => window.at("prompt").inputValue()).toBe("/review ");
  const buffer = Buffer.from(says.picture.data, "base64");
  await window.page
    .locator("input[type=file]")
    .setInputFiles([{ name: "red.png", mimeType: "image/png", buffer }]);
  await window.at("thumb").waitFor();
  await window.prompt("look at this");
  await window.says(2, `I see image/png of ${says.picture.data.length} letters.`);
  await window.says(2, "in mode plan");
  await window.turn(2).getByTestId("turn-pictures").locator("img").waitFor();
});

test("a reload in the middle of a turn shows what was there, and goes on", async () => {
  const window = await trusted();
  await window.prompt("slow 60");
  await window.says(1, "word-5");
  await window.page.reload();
  await window.says(1, "word-1 word-2 word-3");
  await window.turn(1).getByTestId("tool-call").waitFor();
  await window.ended(1, "completed");
  const all = Array.from({ length: 60 }, (_, at) => `word-${at + 1}`).join(" ");
  expect(words(await window.answer(1))).toBe(`${all} That was slow in mode ask.`);
});

test("an agent that wants a sign-in is signed in from the page", async () => {
  const window = await trusted();
  await window.page.getByLabel("Agent", { exact: true }).selectOption("locked");
  await window.prompt("hello");
  await window.at("sign-in").getByText("Sign in with your account").first().waitFor();
  await window.at("sign-in-by-agent").first().click();
  await window.at("sign-in").waitFor({ state: "detached" });
  await window.prompt("hello again");
  await window.page.getByText("That was hello in mode ask.").first().waitFor();
});
