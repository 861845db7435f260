/** History that is found again: search, renaming, selection, export, and what was used. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { FoundMessage, FoundSession, FromView, SnippetPiece, ToView } from "../../ui/wire";
import * as says from "./stage/agentsays";
import { pictures } from "./stage/pictures";
import { screenshots } from "./stage/place";
import { asked, ROOT, Script } from "./stage/script";
import { useStage } from "./stage/stage";
import type { Window } from "./stage/window";

const stage = useStage();

const AGO = 60_000;
const long = Array.from({ length: 120 }, (_, at) => `Paragraph ${String(at)} of a long answer.`).join("\n\n");

/** One conversation that is open, with a long answer, a call, a thought and the end; and three that are closed. */
function story(): Script {
  const script = new Script([
    ...asked(),
    { type: "text", text: long },
    { type: "thought", text: "The parser drops the empty lines on purpose." },
    says.edit("e"),
    { type: "text", text: "The very end, with the needle in it." },
    {
      type: "turnUsed",
      tokens: { input: 12_000, output: 345, cached: 9_000, thought: 40 },
      cost: { amount: 0.042, currency: "USD" },
    },
    { type: "turnEnded", outcome: "completed" },
  ]);
  script.session.status = "idle";
  script.other({ session: 2, title: "Rename the parser", updatedMs: Date.now() - 3 * AGO });
  script.other({ session: 3, title: "A flaky test", updatedMs: Date.now() - 20 * AGO });
  script.other({ session: 4, title: "Notes on the release", updatedMs: Date.now() - 60 * AGO });
  return script;
}

function message(seq: number, role: FoundMessage["role"], snippet: SnippetPiece[]): FoundMessage {
  return { epoch: "one", seq, turn: 1, role, time: 1_000, snippet };
}

const plain = (text: string): SnippetPiece => ({ text, hit: false });
const hit = (text: string): SnippetPiece => ({ text, hit: true });

function found(script: Script, sessions: FoundSession[], more = false, behind = 0): void {
  script.replies.search = ({ request }) => [{ type: "found", request, sessions, more, behind }];
}

const NEEDLES: FoundSession[] = [
  {
    session: 1,
    title: "Keep the empty lines",
    agent: "claude",
    workspace: ROOT,
    updatedMs: Date.now() - AGO,
    messages: [
      message(7, "assistant", [plain("The very end, with the "), hit("needle"), plain(" in it.")]),
      message(5, "thought", [plain("The parser drops the empty "), hit("needle"), plain("s on purpose.")]),
      message(2, "user", [plain("Keep the "), hit("needle"), plain(" when the file is parsed.")]),
    ],
  },
  {
    session: 3,
    title: "A flaky test",
    agent: "claude",
    workspace: ROOT,
    updatedMs: Date.now() - 20 * AGO,
    messages: [message(9, "tool", [plain("cargo test "), hit("needle"), plain("_in_a_haystack")])],
  },
];

async function at(script: Script, viewport = { width: 1100, height: 800 }): Promise<Window> {
  const context = await stage.context({ viewport, acceptDownloads: true });
  await script.at(context);
  const window = await stage.window(context);
  await window.show(script.session.title);
  return window;
}

const top = (window: Window) => window.at("transcript").evaluate((box) => box.scrollTop);
/** Whether something stands within what is seen of the conversation. */
const inSight = (window: Window, selector: string) =>
  window.at("transcript").evaluate((box, wanted) => {
    const seen = box.getBoundingClientRect();
    const all = (root: ParentNode): Element[] =>
      [...root.querySelectorAll("*")].flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
    const part = all(box).find((one) => one.matches(wanted));
    if (!part) return false;
    const { top: upper } = part.getBoundingClientRect();
    return upper >= seen.top - 1 && upper < seen.bottom;
  }, selector);

