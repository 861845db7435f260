/** What real agents bring to the page: calls, changes, terminals, questions with their own answers, options, commands, pictures. */
import { expect, test } from "vitest";
import * as says from "./stage/agentsays";
import { asked, type Line, Script } from "./stage/script";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const stage = useStage();

/** A window that hears what the script says. */
async function at(script: Script, viewport = { width: 1100, height: 800 }): Promise<Window> {
  const context = await stage.context({ viewport });
  await script.at(context);
  const window = await stage.window(context);
  await window.show(script.session.title);
  return window;
}

const spread = (window: Window) =>
  window.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test("a call shows its change, line by line, and says how much it is before it is opened", async () => {
  const window = await at(new Script([...asked(), says.edit("e")]));
  const call = window.at("tool-call");
  await call.getByText("+2").waitFor();
  await expect.poll(() => call.getByTestId("diff").count()).toBe(0);
  await call.locator("summary").first().click();
  await call.getByTestId("diff").getByText("Lines::Kept").first().waitFor();
  expect(await call.locator("mark").allTextContents()).toEqual([", Lines::Kept"]);
  await call.getByText("src/parser.rs:7").waitFor();
});

test("a command that the host runs for a call is shown once, inside of it, and follows its end", async () => {
  const script = new Script([...asked(), ...says.running]);
  const window = await at(script);
  await window.at("terminal").getByText("keeps_empty_lines").waitFor();
  await expect.poll(() => window.at("execution").count()).toBe(1);
  expect(await window.at("terminal").locator(".bold.c2").textContent()).toBe("   Compiling");
  const line = "x".repeat(60);
  script.say(
    { type: "executionOutput", execution: "x1", text: `${line}\n`.repeat(400) },
    {
      type: "executionOutput",
      execution: "x1",
      text: "the very end\n",
    },
  );
  await window.at("terminal").getByText("the very end").waitFor();
  await expect
    .poll(() => window.at("terminal").evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight))
    .toBeLessThan(5);
  script.say(
    { type: "executionEnded", execution: "x1", title: "cargo test", end: { type: "exited", code: 101 } },
    says.call("run", { title: "", status: "failed" }),
  );
  const call = window.at("tool-call");
  await call.getByText("failed").first().waitFor();
  await call.locator("summary").first().click();
  await call.getByText("exit code 101").waitFor();
  await window.page.reload();
  await window.at("tool-call").locator("summary").first().click();
  await window.at("tool-call").getByText("exit code 101").waitFor();
  await expect.poll(() => window.at("execution").count()).toBe(1);
});

test("an execution whose end nobody knows says so", async () => {
  const window = await at(
    new Script([
      ...asked(),
      ...says.running.slice(1),
      { type: "executionEnded", execution: "x1", title: "cargo test", end: { type: "unknown" } },
      {
        type: "turnEnded",
        outcome: "failed",
        detail: { code: "host_restarted", message: "the host was restarted" },
      },
    ]),
  );
  await window.at("execution").getByText("unknown").waitFor();
  await window.at("execution").locator("summary").click();
  await window.at("execution").getByText("it is not done again").waitFor();
});

test("forty calls are one line, and all of them are there", async () => {
  const many = Array.from({ length: 40 }, (_, at) =>
    at % 4 === 0
      ? says.edit(`c${String(at)}`)
      : says.call(`c${String(at)}`, { title: `Read ${String(at)}`, kind: "read" }),
  );
  const window = await at(new Script([...asked(), ...many, { type: "text", text: "Done." }]));
  await window.at("run-fold").getByText("10 edits, 30 reads").waitFor();
  await expect.poll(() => window.at("tool-call").count()).toBe(0);
  await window.at("run-fold").click();
  await expect.poll(() => window.at("tool-call").count()).toBe(40);
});

test("a question has the agent's own answers, and the one that is chosen goes out by its name", async () => {
  const script = new Script([...asked(), says.question()], { status: "awaiting_approval" });
  const window = await at(script);
  const dock = window.at("asks-dock");
  expect(await dock.getByRole("button").allInnerTexts()).toEqual([
    "Yes\n1",
    "Yes, and allow all edits of this session\n2",
    "Yes, and go on without asking\n3",
    "No, and say what to do instead\n4",
    "Deny and stop\n5",
  ]);
  await dock.getByTestId("diff").getByText("Lines::Kept").first().waitFor();
  await dock.getByRole("button", { name: "Yes, and go on without asking" }).click();
  await expect
    .poll(() => script.last("decide"))
    .toMatchObject({
      approval: "q",
      decision: "allow_session",
      option: "auto",
    });
  script.say({ type: "approvalResolved", approval: "q", resolution: "allow_session", option: "auto" });
  await dock.waitFor({ state: "detached" });
  await window.at("approval-answer").getByText("Yes, and go on without asking").waitFor();
});

