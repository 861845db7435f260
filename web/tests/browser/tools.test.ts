/** The tool bench: a person finds a tool, fills its form, runs it, answers what is asked, cancels, and runs it again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { barriers } from "./stage/axe";
import { BenchScript, calm, TOOLS } from "./stage/benchscript";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const stage = useStage();

async function bench(window: Window): Promise<void> {
  await window.at("open-bench").click();
  await window.page.locator("[data-testid=bench][data-online=true]").waitFor();
  await window.at("bench-tool").first().waitFor();
}

async function pick(window: Window, tool: string): Promise<void> {
  await window.page.locator(`[data-testid=bench-tool][data-tool="${tool}"]`).click();
  await window.at("bench-name").getByText(tool, { exact: true }).waitFor();
}

const field = (window: Window, path: string) =>
  window.page.locator(`[data-testid=bench-field][data-path="${path}"]`);

async function type(window: Window, path: string, text: string): Promise<void> {
  await field(window, path).locator("textarea, input").fill(text);
}

const outcome = (window: Window, success: boolean) =>
  window.page.locator(`[data-testid=bench-outcome][data-success=${String(success)}]`);

async function scripted(answers = calm()): Promise<[Window, BenchScript]> {
  const context = await stage.context();
  const script = new BenchScript(answers);
  await script.at(context);
  const window = await stage.window(context);
  await bench(window);
  return [window, script];
}

test("every sort of field becomes what it must, and what is left empty is left out", async () => {
  const [window, script] = await scripted();
  await pick(window, "search_workspace");
  await type(window, "pattern", "fn main");
  await type(window, "limit", "5");
  await field(window, "case").locator("select").selectOption({ label: "sensitive" });
  await field(window, "hidden").locator("select").selectOption("true");
  await type(window, "types", '["rust"');
  await field(window, "types").getByText("This is not JSON").waitFor();
  expect(await window.at("bench-run").isDisabled()).toBe(true);
  await type(window, "types", '["rust"]');
  await type(window, "context.before", "2");
  await window.at("bench-timeout").fill("1500");
  await window.page.keyboard.press("Control+Enter");
  await outcome(window, true).waitFor();
  expect(script.last("EXECUTE_TOOL")?.["request"]).toMatchObject({
    toolName: "search_workspace",
    timeout: 1500,
    parameters: {
      pattern: "fn main",
      limit: 5,
      case: "sensitive",
      hidden: true,
      types: ["rust"],
      context: { before: 2 },
    },
  });
  const request = script.last("EXECUTE_TOOL")?.["request"] as { parameters: object };
  expect(Object.keys(request.parameters)).not.toContain("glob");
  await window.page.getByText("Request", { exact: true }).click();
  await window.at("bench-request").getByText('"fn main"').waitFor();
});

test("a long result is folded, and shown whole when it is asked for", async () => {
  const [window] = await scripted();
  await pick(window, "read_file");
  await type(window, "path", "x");
  await window.at("bench-run").click();
  const data = window.at("bench-data");
  await data.getByText("part3.rs").waitFor();
  await expect.poll(() => data.getByText("part39.rs").count()).toBe(0);
  await data.getByTestId("json-all").click();
  await data.getByText("part39.rs").waitFor();
  await expect.poll(() => data.locator(".tk-name").count()).toBeGreaterThan(50);
});

test("names and words of tools are foreign text", async () => {
  const evil = "<img src=x onerror=\"pwned('name')\">\u202eevil";
  const tool = {
    type: "function",
    function: {
      name: evil,
      description: `</p><script>pwned('about')</script>${"x".repeat(10_000)}`,
      parameters: {
        type: "object",
        properties: {
          [`"><b>${evil}`]: { type: "string", description: evil, default: evil },
          choice: { enum: [evil, "<b>"] },
          group: { type: "object", properties: { [evil]: { type: "integer" } } },
        },
        required: [`"><b>${evil}`, 7],
      },
    },
  };
  const answers = {
    ...calm(),
    GET_TOOLS: () => ({ tools: [tool, { type: evil }, ...TOOLS, null, 5] }),
    EXECUTE_TOOL: () => ({
      result: {
        success: false,
        error: { code: evil, message: evil, details: { [evil]: evil } },
        duration: 1,
      },
    }),
  };
  const [window] = await scripted(answers);
  await window.at("bench-tool").filter({ hasText: "onerror" }).first().click();
  await window.at("bench-name").getByText("U+202E").waitFor();
  await window.at("bench-run").click();
  await outcome(window, false).waitFor();
  expect(await window.at("bench").locator("img, script, b").count()).toBe(0);
  expect(await barriers(window.page)).toEqual([]);
  expect(window.trouble).toEqual({ errors: [], violations: [], ran: [] });
});

// The real host.

test("a person finds a tool, reads a file, and sees what is wrong at its field", async () => {
  writeFileSync(join(stage.host.workspace, "hello.txt"), "hello from the file\n");
  const window = await stage.window();
  await bench(window);
  const names = await window
    .at("bench-tool")
    .evaluateAll((items) => items.map((item) => (item as HTMLElement).dataset["tool"] ?? ""));
  expect(names).toEqual([...names].sort());
  expect(names).toEqual(
    expect.arrayContaining([
      "edit_file",
      "list_files",
      "read_file",
      "run_terminal_command",
      "search_workspace",
      "write_file",
    ]),
  );
  await window.at("bench-search").fill("read_f");
  await window
    .at("bench-count")
    .getByText(`1 of ${String(names.length)} tools`)
    .waitFor();
  await pick(window, "read_file");
  await window.at("bench-run").click();
  await outcome(window, false).getByText("VALIDATION_ERROR").waitFor();
  await field(window, "path").getByTestId("bench-wrong").locator("p").first().waitFor();
  await type(window, "path", "hello.txt");
  await field(window, "path").getByTestId("bench-wrong").locator("p").first().waitFor({ state: "detached" });
  await window.at("bench-run").click();
  await outcome(window, true).waitFor();
  await window.at("bench-data").getByText("hello from the file").waitFor();
  await window.at("bench-duration").getByText("ms").waitFor();
  expect(await barriers(window.page)).toEqual([]);
});

test("a command is asked about in every window of the bench, runs once, and is in the history to be run again", async () => {
  await stage.host.ask("trust", stage.host.workspace);
  const one = await stage.window();
  const other = await stage.window();
  await bench(one);
  await bench(other);
  await pick(one, "run_terminal_command");
  await type(one, "command", "echo ran-$((40+2))");
  await one.at("bench-run").click();
  for (const window of [one, other]) await window.at("approval-command").getByText("echo ran-").waitFor();
  await expect.poll(() => other.at("approve-once").isEnabled()).toBe(true);
  await other.at("approve-once").click();
  await one.at("asks-late").getByText("Answered elsewhere: Allowed once").waitFor();
  await outcome(one, true).waitFor();
  await one.at("bench-data").getByText("ran-42").waitFor();
  await expect.poll(() => one.at("approval").count()).toBe(0);

  const past = one.page.locator('[data-testid=bench-call][data-tool="run_terminal_command"]').first();
  await past.getByTestId("bench-look").click();
  await past.getByTestId("bench-past").getByText("ran-42").waitFor();
  await past.getByTestId("bench-again").click();
  await one.at("approval-command").getByText("echo ran-").waitFor();
  await expect.poll(() => one.at("deny").isEnabled()).toBe(true);
  await one.at("deny").click();
  await outcome(one, false).getByText("DENIED").waitFor();
  await expect
    .poll(() => one.page.locator('[data-testid=bench-call][data-tool="run_terminal_command"]').count())
    .toBe(2);
});

test("what runs shows what it writes, and can be cancelled", async () => {
  await stage.host.ask("trust", stage.host.workspace);
  const window = await stage.window();
  await bench(window);
  await pick(window, "run_terminal_command");
  await type(window, "command", "echo begun; sleep 600");
  await window.at("bench-run").click();
  await expect
    .poll(
      () =>
        window
          .at("approve-once")
          .isEnabled()
          .catch(() => false),
      { timeout: 45_000 },
    )
    .toBe(true);
  await window.at("approve-once").click();
  await window.at("bench-result").getByText("begun").waitFor();
  await window.at("bench-cancel").click();
  await outcome(window, false).getByText("CANCELLED").waitFor();
});

test("the bench goes on where it was when the host was gone", async () => {
  const window = await stage.window();
  await bench(window);
  await pick(window, "list_files");
  await stage.host.kill();
  await window.at("bench-offline").waitFor();
  await stage.host.again();
  await window.page.locator("[data-testid=bench][data-online=true]").waitFor();
  await window.at("bench-run").click();
  await outcome(window, true).waitFor();
});
