/** What stands on the page is what stands in the log, whatever happens in between. */
import { expect, test } from "vitest";
import { logOf } from "./stage/log";
import { expectSame, slow } from "./stage/same";
import { useStage } from "./stage/stage";
import { type Window, words } from "./stage/window";

const stage = useStage();

test("a prompt is answered, and the answer is the log's", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 4");
  await window.ended(1, "completed");
  const said = await logOf(stage.host, 1);
  expect(said.map((turn) => words(turn.text))).toEqual([slow(4)]);
  await expectSame(window, said);
});

test("a reload in mid-stream loses and doubles nothing", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 12");
  for (const word of ["word-3", "word-6"]) {
    await window.says(1, word);
    await window.page.reload();
    await window.online();
  }
  const said = await logOf(stage.host, 1);
  expect(words(said[0]?.text ?? "")).toBe(slow(12));
  await expectSame(window, said);
});

test("a window that is hidden and shown again has everything", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 10");
  await window.says(1, "word-2");
  await setVisible(window, false);
  const said = await logOf(stage.host, 1);
  await setVisible(window, true);
  expect(words(said[0]?.text ?? "")).toBe(slow(10));
  await expectSame(window, said);
});

test("a window that was frozen, as on a sleeping machine, has everything when it wakes", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 10");
  await window.says(1, "word-2");
  const protocol = await window.context.newCDPSession(window.page);
  await protocol.send("Page.setWebLifecycleState", { state: "frozen" });
  const said = await logOf(stage.host, 1);
  await protocol.send("Page.setWebLifecycleState", { state: "active" });
  await expectSame(window, said);
});

test("two windows on one session show the same, whichever asks", async () => {
  const one = await stage.window();
  const other = await stage.window();
  await one.prompt("demo: slow 8");
  await other.show("demo: slow 8");
  await other.says(1, "word-2");
  await other.prompt("demo: echo asked in the other window");
  const said = await logOf(stage.host, 2);
  expect(said.map((turn) => words(turn.text))).toEqual([slow(8), "asked in the other window"]);
  await expectSame(one, said);
  await expectSame(other, said);
});

test("a host that is killed and started again loses no word that was shown, and goes on", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 40");
  await window.says(1, "word-4");
  await stage.host.kill();
  await window.notOnline();
  const shown = words(await window.answer(1));
  await stage.host.again();
  await window.online();
  await window.ended(1, "failed");
  const [first] = await logOf(stage.host, 1);
  expect(first?.code).toBe("host_restarted");
  expect(words(first?.text ?? "").startsWith(shown), `${shown} is the beginning of ${first?.text}`).toBe(
    true,
  );
  await window.prompt("demo: slow 3");
  await expectSame(window, await logOf(stage.host, 2));
});

test("a prompt that was sent while the host was gone is sent once it is back, and once only", async () => {
  const window = await stage.window();
  await window.prompt("demo: echo before");
  await window.ended(1, "completed");
  await stage.host.kill();
  await window.notOnline();
  await window.prompt("demo: echo during");
  await stage.host.again();
  await window.online();
  const said = await logOf(stage.host, 2);
  expect(said.map((turn) => turn.text)).toEqual(["before", "during"]);
  await expectSame(window, said);
});

test("twenty thousand pieces as fast as they come are all there, in order", async () => {
  const window = await stage.window();
  await window.prompt("demo: fast 20000");
  const said = await logOf(stage.host, 1);
  expect(words(said[0]?.text ?? "")).toBe(Array.from({ length: 20_000 }, (_, at) => at + 1).join(" "));
  await expectSame(window, said);
});

/** What the browser tells a page when its window is covered; a headless browser covers none by itself. */
async function setVisible(window: Window, visible: boolean): Promise<void> {
  await window.page.evaluate(
    (state) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
      Object.defineProperty(document, "hidden", { configurable: true, get: () => state === "hidden" });
      document.dispatchEvent(new Event("visibilitychange"));
    },
    visible ? "visible" : "hidden",
  );
}