test("a question can be answered by keys alone", async () => {
  const script = new Script([...asked(), says.question()], { status: "awaiting_approval" });
  const window = await at(script);
  await expect
    .poll(async () => {
      await window.page.keyboard.press("Alt+a");
      return window
        .at("asks-dock")
        .getByTestId("approve-once")
        .evaluate((button) => button.matches(":focus"));
    })
    .toBe(true);
  await window.page.keyboard.press("4");
  await expect.poll(() => script.last("decide")).toMatchObject({ decision: "deny", option: "no" });
});

test("without answers of its own, a question has ours; several wait in line", async () => {
  const ours: Line = says.question({
    id: "q2",
    kind: "command",
    title: "Clean up",
    command: "rm -rf build",
    options: [],
  });
  const script = new Script([...asked(), says.question(), ours], { status: "awaiting_approval" });
  const window = await at(script);
  await window.page.getByText("Question 1 of 2").waitFor();
  await window.page.getByLabel("The next question").click();
  await window.at("asks-dock").getByText("rm -rf build").waitFor();
  await window.at("approve-session").click();
  await expect
    .poll(() => script.last("decide"))
    .toEqual({
      type: "decide",
      tab: "t",
      approval: "q2",
      decision: "allow_session",
    });
});

test("options are set from the bar, show what holds, and say why they cannot be set", async () => {
  const script = new Script([...asked(), says.options(), says.usage]);
  const window = await at(script);
  const model = window.page.getByLabel("Model");
  await expect.poll(() => model.inputValue()).toBe("large");
  await model.selectOption("small");
  await expect.poll(() => script.last("setOption")).toMatchObject({ option: "model", value: "small" });
  script.say(says.options("small"));
  await expect.poll(() => model.inputValue()).toBe("small");
  script.say(says.options("old"));
  await expect.poll(() => model.inputValue()).toBe("old");
  await window.at("more-options").click();
  await window.page.getByLabel("Web search").selectOption("false");
  await expect.poll(() => script.last("setOption")).toMatchObject({ option: "web", value: "false" });
  await window.page.keyboard.press("Escape");
  await window.at("usage").getByText("48.2K / 200K").waitFor();
  script.change({ agentState: "asleep" });
  await expect.poll(() => model.isDisabled()).toBe(true);
  expect(await model.locator("xpath=..").getAttribute("title")).toMatch(/unloaded; the next prompt wakes it/);
});

test("a slash offers the agent's commands, few at a time however many there are", async () => {
  const script = new Script([...asked(), { type: "turnEnded", outcome: "completed" }, says.commands(3_000)], {
    status: "idle",
  });
  const window = await at(script);
  const box = window.at("prompt");
  await box.pressSequentially("/");
  await window.at("slash").getByText("50 of 3001").waitFor();
  await expect.poll(() => window.at("slash-command").count()).toBe(50);
  await box.pressSequentially("rev");
  await expect.poll(() => window.at("slash-command").count()).toBe(1);
  await window.page.keyboard.press("Enter");
  await expect.poll(() => box.inputValue()).toBe("/review ");
  await expect.poll(() => window.at("slash").count()).toBe(0);
  await box.fill("");
  await box.pressSequentially("/skill:299");
  await expect.poll(() => window.at("slash-command").count()).toBe(11);
  await window.page.keyboard.press("ArrowDown");
  await window.page.keyboard.press("ArrowDown");
  await window.page.keyboard.press("Tab");
  await expect.poll(() => box.inputValue()).toBe("/skill:2991 ");
  await box.fill("/rev");
  await window.at("slash-command").click();
  await expect.poll(() => box.inputValue()).toBe("/review ");
  await box.fill("/rev");
  await window.page.keyboard.press("Escape");
  await window.at("slash").waitFor({ state: "detached" });
  expect(script.last("cancel")).toBeUndefined();
});

