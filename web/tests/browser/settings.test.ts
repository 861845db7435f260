/** The settings screen: the form, the token, the test of a model server, folders, what was used, and upkeep. */
import { expect, test } from "vitest";
import type { Settings, SettingsState, UsageRow } from "../../ui/wire";
import { pictures } from "./stage/pictures";
import { screenshots } from "./stage/place";
import { asked, ROOT, Script } from "./stage/script";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const stage = useStage();

const USER: Settings = {
  baseUrl: "http://127.0.0.1:11434",
  agentModel: "qwen3:32b",
  maxIterations: 25,
  temperature: 0.7,
};

function state(change: Partial<SettingsState> = {}): SettingsState {
  return {
    user: USER,
    workspaces: [],
    hasToken: false,
    tokensIn: "the desktop's keyring",
    firstRun: false,
    ...change,
  };
}

/** A host whose settings are these. */
function host(settings = state()): Script {
  const script = new Script(asked(), { status: "idle" });
  script.workspaces.push({
    ...(script.workspaces[0] as (typeof script.workspaces)[0]),
    root: "/home/me/strange",
    trusted: false,
  });
  script.replies.watchSettings = () => [{ type: "settings", settings }];
  script.replies.usage = ({ request }) => [{ type: "used", request, rows: days() }];
  return script;
}

function days(): UsageRow[] {
  return [0, 1, 2, 5, 6, 9, 14, 15, 22].map((back, at) => ({
    day: new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10),
    turns: 3 + at,
    tokens: { input: 40_000 - 3_000 * at, output: 6_000 + 500 * at, cached: 1_000, thought: 200 },
    costs: [{ micros: 120_000, currency: "USD" }],
  }));
}

async function at(script: Script): Promise<Window> {
  const context = await stage.context({ viewport: { width: 1100, height: 800 } });
  await script.at(context);
  const window = await stage.window(context);
  await window.at("open-settings").click();
  await window.at("settings").waitFor();
  return window;
}

const value = (window: Window, name: string) => window.at(`setting-${name}`).inputValue();

test("what is wrong is said at its field and not sent; what differs is sent, and only that", async () => {
  const script = host();
  const window = await at(script);
  await expect.poll(() => value(window, "agentModel")).toBe("qwen3:32b");
  await expect.poll(() => window.at("settings-save").isDisabled()).toBe(true);
  await window.at("setting-temperature").fill("3");
  await window.at("setting-toolTimeout").fill("soon");
  await window.at("settings-save").click();
  await window.at("problem-temperature").getByText("from 0 to 2").waitFor();
  await window.at("problem-toolTimeout").getByText("A whole number").waitFor();
  expect(script.last("saveSettings")).toBeUndefined();
  await window.at("setting-temperature").fill("0.25");
  await window.at("setting-toolTimeout").fill("45000");
  await window.at("setting-agentModel").fill("");
  script.replies.saveSettings = ({ request }) => [
    { type: "failed", request, code: "bad_message", message: "`tool_timeout` is from 1,000 to 40,000 ms" },
  ];
  await window.at("settings-save").click();
  await window.at("problem-toolTimeout").getByText("is from 1,000 to 40,000 ms").waitFor();
  expect(script.last("saveSettings")).toMatchObject({
    change: { temperature: 0.25, toolTimeout: 45_000, agentModel: "" },
  });
  expect(Object.keys(script.last("saveSettings")?.change ?? {})).toHaveLength(3);
  expect(script.last("saveSettings")).not.toHaveProperty("workspace");
  await window.at("setting-toolTimeout").fill("30000");
  script.replies.saveSettings = ({ request }) => [{ type: "done", request }];
  await window.at("settings-save").click();
  await window.at("settings-saved").getByText("Saved.").waitFor();
  expect(await value(window, "toolTimeout")).toBe("30000");
  script.tell({
    type: "settings",
    settings: state({ user: { ...USER, toolTimeout: 30_000, temperature: 0.25, askModel: "by hand" } }),
  });
  await expect.poll(() => value(window, "askModel")).toBe("by hand");
});

test("what somebody else saves takes nothing from what is being typed", async () => {
  const script = host();
  const window = await at(script);
  await window.at("setting-askModel").fill("mine");
  script.tell({
    type: "settings",
    settings: state({ user: { ...USER, askModel: "theirs" }, hasToken: true }),
  });
  await window.at("token-state").getByText("There is a token.").waitFor();
  expect(await value(window, "askModel")).toBe("mine");
  await window.at("settings-undo").click();
  await expect.poll(() => value(window, "askModel")).toBe("theirs");
});

