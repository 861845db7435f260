/** From nothing to an agent with a model of one's own: found or named, chosen, trusted, asked; and its model and mode beside the box. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ModelServer, Workspace } from "../../ui/wire";
import { Ollama } from "./stage/ollama";
import { pictures } from "./stage/pictures";
import { screenshots } from "./stage/place";
import { asked, Script } from "./stage/script";
import { useStage } from "./stage/stage";
import { type Window, words } from "./stage/window";

let ollama: Ollama;
const others: Ollama[] = [];
beforeEach(async () => {
  ollama = await Ollama.start();
});
// As somebody who has told Ollama to listen everywhere.
const stage = useStage({ env: () => ({ OLLAMA_HOST: ollama.host.replace("127.0.0.1", "0.0.0.0") }) });
afterEach(async () => {
  await Promise.all([ollama, ...others.splice(0)].map((server) => server.stop()));
});

const SAID = "Hello from the local model.";

/** Chooses a model on the card and goes on until the agent can be asked. */
async function choose(window: Window, model: string): Promise<void> {
  await window.page.locator(`[data-testid=local-model][data-model="${model}"]`).click();
  await window.at("lead-trust").click();
  await window.at("confirm-yes").click();
  await window.at("trust-banner").waitFor({ state: "detached" });
  await expect.poll(() => window.at("prompt").getAttribute("placeholder")).toBe("Ask local…");
}