test("words are looked for while they are typed; what is found opens where it was said", async () => {
  const script = story();
  found(script, NEEDLES);
  const window = await at(script);
  await window.says(1, "The very end");
  await window.page.keyboard.press("Control+k");
  await window.page.keyboard.type("needle");
  await window.at("found-message").nth(3).waitFor();
  expect(script.last("search")?.query).toEqual({ text: "needle", order: "newest", limit: 50 });
  await window.at("search-state").getByText("4 messages in 2 conversations.").waitFor();
  expect(await window.at("search-results").locator("mark").allTextContents()).toEqual(
    Array(4).fill("needle"),
  );
  await expect.poll(() => window.at("session-list").isVisible()).toBe(false);
  // The second is a thought, far down and folded.
  await window.page.keyboard.press("ArrowDown");
  await expect.poll(() => window.at("found-message").nth(1).getAttribute("aria-selected")).toBe("true");
  await window.page.keyboard.press("Enter");
  await window.at("thought").locator("pre").getByText("drops the empty lines").waitFor();
  await expect.poll(() => inSight(window, "sb-thought.found")).toBe(true);
  // The prompt is at the top of the same turn.
  await window.at("found-message").nth(2).click();
  await expect.poll(() => inSight(window, ".prompt.found")).toBe(true);
  await expect.poll(() => top(window)).toBeLessThan(200);
  // It stands still there, though the turn's end is elsewhere, until the person moves.
  await window.at("search").press("Escape");
  await window.at("session-list").waitFor();
  expect(await window.at("search").inputValue()).toBe("");
  await expect.poll(() => inSight(window, ".prompt.found")).toBe(true);
});

test("a conversation that is closed opens, and what was found there is shown once its log has come", async () => {
  const script = story();
  found(script, [{ ...(NEEDLES[0] as FoundSession), session: 8, title: "An old one" }]);
  const window = await at(script);
  await window.at("search").fill("needle");
  // The script has one log only: it becomes that of the old conversation.
  script.replies.openTab = ({ tab, session }) => {
    if (session === undefined) return [];
    script.session = { ...script.session, session, tab, title: "An old one" };
    return [{ type: "session", session: script.session }, script.run(0)];
  };
  await window.at("found-message").first().click();
  await expect.poll(() => script.last("openTab")).toMatchObject({ session: 8 });
  await expect.poll(() => inSight(window, "sb-answer.found")).toBe(true);
  await window.turn(1).getByText("with the needle in it").waitFor();
});

test("snippets are text, whatever they say; nothing found, an index that is behind and a failure are said", async () => {
  const script = story();
  const evil = `<img src=x onerror="pwned('snippet')"><script>pwned('script')</script>\u202egnp`;
  found(script, [
    {
      ...(NEEDLES[0] as FoundSession),
      title: evil,
      messages: [message(2, "user", [plain(evil), hit(evil)])],
    },
  ]);
  const window = await at(script);
  await window.at("search").fill(".*[(");
  await window.at("found-message").getByText("<img src=x").first().waitFor();
  expect(await window.at("search-results").locator("img, script").count()).toBe(0);
  expect(script.last("search")?.query.text).toBe(".*[(");
  found(script, [], false, 2);
  await window.at("search").fill("nowhere");
  await window.at("search-state").getByText("Nothing found. The last words of 2 conversations").waitFor();
  script.replies.search = ({ request }) => [
    { type: "failed", request, code: "internal", message: "the index cannot be read; rebuild it" },
  ];
  await window.at("search").fill("nowhere else");
  await window.at("search-problem").getByText("The index cannot be read; rebuild it").waitFor();
  expect(window.trouble).toEqual({ errors: [], violations: [], ran: [] });
});

test("filters narrow the search, are counted, and go again", async () => {
  const script = story();
  found(script, NEEDLES, true);
  const window = await at(script);
  await window.at("search-filters").click();
  await window.at("filter-order").selectOption("ranked");
  await window.at("filter-role").selectOption("tool");
  await window.at("filter-agent").selectOption("claude");
  await window.at("filter-path").fill("src/");
  await window.at("filter-since").fill("2026-03-01");
  await window.at("search").fill("needle");
  await expect
    .poll(() => script.last("search")?.query)
    .toMatchObject({ text: "needle", order: "ranked", role: "tool", agent: "claude", path: "src/" });
  await window.page.getByRole("button", { name: "Filters, 4 set" }).waitFor();
  await window.at("search-more").click();
  await expect.poll(() => script.last("search")?.query.limit).toBe(100);
  await window.at("filters-clear").click();
  await expect
    .poll(() => script.last("search")?.query)
    .toEqual({ text: "needle", order: "newest", limit: 50 });
});