test("a token goes out once and stays nowhere; it is forgotten after a question", async () => {
  const script = host();
  script.replies.saveToken = ({ request, token }) => [{ type: "token", request, hasToken: token !== "" }];
  const window = await at(script);
  await window.at("token-state").getByText("There is no token.").waitFor();
  await window.at("token-state").getByText("the desktop's keyring").waitFor();
  expect(await window.at("token").getAttribute("type")).toBe("password");
  await window.at("token").fill("t0p-secret");
  await window.at("token-save").click();
  await window.at("token-state").getByText("There is a token.").waitFor();
  expect(script.last("saveToken")).toMatchObject({ token: "t0p-secret" });
  expect(await window.at("token").inputValue()).toBe("");
  const kept = await window.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain("t0p-secret");
  await window.at("token-forget").click();
  await window.at("confirm-yes").click();
  await window.at("token-state").getByText("There is no token.").waitFor();
  expect(script.last("saveToken")).toMatchObject({ token: "" });
});

test("a test of the model server says what it has, or what is wrong", async () => {
  const script = host();
  const window = await at(script);
  await window.at("setting-baseUrl").fill("http://127.0.0.1:9");
  await window.at("settings-test").click();
  await expect.poll(() => script.last("testModels")).toMatchObject({ baseUrl: "http://127.0.0.1:9" });
  await expect.poll(() => window.at("settings-test").isDisabled()).toBe(true);
  const { request } = script.last("testModels") ?? { request: 0 };
  script.tell({
    type: "tested",
    request,
    success: false,
    message: "nobody listens at `127.0.0.1:9`; is the server running?",
    models: [],
  });
  await window.at("settings-tested").getByText("Nobody listens at").waitFor();
  script.replies.testModels = (frame) => [
    {
      type: "tested",
      request: frame.request,
      success: true,
      message: "2 models",
      models: ["qwen3:32b", "<b>gemma</b>"],
    },
  ];
  await window.at("settings-test").click();
  await window.at("settings-models").getByText("<b>gemma</b>").waitFor();
  expect(await window.page.locator("datalist option").count()).toBe(2);
});

test("a folder that is trusted has settings of its own; one that is not cannot be chosen", async () => {
  const script = host(state({ workspaces: [[ROOT, { askModel: "small" }]] }));
  script.replies.saveSettings = ({ request }) => [{ type: "done", request }];
  const window = await at(script);
  const options = window.at("settings-scope").locator("option");
  await expect.poll(() => options.allInnerTexts()).toHaveLength(3);
  expect(await options.nth(2).isDisabled()).toBe(true);
  await window.at("settings-scope").selectOption(ROOT);
  await expect.poll(() => value(window, "askModel")).toBe("small");
  expect(await value(window, "agentModel")).toBe("");
  expect(await window.at("setting-agentModel").getAttribute("placeholder")).toBe("qwen3:32b");
  await expect.poll(() => window.at("token").count()).toBe(0);
  await window.at("pattern-add").click();
  await window.at("pattern").locator("input").fill("secrets/**");
  await window.at("settings-save").click();
  await expect
    .poll(() => script.last("saveSettings"))
    .toMatchObject({ workspace: ROOT, change: { sensitiveFilePatterns: [["secrets/**", "may_not"]] } });
});

test("what was used day by day is a picture, and a table for whoever sees none", async () => {
  const script = host();
  const window = await at(script);
  await window.at("used-sum").getByText("$1.08").waitFor();
  expect(await window.at("used-bars").locator("g[data-day]").count()).toBe(9);
  expect(await window.page.getByRole("table", { name: "Used, day by day" }).getByRole("row").count()).toBe(
    10,
  );
  expect(script.last("usage")).toMatchObject({ by: "day" });
});