test("a picture goes with the prompt and stands in the conversation; what is none is refused in words", async () => {
  const script = new Script([...asked(), { type: "turnEnded", outcome: "completed" }], { status: "idle" });
  const window = await at(script);
  const buffer = Buffer.from(says.picture.data, "base64");
  const files = window.page.locator("input[type=file]");
  await files.setInputFiles([
    { name: "red.png", mimeType: "image/png", buffer },
    { name: "page.png", mimeType: "image/png", buffer: Buffer.from("<svg onload='pwned()'>") },
    { name: "huge.png", mimeType: "image/png", buffer: Buffer.alloc(6 * 1024 * 1024) },
  ]);
  await window.at("thumb").waitFor();
  await window.page.getByText("page.png is no picture").waitFor();
  await window.page.getByText("huge.png has 5.0 MB").waitFor();
  await window.at("prompt").evaluate((box, data) => {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], "pasted.png", { type: "image/png" }));
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, says.picture.data);
  await expect.poll(() => window.at("thumb").count()).toBe(2);
  await window.page.getByLabel("Remove picture 2").click();
  await window.at("prompt").fill("What is red here?");
  await window.at("send").click();
  await expect
    .poll(() => script.last("prompt"))
    .toMatchObject({
      text: "What is red here?",
      context: [{ image: says.picture }],
    });
  await expect.poll(() => window.at("thumb").count()).toBe(0);
  script.say({
    type: "promptQueued",
    name: script.last("prompt")?.name ?? "",
    prompt: { text: "What is red here?", context: [{ image: says.picture }] },
    position: 0,
  });
  const image = window.at("turn-pictures").locator("img");
  await image.waitFor();
  expect(await image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(10);
  expect(window.trouble.violations).toEqual([]);
});

test("an agent that wants a sign-in says how, and is tried again", async () => {
  const script = new Script(
    [
      ...asked(),
      says.signIn,
      {
        type: "turnEnded",
        outcome: "failed",
        detail: { code: "agent_unavailable", message: "sign in first" },
      },
    ],
    { status: "idle", agentState: "none" },
  );
  const window = await at(script);
  await window.at("sign-in").getByText("claude /login").first().waitFor();
  await window.at("sign-in-by-agent").click();
  await expect.poll(() => script.last("signIn")).toEqual({ type: "signIn", tab: "t", method: "browser" });
  await window.at("sign-in-retry").click();
  await expect.poll(() => script.last("restartAgent")).toBeDefined();
  script.change({ agentState: "ready" });
  await window.at("sign-in").waitFor({ state: "detached" });
});

test("the agent's log floods nobody: it is apart, counts errors, and opens when the agent is gone", async () => {
  const script = new Script([...asked(), ...says.noise(1_500), { type: "text", text: "Here I am." }]);
  const window = await at(script);
  await window.says(1, "Here I am.");
  await expect.poll(() => window.at("agent-log").count()).toBe(0);
  await expect.poll(() => window.at("notice").count()).toBe(0);
  script.say({ type: "log", level: "error", message: "the model refuses" });
  await window.at("log-errors").getByText("1").waitFor();
  await window.at("agent-log-toggle").click();
  await window.at("agent-log").getByText("the model refuses").waitFor();
  await expect.poll(() => window.at("log-errors").count()).toBe(0);
  await window.page.getByLabel("Close the log").click();
  script.say(
    { type: "agentExited", message: "agent `claude` exited with code 1; its log says why", loose: true },
    { type: "turnEnded", outcome: "failed", detail: { code: "agent_exited", message: "it is gone" } },
  );
  script.change({ status: "idle", agentState: "exited" });
  await window.at("agent-log").getByText("the model refuses").waitFor();
});

test("a silent agent is said to be silent, and can be stopped", async () => {
  const script = new Script(
    [...asked(), { type: "status", message: "no word from agent `claude` for 60 s" }],
    {
      agentState: "stalled",
    },
  );
  const window = await at(script);
  await window.at("agent-state").getByText("for 60 s").waitFor();
  await window.at("stalled-stop").click();
  await expect.poll(() => script.last("cancel")).toMatchObject({ name: "n1" });
});