test("a title is changed in its place: by a double click, by F2, from the menu; Esc leaves it", async () => {
  const script = story();
  script.replies.renameSession = ({ request, session, title }) => {
    const renamed = script.others.find((one) => one.session === session);
    if (title === "refused")
      return [{ type: "failed", request, code: "conflict", message: "it is being deleted" }];
    return renamed
      ? [
          { type: "session", session: { ...renamed, title } },
          { type: "done", request },
        ]
      : [];
  };
  const window = await at(script);
  const row = (session: number) =>
    window.page.locator(`[data-testid=session-item][data-session="${String(session)}"]`);
  await row(3).locator(".open").dblclick();
  await window.at("session-title").fill("A test that fails at night");
  await window.at("session-title").press("Enter");
  await row(3).getByText("A test that fails at night").waitFor();
  expect(script.last("renameSession")).toMatchObject({ session: 3, title: "A test that fails at night" });
  await row(3).locator(".open").press("F2");
  await window.at("session-title").fill("something else");
  await window.at("session-title").press("Escape");
  await row(3).getByText("A test that fails at night").waitFor();
  expect(script.heard.filter(({ type }) => type === "renameSession")).toHaveLength(1);
  await row(4).hover();
  await row(4).getByTestId("session-more").click();
  await window.at("menu-rename").click();
  await window.at("session-title").fill("refused");
  await window.at("session-title").press("Enter");
  await window.page.getByText("Not renamed: it is being deleted").waitFor();
  await row(4).getByText("Notes on the release").waitFor();
});

test("many are deleted together, after a question, with progress; one that cannot be is told", async () => {
  const script = story();
  const window = await at(script);
  await window.at("select").click();
  await window.at("session-choose").nth(1).check();
  await window
    .at("session-choose")
    .nth(3)
    .click({ modifiers: ["Shift"] });
  await window.at("chosen").getByText("3 selected").waitFor();
  await window.at("chosen-delete").click();
  await window.at("confirm").getByText("Delete 3 conversations?").waitFor();
  await window.at("confirm-no").click();
  expect(script.last("deleteSession")).toBeUndefined();
  await window.at("chosen-delete").click();
  await window.at("confirm-yes").click();
  await expect.poll(() => script.heard.filter(({ type }) => type === "deleteSession").length).toBe(3);
  await window.at("deleting").getByText("Deleting 1 of 3").waitFor();
  const requests = script.heard.filter(
    (frame): frame is Extract<FromView, { type: "deleteSession" }> => frame.type === "deleteSession",
  );
  const [first, second, third] = requests.map(({ request }) => request ?? 0);
  const done = (request: number | undefined): ToView => ({ type: "done", request: request ?? 0 });
  script.tell({ type: "sessionGone", session: 2 });
  script.tell(done(first));
  await window.at("deleting").getByText("Deleting 2 of 3").waitFor();
  script.tell({ type: "sessionGone", session: 3 });
  script.tell(done(second));
  script.tell({ type: "failed", request: third ?? 0, code: "internal", message: "the disk is full" });
  await window.page.getByText("2 conversations deleted, 1 not: the disk is full").waitFor();
  await window.at("chosen").waitFor({ state: "detached" });
  await expect.poll(() => window.at("session-item").count()).toBe(2);
});

test("a conversation is exported by a link of the host's, and by no other", async () => {
  const script = story();
  const window = await at(script);
  const open = async (item: string) => {
    const row = window.at("session-item").first();
    await row.click({ button: "right" });
    await window.at(item).click();
  };
  script.replies.exportSession = ({ request }) => [
    { type: "artifact", request, name: "x", mime: "text/plain", size: 1, url: "https://elsewhere.example/x" },
  ];
  await open("menu-markdown");
  await window.page.getByText("the host gave an address that is not its own").waitFor();
  expect(script.last("exportSession")).toMatchObject({ session: 1, form: "conversation" });
  script.replies.exportSession = ({ request }) => [
    { type: "failed", request, code: "not_found", message: "no such session" },
  ];
  await open("menu-jsonl");
  await window.page.getByText("Not exported: no such session").waitFor();
  expect(script.last("exportSession")).toMatchObject({ form: "log" });
});

test("what a turn and a conversation have used stands with them", async () => {
  const window = await at(story());
  await window.at("turn-used").getByText("12.3K tokens · $0.042").waitFor();
  expect(await window.at("turn-used").getAttribute("title")).toBe(
    "12,000 tokens in (9,000 from the cache), 345 out (40 thinking), $0.042",
  );
  await window.at("session-spent").getByText("12.3K tokens · $0.042").waitFor();
});