test("a local Ollama is found, a model is chosen, and its first answer streams; all of it by the keyboard", async () => {
  const window = await stage.window();
  const { page } = window;
  await window.at("local-found").getByText(ollama.url).waitFor();
  await expect.poll(() => window.at("local-model").allInnerTexts()).toHaveLength(2);
  await page.getByRole("button", { name: /Work with qwen3:8b.*5\.2 GB/ }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await window.at("empty").getByText("One more step").waitFor();
  await expect.poll(() => window.at("lead-trust").evaluate((button) => button.matches(":focus"))).toBe(true);
  await page.keyboard.press("Enter");
  await window.at("confirm").waitFor();
  await page.keyboard.press("Enter");
  await window.at("empty").getByText("What should local do?").waitFor();
  await expect.poll(() => window.at("prompt").evaluate((box) => box.matches(":focus"))).toBe(true);
  let release = () => {};
  ollama.hold = new Promise((done) => (release = done));
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await window.says(1, "Hello from the local");
  expect(await window.answer(1)).not.toContain("model.");
  release();
  await window.ended(1, "completed");
  expect(words(await window.answer(1))).toBe(SAID);
  expect(ollama.asked[0]).toMatchObject({ model: "tiny:1b", token: null });
  expect(ollama.asked[0]?.messages.at(-1)?.content).toContain("hello");
  expect(stage.host.configured()).toMatch(/default_agent = "local"[^]*\[agents\.local\]\nkind = "model"/);
  // Whoever comes later needs no lead any more.
  await window.newTab();
  await window.at("empty").getByText("What should local do?").waitFor();
  expect(await window.at("local").count()).toBe(0);
});

test("where none is found, another is named with its token, and answers", async () => {
  await ollama.stop();
  const far = await Ollama.start("t0p-secret");
  others.push(far);
  const window = await stage.window();
  await window.at("local-none").getByText("No model server was found").waitFor();
  await window.at("local").getByText("ollama serve").waitFor();
  await window.at("local-address").fill(far.url);
  await window.at("local-test").click();
  await window.at("local-problem").getByText("It wants a token").waitFor();
  await window.at("local-token").fill("t0p-secret");
  await window.at("local-test").click();
  await window.at("local-found").getByText(far.url).waitFor();
  const kept = await window.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain("t0p-secret");
  await choose(window, "qwen3:8b");
  await window.prompt("hello");
  await window.ended(1, "completed");
  expect(words(await window.answer(1))).toBe(SAID);
  expect(far.asked[0]).toMatchObject({ model: "qwen3:8b", token: "t0p-secret" });
  expect(stage.host.configured()).toContain('secret = "model-server"');
  expect(stage.host.configured()).not.toContain("t0p-secret");
});

test("model and mode are chosen beside the box, and the next prompt goes by them", async () => {
  const window = await stage.window();
  await choose(window, "qwen3:8b");
  await window.prompt("hello");
  await window.ended(1, "completed");
  const option = (name: RegExp) => window.page.getByTestId("agent-option").and(window.page.getByLabel(name));
  await expect.poll(() => option(/^Model/).inputValue()).toBe("qwen3:8b");
  await option(/^Model/).selectOption("tiny:1b");
  await option(/^Mode$/).selectOption("ask");
  await window.prompt("and now?");
  await window.ended(2, "completed");
  const [first, second] = ollama.asked;
  expect([first?.model, second?.model]).toEqual(["qwen3:8b", "tiny:1b"]);
  expect(first?.tools).toContain("run_command");
  expect(second?.tools).not.toContain("run_command");
  expect(second?.tools).toContain("read_file");
  await window.page.reload();
  await expect.poll(() => option(/^Model/).inputValue()).toBe("tiny:1b");
  await expect.poll(() => option(/^Mode$/).inputValue()).toBe("ask");
  await pictures(window, "local-answer", screenshots());
});

test("a server that goes away is said in words, and the next prompt after it is back is answered", async () => {
  const window = await stage.window();
  await choose(window, "qwen3:8b");
  await window.prompt("hello");
  await window.ended(1, "completed");
  const { host } = ollama;
  await ollama.stop();
  await window.prompt("are you there?");
  await window.turn(2).getByText(host).first().waitFor({ timeout: 90_000 });
  await window.ended(2, "failed");
  await ollama.again();
  await window.prompt("and now?");
  await window.ended(3, "completed");
  expect(words(await window.answer(3))).toBe(SAID);
});

test("the demo is one click away at every step", async () => {
  const window = await stage.window();
  await window.at("local-model").first().click();
  await window.at("lead-demo").click();
  await window.at("empty").getByText("Say something to the demo agent").waitFor();
  await window.at("example").first().click();
  await window.ended(1, "completed");
});

/** Waits for the agent of a chosen model; what went wrong instead is what the test fails with. */
async function used(window: Window, model: string): Promise<void> {
  await window.at("settings-used").or(window.at("settings-use-problem")).waitFor();
  expect(await window.at("settings-used").or(window.at("settings-use-problem")).innerText()).toContain(model);
}

test("the settings have an address, and a model that was tested there is put to work", async () => {
  const window = await stage.window();
  const { page } = window;
  await window.at("local-found").waitFor();
  await page.goto(`${stage.host.url}/#/settings`);
  await window.at("settings").waitFor();
  await window.at("setting-baseUrl").fill(ollama.url);
  await window.at("settings-test").click();
  await window.at("settings-models").getByRole("button", { name: "Work with tiny:1b" }).click();
  await used(window, "tiny:1b");
  expect(stage.host.configured()).toContain('model = "tiny:1b"');
  await page.reload();
  await window.at("settings").waitFor();
  await window.at("settings-test").click();
  await window.at("settings-models").getByRole("button", { name: "Work with qwen3:8b" }).click();
  await used(window, "qwen3:8b");
  // What was saved stands in the form, which nobody has changed.
  expect(await window.at("setting-agentModel").inputValue()).toBe("qwen3:8b");
  expect(await window.at("settings-open-agent").evaluate((button) => button.matches(":focus"))).toBe(true);
  await pictures(window, "local-settings", screenshots());
  await window.at("settings-open-agent").click();
  await window.at("settings").waitFor({ state: "detached" });
  await window.at("empty").getByText("One more step").waitFor();
  expect(new URL(page.url()).hash).toMatch(/^#\/tab\/[\w-]+$/);
  expect(stage.host.configured()).toContain('model = "qwen3:8b"');
});

const SERVER: ModelServer = {
  baseUrl: "http://127.0.0.1:11434",
  kind: "ollama",
  models: [
    { name: "qwen3:8b", size: 5_225_388_164 },
    { name: "hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M", size: 18_556_700_761 },
    { name: "own" },
    ...Array.from({ length: 6 }, (_, at) => ({ name: `<b>model</b>-${at}`, size: 10_000_000 * (at + 1) })),
  ],
};

/** A host without any agent but the demo, in a folder that nobody trusts. */
function bare(): Script {
  const script = new Script(asked(), { status: "idle" });
  const demo = { name: "demo", kind: "plain", process: "shared" as const, home: "here" as const };
  const [folder] = script.workspaces as [Workspace];
  Object.assign(folder, { trusted: false, agents: [demo], defaultAgent: "demo" });
  return script;
}

/** The host has read what it wrote: there is an agent with the first model. */
function takesUp(script: Script): void {
  const [folder] = script.workspaces as [Workspace];
  const local = { name: "local", kind: "model", process: "session" as const, home: "here" as const };
  script.tell({ type: "workspace", workspace: { ...folder, agents: [...folder.agents, local] } });
  const user = { baseUrl: SERVER.baseUrl, agentModel: "qwen3:8b" };
  const settings = { user, workspaces: [], hasToken: false, tokensIn: "a file", firstRun: false };
  script.tell({ type: "settings", settings });
}

/** A window in which a model was chosen and its agent is not there yet. */
async function choosing(): Promise<{ window: Window; script: Script }> {
  const script = bare();
  found([SERVER], "")(script);
  script.replies.useModel = ({ request }) => [{ type: "inUse", request, agent: "local" }];
  const context = await stage.context();
  await script.at(context);
  const window = await stage.window(context);
  await window.newTab();
  await window.at("local-model").first().click();
  await window.at("local-using").waitFor();
  return { window, script };
}

test("whoever writes while an agent is set up keeps the keys", async () => {
  const { window, script } = await choosing();
  await window.at("prompt").click();
  await window.page.keyboard.type("my first");
  takesUp(script);
  await window.at("lead-trust").waitFor();
  await window.page.keyboard.type(" question ");
  expect(await window.at("prompt").inputValue()).toBe("my first question ");
  expect(await window.at("confirm").count()).toBe(0);
});

test("whoever has gone elsewhere meanwhile stays there, and is told", async () => {
  const { window, script } = await choosing();
  await window.newTab();
  const place = window.page.url();
  takesUp(script);
  await window.page.getByText("Choose it in a new conversation").waitFor();
  expect(window.page.url()).toBe(place);
});

const found = (servers: ModelServer[], message: string) => (script: Script) => {
  script.replies.findServers = ({ request }) => [{ type: "servers", request, servers, message }];
};
const STATES: Record<
  string,
  { before: (script: Script) => void; enter?: (window: Window, script: Script) => Promise<void>; see: string }
> = {
  "local-looking": { before: () => {}, see: "Looking for Ollama" },
  "local-found": {
    before: found([SERVER], "Ollama answers"),
    see: "Choose a model",
    enter: async (window) => {
      await window.at("local-more").click();
      await window.at("local").getByText("<b>model</b>-5").waitFor();
    },
  },
  "local-none": {
    before: (script) => {
      found(
        [],
        "no model server was found at `http://127.0.0.1:11434`: nothing listens there; is it running?",
      )(script);
      script.replies.testModels = ({ request }) => [
        {
          type: "tested",
          request,
          success: false,
          message: "it wants a token; save one for this address",
          models: [],
        },
      ];
    },
    see: "No model server was found",
    enter: async (window) => {
      await window.at("local-address").fill("http://gpu.example:8000/v1");
      await window.at("local-test").click();
      await window.at("local-problem").getByText("It wants a token").waitFor();
    },
  },
  "local-empty": {
    before: found(
      [{ ...SERVER, models: [] }],
      "Ollama answers at `http://127.0.0.1:11434`: it works, and has no model yet; let it fetch one",
    ),
    see: "ollama pull",
  },
  "local-lead": {
    before: (script) => {
      found([SERVER], "")(script);
      script.replies.useModel = ({ request }) => [{ type: "inUse", request, agent: "local" }];
    },
    see: "Choose a model",
    enter: async (window, script) => {
      await window.at("local-model").first().click();
      await window.at("local-using").waitFor();
      takesUp(script);
      await window.at("lead-trust").waitFor();
    },
  },
};

for (const [name, { before, enter, see }] of Object.entries(STATES)) {
  test(`${name}: nothing keeps anybody out`, async () => {
    const folder = screenshots();
    const script = bare();
    before(script);
    const context = await stage.context({ viewport: { width: 1200, height: 800 } });
    await script.at(context);
    const window = await stage.window(context);
    await window.newTab();
    await window.at("local").getByText(see).first().waitFor();
    await enter?.(window, script);
    await pictures(window, name, folder);
  });
}