test("upkeep says what it did; rebuilding asks first, shows how far it is, and says where the copy is", async () => {
  const script = host();
  const window = await at(script);
  script.replies.upkeep = ({ request }) => [
    {
      type: "kept",
      request,
      kept: { sessions: 2, messages: 340, bytesBefore: 5_242_880, bytesAfter: 1_048_576 },
    },
  ];
  await window.at("upkeep").click();
  await window.at("kept").getByText("340 messages of 2 deleted conversations taken out.").waitFor();
  await window.at("kept").getByText("5 MB before, 1 MB now.").waitFor();
  await window.at("rebuild").click();
  await window.at("confirm-no").click();
  expect(script.last("rebuild")).toBeUndefined();
  await window.at("rebuild").click();
  await window.at("confirm-yes").click();
  await expect.poll(() => script.last("rebuild")).toBeDefined();
  const { request } = script.last("rebuild") ?? { request: 0 };
  script.tell({ type: "progress", request, done: 1_200, total: 4_000 });
  await window.at("rebuilding").getByText("1,200 of 4,000").waitFor();
  await expect.poll(() => window.at("upkeep").isDisabled()).toBe(true);
  script.tell({
    type: "rebuilt",
    request,
    rebuilt: { sessions: 40, messages: 4_000, backup: "/data/library.db.bak-1" },
  });
  await window.at("rebuilt").getByText("/data/library.db.bak-1").waitFor();
  script.replies.upkeep = (frame) => [
    { type: "failed", request: frame.request, code: "internal", message: "the disk is full" },
  ];
  await window.at("upkeep").click();
  await window.at("upkeep-problem").getByText("The disk is full").waitFor();
});

test("against the real host: what is saved is in the configuration, and comes back", async () => {
  const window = await stage.window();
  await window.at("open-settings").click();
  await window.at("setting-maxIterations").fill("2000000000");
  await window.at("setting-agentModel").fill("big");
  await window.at("settings-save").click();
  await window.at("problem-maxIterations").waitFor();
  await window.at("setting-maxIterations").fill("12");
  await window.at("setting-baseUrl").fill("not an address");
  await window.at("settings-save").click();
  await window.at("problem-baseUrl").waitFor();
  await window.at("setting-baseUrl").fill("");
  await window.at("settings-save").click();
  await window.at("settings-saved").getByText("Saved.").waitFor();
  expect(stage.host.configured()).toMatch(/\[settings\][^[]*agent_model = "big"[^[]*max_iterations = 12/);
  await window.at("setting-temperature").fill("0.5");
  await window.at("settings-save").click();
  await expect.poll(() => stage.host.configured()).toContain("temperature = 0.5");
  await window.at("setting-temperature").fill("");
  await window.at("settings-save").click();
  await expect.poll(() => stage.host.configured()).not.toContain("temperature");
  // The address says that they are open.
  await window.page.reload();
  await expect.poll(() => value(window, "agentModel")).toBe("big");
  expect(await value(window, "maxIterations")).toBe("12");
  expect(await value(window, "temperature")).toBe("");
  await window.at("upkeep").click();
  await window.at("kept").waitFor();
  await window.at("rebuild").click();
  await window.at("confirm-yes").click();
  await window.at("rebuilt").getByText("library.db.bak").waitFor();
});

const STATES: Record<string, (window: Window, script: Script) => Promise<void>> = {
  settings: async (window) => {
    await window.at("used-sum").waitFor();
  },
  "settings-wrong": async (window, script) => {
    script.replies.testModels = ({ request }) => [
      { type: "tested", request, success: true, message: "2 models", models: ["qwen3:32b", "gemma3:27b"] },
    ];
    await window.at("settings-test").click();
    await window.at("settings-models").waitFor();
    await window.at("setting-temperature").fill("3");
    await window.at("pattern-add").click();
    await window.at("pattern").locator("input").fill("docs/**");
    await window.at("settings-save").click();
    await window.at("problem-temperature").waitFor();
  },
  "settings-upkeep": async (window, script) => {
    await window.at("used-sum").waitFor();
    await window.at("rebuild").click();
    await window.at("confirm-yes").click();
    await expect.poll(() => script.last("rebuild")).toBeDefined();
    const { request } = script.last("rebuild") ?? { request: 0 };
    script.tell({ type: "progress", request, done: 1_200, total: 4_000 });
    await window.at("rebuilding").getByText("1,200 of 4,000").waitFor();
  },
};

for (const [name, enter] of Object.entries(STATES)) {
  test(`${name}: nothing keeps anybody out`, async () => {
    const folder = screenshots();
    const script = host();
    const window = await at(script);
    await enter(window, script);
    await pictures(window, name, folder, async () => {
      if (name === "settings-upkeep") await window.at("rebuilding").scrollIntoViewIfNeeded();
    });
  });
}