/** The states, each for a picture. */
const STATES: Record<string, (window: Window, script: Script) => Promise<void>> = {
  search: async (window) => {
    await window.at("search").fill("needle");
    await window.at("found-message").nth(3).waitFor();
  },
  "search-filters": async (window) => {
    await window.at("search-filters").click();
    await window.at("filter-role").selectOption("tool");
    await window.at("search").fill("needle");
    await window.at("found-message").nth(3).waitFor();
  },
  "search-shown": async (window) => {
    await window.at("search").fill("needle");
    await window.at("found-message").first().click();
    await expect.poll(() => inSight(window, "sb-answer.found")).toBe(true);
  },
  "session-rename": async (window) => {
    await window.at("session-item").nth(2).locator(".open").press("F2");
    await window.at("session-title").waitFor();
  },
  "session-menu": async (window) => {
    await window.at("session-item").nth(2).click({ button: "right" });
    await window.at("menu-rename").waitFor();
  },
  "session-select": async (window) => {
    await window.at("select").click();
    await window.at("session-choose").nth(1).check();
    await window.at("session-choose").nth(2).check();
    await window.at("chosen").getByText("2 selected").waitFor();
  },
  "session-deleting": async (window) => {
    await window.at("select").click();
    await window.at("chosen-all").click();
    await window.at("chosen-delete").click();
    await window.at("confirm-yes").click();
    await window.at("deleting").waitFor();
  },
};

for (const [name, enter] of Object.entries(STATES)) {
  test(`${name}: nothing keeps anybody out`, async () => {
    const folder = screenshots();
    const script = story();
    found(script, NEEDLES);
    const window = await at(script);
    await enter(window, script);
    await pictures(window, name, folder, async (size) => {
      if (size === "narrow" && name !== "search-shown" && !(await window.at("search").isVisible()))
        await window.at("open-sessions").click();
      // A click elsewhere closes the menu.
      if (name === "session-menu" && !(await window.at("menu-rename").isVisible()))
        await enter(window, script);
    });
  });
}

test("against the real host: found by a word, renamed, exported, deleted, and found no more", async () => {
  const window = await stage.window();
  const word = "zebrafish";
  await window.prompt(`demo: echo the ${word} swims`);
  await window.ended(1, "completed");
  await window.newTab();
  await window.prompt("demo: echo nothing of interest");
  await window.ended(1, "completed");
  // The index follows the log; whoever types sees it when it is there.
  const hits = window.at("found-message");
  await expect
    .poll(async () => {
      await window.at("search").fill("");
      await window.at("search").fill("zebraf");
      await window
        .at("search-state")
        .getByText(/Nothing found|in 1 conversation/)
        .waitFor();
      return hits.count();
    })
    .toBeGreaterThan(0);
  expect(new Set(await window.at("search-results").locator("mark").allTextContents())).toEqual(
    new Set([word]),
  );
  await hits.first().click();
  await window.turn(1).getByText(`${word} swims`).first().waitFor();
  await window.at("search").press("Escape");

  const row = window.at("session-item").filter({ hasText: word });
  await row.locator(".open").press("F2");
  await window.at("session-title").fill("All about fish");
  await window.at("session-title").press("Enter");
  const renamed = window.at("session-item").filter({ hasText: "All about fish" });
  await renamed.waitFor();
  await window.page.reload();
  await renamed.waitFor();

  for (const [item, wanted] of [
    ["menu-jsonl", `the ${word} swims`],
    ["menu-markdown", `the ${word} swims`],
  ] as const) {
    await renamed.click({ button: "right" });
    const [download] = await Promise.all([window.page.waitForEvent("download"), window.at(item).click()]);
    expect(await readFile(await download.path(), "utf8")).toContain(wanted);
  }

  await window.at("select").click();
  await renamed.getByTestId("session-choose").check();
  await window.at("chosen-delete").click();
  await window.at("confirm-yes").click();
  await window.page.getByText("1 conversation deleted.").waitFor();
  await renamed.waitFor({ state: "detached" });
  await window.at("search").fill(word);
  await window.at("search-state").getByText("Nothing found").waitFor();
  expect(window.trouble.violations).toEqual([]);
});