test("agents that were found on the machine are offered where the folder is trusted", async () => {
  const script = new Script(asked());
  const [workspace] = script.workspaces;
  if (!workspace) throw new Error("no workspace");
  workspace.offers = [{ name: "gemini", title: "Gemini CLI", command: "gemini --acp" }];
  const window = await at(script);
  await window.page.getByLabel("New tab with…").click();
  await window.at("menu-agent").filter({ hasText: "claude" }).getByText("acp").waitFor();
  await window.at("offer").filter({ hasText: "gemini --acp" }).click();
  await expect.poll(() => script.last("addAgent")).toEqual({ type: "addAgent", name: "gemini" });
  workspace.trusted = false;
  await window.page.reload();
  await window.online();
  await window.page.getByLabel("New tab with…").click();
  await window.at("menu-agent").first().waitFor();
  await expect.poll(() => window.at("offer").count()).toBe(0);
});

test("calls that want to harm the page do none, on a small screen, too", { timeout: 180_000 }, async () => {
  const lines = (word: string) =>
    Array.from({ length: 20_000 }, (_, at) => `${word} ${String(at)}`).join("\n");
  const turned = "\u202etxt.exe\u2066\u0000\u001b[2J\u001b]0;x\u0007";
  const script = new Script([
    ...asked(turned),
    says.call(`id-${turned}`, {
      title: `${turned} <script>pwned(1)</script> ${"A".repeat(5_000)}`,
      kind: "edit",
      status: "running",
      locations: Array.from({ length: 500 }, (_, at) => ({ path: "p".repeat(300), line: at })),
      content: [
        { type: "diff", path: "p".repeat(2_000), old: lines("old"), new: lines("new") },
        { type: "diff", path: turned, old: "x".repeat(300_000), new: `${turned}${"y".repeat(300_000)}` },
        { type: "terminal", terminal: "own", output: turned.repeat(20_000) },
        {
          type: "text",
          text: `<img src=x onerror=pwned(2)> [x](javascript:pwned(3)) ${"w ".repeat(100_000)}`,
        },
        { type: "image", image: { mime: "image/svg+xml", data: btoa("<svg onload='pwned(4)'/>") } },
        { type: "image", image: { mime: 'image/png" onerror="pwned(5)', data: says.picture.data } },
        { type: "link", uri: "javascript:pwned(6)", name: turned },
        { type: "other", raw: { [turned]: "<b>".repeat(10_000) } },
      ],
      input: { deep: "x".repeat(100_000) },
    }),
    {
      type: "plan",
      entries: Array.from({ length: 300 }, () => ({
        content: "e".repeat(300),
        status: "pending",
        priority: turned,
      })),
    },
    says.question({ title: turned, command: `rm ${turned}${"z".repeat(50_000)}`, options: [] }),
    says.options(turned),
    {
      type: "commandsChanged",
      loose: true,
      commands: [{ name: turned, description: "<script>pwned(7)</script>" }],
    },
    { type: "log", level: "error", message: turned.repeat(1_000) },
  ]);
  const window = await at(script, { width: 320, height: 640 });
  await window.at("tool-call").getByTestId("diff").first().waitFor({ timeout: 90_000 });
  expect(await spread(window)).toBeLessThanOrEqual(0);
  const box = await window.at("prompt").boundingBox();
  expect(box && box.y + box.height <= 640).toBe(true);
  await window.at("deny").scrollIntoViewIfNeeded();
  await window.at("deny").click();
  await expect.poll(() => script.last("decide")).toMatchObject({ decision: "deny" });
  expect(window.trouble).toEqual({ errors: [], violations: [], ran: [] });
});

test("megabytes of output are the end of it, and the page still answers", { timeout: 180_000 }, async () => {
  const script = new Script([...asked(), ...says.running]);
  const window = await at(script);
  await window.at("terminal").waitFor();
  for (let at = 0; at < 40; at += 1)
    script.say({
      type: "executionOutput",
      execution: "x1",
      text: `${String(at)} ${"o".repeat(97)}\n`.repeat(1_000),
    });
  script.say({ type: "executionOutput", execution: "x1", text: "the last line\n" });
  await window.at("terminal").getByText("the last line").waitFor({ timeout: 90_000 });
  await window.page.getByRole("button", { name: "Show all" }).click();
  await window.at("terminal").getByText("the last line").waitFor();
  await window.at("prompt").fill("still here");
  await expect.poll(() => window.at("prompt").inputValue()).toBe("still here");
});
